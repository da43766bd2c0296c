"""Every plot of a campaign as picture files. Drawn from the same charts as the page, without a browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import vl_convert

from rankbench import files, plots, units
from rankbench.model import RankbenchError
from rankbench.plots import forms
from rankbench.report.tables import smallest_cases
from rankbench.verdict import case_labels
from rankbench.verdict.view import SCOPES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from typing import Any

    from rankbench.model import Group, Verdict
    from rankbench.verdict.view import CampaignView

FORMATS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "png": lambda spec: vl_convert.vegalite_to_png(spec, scale=2),
    "svg": lambda spec: vl_convert.vegalite_to_svg(spec).encode(),
    "pdf": lambda spec: vl_convert.vegalite_to_pdf(spec),
}
SHOWN = 3
"""Cases that are named of those on which a sentence or a finding rests."""
MOST_LINES = 120
"""Of more lines than this not all are drawn as files: nobody looks at a thousand of them."""
PAPER = {**forms.theme("#111111", "#555555", "#dddddd"), "background": "#ffffff"}


def write_figures(folder: Path, view: CampaignView, formats: Iterable[str]) -> list[Path]:
    """Write the charts in every format into a folder, and return the files in the order of writing.

    Charts of single cases are written for those that the conclusion or a finding names as evidence, and of each line
    that has several starts for the smallest size. Of very many lines only those are drawn of which there is more to
    say: that a sentence, a finding or a group rests on. Pairs of ranks are shown together only, as a matrix.
    """
    wanted = list(dict.fromkeys(formats))
    for name in wanted:
        if name not in FORMATS:
            raise RankbenchError(f"figure format {name!r}: {units.suggestion(name, FORMATS)}")
    files.make_folder(folder)
    written = []
    texts = {*evidence_cases(view), *smallest_cases(view)} - view.pair_cases
    in_matrix = {case_labels.line_key(case) for case in view.cases if case.key in view.pair_cases}
    left_out = in_matrix | lines_left_out(view)
    for plot, key, chart in plots.charts(view, texts):
        if key in left_out:
            continue
        spec = chart.spec(PAPER)
        for name in wanted:
            path = folder / f"{plot}-{re.sub('[^A-Za-z0-9.-]+', '_', key)}.{name}"
            files.write(path, FORMATS[name](spec))
            written.append(path)
    return written


def lines_left_out(view: CampaignView) -> set[str]:
    """Return the keys of the lines, and of what stands for them at all placements, that are too many to be drawn."""
    texts = set(evidence_cases(view))
    scopes = [SCOPES[name] for name in ("line", "places")]
    keys = {scope(case): scope for scope in scopes for case in view.cases}
    kept = {scope(case) for scope in scopes for case in view.cases if case.key in texts}
    lines = sum(scope == scopes[0] for scope in keys.values())
    return keys.keys() - kept if lines > MOST_LINES else set()


def evidence_cases(view: CampaignView) -> list[str]:
    """Return the keys of the cases that the conclusion or a finding rests on, or that stand for a group."""
    verdict = view.verdict
    told = [sentence.cases for sentence in verdict.conclusion] + [finding.cases for finding in verdict.findings]
    told += [group.cases[:1] for group in alike(verdict)]
    return list(dict.fromkeys(key for keys in told for key in keys[:SHOWN]))


def alike(verdict: Verdict) -> list[Group]:
    """Return the groups of lines that are like others."""
    return [group for group in verdict.groups if len(group.lines) > 1]
