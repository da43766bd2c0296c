"""Campaigns: the record of one, what was imported, and its interim analyses."""

from __future__ import annotations

import msgspec

from rankbench.model.base import Record
from rankbench.model.libraries import Candidate, Library, Receipt
from rankbench.model.machines import Machine, NodeNetwork
from rankbench.model.operations import Operation, Start
from rankbench.model.plans import Case, Placement, Plan


class ImportRecord(Record, frozen=True):
    """A file with results of another program."""

    file: str
    sha256: str
    tools: list[str]
    """With versions, where the tools report them."""
    facts: dict[str, str] = {}
    """What the runs in it report about themselves, such as their machine and date."""
    remarks: list[str] = msgspec.field(default_factory=list, name="said")
    """Problems in it, and in files beside it, that a reader of its values must know."""


class Usage(Record, frozen=True):
    """What a candidate's library uses in a placement, as the library reported it in a check before the campaign."""

    candidate: str
    placement: str
    uses: dict[str, str]
    """For example transports, network devices, components, and the origin of its algorithms."""
    ignored: list[str] = []
    """One clause for each setting or file that the library ignores."""
    nodes: list[NodeNetwork] = []
    """What passed through the network devices of each node while the check sent known data between nodes."""


class Campaign(Record, frozen=True):
    """Facts of a campaign, written once when it begins."""

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
    """Oversubscription, omitted sizes, candidates that failed their check."""
    starts: list[Start] = []
    """The starts of the cases, as the core describes them."""
    imported: list[ImportRecord] = []
    """The files of an imported campaign, in the order of the arguments."""
    usage: list[Usage] = []
    """Empty: unknown, for example if the checks were made by a scheduler's job of which no launch has been read."""
    known_wrong: dict[str, list[str]] = {}
    """By library, the calls in which an earlier probe of its operations found wrong data, as `bcast.persistent`."""

    @property
    def baseline(self) -> str:
        """The candidate that all others are compared with; empty: the question is which one is fastest."""
        return self.find_candidate(self.plan.baseline)

    def find_candidate(self, wanted: str) -> str:
        """Return the candidate that a plan names, by its name or that of its library; empty: there is none."""
        if not wanted or any(candidate.name == wanted for candidate in self.candidates):
            return wanted
        both = zip(self.plan.candidates, self.candidates, strict=False)
        return next((candidate.name for spec, candidate in both if spec.library == wanted), "")

    def get_candidate(self, name: str) -> Candidate:
        """Return the candidate of that name."""
        return next(candidate for candidate in self.candidates if candidate.name == name)

    def get_library(self, candidate: Candidate) -> Library:
        """Return the library of a candidate."""
        return next(library for library in self.libraries if library.name == candidate.library)

    def get_placement(self, name: str) -> Placement:
        """Return the plan's placement of that name."""
        return next(placement for placement in self.plan.placements if placement.name == name)

    @property
    def once_operations(self) -> frozenset[str]:
        """Return the operations that run once per launch."""
        return frozenset(operation.name for operation in self.operations if operation.once)

    def ranks_per_machine(self, ranks_per_node: int, nodes: int) -> int:
        """Return the number of ranks, or of their threads, that share the cores of one machine."""
        return ranks_per_node * (nodes if any(placement.one_machine for placement in self.plan.placements) else 1)

    def oversubscribed(self, ranks_per_node: int, nodes: int) -> bool:
        """Return whether a machine has more ranks, or threads of ranks, than known cores."""
        return self.machine.short_of_cores(self.ranks_per_machine(ranks_per_node, nodes))

    def discards_overruns(self, case: Case) -> bool:
        """Return whether samples that exceed their window are discarded."""
        return any(start.discards_overruns for start in self.starts if start.name == case.start)

    def scheduled(self, case: Case) -> bool:
        """Return whether times of the case begin at a common, scheduled moment."""
        return any(start.scheduled for start in self.starts if start.name == case.start)


class Look(Record, frozen=True):
    """An interim analysis: what was decided after a block. It determines what later blocks measure."""

    block: int
    """The last block that it includes."""
    decided: list[str]
    """Keys of cases that need no more blocks: the fastest candidate is known, or the candidates are equivalent."""
    given_up: list[str]
    """Cases that the remaining blocks are unlikely to decide."""
    open: dict[str, list[str]]
    """Cases that continue, with the candidates still measured; A/A twins follow their candidate."""
    until: int
    """The block after which all open cases should be decided, if values stay as they are."""
    winners: dict[str, list[str]]
    """By case, the candidates that may be fastest."""
