"""Pictures of a campaign as charts: one file per plot, and here what they all share. No files are opened here.

A plot module has `TITLE`, `HELP`, `SCOPE` and `chart(view)`. `SCOPE` says what one chart of it covers: the whole
campaign, one placement, one line (all sizes), places (one line at all placements), a scale (one size at all
placements), one matrix (all pairs of ranks) or one case; near is one case too, of many drawn for some only. `chart`
draws `view.cases`, which all lie in one such part, and returns None where there is nothing to draw. Every chart is a
single view, so that it can take the width of any page, and holds aggregated rows only.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

from rankbench import plots, units
from rankbench.language import format_text, render
from rankbench.statistics.estimators import TRIMMED
from rankbench.statistics.placements import placeless
from rankbench.statistics.scaling import Site
from rankbench.verdict import scales
from rankbench.verdict.view import CLOSE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    import altair as alt

    from rankbench.model import Campaign, Case, Summary
    from rankbench.verdict.measures import Measure
    from rankbench.verdict.scales import Standing
    from rankbench.verdict.view import CampaignView
else:
    alt = units.lazily("altair")  # Terminals show figures and circumstances, and draw nothing.

Row = dict[str, Any]
T = TypeVar("T")
P = ParamSpec("P")
WIDTH = 680
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8050EC")
"""Colour-blind safe: Okabe and Ito (2008), less the two that vanish on white or on black, and a violet."""
PLACE_COLOURS = ("#4477aa", "#ee6677", "#228833", "#aa3377", "#ccbb44", "#66ccee", "#8050ec")
"""Of what is no candidate: Tol's bright scheme, told apart by everyone, with a violet for its grey."""
PANEL_HEIGHT, PANEL_WIDTH = 320, 190
"""Height of panels, and the least width of one, in pixels."""
FOOT, LETTER = 0.055, 5.8
"""Height of a row of failures as a share of the figures' span; width of a letter of words and legends, in pixels."""
MARGIN = 0.6
"""Space on either side of a panel's lines, in doublings."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke")
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [1, 3], [12, 4])
TIME_LABEL = (
    "datum.value < 1e3 ? format(datum.value, '~g') + ' ns' : "
    "datum.value < 1e6 ? format(datum.value / 1e3, '~g') + ' µs' : "
    "datum.value < 1e9 ? format(datum.value / 1e6, '~g') + ' ms' : format(datum.value / 1e9, '~g') + ' s'"
)
MEMORY_LABEL = (
    "datum.value < 1024 ? datum.value + ' B' : datum.value < 1048576 ? format(datum.value / 1024, '.3~g') + ' KiB' : "
    "datum.value < 1073741824 ? format(datum.value / 1048576, '.3~g') + ' MiB' : "
    "format(datum.value / 1073741824, '.3~g') + ' GiB'"
)
VALUE_LABELS = {
    "time": TIME_LABEL,
    "bandwidth": "format(datum.value, ',~g')",
    "rate": "format(datum.value, '~s')",
    "memory": MEMORY_LABEL,
}
"""Labels of an axis of values, by kind of measure."""
SIZE_LABEL = (
    "datum.value < 1 ? '0 B' : datum.value < 1024 ? datum.value + ' B' : "
    "datum.value < 1048576 ? format(datum.value / 1024, '~g') + ' KiB' : "
    "datum.value < 1073741824 ? format(datum.value / 1048576, '~g') + ' MiB' : "
    "format(datum.value / 1073741824, '~g') + ' GiB'"
)


@dataclasses.dataclass(frozen=True)
class Chart:
    """A chart's form, composed with Altair, in which data sets are only named; and the figures of one part.

    The two are apart because hundreds of cases share one form.
    """

    form: Row
    title: str
    subtitle: str
    datasets: dict[str, list[Row]]

    def spec(self, config: Row) -> Row:
        """Return the whole chart as Vega-Lite."""
        title = {"text": self.title, "subtitle": self.subtitle}
        return {**self.form, "title": title, "datasets": self.datasets, "config": config}


def charts(
    view: CampaignView,
    only: Collection[str] | None = None,
    near: Collection[str] | None = None,
    less: Collection[str] = (),
) -> Iterator[tuple[str, str, Chart]]:
    """Draw every plot of this folder for every part of its scope: the plot's name, the part's key, the chart.

    `only` names the cases for which plots of single cases are drawn; without it they are drawn for all. `near` does so
    for those whose scope is `near`, if they are others. `less` names plots that are not drawn.
    """
    view = view.drawing(only, only if near is None else near)
    wanted = {"case": view.only, "near": view.near}
    divided: dict[str, list[tuple[str, CampaignView]]] = {}
    for name, plot in units.modules(plots).items():
        if name in less:
            continue
        scope = "case" if plot.SCOPE in CLOSE else plot.SCOPE
        if scope not in divided:
            divided[scope] = list(view.parts(scope))
        asked = wanted.get(plot.SCOPE)
        for key, part in divided[scope]:
            chart = plot.chart(part) if asked is None or key in asked else None
            if chart is not None:
                yield name, key, chart


# --- words --------------------------------------------------------------------------------------------------------


def circumstances(view: CampaignView, interval: str = "", start: str = "") -> str:
    """Return what every title owes its reader: ranks, placement, start, launches, the interval."""
    case = view.cases[0]
    summaries = [summary for _, summary in view.shown_summaries()]
    launches = sorted({summary.launches for summary in summaries})
    names = " or ".join(dict.fromkeys(case.start for case in view.cases))
    where = format_text("{n:count rank} ({place})", n=case.ranks, place=f"{case.placement}{crowd(view, case)}")
    setting = f"{where}, {start or format_text('start: {names}', names=names)}"
    if not launches:
        return format_text("{setting}, no launch that counts", setting=setting)
    coverage = min(summary.coverage for summary in summaries)
    return f"{setting}, {each(launches, view.campaign.plan.estimator)}, {interval or covered(view, coverage)}"


def each(launches: Sequence[int], estimator: str = "median") -> str:
    """Return how many launches figures are of, in rising order, and by what of each if not by its median."""
    several = format_text("{least} to {most} launches", least=launches[0], most=launches[-1])
    counted = several if len(launches) > 1 else format_text("{n:count launch}", n=launches[0])
    if estimator == "median":
        return format_text("{launches} each", launches=counted)
    return format_text("{launches} each by its {estimator}", launches=counted, estimator=estimator)


def covered(view: CampaignView, coverage: float) -> str:
    """Return how sure intervals are at least, or why there are none."""
    if not coverage:
        return uncovered(view)
    return format_text("intervals of {percent:.3g} % or more", percent=100 * coverage)


def crowd(view: CampaignView, case: Case) -> str:
    """Return what must be said of a placement with more ranks on a node than it has cores."""
    places = [one for one in view.campaign.plan.placements if one.name == case.placement]
    return scales.remark(Site(places[0].nodes, places[0].ranks_per_node), view.campaign) if places else ""


def uncovered(view: CampaignView) -> str:
    """Return why there are no intervals over launches, or whose interval is shown of a lone one."""
    planned = view.campaign.plan
    if planned.estimator != TRIMMED:
        return format_text("too few for intervals")
    return format_text(
        "with MPIPerf's {confidence:.0%} interval of the samples within it, not of the next launch",
        confidence=planned.confidence,
    )


def initials(names: Sequence[str]) -> dict[str, str]:
    """Return the shortest capital beginnings that tell names apart; letters in order where three characters do not."""
    for length in (1, 2, 3):
        short = [name[:length].upper() for name in names]
        if len(set(short)) == len(names):
            return dict(zip(names, short, strict=True))
    return {name: chr(ord("A") + index % 26) for index, name in enumerate(names)}


def rounded(value: float) -> float:
    """Return a number short enough to be embedded thousands of times."""
    return float(f"{value:.5g}")


# --- scales and axes ----------------------------------------------------------------------------------------------


def cycle(values: Iterable[Any], count: int) -> list[Any]:
    """Return so many values, from the start again where they run out."""
    return list(itertools.islice(itertools.cycle(values), count))


def colours(candidates: Sequence[str]) -> alt.Scale:
    """Return the colour of every candidate, the same in every plot."""
    return alt.Scale(domain=list(candidates), range=cycle(COLOURS, len(candidates)))


def columns(names: Iterable[str]) -> int:
    """Return how many entries of a legend stand beside each other, so that none is beyond the view."""
    return max(1, int(WIDTH / (LETTER * max(map(len, names)) + 40)))


def colour(candidates: Sequence[str]) -> alt.Color:
    """Return the encoding of candidates by colour."""
    return alt.Color(
        "candidate:N",
        title=None,
        scale=colours(candidates),
        legend=alt.Legend(orient="top", symbolOpacity=1, symbolStrokeWidth=0, columns=columns(candidates)),
    )


def shape(candidates: Sequence[str]) -> alt.Shape:
    """Return the point shape of candidates, so that no reader depends on colour."""
    scale = alt.Scale(domain=list(candidates), range=cycle(SHAPES, len(candidates)))
    return alt.Shape("candidate:N", title=None, scale=scale)


def dash(candidates: Sequence[str]) -> alt.StrokeDash:
    """Return the line dash of candidates."""
    scale = alt.Scale(domain=list(candidates), range=cycle(DASHES, len(candidates)))
    return alt.StrokeDash("candidate:N", title=None, scale=scale)


def log_axis(heading: str, label: str) -> alt.Axis:
    """Return a logarithmic axis with full lines at 1, 2 and 5 only; `label` is an expression over `datum.value`."""
    leading = "round(100 * datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))"
    strong = {"condition": {"test": f"indexof([100, 200, 500], {leading}) < 0", "value": 0.3}, "value": 1}
    return alt.Axis(
        title=heading, labelExpr=f"datum.label === '' ? '' : {label}", labelSeparation=8, gridOpacity=strong
    )


def time_axis(heading: str = "") -> alt.Axis:
    """Return an axis of nanoseconds, labelled in ns, µs, ms and s."""
    return log_axis(heading or format_text("time"), TIME_LABEL)


def value_axis(measure: Measure, heading: str = "") -> alt.Axis:
    """Return the axis of what was measured."""
    return log_axis(heading or measure.heading, VALUE_LABELS[measure.kind])


def size_position(size_bytes: int, sizes: list[int]) -> float:
    """Return where a size stands on a logarithmic axis; no bytes at all stand one step left of the smallest size."""
    return size_bytes or min((size for size in sizes if size), default=1) / 2


def size_x(sizes: list[int]) -> alt.X:
    """Return the axis of message sizes, with a tick at every measured one."""
    values = sorted({size_position(size, sizes) for size in sizes})
    label = SIZE_LABEL if 0 not in sizes else f"datum.value === {values[0]} ? '0 B' : {SIZE_LABEL}"
    axis = alt.Axis(
        title=format_text("message size"), values=values, labelExpr=label, labelOverlap="parity", labelSeparation=4
    )
    return alt.X("position:Q", scale=alt.Scale(type="log", base=2, nice=False, padding=14), axis=axis)


def tooltips(*fields: str) -> list[alt.Tooltip]:
    """Return tooltip entries for text fields; the field's name is the label."""
    return [alt.Tooltip(f"{field}:N", title=field) for field in fields]


