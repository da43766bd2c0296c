"""Reads the Intel MPI Benchmarks, all components: a head for each run, then a table for each benchmark and rank count.

Since version 2017 a megabyte of their bandwidths is 10^6 bytes (before: 2^20), and ranks meet in a barrier between the
calls of a collective. The version and the command line in the head show which applies.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from rankbench.files import write
from rankbench.foreign import Line, Role, Row, Table, Text, make_benchmark
from rankbench.foreign.fields import NONE, Drafts, Place, begins_a_row, make_variant
from rankbench.foreign.running import RunRequest, find_option, set_repetitions
from rankbench.model import Foreign, Form, Meaning, Operation

if TYPE_CHECKING:
    from rankbench.model import Plan

NAME = "imb"
TITLE = "Intel MPI Benchmarks"

# --- the meaning of numbers -------------------------------------------------------------------------------------------

BANDWIDTH, DEFECTS = "Mbytes/sec", "defects"
MEGABYTE, OLD_MEGABYTE = 10**6, 1 << 20
COUNTED_BYTES = {
    1.0: "the bytes of one message over the longest time",
    2.0: "the bytes of a message sent and of one received over the longest time",
    4.0: "the bytes of two messages sent and of two received over the longest time",
}
REPETITIONS = (
    "1000 repetitions after some unscored ones, fewer for sizes that would move more than 40 MB or take more than 10 "
    "s, or as set by -iter and -time"
)
REPETITIONS_MT = "1000 repetitions after 100 unscored ones, or as set by -repeat and -warmup"
REPETITIONS_P2P = "100000 repetitions after some unscored ones, fewer for messages above 8 KiB"
MEAN = "mean over ranks (t_min: the fastest rank, t_max: the slowest) of a rank's"
SINGLY = f"{MEAN} mean time of a call; calls are timed one by one, with MPI_Barrier between them"
LOOP = f"{MEAN} time of a loop of back-to-back calls, divided by their number"
ORIGIN = "time of a loop of back-to-back calls, divided by their number"
SLOWER = f"{ORIGIN}, of the slowest rank"
THREADS = "mean over ranks and threads (t_min: the fastest, t_max: the slowest) of a thread's"
THREADS_LOOP = f"{THREADS} time of a loop of back-to-back calls, divided by their number"
COMPUTING = (
    "t_ovrl: mean time from the start of a call to its completion with a computation in between, of the slowest rank; "
    "t_pure: without the computation; t_CPU: the computation"
)
OVERLAPPED = "overlap: (t_pure + t_CPU - t_ovrl) over the longer of t_pure and t_CPU, clipped to 0 to 100%"
SHARE = "; the size is that of the sent vector, of which every rank gets a part"
COMPLETIONS = {
    "non-aggregate": "each call is completed before the next",
    "aggregate": "all calls are completed together at the end, and the time is divided by their number",
}
WINDOWS = (
    "bytes of acknowledged windows of messages, all from one buffer, from the first half of the ranks to the "
    "second{back}, of all pairs, over the time of the slowest rank"
)
TOTAL = f"{BANDWIDTH} and Msg/sec: all ranks' messages over the longest time"
REDUCTION = re.compile(r".*accumulate.*|fetch_and_op|i?(?:all)?reduce.*", re.IGNORECASE)
"""Benchmarks with reductions."""
OVERLAP, ANY_SOURCE, FENCE = {"quantity": "overlap"}, {"receive": "any-source"}, {"epoch": "fence"}
OverRanks = Literal["mean", "maximum", "one"]


class Benchmark(NamedTuple):
    """A benchmark in one of its modes."""

    component: str
    mode: str
    """`aggregate`, `non-aggregate`, or empty if there is one mode only."""
    operation: Operation
    options: dict[str, str]
    """Its properties, as options of the core."""


def make_meaning(
    text: str, over_ranks: OverRanks = "mean", *, repetitions: str = REPETITIONS, counted: float = 0.0, **more: Any
) -> Meaning:
    """Return a meaning. `counted`: how often the printed bandwidth counts a message; 0: no bandwidth is printed."""
    printed = [f"{BANDWIDTH}: {COUNTED_BYTES[counted]}"] if counted else []
    fields = {
        "over_calls": "mean",
        "over_ranks": over_ranks,
        "start": "none",
        "text": "; ".join([text, *printed, repetitions]),
        "counted": counted or 1.0,
        "megabyte": MEGABYTE if counted else 0,
    }
    return msgspec.convert(fields | more, Meaning)


def make_entry(
    component: str,
    spelling: str,
    meaning: Meaning,
    counterpart: str = "",
    *,
    mode: str = "",
    options: dict[str, str] | None = None,
    form: Form = "blocking",
    **more: Any,
) -> Benchmark:
    """Return a benchmark; `more` are further arguments of `make_benchmark`."""
    name = f"{component}-{spelling.lower()}" + ("-aggregate" if mode == "aggregate" else "")
    title = f"{spelling} of IMB-{component.upper()}" + (f", {mode}" if mode else "")
    overlap = (options or {}).get("quantity") == "overlap"
    operation = make_benchmark(
        NAME,
        name,
        spelling,
        title,
        meaning,
        counterpart=counterpart,
        forms=(form,),
        overlap=overlap,
        whole_vector=counterpart.startswith("reduce_scatter"),
        datatype="float" if REDUCTION.fullmatch(spelling) else "byte",
        **more,
    )
    return Benchmark(component, mode, operation, options or {})


make_synchronised_meaning = functools.partial(make_meaning, start="library-barrier")
make_message = functools.partial(make_entry, kind="point-to-point")
make_remote = functools.partial(make_entry, kind="one-sided")
make_pair = functools.partial(make_message, ranks_exactly=2)
make_half_trip = functools.partial(make_meaning, trip="half")

ROOTED = ("bcast", "gather", "gatherv", "scatter", "scatterv", "reduce")
OTHERS = ("allreduce", "reduce_scatter", "allgather", "allgatherv", "alltoall", "alltoallv")
THREADED = ("AllReduce", "Bcast", "Reduce", "Gather", "Gatherv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv")


def list_mpi1() -> Iterator[Benchmark]:
    """Yield the collectives of IMB-MPI1."""
    for call in (*ROOTED, *OTHERS, "reduce_scatter_block"):
        text = SINGLY + SHARE * call.startswith("reduce_scatter")
        yield make_entry("mpi1", call.capitalize(), make_synchronised_meaning(text), call)
    yield make_entry("mpi1", "Reduce_local", make_synchronised_meaning(SINGLY), "reduce_local", kind="local")
    yield make_entry("mpi1", "Barrier", make_meaning(LOOP), "barrier", sized=False)


def list_started_collectives() -> Iterator[Benchmark]:
    """Yield the collectives of IMB-NBC and IMB-MPI4, with a computation and without."""
    for call in (*ROOTED, *OTHERS):
        yield from list_overlap_pair("nbc", f"I{call}", f"I{call}_pure", call, "nonblocking")
    for call in ("bcast", "alltoall", "reduce"):
        name = call.capitalize()
        yield from list_overlap_pair("mpi4", f"{name}_persistent", f"{name}_pure_persistent", call, "persistent")
    barrier = functools.partial(make_entry, "nbc", counterpart="barrier", form="nonblocking", sized=False)
    yield barrier(
        "Ibarrier",
        make_meaning(f"{COMPUTING}; {OVERLAPPED}; calls are back to back", "maximum"),
        options=OVERLAP,
    )
    yield barrier("Ibarrier_pure", make_meaning(LOOP))


def list_overlap_pair(component: str, spelling: str, pure: str, call: str, form: Form) -> Iterator[Benchmark]:
    """Yield a benchmark with a computation during its calls, and one without."""
    share = SHARE * call.startswith("reduce_scatter")
    text = f"{COMPUTING}; {OVERLAPPED}; MPI_Barrier between calls{share}"
    yield make_entry(component, spelling, make_synchronised_meaning(text, "maximum"), call, form=form, options=OVERLAP)
    yield make_entry(component, pure, make_synchronised_meaning(SINGLY + share), call, form=form)


def list_point_to_point() -> Iterator[Benchmark]:
    """Yield the point-to-point benchmarks of IMB-MPI1."""
    latency = functools.partial(make_pair, "mpi1", counterpart="pingpong", metric="latency")
    means = make_half_trip(f"half of a round trip: half of the {SLOWER}", "maximum", counted=1.0)
    for spelt in ("PingPong", "PingPongSpecificSource"):
        yield latency(spelt, means)
    yield latency("PingPongAnySource", means, options=ANY_SOURCE)
    means = make_meaning(f"MPI_Isend, MPI_Recv and MPI_Wait on both ranks: {SLOWER}", "maximum", counted=1.0)
    for spelt in ("PingPing", "PingPingSpecificSource"):
        yield make_pair("mpi1", spelt, means, "pingping")
    yield make_pair("mpi1", "PingPingAnySource", means, options=ANY_SOURCE)
    yield make_message("mpi1", "Sendrecv", make_meaning(f"MPI_Sendrecv around a ring: {LOOP}", counted=2.0), "sendrecv")
    text = f"MPI_Isend to both neighbours in a ring, MPI_Recv from both, MPI_Waitall: {LOOP}"
    yield make_message("mpi1", "Exchange", make_meaning(text, counted=4.0), "exchange")


def list_bandwidths(component: str, one_way: str, both_ways: str, repetitions: str) -> Iterator[Benchmark]:
    """Yield the benchmarks whose value is a bandwidth."""
    for spelt, back, counted, core in ((one_way, "", 1.0, ""), (both_ways, " and back", 2.0, "-bidirectional")):
        text = WINDOWS.format(back=back)
        means = make_meaning(text, "maximum", repetitions=repetitions, megabyte=MEGABYTE)
        means = msgspec.structs.replace(means, counted=counted)
        yield make_message(
            component,
            spelt,
            means,
            f"message-rate{core}",
            metric="bandwidth",
            form="nonblocking",
            one_buffer=True,
        )


def list_ext() -> Iterator[Benchmark]:
    """Yield the benchmarks of IMB-EXT."""
    for mode, how in COMPLETIONS.items():
        ext = functools.partial(make_remote, "ext", mode=mode, options=FENCE)
        for call in ("Put", "Get"):
            text = f"MPI_{call} and MPI_Win_fence between two ranks: {SLOWER}; {how}"
            means = make_meaning(text, "maximum", counted=1.0)
            yield ext(f"Unidir_{call}", means, find_one_sided_counterpart(call, mode), ranks_exactly=2)
            yield ext(f"Bidir_{call}", means, ranks_exactly=2)
        yield ext("Accumulate", make_meaning(f"MPI_Accumulate of all ranks to rank 0 and MPI_Win_fence: {LOOP}; {how}"))
    text = f"MPI_Win_create, MPI_Win_fence, MPI_Put, MPI_Win_fence and MPI_Win_free: {LOOP}"
    yield make_remote("ext", "Window", make_meaning(text))


def find_one_sided_counterpart(call: str, mode: str) -> str:
    """Return the core's operation for a one-sided call; empty in aggregate mode, since the core completes each call."""
    return call.lower() if mode == "non-aggregate" else ""


