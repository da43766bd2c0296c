"""Every plot of a campaign as picture files. Drawn from the same charts as the page, without a browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import vl_convert

from rankbench import plots, units
from rankbench.model import RankbenchError
from rankbench.report.start_tables import smallest_cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from typing import Any

    from rankbench.verdict.evaluation import Evaluation

FORMATS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "png": lambda spec: vl_convert.vegalite_to_png(spec, scale=2),
    "svg": lambda spec: vl_convert.vegalite_to_svg(spec).encode(),
    "pdf": vl_convert.vegalite_to_pdf,
}
PAPER = {**plots.theme("#111111", "#555555", "#dddddd"), "background": "#ffffff"}


def write_figures(folder: Path, evaluation: Evaluation, formats: Iterable[str]) -> list[Path]:
    """Write the charts in every format into a folder, and return the files in the order of writing.

    Charts of single cases are written for those that the conclusion or a finding names as evidence, and of each line
    that has several starts for the smallest size.
    """
    wanted = list(dict.fromkeys(formats))
    for name in wanted:
        if name not in FORMATS:
            raise RankbenchError(f"figure format {name!r}: {units.suggestion(name, FORMATS)}")
    whole = plots.picture(evaluation)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for plot, key, chart in plots.charts(whole, {*evidence(evaluation), *smallest_cases(whole)}):
        spec = chart.spec(PAPER)
        for name in wanted:
            path = folder / f"{plot}-{re.sub('[^A-Za-z0-9.-]+', '_', key)}.{name}"
            path.write_bytes(FORMATS[name](spec))
            written.append(path)
    return written


def evidence(evaluation: Evaluation) -> set[str]:
    """Return the keys of the cases that the conclusion or a finding rests on."""
    verdict = evaluation.verdict
    told = [sentence.cases for sentence in verdict.conclusion] + [finding.cases for finding in verdict.findings]
    return {key for keys in told for key in keys}