def spelt(kind: str, field: str) -> str:
    """Return the expression that spells a figure as `Measure.spelt` does."""
    value = f"datum.{field}"

    def stepped(*steps: tuple[float, float, str]) -> str:
        parts = [f"{value} < {end:g} ? format({value} / {scale:g}, '.3r') + '{unit}' : " for end, scale, unit in steps]
        return "".join(parts)

    if kind == "bandwidth":
        return f"({value} >= 999.95 ? format({value}, ',.0f') : format({value}, '.4~r')) + ' MB/s'"
    if kind == "rate":
        last = f"format({value} / 1e9, '.3r') + ' G/s'"
        return f"({stepped((999.5, 1, '/s'), (999.5e3, 1e3, ' k/s'), (999.5e6, 1e6, ' M/s'))}{last})"
    if kind == "memory":
        scales = ((1023.5 * 1024, 1024, " KiB"), (1023.5 * 1024**2, 1024**2, " MiB"))
        last = f"format({value} / {1024**3}, '.3r') + ' GiB'"
        return f"({value} < 1023.5 ? format({value}, '.0f') + ' B' : {stepped(*scales)}{last})"
    last = f"format({value} / 1e9, '.3r') + ' s'"
    return f"({stepped((999.5, 1, ' ns'), (999.5e3, 1e3, ' µs'), (999.5e6, 1e6, ' ms'))}{last})"


