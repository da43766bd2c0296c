"""The frozen records that travel between rooms, and the one error type users see. No I/O happens here.

Units stand last in a name: `time_ns`, `size_bytes`, `limit_s`.
"""

from __future__ import annotations

import enum
import functools
import math
from pathlib import Path  # noqa: TC003 - msgspec resolves the annotations at run time
from typing import Literal, cast

import msgspec

FORMS = ("blocking", "nonblocking", "persistent")
Form = Literal["blocking", "nonblocking", "persistent"]
Cache = Literal["warm", "cold"]
Buffers = Literal["separate", "in-place"]
Pages = Literal["touched", "untouched", "huge"]
Binding = Literal["core", "thread", "none"]
Launcher = Literal["mpiexec", "srun"]
Quantity = Literal["time", "overlap", "memory"]
"""What samples are. `overlap`: the time of a call with computation in it. `memory`: bytes, in the place of times."""
ALL_RANKS = -1
"""The `series` of samples that are the maximum over all ranks; other series are the measuring rank's number."""
ROTATING = -1
"""The `root` of a case whose rounds take their roots in turn."""
THREADS = "threads"
"""The launch group of cases in which several threads of a rank call at once."""


class RankbenchError(Exception):
    """Something the user can mend. The message is one line: what, where, what would be right."""


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the records written by rankbench and read back by it."""


# --- libraries and candidates ---------------------------------------------------------------------------------------


class Library(Record, frozen=True):
    """One MPI implementation as built. `family` is a family's name, or "unknown" where no family recognised it."""

    name: str
    """Unique among the libraries found together, for instance `openmpi-5.0.11`."""
    family: str
    version: str
    source: str
    """The place it came from: the name of a source (`pypi`, `system`, `path`, `prefix`)."""
    prefix: str
    wrapper: str
    """Absolute path of the compiler wrapper (`mpicc`), empty if there is none."""
    launcher: str
    """Absolute path of the library's own `mpiexec`, empty if there is none."""
    environment: dict[str, str] = {}
    """What its wrapper, launcher and programs need set, such as I_MPI_ROOT."""
    abi: str = ""
    """File name a program is linked to, such as `libmpi.so.12`, empty if not known."""
    compiler: str = ""
    """First line of what the compiler behind the wrapper says of its version."""
    build_environment: dict[str, str] = {}
    """What its wrapper needs set besides, and its launcher and programs do not, such as MPICH_CC."""
    binary_of: str = ""
    """Name of the library whose wrapper makes the binaries that this one runs, if that is not its own."""
    origin: dict[str, str] = {}
    """What its source tells of how it was made, in the source's own words: `modules`, `spec`, `hash`."""


class Receipt(Record, frozen=True):
    """What a build of the core was made of, kept beside the binary and stored with every result."""

    library: str
    wrapper: str
    compiler: str
    flags: list[str]
    linked: str
    """What `mpicc -show` printed."""
    missing: list[str]
    """MPI calls that the core uses and the library's mpi.h does not declare."""
    core_sha256: str
    binary_sha256: str


class Candidate(Record, frozen=True):
    """What is compared: a library with settings. `control_of` names the candidate of which this one is the A/A twin."""

    name: str
    library: str
    settings: dict[str, str] = {}
    control_of: str = ""


# --- what the core says of itself -----------------------------------------------------------------------------------


class Amount(Record, frozen=True):
    """Bytes as a linear function of the message size n and the number of ranks p: `n * (own + each * p)`."""

    own: int
    each: int
    per_message: bool = False
    """Whether it is for each of the call's messages, such as those of a window; they may differ from rank to rank."""

    def bytes(self, size_bytes: int, ranks: int, messages: int = 1) -> int:
        """Return the bytes for a message size, a number of ranks and the messages of a call."""
        return size_bytes * (self.own + self.each * ranks) * (messages if self.per_message else 1)

    def __str__(self) -> str:
        """Spell the formula as docs and tables show it: `0`, `2 n`, `n·p`, `n·(p - 1)·m` with m messages."""
        messages = "·m" if self.per_message else ""
        if self.own and self.each:
            ranks = "p" if self.each == 1 else f"{self.each} p"
            return f"n·({ranks} {'+' if self.own > 0 else '-'} {abs(self.own)}){messages}"
        factor, unit = (self.own, "n") if self.own else (self.each, "n·p")
        return f"{unit}{messages}" if factor == 1 else f"{factor} {unit}{messages}" if factor else "0"


