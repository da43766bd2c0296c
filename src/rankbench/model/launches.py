"""Launches, and the records of the core's stream."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, TypeAlias

import msgspec

from rankbench.model.base import ALL_RANKS, Record
from rankbench.model.columns import Column, Passes
from rankbench.model.machines import NodeNetwork, State
from rankbench.model.plans import Case


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
    BELOW = "below-the-last-digit-printed"
    """A foreign tool measured it and printed 0, so that there is no value."""
    NOT_RUN = "not-run"
    """The launch ended before its turn came."""


LATE_START, TIME_LIMIT = "late-start", "time-limit"
"""The `cause` of a case refused because no round began in time on all ranks, or none ended within the time limit."""
BROKEN = (CaseStatus.CRASHED, CaseStatus.HUNG, CaseStatus.FAILED, CaseStatus.WRONG_DATA)
"""Statuses caused by the library, not by the machine or the plan."""
NODE_LOST = "no answer from"
"""In the reason of a launch of which a node was lost."""
NO_CPU = "the machine had no CPU for it"
"""In the reason of a launch that made no progress because its ranks waited for a CPU."""


SystemNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
"""A number that C has as an int."""


class RankFact(Record, frozen=True):
    """Where one rank really ran, read inside the launched job."""

    rank: SystemNumber
    host: str
    cpu: SystemNumber
    cpus: str
    """CPUs it was allowed to run on, as a kernel list such as `0-3,8`."""
    clock: str
    """Identity of the clock it reads: ranks with equal text share one clock."""
    libmpi: str
    """Path of the MPI library mapped into the process."""
    core: SystemNumber = -1
    socket: SystemNumber = -1
    numa: SystemNumber = -1
    """The location of `cpu`, by the system's numbers of that host; -1: unknown."""


class AmbientSetting(Record, frozen=True):
    """A setting that a library takes from the shell or from a file, without its candidate's doing."""

    name: str
    """Of a variable, or of a parameter in a file."""
    value: str
    source: str
    """`this shell`, or the file."""


class LibraryFile(Record, frozen=True):
    """A file of a candidate's library as a launch found it on the node of rank 0, identified by its content."""

    path: str
    bytes: int
    modified_ns: int
    """Time of its last modification, since 1970."""
    inode: int
    listed: bool
    """Whether it is of a list, such as all components and configuration files; else it was mapped into the process."""
    sha256: str
    """Empty: it could not be read, or was replaced while the launch started."""


class SourceFact(Record, frozen=True):
    """A time source as the core found it; an unusable one has no values."""

    name: str
    usable: bool
    reason: str
    """Why it is not usable, or the origin of its rate."""
    resolution_ns: float = 0.0
    cost_ns: float = 0.0


class LaunchFacts(Record, frozen=True):
    """What the core reports before its first case."""

    ranks: int
    library_version: str
    mpi_version: str
    core: str
    source: str
    """Name of the time source."""
    resolution_ns: float
    cost_ns: float
    """Time for one reading of the source."""
    source_reason: str = ""
    """Why this one was chosen."""
    synchronisation: str = ""
    """How clocks are compared."""
    last_level_cache_bytes: int = 0
    """Cold buffers exceed this size; 0: unknown."""
    float_mode: str = ""
    """The processor's mode for floating-point numbers after MPI_Init, and since when; empty: that of every program."""
    sources: list[SourceFact] = []
    """All sources that were tried."""


