"""Campaigns at many numbers of nodes and ranks per node: a function gives a candidate's time, or how it ends."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

import fakes
from fakes import campaigns
from rankbench import store
from rankbench.model import ALL_RANKS, Campaign, Case, CaseResult, CaseStatus, Placement, Series
from rankbench.store import Store

if TYPE_CHECKING:
    OutcomeOf = Callable[[str, Case, Placement], float | CaseStatus]

NODES, RANKS = (1, 2, 3, 4, 6, 8, 12), (1, 2, 4)
STUDY = tuple(
    f"{library}+{compiler}"
    for library in ("mpich-5.0.2", "openmpi-5.0.11", "intel-mpi")
    for compiler in ("gcc", "clang")
)
"""Three libraries by two compilers."""
SAMPLES = 5


def make_placements(nodes: Sequence[int], ranks: Sequence[int]) -> list[Placement]:
    """Return every number of nodes with every number of ranks per node."""
    return [
        Placement(name=f"{node}x{rank}", nodes=node, ranks_per_node=rank, binding="core")
        for node, rank in itertools.product(nodes, ranks)
    ]


def make_case(operation: str, size_bytes: int, placement: Placement) -> Case:
    """Return the case of all ranks of a placement."""
    chosen = next(
        operation_facts for operation_facts in fakes.read_description().operations if operation_facts.name == operation
    )
    return Case(
        operation=operation,
        form=chosen.form,
        size_bytes=size_bytes if chosen.sized else 0,
        datatype=chosen.datatype,
        placement=placement.name,
        ranks=placement.ranks,
        start=chosen.start,
    )


def make_record(
    name: str,
    candidates: Sequence[str],
    operations: Sequence[str],
    sizes: Sequence[int],
    places: list[Placement],
    cores: int,
) -> Campaign:
    """Return the record of the campaign."""
    cases = [make_case(operation, size, place) for place in places for operation in operations for size in sizes]
    campaign = campaigns.make_record(name, list(dict.fromkeys(cases)), candidates, control=False)
    plan = msgspec.structs.replace(
        campaign.plan, placements=places, operations=list(operations), sizes_bytes=list(sizes)
    )
    return msgspec.structs.replace(campaign, plan=plan, machine=fakes.make_machine(cores))


def make_store(
    folder: Path,
    outcome: OutcomeOf,
    *,
    nodes: Sequence[int] = (1, 2, 4, 8),
    ranks: Sequence[int] = (1, 2),
    candidates: Sequence[str] = campaigns.CANDIDATES,
    operations: Sequence[str] = ("allreduce",),
    sizes: Sequence[int] = (8,),
    launches: int = 6,
    spread: float = 0.01,
    cores: int = 4,
    seed: int = 1,
) -> Store:
    """Write the campaign into a store; `spread` is that of launches, as the standard deviation of a logarithm."""
    campaign = make_record(folder.name, candidates, operations, sizes, make_placements(nodes, ranks), cores)
    campaign_store = store.create(folder, campaign)
    random, numbers = np.random.default_rng(seed), itertools.count(1)
    for block, name, place in itertools.product(range(1, launches + 1), candidates, campaign.plan.placements):
        cases = [case for case in campaign.cases if case.placement == place.name]
        results = [make_result(case, place, outcome(name, case, place), random.lognormal(0, spread)) for case in cases]
        campaign_store.append(
            campaigns.make_launch(next(numbers), block, 0, name, place.name, results[-1].status), results
        )
    return campaign_store


def make_result(case: Case, place: Placement, outcome: float | CaseStatus, factor: float) -> CaseResult:
    """Return a case of one launch: a few samples almost alike, or how it ended."""
    if isinstance(outcome, CaseStatus):
        return CaseResult(case=case, status=outcome, reason=campaigns.REASONS[outcome])
    times = [round(outcome * factor * (1 + index / 10000), 2) for index in range(SAMPLES)]
    return CaseResult(
        case=case,
        status=CaseStatus.OK,
        sample_count=SAMPLES,
        valid=SAMPLES,
        stopped="samples",
        ranks=place.ranks,
        moved_bytes=case.size_bytes * place.ranks * (place.ranks - 1 if case.operation == "alltoall" else 1),
        moved_messages=place.ranks,
        series=[Series(rank=ALL_RANKS, time_ns=times, last_rank=[0] * SAMPLES, late=[], overrun=[])],
    )
