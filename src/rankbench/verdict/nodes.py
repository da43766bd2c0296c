"""The nodes of a campaign as its launches show them: nodes of a job are not known before, emulated ones share cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from rankbench.launch.topology import parse_list
from rankbench.model import UNKNOWN_MACHINE

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rankbench.model import Campaign, Launch, RankFact


def complete_campaign(campaign: Campaign, launches: Sequence[Launch]) -> Campaign:
    """Return the campaign with what its launches show: which machine it ran on, and whether nodes share one."""
    machines = [ranks for launch in launches for ranks in split_by_machine(launch.ranks)]
    if any(len({rank.host for rank in ranks}) > 1 for ranks in machines):
        placements = [
            msgspec.structs.replace(placement, one_machine=placement.nodes > 1 or placement.one_machine)
            for placement in campaign.plan.placements
        ]
        planned = msgspec.structs.replace(campaign.plan, placements=placements)
        campaign = msgspec.structs.replace(campaign, plan=planned)
    if campaign.machine != UNKNOWN_MACHINE or campaign.imported or not machines:
        return campaign
    hosts = dict.fromkeys(rank.host for ranks in machines for rank in ranks)
    machine = msgspec.structs.replace(UNKNOWN_MACHINE, host=", ".join(hosts), cores=max(map(count_cores, machines)))
    return msgspec.structs.replace(campaign, machine=machine)


def split_by_machine(ranks: Sequence[RankFact]) -> list[list[RankFact]]:
    """Return the ranks of a launch by the kernel that they ran under, where that is known, else by host."""
    by_kernel: dict[str, list[RankFact]] = {}
    for rank in ranks:
        boot, _, _ = rank.clock.partition("/")
        by_kernel.setdefault(boot if boot and " " not in boot else f"host {rank.host}", []).append(rank)
    return list(by_kernel.values())


def count_cores(ranks: Collection[RankFact]) -> int:
    """Return the number of cores that ranks of a machine may run on; a CPU where none of them ran counts as one."""
    core = {rank.cpu: (rank.socket, rank.core) for rank in ranks if rank.core >= 0}
    return len({core.get(cpu, cpu) for rank in ranks for cpu in parse_list(rank.cpus)})
