"""How curves run along the sizes: steps that no smooth curve has, and how curves of several lines resemble. Pure.

Time that is a start and so much for each byte grows ever more steeply on logarithmic axes, up to proportion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.analysis.statistics import CONFIDENCE
from rankbench.analysis.statistics.contrasts import Contrast, decide_contrasts

Numbers = NDArray[np.float64]

JUMP = 1.25
"""A step to the next size counts as a jump if it is so much larger than its neighbours let expect."""


class Curve(NamedTuple):
    """The values of one candidate along the sizes of a line."""

    line: int
    candidate: str
    sizes: list[int]
    blocks: list[int]
    """Of each launch."""
    logs: Numbers
    """Logarithms of the values, a row per launch and a column per size; not a number where a launch has none."""


class Step(NamedTuple):
    """Two sizes next to each other between which time changes as no smooth curve does."""

    line: int
    candidate: str
    smaller_bytes: int
    larger_bytes: int
    up: bool
    factor: float
    """Time at the larger size over that at the smaller one."""
    excess: Contrast
    """By how much it is more, or less, than the steps beside it let expect."""


def list_curves(launch_values: pl.DataFrame, lines: Sequence[Mapping[int, str]]) -> Iterator[Curve]:
    """Yield the curves of each line and candidate.

    Args:
        launch_values: result of `compute_launch_values`, less what is not to be judged.
        lines: by size, the keys of the cases of each line.
    """
    rows = [(number, size, key) for number, line in enumerate(lines) for size, key in line.items()]
    places = pl.DataFrame(rows, {"line": pl.Int64, "size": pl.Int64, "case": pl.String}, orient="row")
    frame = places.join(launch_values.filter(pl.col("figure_ns") > 0), on="case")
    parts = frame.sort("line", "candidate", "launch", "size").partition_by("line", "candidate", as_dict=True)
    for (line, candidate), part in parts.items():
        sizes, column = np.unique(part["size"].to_numpy(), return_inverse=True)
        launches, first, row = np.unique(part["launch"].to_numpy(), return_index=True, return_inverse=True)
        logs = np.full((len(launches), len(sizes)), np.nan)
        logs[row, column] = np.log(part["figure_ns"].to_numpy())
        yield Curve(int(line), str(candidate), sizes.tolist(), part["block"].to_numpy()[first].tolist(), logs)


def compute_excesses(sizes: Sequence[int], logs: Numbers) -> tuple[Numbers, Numbers]:
    """Return how far, as a logarithm, each step of each launch is above, and below, what a smooth curve allows.

    It allows what lies between the neighbours' steepness, and nothing steeper than proportion, nothing that falls. The
    last step may be as steep as proportion, whatever was before it, and the first one flat.
    """
    wide = np.diff(np.log(sizes))
    steep = np.diff(logs, axis=1) / wide
    before, after = np.roll(steep, 1, axis=1), np.roll(steep, -1, axis=1)
    most, least = np.maximum(before, after), np.minimum(before, after)
    most[:, 0], least[:, 0] = after[:, 0], 0.0
    most[:, -1], least[:, -1] = 1.0, steep[:, -3:-1].min(axis=1)
    return (steep - np.clip(most, 0, 1)) * wide, (np.clip(least, 0, 1) - steep) * wide


def find_steps(all_curves: Sequence[Curve], margin: float, confidence: float = CONFIDENCE) -> list[Step]:
    """Return the steps that surely rise more, or less, than smooth curves do: by a quarter as measured, and surely by
    more than the margin, all of them judged together.
    """
    rises = [(curve, up, excess) for curve in all_curves if len(curve.sizes) > 2 for up, excess in _both(curve)]
    keys = [(curve, up, step) for curve, up, excess in rises for step in range(excess.shape[1])]
    if not keys:
        return []
    moments = [_moments(excess) for _, _, excess in rises]
    count, mean, spread = (np.concatenate(values) for values in zip(*moments, strict=True))
    results = decide_contrasts(keys, count, mean, spread, np.full(len(keys), np.log1p(margin)), confidence)
    return [_step(contrast) for contrast in results if contrast.sure and contrast.ratio >= JUMP]


def _both(curve: Curve) -> Iterator[tuple[bool, Numbers]]:
    above, below = compute_excesses([max(size, 1) for size in curve.sizes], curve.logs)
    yield True, above
    yield False, below


def _moments(values: Numbers) -> tuple[NDArray[np.int64], Numbers, Numbers]:
    """Return number, mean and standard deviation of the known values of each column."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    square = np.where(known, (values - mean) ** 2, 0.0).sum(axis=0)
    return count, mean, np.sqrt(square / np.maximum(count - 1, 1))


def _step(contrast: Contrast) -> Step:
    curve, up, step = contrast.key
    rise = float(np.exp(np.nanmean(curve.logs[:, step + 1] - curve.logs[:, step])))
    return Step(curve.line, curve.candidate, curve.sizes[step], curve.sizes[step + 1], up, rise, contrast)