def list_rma_pairs() -> Iterator[Benchmark]:
    """Yield the benchmarks of IMB-RMA between two ranks."""
    for mode, how in COMPLETIONS.items():
        rma = functools.partial(make_remote, "rma", mode=mode, ranks_exactly=2)
        text = f"{{}} within one lock, completed by MPI_Win_flush{{}}: {ORIGIN}; {how}"
        for call in ("Put", "Get"):
            means = make_meaning(text.format(f"MPI_{call}", ""), "one", counted=1.0)
            yield rma(f"Unidir_{call.lower()}", means, find_one_sided_counterpart(call, mode))
            both_ways = text.format(f"MPI_{call} of both ranks", "").replace(ORIGIN, SLOWER)
            yield rma(f"Bidir_{call.lower()}", make_meaning(both_ways, "maximum", counted=1.0))
            means = make_meaning(text.format(f"MPI_{call}", "_local"), "one", counted=1.0)
            yield rma(f"{call}_local", means, find_one_sided_counterpart(call, mode), options={"epoch": "flush_local"})
        for call in ("Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap"):
            means = make_meaning(text.format(f"MPI_{call}", ""), "one", counted=1.0)
            yield rma(call, means, find_one_sided_counterpart(call, mode), sized="accumulate" in call.lower())