class CaseResult(msgspec.Struct, frozen=True, kw_only=True):
    """One case of one launch with its samples. The arrays of a series run in the order of measurement.

    A field with a Column is one of `cases` in the store, and its declaration is the only place: the reader of the
    stream, the store and `docs/reference/columns.md` follow from it, or are tested against it.
    """

    case: Case
    status: Annotated[
        CaseStatus,
        Column(
            "`ok`; else `lacking` (the library has no such call), `wrong-data`, `refused` (cannot be run as "
            "asked), `failed` (MPI returned an error), `crashed`, `hung`, `below-the-last-digit-printed` (a "
            "foreign tool measured it and printed 0), `not-run` (its turn never came), `not-as-asked` (ranks did "
            "not sit where the placement says, or left it)"
        ),
    ]
    reason: Annotated[str, Column("why the status is not `ok`, in words")] = ""
    cause: Annotated[
        str,
        Column(
            "the reason in one word, where programs need it: `late-start` (no round began in time on all ranks), "
            "`time-limit` (no round ended within the time limit); else empty",
        ),
    ] = ""
    sample_count: Annotated[
        int, Column("samples taken", passes=Passes.SUM, stream_name="taken", former_name="taken")
    ] = 0
    valid: Annotated[int, Column("of these, samples that count", passes=Passes.SUM)] = 0
    late: Annotated[int, Column("samples that some rank started too late; they do not count", passes=Passes.SUM)] = 0
    overrun: Annotated[
        int,
        Column(
            "samples that started in time and lasted longer than their window; they count, unless the start "
            "discards them",
            passes=Passes.SUM,
        ),
    ] = 0
    sync_bound_ns: Annotated[
        float, Column("ns; largest `bound_ns` of its samples; 0 where ranks share a clock", passes=Passes.LARGEST)
    ] = 0.0
    drift_ns: Annotated[
        float, Column("ns; largest change of a clock offset from before the case to after it", passes=Passes.LARGEST)
    ] = 0.0
    moved: Annotated[
        str,
        Column(
            "which rank was on another CPU after the case than before, such as `rank 1 from CPU 0 to CPU 3`; "
            "empty: none",
            passes=Passes.OTHER,
        ),
    ] = ""
    synchronisations: Annotated[
        int, Column("how often clocks were compared for this case", polars_type="Int32", passes=Passes.SUM)
    ] = 0
    stopped: Annotated[
        str,
        Column(
            "what ended it: `samples` (as many as wanted), `tries`, `rse`, `interval`, `time`; empty without samples",
            passes=Passes.OTHER,
        ),
    ] = ""
    calls: Annotated[
        int,
        Column(
            "calls between two readings of the clock; a sample is their mean",
            polars_type="Int32",
        ),
    ] = 1
    cost_ns: Annotated[
        float,
        Column(
            "what the start and the clock's readings take of a sample, measured in the same launch on a call that "
            "does nothing; 0: not known",
            passes=Passes.LARGEST,
        ),
    ] = 0.0
    hop_ns: Annotated[
        float,
        Column(
            "time to hand a cache line from one rank to the next of its host without MPI, mean of just before and "
            "just after; 0: not known",
            passes=Passes.OTHER,
            streamed=False,
        ),
    ] = 0.0
    position: int = -1
    after: int = -1
    """Of the first visit: see `Visit`. They are columns of samples."""
    first_window_ns: Annotated[
        float,
        Column("how far apart rounds were planned at first; 0: the start plans none"),
    ] = 0.0
    last_window_ns: Annotated[float, Column("and in the end", passes=Passes.LARGEST)] = 0.0
    estimate_ns: Annotated[
        float,
        Column(
            "what a sample is when nothing delays the call, as the core last estimated it to set windows; of several "
            "visits the largest; 0: not known",
            passes=Passes.LARGEST,
        ),
    ] = 0.0
    tolerance_ns: Annotated[
        float,
        Column(
            "how much later than planned a rank may begin a round that counts, as last set; of several visits the "
            "largest; 0: the start allows none",
            passes=Passes.LARGEST,
        ),
    ] = 0.0
    rank_share: Annotated[
        float,
        Column(
            "mean over ranks of the time of a call, over that of the last rank, which is the value: mean over samples "
            "that count; 0: none does, or not known",
            passes=Passes.MEAN,
        ),
    ] = 0.0
    printed_bytes: Annotated[
        int,
        Column(
            "bytes that a rank printed at least while calls were warmed up and timed, the most of all ranks: times "
            "include the printing; 0: none, or not known",
            passes=Passes.SUM,
        ),
    ] = 0
    leaked_bytes: Annotated[
        int,
        Column(
            "bytes by which the memory of a rank grew while calls were warmed up and timed, the most of all ranks; of "
            "several visits the least",
            passes=Passes.LEAST,
        ),
    ] = 0
    waited_ns: Annotated[
        float,
        Column(
            "how long a rank waited for a CPU while the case was warmed up and timed, the most of all ranks",
            passes=Passes.SUM,
        ),
    ] = 0.0
    timed_ns: Annotated[
        float,
        Column("how long warming up and timing took; 0: not known, nor is `waited_ns`", passes=Passes.SUM),
    ] = 0.0
    fallback: Annotated[
        str,
        Column(
            "what the library reported of an algorithm that it was set to use and did not, such as `Alltoall "
            "pairwise_sendrecv_replace cannot be applied.`; empty: nothing, or it reports none",
        ),
    ] = ""
    ranks: Annotated[
        int,
        Column(
            "ranks that took part; the others stayed out, as all but two do in a ping-pong. 0 if it never began",
            polars_type="Int32",
            former_name="active_ranks",
        ),
    ] = 0
    moved_bytes: Annotated[int, Column("payload that one sample moves, of all ranks together")] = 0
    moved_messages: Annotated[int, Column("messages of one sample, of all ranks together")] = 0
    pure_ns: Annotated[
        float,
        Column(
            "ns; with `quantity=overlap` the median time of the communication alone, else 0",
            passes=Passes.MEAN,
        ),
    ] = 0.0
    compute_ns: Annotated[
        float,
        Column(
            "ns; with `quantity=overlap` the median time of the computation alone, else 0",
            passes=Passes.MEAN,
        ),
    ] = 0.0
    growth_bytes: Annotated[
        int,
        Column(
            "with `quantity=memory` what the first use added to a process, the most of all ranks; else 0",
        ),
    ] = 0
    spread_ns: Annotated[
        float,
        Column(
            "ns; how far apart ranks were made to arrive, 0 where they came together",
            passes=Passes.MEAN,
        ),
    ] = 0.0
    first_ns: Annotated[
        float,
        Column(
            "how long the very first call of the case took in this launch, from a barrier of the core on, the longest "
            "of all ranks' local times (of a ping-pong the round trip); 0: not known. Only the first row of an "
            "operation and form in a launch saw a true first call",
            passes=Passes.OPENING,
        ),
    ] = 0.0
    second_ns: Annotated[
        float,
        Column(
            "and the second call, timed in the same way; 0: not known",
            passes=Passes.OPENING,
        ),
    ] = 0.0
    grid: Annotated[
        list[int],
        Column("extents of the grid that ranks lay on, such as `4x4`; empty: on none"),
    ] = []
    order: Annotated[
        list[int],
        Column(
            "numbers of the ranks at each place of it, divided by commas, where the library gave them other "
            "places than their own; else empty",
        ),
    ] = []
    hops: Annotated[
        int,
        Column(
            "of rings: messages one after the other that brought a round home; else 0",
            polars_type="Int32",
        ),
    ] = 0
    rounding_ns: Annotated[
        float,
        Column(
            "of a foreign tool: how far the time may be from the truth since the tool printed no more digits, half a "
            "unit of the last one where it rounds; 0: not known, or measured by rankbench",
            streamed=False,
        ),
    ] = 0.0
    printed: Annotated[
        dict[str, float],
        Column(
            "of a foreign tool: all that it printed in this row, as a JSON object by its own headings; else empty",
            streamed=False,
        ),
    ] = {}
    series: list[Series] = []
    evidence: Evidence | None = None
    """Of wrong data: what was received. The store writes it to a file of its own."""

    @property
    def waited_share(self) -> float:
        """Return the share of the time for which a rank waited for a CPU, the most of all ranks; NaN: unknown."""
        return self.waited_ns / self.timed_ns if self.timed_ns > 0 else math.nan

    @property
    def own_series(self) -> Series | None:
        """Return the case's own samples, over all ranks or of the one that measures. Others are single ranks' views."""
        over_all = [column for column in self.series if column.rank == ALL_RANKS]
        return next(iter(over_all or self.series), None)