class Option(Record, frozen=True):
    """Something that can be chosen of an operation: one of some values, or a whole number."""

    name: str
    help: str
    usual: str
    """What holds unless another value is said."""
    values: list[str] = []
    """Those allowed; empty: a whole number from `least` to `most`."""
    least: int = 0
    most: int = 0
    extents: bool = False
    """Whether it is the extents of a grid instead, such as `4x4`, or `auto`."""


class Meaning(Record, frozen=True):
    """What a number that a foreign program prints is, in words that two programs can be compared by."""

    over_calls: Literal["mean", "median", "minimum", "trimmed mean", "single"]
    """What it is of the calls of one run; `single`: there is one, or each is printed."""
    over_ranks: Literal["mean", "maximum", "minimum", "one", "span"]
    """What it is of the ranks: `one` rank measures, or the `span` from the common start to the last rank's end."""
    start: Literal["none", "barrier", "library-barrier", "window", "roundtime", "not told"]
    """How ranks begin a call together, as in the core; `none`: calls follow each other."""
    text: str
    """All of it in a sentence, with what else must be known: repetitions, warm-up, what was dropped."""
    trip: Literal["call", "half", "round", "gap"] = "call"
    """Of a time: that of a call, of half a round trip, of a whole one, or from one send to the next."""
    counted: float = 1.0
    """How often a bandwidth counts the bytes of a message size, such as 2 where sent and received ones are added."""
    megabyte: int = 0
    """Bytes of a megabyte that it prints; 0 where it prints none."""
    data: Literal["not checked", "checked"] = "not checked"
    """Whether what was received was looked at."""


class Foreign(Record, frozen=True):
    """Of an operation that another program measures: whose it is and what its numbers mean."""

    suite: str
    """The tool, as its file in `suites/tools` is called."""
    benchmark: str
    """As the tool spells it."""
    counterpart: str
    """The operation of the core that measures the same, empty if none does."""
    meaning: Meaning
    overlap: bool = False
    """Whether it measures how much of a communication a computation hides, and prints the time of each alone."""
    whole_vector: bool = False
    """Whether its sizes are those of a vector of which each rank gets its share, where the core's are of that share."""


class Operation(Record, frozen=True):
    """One operation as the core's `--describe` tells it, or a benchmark of another program."""

    name: str
    help: str
    standard: str
    """Chapter and section of the MPI standard."""
    kind: str
    """The family of operations it belongs to: `point-to-point`, `collective`, `self-test`."""
    metric: Literal["time", "latency", "bandwidth", "rate"]
    """What a sample is: the time of a call, or half of it; bandwidth and rate are times too, told per second."""
    forms: list[Form]
    send: Amount
    receive: Amount
    root_send: Amount
    root_receive: Amount
    sized: bool
    """Whether it takes a message size (a barrier does not)."""
    ranks_exactly: int
    """Ranks that take part, 0 for any number."""
    messages: int
    """Messages in one timed call where no option says how many, 0 where that follows from the options."""
    datatype: str
    start: str
    in_place: bool = False
    """Whether it has a form in which a rank sends from the buffer it receives in (MPI_IN_PLACE)."""
    rooted: bool = False
    """Whether one rank, the root, has another part than the others."""
    form: Form = "blocking"
    """The form that is meant unless another is said."""
    ranks_least: int = 1
    """Fewest ranks with which it makes sense."""
    in_pairs: bool = False
    """Whether ranks work in pairs, so that the last one of an odd number stays out."""
    between_two: bool = False
    """Whether it is between two ranks, which the options `from` and `to` name; others stay out."""
    rounds: int = 1
    """How often a call does what it is asked to; a sample is the time of one."""
    once: bool = False
    """Whether it happens once in a launch, which then has one sample of it."""
    rings: bool = False
    """Whether some ranks, such as the first of each ring, measure, each for itself."""
    large: bool = False
    """Whether it counts elements as MPI_Count, beyond 2^31-1."""
    keeps_buffers: bool = False
    """Whether it binds its buffers once, so that they cannot change from call to call."""
    datatypes: list[str] = []
    """Names of those it can be measured with."""
    options: list[Option] = []
    """What can be chosen, in the order in which it is told."""
    foreign: Foreign | None = None
    """Of another program's benchmark."""


