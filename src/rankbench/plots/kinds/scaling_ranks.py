"""Scaling with ranks: one case over the ranks of all nodes, a panel for each candidate."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from rankbench.analysis.evaluation import scales
from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.placements import remove_placement
from rankbench.analysis.questions.scaling import Site
from rankbench.analysis.questions.view import CampaignView
from rankbench.plots import captions, forms, marks, palette
from rankbench.plots import panels as plots_panels
from rankbench.plots.chart import Chart, Row
from rankbench.plots.panels import Panels, Series
from rankbench.plots.sketch import Sketch
from rankbench.quantities import spell_count

TITLE = "Scaling with ranks"
HELP = (
    "Typical value with its interval over the ranks of all nodes, a panel for each candidate: as many ranks may be "
    "many on few nodes or few on many. A cross at the foot: it failed there, in some launches if it has a point too."
)
SCOPE = "scale"
PANEL_WIDTH = 150
LETTER = 7.2
"""Width of a letter of a head, in pixels."""


def chart(view: CampaignView) -> Chart | None:
    """Draw one case at all numbers of ranks."""
    cases = view.scaled.get(remove_placement(view.cases[0]).key, {})
    standings = scales.list_results(view, cases, view.candidates)
    if not any(standing.counts for standing in standings):
        return None
    shown = [name for name in view.candidates if any(standing.candidate == name for standing in standings)]
    totals = sorted({place.ranks for place in cases})
    alone = len({place.nodes for place in cases}) == 1
    each = {place: series_name(view, place, alone=alone) for place in sorted(cases, key=lambda case: case[::-1])}
    letters = round((forms.WIDTH - 60) / len(shown) / LETTER)
    panels = Panels(tuple(fold_name(name, letters) for name in shown), tuple(map(float, totals)))
    measure = view.measure(view.cases[0])
    sketch = Sketch(
        panels,
        lambda standing: shown.index(standing.candidate),
        lambda standing: float(standing.site.ranks),
        lambda standing: view.measure(standing.case),
        lambda standing: each[standing.site],
        "{fate} from {first} ranks on",
    )
    points = sketch.points(standings, view.campaign)
    foot = sketch.foot(standings, points, view.campaign)
    return Chart(
        make_form(panels, tuple(dict.fromkeys(each.values())), marks.drop_moved(measure), failed=bool(foot)),
        f"{view.case_name(view.cases[0])}: {measure.heading} by ranks",
        captions.describe_common(view, [standing.summary for standing in standings if standing.counts]),
        {"points": points, "heads": panels.rows(), **({"foot": foot} if foot else {})},
    )


def series_name(view: CampaignView, place: Site, *, alone: bool) -> str:
    """Return what a place has in common with others: its ranks per node, or where all have as many nodes, these."""
    if not alone:
        return scales.ranks_name(place.ranks_per_node, view.campaign)
    if scales.describe_oversubscription(place, view.campaign):
        return f"{spell_count(place.nodes, 'node')}, more ranks than cores"
    return spell_count(place.nodes, "node")


def fold_name(name: str, letters: int) -> str:
    """Return a name on several lines where it is longer than so many letters: compilers and versions on their own."""
    for mark in ("+", "-"):
        if max(map(len, name.split("\n"))) > letters:
            head, divider, tail = name.rpartition(mark) if mark == "-" else name.partition(mark)
            name = f"{head}\n{mark}{tail}" if divider and "\n" not in head else name
    return name


@functools.lru_cache
def make_form(panels: Panels, names: tuple[str, ...], measure: Measure, *, failed: bool) -> Row:
    """Return the form, with layers for failures where there are any."""
    x = panels.axis("ranks of all nodes", make_labels(panels.values))
    series = Series("series", names, palette.PLACE_COLOURS, 15 + 15 * panels.lines)
    fields = ("candidate", "place", "typical", "interval", "launches", "samples")
    layers = [
        *plots_panels.draw_panels(panels, x, series, measure, fields),
        *(plots_panels.draw_failures(x, series) if failed else ()),
    ]
    return forms.make_form(layers, plots_panels.PANEL_HEIGHT, 60 + PANEL_WIDTH * len(panels.heads))


def make_labels(values: Sequence[float]) -> list[str]:
    """Return a word for the first value and for each that is twice the one before it or more."""
    words, last = [], 0.0
    for value in values:
        apart = value >= 2 * last
        last = value if apart else last
        words.append(f"{value:g}" if apart else "")
    return words