class ReceiveStatus(msgspec.Struct, frozen=True):
    """The status of a receive."""

    source: int
    tag: int
    count: int
    """Elements; -1: not compared."""


class StatusPair(msgspec.Struct, frozen=True):
    """A status and the expected one."""

    actual: ReceiveStatus
    expected: ReceiveStatus


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a rank had received when wrong data were first seen in a case."""

    rank: int
    root: int
    run: int
    """Runs of the case on this rank until then, the checked ones too."""
    received_bytes: int
    wrong_bytes: int
    first_wrong: int
    """Offset of the first wrong byte; -1: the received data are right, and something else is wrong."""
    begin: int
    """Offset of the first byte of `received` and `expected`."""
    received: str
    expected: str
    """At most 64 KiB, as hexadecimal digits. Bytes that no check compares are expected as they are."""
    statuses: list[StatusPair]
    """Of the receives of the last call, at most 64."""


class Visit(msgspec.Struct, frozen=True):
    """One visit of a launch to a case."""

    samples: int
    """Samples of the visit; 0 if it does not count."""
    hop_ns: float = 0.0
    """Time to hand a cache line to the next rank of the host, mean of before and after; 0: unknown."""
    position: int = -1
    """Position of its turn among the launches that ran together, from 0; -1: it ran alone, or unknown."""
    after: int = -1
    """Index of the launch that measured just before; -1: none."""
    waited: float = math.nan
    """Share of the time for which a rank waited for a CPU, the most of all ranks; NaN: unknown."""


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """The samples of one measuring rank, or of all ranks (`ALL_RANKS`: the maximum)."""

    rank: int
    time_ns: list[float]
    """As the operation's metric defines it: a latency is half of a round trip."""
    last_rank: list[int]
    """The rank that ended last, per sample; empty if only one rank measures."""
    late: list[int]
    """Indexes of samples whose start was missed by some rank; they are never used."""
    overrun: list[int]
    """Indexes of samples that started in time and lasted longer than their window; some starts discard them."""
    skew_ns: list[float] = []
    """How far apart ranks began, per sample, as measured; for a single rank, how late it began. Empty: unknown."""
    bound_ns: list[float] = []
    """Upper bound of the error of the clocks, per sample; empty: no error."""
    error_ns: list[float] = []
    """Estimated error of the clocks (95%), per sample; empty: no error."""
    visits: list[Visit] = []
    """The visits of the case, in order; empty: there was one."""

    def find_discarded(self, *, overruns: bool) -> set[int]:
        """Return the indexes of samples that do not count: late ones, and with `overruns` those that lasted too
        long."""
        return {*self.late, *(self.overrun if overruns else ())}


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """A core's stream, complete or truncated at any byte."""

    facts: LaunchFacts | None
    ranks: list[RankFact]
    results: list[CaseResult]
    """Results in the order in which they were measured, each with the case it belongs to."""
    unfinished: Case | None
    """The case that began and did not end."""
    complete: bool
    """Whether the core reported its end."""
    waited_s: float = 0.0
    busy_s: float = 0.0
    """Time that ranks waited for their turns, and CPU time that their processes used meanwhile, sums over ranks."""
    spent_s: dict[str, float] = {}
    """Time of rank 0 by activity, with the names of `core/base/time_parts.c`."""
    nodes: list[NodeNetwork] = []
    """What passed through the network devices of each node."""
    files: list[LibraryFile] = []
    """Of rank 0; empty: not reported."""
    functions: list[str] = []
    """In a check, the library's functions for collectives on MPI_COMM_WORLD; empty: it does not show them."""
    damage: str = ""
    """File, line and error if a line is not a record; this line and all later ones are ignored."""


