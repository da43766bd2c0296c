"""What a sweep over a fleet measures, and what it finds."""

from __future__ import annotations

from typing import Literal, NamedTuple

from rankbench.model import Record

FORMAT = 1
"""Version of the file of a sweep."""


RATE = "B/s"


class Trait(NamedTuple):
    """A property of nodes, or of links between them."""

    name: str
    kind: str
    """The kind of round in which it is measured."""
    quantity: str
    """Its name in the core's stream."""
    unit: str
    verb: str
    """What a slow node does slowly: `sends`."""
    heading: str
    """Of its column in tables."""

    @property
    def is_rate(self) -> bool:
        """Return whether more is faster."""
        return self.unit == RATE


TRAITS = (
    Trait("compute", "nodes", "step_ns", "ns", "computes", "compute"),
    Trait("memory", "nodes", "copied_bytes_per_s", RATE, "copies memory", "memory"),
    Trait("shared", "nodes", "message_ns", "ns", "passes messages between its ranks", "shared memory"),
    Trait("line", "nodes", "line_ns", "ns", "passes cache lines between its cores", "cache line"),
    Trait("latency", "pairs", "message_ns", "ns", "answers", "latency"),
    Trait("sending", "pairs", "sent_bytes_per_s", RATE, "sends", "sending"),
    Trait("receiving", "pairs", "sent_bytes_per_s", RATE, "receives", "receiving"),
    Trait("cpu", "pairs", "stretch", "", "waits for its CPU and is", "CPU"),
    Trait("allreduce", "groups", "allreduce_ns", "ns", "takes part in allreduce", "allreduce"),
)
OF_CORES = ("compute", "memory")
"""Traits that single cores have, too."""
OF_LINKS = ("latency", "sending")
"""Traits that links have, too; that of sending is of one direction, from the first node to the second."""
TRAIT = {trait.name: trait for trait in TRAITS}
Of = Literal["node", "core", "link"]


class Finding(Record, frozen=True):
    """A node, a core or a link that is slower than the others, confirmed in launches after the one that chose it."""

    of: Of
    nodes: list[str]
    """The node; of a link, both, the sender first where it has a direction."""
    trait: str
    ratio: float
    """Times as slow as the others in the same rounds; the median over launches."""
    low: float
    high: float
    """The 95 % interval of that median."""
    slower: int
    launches: int
    """In how many launches it was slower than the others, of how many."""
    chance: float
    """The probability that one of equal nodes ranks as low among the others in these launches."""
    rank: int = -1
    """Of a core: the rank that was on it."""
    cpu: int = -1
    """Of a core: its number in the system."""


class NodeSpeed(Record, frozen=True):
    """What was measured of a node, over all rounds."""

    host: str
    values: dict[str, float]
    """The median, by trait."""
    ratios: dict[str, float]
    """Times as slow as the others in the same round, the median; by trait."""


class LinkSpeed(Record, frozen=True):
    """What was measured between two nodes."""

    nodes: tuple[str, str]
    trait: str
    ratio: float
    rounds: int


class Sweep(Record, frozen=True):
    """A sweep over a fleet."""

    format: int
    version: str
    """Of rankbench."""
    began: str
    seconds: float
    library: str
    library_version: str
    ranks_per_node: int
    seed: int
    rounds: int
    """Rounds of pairs in the first launch."""
    launches: int
    threshold: float
    """The smallest relevant difference."""
    alarm: float
    """The probability that a sweep of equal nodes finds anything."""
    suspects: int
    """How many were measured again."""
    left_out: int
    """How many more looked slow at first, and were not measured again."""
    nodes: list[NodeSpeed]
    links: list[LinkSpeed]
    findings: list[Finding]
