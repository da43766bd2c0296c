"""Which lines of cases resemble each other: the same candidates in front, the same ratios between all of them. Pure.

Lines are compared by the ratios of each two candidates along the sizes, paired within blocks as comparisons are.
Absolute times do not count here: one operation may take ten times as long as another, with the same ratios.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankbench.analysis.statistics import FINEST_SPREAD
from rankbench.analysis.statistics.decision import half_width
from rankbench.analysis.statistics.shapes import Curve, Numbers

LIKE = 1.25
"""Ratios that differ by less look the same in a graph, as long as the same candidates are in front."""
FEWEST_SIZES = 3
COMMON = 0.5
"""Share of the sizes of two lines that both must reach."""
ERRORS = 0.01
"""Chance that noise alone separates any two lines that are equal."""
APART = 1e3
"""Distance of lines that cannot be compared, or that contradict each other."""


class Profile(NamedTuple):
    """The ratios of each two candidates of one line along the sizes."""

    names: tuple[str, ...]
    sizes: list[int]
    ratios: Numbers
    """Logarithms, a row per two names in the order of `combinations` and a column per size."""
    errors: Numbers
    """Their standard errors, from the scatter of all sizes together."""
    degrees: int
    """Of freedom of that scatter."""
    fronts: NDArray[np.bool_]
    """A row per size, a column per name: whether nobody is declared to be faster."""


def make_profile(curves: Mapping[str, Curve], winners: Mapping[int, Sequence[str]]) -> Profile | None:
    """Return the profile of a line, none where there are fewer than two candidates or three sizes to speak of.

    Args:
        curves: by candidate.
        winners: by size, those in front.
    """
    reach = {
        name: {size for size, known in zip(curve.sizes, _find_known(curve), strict=True) if known}
        for name, curve in curves.items()
    }
    most = max(map(len, reach.values()), default=0)
    names = tuple(name for name in sorted(reach) if 2 * len(reach[name]) >= most)
    sizes = sorted(set.intersection(*(reach[name] for name in names)) & winners.keys()) if names else []
    if len(names) < 2 or len(sizes) < FEWEST_SIZES:
        return None
    pairs = [_ratio(curves[name], curves[other], sizes) for name, other in itertools.combinations(names, 2)]
    if any(np.isnan(ratio).any() for ratio, _, _ in pairs):
        return None
    fronts = np.array([[name in winners[size] for name in names] for size in sizes])
    ratios, errors = (np.array([pair[place] for pair in pairs]) for place in (0, 1))
    return Profile(names, sizes, ratios, errors, min(degrees for _, _, degrees in pairs), fronts)


def _find_known(curve: Curve) -> NDArray[np.bool_]:
    return np.asarray((~np.isnan(curve.logs)).any(axis=0))


def _ratio(curve: Curve, two: Curve, sizes: Sequence[int]) -> tuple[Numbers, Numbers, int]:
    """Return the mean log ratio two / one at each size, its standard error, and the degrees of freedom of this.

    The scatter is that of all sizes together; it is not a number where no block has both, or no size two such blocks.
    """
    first, second = _by_block(curve, sizes), _by_block(two, sizes)
    both = sorted(first.keys() & second.keys())
    logs = np.array([second[block] - first[block] for block in both]).reshape(len(both), len(sizes))
    count = (~np.isnan(logs)).sum(axis=0)
    degrees = int((np.maximum(count, 1) - 1).sum())
    if not degrees or not count.all():
        nothing = np.full(len(sizes), np.nan)
        return nothing, nothing, 0
    mean = np.nanmean(logs, axis=0)
    spread = max(float(np.sqrt(np.nansum((logs - mean) ** 2) / degrees)), FINEST_SPREAD)
    return mean, spread / np.sqrt(count), degrees


def _by_block(curve: Curve, sizes: Sequence[int]) -> dict[int, Numbers]:
    """Return the logarithms of each block; launches of one block have each its own sizes."""
    columns = [curve.sizes.index(size) for size in sizes]
    numberses: dict[int, Numbers] = {}
    for block, row in zip(curve.blocks, curve.logs[:, columns], strict=True):
        numberses[block] = np.fmax(numberses[block], row) if block in numberses else row
    return numberses


# --- how far lines are from each other --------------------------------------------------------------------------------


class _Grid(NamedTuple):
    """Profiles of the same names, interpolated to the sizes of all; not a number beyond a line's own sizes."""

    ratios: Numbers
    noise: Numbers
    between: Numbers
    """How far off the nearest values may be from what is interpolated."""
    fronts: NDArray[np.bool_]
    known: NDArray[np.bool_]