def in_words(chart: alt.Chart, kind: str) -> alt.Chart:
    """Return a chart whose points spell their value and its interval in tooltips."""
    interval = f"{spelt(kind, 'low')} + ' to ' + {spelt(kind, 'high')}"
    told: alt.Chart = chart.transform_calculate(typical=spelt(kind, "value"), interval=interval)
    return told


def point(summary: Summary, measure: Measure) -> Row:
    """Return a summary as a point whose form spells it."""
    told = {"candidate": summary.candidate, "launches": summary.launches, "samples": summary.samples}
    return {**ends(summary, measure), **told}


def figures(summary: Summary, measure: Measure) -> Row:
    """Return the texts that tell a summary in a tooltip."""
    return {
        "candidate": summary.candidate,
        "typical": measure.spelt(summary.typical_ns),
        "interval": measure.interval(summary.low_ns, summary.high_ns),
        "launches": summary.launches,
        "samples": summary.samples,
    }


def launch_x() -> alt.X:
    """Return the axis of launches."""
    scale, axis = alt.Scale(nice=False, zero=False, padding=12), alt.Axis(tickMinStep=1, grid=False)
    return alt.X("launch:Q", title=format_text("launch, in order of time"), scale=scale, axis=axis)


def over_launches(candidates: Sequence[str], y: alt.Y, told: str, spelling: str = "") -> list[alt.Chart]:
    """Return a thin line and a point per launch for each candidate; `told` is the field of the tooltip.

    `spelling` is the expression that makes that field, if it is not in the data.
    """
    base = alt.Chart(data("launches")).encode(
        x=launch_x(),
        y=y,
        color=colour(candidates),
        tooltip=tooltips("candidate", "launch", told),
    )
    base = base.transform_calculate(**{told: spelling}) if spelling else base
    line = base.mark_line(strokeOpacity=0.5).encode(strokeDash=dash(candidates))
    return [line, base.mark_point(size=45, filled=True, opacity=1).encode(shape=shape(candidates))]


