"""From a stored campaign to its verdict: the one place of this room that reads a store."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from rankbench import plan, statistics
from rankbench.statistics import states
from rankbench.statistics.ranks import single_ranks
from rankbench.statistics.starts import start_effects, usual_starts
from rankbench.verdict import judge

if TYPE_CHECKING:
    from rankbench.model import Campaign, Case, Launch, Verdict
    from rankbench.statistics.starts import StartEffect
    from rankbench.store import Store


@dataclass(frozen=True)
class Evaluation:
    """A campaign with all that was measured and what it says. What few readers want is computed when asked for."""

    campaign: Campaign
    launches: list[Launch]
    verdict: Verdict
    samples: pl.LazyFrame
    rank_samples: pl.LazyFrame
    """What single ranks saw, where the plan kept it."""
    figures: pl.DataFrame
    """The figure of every launch, uncertain ones included."""

    @cached_property
    def valid(self) -> dict[str, pl.DataFrame]:
        """Samples that count, by case: candidate and time_ns."""
        counted = self.samples.filter(~pl.col("discarded")).select("case", "candidate", "time_ns").collect()
        return {str(key): frame for (key,), frame in counted.partition_by("case", as_dict=True).items()}

    @cached_property
    def usual(self) -> dict[str, Case]:
        """By the key of every case, the one that is like it but has the usual start."""
        return usual_starts(self.campaign)

    def alike(self, case: Case) -> list[Case]:
        """Return the cases that are like one but for their start, itself among them, the usual start first."""
        found = [one for one in self.campaign.cases if self.usual[one.key] == self.usual[case.key]]
        return sorted(found, key=lambda one: one != self.usual[one.key])

    @cached_property
    def starts(self) -> list[StartEffect]:
        """What each start does to the same case."""
        return start_effects(judged(self.figures), self.campaign)

    @cached_property
    def ranks(self) -> pl.DataFrame:
        """How single ranks fared."""
        return single_ranks(self.samples, self.rank_samples)


def evaluate(store: Store, estimator: str = "", confidence: float = 0.0) -> Evaluation:
    """Evaluate what a campaign has measured so far; estimator and confidence are the plan's unless others are given."""
    campaign, launches, samples = _asked(store.campaign, estimator, confidence), store.launches(), store.samples()
    names = [candidate.name for candidate in campaign.candidates if not candidate.control_of]
    twins = [(candidate.control_of, candidate.name) for candidate in campaign.candidates if candidate.control_of]
    planned = campaign.plan
    by_ranks = [case.key for case in campaign.cases if not campaign.scheduled(case)]
    figures = statistics.launch_figures(samples, planned.estimator, by_ranks)
    looks = len(plan.looks(planned.stop)) if planned.stop.until == "decided" else 1
    compare = partial(
        statistics.compare,
        judged(figures),
        threshold=planned.threshold,
        looks=looks,
        confidence=planned.confidence,
        unlike=states.unlike(launches),
    )
    comparisons, control = compare(pairs=list(combinations(names, 2))), compare(pairs=twins)
    summaries = statistics.summarise(figures, samples, store.cases(), planned.confidence)
    verdict = judge(campaign, summaries, comparisons, control, launches)
    return Evaluation(campaign, launches, verdict, samples, store.rank_samples(), figures)


def judged(figures: pl.DataFrame) -> pl.DataFrame:
    """Return the figures of launches whose start is certain enough."""
    return figures.filter(~pl.col("uncertain"))


def _asked(campaign: Campaign, estimator: str, confidence: float) -> Campaign:
    """Return the campaign as if its plan had named this estimator and this confidence."""
    planned = campaign.plan
    changed = msgspec.structs.replace(
        planned, estimator=estimator or planned.estimator, confidence=confidence or planned.confidence
    )
    return msgspec.structs.replace(campaign, plan=changed)
