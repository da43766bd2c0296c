"""Plans, and the cases that they come to."""

from __future__ import annotations

import functools
from typing import Literal, cast

import msgspec

from rankbench.model.base import ROTATING, THREADS, Binding, Buffers, Cache, Form, Launcher, Pages, Quantity, Record


class Placement(Record, frozen=True):
    """Where ranks sit: `nodes` x `ranks_per_node`; `binding` is `core` or hardware `thread` (one each) or `none`."""

    name: str
    nodes: int
    ranks_per_node: int
    binding: Binding
    cpus: list[list[int]] = []
    """Of each rank of a node, the CPUs that are its core's hardware threads; empty: launchers fill cores in order."""
    ordinals: list[int] = []
    """The same cores, or threads, as hwloc counts them."""
    hosts: list[str] = []
    """The nodes, as launchers reach them; empty: the machine itself."""
    remote_shell: str = ""
    """The program that starts commands on them, called as ssh is; empty: each launcher's own."""
    launcher: Launcher = "mpiexec"
    """What starts the ranks: the library's own `mpiexec`, or `srun`, the scheduler's."""
    one_machine: bool = False
    """Whether the nodes are emulated on one machine, whose cores they share."""

    @property
    def ranks(self) -> int:
        """Return the number of ranks in the world."""
        return self.nodes * self.ranks_per_node

    @property
    def ranks_per_machine(self) -> int:
        """Return the number of ranks that have the cores of one machine."""
        return self.ranks if self.one_machine else self.ranks_per_node


class CandidateSpec(Record, frozen=True):
    """A candidate as the plan names it. `library` is a name, a family, or `family==version`."""

    library: str
    name: str = ""
    settings: dict[str, str] = {}
    compiler: str = ""
    """The C compiler that its core is compiled by, as a command such as `clang`; empty: the wrapper's own."""
    binary_of: str = ""
    """A library, named as `library` is, whose wrapper makes the binary; the two share an ABI."""


SITE_MEMORY = "site"
"""The memory of a job that leaves it to the site."""


class Job(Record, frozen=True):
    """What a plan asks of a scheduler. Empty text, 0 and false leave it to the site."""

    scheduler: str = ""
    """Name of a file of `launch/schedulers`."""
    nodes: int = 0
    """Those of the largest placement at least."""
    tasks_per_node: int = 0
    tasks_per_socket: int = 0
    time_s: float = 0.0
    partition: str = ""
    """Or queue."""
    account: str = ""
    nodelist: str = ""
    """In the scheduler's own notation."""
    exclusive: bool = True
    contiguous: bool = False
    memory: str = ""
    """Of a node, such as `64G`; empty: all of it where `exclusive`; `site`: what the site gives by default."""
    launcher: Launcher = "mpiexec"
    options: list[str] = []
    """Further options of the scheduler, as its job scripts have them."""
    setup: list[str] = []
    """Lines of bash before the first launch."""


class Calls(Record, frozen=True):
    """How often, or in what proportion, an application makes one call."""

    operation: str
    size_bytes: int
    """As the operation counts its message size."""
    calls: float
    form: Form | Literal[""] = ""
    """Empty: the form that the campaign measured, the operation's usual one if it did."""


class Stop(Record, frozen=True):
    """When a campaign ends: between `blocks_min` and `blocks_max` launches per candidate, earlier by `until`."""

    blocks_min: int = 5
    blocks_max: int = 60
    until: str = "decided"
    """`decided`, `answered`, `blocks`, `precision N%` or `time Nm`."""
    drop: bool = False
    """With `decided`: whether candidates leave the cases that they cannot win any more."""
    past: list[int] = []
    """Blocks after which figures were looked at before this rule replaced another, in rising order."""


FILLED = 5
"""Times the samples wanted that a case takes at most where it may fill a time."""


class Sampling(Record, frozen=True):
    """When the core stops taking samples of a case: at whichever of these comes first, or at the case's time limit."""

    good: int = 100
    """Valid samples wanted."""
    tries: int = 0
    """Most samples taken, valid or not; 0 leaves it to the core."""
    rse: float = 0.0
    """Enough once the relative standard error of the mean is at most this; 0 is off."""
    interval: float = 0.0
    """Enough once half the 95 % interval of the median is at most this share of it; 0 is off."""
    least: int = 10
    """Valid samples before `rse` or `interval` may stop."""
    fill_s: float = 0.0
    """Beyond `good`, up to FILLED times as many are taken while the case has been timed for less."""
    passes: int = 1
    """How often a launch goes over its cases, each time for a part of the samples: so it sees more than a moment."""


class Memory(Record, frozen=True):
    """The state of the message buffers, and the root, of a case."""

    cache: Cache = "warm"
    """`cold`: buffers are rotated through more than the last-level cache holds."""
    buffers: Buffers = "separate"
    pages: Pages = "touched"
    """`untouched`: given back to the system before every call, which then meets fresh pages."""
    alignment: int = 0
    """Bytes, a power of two: a multiple of it and not of its double; 0: the beginning of a page."""
    root: int = 0
    """A rank, or ROTATING: round k has root k modulo the number of ranks."""

    @property
    def label(self) -> str:
        """Return what differs from the default, for people: `cold, in-place, aligned to 64`; empty if nothing does."""
        return ", ".join(self._list_labels("huge pages", "untouched pages", "aligned to ", "root ", "rotating root"))

    @property
    def suffix(self) -> str:
        """Return the same as a case's key has it: `.cold.in-place.huge.a64.rotating`."""
        return "".join(f".{word}" for word in self._list_labels("huge", "untouched", "a", "root", "rotating"))

    def _list_labels(self, huge: str, untouched: str, aligned: str, root: str, rotating: str) -> list[str]:
        words = {
            "cold": self.cache == "cold",
            "in-place": self.buffers == "in-place",
            huge: self.pages == "huge",
            untouched: self.pages == "untouched",
            f"{aligned}{self.alignment}": self.alignment != 0,
            f"{root}{self.root}": self.root > 0,
            rotating: self.root == ROTATING,
        }
        return [word for word, differs in words.items() if differs]