def compare_lines(profiles: Sequence[Profile], threshold: float) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return how far each two lines are from each other, in units of the largest distance within a group; and which
    lines are too noisy to be compared, even with one that is equal.

    Two lines are as far apart as they are for the worst two candidates over the worst run of sizes: of one, of two, of
    four and so on, and of all. Ratios may differ by LIKE; by the practical threshold only where candidates that are in
    front in one of the lines are not in the other. To either is added what launches let expect of such a mean by
    chance, with Bonferroni's correction, and where a line has no value how far its neighbours are from what is
    interpolated. Where chance over all sizes is more than LIKE, no lines are grouped. Lines with other candidates,
    or of which one reaches less than half of the sizes of both, are apart, and so are those that at some size have no
    candidate in front in common.
    """
    number = len(profiles)
    far = np.full((number, number), APART)
    tries = max(number * (number - 1) // 2, 1)
    for names in dict.fromkeys(line.names for line in profiles):
        places = [place for place, line in enumerate(profiles) if line.names == names]
        grid = _grid([profiles[place] for place in places], tries)
        for row, place in enumerate(places):
            far[place, places] = _from(grid, row, names, threshold)
    noisy = np.asarray(far.diagonal() >= APART)
    np.fill_diagonal(far, 0.0)
    return np.asarray(np.maximum(far, far.T)), noisy


def _grid(profiles: Sequence[Profile], tries: int) -> _Grid:
    sizes = sorted({size for line in profiles for size in line.sizes})
    at = np.log2(sizes)
    chance = ERRORS / (tries * len(sizes) * len(profiles[0].ratios))
    parts = []
    for line in profiles:
        line_sizes = np.log2(line.sizes)
        known = (at >= line_sizes[0]) & (at <= line_sizes[-1])
        # What lies between two sizes of a line is no value of its own.
        width = float(half_width(1.0, line.degrees, chance)) * np.sqrt(known.sum() / len(line_sizes))
        after = np.clip(np.searchsorted(line_sizes, at), 0, len(line_sizes) - 1)
        before = np.where(line_sizes[after] == at, after, np.maximum(after - 1, 0))
        ratios = np.array([np.interp(at, line_sizes, row) for row in line.ratios])
        noise = np.array([np.interp(at, line_sizes, row * width) for row in line.errors])
        between = np.maximum(*(np.abs(line.ratios[:, side] - ratios) for side in (before, after)))
        parts.append((ratios, noise, between, line.fronts[before] | line.fronts[after], known))
    return _Grid(*(np.array(values) for values in zip(*parts, strict=True)))


def _from(grid: _Grid, row: int, names: Sequence[str], threshold: float) -> Numbers:
    """Return the distances of one line from all."""
    first, second = np.array(list(itertools.combinations(range(len(names)), 2))).T
    common = grid.known & grid.known[row]
    enough = common.sum(axis=1) >= np.maximum(FEWEST_SIZES, COMMON * (grid.known | grid.known[row]).sum(axis=1))
    unlike = grid.fronts ^ grid.fronts[row]
    either = grid.fronts | grid.fronts[row]
    # Whether the two are in front in either line, and one of them not in both: they decide who wins.
    strict = either[..., first] & either[..., second] & (unlike[..., first] | unlike[..., second])
    allowed: Numbers = np.asarray(np.where(strict.swapaxes(1, 2), np.log1p(threshold), np.log(LIKE)), np.float64)
    contrary = (~(grid.fronts & grid.fronts[row]).any(axis=2) & common).any(axis=1)
    variance = grid.noise**2 + grid.noise[row] ** 2
    allowed = allowed + np.maximum(grid.between, grid.between[row])
    worst = _worst(grid.ratios - grid.ratios[row], allowed, variance, common[:, None, :])
    return np.where(enough & ~contrary, worst, APART)


def _worst(apart: Numbers, allowed: Numbers, variance: Numbers, common: NDArray[np.bool_]) -> Numbers:
    """Return how far each line is by its worst run of sizes: the mean difference over what is allowed and chance."""
    last = common.shape[-1]
    parts = [np.where(common, part, 0.0) for part in (apart, allowed, variance, np.ones_like(apart))]
    sums = [np.concatenate([np.zeros((*part.shape[:2], 1)), part.cumsum(axis=-1)], axis=-1) for part in parts]
    widths = [1 << power for power in range(last.bit_length()) if 1 << power < last]
    worst = np.zeros(len(apart))
    for width in [*widths, last]:
        apart_by, may_by, square, count = (sum_[..., width:] - sum_[..., :-width] for sum_ in sums)
        noise = np.sqrt(square)
        far = np.divide(np.abs(apart_by), may_by + noise, out=np.zeros_like(noise), where=may_by > 0)
        if width == last:
            far = np.where(noise > count * np.log(LIKE), APART, far)
        is_shown = (count == width) | (width == last)
        worst = np.maximum(worst, np.where(is_shown, far, 0.0).max(axis=(1, 2)))
    return worst


def group_lines(far: Numbers) -> list[list[int]]:
    """Return groups in which every two lines are similar (complete linkage), the largest first.

    The first of a group is its medoid. Lines are numbered as in the distances; where all else is equal, the first come
    first.
    """
    if len(far) < 2:
        return [[place] for place in range(len(far))]
    groups: list[list[int]] = [[place] for place in range(len(far))]
    for target, joined, apart in _merges(far):
        if apart <= 1:
            groups[target] += groups[joined]
            groups[joined] = []
    ordered = [_medoid_first(far, group) for group in map(sorted, groups) if group]
    return sorted(ordered, key=lambda group: (-len(group), min(group)))


def _merges(far: Numbers) -> Iterator[tuple[int, int, float]]:
    """Yield each merge of complete linkage: the cluster that stays, the one that joins it, how far apart they are.

    Chains of nearest neighbours (Murtagh, The Computer Journal 26, 1983) end at two that are each other's. The nearest
    of equals is the one before in the chain, then the first. A cluster's height never falls: merges may come in any
    order of heights, but those of a cluster come before those it takes part in.
    """
    apart = far.astype(np.float64)
    np.fill_diagonal(apart, np.inf)
    merged, chain = np.zeros(len(far), dtype=bool), [0]
    for _ in range(len(far) - 1):
        chain = chain or [int(np.argmin(merged))]
        while True:
            row = apart[chain[-1]]
            near = int(np.argmin(row))
            if len(chain) > 1 and row[chain[-2]] <= row[near]:
                break
            chain.append(near)
        joined, target = sorted((chain.pop(), chain.pop()))
        yield target, joined, float(apart[target, joined])
        apart[target] = apart[:, target] = np.maximum(apart[target], apart[joined])
        apart[joined] = apart[:, joined] = apart[target, target] = np.inf
        merged[joined] = True


def _medoid_first(far: Numbers, group: list[int]) -> list[int]:
    medoid = min(group, key=lambda place: (float(far[place, group].sum()), place))
    return [medoid, *(place for place in group if place != medoid)]
