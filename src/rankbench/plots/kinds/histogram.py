"""The histogram of one case: bins of whole clock steps where most samples lie, then the long tail on a log axis.

Every candidate, and of rings every edge rank, has a row of its own with the same two parts: left of the dashed line
time runs evenly, right of it by powers of ten. Axes are drawn from data, so that all cases share one form.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.modes import Repeated, find_clock_step
from rankbench.language import render, say
from rankbench.plots import captions, forms, palette
from rankbench.plots.chart import Chart, Row
from rankbench.quantities import format_time, format_whole

Values = NDArray[np.float64]
Height = Callable[[Values], Values]

TITLE = "Histogram"
HELP = (
    "Distribution of samples; heights are logarithms of counts. Left of the dashed line time runs evenly, and "
    "bins are whole nanoseconds or clock steps wide; right of it time runs by powers of ten, to the "
    "slowest sample. Triangles mark modes, 1 the heaviest. Rows share an axis "
    "unless one takes several times as long."
)
SCOPE = "near"
VALUES = "samples"
MOST_ROWS = 16
MOST_BINS, LEAST_BINS, TAIL_BINS = 150, 20, 40
PER_BIN = 10
"""Samples for each bin, at least on average."""
MAIN = 0.64
"""Where the tail begins, as a part of the width."""
GAP = 0.012
BARS, MARKS, WORDS = 0.50, 0.565, (0.79, 0.69)
"""Within a row's height: where the highest bar ends, and where marks of modes and the row's words are."""
LEFT = -0.075
ROW_HEIGHT = 128
BULK = 0.97
"""The share of samples that lie on the left, where they are not too far apart."""
FARTHEST = 4.0
"""Times the median: the left part reaches no farther."""
ALIKE = 3.0
"""Rows whose medians are within such a ratio share their axis."""
WHOLE_STEP = 0.9
"""Samples whose step is at least so much of the clock's are single readings; so many must be on a grid."""
NEAR_GRID = 0.1
"""How far from a whole number of steps a time on a grid may be, in steps."""
SHARPEST_TICKS = 6
MOST_MODES = 3
"""Reported in words; the others are marked only."""


@dataclasses.dataclass(frozen=True)
class Panel:
    """One row: whose samples, what is known of them."""

    candidate: str
    name: str
    times: Values
    modes: Sequence[Repeated]


@dataclasses.dataclass(frozen=True)
class Axis:
    """From times to places between 0 and 1: evenly up to `split`, then by logarithms up to `high`."""

    low: float
    split: float
    high: float
    width: float
    """Of a bin on the left, in nanoseconds."""

    @property
    def main(self) -> float:
        """Return where the left part ends."""
        return MAIN if self.high > self.split else 1.0

    def place(self, times: Values) -> Values:
        """Return the positions of times."""
        main_part = (times - self.low) / (self.split - self.low) * (self.main - (GAP if self.main < 1 else 0))
        if self.main == 1:
            return np.asarray(main_part)
        reach = math.log(self.high / self.split)
        right = self.main + np.log(np.maximum(times, self.split) / self.split) / reach * (1 - self.main)
        return np.asarray(np.where(times <= self.split, main_part, right))

    def edges(self) -> Iterator[Values]:
        """Yield the edges of the bins of each part."""
        yield np.float64(self.low) + self.width * np.arange(round((self.split - self.low) / self.width) + 1)
        if self.main < 1:
            yield np.asarray(np.geomspace(self.split, self.high, TAIL_BINS + 1), dtype=np.float64)

    def ticks(self) -> list[float]:
        """Return the times to be labelled: round ones on the left, powers of ten on the right."""
        step = nice_step((self.split - self.low) / SHARPEST_TICKS)
        main_ticks = np.arange(math.ceil(self.low / step), math.floor(self.split / step) + 1) * step
        if self.main == 1:
            return [float(tick) for tick in main_ticks]
        powers = [
            10.0**power for power in range(math.floor(math.log10(self.split)), math.ceil(math.log10(self.high)) + 1)
        ]
        right = [power for power in powers if self.split * 1.3 < power <= self.high]
        return [*map(float, main_ticks), *right]


