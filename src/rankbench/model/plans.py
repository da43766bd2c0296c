"""Plans, and the cases that follow from them."""

from __future__ import annotations

import functools
from typing import Literal, cast

import msgspec

from rankbench.model.base import (
    LEVEL,
    MEMORY_GROUPS,
    MULTIPLE,
    ROTATING,
    THREADS,
    Binding,
    Buffers,
    Cache,
    Form,
    Launcher,
    Pages,
    Quantity,
    Record,
)


class Placement(Record, frozen=True):
    """Where ranks sit: `nodes` x `ranks_per_node`; `binding` is `core` or hardware `thread` (one each) or `none`."""

    name: str
    nodes: int
    ranks_per_node: int
    binding: Binding
    cpus: list[list[int]] = []
    """For each rank of a node, the hardware threads of its core; empty: launchers fill cores in order."""
    ordinals: list[int] = []
    """The same cores, or threads, as hwloc counts them."""
    hosts: list[str] = []
    """The nodes, as launchers reach them; empty: the machine itself."""
    remote_shell: str = ""
    """An ssh-like program that starts commands on them; empty: each launcher's default."""
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
        """Return the number of ranks that share the cores of one machine."""
        return self.ranks if self.one_machine else self.ranks_per_node

    def take_first(self, ranks: int) -> Placement:
        """Return the placement of the first ranks, of the same name; `ranks` are on one node, or fill several."""
        each = min(ranks, self.ranks_per_node)
        nodes = ranks // each
        return msgspec.structs.replace(
            self,
            nodes=nodes,
            ranks_per_node=each,
            cpus=self.cpus[:each],
            ordinals=self.ordinals[:each],
            hosts=self.hosts[:nodes],
        )


class CandidateSpec(Record, frozen=True):
    """A candidate of the plan. `library` is a name, a family, or `family==version`."""

    library: str
    name: str = ""
    settings: dict[str, str] = {}
    compiler: str = ""
    """The command of the C compiler for its core, such as `clang`; empty: the wrapper's default."""
    binary_of: str = ""
    """A library, named like `library`, whose wrapper builds the binary; the two share an ABI."""
    launcher: list[str] = []
    """Words of the command line that starts its ranks, with placeholders; empty: the placement's launcher."""
    wrap: list[str] = []
    """Words before its compiler wrapper and before the program of each rank, such as `apptainer exec image.sif`."""


NOT_REPORTED = "not-reported"
"""The start of calls, or the placement of ranks, that nobody says."""
SITE_MEMORY = "site"
"""The value of `memory` that leaves it to the site."""


class Job(Record, frozen=True):
    """The requests of a plan to a scheduler. Empty text, 0 and false leave them to the site."""

    scheduler: str = ""
    """Name of a file of `launch/schedulers`."""
    nodes: int = 0
    """At least those of the largest placement."""
    tasks_per_node: int = 0
    tasks_per_socket: int = 0
    sockets: int = 0
    """Of a node, as the plan states it; 0: as where rankbench runs."""
    cores_per_socket: int = 0
    threads_per_core: int = 1
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
    """How often an application makes one call, or which share of its time it is."""

    operation: str
    size_bytes: int
    """As the operation counts its message size."""
    calls: float
    """0 where a share is given."""
    form: Form | Literal[""] = ""
    """Empty: the operation's default form if it was measured, else the measured one."""
    share: float = 0.0
    """Of the application's time in MPI; 0: not given."""
    most_bytes: int = 0
    """End of a range of sizes that begins with `size_bytes`, over which calls are spread evenly; 0: one size."""
    ranks: int = 0
    """Of its communicator; 0: those of any placement."""
    datatype: str = ""
    """Empty: the operation's usual one."""
    options: dict[str, str] = {}
    """Options of the operation, such as how ranks arrive."""
    seconds: float = 0.0
    """What a rank spent in all of them where they were recorded; 0: not known."""
    waiting_s: float = 0.0
    """The part of it in which the rank waited for others to arrive."""


class Uncovered(Record, frozen=True):
    """A part of a program's time in MPI that is not measured."""

    what: str
    """The calls, and why."""
    share: float
    """Of the time in MPI."""


class Recorded(Record, frozen=True):
    """The run in which the calls of a plan were recorded. Times are means over its ranks."""

    file: str
    """Absolute path of the record."""
    library: str = ""
    """Name of the library; empty: the file does not say it."""
    version: str = ""
    ranks: int = 0
    nodes: int = 0
    seconds: float = 0.0
    """From MPI_Init to MPI_Finalize."""
    mpi_s: float = 0.0
    """In calls of MPI."""
    waiting_s: float = 0.0
    """Of these, until a later rank or partner came."""
    several_threads: bool = False
    """Whether more than one thread of a rank called."""
    thread_multiple: bool = False
    """Whether its library was initialised with MPI_THREAD_MULTIPLE."""
    uncovered: list[Uncovered] = []

    @property
    def covered(self) -> float:
        """Return the share of the time in MPI that the plan's calls stand for."""
        return 1 - sum(part.share for part in self.uncovered)


