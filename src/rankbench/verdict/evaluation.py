"""From a stored campaign to its verdict: the one place of this room that reads a store."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from rankbench import plan, statistics
from rankbench.verdict import judge

if TYPE_CHECKING:
    import polars as pl

    from rankbench.model import Campaign, Launch, Verdict
    from rankbench.store import Store


class Evaluation(NamedTuple):
    """A campaign with all that was measured and what it says."""

    campaign: Campaign
    launches: list[Launch]
    verdict: Verdict
    samples: pl.LazyFrame


def evaluate(store: Store) -> Evaluation:
    """Evaluate what a campaign has measured so far."""
    campaign, launches, samples = store.campaign, store.launches(), store.samples()
    names = [candidate.name for candidate in campaign.candidates if not candidate.control_of]
    twins = [(candidate.control_of, candidate.name) for candidate in campaign.candidates if candidate.control_of]
    medians = statistics.launch_medians(samples)
    threshold = campaign.plan.threshold
    looks = len(plan.looks(campaign.plan.stop)) if campaign.plan.stop.until == "decided" else 1
    verdict = judge(
        campaign,
        statistics.summarise(medians, samples, store.cases()),
        statistics.compare(medians, list(combinations(names, 2)), threshold, looks=looks),
        statistics.compare(medians, twins, threshold, looks=looks),
        launches,
    )
    return Evaluation(campaign, launches, verdict, samples)
