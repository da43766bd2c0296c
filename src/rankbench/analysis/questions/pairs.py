"""Groups of like pairs of ranks, and how they agree with what the pairs share. Pure: arrays and records in and out.

Pairs are put in the order of their times (geometric means over launches), and divided at the largest gap, then each
side again, as long as the gap is

- larger than the practical threshold;
- more than the scatter over launches makes: within every launch the pairs' times are shuffled, which is as likely as
  what was measured if all pairs are equal, and the largest gap of the means is taken again (a permutation test within
  blocks; Good, 2005). At most 1% of the shuffles may have one as large;
- more than pairs that differ evenly leave between them: gaps between independent times follow an exponential
  distribution, of which half are below the median gap, so that the largest of m is t medians with a chance of m / 2^t.

A lone outlier among pairs is a group of one, by the same rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.analysis.statistics import compare
from rankbench.model import Comparison

Logs = NDArray[np.float64]

Pair = tuple[int, int]
FEWEST_LAUNCHES = 3
"""Of fewer launches nobody knows the scatter."""
SHUFFLES = 199
CHANCE = 0.01
"""At most this share of the shuffles may have as large a gap."""
EVENLY = 0.05
"""Largest chance that pairs that differ evenly leave such a gap."""
MAJORITY = 0.75
"""Share of a level's pairs from which on the others of it do not fit."""
SEED = 20
"""Of the shuffles: the same values always give the same groups."""


class LevelTime(NamedTuple):
    """What pairs of one level take: the median over its pairs, launch by launch."""

    level: int
    pairs: int
    typical_ns: float
    """Median over launches."""
    ratio: Comparison | None
    """To the first of the levels, paired within blocks."""


class Misfit(NamedTuple):
    """Pairs of one level that are in another group than nearly all the others of it."""

    level: int
    pairs: list[Pair]
    factor: float
    """Their time over that of the others, geometric means."""


class Fit(NamedTuple):
    """How groups agree with levels."""

    misfits: list[Misfit]
    divided: list[int]
    """Levels whose pairs are in several groups, none of which has nearly all."""


class Table(NamedTuple):
    """Times of pairs in the launches that have all of them."""

    pairs: list[Pair]
    blocks: list[int]
    times_ns: Logs
    """A row per pair, a column per block."""


def tabulate_pairs(launch_values: pl.DataFrame, keys: Mapping[Pair, str]) -> Table:
    """Return the times of one candidate's pairs, of which `keys` names the cases; incomplete blocks are left out."""
    names = {key: pair for pair, key in keys.items()}
    frame = launch_values.filter(pl.col("case").is_in(list(names)), pl.col("figure_ns") > 0)
    pairs = [names[key] for key in frame["case"].unique(maintain_order=True)]
    counts = frame.group_by("block", maintain_order=True).agg(pl.col("case").n_unique())
    blocks = sorted(counts.filter(pl.col("case") == len(pairs))["block"])
    times = {(row["case"], row["block"]): row["figure_ns"] for row in frame.iter_rows(named=True)}
    rows = [[times[keys[pair], block] for block in blocks] for pair in pairs]
    return Table(pairs, blocks, np.array(rows, dtype=np.float64).reshape(len(pairs), len(blocks)))


def group_pairs(pair_times: Table, threshold: float) -> list[list[Pair]]:
    """Return the groups of like pairs, fastest first: one of all where none can be distinguished or launches are
    few."""
    if len(pair_times.blocks) < FEWEST_LAUNCHES:
        return [list(pair_times.pairs)]
    logs = np.log(pair_times.times_ns)
    order = np.argsort(logs.mean(axis=1), kind="stable")
    divided = _divide(logs[order], threshold, np.random.default_rng(SEED))
    ends = np.cumsum([len(part) for part in divided])[:-1]
    return [[pair_times.pairs[row] for row in rows] for rows in np.split(order, ends)]


def _divide(logs: Logs, threshold: float, random: np.random.Generator) -> list[Logs]:
    """Divide rows that are in the order of their means."""
    cut = _cut(logs, threshold, random)
    if not cut:
        return [logs]
    return [*_divide(logs[:cut], threshold, random), *_divide(logs[cut:], threshold, random)]