class Named(Record, frozen=True):
    """Something the core can do by name, with one line of help."""

    name: str
    help: str


class Start(Named, frozen=True):
    """A way for ranks to begin a call together."""

    scheduled: bool = False
    """Whether rounds begin at agreed times on the synchronised clock."""
    discards_overruns: bool = False
    """Whether a sample that lasted longer than its window counts as little as a late one."""


class Datatype(Named, frozen=True):
    """A datatype of messages and the bytes of one element: a size is a multiple of it."""

    size_bytes: int


class Description(Record, frozen=True):
    """The whole of what `rankbench-core --describe` prints."""

    core: str
    operations: list[Operation]
    starts: list[Start]
    sources: list[Named]
    synchronisations: list[Named]
    datatypes: list[Datatype]


# --- the plan -------------------------------------------------------------------------------------------------------


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

    @property
    def ranks(self) -> int:
        """Return the number of ranks in the world."""
        return self.nodes * self.ranks_per_node


class CandidateSpec(Record, frozen=True):
    """A candidate as the plan names it. `library` is a name, a family, or `family==version`."""

    library: str
    name: str = ""
    settings: dict[str, str] = {}
    compiler: str = ""
    """The C compiler that its core is compiled by, as a command such as `clang`; empty: the wrapper's own."""
    binary_of: str = ""
    """A library, named as `library` is, whose wrapper makes the binary; the two share an ABI."""


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
    """`decided`, `blocks`, `precision N%` or `time Nm`."""
    drop: bool = False
    """With `decided`: whether candidates leave the cases that they cannot win any more."""


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
        return ", ".join(self._named("huge pages", "untouched pages", "aligned to ", "root ", "rotating root"))

    @property
    def suffix(self) -> str:
        """Return the same as a case's key has it: `.cold.in-place.huge.a64.rotating`."""
        return "".join(f".{word}" for word in self._named("huge", "untouched", "a", "root", "rotating"))

    def _named(self, huge: str, untouched: str, aligned: str, root: str, rotating: str) -> list[str]:
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
    """What its programs are told besides."""


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
    """Practical threshold: 0.03 calls differences below 3 % not worth telling."""
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
    calls: list[Calls] = []
    """Of the reader's application: the verdict says what they come to."""
    every_pair: bool = False
    """Whether what is between two ranks is measured between every two of them."""
    every_rank: bool = False
    """Whether the samples of every rank are kept beside those over all ranks."""
    each_call: bool = False
    """Whether each call is timed singly, however short it is beside a reading of the clock."""
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


# --- launches and what came out of them -----------------------------------------------------------------------------


class CaseStatus(enum.StrEnum):
    """How a case ended in one launch. Everything but OK is a row without samples to compare."""

    OK = "ok"
    LACKING = "lacking"
    """The library does not have the call."""
    WRONG_DATA = "wrong-data"
    REFUSED = "refused"
    """It could not be run as asked, for instance because its buffers do not fit in memory."""
    FAILED = "failed"
    """An MPI call returned an error."""
    NOT_AS_ASKED = "not-as-asked"
    """Ranks did not sit where the placement says, or left it while they were measured."""
    CRASHED = "crashed"
    HUNG = "hung"
    NOT_RUN = "not-run"
    """The launch ended before its turn came."""


