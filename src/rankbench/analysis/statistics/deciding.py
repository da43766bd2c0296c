"""Which comparisons are still open, could still matter, and have a chance to be decided. Pure: records in, records out.

A case is open while two candidates that may both be its fastest are neither distinguished nor known to be equivalent.
The order of the slower ones does not matter. A comparison that is unlikely to be decided within the plan's blocks is
given up: more blocks would cost time and still end in `~`. The chance is the predictive power of Spiegelhalter,
Freedman and Blackburn (Controlled Clinical Trials 7, 1986): the mean after the last block is near the present one, as
far off as the scatter of the blocks so far and of those to come allows.

Where the reference has two levels, each level of a case is a question of its own, and the case is open while one of
them is. A level that too few blocks will meet is none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankbench.analysis.statistics import FINEST_SPREAD, distributions
from rankbench.analysis.statistics.by_level import FEWEST_BLOCKS
from rankbench.analysis.statistics.decision import FALSE_DISCOVERIES, half_width, log_beyond
from rankbench.analysis.statistics.looks import Penalty
from rankbench.analysis.statistics.trimming import SHARE
from rankbench.model import Comparison

Values = NDArray[np.float64]

LEAST_CHANCE = 0.1
"""A comparison with a smaller chance of being decided is given up."""
DEGREES_PER_BLOCK = 1 - 2 * SHARE
"""Degrees of freedom that each further block adds."""


class SequentialDesign(NamedTuple):
    """The group-sequential design of a campaign: its threshold and its interim analyses (looks)."""

    threshold: float
    looks: list[int]
    confidence: float = 0.95
    baseline: str = ""
    """The candidate that all others are compared with; comparisons among the others then do not matter."""

    def select_relevant(self, comparisons: Sequence[Comparison]) -> list[Comparison]:
        """Return the comparisons that answer the question, in the order of cases and levels.

        A case with levels of the reference has a question at each that it meets, or will, often enough to be judged.
        """
        relevant = [comparison for comparison in comparisons if self.baseline in {"", comparison.base}]
        levels: dict[str, set[str]] = {}
        for comparison in relevant:
            levels.setdefault(comparison.case, set()).update(self._levels(comparison))
        parts = (comparison.at(name) for comparison in relevant for name in levels[comparison.case] or [""])
        return sorted(filter(None, parts), key=_question)

    def _levels(self, comparison: Comparison) -> list[str]:
        """Return the levels that have, or by the last look will have, blocks enough; all where none has."""
        to_come = self.looks[-1] / comparison.blocks
        levels = [level.name for level in comparison.levels if level.enough or level.blocks * to_come >= FEWEST_BLOCKS]
        return levels or [level.name for level in comparison.levels]

    @property
    def log_threshold(self) -> float:
        """Return the logarithm of the smallest relevant ratio."""
        return float(np.log1p(self.threshold))


class CaseProgress(NamedTuple):
    """Decided and open cases of a campaign."""

    decided: list[str]
    given_up: list[str]
    """Cases that more blocks of the plan would hardly decide."""
    open: dict[str, list[str]]
    """Open cases, with the candidates to measure further."""
    blocks: int
    """Number of blocks after which all open cases should be decided, if values stay as they are; one of the looks."""


def assess_cases(comparisons: Sequence[Comparison], design: SequentialDesign, *, drop: bool = False) -> CaseProgress:
    """Return which cases are decided, open or given up; with `drop`, open cases exclude beaten candidates."""
    ordered = design.select_relevant(comparisons)
    if not ordered:
        return CaseProgress([], [], {}, 0)
    chances, needed = predict_chance(ordered, design), blocks_needed(ordered, design)
    last = 0
    open_: dict[str, dict[str, None]] = {}
    resolved: dict[str, bool] = {}
    for case, members, unsettled in by_case(ordered, baseline=bool(design.baseline)):
        promising = [place for place in unsettled if chances[place] >= LEAST_CHANCE]
        resolved[case] = resolved.get(case, True) and not unsettled
        if promising:
            chosen = promising if drop else members
            names = (name for place in chosen for name in (ordered[place].base, ordered[place].other))
            open_.setdefault(case, {}).update(dict.fromkeys(names))
            last = max(last, *(int(needed[place]) for place in promising))
    closed = {case: decided for case, decided in resolved.items() if case not in open_}
    return CaseProgress(
        decided=[case for case, decided in closed.items() if decided],
        given_up=[case for case, decided in closed.items() if not decided],
        open={case: list(names) for case, names in open_.items()},
        blocks=last,
    )


def predict_decisions(comparisons: Sequence[Comparison], design: SequentialDesign) -> tuple[int, float]:
    """Return how many cases are not decided, and how many of these the design's last look would decide, on average.

    That number is NaN if no open case has two blocks, from which its scatter is known; a case without them adds 0. A
    case is taken to be decided as likely as the least likely of its comparisons that matter. It is not open if it is
    decided at the levels of the reference that the verdict rests on, whatever more blocks would show of another level.
    """
    relevant = design.select_relevant(comparisons)
    judged = {comparison.case for comparison in relevant if _is_judged(comparison)}
    ordered = [comparison for comparison in relevant if _is_judged(comparison) or comparison.case not in judged]
    if not ordered:
        return 0, 0.0
    known = find_known(ordered)
    chances = np.where(known, predict_chance(ordered, design), 0.0)
    likely: dict[str, float] = {}
    forecast = False
    for case, _, unsettled in by_case(ordered, baseline=bool(design.baseline)):
        if unsettled:
            likely[case] = min(likely.get(case, 1.0), *(chances[place] for place in unsettled))
            forecast = forecast or bool(known[unsettled].any())
    return len(likely), float(sum(likely.values())) if forecast or not likely else math.nan


def by_case(ordered: Sequence[Comparison], *, baseline: bool) -> Iterator[tuple[str, list[int], list[int]]]:
    """Yield each case with the places of its comparisons, and of those that are open and matter to the question.

    A case with levels of the reference comes once for each.
    """
    for (case, _), places in groupby(range(len(ordered)), key=lambda place: _question(ordered[place])):
        members = list(places)
        beaten = {find_slower(ordered[place]) for place in members if ordered[place].different and not baseline}
        unsettled = [
            place
            for place in members
            if not is_resolved(ordered[place]) and not {ordered[place].base, ordered[place].other} & beaten
        ]
        yield case, members, unsettled


def _is_judged(comparison: Comparison) -> bool:
    """Return whether a comparison, at its level, has blocks enough for the verdict."""
    return not comparison.levels or comparison.levels[0].enough


def _question(comparison: Comparison) -> tuple[str, str]:
    """Return the case, and the level of the reference where it is compared at one."""
    return comparison.case, comparison.levels[0].name if comparison.levels else ""


def find_slower(comparison: Comparison) -> str:
    """Return the slower of two candidates."""
    return comparison.other if comparison.ratio > 1 else comparison.base


def is_resolved(comparison: Comparison) -> bool:
    """Return whether two candidates are known to differ, or known not to differ by more than the threshold."""
    return comparison.different or comparison.alike


def predict_chance(comparisons: Sequence[Comparison], design: SequentialDesign) -> Values:
    """Return the chance that each comparison is decided by the last look, if its trend continues."""
    now = compute_trend(comparisons)
    log, last = now.log, now.share * design.looks[-1]
    different, equivalent = compute_bounds(now, design.looks[-1], compute_penalties(comparisons), design)
    drift = now.scatter * np.sqrt(np.maximum(1 / now.blocks - 1 / last, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        above = distributions.normal_sf((different - log) / drift)
        beyond = above + distributions.normal_cdf((-different - log) / drift)
        within = distributions.normal_cdf((equivalent - log) / drift)
        within = within - distributions.normal_cdf((-equivalent - log) / drift)
    decided = beyond + np.where(equivalent > 0, within, 0.0)
    return np.where(find_known(comparisons), decided, 1.0)


def blocks_needed(comparisons: Sequence[Comparison], design: SequentialDesign) -> Values:
    """Return the look at which each comparison is decided, if its trend continues; the last if at none."""
    now = compute_trend(comparisons)
    far = np.abs(now.log)
    needed = np.full(len(far), float(design.looks[-1]))
    for look in reversed(design.looks):
        different, equivalent = compute_bounds(now, look, compute_penalties(comparisons), design)
        later = look * now.share > now.blocks
        needed = np.where(later & ((far >= different) | (far <= equivalent)), look, needed)
    return np.where(find_known(comparisons), needed, design.looks[-1])


def find_known(comparisons: Sequence[Comparison]) -> NDArray[np.bool_]:
    """Return which comparisons have a known scatter."""
    return np.array([_blocks(comparison) >= 2 and np.isfinite(comparison.high) for comparison in comparisons])


def _blocks(comparison: Comparison) -> int:
    """Return the blocks that a comparison rests on, at one level of the reference those of the level."""
    return comparison.levels[0].blocks if comparison.levels else comparison.blocks


class Trend(NamedTuple):
    """Of each comparison, as its blocks are now."""

    log: Values
    scatter: Values
    """Standard deviation that, over the root of the blocks, is the error."""
    blocks: Values
    degrees: Values
    rounding: Values
    share: Values
    """Of the campaign's blocks: less than 1 at a level of the reference that not all blocks meet."""


