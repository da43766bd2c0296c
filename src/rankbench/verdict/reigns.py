"""Reigns: who is in front along something that grows, be it sizes, nodes or ranks, where that is sure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rankbench.statistics.contrasts import SURE
from rankbench.statistics.placements import turned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rankbench.model import CaseVerdict, Comparison
    from rankbench.verdict.evidence import Evidence


class Reign(NamedTuple):
    """Cases in a row with winners in common."""

    names: list[str]
    cases: list[tuple[int, CaseVerdict]]
    """By the number that grows."""


def reigns_of(
    sure: Iterable[tuple[int, CaseVerdict]], winners: Callable[[CaseVerdict], list[str]] = lambda one: one.winners
) -> list[Reign]:
    """Divide cases where none of the winners is one of those before; those that cannot be told apart reign together."""
    reigns: list[Reign] = []
    for number, verdict in sure:
        common = [name for name in reigns[-1].names if name in winners(verdict)] if reigns else []
        if common:
            reigns[-1] = Reign(common, [*reigns[-1].cases, (number, verdict)])
        else:
            reigns.append(Reign(winners(verdict), [(number, verdict)]))
    return reigns


def clear(evidence: Evidence, verdict: CaseVerdict) -> bool:
    """Return whether there are candidates that are no winners, and all of these are surely slower than the first."""
    others = [name for name in verdict.ranking if name not in verdict.winners]
    return bool(others) and all(slower(evidence, verdict.case.key, verdict.ranking[0], other) for other in others)


def front(evidence: Evidence, verdict: CaseVerdict) -> list[str]:
    """Return the candidates that are not surely slower than the first of a case: fewer are told apart than by verdicts.

    A verdict errs in a few of many cases; what puts many cases together must not break at these.
    """
    key, first = verdict.case.key, verdict.ranking[0]
    return [name for name in verdict.ranking if not slower(evidence, key, first, name)]


def slower(evidence: Evidence, case: str, first: str, other: str) -> Comparison | None:
    """Return the comparison by which the other is surely slower than the first; none if there is no such."""
    found = evidence.comparison.get((case, first, other))
    return found if found and surely(found) else None


def of(ratio: Comparison, name: str) -> Comparison | None:
    """Return a comparison as that of a candidate with another, none where it is of others."""
    if ratio.other == name:
        return ratio
    return turned(ratio) if ratio.base == name else None


def surely(ratio: Comparison) -> bool:
    """Return whether the other is surely slower."""
    return ratio.different and ratio.ratio > 1 and ratio.low > 1 and ratio.p_adjusted <= SURE