# --- panels side by side in one view ----------------------------------------------------------------------------------


class Panels(NamedTuple):
    """Panels with one vertical axis, each with the same values along a logarithmic axis; positions are doublings."""

    heads: tuple[str, ...]
    values: tuple[float, ...]
    """In rising order."""

    def x(self, value: float, panel: int) -> float:
        """Return where a value stands in a panel, from the left end of the first panel."""
        first, own, last = (math.log2(one) for one in (self.values[0], value, self.values[-1]))
        return round(panel * (last - first + 2 * MARGIN) + MARGIN + own - first, 3)

    @property
    def end(self) -> float:
        """Return the right end of the last panel."""
        return self.x(self.values[-1], len(self.heads) - 1) + MARGIN

    @property
    def lines(self) -> int:
        """Return the lines that the heads take."""
        return max(len(head.split("\n")) for head in self.heads)

    def rows(self) -> list[Row]:
        """Return the heads, and the lines between panels."""
        first, last = self.values[0], self.values[-1]
        return [
            {
                "head": head,
                "x": (self.x(first, panel) + self.x(last, panel)) / 2,
                "border": round(self.x(first, panel) - MARGIN, 3),
            }
            for panel, head in enumerate(self.heads)
        ]

    def axis(self, title: str, words: Iterable[str]) -> alt.X:
        """Return the axis with a tick at every value that has a word, in every panel."""
        told = [(value, text) for value, text in zip(self.values, words, strict=True) if text]
        ticks = {self.x(value, panel): text for panel in range(len(self.heads)) for value, text in told}
        named = {f"{at:.3f}": text for at, text in ticks.items()}
        label = f"{json.dumps(named)}[format(datum.value, '.3f')] || ''"
        axis = alt.Axis(title=title, values=list(ticks), labelExpr=label, labelOverlap=False, grid=False)
        axis.tickCount = 2 * len(ticks)  # Of more values than this Vega would leave some out.
        return alt.X("x:Q", scale=alt.Scale(domain=[0, self.end], nice=False), axis=axis)

    def around(self) -> list[alt.Chart]:
        """Return the heads above the panels, and lines between these."""
        heads = alt.Chart(data("heads"))
        words = heads.mark_text(fontWeight="bold", fontSize=12, baseline="bottom", lineBreak="\n", aria=False)
        above = alt.value(-4 - 15 * (self.lines - 1))
        between = heads.transform_filter("datum.border > 0").mark_rule(color="#888888", strokeDash=[2, 3])
        return [words.encode(x="x:Q", y=above, text="head:N"), between.encode(x="border:Q")]