def list_rma_groups() -> Iterator[Benchmark]:
    """Yield the other benchmarks of IMB-RMA, most of which complete all calls together."""
    rma, together = functools.partial(make_remote, "rma"), COMPLETIONS["aggregate"]
    for call in ("Put", "Get"):
        means = make_meaning(f"rank 0's MPI_{call} with every other rank: {ORIGIN}; {together}", "one", counted=1.0)
        for spelt in (f"One_{call.lower()}_all", f"{call}_all_local"):
            yield rma(spelt, means)
        text = f"every rank's MPI_{call} with every other rank: {LOOP}; {together}"
        yield rma(f"All_{call.lower()}_all", make_meaning(text))
        text = f"MPI_{call} with both neighbours in a ring, then MPI_Win_flush: {LOOP}"
        yield rma(f"Exchange_{call.lower()}", make_meaning(text), f"{call.lower()}-exchange")
    text = (
        "t_pure: MPI_Put, MPI_Win_flush and MPI_Barrier while the target waits in the barrier, mean of a loop; t_ovrl: "
        "while the target computes for as long as that before the barrier"
    )
    yield rma("Truly_passive_put", make_meaning(text, "one"), ranks_exactly=2)


def list_io() -> Iterator[Benchmark]:
    """Yield the benchmarks of IMB-IO; the core has no counterparts."""
    pointers = {"S": ("Indv", "Expl"), "P": ("Indv", "Expl", "Shared", "Priv"), "C": ("Indv", "Expl", "Shared")}
    synced = {
        "aggregate": "written data are synced at the end",
        "non-aggregate": "written data are synced by each call",
    }
    for (who, places), verb, (mode, how) in itertools.product(pointers.items(), ("Write", "Read"), synced.items()):
        io = functools.partial(make_entry, "io", kind="file", mode=mode)
        computing = make_meaning(f"{COMPUTING}, of 10 ms; {how}", "maximum")
        for place in places:
            yield io(f"{who}_{verb}_{place}", make_meaning(f"{LOOP}; {how}", counted=1.0))
            yield io(f"{who}_I{verb}_{place}", computing, form="nonblocking", options=OVERLAP)
    yield make_entry(
        "io", "Open_Close", make_meaning(f"MPI_File_open and MPI_File_close: {LOOP}"), kind="file", sized=False
    )


