"""Launches, and what the core streams of them."""

from __future__ import annotations

import enum

import msgspec

from rankbench.model.base import ALL_RANKS, Record
from rankbench.model.machines import State
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
    """A foreign tool measured it and printed 0, so that there is no figure."""
    NOT_RUN = "not-run"
    """The launch ended before its turn came."""


BROKEN = (CaseStatus.CRASHED, CaseStatus.HUNG, CaseStatus.FAILED, CaseStatus.WRONG_DATA)
"""How a case ends by a fault of the library, not of the machine or the plan."""


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
    hop_ns: float = 0.0
    """What handing a cache line from one rank to the next of its host took without MPI: the mean of before and after.

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
    first_ns: float = 0.0
    second_ns: float = 0.0
    """How long the first two calls of the case took in this launch, before anything was timed; 0: not known."""
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


class Visit(msgspec.Struct, frozen=True):
    """One of the times that a launch came to a case."""

    samples: int
    """How many it took; of a visit that counts for nothing, 0."""
    hop_ns: float = 0.0
    """What handing a cache line to the next rank of its host took, mean of just before and just after; 0: not known."""


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
    """How far two ranks' clocks may have differed at most, per sample; empty: not at all."""
    error_ns: list[float] = []
    """How far they likely differed, at most in 19 of 20 cases; empty: not at all."""
    visits: list[Visit] = []
    """The visits of the case that took the samples, in their order; empty: there was one."""

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
    waited_s: float = 0.0
    busy_s: float = 0.0
    """What ranks waited for their turns, and what CPU time their processes used meanwhile, all ranks together."""
    damage: str = ""
    """File, line and what is wrong there, where a line is no record; it and all after it is left out."""


class LaunchStatus(enum.StrEnum):
    """How one launch ended."""

    OK = "ok"
    CRASHED = "crashed"
    HUNG = "hung"
    REFUSED = "refused"
    """The launcher or the core would not start, or what started was not what was asked for."""


RESTLESS, LEAST_WAITED_S = 0.05, 0.1
"""Share of a CPU that a rank which waits for its turn may use; one with a thread that never rests uses all of it. Of a
shorter time that all ranks together waited nothing is concluded."""


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
    """Of launches that ran at the same time, each one's share."""
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
    together: int = 1
    """How many launches ran at the same time and measured in turn, this one included."""
    waited_s: float = 0.0
    busy_s: float = 0.0
    """What its ranks waited for their turns, and what CPU time their processes used meanwhile, all together."""
    alone: str = ""
    """Why it took no turns with others though the plan asks for it: launches of its candidate measured nothing so."""
    log: str = ""
    """What the launch wrote to standard output and error, cut to its last 20 000 characters."""

    @property
    def restless(self) -> bool:
        """Return whether its processes disturbed the launches whose turn it was."""
        return self.waited_s >= LEAST_WAITED_S and self.busy_s > RESTLESS * self.waited_s
