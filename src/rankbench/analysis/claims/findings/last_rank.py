"""One rank ends last in most calls, in several operations.

Why: If it is the same rank with all candidates, its CPU is slower than the others.

What to do: Look for other work on that CPU, or leave it out. If only one candidate has it, look at how it binds
ranks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.contrasts import judge
from rankbench.language import Text, say, sentences
from rankbench.model import Case, Finding, list_rank_sets

TITLE = "One rank always last"
FEWEST_RANKS = 3
"""Of two ranks, one is always the last."""
FEWEST_OPERATIONS = 2
"""One algorithm may end on the same rank by design; several are evidence of a slow rank."""
MOST_OF = 0.5
"""Share of samples, and of cases, above which a rank counts as the last one."""


class Last(NamedTuple):
    """A rank that ends last in most samples of most cases of a candidate, at one placement."""

    placement: str
    rank: int
    candidate: str
    cases: list[Case]
    tested: int
    share: float
    """Of the samples of these cases in which it is the last."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a finding per placement and rank that is significantly the last one in most cases of a candidate."""
    ranks = sorted(find_last(view), key=lambda last: (last.placement, last.rank))
    for _, group in groupby(ranks, key=lambda last: (last.placement, last.rank)):
        yield _make_finding(view, list(group))


def find_last(view: CampaignView) -> Iterator[Last]:
    """Yield the ranks that end last in most cases of operations without a root or an order of ranks."""
    keys = [
        main_verdict.case.key
        for main_verdict in view.main_verdicts
        if view.operations[main_verdict.case.operation].is_symmetric and not view.short_of_cores(main_verdict.case)
    ]
    shares = view.last_ranks.filter(pl.col("case").is_in(keys), pl.col("ranks") >= FEWEST_RANKS)
    frame = shares.group_by("case", "candidate").len()
    every = {(row["case"], row["candidate"]) for row in frame.iter_rows(named=True)}
    logs = shares.with_columns(log=pl.col("last").log(), margin=pl.lit(math.log(MOST_OF)))
    by_rank: dict[tuple[str, int, str], list[str]] = {}
    for contrast in judge(logs, ["case", "candidate", "rank"], view.campaign.plan.confidence):
        case, candidate, rank = contrast.key
        if contrast.sure and candidate in view.candidates:
            by_rank.setdefault((view.case_of[case].placement, rank, candidate), []).append(case)
    for (place, rank, candidate), last_keys in by_rank.items():
        together = [key for key, name in every if name == candidate and view.case_of[key].placement == place]
        operations = {view.case_of[key].operation for key in last_keys}
        if len(operations) >= FEWEST_OPERATIONS and len(last_keys) > MOST_OF * len(together):
            last_shares = shares.filter(pl.col("case").is_in(last_keys), candidate=candidate, rank=rank)
            share = float(last_shares.select(pl.col("last").mean()).item())
            yield Last(
                place, rank, candidate, [view.case_of[key] for key in keys if key in last_keys], len(together), share
            )


def _make_finding(view: CampaignView, ranks: Sequence[Last]) -> Finding:
    first = ranks[0]
    several = len(view.campaign.plan.placements) > 1
    texts = [
        say(
            "{share:.0%} of the samples of {n} of {all:count case} of {name}",
            share=last.share,
            n=len(last.cases),
            all=last.tested,
            name=last.candidate,
        )
        for last in ranks
    ]
    measured = {name for name in view.candidates if any(name == launch.candidate for launch in view.launches)}
    everywhere = len(ranks) == len(measured) > 1
    ends = say(
        "At {placement}, rank {rank} ends last in {shares:and}, launch after launch."
        if several
        else "Rank {rank} ends last in {shares:and}, launch after launch.",
        placement=first.placement,
        rank=_name_rank(view, first),
        shares=texts,
    )
    why = say(
        "All candidates show this: its CPU, or other work on it, is the cause, not a library."
        if everywhere
        else "Not all candidates show this: the algorithms of these may end on that rank by design."
    )
    return Finding(
        kind="last_rank",
        title=say(
            "Rank {rank} ends last at {placement}" if several else "Rank {rank} ends last",
            rank=first.rank,
            placement=first.placement,
        ),
        text=sentences([ends, why]),
        advice=say(
            "Check what else runs on that CPU, its clock frequency and its interrupts, or leave it out."
            if everywhere
            else "It matters to programs that continue as soon as their own call returns: compare the last ranks of "
            "other candidates."
        ),
        cases=list(dict.fromkeys(case.key for last in ranks for case in last.cases)),
        severity="warning" if everywhere else "note",
        plot="ranks",
    )


def _name_rank(view: CampaignView, last: Last) -> Text:
    """Name the rank, with its CPU if that was the same in all launches."""
    locations = {
        (fact.host, fact.cpu)
        for ranks in list_rank_sets(launch for launch in view.launches if launch.placement == last.placement)
        for fact in ranks
        if fact.rank == last.rank
    }
    if len(locations) != 1:
        return say("{rank}", rank=last.rank)
    host, cpu = locations.pop()
    return say("{rank} (CPU {cpu} of {host})", rank=last.rank, cpu=cpu, host=host)