def _cut(logs: Logs, threshold: float, random: np.random.Generator) -> int:
    """Return the row before which the largest gap is, if it is one that counts, else 0."""
    gaps = np.diff(logs.mean(axis=1))
    if not len(gaps) or gaps.max() <= math.log1p(threshold):
        return 0
    at = int(gaps.argmax())
    return at + 1 if _uneven(gaps) and _beyond_scatter(logs, gaps[at], random) else 0


def _uneven(gaps: Logs) -> bool:
    """Return whether the largest gap is too large to occur among equal pairs."""
    middle = float(np.median(gaps))
    return middle == 0 or math.log2(len(gaps)) - gaps.max() / middle <= math.log2(EVENLY)


def _beyond_scatter(logs: Logs, gap: float, random: np.random.Generator) -> bool:
    """Return whether shuffled launches hardly ever have so large a gap."""
    allowed = int(CHANCE * (SHUFFLES + 1)) - 1
    reached = 0
    for _ in range(SHUFFLES):
        means = np.sort(random.permuted(logs, axis=0).mean(axis=1))
        reached += bool(np.diff(means).max() >= gap - 1e-12)
        if reached > allowed:
            return False
    return True


# --- levels -----------------------------------------------------------------------------------------------------------


def level_times(pair_times: Table, level: Callable[[int, int], int], threshold: float) -> list[LevelTime]:
    """Return what pairs of each level take, of the smallest parts first, compared with the first within blocks."""
    if not pair_times.blocks:
        return []
    of = np.array([level(*pair) for pair in pair_times.pairs])
    levels = sorted(set(of.tolist()), reverse=True)
    middles = {level: np.median(pair_times.times_ns[of == level], axis=0) for level in levels}
    frame = pl.DataFrame(
        {
            "case": ["levels"] * (len(levels) * len(pair_times.blocks)),
            "candidate": [str(level) for level in levels for _ in pair_times.blocks],
            "block": pair_times.blocks * len(levels),
            "launch": pair_times.blocks * len(levels),
            "figure_ns": np.concatenate([middles[level] for level in levels]),
        }
    )
    ratios = compare(frame, [(str(levels[0]), str(level)) for level in levels[1:]], threshold)
    comparisons = {int(ratio.other): ratio for ratio in ratios}
    return [
        LevelTime(level, int((of == level).sum()), float(np.median(middles[level])), comparisons.get(level))
        for level in levels
    ]


def check_fit(pair_times: Table, grouped: Sequence[Sequence[Pair]], level: Callable[[int, int], int]) -> Fit:
    """Return which pairs are in another group than nearly all others of their level, and which levels have no such."""
    group = {pair: number for number, pairs in enumerate(grouped) for pair in pairs}
    by_level: dict[int, list[Pair]] = {}
    for pair in sorted(pair_times.pairs):
        by_level.setdefault(level(*pair), []).append(pair)
    misfits: list[Misfit] = []
    divided: list[int] = []
    for level_number, pairs in sorted(by_level.items(), reverse=True):
        counts = np.bincount([group[pair] for pair in pairs])
        if counts.max() == len(pairs):
            continue
        if counts.max() < MAJORITY * len(pairs):
            divided.append(level_number)
            continue
        usual = [pair for pair in pairs if group[pair] == counts.argmax()]
        for number in np.flatnonzero(counts):
            if number != counts.argmax():
                odd = [pair for pair in pairs if group[pair] == number]
                misfits.append(Misfit(level_number, odd, _ratio(pair_times, odd, usual)))
    return Fit(misfits, divided)


def typical_ns(pair_times: Table, pairs: Sequence[Pair]) -> float:
    """Return the median over launches of the median over pairs."""
    return float(np.median(np.median(_times(pair_times, pairs), axis=0)))


def _ratio(pair_times: Table, pairs: Sequence[Pair], others: Sequence[Pair]) -> float:
    """Return the time of pairs over that of others, of which each launch has both: geometric means."""
    log, other_log = (np.log(_times(pair_times, side)).mean() for side in (pairs, others))
    return float(np.exp(log - other_log))


def _times(pair_times: Table, pairs: Sequence[Pair]) -> Logs:
    wanted = set(pairs)
    return pair_times.times_ns[[pair in wanted for pair in pair_times.pairs]]
