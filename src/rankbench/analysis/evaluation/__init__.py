"""From a stored campaign to its view: the one place of this room that reads a store of one campaign."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import msgspec
import polars as pl

from rankbench import caching
from rankbench.analysis.evaluation import cache
from rankbench.analysis.questions.nodes import complete_campaign
from rankbench.analysis.questions.view import CampaignView
from rankbench.model import AloneComparison, Campaign, Launch
from rankbench.store import Store


def evaluate(
    store: Store, estimator: str = "", confidence: float = 0.0, threshold: float | None = None
) -> CampaignView:
    """Evaluate what a campaign has measured so far, by the rules of its plan or by those given.

    A cached evaluation of the same results is used again, where `caching` has a folder.
    """
    launches = store.launches()
    campaign = complete_campaign(_apply_rules(store.campaign, estimator, confidence, threshold), launches)
    name = cache.name_evaluation(store, campaign) if caching.is_used() else ""
    if name and (evaluation := cache.find_evaluation(name, campaign)):
        return CampaignView(
            campaign=campaign,
            launches=launches,
            verdict=evaluation.verdict,
            launch_values=cache.unpack(evaluation.launch_values),
            samples=store.samples(),
            rank_samples=store.rank_samples(),
            case_rows=store.cases(),
            modes=dict(evaluation.modes),
            last_ranks=cache.unpack(evaluation.last_ranks),
            records=store.records(),
            sum_rows=store.sum_rows(),
        )
    view = compute(store, campaign, launches)
    if name and name == cache.name_evaluation(store, campaign):  # No other process added a launch meanwhile.
        cache.store_evaluation(name, view)
    return view


def compute(store: Store, campaign: Campaign, launches: list[Launch]) -> CampaignView:
    """Evaluate what these launches measured."""
    # What computes takes as long to load as all that a cached evaluation needs.
    from rankbench.analysis import statistics
    from rankbench.analysis.claims import judge, make_draft
    from rankbench.analysis.questions.interim import list_interim_looks
    from rankbench.analysis.questions.view import select_judgeable
    from rankbench.analysis.statistics.dropping import compare_dropped, leave_open, name_dropped
    from rankbench.analysis.statistics.level_values import agree_values
    from rankbench.analysis.statistics.modes import find_group_modes
    from rankbench.analysis.statistics.parts import hold
    from rankbench.analysis.statistics.ranks import tabulate_last_ranks
    from rankbench.analysis.statistics.references import by_case
    from rankbench.analysis.statistics.rounding import join_rounding

    samples = hold(store.samples())
    names = [candidate.name for candidate in campaign.candidates if not candidate.control_of]
    twins = [(candidate.control_of, candidate.name) for candidate in campaign.candidates if candidate.control_of]
    planned = campaign.plan
    by_ranks = [case.key for case in campaign.cases if not campaign.scheduled(case)]
    cases = store.cases()
    launch_values = statistics.compute_launch_values(samples, planned.estimator, by_ranks)
    launch_values = join_rounding(launch_values, cases)
    question_pairs = list_pairs(campaign, names)
    rest = [pair for pair in combinations(names, 2) if pair not in question_pairs and pair[::-1] not in question_pairs]
    counted = select_judgeable(launch_values)
    levels = by_case(counted, campaign)
    compared = statistics.compare(
        counted,
        question_pairs,
        planned.threshold,
        control=[*twins, *rest],
        looks=list_interim_looks(planned),
        confidence=planned.confidence,
        levels=levels,
    )
    dropped = compare_dropped(launch_values, cases, planned.threshold)
    alone = compare_launches_alone(store, counted, question_pairs, campaign)
    compared = leave_open(compared, dropped, [pair for pair in alone if not pair.agrees(planned.threshold)])
    control = [pair for pair in compared if (pair.base, pair.other) in twins]
    comparisons = [pair for pair in compared if (pair.base, pair.other) not in twins]
    medians = statistics.summarise(launch_values, samples, cases, planned.confidence, per_second(campaign))
    summaries = name_dropped(agree_values(medians, comparisons, counted, levels, planned.confidence), dropped)
    view = CampaignView(
        campaign=campaign,
        launches=launches,
        verdict=msgspec.structs.replace(make_draft(campaign, launches, summaries, comparisons, control), alone=alone),
        launch_values=launch_values,
        samples=store.samples(),
        rank_samples=store.rank_samples(),
        case_rows=cases,
        modes=find_group_modes(samples.filter(pl.col("case").is_in(list_timed(campaign))), ["case", "candidate"]),
        last_ranks=tabulate_last_ranks(samples),
        records=store.records(),
        sum_rows=store.sum_rows(),
    )
    return view.with_verdict(judge(view))


def compare_launches_alone(
    store: Store, counted: pl.DataFrame, pairs: Sequence[tuple[str, str]], campaign: Campaign
) -> list[AloneComparison]:
    """Return which pairs of candidates compare differently alone than in turns, if some launches were made alone."""
    from rankbench.analysis import statistics
    from rankbench.analysis.questions.view import select_judgeable
    from rankbench.analysis.statistics.alone import compare_alone

    planned = campaign.plan
    by_ranks = [case.key for case in campaign.cases if not campaign.scheduled(case)]
    samples = store.alone.samples()
    if samples.select(pl.len()).collect().item() == 0:
        return []
    alone = select_judgeable(statistics.compute_launch_values(samples, planned.estimator, by_ranks))
    return compare_alone(counted, alone, pairs, planned.threshold, planned.confidence)


def list_pairs(campaign: Campaign, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of candidates that the question is about: all, or each with the baseline."""
    base = campaign.baseline
    return [(base, name) for name in names if name != base] if base else list(combinations(names, 2))


def per_second(campaign: Campaign) -> list[str]:
    """Return the keys of the cases that are shown as bytes or messages per second."""
    names = {operation.name for operation in campaign.operations if operation.metric in {"bandwidth", "rate"}}
    return [case.key for case in campaign.cases if case.operation in names and case.quantity == "time"]


def list_timed(campaign: Campaign) -> list[str]:
    """Return the keys of the cases whose samples are times of which a launch has many."""
    once = {operation.name for operation in campaign.operations if operation.once}
    return [case.key for case in campaign.cases if case.quantity == "time" and case.operation not in once]


def _apply_rules(campaign: Campaign, estimator: str, confidence: float, threshold: float | None) -> Campaign:
    """Return the campaign as if its plan had named these, as far as they are given."""
    planned = campaign.plan
    changed = msgspec.structs.replace(
        planned,
        estimator=estimator or planned.estimator,
        confidence=confidence or planned.confidence,
        threshold=planned.threshold if threshold is None else threshold,
    )
    return msgspec.structs.replace(campaign, plan=changed)
