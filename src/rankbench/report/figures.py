"""Every plot of a campaign as picture files. Drawn from the same charts as the page, without a browser."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rankbench import files, plots, units
from rankbench.analysis.questions import case_labels
from rankbench.analysis.questions.view import SCOPES, CampaignView
from rankbench.model import RankbenchError
from rankbench.plots.forms import PAPER
from rankbench.report.evidence import list_evidence
from rankbench.report.pictures import FORMATS, USUAL, name_picture
from rankbench.report.tables import smallest_cases

MOST_LINES = 120
"""Of more lines than this not all are drawn as files: a thousand would not be read."""
FEW = 3
"""So many values of a candidate are in the tables; a histogram of them shows no more."""

INDEX_HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Figures</title>
<style>
body { font: 1rem sans-serif; margin: 2rem auto; padding: 0 1rem; max-width: 60rem; }
img { max-width: 100%; }
</style>
"""


class Figure(NamedTuple):
    """A chart that was written: the name of its files without a suffix, and its title and subtitle."""

    name: str
    title: str
    subtitle: str


def check_figures(formats: Sequence[str], kinds: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Return formats and kinds of charts, each once; `all`: every kind. Raises RankbenchError for an unknown name."""
    known = list(units.modules(plots.kinds))
    for what, wanted, allowed in (("format", formats, [*FORMATS]), ("kind", kinds, [*known, "all"])):
        for name in wanted:
            if name not in allowed:
                raise RankbenchError(f"no figure {what} {name!r}{units.suggestion(name, allowed)}")
    return list(dict.fromkeys(formats)), known if "all" in kinds else list(dict.fromkeys(kinds or USUAL))


def write_figures(
    folder: Path,
    view: CampaignView,
    formats: Sequence[str],
    kinds: Sequence[str] = (),
    watch: Callable[[int], None] = lambda _: None,
) -> list[Path]:
    """Write charts in every format into a folder with an `index.html`, and return the files in the order of writing.

    Kinds of charts are those of `plots.kinds`, `all` for every one; without any, those of `USUAL`.
    Charts of single cases are written for those that the conclusion or a finding names as evidence, and of each line
    that has several starts for the smallest size. Of very many lines only those are drawn of which there is more to
    say: that a sentence, a finding or a group rests on. Pairs of ranks are shown together only, as a matrix. Charts of
    the launches or samples of a case are left out where no candidate has more than FEW of them.
    `watch` is called with the number of charts that are written.
    """
    formats, kinds = check_figures(formats, kinds)
    files.make_folder(folder)
    paths: list[Path] = []
    texts = {*list_evidence(view), *smallest_cases(view)} - view.pair_cases
    in_matrix = {case_labels.make_line_key(case) for case in view.cases if case.key in view.pair_cases}
    left_out = in_matrix | list_omitted_lines(view)
    poor = list_poor_charts(view)
    drawn: dict[str, list[Figure]] = {}
    unwanted = [name for name in units.modules(plots.kinds) if name not in kinds]
    for plot, key, chart in plots.charts(view, texts, less=unwanted):
        if key in left_out or (plot, key) in poor:
            continue
        spec = chart.spec(PAPER)
        name = name_picture(plot, key)
        for form in formats:
            path = folder / f"{name}.{form}"
            files.write(path, FORMATS[form](spec))
            paths.append(path)
        drawn.setdefault(plot, []).append(Figure(name, chart.title, chart.subtitle))
        watch(sum(map(len, drawn.values())))
    index = folder / "index.html"
    files.write(index, index_page(view, drawn, formats))
    return [*paths, index]


def index_page(view: CampaignView, drawn: Mapping[str, Sequence[Figure]], formats: Sequence[str]) -> str:
    """Return a page that lists figures by kind, with the first format as picture and links to all."""
    known = units.modules(plots.kinds)
    parts = [f"<h1>{html.escape(view.campaign.plan.question)}</h1>"]
    for plot, figures in drawn.items():
        parts.append(f"<h2>{html.escape(known[plot].TITLE)}</h2>")
        for name, title, subtitle in figures:
            links = " ".join(f'<a href="{html.escape(name)}.{form}">{form}</a>' for form in formats)
            words = html.escape(f"{title} ({subtitle})")
            # A picture has its title in itself.
            shown = f"{words} {links}" if formats[0] == "pdf" else links
            parts.append(f"<p>{shown}</p>")
            if formats[0] != "pdf":
                parts.append(f'<img loading="lazy" alt="{words}" src="{html.escape(name)}.{formats[0]}">')
    return INDEX_HEAD + "\n".join(parts)


def list_poor_charts(view: CampaignView) -> set[tuple[str, str]]:
    """Return the charts, by kind and case, of which no candidate has more than a few values."""
    return {
        (name, case)
        for name, plot in units.modules(plots.kinds).items()
        if (counted := getattr(plot, "VALUES", ""))
        for case, summaries in view.summaries_of.items()
        if max((getattr(summary, counted) for _, summary in summaries), default=0) <= FEW
    }


def list_omitted_lines(view: CampaignView) -> set[str]:
    """Return the keys of the lines, and of their charts over placements, that are too many to be drawn."""
    texts = set(list_evidence(view))
    scopes = [SCOPES[name] for name in ("line", "places")]
    keys = {scope(case): scope for scope in scopes for case in view.cases}
    drawn = {scope(case) for scope in scopes for case in view.cases if case.key in texts}
    lines = sum(scope == scopes[0] for scope in keys.values())
    return keys.keys() - drawn if lines > MOST_LINES else set()