def chart(view: CampaignView) -> Chart | None:
    """Draw a row per candidate, of rings one per candidate and edge rank."""
    case = view.cases[0]
    if case.quantity == "memory":
        return None
    panels = list_rings(view) or list_panels(view)
    if not panels:
        return None
    shown = panels[:MOST_ROWS]
    axes = choose_axes(shown, resolution(view))
    datasets: dict[str, list[Row]] = {name: [] for name in ("bars", "levels", "ticks", "breaks", "modes", "words")}
    for number, (panel, axis) in enumerate(zip(shown, axes, strict=True)):
        for name, rows in draw(panel, axis, len(shown) - 1 - number).items():
            datasets[name] += rows
    total = format_whole(sum(len(panel.times) for panel in panels))
    bins = describe_bins(sorted({axis.width for axis in axes}))
    title = f"{view.case_name(case)}: histogram of {total} samples, {bins}"
    if len(panels) > MOST_ROWS:
        title = f"{title}, {len(panels) - MOST_ROWS} rows are left out"
    return Chart(make_form(palette.paint(view), len(shown)), title, captions.describe_conditions(view), datasets)


def describe_bins(widths: Sequence[float]) -> str:
    """Return how wide bins are; widths are in rising order."""
    if len(widths) == 1:
        return f"bins of {f'{widths[0]:g}'} ns"
    return f"bins of {f'{widths[0]:g}'} to {f'{widths[-1]:g}'} ns"


# --- what is drawn ----------------------------------------------------------------------------------------------------


def list_panels(view: CampaignView) -> list[Panel]:
    """Return a panel per candidate that has samples which count."""
    case = view.cases[0]
    texts = {summary.candidate for _, summary in view.list_shown_summaries()}
    samples = view.once("samples", lambda: samples_of(view)).get(case.key, {})
    panels = []
    for name in (candidate for candidate in view.candidates if candidate in texts and candidate in samples):
        times = samples[name]
        if times.min() > 0:
            panels.append(Panel(name, name, times, view.modes.get((case.key, name), [])))
    return panels


def samples_of(view: CampaignView) -> dict[str, dict[str, Values]]:
    """Return by case and candidate the samples that count, of all cases that are drawn in one sweep."""
    counted = view.samples.filter(~pl.col("discarded")).select("case", "candidate", "time_ns")
    chosen = counted if view.near is None else counted.filter(pl.col("case").is_in(list(view.near)))
    times: dict[str, dict[str, Values]] = {}
    for (case, name), frame in chosen.collect().partition_by("case", "candidate", as_dict=True).items():
        times.setdefault(str(case), {})[str(name)] = frame["time_ns"].to_numpy()
    return times


def list_rings(view: CampaignView) -> list[Panel]:
    """Return a panel per candidate and edge rank of rings, nothing where one rank measures alone."""
    case = view.cases[0]
    if not view.operation(case).rings or view.rings.is_empty():
        return []
    edges = view.rings.filter(pl.col("case") == case.key)["edge"].unique().sort().to_list()
    if len(edges) < 2:
        return []
    counted = view.rank_samples.filter(pl.col("case") == case.key, ~pl.col("discarded"))
    samples = counted.select("candidate", "series", "time_ns").collect()
    rows = []
    for name, edge in itertools.product(view.candidates, edges):
        times = samples.filter(pl.col("candidate") == name, pl.col("series") == edge)["time_ns"].to_numpy()
        if len(times) and times.min() > 0:
            modes = view.ring_modes.get((case.key, name, str(edge)), [])
            text = render(say("{name}, ring of rank {rank}", name=name, rank=edge))
            rows.append(Panel(name, text, times, modes))
    return rows


def resolution(view: CampaignView) -> float:
    """Return by how many nanoseconds the coarsest clock of any launch advances, at least 1."""
    return max((1.0, *(launch.facts.resolution_ns for launch in view.launches if launch.facts)))


def find_step(panel: Panel, resolution_ns: float) -> float:
    """Return the step of the samples: that of the clock, or less where one sample is the mean of several calls."""
    step = find_clock_step(panel.times)
    if step > WHOLE_STEP * resolution_ns:
        return resolution_ns
    return step if step > 1 and on_grid(panel.times, step) else 1.0


