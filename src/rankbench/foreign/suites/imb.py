"""The Intel MPI Benchmarks, all components, and the meaning of their numbers."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import msgspec

from rankbench.foreign import make_benchmark
from rankbench.model import Foreign, Form, Meaning, Operation

NAME = "imb"
TITLE = "Intel MPI Benchmarks"

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