def panelled(panels: Panels, x: alt.X, series: Series, measure: Measure, told: Sequence[str]) -> list[alt.Chart]:
    """Return a line with its interval and its points for each of the series in each panel, heads, and failures.

    Points have `value`, `low`, `high` and `part`: a line ends where the part does. Failures stand at the foot.
    """
    points = in_words(alt.Chart(data("points")), measure.kind)
    base = points.encode(x=x, color=alt.Color(**series.by(series.colours)), detail="part:N", tooltip=tooltips(*told))
    scale = alt.Scale(type="log", nice=False, padding=12)
    low = alt.Y("low:Q", scale=scale, axis=value_axis(measure))
    value = alt.Y("value:Q", scale=scale)
    band = base.mark_area(opacity=0.2).encode(y=low, y2="high:Q")
    line = base.mark_line(strokeWidth=2).encode(y=value, strokeDash=alt.StrokeDash(**series.by(DASHES)))
    point = base.mark_point(size=40, filled=True, opacity=1, cursor="pointer").encode(
        y=value, shape=alt.Shape(**series.by(SHAPES))
    )
    return [band, line, point, *panels.around()]


def at_the_foot(x: alt.X, series: Series) -> list[alt.Chart]:
    """Return a cross for each place where a candidate failed, below all figures, and in words what it did."""
    colour = alt.Color(**series.by(series.colours))
    y = alt.Y("value:Q", scale=alt.Scale(type="log", nice=False, padding=12))
    base = alt.Chart(data("foot")).encode(x=x, y=y, color=colour, tooltip=tooltips("candidate", "place", "fate"))
    cross = base.mark_text(text="\N{MULTIPLICATION SIGN}", fontSize=17, fontWeight="bold", cursor="pointer")
    left = base.transform_filter("datum.side === 'left'").mark_text(align="right", dx=-9, fontSize=11, aria=False)
    right = base.transform_filter("datum.side === 'right'").mark_text(align="left", dx=9, fontSize=11, aria=False)
    return [cross, left.encode(text="words:N"), right.encode(text="words:N")]


class Series(NamedTuple):
    """What the lines of a panel are: a field, its values and their colours."""

    field: str
    names: tuple[str, ...]
    colours: tuple[str, ...]
    offset: int = 30

    def by(self, values: Sequence[Any]) -> dict[str, Any]:
        """Return how the series are told apart, by colour, dash or shape."""
        scale = alt.Scale(domain=list(self.names), range=cycle(values, len(self.names)))
        legend = alt.Legend(orient="top", symbolOpacity=1, offset=self.offset, columns=columns(self.names))
        return {"shorthand": f"{self.field}:N", "title": None, "scale": scale, "legend": legend}