def list_mt() -> Iterator[Benchmark]:
    """Yield the benchmarks of IMB-MT, in which all threads call at the same time."""
    mt = functools.partial(make_meaning, repetitions=REPETITIONS_MT)
    means = mt(f"half of a round trip, all pairs at once: {THREADS_LOOP}", counted=1.0, trip="half")
    yield make_message("mt", "PingPongMT", means, "pingpong-pairs", metric="latency")
    text = f"MPI_Isend, MPI_Recv and MPI_Wait on both ranks of a pair, all pairs at once: {THREADS_LOOP}"
    yield make_message("mt", "PingPingMT", mt(text, counted=1.0))
    far = "half the ranks away, or as set by -stride"
    yield make_message("mt", "SendRecvMT", mt(f"MPI_Sendrecv with ranks {far}: {THREADS_LOOP}", counted=2.0))
    text = f"MPI_Isend to both ranks {far}, MPI_Recv from both, MPI_Waitall: {THREADS_LOOP}"
    yield make_message("mt", "ExchangeMT", mt(text, counted=4.0))
    yield from list_bandwidths("mt", "UniBandMT", "BiBandMT", REPETITIONS_MT)
    between = "with MPI_Barrier five times between them, or as set by -barrier"
    text = f"{THREADS} mean time of a call; calls are timed one by one, {between}"
    for spelt in THREADED:
        yield make_entry("mt", f"{spelt}MT", mt(text, start="library-barrier"), spelt.lower())
    yield make_entry("mt", "BarrierMT", mt(THREADS_LOOP), "barrier", sized=False)


def list_p2p() -> Iterator[Benchmark]:
    """Yield the benchmarks of IMB-P2P."""
    p2p = functools.partial(make_meaning, repetitions=f"{TOTAL}; {REPETITIONS_P2P}", megabyte=MEGABYTE)
    loop = f"mean over ranks of a rank's {ORIGIN}"
    means = p2p(f"half of a round trip, all pairs at once: {loop}", trip="half")
    yield make_message("p2p", "PingPong", means, "pingpong-pairs", metric="latency")
    yield make_message("p2p", "PingPing", p2p(f"both ranks of a pair send and receive, all pairs at once: {loop}"))
    means = p2p(f"MPI_Sendrecv_replace around a ring: {loop}")
    yield make_message("p2p", "SendRecv_Replace", means, "sendrecv-replace")
    means = p2p(f"MPI_Irecv and MPI_Send around a random ring, new for each call within the timed part: {loop}")
    yield make_message("p2p", "Corandom", means, "random-pairs", options={"direction": "correlated"})
    for spelt, what in (
        ("Unirandom", "a message between two random ranks, new for each message, while the others wait"),
        ("Birandom", "a message in each direction between two random ranks, new for each call, while the others wait"),
        ("Stencil2D", "messages to and from the four neighbours on a periodic grid"),
        ("Stencil3D", "messages to and from the six neighbours on a periodic grid"),
    ):
        yield make_message("p2p", spelt, p2p(f"{what}: the sum of all ranks' times over the number of all messages"))


BENCHMARKS = [
    *itertools.chain(
        list_mpi1(),
        list_started_collectives(),
        list_point_to_point(),
        list_bandwidths("mpi1", "Uniband", "Biband", REPETITIONS),
    ),
    *itertools.chain(list_ext(), list_rma_pairs(), list_rma_groups(), list_io(), list_mt(), list_p2p()),
]
OPERATIONS = [each.operation for each in BENCHMARKS]


def get_foreign(operation: Operation) -> Foreign:
    """Return the foreign part of an operation."""
    return msgspec.convert(operation.foreign, Foreign)


KNOWN: dict[str, list[Benchmark]] = {}
"""By their names in lower case: IMB ignores the case."""
for each in BENCHMARKS:
    KNOWN.setdefault(get_foreign(each.operation).benchmark.lower(), []).append(each)