class Stop(Record, frozen=True):
    """When a campaign ends: between `blocks_min` and `blocks_max` launches per candidate, earlier by `until`."""

    blocks_min: int = 5
    blocks_max: int = 60
    until: str = "decided"
    """`decided`, `answered`, `blocks`, `precision N%` or `time Nm`."""
    drop: bool = False
    """With `decided`: whether candidates are dropped from cases that they can no longer win."""
    past: list[int] = []
    """Blocks after which an earlier rule made its interim analyses, ascending."""


FILLED = 5
"""Upper limit of samples, as a multiple of those wanted, if a case may fill a time."""


class Sampling(Record, frozen=True):
    """When the core stops taking samples of a case: at whichever of these comes first, or at the case's time limit."""

    good: int = 100
    """Valid samples wanted."""
    tries: int = 0
    """Maximum number of samples, valid or not; 0: the core's default."""
    rse: float = 0.0
    """Stop at this relative standard error of the mean; 0: off."""
    interval: float = 0.0
    """Stop when half the 95% interval of the median is at most this share of it; 0: off."""
    least: int = 10
    """Minimum of valid samples for `rse` and `interval`."""
    fill_s: float = 0.0
    """Continue beyond `good`, up to FILLED times as many samples, until the case was timed for this long."""
    passes: int = 1
    """Visits of a launch to each case, each for a part of the samples, so that they cover more than one moment."""


class Memory(Record, frozen=True):
    """The state of the message buffers, and the root, of a case."""

    cache: Cache = "warm"
    """`cold`: buffers are rotated through more than the last-level cache holds; `written`: before each call a rank
    writes what it sends, and reads what it received.
    """
    buffers: Buffers = "separate"
    pages: Pages = "touched"
    """`untouched`: given back to the system before every call, which then meets fresh pages."""
    alignment: int = 0
    """Bytes, a power of two: addresses are multiples of it but not of its double; 0: the beginning of a page."""
    root: int = 0
    """A rank, or ROTATING: round k has root k modulo the number of ranks."""

    @property
    def label(self) -> str:
        """Return the differences from the default in words: `cold, in-place, aligned to 64`; empty if nothing does."""
        return ", ".join(self._list_labels("huge pages", "untouched pages", "aligned to ", "root ", "rotating root"))

    @property
    def suffix(self) -> str:
        """Return the same as part of a case's key: `.cold.in-place.huge.a64.rotating`."""
        return "".join(f".{word}" for word in self._list_labels("huge", "untouched", "a", "root", "rotating"))

    def _list_labels(self, huge: str, untouched: str, aligned: str, root: str, rotating: str) -> list[str]:
        words = {
            "cold": self.cache == "cold",
            "written": self.cache == "written",
            "in-place": self.buffers == "in-place",
            huge: self.pages == "huge",
            untouched: self.pages == "untouched",
            f"{aligned}{self.alignment}": self.alignment != 0,
            f"{root}{self.root}": self.root > 0,
            rotating: self.root == ROTATING,
        }
        return [word for word, differs in words.items() if differs]


class SuiteSpec(Record, frozen=True):
    """Where the programs of another benchmark are, and how to call them."""

    name: str
    """Name of its file in `foreign/tools`."""
    path: str = ""
    """The folder of its programs; `{library}`, `{family}` and `{version}` are replaced for each library."""
    source: str = ""
    """A tarball that is built for each library."""
    modules: list[str] = []
    """Environment modules for its PATH, loaded after those of each library."""
    arguments: list[str] = []
    """Further arguments of its programs."""


class ProgramSpec(Record, frozen=True):
    """A user's program, measured as a whole."""

    run: list[str]
    """The command and its arguments, started on every rank."""
    folder: str
    """Absolute path of the folder in which it runs, or of which copies are made."""
    copies: bool = True
    """Whether each launch runs in a copy of the folder."""
    record: bool = False
    """Whether its calls are recorded, in launches of each candidate that are not timed."""
    build: str = ""
    """A line for the shell that builds it in a copy of the folder, once for each candidate; empty: nothing is built."""
    value: str = ""
    """Pattern whose group is the value in what the program prints; empty: the time from MPI_Init to MPI_Finalize."""
    unit: str = ""
    """Unit of the value; empty: it stands behind the value."""
    check: str = ""
    """Pattern whose group must agree between launches and candidates; empty: nothing is checked."""
    tolerance: float = 0.0
    """How far numbers that are checked may differ, as a share; 0: they must be equal as texts."""
    paths: dict[str, str] = {}
    """Commands that replace the first word of `run`, by candidate, library or family."""


