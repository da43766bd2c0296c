"""Stores of rings with known truth: the time of a round without hops and of each hop, by candidate."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

import fakes
from fakes import campaigns
from rankbench import store
from rankbench.model import ALL_RANKS, Case, CaseResult, CaseStatus, Placement, Series
from rankbench.store import Store

HOP_NS = {"alpha": 400.0, "beta": 800.0}
SELF_NS = 150.0
"""A rank that sends to itself needs neither the ground time nor a hop."""
GROUND_NS = 100.0
SLOW_SHARE, SLOW_FACTOR = 0.03, 2.0
"""Share of beta's rounds that take longer, and their factor."""
SQUARES = {1: 1, 4: 2, 9: 3, 16: 4}
"""The extent of the square grid of so many ranks, which is also the length of its rings."""


def make_store(
    folder: Path,
    placements: Sequence[tuple[int, int]] = ((1, 1), (1, 4), (1, 9)),
    *,
    cores: int = 16,
    launches: int = 6,
    samples: int = 400,
    directions: Sequence[str] = ("right",),
    spread: float = 0.01,
    reorder: bool = False,
) -> Store:
    """Write a campaign with placements of nodes x ranks on nodes with so many cores; return its store."""
    sites = [
        Placement(name=f"{nodes}x{ranks}", nodes=nodes, ranks_per_node=ranks, binding="core")
        for nodes, ranks in placements
    ]
    wanted = [make_case(site, way, reorder=reorder) for site in sites for way in directions]
    record = campaigns.make_record(folder.name, wanted, control=False, samples=samples)
    plan = msgspec.structs.replace(record.plan, placements=sites, operations=["ring"], sizes_bytes=[4])
    campaign_store = store.create(folder, msgspec.structs.replace(record, plan=plan, machine=fakes.make_machine(cores)))
    random, numbers = np.random.default_rng(1), itertools.count(1)
    for block, name, site in itertools.product(range(1, launches + 1), campaigns.CANDIDATES, sites):
        launched = campaigns.make_launch(next(numbers), block, 0, name, site.name)
        results = [make_result(case, name, random, samples, spread) for case in wanted if case.placement == site.name]
        campaign_store.append(launched, results)
    return campaign_store


def make_case(site: Placement, direction: str, *, reorder: bool = False) -> Case:
    """Return the ring of one integer in a direction; with `reorder` beta moves ranks."""
    chosen = {"direction": direction} if direction != "right" else {}
    return Case(
        operation="ring",
        form="blocking",
        size_bytes=4,
        datatype="int",
        placement=site.name,
        ranks=site.ranks,
        start="none",
        options=chosen | ({"reorder": "yes"} if reorder else {}),
    )


def find_typical_ns(candidate: str, hops: int) -> float:
    """Return the true median of a round."""
    return SELF_NS if hops == 1 else GROUND_NS + hops * HOP_NS[candidate]


def make_result(case: Case, candidate: str, random: np.random.Generator, samples: int, spread: float) -> CaseResult:
    """Return one case of one launch: a series for each edge rank, and that of the slowest ring of each round."""
    extent = SQUARES[case.ranks]
    level = find_typical_ns(candidate, extent) * random.lognormal(0, spread)
    slow = random.random((extent, samples)) < (SLOW_SHARE if candidate == "beta" else 0)
    times = level * random.lognormal(0, 0.02, (extent, samples)) * np.where(slow, SLOW_FACTOR, 1)
    step = extent if case.options.get("direction", "right") in {"right", "left"} else 1
    rings = [
        Series(rank=edge * step, time_ns=times[edge].round(1).tolist(), last_rank=[], late=[], overrun=[])
        for edge in range(extent)
    ]
    last = (times.argmax(axis=0) * step).tolist()
    column = Series(rank=ALL_RANKS, time_ns=times.max(axis=0).round(1).tolist(), last_rank=last, late=[], overrun=[])
    return CaseResult(
        case=case,
        status=CaseStatus.OK,
        sample_count=samples,
        valid=samples,
        stopped="samples",
        grid=[extent, extent],
        order=list(reversed(range(case.ranks))) if "reorder" in case.options and candidate == "beta" else [],
        hops=extent,
        series=[column, *rings],
    )