class LaunchStatus(enum.StrEnum):
    """How one launch ended."""

    OK = "ok"
    CRASHED = "crashed"
    HUNG = "hung"
    REFUSED = "refused"
    """The launcher or the core did not start, or something else started than the plan says."""


def list_rank_sets(launches: Iterable[Launch]) -> list[Sequence[RankFact]]:
    """Return where ranks of launches ran, each different stored set once."""
    return list({launch.rank_table or id(launch.ranks): launch.ranks for launch in launches}.values())


REST_PART, LEAST_REST, MOST_REST, LEAST_WAITED_S, RESTLESS_BLOCKS = 0.1, 0.001, 0.003, 0.1, 2
"""CPU time that sleeping launches may take from the measuring one: a share of the practical threshold, and at least so
much of a CPU by which two may differ, and which all may take together. Nothing is concluded from shorter waiting
times."""


LaunchGroup: TypeAlias = tuple[int, str, tuple[str, ...]]
"""Launches that took turns: block, placement, and candidates."""


def find_least_restful(shares: Mapping[str, float], threshold: float) -> str:
    """Return the candidate that uses most CPU time while it sleeps, if launches in turn use too much; else nothing.

    A difference between two candidates changes their ratio. Equal use changes no ratio, but adds noise; a part of it,
    the timers of a launcher and the cost of waking, exists in single launches, too.
    """
    least, worst = min(shares.values(), default=0.0), max(shares.values(), default=0.0)
    apart, most = (max(floor, REST_PART * threshold) for floor in (LEAST_REST, MOST_REST))
    disturbs = worst - least > apart or sum(shares.values()) - least > most
    return max(shares, key=shares.__getitem__) if disturbs else ""