class Plan(Record, frozen=True):
    """A checked plan. Names that only the core knows, such as operations, are checked when cases are made."""

    question: str
    candidates: list[CandidateSpec]
    operations: list[str]
    forms: list[Form]
    """Each case is made in each of these forms that its operation has; empty: the operation's default."""
    sizes_bytes: list[int]
    placements: list[Placement]
    """Placements of several nodes have the plan's hosts."""
    starts: list[str]
    """Each case is made with each start; `auto`: the operation's default."""
    sampling: Sampling
    case_limit_s: float
    """Maximum time for one case in one launch, once it has a valid sample."""
    launch_limit_s: float
    """A launch hangs if the core shows no progress for this long."""
    stop: Stop
    control: bool
    threshold: float
    """Practical threshold: with 0.03, differences below 3% do not matter."""
    seed: int
    text: str
    """The TOML as written."""
    file: str = ""
    """Its path, for messages."""
    from_options: list[str] = msgspec.field(default_factory=list)
    """Keys that options of the command line set."""
    memory: list[Memory] = msgspec.field(default_factory=lambda: [Memory()])
    """Each case is made with each of these, unless it makes no difference."""
    clock: str = "auto"
    """Name of the time source; `auto`: the core chooses and says why."""
    synchronisation: str = "tree"
    datatypes: list[str] = []
    """Each case is made with each datatype that its operation can use; empty: the operation's default."""
    options: dict[str, list[str]] = {}
    """By option, or OPERATION.NAME: cases of operations that have it are made with each of these values."""
    settings: dict[str, dict[str, str]] = {}
    """Control variables of the library, by the value of the option `settings`."""
    calls: list[Calls] = []
    """Of the user's application; the verdict adds up their times."""
    calls_measured_with: str = ""
    """The candidate with which shares of time were measured; empty: they are shares of the candidates' mean."""
    every_pair: bool = False
    """Whether operations between two ranks are measured for every pair of ranks."""
    every_rank: bool = False
    """Whether samples of every rank are stored, too."""
    together: bool | int = True
    """Whether the launches of a block run at the same time and measure in turn, where possible."""
    each_call: bool = False
    """Whether each call is timed separately, even if it is shorter than a reading of the clock."""
    baseline: str = ""
    """The candidate that all others are compared with; empty: the question is which one is fastest."""
    estimator: str = "median"
    """The statistic of a launch: `median`, `min`, `mean`, `trimmed-mean`, or a percentile such as `p90`."""
    confidence: float = 0.95
    """Of intervals: 0.90, 0.95 or 0.99."""
    notes: list[str] = []
    """Parts of the plan that are not possible on this machine, such as placements with too many ranks."""
    job: Job = Job()
    suites: list[SuiteSpec] = []
    """Settings of the other benchmarks whose programs are among the operations."""
    program: ProgramSpec | None = None
    """The user's program that is measured; None: only operations are."""
    sums: bool = False
    """Whether the bits of sums are compared, in launches of each candidate that are not timed."""
    profile: Recorded | None = None
    """The run that `calls` are from, which then are what is measured; None: they are the plan's own."""


class Case(Record, frozen=True, dict=True):
    """Everything that defines a number, except the candidate. Its key is cached and not a field."""

    operation: str
    form: Form
    size_bytes: int
    datatype: str
    placement: str
    ranks: int
    start: str
    memory: Memory = Memory()
    options: dict[str, str] = {}
    """Options of the operation that differ from their defaults, sorted by name."""
    suite: str = ""
    """The other benchmark that measures it; empty: the core."""

    def __hash__(self) -> int:
        """Return a hash as if options were a tuple."""
        return hash(self.key)

    @functools.cached_property
    def key(self) -> str:
        """Return what identifies the case within a campaign: `allreduce.blocking.1024.float.1x2.window`.

        Differences from the defaults of memory and options follow: `....window.cold.in-place.arrival=random`.
        """
        return self.without()

    def without(self, *parts: str) -> str:
        """Return what identifies the case apart from some of its parts, for cases that differ only in these.

        It is compared and never taken apart, as the key. `parts`: `size`, other fields, or names of options.
        """
        words = {
            "operation": self.operation,
            "form": self.form,
            "size": str(self.size_bytes),
            "datatype": self.datatype,
            "placement": self.placement,
            "start": self.start,
        }
        chosen = "".join(f".{name}={value}" for name, value in self.options.items() if name not in parts)
        return ".".join(word for name, word in words.items() if name not in parts) + self.memory.suffix + chosen

    def split_at_size(self) -> tuple[str, str]:
        """Return what is before and after the size in the keys of cases that differ from this one in size only."""
        before = f"{self.operation}.{self.form}."
        return before, self.key[len(before) + len(str(self.size_bytes)) :]

    @property
    def quantity(self) -> Quantity:
        """Return the quantity of its samples."""
        return cast("Quantity", self.options.get("quantity", "time"))

    @property
    def launch_group(self) -> str:
        """Return its launch group: cases of different groups never share a launch.

        Threads need another initialisation of the library, which slows all calls; memory is measured where little else
        ran; another benchmark has one program for each operation.
        """
        if self.suite:
            return f"{self.operation} {self.form}"
        if self.options.get("threads", "1") != "1":
            return THREADS
        is_multiple = self.options.get(LEVEL) == MULTIPLE
        if self.quantity == "memory":
            return MEMORY_GROUPS[is_multiple]
        return MULTIPLE if is_multiple else ""