class RankFact(Record, frozen=True):
    """Where one rank really ran, read inside the launched job."""

    rank: int
    host: str
    cpu: int
    cpus: str
    """CPUs it was allowed to run on, as a kernel list such as `0-3,8`."""
    clock: str
    """Identity of the clock it reads: ranks with equal text share one clock."""
    libmpi: str
    """Path of the MPI library mapped into the process."""
    core: int = -1
    socket: int = -1
    numa: int = -1
    """Where `cpu` is, by the system's numbers of that host; -1: it does not say."""


class SourceFact(Record, frozen=True):
    """A time source as the core found it; what is not usable has no figures."""

    name: str
    usable: bool
    reason: str
    """Why it is not usable, or what its rate is known from."""
    resolution_ns: float = 0.0
    cost_ns: float = 0.0


class LaunchFacts(Record, frozen=True):
    """What the core said before its first case."""

    ranks: int
    library_version: str
    mpi_version: str
    core: str
    source: str
    """Name of the time source."""
    resolution_ns: float
    cost_ns: float
    """Time one reading of the source takes."""
    source_reason: str = ""
    """Why it is this one."""
    synchronisation: str = ""
    """How clocks are compared."""
    last_level_cache_bytes: int = 0
    """What cold buffers exceed; 0: not known."""
    sources: list[SourceFact] = []
    """All that were tried."""


class CaseResult(msgspec.Struct, frozen=True, kw_only=True):
    """One case of one launch with its samples. The arrays of a series run in the order of measurement."""

    case: Case
    status: CaseStatus
    reason: str = ""
    taken: int = 0
    valid: int = 0
    late: int = 0
    overrun: int = 0
    sync_bound_ns: float = 0.0
    """Largest bound on the difference between two ranks' synchronised clocks in any sample."""
    drift_ns: float = 0.0
    """Largest change of a clock offset between the synchronisation before and the one after the case."""
    moved: str = ""
    """Which rank was on another CPU after the case than before: `rank 1 from CPU 0 to CPU 3`."""
    synchronisations: int = 0
    """How often clocks were compared for it."""
    stopped: str = ""
    """What ended it: `samples`, `tries`, `rse`, `interval` or `time`; empty if it has no samples."""
    calls: int = 1
    """Calls between two readings of the clock: a sample is their mean."""
    cost_ns: float = 0.0
    """What the start and the clock take of a sample, as measured in the same launch of a call that does nothing.

    0: not known.
    """
    first_window_ns: float = 0.0
    last_window_ns: float = 0.0
    """How far apart rounds were planned, at first and in the end; 0: the start plans none."""
    ranks: int = 0
    """Ranks that took part; others stayed out."""
    moved_bytes: int = 0
    moved_messages: int = 0
    """Payload and messages of one sample, of all ranks together."""
    pure_ns: float = 0.0
    compute_ns: float = 0.0
    """Of quantity `overlap`: medians of the communication alone and of the computation alone."""
    growth_bytes: int = 0
    """Of quantity `memory`: what the first use added, per rank, the most of all ranks."""
    spread_ns: float = 0.0
    """How far apart ranks were made to arrive."""
    grid: list[int] = []
    """Extents of the grid that ranks lay on."""
    order: list[int] = []
    """Which rank had which place of it; empty: each its own."""
    hops: int = 0
    """Of rings: messages one after the other that brought a round home."""
    printed: dict[str, float] = {}
    """What a foreign tool printed beside the value, by its own headings."""
    series: list[Series] = []

    @property
    def own(self) -> Series | None:
        """Return the case's own samples, over all ranks or of the one that measures. Others are single ranks' views."""
        over_all = [one for one in self.series if one.rank == ALL_RANKS]
        return next(iter(over_all or self.series), None)


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """The samples of one measuring rank, or of all (`ALL_RANKS`: the maximum over ranks)."""

    rank: int
    time_ns: list[float]
    """As the operation's metric defines it: a latency is half of a round trip."""
    last_rank: list[int]
    """The rank that ended last, per sample; empty where one rank alone measures."""
    late: list[int]
    """Indexes of samples whose start was missed by some rank; they are never used."""
    overrun: list[int]
    """Indexes of samples that started in time and lasted longer than their window; some starts discard them."""
    skew_ns: list[float] = []
    """How far apart ranks began, per sample, as measured; of a single rank, how late it began. Empty if not known."""
    bound_ns: list[float] = []
    """How far two ranks' clocks may have differed, per sample; empty: not at all."""

    def discarded(self, *, overruns: bool) -> set[int]:
        """Return the indexes of samples that do not count, with or without those that lasted too long."""
        return {*self.late, *(self.overrun if overruns else ())}


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """A core's stream as read back, complete or broken off at any byte."""

    facts: LaunchFacts | None
    ranks: list[RankFact]
    results: list[CaseResult]
    """Results in the order in which they were measured, each with the case it belongs to."""
    unfinished: Case | None
    """The case that had begun and did not end."""
    complete: bool
    """Whether the core said that it had finished."""
    damage: str = ""
    """File, line and what is wrong there, where a line is no record; it and all after it is left out."""