@dataclasses.dataclass(frozen=True)
class Sketch:
    """How standings become rows: in which panel each is, where along the axis, and what is shown of it."""

    panels: Panels
    panel: Callable[[Standing], int]
    at: Callable[[Standing], float]
    measure: Callable[[Standing], Measure]
    series: Callable[[Standing], str]
    onward: str
    """How it is said that all failed from somewhere along the axis on: `{fate} from {first} nodes on`."""

    def points(self, standings: Iterable[Standing], campaign: Campaign) -> list[Row]:
        """Return the points of those that have figures; after a failure another part of the line begins."""
        parts: dict[tuple[int, str], int] = {}
        rows = []
        for one in sorted(standings, key=self.at):
            key = self.panel(one), self.series(one)
            parts[key] = parts.get(key, 0) + (not one.counts)
            if one.counts:
                part = f"{key[0]} {key[1]} {parts[key]}"
                measure = self.measure(one)
                told = {**figures(one.summary, measure), **ends(one.summary, measure), "part": part}
                rows.append({**self.row(one, campaign), **told})
        return rows

    def row(self, one: Standing, campaign: Campaign) -> Row:
        """Return where a candidate is: the same keys whether it failed there or has figures."""
        return {
            "key": one.case.key,
            "x": self.panels.x(self.at(one), self.panel(one)),
            "place": scales.place_name(one.site, campaign),
            "candidate": one.candidate,
        } | ({} if self.series(one) == one.candidate else {"series": self.series(one)})

    def foot(self, standings: Iterable[Standing], points: Sequence[Row], campaign: Campaign) -> list[Row]:
        """Return the marks of all failures below the points, a row for each of the series that has any."""
        failed: dict[str, dict[int, list[Standing]]] = {}
        for one in sorted((one for one in standings if one.fate), key=self.at):
            failed.setdefault(self.series(one), {}).setdefault(self.panel(one), []).append(one)
        low, high = min(row["low"] for row in points), max(row["high"] for row in points)
        step = max(math.log(high / low), math.log(2)) * FOOT
        rows = []
        for depth, in_panels in enumerate(failed.values()):
            for ones in in_panels.values():
                value = {"value": rounded(low * math.exp(-step * (depth + 1.3)))}
                marks = [
                    {**self.row(one, campaign), **value, "fate": render(one.fate), "words": "", "side": ""}
                    for one in ones
                ]
                end, words = self.said(ones)
                marks[end] |= {"words": words, "side": "right" if end else "left"} if words else {}
                rows += marks
        return rows

    def said(self, failed: list[Standing]) -> tuple[int, str]:
        """Return at which end of some failures there is room for words, 0 or -1, and the words: nothing if at none."""
        first, last = self.at(failed[0]), self.at(failed[-1])
        pixels = (WIDTH - 60) / self.panels.end
        left = pixels * (self.panels.x(first, 0) - self.panels.x(self.panels.values[0], 0) + MARGIN)
        right = pixels * (self.panels.x(self.panels.values[-1], 0) - self.panels.x(last, 0) + MARGIN)
        for words in self.wordings(failed):
            for end, room in ((0, left), (-1, right)):
                if LETTER * len(words) + 12 <= room:
                    return end, words
        return 0, ""

    def wordings(self, failed: list[Standing]) -> list[str]:
        """Return what may be said of some failures, the fullest first: places that always fail before the others."""
        always = [one for one in failed if not one.counts]
        told = always or failed
        fate = render(told[0].word) if len({one.word for one in told}) == 1 else format_text("failed")
        onward = self.at(failed[-1]) == self.panels.values[-1] and len(always) > 1 and not failed[-1].counts
        words = [fate]
        if onward:
            words.insert(0, format_text(self.onward, fate=fate, first=f"{self.at(always[0]):g}"))
        if len(told) < len(failed):
            words.insert(0, format_text("{words}, elsewhere at times", words=words[0]))
        return words


def by_nodes(view: CampaignView, measure: Callable[[Case, Site], Measure | None], *, per_node: bool) -> Chart | None:
    """Draw one case over the nodes, a panel for each number of ranks on a node, where there are several of nodes.

    `measure` tells what is shown of a case at a place, if anything is; `per_node` whether it is that of one node.
    """
    cases = view.scaled.get(placeless(view.cases[0]).key, {})
    shown = {place: told for place, case in cases.items() if (told := measure(case, place))}
    nodes, ranks = (sorted(set(numbers)) for numbers in (zip(*shown, strict=True) if shown else ((), ())))
    own = scales.standings(view, {place: cases[place] for place in shown}, view.candidates)
    if len(nodes) < 2 or not any(one.counts for one in own):
        return None
    heads = tuple(scales.ranks_name(number, view.campaign).replace(", ", "\n") for number in ranks)
    panels = Panels(heads, tuple(map(float, nodes)))
    sketch = Sketch(
        panels,
        lambda one: ranks.index(one.site.ranks_per_node),
        lambda one: float(one.site.nodes),
        lambda one: shown[one.site],
        lambda one: one.candidate,
        "{fate} from {first} nodes on",
    )
    first = next(iter(shown.values()))
    series = Series("candidate", view.candidates, COLOURS, 15 + 15 * panels.lines)
    points = sketch.points(own, view.campaign)
    sets = {
        "points": points,
        "heads": panels.rows(),
        "foot": sketch.foot(own, points, view.campaign),
        "ideal": ideal(sketch, own, per_node=per_node) if first.per_second else [],
    }
    return Chart(
        nodes_form(panels, series, unmoved(first), failed=bool(sets["foot"]), reference=bool(sets["ideal"])),
        format_text("{case}: {what} by nodes", case=view.case_name(view.cases[0]), what=first.heading),
        everywhere(view, [one.summary for one in own if one.counts]),
        {name: rows for name, rows in sets.items() if rows},
    )