def compute_trend(comparisons: Sequence[Comparison]) -> Trend:
    """Return the current values of comparisons."""
    log, error, blocks, degrees, rounding, share = np.array(
        [
            (
                np.log(comparison.ratio),
                comparison.error,
                max(_blocks(comparison), 2),
                comparison.degrees,
                comparison.rounding,
                _blocks(comparison) / comparison.blocks,
            )
            for comparison in comparisons
        ],
        dtype=np.float64,
    ).T
    return Trend(log, error * np.sqrt(blocks), blocks, degrees, rounding, share)


def compute_penalties(comparisons: Sequence[Comparison]) -> Values:
    """Return the factors by which p-values are adjusted for the other tests."""
    return np.array(
        [
            max(comparison.p_adjusted / comparison.p_value, 1.0) if comparison.p_value > 0 else 1.0
            for comparison in comparisons
        ]
    )


def compute_bounds(now: Trend, look: int, penalty: Values, design: SequentialDesign) -> tuple[Values, Values]:
    """Return the log ratios from which on two differ, and up to which they are equivalent, at a look."""
    blocks = now.share * look
    error, spent = np.maximum(now.scatter, FINEST_SPREAD) / np.sqrt(blocks), Penalty(tuple(design.looks), look)
    degrees = np.maximum(now.degrees + DEGREES_PER_BLOCK * (blocks - now.blocks), 1)
    level = spent.nominal(FALSE_DISCOVERIES / penalty)
    half = half_width(error, degrees, spent.nominal(1 - design.confidence))
    different = log_beyond(level, error, degrees, design.log_threshold + now.rounding)
    return different, design.log_threshold - half - now.rounding