def make_unknown(component: str, spelling: str, columns: Sequence[str], *, sized: bool) -> Benchmark:
    """Return a benchmark that is not in the table, from its headings."""
    value = columns[find_roles(columns)["value"]]
    text = f"unknown to rankbench: {value} by the heading; assumed to be a mean over calls, as in other tables of IMB"
    over_ranks: OverRanks = "mean" if value == "t_avg[usec]" else "maximum"
    means = Meaning(over_calls="mean", over_ranks=over_ranks, start="not reported", text=text, megabyte=MEGABYTE)
    metric = "bandwidth" if value == BANDWIDTH else "time"
    return make_entry(component or "unknown", spelling, means, metric=metric, sized=sized)


# --- a run ------------------------------------------------------------------------------------------------------------

HEAD = re.compile(
    r"#\s*(?:Intel ?\(R\)|PALLAS) MPI Benchmarks?(?: Suite)? V?(?P<version>\d.*?), (?P<part>\S+) part(?P<gpu> \(GPU\))?"
)
COMMAND = "# Calling sequence was:"
MAX_WORDS = 4096
FACTS = {
    "Date": "date",
    "Machine": "machine",
    "System": "system",
    "Release": "release",
    "Version": "kernel",
    "MPI Version": "mpi_version",
    "MPI Thread Environment": "thread_environment",
}
"""Names of a table's facts by the lines of the head."""
PARTS = {
    "MPI-1": "mpi1",
    "MPI-2": "ext",
    "MPI-IO": "io",
    "MPI-NBC": "nbc",
    "MPI-RMA": "rma",
    "RMA": "rma",
    "MPI-4": "mpi4",
    "MT": "mt",
    "IMB-P2P": "p2p",
}
"""Components by their names in the head."""
OFF, ON = {"off", "0", "disable", "no"}, {"on", "1", "enable", "yes"}
LATEST_VERSION = (2021, 11)


@dataclass
class Run:
    """The head of a run."""

    version: str = ""
    part: str = ""
    accelerated: bool = False
    """Whether the program uses messages in the memory of an accelerator."""
    head_facts: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    """The command line."""
    in_command: bool = False
    datatypes: dict[str, str] = field(default_factory=dict)

    @property
    def component(self) -> str:
        """The component's name; empty if the head has no known one."""
        return PARTS.get(self.part, "")

    @property
    def version_number(self) -> tuple[int, ...]:
        """The version as numbers, such as (2019, 6) for `2019 Update 6`; the latest one if not printed."""
        return tuple(int(each) for each in re.findall(r"\d{1,9}", self.version, re.ASCII)) or LATEST_VERSION

    @property
    def is_before_2017(self) -> bool:
        """Whether the version is older than 2017, when the meaning of numbers changed."""
        return self.version_number < (2017,)

    @property
    def facts(self) -> dict[str, str]:
        """Facts about the run."""
        return {**self.head_facts, "command": " ".join(self.words)} if self.words else dict(self.head_facts)

    def get_argument(self, option: str) -> str:
        """Return the word after an option in the command line, in lower case; empty without it."""
        return next((value.lower() for name, value in itertools.pairwise(self.words) if name.lower() == option), "")

    def take(self, text: str) -> None:
        """Read a line of the head."""
        if text.startswith(COMMAND):
            self.in_command = True
        elif self.in_command:
            self.take_command(text.removeprefix("#").split())
        else:
            name, _, value = text.removeprefix("#").partition(":")
            self.take_fact(name.strip(), value.strip())

    def take_command(self, words: list[str]) -> None:
        """Read a line of the command line, which can continue in the next line and ends with an empty one."""
        self.words.extend(words[: MAX_WORDS - len(self.words)])
        self.in_command = bool(words) or not self.words

    def take_fact(self, name: str, value: str) -> None:
        """Read a line with a name and a value."""
        if name in FACTS and value:
            self.head_facts.setdefault(FACTS[name], value)
        elif name.startswith("MPI_Datatype"):
            self.datatypes[name] = value.removeprefix("MPI_").lower()


