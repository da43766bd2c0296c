"""A history as charts. Nothing is computed here.

Charts are of several campaigns, which those of the room `plots` are not: their forms and colours are theirs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import altair as alt

from rankbench import units
from rankbench.across.trend import History, Past, Series
from rankbench.analysis.questions.measures import Measure
from rankbench.language import render
from rankbench.model import RankbenchError
from rankbench.plots import axes, forms, palette
from rankbench.plots import marks as plots_marks
from rankbench.plots.chart import Chart, Row
from rankbench.plots.forms import PAPER
from rankbench.report.history_table import size
from rankbench.report.pictures import ALL_FORMATS

LINE = 13
"""Height of a line of words, in pixels."""


def charts(history: History) -> Iterator[tuple[str, Chart]]:
    """Yield the chart of each case that changed, in their order, of all where none did, each with its case's key."""
    changed = [change.series.case for change in history.changes]
    for key in dict.fromkeys(changed or [column.case for column in history.series]):
        yield key, chart(history, [column for column in history.series if column.case == key])


def check_formats(formats: Iterable[str]) -> None:
    """Raise RankbenchError for a format that figures do not have."""
    for name in formats:
        if name not in ALL_FORMATS:
            raise RankbenchError(f"no figure format {name!r}{units.suggestion(name, ALL_FORMATS)}")


def write(folder: Path, history: History, formats: Iterable[str]) -> list[Path]:
    """Write the charts in every format into a folder, and return the files."""
    wanted = list(dict.fromkeys(formats))
    check_formats(wanted)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for key, drawn in charts(history):
        spec = drawn.spec(PAPER)
        for name in wanted:
            path = folder / f"history-{re.sub('[^A-Za-z0-9.-]+', '_', key)}.{name}"
            path.write_bytes(ALL_FORMATS[name](spec))
            written.append(path)
    return written


def chart(history: History, series: Sequence[Series]) -> Chart:
    """Draw one case over campaigns, with what changed."""
    measure = history.measure(series[0].case)
    marks = changes(history, series)
    launches = sorted({point.launches for column in series for point in column.points})
    return Chart(
        make_form(
            paint(history, series),
            measure,
            history.pasts,
            1 + max((row["line"] for row in marks), default=-1),
        ),
        f"{series[0].title}: {describe_measure(measure)} over {len(history.pasts)} campaigns",
        subtitle(history.estimator, launches),
        {
            "points": [
                make_row(history, column, place, measure) for column in series for place in range(len(column.points))
            ],
            "levels": [level for column in series for level in list_levels(column, measure)],
            "changes": marks,
        },
    )


def paint(history: History, series: Sequence[Series]) -> palette.Names:
    """Return the candidates with their colours: of the families that they have in their newest campaign."""
    families = {}
    for column in series:
        newest = column.points[-1]
        families[column.candidate] = palette.find_families(history.pasts[newest.campaign].campaign)[newest.candidate]
    return palette.Names(palette.choose_colours(families))


def subtitle(estimator: str, launches: Sequence[int]) -> str:
    """Return what the figures are; numbers of launches are in rising order."""
    several = f"{launches[0]} to {launches[-1]}"
    return (
        f"{estimator} of each launch, median over {str(launches[0]) if len(launches) == 1 else several} "
        "launches of a campaign, with its interval"
    )


def describe_measure(measure: Measure) -> str:
    """Return what is drawn, in words."""
    return "time per call" if measure.name == "time" else measure.heading


def make_row(history: History, column: Series, place: int, measure: Measure) -> Row:
    """Return one campaign's point."""
    point = column.points[place]
    past = history.pasts[point.campaign]
    ends = [measure.value(figure) for figure in (point.low_ns, point.high_ns)]
    return {
        "candidate": column.candidate,
        "position": point.campaign + 1,
        "campaign": past.name,
        "date": past.date,
        "made of": point.candidate,
        "value": plots_marks.shorten(measure.value(point.typical_ns)),
        "low": plots_marks.shorten(min(ends)),
        "high": plots_marks.shorten(max(ends)),
        "typical": measure.format(point.typical_ns),
        "interval": measure.interval(point.low_ns, point.high_ns),
        "launches": point.launches,
    }


def list_levels(column: Series, measure: Measure) -> Iterator[Row]:
    """Yield the levels of a series that has changes: from where to where, and their geometric mean."""
    starts = [
        next(place for place, point in enumerate(column.points) if point.campaign == turn.campaign)
        for turn in column.turns
    ]
    for start, end in zip([0, *starts], [*starts, len(column.points)], strict=True) if starts else ():
        part = column.points[start:end]
        mean = math.exp(sum(math.log(point.typical_ns) for point in part) / len(part))
        yield {
            "candidate": column.candidate,
            "position": part[0].campaign + 0.5,
            "end": part[-1].campaign + 1.5,
            "value": plots_marks.shorten(measure.value(mean)),
        }