def on_grid(times: Values, step: float) -> bool:
    """Return whether the faster half of times are whole steps apart, and not merely few."""
    steps = (times[times <= np.median(times)] - times.min()) / step
    return bool(np.mean(np.abs(steps - np.rint(steps)) < NEAR_GRID) > WHOLE_STEP)


def choose_axes(panels: Sequence[Panel], resolution_ns: float = 1.0) -> list[Axis]:
    """Return the axis of each panel: the same for all where their medians are alike, else each its own."""
    middles = [float(np.median(panel.times)) for panel in panels]
    if max(middles) <= ALIKE * min(middles):
        return [axis_of(panels, resolution_ns)] * len(panels)
    return [axis_of([panel], resolution_ns) for panel in panels]


def axis_of(panels: Sequence[Panel], resolution_ns: float = 1.0) -> Axis:
    """Return the axis that shows the bulk of all panels, and modes that are not far, on the left.

    Bins hold equally many readings of a clock with steps, and readings lie in their middle: else heights would be a
    comb. Finer clocks have bins of whole nanoseconds.
    """
    step_ns = max(find_step(panel, resolution_ns) for panel in panels)
    fastest = min(float(panel.times.min()) for panel in panels)
    low = max(fastest - step_ns / 2, 0.0) if step_ns > 1 else math.floor(fastest)
    high = max(float(panel.times.max()) for panel in panels)
    ends = [find_reach(panel) for panel in panels]
    fewest = min(len(panel.times) for panel in panels)
    bins = max(LEAST_BINS, min(MOST_BINS, fewest // PER_BIN))
    width = step_ns * max(1, math.ceil((max(ends) - low) / bins / step_ns))
    split = low + width * max(1, math.ceil((max(ends) - low) / width))
    return Axis(low, split, max(high, split), width)


def find_reach(panel: Panel) -> float:
    """Return how far the left part should go for a panel."""
    middle = float(np.median(panel.times))
    bulk = float(np.quantile(panel.times, BULK))
    far = [1.2 * peak.mode.location_ns for peak in panel.modes if peak.mode.location_ns <= FARTHEST * middle]
    return min(max([bulk + 0.1 * (bulk - float(panel.times.min())), *far]), FARTHEST * middle, float(panel.times.max()))


def draw(panel: Panel, axis: Axis, row: int) -> dict[str, list[Row]]:
    """Return the rows of every data set for one panel."""
    parts = [(edges, np.histogram(panel.times, edges)[0]) for edges in axis.edges()]
    most = max(int(counts.max()) for _, counts in parts)

    def height(counts: Values) -> Values:
        return np.asarray(row + BARS * np.log(np.maximum(2 * counts, 1)) / math.log(2 * max(most, 2)))

    levels = [10.0**power for power in range(math.floor(math.log10(max(most, 1))) + 1)]
    return {
        "bars": [bar for edges, counts in parts for bar in bars(panel, axis, edges, counts, height, row)],
        "levels": [
            {"x": 0, "x2": 1, "y": round_place(height(np.array([level]))[0]), "label": format_whole(level)}
            for level in levels
        ],
        "ticks": [
            {"x": round_place(axis.place(np.array([tick]))[0]), "y": row, "label": format_tick(tick)}
            for tick in axis.ticks()
        ],
        "breaks": [{"x": axis.main - GAP / 2, "y": row, "top": row + BARS + 0.04}] if axis.main < 1 else [],
        "modes": list(mark_modes(panel, axis, row)),
        "words": [
            {"x": 0, "y": row + y, "label": label, "weight": weight}
            for y, label, weight in zip(
                WORDS, (describe_panel(panel), mode_words(panel)), ("bold", "normal"), strict=True
            )
        ],
    }


def bars(panel: Panel, axis: Axis, edges: Values, counts: NDArray[np.int64], height: Height, row: int) -> Iterator[Row]:
    """Yield a bar for each bin that is not empty."""
    places, tops = axis.place(edges), height(counts.astype(np.float64))
    if edges[0] == axis.split:
        places[0] = axis.main
    for at in np.flatnonzero(counts):
        yield {
            "candidate": panel.candidate,
            "x": round_place(places[at]),
            "x2": round_place(places[at + 1]),
            "y": row,
            "top": round_place(tops[at]),
            "count": int(counts[at]),
            "bin": f"{format_time(float(edges[at]))} to {format_time(float(edges[at + 1]))}",
        }


def mark_modes(panel: Panel, axis: Axis, row: int) -> Iterator[Row]:
    """Yield the marks of modes, where there are several, with their names."""
    if len(panel.modes) < 2:
        return
    for number, peak in enumerate(panel.modes, 1):
        place = float(axis.place(np.array([np.clip(peak.mode.location_ns, axis.low, axis.high)]))[0])
        yield {"x": round_place(place), "y": row + MARKS, "label": str(number), "description": render(peak.text)}


def describe_panel(panel: Panel) -> str:
    """Return whose row it is, and how far its samples reach."""
    return (
        f"{panel.name}: median {format_time(float(np.median(panel.times)))}, slowest "
        f"{format_time(float(panel.times.max()))}"
    )


def mode_words(panel: Panel) -> str:
    """Return the modes in words, where there are several; of many, the heaviest."""
    texts = [render(mode.text).replace(" of samples", "") for mode in panel.modes[1:MOST_MODES]]
    main = [f"main at {format_time(panel.modes[0].mode.location_ns)}"] if texts else []
    return "; ".join(main + texts) + (" …" if len(panel.modes) > MOST_MODES else "")


def round_place(value: float) -> float:
    """Return a place, short enough to be embedded thousands of times."""
    return round(float(value), 4)


def nice_step(least: float) -> float:
    """Return the next larger of 1, 2, 5, 10, 20 ... nanoseconds."""
    power = 10.0 ** math.floor(math.log10(max(least, 1)))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= min(least, 10 * power))


def format_tick(time_ns: float) -> str:
    """Return a round time without needless digits: `200 ns`, `1.5 µs`, `10 ms`."""
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if time_ns >= scale:
            return f"{time_ns / scale:.4g} {unit}"
    return f"{time_ns:.4g} ns"


# --- form -------------------------------------------------------------------------------------------------------------


@functools.lru_cache
def make_form(candidates: tuple[str, ...], rows: int) -> Row:
    """Return bars, their axes as marks, marks of modes and words."""

    def axis(title: str) -> alt.Axis:
        return alt.Axis(labels=False, ticks=False, domain=False, grid=False, title=title)

    x = alt.X("x:Q", scale=alt.Scale(domain=[LEFT, 1.0], nice=False), axis=axis("time"))
    heights = alt.Scale(domain=[-0.17, rows - 0.05], nice=False, zero=False)
    y = alt.Y("y:Q", scale=heights, axis=axis("samples in a bin"))
    muted = "#888888"

    def layer(dataset: str) -> alt.Chart:
        return alt.Chart(forms.data(dataset)).encode(y=y)

    layers = [
        layer("levels").mark_rule(color=muted, opacity=0.25).encode(x=x, x2="x2:Q"),
        layer("levels").mark_text(align="right", fontSize=9, color=muted, dx=-4).encode(x=x, text="label:N"),
        layer("ticks").mark_tick(orient="vertical", color=muted, size=6, yOffset=3).encode(x=x),
        layer("ticks").mark_text(baseline="top", fontSize=10, color=muted, dy=8).encode(x=x, text="label:N"),
        layer("bars")
        .mark_rect(strokeWidth=0)
        .encode(
            x=x,
            x2="x2:Q",
            y2="top:Q",
            color=palette.colour(candidates, rows=True),
            tooltip=forms.tooltips("candidate", "bin", "count"),
        ),
        layer("breaks").mark_rule(strokeDash=[4, 3], color=muted).encode(x=x, y2="top:Q"),
        layer("modes")
        .mark_point(shape="triangle-down", size=50, filled=True, opacity=1, color=muted)
        .encode(x=x, tooltip=["description:N"]),
        layer("modes")
        .mark_text(align="left", baseline="middle", fontSize=9, color=muted, dx=6)
        .encode(x=x, text="label:N"),
        *(
            layer("words")
            .transform_filter(f"datum.weight === '{weight}'")
            .mark_text(
                align="left", limit=0.92 * forms.WIDTH, fontSize=11 if weight == "bold" else 10, fontWeight=weight
            )
            .encode(x=x, text="label:N")
            for weight in ("bold", "normal")
        ),
    ]
    return forms.make_form(layers, ROW_HEIGHT * rows, least_width=560)
