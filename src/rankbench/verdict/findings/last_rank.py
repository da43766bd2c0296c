"""One rank ends last in most calls, in several operations.

Why: If it is the same rank with all candidates, its CPU is slower than the others.

What to do: Look for other work on that CPU, or leave it out. If only one candidate has it, look at how it binds
ranks.
"""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from rankbench.language import Text, say, sentences
from rankbench.model import Finding
from rankbench.statistics.contrasts import judged

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankbench.model import Case, Operation
    from rankbench.verdict.view import CampaignView

TITLE = "One rank always last"
FEWEST_RANKS = 3
"""Of two ranks one is always the last, by however little."""
FEWEST_OPERATIONS = 2
"""An algorithm may end on the same rank by its nature; the same rank in several of them is more than that."""
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
    """Yield a finding per placement and rank that is surely the last one in most cases of a candidate."""
    found = sorted(find_last(view), key=lambda one: (one.placement, one.rank))
    for _, own in groupby(found, key=lambda one: (one.placement, one.rank)):
        yield _make_finding(view, list(own))


def find_last(view: CampaignView) -> Iterator[Last]:
    """Yield the ranks that are the last ones of most cases; what has a root, or runs along the ranks, is not asked."""
    keys = [
        main_verdict.case.key
        for main_verdict in view.main_verdicts
        if is_symmetric(view.operations[main_verdict.case.operation]) and not view.short_of_cores(main_verdict.case)
    ]
    shares = view.last_ranks.filter(pl.col("case").is_in(keys), pl.col("ranks") >= FEWEST_RANKS)
    frame = shares.group_by("case", "candidate").len()
    every = {(row["case"], row["candidate"]) for row in frame.iter_rows(named=True)}
    logs = shares.with_columns(log=pl.col("last").log(), margin=pl.lit(math.log(MOST_OF)))
    found: dict[tuple[str, int, str], list[str]] = {}
    for contrast in judged(logs, ["case", "candidate", "rank"], view.campaign.plan.confidence):
        case, candidate, rank = contrast.key
        if contrast.sure and candidate in view.candidates:
            found.setdefault((view.case_of[case].placement, rank, candidate), []).append(case)
    for (place, rank, candidate), own in found.items():
        together = [key for key, name in every if name == candidate and view.case_of[key].placement == place]
        operations = {view.case_of[key].operation for key in own}
        if len(operations) >= FEWEST_OPERATIONS and len(own) > MOST_OF * len(together):
            mine = shares.filter(pl.col("case").is_in(own), candidate=candidate, rank=rank)
            share = float(mine.select(pl.col("last").mean()).item())
            yield Last(place, rank, candidate, [view.case_of[key] for key in keys if key in own], len(together), share)


def is_symmetric(operation: Operation) -> bool:
    """Return whether all ranks have the same part in an operation, so that none should end last by its nature."""
    along = operation.name in {"scan", "exscan"}
    alike = (operation.send, operation.receive) == (operation.root_send, operation.root_receive)
    return alike and not (operation.rooted or operation.rings or operation.between_two or along)


def _make_finding(view: CampaignView, found: Sequence[Last]) -> Finding:
    one = found[0]
    several = len(view.campaign.plan.placements) > 1
    texts = [
        say(
            "{share:.0%} of the samples of {n} of {all:count case} of {name}",
            share=own.share,
            n=len(own.cases),
            all=own.tested,
            name=own.candidate,
        )
        for own in found
    ]
    measured = {name for name in view.candidates if any(name == launch.candidate for launch in view.launches)}
    everywhere = len(found) == len(measured) > 1
    ends = say(
        "At {placement}, rank {rank} ends last in {told:and}, launch after launch."
        if several
        else "Rank {rank} ends last in {told:and}, launch after launch.",
        placement=one.placement,
        rank=_name_rank(view, one),
        told=texts,
    )
    why = say(
        "So it is with all candidates: what is slow is its CPU or what shares it, not a library."
        if everywhere
        else "So it is not with all candidates: the algorithms of these may end there by their nature."
    )
    return Finding(
        kind="last_rank",
        title=say(
            "Rank {rank} ends last at {placement}" if several else "Rank {rank} ends last",
            rank=one.rank,
            placement=one.placement,
        ),
        text=sentences([ends, why]),
        advice=say(
            "See what else runs on that CPU, whether it clocks lower or serves interrupts, and leave it out."
            if everywhere
            else "Balance matters to programs that go on at once: compare where other candidates end."
        ),
        cases=list(dict.fromkeys(case.key for own in found for case in own.cases)),
        severity="warning" if everywhere else "note",
        plot="ranks",
    )


def _name_rank(view: CampaignView, one: Last) -> Text:
    """Return the rank, with where it sat, if that was the same place in all launches."""
    seats = {
        (fact.host, fact.cpu)
        for launch in view.launches
        if launch.placement == one.placement
        for fact in launch.ranks
        if fact.rank == one.rank
    }
    if len(seats) != 1:
        return say("{rank}", rank=one.rank)
    host, cpu = seats.pop()
    return say("{rank} (CPU {cpu} of {host})", rank=one.rank, cpu=cpu, host=host)
