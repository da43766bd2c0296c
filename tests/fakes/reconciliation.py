"""Campaigns in which the core and a foreign tool alternate, with planted ratios: only the machine differs by block."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

import fakes
from fakes import campaigns
from rankbench import store
from rankbench.foreign.tools import osu
from rankbench.model import ALL_RANKS, Campaign, Case, CaseResult, CaseStatus, Operation, Series
from rankbench.store import Store

BLOCKS = 6
CORE = {operation.name: operation for operation in fakes.read_description().operations}
OSU = {operation.name: operation for operation in osu.OPERATIONS}
SYMMETRIC = (0.9, 1.0, 1.1)
SKEWED = (0.8, 1.0, 1.5)
"""Samples relative to their median; the mean is 1.1."""
STATES = (1.0, 1.4, 0.8, 1.1, 2.0, 0.7)
"""The machine's factor on all times of a block."""


class Planted(NamedTuple):
    """A case with its samples before the machine's factor."""

    case: Case
    times_ns: Sequence[float]
    bytes: int = 0
    messages: int = 0
    blocks: int = BLOCKS


def make_case(operation: Operation, size_bytes: int = 8, **changes: object) -> Case:
    """Return a case of an operation as it is usually measured."""
    foreign = operation.foreign
    case = campaigns.make_case(operation, operation.form, size_bytes, "socket")
    return msgspec.structs.replace(case, suite=foreign.suite if foreign else "", **changes)


def make_record(cases: Sequence[Case], candidates: Sequence[str] = ("alpha",), *, control: bool = False) -> Campaign:
    """Return the record of a campaign with the operations of the core and of OSU."""
    campaign = campaigns.make_record("reconcile", cases, candidates, control=control)
    return msgspec.structs.replace(campaign, operations=[*CORE.values(), *OSU.values()])


def make_store(folder: Path, planted: Sequence[Planted], *, control: bool = False) -> Store:
    """Store blocks in which each case has its samples, times the factor of the block."""
    campaign_store = store.create(folder / "made", make_record([entry.case for entry in planted], control=control))
    numbers = itertools.count(1)
    for block, candidate in itertools.product(range(1, BLOCKS + 1), campaign_store.campaign.candidates):
        for entry in planted:
            if block <= entry.blocks:
                launch = campaigns.make_launch(next(numbers), block, 0, candidate.name, "socket")
                campaign_store.append(launch, [make_result(entry, STATES[block - 1])])
    return campaign_store


def make_result(entry: Planted, state: float) -> CaseResult:
    """Return the result of a case in a block."""
    times = [round(state * time_ns, 6) for time_ns in entry.times_ns]
    return CaseResult(
        case=entry.case,
        status=CaseStatus.OK,
        sample_count=len(times),
        valid=len(times),
        ranks=2,
        moved_bytes=entry.bytes,
        moved_messages=entry.messages,
        series=[Series(rank=ALL_RANKS, time_ns=times, last_rank=[], late=[], overrun=[])],
    )


def plant_allreduce(rest: float = 1.05) -> list[Planted]:
    """Plant a core of 1 µs, 1.2 times that after a barrier with a mean of 1.1 medians, and the tool's own part."""
    return [
        Planted(make_case(CORE["allreduce"]), [1000 * value for value in SYMMETRIC], 16, 2),
        Planted(make_case(CORE["allreduce"], start="library-barrier"), [1200 * value for value in SKEWED], 16, 2),
        Planted(make_case(OSU["osu-allreduce"], datatype="float"), [1200 * 1.1 * rest]),
    ]