def changes(history: History, series: Sequence[Series]) -> list[Row]:
    """Return a mark for each campaign in which something changed, with words, towards where there is room."""
    names: dict[int, list[str]] = {}
    for column in series:
        for turn in column.turns:
            names.setdefault(turn.campaign, []).append(f"{column.candidate} {size(column, turn)}")
    for place, words in names.items():
        reasons = dict.fromkeys(
            render(why) for line in series for turn in line.turns if turn.campaign == place for why in turn.reasons
        )
        words += list(reasons)[:2]
    return stack_marks([Words(place, tuple(words), len(history.pasts)) for place, words in sorted(names.items())])


class Words(NamedTuple):
    """What is written above a mark, towards where there is room."""

    place: int
    lines: tuple[str, ...]
    campaigns: int

    @property
    def side(self) -> str:
        """Return where the words go from their mark."""
        return "left" if self.place > self.campaigns / 2 else "right"

    @property
    def span(self) -> tuple[float, float]:
        """Return from where to where they reach, in pixels."""
        at = (self.place + 0.1) * forms.WIDTH / (self.campaigns + 0.2)
        width = palette.LETTER * max(map(len, self.lines)) + 8
        return (at - width, at) if self.side == "left" else (at, at + width)

    def meets(self, other: Words) -> bool:
        """Return whether the two would be written over each other on one line."""
        return self.span[0] < other.span[1] and other.span[0] < self.span[1]


def stack_marks(marks: Sequence[Words]) -> list[Row]:
    """Return a row per line of words, counted from the view upwards, so that none are written over others."""
    below: list[int] = []
    for mark in marks:
        others = [lines + len(other.lines) for lines, other in zip(below, marks, strict=False) if mark.meets(other)]
        below.append(max(others, default=0))
    return [
        {"position": mark.place + 0.5, "words": words, "side": mark.side, "line": lines + number, "first": not number}
        for lines, mark in zip(below, marks, strict=True)
        for number, words in enumerate(reversed(mark.lines))
    ]


def make_form(candidates: Sequence[str], measure: Measure, pasts: Sequence[Past], above: int) -> Row:
    """Return points with intervals, levels, and marks of changes whose words take so many lines above the view."""
    scale = alt.Scale(type="log", nice=False, padding=14)
    y = alt.Y("value:Q", scale=scale, axis=axes.value_axis(measure, describe_measure(measure)))
    legend = alt.Legend(orient="top", symbolOpacity=1, symbolStrokeWidth=0, offset=18 + LINE * above)
    colour = alt.Color("candidate:N", title=None, scale=palette.colours(candidates), legend=legend)
    points = alt.Chart(forms.data("points")).encode(
        x=axis(pasts),
        color=colour,
        tooltip=forms.tooltips("candidate", "campaign", "date", "made of", "typical", "interval", "launches"),
    )
    line = points.mark_line(strokeOpacity=0.5).encode(y=y, strokeDash=palette.dash(candidates))
    interval = points.mark_rule(strokeWidth=2, strokeOpacity=0.6).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    point = points.mark_point(size=45, filled=True, opacity=1).encode(y=y, shape=palette.choose_shapes(candidates))
    return forms.make_form([*draw_marks(pasts, above), levels(pasts, colour, scale), line, interval, point], 300)


def axis(pasts: Sequence[Past]) -> alt.X:
    """Return the axis of campaigns, each one step, by their dates."""
    words = {str(place + 1): past.date for place, past in enumerate(pasts)}
    spelt = alt.Axis(
        title="campaign, in order of time",
        values=list(range(1, len(pasts) + 1)),
        labelExpr=f"{words}[datum.value] || ''",
        labelOverlap="parity",
        labelSeparation=8,
        grid=False,
    )
    spelt.tickCount = 2 * len(pasts)  # Of more values than this Vega would leave some out.
    return alt.X("position:Q", scale=alt.Scale(domain=[0.4, len(pasts) + 0.6], nice=False), axis=spelt)


def levels(pasts: Sequence[Past], colour: alt.Color, scale: alt.Scale) -> alt.Chart:
    """Return a broad bar for each level."""
    bar = alt.Chart(forms.data("levels")).mark_rule(strokeWidth=7, strokeOpacity=0.25, strokeCap="butt")
    drawn: alt.Chart = bar.encode(x=axis(pasts), x2="end:Q", y=alt.Y("value:Q", scale=scale), color=colour)
    return drawn


def draw_marks(pasts: Sequence[Past], above: int) -> list[alt.Chart]:
    """Return a rule where something changed, and in so many lines above the view what did."""
    base = alt.Chart(forms.data("changes")).encode(x=axis(pasts))
    rule = base.transform_filter("datum.first").mark_rule(color="#888888", strokeDash=[4, 3])
    return [rule, *(draw_words(base, side, line) for side in ("left", "right") for line in range(above))]


def draw_words(base: alt.Chart, side: str, line: int) -> alt.Chart:
    """Return the words of one line that go to one side of their mark."""
    text = base.transform_filter(f"datum.side === '{side}' && datum.line === {line}").mark_text(
        align="right" if side == "left" else "left", baseline="bottom", fontSize=11, aria=False
    )
    drawn: alt.Chart = text.encode(y=alt.value(-5 - LINE * line), text="words:N")
    return drawn