class SuiteSpec(Record, frozen=True):
    """Where the programs of a foreign tool are, and how they are called."""

    name: str
    """As its file in `suites/tools` is called."""
    path: str = ""
    """The folder of its programs, in which `{library}`, `{family}` and `{version}` stand for each library's own."""
    source: str = ""
    """A tarball that is built for each library."""
    modules: list[str] = []
    """Environment modules that put them on PATH, loaded after those of each library."""
    arguments: list[str] = []
    """Further arguments of its programs."""


class Plan(Record, frozen=True):
    """A checked plan. What only the core knows, such as names of operations, is checked when cases are made."""

    question: str
    candidates: list[CandidateSpec]
    operations: list[str]
    forms: list[Form]
    """Each case is made in each of them that its operation has; empty: in each operation's usual one."""
    sizes_bytes: list[int]
    placements: list[Placement]
    """Where one of several nodes is meant, it has the plan's hosts."""
    starts: list[str]
    """Each case is made with each of them; `auto` is each operation's own."""
    sampling: Sampling
    case_limit_s: float
    """Longest time one case is timed in one launch, once it has a valid sample."""
    launch_limit_s: float
    """After this long without a sign of life from the core, a launch counts as hung."""
    stop: Stop
    control: bool
    threshold: float
    """Practical threshold: 0.03 calls differences below 3 % not worth showing."""
    seed: int
    text: str
    """The TOML as written."""
    file: str = ""
    """Where it was read from, as errors name it."""
    memory: list[Memory] = msgspec.field(default_factory=lambda: [Memory()])
    """Each case is made with each of them, as far as it makes a difference."""
    clock: str = "auto"
    """Name of the time source; `auto`: the core chooses and says why."""
    synchronisation: str = "tree"
    datatypes: list[str] = []
    """Each case is made with each of them that its operation can use; empty: each operation's own."""
    options: dict[str, list[str]] = {}
    """By name of an option, or OPERATION.NAME: cases are made with each of these values, where the operation has it."""
    settings: dict[str, dict[str, str]] = {}
    """Control variables of the library by the names under which cases carry them, by the option `settings`."""
    calls: list[Calls] = []
    """Of the reader's application: the verdict says what they come to."""
    every_pair: bool = False
    """Whether what is between two ranks is measured between every two of them."""
    every_rank: bool = False
    """Whether the samples of every rank are kept beside those over all ranks."""
    together: bool | int = True
    """Whether the candidates' launches of a block run at the same time and measure in turn, where they can."""
    each_call: bool = False
    """Whether each call is timed singly, however short it is beside a reading of the clock."""
    baseline: str = ""
    """The candidate that all others are compared with, as `candidates` names it; empty: who is fastest is asked."""
    estimator: str = "median"
    """Of a launch: `median`, `min`, `mean`, `trimmed-mean`, or a percentile such as `p90`."""
    confidence: float = 0.95
    """Of intervals: 0.90, 0.95 or 0.99."""
    notes: list[str] = []
    """What of the plan does not hold on this machine, such as placements that it has no room for."""
    job: Job = Job()
    suites: list[SuiteSpec] = []
    """Of the foreign tools whose benchmarks are among the operations, what is said of where they are."""


class Case(Record, frozen=True, dict=True):
    """Everything that defines a number, less the candidate. It remembers its key, which is no field of it."""

    operation: str
    form: Form
    size_bytes: int
    datatype: str
    placement: str
    ranks: int
    start: str
    memory: Memory = Memory()
    options: dict[str, str] = {}
    """What was chosen of the operation's options, less what is usual, sorted by name."""
    suite: str = ""
    """The foreign tool that measures it; empty: the core."""

    def __hash__(self) -> int:
        """Return a hash as if options were a tuple."""
        return hash(self.key)

    @functools.cached_property
    def key(self) -> str:
        """Return what identifies the case within a campaign: `allreduce.blocking.1024.float.1x2.window`.

        What its memory and options have other than by default follows: `....window.cold.in-place.arrival=random`.
        """
        words = (self.operation, self.form, str(self.size_bytes), self.datatype, self.placement, self.start)
        chosen = "".join(f".{name}={value}" for name, value in self.options.items())
        return ".".join(words) + self.memory.suffix + chosen

    @property
    def quantity(self) -> Quantity:
        """Return what its samples are."""
        return cast("Quantity", self.options.get("quantity", "time"))

    @property
    def launch_group(self) -> str:
        """Return what sets it apart: cases of different groups never share a launch.

        Threads need a library initialised for them, which costs all calls; memory is measured where little else ran; a
        foreign tool is a program for each benchmark.
        """
        if self.suite:
            return f"{self.operation} {self.form}"
        if self.quantity == "memory":
            return "memory"
        return THREADS if self.options.get("threads", "1") != "1" else ""
