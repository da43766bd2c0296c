"""Which comparisons are still open, could still matter, and have a chance to be decided. Pure: records in, records out.

A case is open while two candidates that may both be its fastest are neither told apart nor known to be alike. Who is
slower among the beaten matters to no answer. A comparison whose chance to be decided within the plan's blocks is small
is given up: more blocks would cost time and bring a `~` all the same. That chance is the predictive power of
Spiegelhalter, Freedman and Blackburn (Controlled Clinical Trials 7, 1986): the mean after the last block lies about
where it lies now, as far off as the scatter of the blocks so far and of those to come allows.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from rankbench.statistics.looks import price
from rankbench.statistics.threshold import log_beyond
from rankbench.statistics.trimming import SHARE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rankbench.model import Comparison

    Values = NDArray[np.float64]

SLIGHT = 0.1
"""With less chance than this of being decided a comparison is given up."""
FALSE_DISCOVERIES = 0.05
KEPT = 1 - 2 * SHARE
"""Degrees of freedom that one more block brings."""


class Outlook(NamedTuple):
    """What a campaign may still do: how different candidates must be, and after which blocks it looks."""

    threshold: float
    looks: list[int]
    confidence: float = 0.95
    baseline: str = ""
    """The candidate that all others are compared with: then nobody's place among the others matters."""

    def asked(self, comparisons: Sequence[Comparison]) -> list[Comparison]:
        """Return the comparisons that the question is about, in the order of their cases."""
        own = (one for one in comparisons if self.baseline in {"", one.base})
        return sorted(own, key=lambda one: one.case)

    @property
    def worth(self) -> float:
        """Return the logarithm of the smallest ratio that is worth telling."""
        return float(np.log1p(self.threshold))


class Standing(NamedTuple):
    """How far the cases of a campaign are decided."""

    decided: list[str]
    given_up: list[str]
    """Cases that more blocks of the plan would hardly decide."""
    open: dict[str, list[str]]
    """Cases that are open, and the candidates by whose further launches they may be decided."""
    blocks: int
    """After how many blocks all that is open should be decided, as figures are now: one of the looks."""


def standing(comparisons: Sequence[Comparison], outlook: Outlook, *, drop: bool = False) -> Standing:
    """Return where each case stands; with `drop`, beaten candidates have no part in what is open."""
    found = Standing([], [], {}, 0)
    ordered = outlook.asked(comparisons)
    if not ordered:
        return found
    chances, needed = chance(ordered, outlook), blocks_needed(ordered, outlook)
    last = 0
    for case, own, unsettled in by_case(ordered, baseline=bool(outlook.baseline)):
        hopeful = [place for place in unsettled if chances[place] >= SLIGHT]
        if hopeful:
            chosen = hopeful if drop else own
            names = dict.fromkeys(name for place in chosen for name in (ordered[place].base, ordered[place].other))
            found.open[case] = list(names)
            last = max(last, *(int(needed[place]) for place in hopeful))
        else:
            (found.given_up if unsettled else found.decided).append(case)
    return found._replace(blocks=last)


def prospect(comparisons: Sequence[Comparison], outlook: Outlook) -> tuple[int, float]:
    """Return how many cases are not decided, and how many of these the outlook's last look would decide, on average.

    A case is taken to be decided as likely as the least likely of its comparisons that matter.
    """
    ordered = outlook.asked(comparisons)
    if not ordered:
        return 0, 0.0
    chances = chance(ordered, outlook)
    likely = [
        min(chances[place] for place in unsettled)
        for _, _, unsettled in by_case(ordered, baseline=bool(outlook.baseline))
        if unsettled
    ]
    return len(likely), float(sum(likely))


def by_case(ordered: Sequence[Comparison], *, baseline: bool) -> Iterator[tuple[str, list[int], list[int]]]:
    """Yield each case with the places of its comparisons, and of those that are open and matter to the question."""
    for case, places in groupby(range(len(ordered)), key=lambda place: ordered[place].case):
        own = list(places)
        beaten = {slower(ordered[place]) for place in own if ordered[place].different and not baseline}
        unsettled = [
            place
            for place in own
            if not settled(ordered[place]) and not {ordered[place].base, ordered[place].other} & beaten
        ]
        yield case, own, unsettled


def slower(comparison: Comparison) -> str:
    """Return which of two candidates takes longer."""
    return comparison.other if comparison.ratio > 1 else comparison.base


def settled(comparison: Comparison) -> bool:
    """Return whether two candidates are known to differ, or known not to differ by more than the threshold."""
    return comparison.different or comparison.alike


def chance(comparisons: Sequence[Comparison], outlook: Outlook) -> Values:
    """Return, of each comparison, the chance that it is decided by the last look if all goes on as it is."""
    log, scatter, blocks, _ = now = trend(comparisons)
    last = np.full_like(blocks, outlook.looks[-1])
    different, alike = bounds(now, last, penalties(comparisons), outlook)
    drift = scatter * np.sqrt(np.maximum(1 / blocks - 1 / last, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = scipy.stats.norm.sf((different - log) / drift) + scipy.stats.norm.cdf((-different - log) / drift)
        within = scipy.stats.norm.cdf((alike - log) / drift) - scipy.stats.norm.cdf((-alike - log) / drift)
    decided = beyond + np.where(alike > 0, within, 0.0)
    return np.where(known(comparisons), decided, 1.0)


def blocks_needed(comparisons: Sequence[Comparison], outlook: Outlook) -> Values:
    """Return, of each comparison, the look at which it is decided if all goes on as it is; the last if at none."""
    log, _, blocks, _ = now = trend(comparisons)
    needed = np.full(len(blocks), float(outlook.looks[-1]))
    for look in reversed(outlook.looks):
        different, alike = bounds(now, np.full_like(blocks, look), penalties(comparisons), outlook)
        needed = np.where((look > blocks) & ((np.abs(log) >= different) | (np.abs(log) <= alike)), look, needed)
    return np.where(known(comparisons), needed, outlook.looks[-1])


def known(comparisons: Sequence[Comparison]) -> NDArray[np.bool_]:
    """Return of which comparisons the scatter is known."""
    return np.array([one.blocks >= 2 and np.isfinite(one.high) for one in comparisons])


class Trend(NamedTuple):
    """Of each comparison, as its blocks are now."""

    log: Values
    scatter: Values
    """Standard deviation that, over the root of the blocks, is the error."""
    blocks: Values
    degrees: Values


def trend(comparisons: Sequence[Comparison]) -> Trend:
    """Return how comparisons stand."""
    log, error, blocks, degrees = np.array(
        [(np.log(one.ratio), one.error, max(one.blocks, 2), one.degrees) for one in comparisons], dtype=np.float64
    ).T
    return Trend(log, error * np.sqrt(blocks), blocks, degrees)


def penalties(comparisons: Sequence[Comparison]) -> Values:
    """Return by how much p-values are adjusted to the others."""
    return np.array([max(one.p_adjusted / one.p_value, 1.0) if one.p_value > 0 else 1.0 for one in comparisons])


def bounds(now: Trend, blocks: Values, penalty: Values, outlook: Outlook) -> tuple[Values, Values]:
    """Return the log ratios from which on, and up to which, two differ and are alike after so many blocks."""
    error, priced = now.scatter / np.sqrt(blocks), price(outlook.looks, blocks)
    degrees = np.maximum(now.degrees + KEPT * (blocks - now.blocks), 1)
    level = FALSE_DISCOVERIES / priced / penalty
    half = scipy.stats.t.isf((1 - outlook.confidence) / priced / 2, degrees) * error
    return log_beyond(level, error, degrees, outlook.worth), outlook.worth - half
