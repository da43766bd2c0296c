"""Verdicts of campaigns without any scatter, by the whole way from a store: their texts and figures are exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from fakes import campaigns
from fakes.campaigns import Truth
from rankbench.model import CaseStatus
from rankbench.verdict import evaluation, judge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rankbench.model import Case, Comparison, Verdict
    from rankbench.verdict.evaluation import Evaluation

CANDIDATES = ("alpha", "beta", "gamma")
LINE = campaigns.cases_of(lines=[("allreduce", "blocking")], sizes=(8, 1024, 65536))
"""One operation in three sizes."""


def evaluate(
    folder: Path,
    factor: Callable[[str, Case], float | CaseStatus],
    *,
    candidates: Sequence[str] = CANDIDATES,
    cases: Sequence[Case] | None = None,
    launches: int = 6,
    control: bool = False,
) -> Evaluation:
    """Evaluate a campaign in which a candidate takes a case's time times its factor, or ends it otherwise."""

    def truth(candidate: str, case: Case) -> Truth:
        told = factor(candidate, case)
        if isinstance(told, CaseStatus):
            return Truth(noise=0, spread=0, status=told)
        return Truth(noise=0, spread=0, factor=told)

    made = campaigns.make_campaign(
        folder / "made", truth, launches, candidates=candidates, cases=cases, control=control, samples=10
    )
    return evaluation.evaluate(made)


def constant(factors: Mapping[str, float]) -> Callable[[str, Case], float]:
    """Return candidates' factors that hold in every case."""
    return lambda candidate, _case: factors.get(candidate, 1.0)


def judge_again(evaluated: Evaluation, *, control: Sequence[Comparison] = (), **changes: object) -> Verdict:
    """Judge the same figures with another A/A control, or with changes to the campaign's record."""
    verdict, record = evaluated.verdict, msgspec.structs.replace(evaluated.campaign, **changes)
    return judge(record, verdict.summaries, verdict.comparisons, control, evaluated.launches)