def find_restless(groups: Mapping[LaunchGroup, Mapping[str, float]], threshold: float) -> dict[str, list[LaunchGroup]]:
    """Return, for each candidate that must not be launched beside others, the groups that it disturbed.

    A single block may have met other work of the machine: two are
    needed, or a share of a CPU above the practical threshold.
    """
    disturbed: dict[str, list[LaunchGroup]] = {}
    for group, shares in groups.items():
        if name := find_least_restful(shares, threshold):
            disturbed.setdefault(name, []).append(group)
    return {
        name: keys
        for name, keys in disturbed.items()
        if len({block for block, *_ in keys}) >= RESTLESS_BLOCKS or any(groups[key][name] > threshold for key in keys)
    }


class StoredTable(Record, frozen=True):
    """A Parquet file of a launch as it was written."""

    bytes: int
    sha256: str


class Launch(Record, frozen=True):
    """One `mpiexec` and its outcome, as stored."""

    number: int
    block: int
    """From 1, as `number`."""
    position: int
    """Position in the block's order, from 0."""
    candidate: str
    placement: str
    status: LaunchStatus
    reason: str
    started: str
    """ISO 8601, UTC."""
    duration_s: float
    """Of launches that ran at the same time: the share of each."""
    exit_code: int | None
    command: list[str]
    environment: dict[str, str]
    facts: LaunchFacts | None
    ranks: Sequence[RankFact]
    load_before: float
    """One-minute load average before the launch."""
    stolen_s: float
    """CPU time the hypervisor took away while the launch ran, summed over CPUs."""
    files: list[LibraryFile] = []
    """Those of its library; empty: unknown."""
    ambient: list[AmbientSetting] = []
    """What its library takes from the shell and from configuration files."""
    before: State | None = None
    """The state of the machine just before and just after the launch; None if it could not be measured."""
    after: State | None = None
    state_reason: str = ""
    """Why a state is missing."""
    job: str = ""
    """The scheduler's number of its job."""
    folder: str = ""
    """Its folder in the campaign, if a job script made it."""
    together: int = 1
    """How many launches ran at the same time and measured in turn, this one included."""
    beside: list[str] = []
    """The candidates of these launches, by position; empty: it ran alone, or unknown."""
    waited_s: float = 0.0
    busy_s: float = 0.0
    """Time that its ranks waited for their turns, and CPU time that processes and launchers used meanwhile."""
    spent_s: dict[str, float] = {}
    """Time of its rank 0 by activity; empty: it did not finish."""
    nodes: list[NodeNetwork] = []
    """What passed through the network devices of each node while it ran, and those that took turns with it; empty: it
    did not come to its end, or that is not known."""
    alone: str = ""
    """Why it took turns with fewer launches than planned, or none: launches fail together, or resources are too few."""
    output_bytes: int = 0
    """Bytes that it wrote to standard output and error; 0: nothing, or unknown."""
    log: str = ""
    """What the launch wrote to standard output and error, cut to its last 20 000 characters."""
    tables: dict[str, StoredTable] = {}
    """Its Parquet files, by the names of their folders; the store fills it in. Empty: not known."""
    rank_table: str = ""
    """The file with its `ranks`; the store fills it in. Empty: they are in this record, or there are none."""

    @property
    def rest_share(self) -> float:
        """Return the share of each rank's CPU that its processes took from the launches whose turn it was."""
        return self.busy_s / self.waited_s if self.waited_s >= LEAST_WAITED_S else 0.0
