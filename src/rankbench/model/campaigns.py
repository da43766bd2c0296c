"""Campaigns: the record of one, what was imported, and its looks."""

from __future__ import annotations

import msgspec

from rankbench.model.base import Record
from rankbench.model.libraries import Candidate, Library, Receipt
from rankbench.model.machines import Machine, NodeNetwork
from rankbench.model.operations import Operation, Start
from rankbench.model.plans import Case, Plan


class ImportRecord(Record, frozen=True):
    """A file in which somebody else's figures were found."""

    file: str
    sha256: str
    tools: list[str]
    """With their versions, as far as they report them."""
    facts: dict[str, str] = {}
    """What the runs in it report about themselves, such as their machine and date."""
    remarks: list[str] = msgspec.field(default_factory=list, name="said")
    """What was found in it, and beside it, that a reader of its figures must know."""


class Usage(Record, frozen=True):
    """What a candidate's library uses in a placement, as the library reported it in a check before the campaign."""

    candidate: str
    placement: str
    uses: dict[str, str]
    """Such as transports, network devices, components, and where its algorithms come from."""
    ignored: list[str] = []
    """A clause on each setting or file that the library drops."""
    nodes: list[NodeNetwork] = []
    """What passed through the network devices of each node while the check sent known data between nodes."""


class Campaign(Record, frozen=True):
    """Run facts written once, when a campaign is made."""

    format: int
    name: str
    created: str
    rankbench: str
    plan: Plan
    seed: int
    machine: Machine
    libraries: list[Library]
    receipts: list[Receipt]
    candidates: list[Candidate]
    cases: list[Case]
    operations: list[Operation]
    notes: list[str]
    """What a reader must know: oversubscription, sizes left out, candidates that failed their check."""
    starts: list[Start] = []
    """What the core says of the starts of the cases."""
    imported: list[ImportRecord] = []
    """Of a campaign that was not run but read: the files, in the order in which they were named."""
    usage: list[Usage] = []
    """Empty: not known, as in campaigns whose checks a scheduler's job makes, until its first launches are read."""

    @property
    def baseline(self) -> str:
        """The name of the candidate that all others are compared with; empty: none, the question is who is fastest."""
        wanted = self.plan.baseline
        if not wanted or any(candidate.name == wanted for candidate in self.candidates):
            return wanted
        both = zip(self.plan.candidates, self.candidates, strict=False)
        return next((candidate.name for spec, candidate in both if spec.library == wanted), "")

    @property
    def once_operations(self) -> frozenset[str]:
        """Return the operations that happen once in a launch."""
        return frozenset(operation.name for operation in self.operations if operation.once)

    def ranks_per_machine(self, ranks_per_node: int, nodes: int) -> int:
        """Return the number of ranks, or threads of them, that have the cores of one machine."""
        return ranks_per_node * (nodes if any(placement.one_machine for placement in self.plan.placements) else 1)

    def oversubscribed(self, ranks_per_node: int, nodes: int) -> bool:
        """Return whether a machine has more ranks, or threads of them, than cores, as far as these are known."""
        return self.machine.short_of_cores(self.ranks_per_machine(ranks_per_node, nodes))

    def discards_overruns(self, case: Case) -> bool:
        """Return whether samples of the case that lasted longer than their window do not count."""
        return any(start.discards_overruns for start in self.starts if start.name == case.start)

    def scheduled(self, case: Case) -> bool:
        """Return whether times of the case are counted from a moment that ranks agreed on."""
        return any(start.scheduled for start in self.starts if start.name == case.start)


class Look(Record, frozen=True):
    """What a campaign that ends when it is decided saw when it looked. What later blocks measure follows from it."""

    block: int
    """The last of the blocks that it looked at."""
    decided: list[str]
    """Keys of cases that need no more blocks: the fastest candidate is known, or the candidates are equivalent."""
    given_up: list[str]
    """Those that the plan's blocks would hardly decide any more."""
    open: dict[str, list[str]]
    """Those that go on, with the candidates that are measured further; twins of the A/A control come with theirs."""
    until: int
    """The block after which all that is open should be decided, as figures are then."""
    winners: dict[str, list[str]]
    """By case, the candidates that may be fastest."""
