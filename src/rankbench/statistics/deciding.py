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
from rankbench.statistics.trimming import degrees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankbench.model import Comparison

    Values = NDArray[np.float64]

SLIGHT = 0.1
"""With less chance than this of being decided a comparison is given up."""
FALSE_DISCOVERIES = 0.05


class Outlook(NamedTuple):
    """What a campaign may still do: how different candidates must be, and after which blocks it looks."""

    threshold: float
    looks: list[int]
    confidence: float = 0.95

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
    if not comparisons:
        return found
    ordered = sorted(comparisons, key=lambda one: one.case)
    chances, needed = chance(ordered, outlook), blocks_needed(ordered, outlook)
    last = 0
    for case, places in groupby(range(len(ordered)), key=lambda place: ordered[place].case):
        own = list(places)
        beaten = {slower(ordered[place]) for place in own if ordered[place].different}
        unsettled = [
            place
            for place in own
            if not settled(ordered[place], outlook.threshold)
            and not {ordered[place].base, ordered[place].other} & beaten
        ]
        hopeful = [place for place in unsettled if chances[place] >= SLIGHT]
        if hopeful:
            chosen = hopeful if drop else own
            names = dict.fromkeys(name for place in chosen for name in (ordered[place].base, ordered[place].other))
            found.open[case] = list(names)
            last = max(last, *(int(needed[place]) for place in hopeful))
        else:
            (found.given_up if unsettled else found.decided).append(case)
    return found._replace(blocks=last)


def slower(comparison: Comparison) -> str:
    """Return which of two candidates takes longer."""
    return comparison.other if comparison.ratio > 1 else comparison.base


def settled(comparison: Comparison, threshold: float) -> bool:
    """Return whether two candidates are known to differ, or known not to differ by more than the threshold."""
    return comparison.different or (comparison.low >= 1 / (1 + threshold) and comparison.high <= 1 + threshold)


def chance(comparisons: Sequence[Comparison], outlook: Outlook) -> Values:
    """Return, of each comparison, the chance that it is decided by the last look if all goes on as it is."""
    log, scatter, blocks, penalty = trend(comparisons, outlook)
    last = np.full_like(blocks, outlook.looks[-1])
    different, alike = bounds(scatter, last, penalty, outlook)
    drift = scatter * np.sqrt(np.maximum(1 / blocks - 1 / last, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = scipy.stats.norm.sf((different - log) / drift) + scipy.stats.norm.cdf((-different - log) / drift)
        within = scipy.stats.norm.cdf((alike - log) / drift) - scipy.stats.norm.cdf((-alike - log) / drift)
    decided = beyond + np.where(alike > 0, within, 0.0)
    return np.where(known(comparisons), decided, 1.0)


def blocks_needed(comparisons: Sequence[Comparison], outlook: Outlook) -> Values:
    """Return, of each comparison, the look at which it is decided if all goes on as it is; the last if at none."""
    log, scatter, blocks, penalty = trend(comparisons, outlook)
    needed = np.full(len(blocks), float(outlook.looks[-1]))
    for look in reversed(outlook.looks):
        different, alike = bounds(scatter, np.full_like(blocks, look), penalty, outlook)
        needed = np.where((look > blocks) & ((np.abs(log) >= different) | (np.abs(log) <= alike)), look, needed)
    return np.where(known(comparisons), needed, outlook.looks[-1])


def known(comparisons: Sequence[Comparison]) -> NDArray[np.bool_]:
    """Return of which comparisons the scatter is known."""
    return np.array([one.blocks >= 2 and np.isfinite(one.high) for one in comparisons])


def trend(comparisons: Sequence[Comparison], outlook: Outlook) -> tuple[Values, Values, Values, Values]:
    """Return log ratios, the scatter of one block, blocks, and by how much p-values are adjusted to the others."""
    blocks = np.array([max(one.blocks, 2) for one in comparisons], dtype=np.float64)
    widths = np.array([one.high / one.low if np.isfinite(one.high) else 1.0 for one in comparisons])
    taken = blocks + [one.left_out for one in comparisons]
    quantile = scipy.stats.t.isf((1 - outlook.confidence) / price(outlook.looks, taken) / 2, degrees(blocks))
    scatter = np.log(widths) / 2 * np.sqrt(blocks) / quantile
    penalty = np.array([one.p_adjusted / one.p_value if one.p_value > 0 else 1.0 for one in comparisons])
    return np.log([one.ratio for one in comparisons]), scatter, blocks, penalty


def bounds(scatter: Values, blocks: Values, penalty: Values, outlook: Outlook) -> tuple[Values, Values]:
    """Return the log ratios from which on, and up to which, two differ and are alike after so many blocks."""
    error, priced = scatter / np.sqrt(blocks), price(outlook.looks, blocks)
    level = FALSE_DISCOVERIES / priced / np.maximum(penalty, 1.0)
    different = np.maximum(scipy.stats.t.isf(level / 2, degrees(blocks)) * error, outlook.worth)
    half = scipy.stats.t.isf((1 - outlook.confidence) / priced / 2, degrees(blocks)) * error
    return different, outlook.worth - half
