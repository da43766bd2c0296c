"""What a program called, as its recorder saw it: the content of the file of `rankbench record`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, TypeVar

import msgspec

from rankbench.model.base import Form, RankbenchError, Record
from rankbench.quantities import format_size, spell_count

T = TypeVar("T")
SIMILAR = 1.25
"""Sizes up to this multiple of the least one count as one: programs send messages that differ by a few elements."""
FORMAT = 1
HEAD = '"record": "calls of a program"'
ONE_THREAD = (
    "One thread of each rank calls, and MPI is initialised with MPI_THREAD_MULTIPLE, which makes the calls of some "
    "libraries slower."
)
OPTIONAL_BY_RANK = (
    *("neighbours", "completed", "pending_s", "waited_s", "matched", "between_s", "waiting_s", "late_ns"),
)
"""Fields of a kind that have a value for each rank, or none."""
COMPLETION = re.compile("MPI_(Wait|Test)(all|any|some)?")


class Partner(Record, frozen=True):
    """How often ranks called with a partner, by its distance."""

    distance: int
    """Upwards from the own rank, around the end; -1: MPI_PROC_NULL, -2: MPI_ANY_SOURCE."""
    calls: int


class Bin(Record, frozen=True):
    """Calls whose time is in a range: the distribution has eight ranges per octave."""

    time_ns: float
    """Begin of the range."""
    calls: int


class Kind(Record, frozen=True):
    """Calls that differ in nothing but time and partner. Lists have an element for each rank."""

    call: str
    """Such as MPI_Allreduce."""
    form: Form
    bytes: int
    """Data of one partner; -1: of several kinds that did not fit into the recorder's table."""
    gaps: bool
    """Whether its datatype has gaps."""
    ranks: int
    """Size of its communicator or window; 0: it has none."""
    root: int
    """-1: it has none."""
    calls: list[int]
    seconds: list[float]
    """Within the call."""
    shortest_ns: float
    longest_ns: float
    distribution: list[Bin]
    """Over all ranks."""
    partners: list[Partner] = []
    other_partners: int = 0
    """Calls with a partner that is not listed."""
    datatype: str = ""
    """Of numbers: `float`, `double` or `int`; empty: another one, or not known."""
    neighbours: list[int] = []
    """How many different partners each rank had, up to eight."""
    completed: list[int] = []
    """Of nonblocking and persistent calls."""
    pending_s: list[float] = []
    """From start to completion."""
    waited_s: list[float] = []
    """Within Wait and Test for these calls; of Wait and Test: what belongs to such calls."""
    matched: list[int] = []
    """Collectives whose arrivals are known at all ranks; messages of which both ends are known."""
    between_s: list[float] = []
    """From the end of the rank's previous call to the begin of this one."""
    waiting_s: list[float] = []
    """For ranks that arrived later, or partners that sent or received later, estimated from those."""
    late_ns: list[list[float]] = []
    """How long after the first rank each rank arrived at these collectives: in a tenth, half and nine tenths of them at
    most so long; empty: not known of this rank."""


class Dropped(Record, frozen=True):
    """What did not fit into the memory of the recorder, over all ranks."""

    merged_kinds: int = 0
    """Calls whose size, root and communicator are not known."""
    requests: int = 0
    communicators: int = 0
    arrivals_kept: float = 1.0
    """Share of the collectives whose arrivals were kept."""
    messages: int = 0
    """Ends of messages that cannot be matched with the other one, such as receives from any source."""
    messages_kept: float = 1.0
    """Share of the other messages whose ends were kept."""


class RunRecord(Record, frozen=True):
    """One run of a program. Lists have an element for each rank."""

    record: Literal["calls of a program"]
    format: int
    command: list[str]
    library: str
    """Name of the library that it was built for."""
    version: str
    """What MPI_Get_library_version answered."""
    ranks: int
    hosts: list[str]
    seconds: list[float]
    """From the end of MPI_Init to the begin of MPI_Finalize, or to the last call."""
    finalised: list[bool]
    kinds: list[Kind]
    dropped: Dropped
    several_threads: bool = False
    """Whether more than one thread of a rank called; times of all are added up."""
    thread_multiple: bool = False
    """Whether the library was initialised with MPI_THREAD_MULTIPLE."""
    clock_bound_ns: float = 0.0
    """How far the clocks of ranks may differ; 0: they share one."""
    runs_mpi_s: list[float] = []
    """Time in MPI of the mean rank of several runs, of which this is the median one; empty: it is the only one."""


def decode(text: bytes, file: str) -> RunRecord:
    """Return the record. Raises RankbenchError if it is damaged or of a later format."""
    try:
        run = msgspec.json.decode(text, type=RunRecord)
    except msgspec.MsgspecError as error:
        raise RankbenchError(f"{file}: a damaged record of calls ({error})") from None
    if run.format != FORMAT or run.ranks < 1:
        raise RankbenchError(f"{file}: a record of calls of format {run.format}, expected {FORMAT}")
    for name, values in list_by_rank(run):
        if len(values) != run.ranks:
            raise RankbenchError(
                f"{file}: a damaged record of calls ({name} has {spell_count(len(values), 'value')}, and the run "
                f"{spell_count(run.ranks, 'rank')})"
            )
    return run


def list_by_rank(run: RunRecord) -> Iterator[tuple[str, Sequence[object]]]:
    """Yield the names of what has a value for each rank, and the values."""
    yield from (("seconds", run.seconds), ("hosts", run.hosts), ("finalised", run.finalised))
    for number, kind in enumerate(run.kinds):
        place = f"kinds[{number}]."
        yield from ((f"{place}calls", kind.calls), (f"{place}seconds", kind.seconds))
        for name in OPTIONAL_BY_RANK:
            if values := getattr(kind, name):
                yield f"{place}{name}", values


def encode(run: RunRecord) -> bytes:
    """Return the text of a record, a line for each kind of call."""
    return msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n"


def name_kind(kind: Kind) -> str:
    """Return the name of a call, with its form if the name does not show it."""
    return f"{kind.call} (started)" if kind.form == "persistent" else kind.call


def describe_size(kind: Kind) -> str:
    """Return the size of a kind of call."""
    return "various sizes" if kind.bytes < 0 else format_size(kind.bytes)


def split_by_size(sized: Iterable[T], find_bytes: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield what has similar sizes, in ascending order: up to SIMILAR times the least one."""
    similar: list[T] = []
    for each in sorted(sized, key=find_bytes):
        if similar and find_bytes(each) > SIMILAR * find_bytes(similar[0]):
            yield similar
            similar = []
        similar.append(each)
    if similar:
        yield similar


def count_nodes(run: RunRecord) -> int:
    """Return the number of hosts."""
    return len(set(run.hosts))


def sum_time(kind: Kind) -> list[float]:
    """Return each rank's time in MPI for the calls of a kind, with that of their Wait and Test, in seconds."""
    waited = kind.waited_s or [0.0] * len(kind.seconds)
    sign = -1 if COMPLETION.fullmatch(kind.call) else 1
    return [max(0.0, within + sign * more) for within, more in zip(kind.seconds, waited, strict=True)]


def sum_mpi(run: RunRecord) -> float:
    """Return the time in MPI of the mean rank, in seconds."""
    return sum(sum(sum_time(kind)) for kind in run.kinds) / run.ranks