def list_changes(run: Run, entry: Benchmark, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield how a benchmark differs in a run: a name, changes of the meaning, and an addition to its text."""
    means = get_foreign(entry.operation).meaning
    sync = run.get_argument("-sync")
    if means.start == "library-barrier" and entry.component != "mt":
        if sync in OFF or (run.is_before_2017 and sync not in ON):
            yield "unsynchronised", {"start": "none"}, "but here without the barrier: calls are back to back"
        elif run.get_argument("-imb_barrier") in ON:
            yield "imb-barrier", {"start": "barrier"}, "but here with IMB's own barrier of MPI_Sendrecv"
    if means.megabyte and run.is_before_2017:
        yield "before-2017", {"megabyte": OLD_MEGABYTE}, "a megabyte has 2^20 bytes"
    value = columns[find_roles(columns, entry.operation.metric)["value"]]
    if means.over_ranks == "maximum" and value == "t_avg[usec]":
        yield "groups", {"over_ranks": "mean"}, "but here t_avg, the mean over the ranks of all groups (-multi 0)"
    if DEFECTS in columns:
        yield "checked", {"data": "checked"}, "received data are checked within the loop, since built with -DCHECK"


def adapt_to_run(run: Run, entry: Benchmark, columns: Sequence[str]) -> Operation:
    """Return a benchmark's operation, adapted to a run."""
    operation = entry.operation
    for name, change, text in list_changes(run, entry, columns):
        text = f"{get_foreign(operation).meaning.text}; {text}"
        operation = make_variant(operation, name, text=text, **change)
    return operation


# --- a table ----------------------------------------------------------------------------------------------------------

BENCHMARK = re.compile(r"# Benchmarking (?:Multi-)?(?P<name>\S+)(?: \((?P<grid>\d+(?: x \d+)+)\))?$", re.ASCII)
HEADINGS = re.compile(r"(?:Group\s+)?#(?:bytes|repetitions)\s")
RANKS = re.compile(
    r"# (?:\( )?#processes = (?P<ranks>\d{1,9})(?: \))?(?: \(threads: (?P<threads>[1-9]\d{0,8})\))?", re.ASCII
)
"""In parentheses before it was Intel's."""
GROUPS = re.compile(r"# \( (?P<groups>\d{1,9}) groups of (?P<ranks>\d{1,9}) processes each", re.ASCII)
IDLE = re.compile(r"# \( (?P<idle>\d{1,9}) additional process", re.ASCII)
MODE = re.compile(r"#\s+MODE: (?P<mode>NON-AGGREGATE|AGGREGATE)\b")
WINDOW = re.compile(r"# window_size = (?P<window>\d{1,9})", re.ASCII)
END = "# All processes entering MPI_Finalize"
CHECK_FAILED = "CHECK FAILURES"
SKIPPED_SIZE = re.compile(r"\s(?:time-out\.|out-of-mem\.|int-overflow\.?;)")
GROUP, SIZE = "Group", "#bytes"
ROLES: dict[str, Role] = {
    "#repetitions": "repetitions",
    "t_min[usec]": "minimum",
    "t_max[usec]": "maximum",
    "t_pure[usec]": "pure",
    "t_CPU[usec]": "compute",
    "overlap[%]": "overlap",
    "Msg/sec": "rate",
}
TIMES = ("t_ovrl[usec]", "t_avg[usec]", "t[usec]")
"""The value is the first of these that a table has."""


@dataclass
class Section:
    """A table while it is read; with `-multi 1` one for each group of ranks."""

    file: str
    run: Run
    line: int
    spelling: str
    ranks: int = 0
    threads: int = 1
    mode: str = ""
    options: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    headings: list[str] = field(default_factory=list)
    drafts: Drafts = field(default_factory=Drafts)
    wrong: str = ""
    """Error message for the next row."""

    @functools.cached_property
    def columns(self) -> tuple[str, ...]:
        """The headings without group and size."""
        return tuple(each for each in self.headings if each not in {GROUP, SIZE})

    @functools.cached_property
    def benchmark(self) -> Benchmark:
        """The benchmark, made from its headings if it is unknown."""
        same = KNOWN.get(self.spelling.lower(), [])
        if not self.run.component and len({each.component for each in same}) > 1:
            same = []
        component = self.run.component or next((each.component for each in same), "")
        benchmarks = [each for each in same if each.component == component and each.mode in {self.mode, ""}]
        if benchmarks:
            return benchmarks[0]
        return make_unknown(component, self.spelling, self.columns, sized=SIZE in self.headings)

    @functools.cached_property
    def operation(self) -> Operation:
        """The benchmark's operation, adapted to the run."""
        return adapt_to_run(self.run, self.benchmark, self.columns)

    def take(self, line: Line, text: str) -> None:
        """Read a line; `text` is without surrounding blanks."""
        place = Place(self.file, line.number)
        if begins_a_row(text):
            self.take_row(place, text)
        elif HEADINGS.match(text):
            self.take_headings(place, text.split())
        elif text.startswith("#"):
            self.take_title(text)
        else:
            self.wrong = text if text.startswith(CHECK_FAILED) else self.wrong
            self.drafts.keep_unrecognised(line)

    def take_title(self, text: str) -> None:
        """Read a line above the columns."""
        if match := RANKS.match(text):
            self.ranks, self.threads = int(match["ranks"]), int(match["threads"] or 1)
        elif match := GROUPS.match(text):
            self.ranks, self.options["groups"] = int(match["ranks"]), match["groups"]
        elif match := IDLE.match(text):
            self.facts["idle_ranks"] = match["idle"]
        elif match := MODE.match(text):
            self.mode = match["mode"].lower()
        elif match := WINDOW.match(text):
            self.options["window"] = match["window"]

    def take_headings(self, place: Place, headings: list[str]) -> None:
        """Read the line of headings. Raises RankbenchError for unknown ones."""
        if self.headings:
            raise place.make_error(f"headings again in the table of {self.spelling}, expected rows or '# Benchmarking'")
        self.headings = headings
        leading = [each for each in (GROUP, SIZE) if each in headings]
        if headings != [*leading, *self.columns]:
            raise place.make_error(
                f"columns of {self.spelling} in an order that is not IMB's: {' '.join(headings)[:200]}"
            )
        if "value" not in find_roles(self.columns):
            known, shown = ", ".join((*TIMES, BANDWIDTH)), " ".join(headings)
            raise place.make_error(f"no column of {self.spelling} is known: {shown[:200]} (known: {known})")

    def take_row(self, place: Place, text: str) -> None:
        """Read a row."""
        if not self.headings:
            raise place.make_error(f"a row of {self.spelling} before the line that names its columns, such as '{SIZE}'")
        reason = SKIPPED_SIZE.search(text)
        cells = [] if reason else place.split(text, self.headings)
        group, row = (
            self.read_skipped_row(place, text, reason.start()) if reason else self.read_measured_row(place, cells)
        )
        printed = cells[-len(self.columns) :]
        self.drafts.add(group, functools.partial(self.make_table, group), row, printed)
        self.wrong = ""

    def read_skipped_row(self, place: Place, text: str, reason: int) -> tuple[str, Row]:
        """Return the group and the row of a size that IMB skipped; the message begins at `reason`."""
        cells = place.split(text[:reason], [GROUP, SIZE] if GROUP in self.headings else [SIZE])
        size_bytes, wrong = self.parse_message_size(place, cells[-1]), " ".join(text[reason:].split())
        return self.parse_group(place, cells), Row(place.line, size_bytes, (NONE,) * len(self.columns), wrong)

    def read_measured_row(self, place: Place, cells: list[str]) -> tuple[str, Row]:
        """Return the group and the row of a line of numbers."""
        first = len(cells) - len(self.columns)
        numbers = tuple(map(place.parse_number, cells[first:], self.columns))
        size_bytes = self.parse_message_size(place, cells[first - 1]) if SIZE in self.headings else 0
        wrong = self.wrong or describe_defects(self.columns, numbers)
        return self.parse_group(place, cells), Row(place.line, size_bytes, numbers, wrong)

    def parse_group(self, place: Place, cells: list[str]) -> str:
        """Return the number of the group of ranks; empty without groups."""
        return str(place.parse_size(cells[0], GROUP)) if self.headings[0] == GROUP else ""

    def parse_message_size(self, place: Place, cell: str) -> int:
        """Return the size of a message, 0 without one: IMB-MT prints the size of all threads together."""
        size_bytes = place.parse_size(cell, SIZE)
        if size_bytes % self.threads:
            raise place.make_error(f"{SIZE} is '{size_bytes}', expected a multiple of the {self.threads} threads")
        return size_bytes // self.threads if self.operation.sized else 0

    def make_table(self, group: str) -> Table:
        """Return the table of a group, without rows."""
        operation, columns = self.operation, self.columns
        options = {
            **self.options,
            **self.benchmark.options,
            **self.collect_options(),
            **({"group": group} if group else {}),
        }
        column_roles = find_roles(columns, operation.metric)
        return Table(
            operation=operation,
            form=operation.form,
            datatype=self.find_datatype(),
            ranks=self.ranks,
            options=dict(sorted(options.items())),
            columns=columns,
            roles=column_roles,
            scale=find_scale(columns[column_roles["value"]], operation),
            rows=[],
            line=self.line,
            version=self.run.version,
            facts={**self.run.facts, **self.facts},
        )

    def collect_options(self) -> dict[str, str]:
        """Return the options that follow from the run's version and command line."""
        run, entry = self.run, self.benchmark
        name, counterpart = get_foreign(entry.operation).benchmark, get_foreign(entry.operation).counterpart
        more = {"mode": self.mode, "off_cache": run.get_argument("-off_cache")}
        if run.accelerated:
            more["memory"] = run.get_argument("-mem_alloc_type") or "device"
        if self.threads > 1:
            more["threads"] = str(self.threads)
        if entry.component == "mpi1" and name in {"Uniband", "Biband"}:
            more["window"] = run.get_argument("-window_size") or ("256" if run.version_number >= (2021, 2) else "64")
        if entry.component == "mpi1" and name in {"PingPong", "PingPing"} and run.version_number < (2017, 1):
            more |= ANY_SOURCE
        if counterpart in ROOTED and entry.component != "mt":
            more["root"] = (
                "rotating" if (run.get_argument("-root_shift") or ("off", "on")[run.is_before_2017]) in ON else ""
            )
        return {option: value for option, value in more.items() if value}

    def find_datatype(self) -> str:
        """Return the datatype by its name in the core; empty if unknown."""
        name = self.spelling.lower()
        if self.run.component == "p2p" or name == "compare_and_swap":
            return "byte" if self.run.component == "p2p" else "int"
        heading = "MPI_Datatype for reductions" if REDUCTION.fullmatch(name) else "MPI_Datatype"
        return self.run.datatypes.get(heading, "")


def find_roles(columns: Sequence[str], metric: str = "time") -> dict[Role, int]:
    """Return the column of each role: the value is a time if there is one, unless a bandwidth is measured."""
    column_roles: dict[Role, int] = {ROLES[name]: index for index, name in enumerate(columns) if name in ROLES}
    order = (BANDWIDTH, *TIMES) if metric == "bandwidth" else (*TIMES, BANDWIDTH)
    value = next((name for name in order if name in columns), None)
    return column_roles if value is None else {"value": columns.index(value), **column_roles}


def find_scale(heading: str, operation: Operation) -> float:
    """Return the factor that converts a value to nanoseconds or bytes per second."""
    return float(get_foreign(operation).meaning.megabyte) if heading == BANDWIDTH else 1000.0


def describe_defects(columns: Sequence[str], numbers: Sequence[float]) -> str:
    """Return IMB's message about wrong data in a row; empty if there is none."""
    value = numbers[columns.index(DEFECTS)] if DEFECTS in columns else 0.0
    return f"{DEFECTS}: {value:g}" if value else ""


# --- a text -----------------------------------------------------------------------------------------------------------


def recognises(head: Sequence[Line]) -> bool:
    """Return whether the first lines of a text are from IMB."""
    return any(HEAD.match(text) or BENCHMARK.match(text) for text in (line.text.strip() for line in head))


def read(text: Text) -> Iterator[Table]:
    """Yield the tables of a text. Raises RankbenchError if one is damaged."""
    run, section = Run(), None
    for line in text.lines:
        stripped = line.text.strip()
        if section and not stripped.startswith("#"):
            section.take(line, stripped)
            continue
        head, title = HEAD.match(stripped), BENCHMARK.match(stripped)
        if section and (head or title or stripped.startswith(END)):
            yield from section.drafts.finish()
            section = None
        if head:
            run = Run(head["version"], head["part"], bool(head["gpu"]))
        elif title:
            section = Section(text.file, run, line.number, title["name"])
            section.options |= {"grid": title["grid"].replace(" ", "")} if title["grid"] else {}
        elif section:
            section.take(line, stripped)
        else:
            run.take(stripped)
    if section:
        yield from section.drafts.finish()


# --- running ----------------------------------------------------------------------------------------------------------

SIZES = "sizes.txt"
"""File in the folder of a launch."""


TYPE_OPTION = "-red_data_type"


def program(operation: Operation) -> str:
    """Return the name of a benchmark's program."""
    component = next(entry.component for entry in BENCHMARKS if entry.operation.name == operation.name)
    return f"IMB-{component.upper()}"


def apply_plan(operation: Operation, plan: Plan, user_arguments: Sequence[str]) -> Operation:
    """Return a benchmark with the datatype and repetitions of a plan and of the user's arguments."""
    times = find_option(user_arguments, ("-iter",)) or str(plan.sampling.good)
    limit = find_option(user_arguments, ("-time",)) or f"{plan.case_limit_s:g}"
    fewer = f"{{}} repetitions after some unscored ones, fewer for sizes that would take more than {limit} s"
    kind = find_option(user_arguments, (TYPE_OPTION,)).lower() if operation.datatype == "float" else ""
    return replace(set_repetitions(operation, {REPETITIONS: fewer}, times), datatype=kind or operation.datatype)


def arguments(request: RunRequest) -> list[str]:
    """Return the arguments of the program: the benchmark on all ranks, sizes, and as many repetitions as samples."""
    words = [get_foreign(request.operation).benchmark, "-npmin", str(request.ranks)]
    words += ["-iter", str(request.plan.sampling.good), "-time", f"{request.plan.case_limit_s:g}"]
    if request.operation.sized:
        path = request.folder / SIZES
        write(path, "".join(f"{size}\n" for size in request.sizes))
        words += ["-msglen", str(path)]
    return words
