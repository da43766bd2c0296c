"""Pictures of a campaign as charts: one file per plot, and here what they all share. No files are opened here.

A plot module has `TITLE`, `HELP`, `SCOPE` and `chart(picture)`. `SCOPE` says what one chart of it covers: the whole
campaign, one placement, one line (all sizes of an operation) or one case. `chart` draws `picture.cases`, which all lie
in one such part, and returns None where there is nothing to draw. Every chart is a single view, so that it can take
the width of any page, and holds aggregated rows only.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

import altair as alt

from rankbench import plots, units
from rankbench.quantities import format_size, format_time
from rankbench.statistics.estimators import TRIMMED

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from rankbench.model import Campaign, Case, CaseVerdict, Launch, Operation, Summary, Verdict
    from rankbench.verdict.evaluation import Evaluation

Row = dict[str, Any]
WIDTH = 680
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
"""Colour-blind safe: Okabe and Ito (2008), less the two that vanish on white or on black."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke")
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [1, 3], [12, 4])
TIME_LABEL = (
    "datum.value < 1e3 ? format(datum.value, '~g') + ' ns' : "
    "datum.value < 1e6 ? format(datum.value / 1e3, '~g') + ' µs' : "
    "datum.value < 1e9 ? format(datum.value / 1e6, '~g') + ' ms' : format(datum.value / 1e9, '~g') + ' s'"
)
SIZE_LABEL = (
    "datum.value < 1 ? '0 B' : datum.value < 1024 ? datum.value + ' B' : "
    "datum.value < 1048576 ? format(datum.value / 1024, '~g') + ' KiB' : "
    "datum.value < 1073741824 ? format(datum.value / 1048576, '~g') + ' MiB' : "
    "format(datum.value / 1073741824, '~g') + ' GiB'"
)
SCOPES: dict[str, Callable[[Case], str]] = {
    "campaign": lambda _case: "campaign",
    "placement": lambda case: case.placement,
    "line": lambda case: (
        ".".join((case.operation, case.form, case.datatype, case.placement, case.start)) + case.memory.suffix
    ),
    "case": lambda case: case.key,
}


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


@dataclasses.dataclass(frozen=True)
class Picture:
    """What charts are drawn from. `cases` are those to draw; the rest always covers the whole campaign."""

    evaluation: Evaluation
    cases: list[Case]

    @property
    def campaign(self) -> Campaign:
        """Return the campaign's record."""
        return self.evaluation.campaign

    @property
    def launches(self) -> list[Launch]:
        """Return all launches."""
        return self.evaluation.launches

    @property
    def verdict(self) -> Verdict:
        """Return the verdict over all cases."""
        return self.evaluation.verdict

    @property
    def candidates(self) -> tuple[str, ...]:
        """Return the candidates compared, in the plan's order, without A/A twins."""
        return tuple(candidate.name for candidate in self.campaign.candidates if not candidate.control_of)

    def own_start(self, case: Case) -> bool:
        """Return whether a case has the usual start, or is measured with one start only."""
        return self.evaluation.usual[case.key] == case

    def parts(self, scope: str) -> Iterator[tuple[str, Picture]]:
        """Divide the picture by a scope, in the order of the cases."""
        key = SCOPES[scope]
        for name in dict.fromkeys(key(case) for case in self.cases):
            yield name, dataclasses.replace(self, cases=[case for case in self.cases if key(case) == name])

    def verdicts(self) -> list[CaseVerdict]:
        """Return the verdicts of the cases to draw."""
        keys = {case.key for case in self.cases}
        return [verdict for verdict in self.verdict.cases if verdict.case.key in keys]

    def summaries(self) -> Iterator[tuple[Case, Summary]]:
        """Yield each case to draw with the summary of each candidate that has figures."""
        cases = {case.key: case for case in self.cases}
        for summary in self.verdict.summaries:
            if summary.case in cases and summary.candidate in self.candidates and summary.launches:
                yield cases[summary.case], summary

    def operation(self, case: Case) -> Operation:
        """Return what the core says of a case's operation."""
        return next(operation for operation in self.campaign.operations if operation.name == case.operation)


def picture(evaluation: Evaluation) -> Picture:
    """Make the picture of a whole campaign."""
    return Picture(evaluation, [verdict.case for verdict in evaluation.verdict.cases])


def charts(whole: Picture, only: Container[str] | None = None) -> Iterator[tuple[str, str, Chart]]:
    """Draw every plot of this folder for every part of its scope: the plot's name, the part's key, the chart.

    `only` names the cases for which plots of single cases are drawn; without it they are drawn for all.
    """
    for name, plot in units.modules(plots).items():
        for key, part in whole.parts(plot.SCOPE):
            wanted = only is None or plot.SCOPE != "case" or key in only
            chart = plot.chart(part) if wanted else None
            if chart is not None:
                yield name, key, chart


# --- words --------------------------------------------------------------------------------------------------------


def bandwidth(case: Case, operation: Operation, time_ns: float) -> float:
    """Return MB/s, 1 MB being 10^6 bytes, for the time of one timed call."""
    return 1e3 * operation.messages * case.size_bytes / time_ns