class LaunchStatus(enum.StrEnum):
    """How one launch ended."""

    OK = "ok"
    CRASHED = "crashed"
    HUNG = "hung"
    REFUSED = "refused"
    """The launcher or the core would not start, or what started was not what was asked for."""


class Exchange(Record, frozen=True):
    """What it takes to hand one cache line from one CPU to another and back, halved; over many short batches."""

    cpus: tuple[int, int]
    median_ns: float
    min_ns: float


class State(Record, frozen=True):
    """The state of the machine at one moment, measured without MPI by the core's `--state`."""

    cpus: list[int] = []
    """Those measured."""
    exchange: list[Exchange] = []
    """Of every pair of CPUs where they are few, of a ring and some far pairs where they are many; of one CPU none."""
    copy_bytes_per_s: float | None = None
    """Bytes read and written by all CPUs together, each copying within memory of its own."""
    stolen_s: float = 0.0
    """CPU time that the hypervisor took from these CPUs since boot."""
    frequency_hz: list[float | None] = []
    """Of each CPU as the kernel tells it."""
    load: float = 0.0
    """One-minute load average."""
    running: int = 0
    """Processes and threads that could run, besides the probe."""


class Launch(Record, frozen=True):
    """One `mpiexec` and its outcome, as stored."""

    number: int
    block: int
    """From 1, as `number`."""
    position: int
    """Place in the block's order, from 0."""
    candidate: str
    placement: str
    status: LaunchStatus
    reason: str
    started: str
    """ISO 8601, UTC."""
    duration_s: float
    exit_code: int | None
    command: list[str]
    environment: dict[str, str]
    facts: LaunchFacts | None
    ranks: list[RankFact]
    load_before: float
    """One-minute load average before the launch."""
    stolen_s: float
    """CPU time the hypervisor took away while the launch ran, summed over CPUs."""
    before: State | None = None
    """The state of the machine just before the launch, and just after it; none where it could not be measured."""
    after: State | None = None
    state_reason: str = ""
    """Why a state is missing."""
    job: str = ""
    """The scheduler's number of the job that made it."""
    folder: str = ""
    """Where a job script left it, below the campaign's folder."""
    log: str = ""
    """What the launch wrote to standard output and error, cut to its last 20 000 characters."""


class Cpu(Record, frozen=True):
    """One hardware thread and what it is part of, by the system's numbers."""

    number: int
    core: int
    """The first of the CPUs that are its core's hardware threads."""
    socket: int
    numa: int
    caches: dict[str, int] = {}
    """By `L2`, `L3` and so on, the first of the CPUs that share its cache of that level (of data, or of all)."""
    ordinal: int = -1
    """Its place, from 0, in the order in which hwloc counts hardware threads, as some launchers do; -1: not known."""
    core_ordinal: int = -1
    """The same of its core among cores."""


