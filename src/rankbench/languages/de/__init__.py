"""German."""

from __future__ import annotations

from rankbench.languages.de import cli, plots, report, verdict

DECIMAL = ","
WORDS = {"and": "und", "or": "oder", **verdict.WORDS, **plots.WORDS, **report.WORDS, **cli.WORDS}