def line_name(case: Case, operation: Operation) -> str:
    """Return how a line is called: the operation, with form and memory where they are not the usual ones."""
    return call_name(case, operation) + memory_name(case)


def call_name(case: Case, operation: Operation) -> str:
    """Return the operation, with its form where it is neither the usual nor the only one."""
    usual = case.form == "blocking" or len(operation.forms) == 1
    return case.operation if usual else f"{case.operation} {case.form}"


def memory_name(case: Case) -> str:
    """Return ` (cold, in-place)`, or nothing where the memory is the usual one."""
    return f" ({case.memory.label})" if case.memory.label else ""


def size_name(case: Case, operation: Operation) -> str:
    """Return a case's message size, or a dash where the operation takes none."""
    return format_size(case.size_bytes) if operation.sized else "–"


def case_name(case: Case, operation: Operation) -> str:
    """Return how a case is called in a title."""
    size = f" {format_size(case.size_bytes)}" if operation.sized else ""
    return call_name(case, operation) + size + memory_name(case)


def circumstances(picture: Picture, interval: str = "", start: str = "") -> str:
    """Return what every title owes its reader: ranks, placement, start, launches, the interval."""
    case = picture.cases[0]
    summaries = [summary for _, summary in picture.summaries()]
    launches = sorted({summary.launches for summary in summaries})
    begun = start or f"start: {' or '.join(dict.fromkeys(case.start for case in picture.cases))}"
    setting = f"{case.ranks} ranks ({case.placement}), {begun}"
    if not launches:
        return f"{setting}, no launch that counts"
    counts = str(launches[0]) if len(launches) == 1 else f"{launches[0]} to {launches[-1]}"
    coverage = min(summary.coverage for summary in summaries)
    covered = f"intervals of {100 * coverage:.3g} % or more" if coverage else uncovered(picture)
    estimator = picture.campaign.plan.estimator
    by = " each" if estimator == "median" else f" each by its {estimator}"
    return f"{setting}, {counts} {'launch' if launches == [1] else 'launches'}{by}, {interval or covered}"


def uncovered(picture: Picture) -> str:
    """Return why there are no intervals over launches, or whose interval is shown of a lone one."""
    planned = picture.campaign.plan
    if planned.estimator != TRIMMED:
        return "too few for intervals"
    return f"with MPIPerf's {planned.confidence:.0%} interval of the samples within it, not of the next launch"


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


def colour(candidates: Sequence[str]) -> alt.Color:
    """Return the encoding of candidates by colour."""
    return alt.Color(
        "candidate:N",
        title=None,
        scale=colours(candidates),
        legend=alt.Legend(orient="top", symbolOpacity=1, symbolStrokeWidth=0),
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


def time_axis(heading: str = "time") -> alt.Axis:
    """Return an axis of nanoseconds, labelled in ns, µs, ms and s."""
    return log_axis(heading, TIME_LABEL)


def size_position(size_bytes: int, sizes: list[int]) -> float:
    """Return where a size stands on a logarithmic axis; no bytes at all stand one step left of the smallest size."""
    return size_bytes or min((size for size in sizes if size), default=1) / 2


def size_x(sizes: list[int]) -> alt.X:
    """Return the axis of message sizes, with a tick at every measured one."""
    values = sorted({size_position(size, sizes) for size in sizes})
    label = SIZE_LABEL if 0 not in sizes else f"datum.value === {values[0]} ? '0 B' : {SIZE_LABEL}"
    axis = alt.Axis(title="message size", values=values, labelExpr=label, labelOverlap="parity", labelSeparation=4)
    return alt.X("position:Q", scale=alt.Scale(type="log", base=2, nice=False, padding=14), axis=axis)


def tooltips(*fields: str) -> list[alt.Tooltip]:
    """Return tooltip entries for text fields; the field's name is the label."""
    return [alt.Tooltip(f"{field}:N", title=field) for field in fields]


def figures(summary: Summary) -> Row:
    """Return the texts that tell a summary in a tooltip."""
    return {
        "candidate": summary.candidate,
        "typical": format_time(summary.typical_ns),
        "interval": f"{format_time(summary.low_ns)} to {format_time(summary.high_ns)}",
        "launches": summary.launches,
        "samples": summary.samples,
    }


def over_launches(candidates: Sequence[str], y: alt.Y, told: str) -> list[alt.Chart]:
    """Return a thin line and a point per launch for each candidate; `told` is the field of the tooltip."""
    order = alt.Scale(nice=False, zero=False, padding=12)
    base = alt.Chart(data("launches")).encode(
        x=alt.X("launch:Q", title="launch, in order of time", scale=order, axis=alt.Axis(tickMinStep=1, grid=False)),
        y=y,
        color=colour(candidates),
        tooltip=tooltips("candidate", "launch", told),
    )
    line = base.mark_line(strokeOpacity=0.5).encode(strokeDash=dash(candidates))
    return [line, base.mark_point(size=45, filled=True, opacity=1).encode(shape=shape(candidates))]


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
        "legend": {"labelColor": ink, "labelFontSize": 12, "labelLimit": 400, "columnPadding": 18},
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