class Machine(Record, frozen=True):
    """The machine a campaign ran on."""

    host: str
    cpu: str
    sockets: int
    cores: int
    memory_bytes: int
    kernel: str
    distribution: str
    virtual: str
    """What `systemd-detect-virt` or the hypervisor flag says, empty on bare metal."""
    cpus: list[Cpu] = []
    """Those that programs may use, in the order of their numbers."""


class Imported(Record, frozen=True):
    """A file in which somebody else's figures were found."""

    file: str
    sha256: str
    tools: list[str]
    """With their versions, as far as they tell them."""
    facts: dict[str, str] = {}
    """What the runs in it tell about themselves, such as their machine and date."""
    said: list[str] = []
    """What was found in it, and beside it, that a reader of its figures must know."""


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
    imported: list[Imported] = []
    """Of a campaign that was not run but read: the files, in the order in which they were named."""

    @property
    def once(self) -> frozenset[str]:
        """Return the operations that happen once in a launch."""
        return frozenset(operation.name for operation in self.operations if operation.once)

    def oversubscribed(self, ranks_per_node: int) -> bool:
        """Return whether a node has more ranks, or threads of them, than cores; false where nobody knows its cores."""
        return 0 < self.machine.cores < ranks_per_node

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
    """Keys of cases that need no more blocks: who is fastest is told, or known to be no matter."""
    given_up: list[str]
    """Those that the plan's blocks would hardly decide any more."""
    open: dict[str, list[str]]
    """Those that go on, with the candidates that are measured further; twins of the A/A control come with theirs."""
    until: int
    """The block after which all that is open should be decided, as figures are then."""
    winners: dict[str, list[str]]
    """By case, the candidates that are fastest, as far as can be told."""


# --- what the numbers say -------------------------------------------------------------------------------------------


class Summary(Record, frozen=True, omit_defaults=True):
    """A case of one candidate over all its launches.

    `typical_ns` is the median over launches of the figure that the plan's estimator makes of each launch, by default
    its median; `low_ns`..`high_ns` its interval, which has the stated `coverage`: the plan's confidence or more, unless
    a warning says that there were too few launches. Where no launch has figures the times are not a number; JSON, which
    has no such thing, leaves them out.
    """

    case: str
    candidate: str
    launches: int
    """Launches that count. With `doubt` there is none: the figures are those of the uncertain ones, and not judged."""
    samples: int
    late: int
    overrun: int
    discarded: int = 0
    """Samples that were not used: late ones, and those that lasted too long where the start discards them."""
    typical_ns: float = math.nan
    low_ns: float = math.nan
    high_ns: float = math.nan
    coverage: float = 0.0
    min_ns: float = math.nan
    mean_ns: float = math.nan
    trimmed_mean_ns: float = math.nan
    """Mean of what is left when a quarter of all samples is dropped at each end, as MPIPerf has it."""
    trimmed_low_ns: float = math.nan
    trimmed_high_ns: float = math.nan
    """Student's interval of it as MPIPerf has it: of a lone launch only, and nothing about the next one."""
    p10_ns: float = math.nan
    p90_ns: float = math.nan
    p99_ns: float = math.nan
    max_ns: float = math.nan
    skew_ns: float = math.nan
    """How far apart ranks began, as measured: median over launches of each launch's median."""
    skew_p90_ns: float = math.nan
    """The same of each launch's 90th percentile."""
    bound_ns: float = 0.0
    """How far two ranks' clocks may have differed: median over launches of each launch's median."""
    uncertain: int = 0
    """Launches that do not count, since clocks may have differed by too large a share of the time."""
    doubt: str = ""
    """Why the case is not judged for this candidate, though it has figures."""
    moved_bytes: int = 0
    moved_messages: int = 0
    """Payload and messages of one sample, of all ranks together; 0 where the core did not say it."""
    pure_ns: float = math.nan
    compute_ns: float = math.nan
    overlap: float = math.nan
    """Of quantity `overlap`: the share of the communication alone that computation hid; medians over launches."""
    growth_bytes: float = 0.0
    """Of quantity `memory`, whose bytes stand in the place of times: what the first use added, median over launches."""
    failures: dict[str, int] = {}
    """Launches in which the case ended otherwise, by status."""
    elsewhere: str = ""
    """Where ranks sat that were asked to sit elsewhere, in the first launch that was not as asked."""
    warnings: list[str] = []