@functools.lru_cache
def nodes_form(panels: Panels, series: Series, measure: Measure, *, failed: bool, reference: bool) -> Row:
    """Return the form of a chart over nodes, with layers for failures and for a reference where there are any."""
    x = panels.axis(format_text("nodes"), [f"{value:g}" for value in panels.values])
    told = ("candidate", "place", "typical", "interval", "launches", "samples")
    scale = alt.Scale(type="log", nice=False, padding=12)
    grey = alt.Chart(data("ideal")).mark_line(color="#999999", strokeWidth=1.5, strokeDash=[1, 3])
    layers = [grey.encode(x=x, y=alt.Y("value:Q", scale=scale), detail="part:N")] if reference else []
    layers += [*panelled(panels, x, series, measure, told), *(at_the_foot(x, series) if failed else ())]
    return form(layers, PANEL_HEIGHT, 60 + PANEL_WIDTH * len(panels.heads))


def ideal(sketch: Sketch, standings: Iterable[Standing], *, per_node: bool) -> list[Row]:
    """Return, in each panel, what it were if the fastest kept per node what it has on the fewest nodes above one."""
    last, rows = sketch.panels.values[-1], []
    found: dict[int, dict[float, float]] = {}
    for one in standings:
        if one.counts and one.site.nodes > 1:
            values, value = found.setdefault(sketch.panel(one), {}), sketch.measure(one).value(one.summary.typical_ns)
            values[sketch.at(one)] = max(values.get(sketch.at(one), 0), value)
    for panel, values in found.items():
        first = min(values)
        for nodes in (first, last):
            value = values[first] * (1 if per_node else nodes / first)
            rows.append({"x": sketch.panels.x(nodes, panel), "value": rounded(value), "part": str(panel)})
    return rows


def unmoved(measure: Measure) -> Measure:
    """Return a measure without what is moved, which makes no difference to a form."""
    return dataclasses.replace(measure, moved=0)


def everywhere(view: CampaignView, summaries: Sequence[Summary]) -> str:
    """Return what holds of all placements: start, launches, the interval."""
    launches = sorted({summary.launches for summary in summaries})
    coverage = min(summary.coverage for summary in summaries)
    interval = covered(view, coverage) if coverage else format_text("too few for intervals")
    return f"{format_text('start: {names}', names=view.cases[0].start)}, {each(launches)}, {interval}"


def heading(measure: Measure) -> str:
    """Return what the axis of one operation shows."""
    own = {"time": format_text("time per call"), "latency": format_text("latency (half a round trip)")}
    return own.get(measure.name, measure.heading)


def ends(summary: Summary, measure: Measure) -> Row:
    """Return value and interval of a point. The ends of the interval change places when a time becomes a bandwidth."""
    values = [measure.value(figure) for figure in (summary.typical_ns, summary.low_ns, summary.high_ns)]
    found = {"value": values[0], "low": min(values[1:]), "high": max(values[1:])}
    return {name: rounded(value) for name, value in found.items()}


def form(layers: list[alt.Chart], height: int, least_width: int = 0) -> Row:
    """Return layers that name their data as one Vega-Lite view. A page may make it as narrow as `least_width`."""
    view = alt.LayerChart(layer=layers, width=WIDTH, height=height, usermeta={"least_width": least_width})
    plain: Row = view.to_dict(validate=False)
    del plain["config"]
    return plain


def theme(ink: str, muted: str, grid: str) -> dict[str, Any]:
    """Return the Vega-Lite configuration for three colours; a page may give CSS variables."""
    axis = {"domainColor": muted, "tickColor": muted, "gridColor": grid, "labelColor": muted, "titleColor": muted}
    return {
        "background": "transparent",
        "font": "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif",
        "view": {"stroke": None},
        "axis": {**axis, "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "tickSize": 4},
        "legend": {"labelColor": ink, "titleColor": ink, "labelFontSize": 12, "labelLimit": 400, "columnPadding": 18},
        "title": {
            "anchor": "start",
            "color": ink,
            "subtitleColor": muted,
            "fontSize": 14,
            "offset": 10,
            "frame": "group",
        },
        "text": {"color": ink},
    }


def data(name: str) -> alt.NamedData:
    """Return a reference to one of a chart's data sets."""
    return alt.NamedData(name=name)
