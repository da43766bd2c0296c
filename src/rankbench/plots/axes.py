"""Axes of times, other values, message sizes and launches."""

from __future__ import annotations

import altair as alt

from rankbench.analysis.questions.measures import Measure

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
RATIO_LABEL = "format(datum.value, '.3~g') + '×'"
SIZE_LABEL = (
    "datum.value < 1 ? '0 B' : datum.value < 1024 ? datum.value + ' B' : "
    "datum.value < 1048576 ? format(datum.value / 1024, '~g') + ' KiB' : "
    "datum.value < 1073741824 ? format(datum.value / 1048576, '~g') + ' MiB' : "
    "format(datum.value / 1073741824, '~g') + ' GiB'"
)


def log_axis(heading: str, label: str, channel: str = "y") -> alt.Axis:
    """Return a logarithmic axis with full lines at 1, 2 and 5 only; `label` is an expression over `datum.value`.

    Labels are even: at decades where the axis has two of them or more, at 1, 2 and 5 where it has less, and at every
    tick of an axis that spans less than a factor of 3. `channel` is the one of the scale, x or y.
    """
    leading = "round(100 * datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))"
    ends = f"domain('{channel}')"
    span = f"{ends}[1] / {ends}[0]"
    is_labelled = f"{span} < 3 || {leading} === 100 || ({span} < 100 && indexof([200, 500], {leading}) >= 0)"
    strong = {"condition": {"test": f"indexof([100, 200, 500], {leading}) < 0", "value": 0.3}, "value": 1}
    return alt.Axis(
        title=heading,
        labelExpr=f"{is_labelled} ? ({label}) : ''",
        labelSeparation=8,
        labelOverlap="greedy",
        gridOpacity=strong,
    )


def time_axis(heading: str = "", channel: str = "y") -> alt.Axis:
    """Return an axis of nanoseconds, is_labelled in ns, µs, ms and s."""
    return log_axis(heading or "time", TIME_LABEL, channel)


def value_axis(measure: Measure, heading: str = "", channel: str = "y") -> alt.Axis:
    """Return the axis of what was measured."""
    return log_axis(heading or measure.heading, VALUE_LABELS[measure.kind], channel)


def size_position(size_bytes: int, sizes: list[int]) -> float:
    """Return the position of a size on a logarithmic axis; 0 B is one step left of the smallest size."""
    return size_bytes or min((size for size in sizes if size), default=1) / 2


def size_x(sizes: list[int]) -> alt.X:
    """Return the axis of message sizes, with a tick at every measured one."""
    values = sorted({size_position(size, sizes) for size in sizes})
    label = SIZE_LABEL if 0 not in sizes else f"datum.value === {values[0]} ? '0 B' : {SIZE_LABEL}"
    axis = alt.Axis(title="message size", values=values, labelExpr=label, labelOverlap="parity", labelSeparation=4)
    return alt.X("position:Q", scale=alt.Scale(type="log", base=2, nice=False, padding=14), axis=axis)


def block_x() -> alt.X:
    """Return the axis of blocks, whose launches run at the same time."""
    scale, axis = alt.Scale(nice=False, zero=False, padding=12), alt.Axis(tickMinStep=1, grid=False)
    return alt.X("block:Q", title="block, in order of time", scale=scale, axis=axis)