class Comparison(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Two candidates in one case, by the ratio of their times paired within blocks (above 1: `other` is slower).

    One block alone bounds nothing: `high` is infinite then, and JSON leaves it out.
    """

    case: str
    base: str
    other: str
    blocks: int
    left_out: int = 0
    """Blocks that do not count because the two launches met the machine in unlike states. Where none is left, `ratio`
    is of these."""
    ratio: float
    low: float
    high: float = math.inf
    p_value: float
    p_adjusted: float
    """Adjusted over all comparisons of the campaign (Benjamini and Hochberg, 1995)."""
    different: bool
    """False is `~`: not distinguishable, or below the practical threshold."""


class CaseVerdict(Record, frozen=True):
    """Who is fastest in one case. More than one winner: they cannot be told apart."""

    case: Case
    ranking: list[str]
    """Candidates with figures, fastest typical value first."""
    winners: list[str]
    margin: float
    """Time of the nearest candidate that is no winner over the fastest, paired within blocks; 1.0 if there is none."""
    failures: dict[str, str] = {}
    """Why a candidate has no figure, by candidate."""


class Finding(Record, frozen=True):
    """Something worth telling. `kind` is the finding's file name; `cases` are keys of the cases it rests on."""

    kind: str
    title: str
    text: str
    advice: str
    cases: list[str]
    severity: Literal["note", "warning", "failure"]
    plot: str = "curves"
    """File name of the plot that shows it best, of the first of the cases or of the line that this one is in."""


class Group(Record, frozen=True):
    """Lines (cases that differ in size only) whose curves look alike: the same winners and the same shape."""

    lines: list[str]
    """Keys as `naming.line_key` gives them, with the placement; the representative first."""
    title: str
    """Names the representative and how many are like it."""
    text: str
    """What they have in common: who wins where, and how curves run."""
    cases: list[str]
    """Keys of the cases of the representative."""


class Sentence(Record, frozen=True):
    """One sentence of the conclusion with the keys of the cases that are its evidence."""

    text: str
    cases: list[str]


class Verdict(Record, frozen=True):
    """The answer to a campaign's question."""

    conclusion: list[Sentence]
    cases: list[CaseVerdict]
    summaries: list[Summary]
    comparisons: list[Comparison]
    control: list[Comparison]
    """The A/A comparisons: base and its twin; every `different` among them is a false alarm."""
    findings: list[Finding]
    blocks: int
    groups: list[Group] = []
    """Largest first; lines that are like no other are groups of one."""


# --- steps that a scheduler runs ------------------------------------------------------------------------------------


class CommandLine(Record, frozen=True):
    """A program with its arguments and what must be set in its environment."""

    arguments: list[str]
    environment: dict[str, str] = {}
    files: dict[str, str] = {}
    """Texts that it reads, by the argument that stands for each; they are written beside its output."""


class Step(Record, frozen=True):
    """A command line, where its output goes, and when it counts as hung."""

    command: CommandLine
    output: Path
    """Takes standard output and error."""
    watch: Path
    """A file that grows while the step makes progress."""
    limit_s: float
    """Longest time without growth of `watch` before the step is ended."""


class Outcome(Record, frozen=True):
    """How a step ended. A negative exit code is a signal's number."""

    exit_code: int | None
    hung: bool
    duration_s: float
