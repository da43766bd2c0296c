"""The nodes of a campaign as its launches show them: nodes of a job are not known before, emulated ones share cores."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text, say
from rankbench.launch.topology import parse_list
from rankbench.model import UNKNOWN_MACHINE, Campaign, Launch, RankFact, list_rank_sets


def complete_campaign(campaign: Campaign, launches: Sequence[Launch]) -> Campaign:
    """Return the campaign with what its launches show: which machine it ran on, and whether nodes share one."""
    machines = [ranks for together in list_rank_sets(launches) for ranks in split_by_machine(together)]
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


def describe_place(view: CampaignView) -> Text:
    """Return where a campaign ran: `on this machine (Example 9000, 2 cores)`, `on n1 and n2`, `on the nodes of job 17`.

    Nodes that are emulated are named as such.
    """
    machine, placements = view.campaign.machine, view.campaign.plan.placements
    emulated = max((place.nodes for place in placements if place.one_machine and place.nodes > 1), default=0)
    if not machine.cpu:
        hosts = machine.host.split(", ") if machine.host else []
        jobs = dict.fromkeys(launch.job for launch in view.launches if launch.job)
        if hosts and emulated:
            return say("on {n:count emulated node} of one machine ({hosts:and})", n=emulated, hosts=hosts)
        if hosts:
            return say("on {hosts:and}", hosts=hosts)
        return say("on the nodes of job {jobs:and}", jobs=jobs) if jobs else say("on the nodes that it had")
    kind = say("virtual machine") if machine.virtual else say("machine")
    this = say("this {kind} ({cpu}, {n:count core})", kind=kind, cpu=machine.cpu, n=machine.cores)
    if not emulated:
        return say("on {this}", this=this)
    nodes = say("{n:count emulated node}", n=emulated)
    only = all(place.nodes > 1 for place in placements)
    text = say("on {nodes} of {this}" if only else "on {this} and on {nodes} of it", this=this, nodes=nodes)
    return say("{place} with links of {links}", place=text, links=machine.links) if machine.links else text


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
