"""Nodes as reported by launches: nodes on one machine, and the cores of a job's nodes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes import campaigns, mark_thorough

from rankbench.analysis import evaluation
from rankbench.analysis.questions.nodes import complete_campaign, count_cores
from rankbench.language import render
from rankbench.model import UNKNOWN_MACHINE, Campaign, Launch, Placement, RankFact
from rankbench.store import Store

PLACES = (("1x1", 1), ("2x1", 2), ("3x1", 3))
WAITING = (
    "At 3x1, 3 ranks shared 2 cores. These values show how each library waits: one that spins may look a thousand "
    "times slower than with one core per rank."
)


def make_fact(rank: int, clock: str, cpus: str = "0-1") -> RankFact:
    """Return the report of a rank on a node of its own, which may run on two CPUs."""
    return RankFact(
        rank=rank, host=f"n{rank + 1}", cpu=rank % 2, cpus=cpus, clock=clock, libmpi="", core=rank % 2, socket=0
    )


def place_over_nodes(campaign: Campaign) -> Campaign:
    """Return the campaign with placements over one to three nodes."""
    places = [Placement(name=name, nodes=nodes, ranks_per_node=1, binding="none") for name, nodes in PLACES]
    return msgspec.structs.replace(campaign, plan=msgspec.structs.replace(campaign.plan, placements=places))


@pytest.mark.written
@pytest.mark.parametrize("scheduled", [mark_thorough(False), True])
@pytest.mark.parametrize(("clock", "short"), [("boot", True), ("boot/time:[{}]", True), ("boot-{}", False)])
def test_nodes_under_one_kernel_share_its_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: str, *, short: bool, scheduled: bool
) -> None:
    """Equal boots reported by their ranks, whatever the names of hosts; otherwise each node has its own cores."""
    store = campaigns.make_campaign(tmp_path / "made", launches=3, placements=[name for name, _ in PLACES], samples=10)
    store.campaign = place_over_nodes(store.campaign)
    if scheduled:
        store.campaign = msgspec.structs.replace(store.campaign, machine=UNKNOWN_MACHINE)
    stored = Store.launches

    def list_launches(self: Store) -> list[Launch]:
        return [
            msgspec.structs.replace(
                launch, ranks=[make_fact(rank, clock.format(rank)) for rank in range(dict(PLACES)[launch.placement])]
            )
            for launch in stored(self)
        ]

    monkeypatch.setattr(Store, "launches", list_launches)
    verdict = evaluation.evaluate(store).verdict
    texts = [render(finding.text) for finding in verdict.findings if finding.kind == "oversubscribed"]
    assert texts == ([WAITING] if short else [])
    conclusion = " ".join(render(claim.text) for claim in verdict.conclusion)
    assert ("with more ranks or threads than cores" in conclusion) == short
    nodes, this = ("n1, n2 and n3", "this machine (Example 9000, 2 cores)")
    where = f"on {nodes}, for" if scheduled else f"on {this}, for"
    if short:
        where = (
            f"on 3 emulated nodes of one machine ({nodes}), for" if scheduled else f"on {this} and on 3 emulated nodes"
        )
    assert f"Valid {where}" in conclusion


def test_a_job_without_launches_has_unknown_nodes() -> None:
    record = msgspec.structs.replace(place_over_nodes(campaigns.make_record()), machine=UNKNOWN_MACHINE)
    assert complete_campaign(record, []) == record
    assert not record.oversubscribed(4096, 3)


def test_two_threads_of_a_core_count_as_one_core() -> None:
    rank_fact = RankFact(rank=0, host="n1", cpu=0, cpus="0,64", clock="", libmpi="", core=0, socket=0)
    assert count_cores([rank_fact, msgspec.structs.replace(rank_fact, rank=1, cpu=64)]) == 1
    assert count_cores([rank_fact, msgspec.structs.replace(rank_fact, rank=1, cpu=1, cpus="1", core=1)]) == 3
