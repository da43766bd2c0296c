"""One case over the numbers of nodes, as several kinds of plots draw it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

import altair as alt

from rankbench.analysis.evaluation import scales
from rankbench.analysis.evaluation.scales import SiteResult
from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.placements import remove_placement
from rankbench.analysis.questions.scaling import Site
from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Case
from rankbench.plots.captions import describe_common
from rankbench.plots.chart import Chart, Row
from rankbench.plots.forms import data, make_form
from rankbench.plots.marks import drop_moved, shorten
from rankbench.plots.palette import paint
from rankbench.plots.panels import PANEL_HEIGHT, PANEL_WIDTH, Panels, Series, draw_failures, draw_panels
from rankbench.plots.sketch import Sketch


def draw_over_nodes(
    view: CampaignView, measure: Callable[[Case, Site], Measure | None], *, per_node: bool
) -> Chart | None:
    """Draw one case over the nodes, a panel for each number of ranks on a node, where there are several of nodes.

    `measure` shows what is shown of a case at a place, if anything is; `per_node` whether it is that of one node.
    """
    cases = view.scaled.get(remove_placement(view.cases[0]).key, {})
    shown = {place: measured for place, case in cases.items() if (measured := measure(case, place))}
    nodes, ranks = (sorted(set(numbers)) for numbers in (zip(*shown, strict=True) if shown else ((), ())))
    standings = scales.list_results(view, {place: cases[place] for place in shown}, view.candidates)
    if len(nodes) < 2 or not any(standing.counts for standing in standings):
        return None
    heads = tuple(scales.ranks_name(number, view.campaign).replace(", ", "\n") for number in ranks)
    panels = Panels(heads, tuple(map(float, nodes)))
    sketch = Sketch(
        panels,
        lambda standing: ranks.index(standing.site.ranks_per_node),
        lambda standing: float(standing.site.nodes),
        lambda standing: shown[standing.site],
        lambda standing: standing.candidate,
        "{fate} from {first} nodes on",
    )
    first = next(iter(shown.values()))
    painted = paint(view)
    series = Series("candidate", painted, painted.colours, 15 + 15 * panels.lines)
    points = sketch.points(standings, view.campaign)
    sets = {
        "points": points,
        "heads": panels.rows(),
        "foot": sketch.foot(standings, points, view.campaign),
        "ideal": ideal(sketch, standings, per_node=per_node) if first.per_second else [],
    }
    return Chart(
        draw_nodes(panels, series, drop_moved(first), failed=bool(sets["foot"]), reference=bool(sets["ideal"])),
        f"{view.case_name(view.cases[0])}: {first.heading} by nodes",
        describe_common(view, [standing.summary for standing in standings if standing.counts]),
        {name: rows for name, rows in sets.items() if rows},
    )


@functools.lru_cache
def draw_nodes(panels: Panels, series: Series, measure: Measure, *, failed: bool, reference: bool) -> Row:
    """Return the form of a chart over nodes, with layers for failures and for a reference where there are any."""
    x = panels.axis("nodes", [f"{value:g}" for value in panels.values])
    fields = ("candidate", "place", "typical", "interval", "launches", "samples")
    scale = alt.Scale(type="log", nice=False, padding=12)
    grey = alt.Chart(data("ideal")).mark_line(color="#999999", strokeWidth=1.5, strokeDash=[1, 3])
    layers = [grey.encode(x=x, y=alt.Y("value:Q", scale=scale), detail="part:N")] if reference else []
    layers += [*draw_panels(panels, x, series, measure, fields), *(draw_failures(x, series) if failed else ())]
    return make_form(layers, PANEL_HEIGHT, 60 + PANEL_WIDTH * len(panels.heads))


def ideal(sketch: Sketch, standings: Iterable[SiteResult], *, per_node: bool) -> list[Row]:
    """Return, in each panel, what it were if the fastest kept per node what it has on the fewest nodes above one."""
    last, rows = sketch.panels.values[-1], []
    ends_by_rank: dict[int, dict[float, float]] = {}
    for standing in standings:
        if standing.counts and standing.site.nodes > 1:
            values, value = (
                ends_by_rank.setdefault(sketch.panel(standing), {}),
                sketch.measure(standing).value(standing.summary.typical_ns),
            )
            values[sketch.at(standing)] = max(values.get(sketch.at(standing), 0), value)
    for panel, values in ends_by_rank.items():
        first = min(values)
        for nodes in (first, last):
            value = values[first] * (1 if per_node else nodes / first)
            rows.append({"x": sketch.panels.x(nodes, panel), "value": shorten(value), "part": str(panel)})
    return rows
