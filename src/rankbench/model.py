"""The frozen records that travel between rooms, and the one error type users see. No I/O happens here.

Units stand last in a name: `time_ns`, `size_bytes`, `limit_s`.
"""

from __future__ import annotations

import enum
import math
from pathlib import Path  # noqa: TC003 - msgspec resolves the annotations at run time
from typing import Literal

import msgspec

FORMS = ("blocking", "nonblocking", "persistent")
Form = Literal["blocking", "nonblocking", "persistent"]
Cache = Literal["warm", "cold"]
Buffers = Literal["separate", "in-place"]
Pages = Literal["touched", "untouched", "huge"]
ALL_RANKS = -1
"""The `series` of samples that are the maximum over all ranks; other series are the measuring rank's number."""
ROTATING = -1
"""The `root` of a case whose rounds take their roots in turn."""


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

    def bytes(self, size_bytes: int, ranks: int) -> int:
        """Return the bytes for a message size and a number of ranks."""
        return size_bytes * (self.own + self.each * ranks)

    def __str__(self) -> str:
        """Spell the formula as docs and tables show it: `0`, `n`, `n·p`, `64 n`."""
        terms = [
            f"{factor} {unit}" if factor != 1 else unit
            for factor, unit in ((self.own, "n"), (self.each, "n·p"))
            if factor
        ]
        return " + ".join(terms) or "0"


class Operation(Record, frozen=True):
    """One operation as the core's `--describe` tells it."""

    name: str
    help: str
    standard: str
    """Chapter and section of the MPI standard."""
    kind: str
    """The family of operations it belongs to: `point-to-point`, `collective`, `self-test`."""
    metric: Literal["time", "latency", "bandwidth"]
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
    """Messages in one timed call: the window of a bandwidth test, else 1."""
    datatype: str
    start: str
    in_place: bool = False
    """Whether it has a form in which a rank sends from the buffer it receives in (MPI_IN_PLACE)."""
    rooted: bool = False
    """Whether one rank, the root, has another part than the others."""


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
    """Where ranks sit: `nodes` x `ranks_per_node`; `binding` is `core` (one core each) or `none`."""

    name: str
    nodes: int
    ranks_per_node: int
    binding: Literal["core", "none"]

    @property
    def ranks(self) -> int:
        """Return the number of ranks in the world."""
        return self.nodes * self.ranks_per_node


class CandidateSpec(Record, frozen=True):
    """A candidate as the plan names it. `library` is a name, a family, or `family==version`."""

    library: str
    name: str = ""
    settings: dict[str, str] = {}


class Stop(Record, frozen=True):
    """When a campaign ends: between `blocks_min` and `blocks_max` launches per candidate, earlier by `until`."""

    blocks_min: int = 5
    blocks_max: int = 30
    until: str = "decided"
    """`decided`, `blocks`, `precision N%` or `time Nm`."""


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


class Plan(Record, frozen=True):
    """A checked plan. What only the core knows, such as names of operations, is checked when cases are made."""

    question: str
    candidates: list[CandidateSpec]
    operations: list[str]
    forms: list[Form]
    sizes_bytes: list[int]
    placements: list[Placement]
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
    every_rank: bool = False
    """Whether the samples of every rank are kept beside those over all ranks."""
    estimator: str = "median"
    """Of a launch: `median`, `min`, `mean`, `trimmed-mean`, or a percentile such as `p90`."""
    confidence: float = 0.95
    """Of intervals: 0.90, 0.95 or 0.99."""


class Case(Record, frozen=True):
    """Everything that defines a number, less the candidate."""

    operation: str
    form: Form
    size_bytes: int
    datatype: str
    placement: str
    ranks: int
    start: str
    memory: Memory = Memory()

    @property
    def key(self) -> str:
        """Return what identifies the case within a campaign: `allreduce.blocking.1024.float.1x2.window`.

        What its memory has other than by default follows: `....window.cold.in-place`.
        """
        words = (self.operation, self.form, str(self.size_bytes), self.datatype, self.placement, self.start)
        return ".".join(words) + self.memory.suffix


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
    migrated: bool = False
    """Whether a rank was seen on another CPU after the case than before."""
    synchronisations: int = 0
    """How often clocks were compared for it."""
    stopped: str = ""
    """What ended it: `samples`, `tries`, `rse`, `interval` or `time`; empty if it has no samples."""
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
    unfinished: int | None
    """Index, within the job, of the case that had begun and did not end."""
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
    log: str = ""
    """What the launch wrote to standard output and error, cut to its last 20 000 characters."""


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

    def discards_overruns(self, case: Case) -> bool:
        """Return whether samples of the case that lasted longer than their window do not count."""
        return any(start.discards_overruns for start in self.starts if start.name == case.start)

    def scheduled(self, case: Case) -> bool:
        """Return whether times of the case are counted from a moment that ranks agreed on."""
        return any(start.scheduled for start in self.starts if start.name == case.start)


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
    failures: dict[str, int] = {}
    """Launches in which the case ended otherwise, by status."""
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


# --- steps that a scheduler runs ------------------------------------------------------------------------------------


class CommandLine(Record, frozen=True):
    """A program with its arguments and what must be set in its environment."""

    arguments: list[str]
    environment: dict[str, str] = {}


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
