"""The OSU micro-benchmarks, and the meaning of their numbers for the default options of a program."""

from __future__ import annotations

from typing import Literal

from rankbench.foreign import make_benchmark
from rankbench.model import Form, Meaning, Operation

NAME = "osu"
TITLE = "OSU micro-benchmarks"

MEGABYTE = 10**6

LATENCY_LOOP = "10,000 times after 100 unscored ones, above 8 KiB 1,000 times after 10"
WINDOW_LOOP = "100 windows of 64 messages, all from one buffer, after 10 unscored ones, above 8 KiB 20 windows after 2"
COLLECTIVE_LOOP = "1,000 calls after 100 unscored ones, above 8 KiB 100 calls after 10"
MB = "1 MB is 10^6 bytes"
LIBRARY_TIME = "time in the call, between two readings of MPI_Wtime, with MPI_Barrier after each call outside of that"
REDUCTION_NOTE = "; reduces MPI_FLOAT, since version 7.1 MPI_CHAR unless the output says otherwise"

SEND_SIZE = "the size is what each rank sends"
VECTOR = f"the size is each rank's whole vector{REDUCTION_NOTE}"
BLOCK = "the size is the block from each rank to each"
COLLECTIVES = {
    "allgather": SEND_SIZE,
    "allgatherv": SEND_SIZE,
    "allreduce": VECTOR,
    "alltoall": BLOCK,
    "alltoallv": BLOCK,
    "alltoallw": BLOCK,
    "barrier": "there is no size",
    "bcast": "the size is what the root, rank 0, sends",
    "gather": f"{SEND_SIZE} to the root, rank 0",
    "gatherv": f"{SEND_SIZE} to the root, rank 0",
    "reduce": f"{VECTOR}; the root is rank 0",
    "reduce_scatter": f"the size is each rank's whole vector, of which every rank gets a part{REDUCTION_NOTE}",
    "reduce_scatter_block": f"the size is each rank's whole vector, of which every rank gets a part{REDUCTION_NOTE}",
    "scatter": "the size is the block that each rank gets from the root, rank 0",
    "scatterv": "the size is the block that each rank gets from the root, rank 0",
    "neighbor_allgather": "the size is what each rank sends to every neighbour",
    "neighbor_allgatherv": "the size is what each rank sends to every neighbour",
    "neighbor_alltoall": "the size is the block from each rank to each of its neighbours",
    "neighbor_alltoallv": "the size is the block from each rank to each of its neighbours",
    "neighbor_alltoallw": "the size is the block from each rank to each of its neighbours",
}
"""MPI's collective calls, with the meaning of their size."""
WHOLE_VECTOR = {"reduce_scatter", "reduce_scatter_block"}
"""Calls whose size is the vector of all p ranks; the core's size is one block of it."""
REDUCING = {"allreduce", "reduce", "reduce_scatter", "reduce_scatter_block"}
REDUCING |= {"acc_latency", "get_acc_latency", "cas_latency", "fop_latency"}


def _make_collective(call: str, form: Form, meaning: Meaning) -> Operation:
    spelt = {"blocking": call, "nonblocking": f"i{call}", "persistent": f"{call}_persistent"}[form]
    neighbours = call.startswith("neighbor")
    return make_benchmark(
        NAME,
        spelt,
        f"osu_{spelt}",
        f"MPI_{call.capitalize()}, {form}, by OSU",
        meaning,
        # The output does not show the grid of the neighbours.
        counterpart="" if neighbours or call in WHOLE_VECTOR else call,
        kind="neighbourhood" if neighbours else "collective",
        forms=(form,),
        sized=call != "barrier",
        overlap=form == "nonblocking",
        datatype="float" if call in REDUCING else "byte",
    )


def _make_blocking(call: str) -> Operation:
    start: Literal["none", "library-barrier"] = "none" if call == "barrier" else "library-barrier"
    loop = "time of a call in a loop" if call == "barrier" else LIBRARY_TIME
    text = f"mean over ranks of each rank's mean {loop}; {COLLECTIVE_LOOP}; {COLLECTIVES[call]}"
    return _make_collective(call, "blocking", Meaning(over_calls="mean", over_ranks="mean", start=start, text=text))


def _make_nonblocking(call: str) -> Operation:
    text = (
        "Overall is the mean over ranks of each rank's mean time of the call, a computation as long as the "
        "communication alone, and MPI_Wait, with MPI_Barrier after it; Pure Comm. is the same for call and MPI_Wait "
        f"alone; Overlap is the share of it that the computation hides; {COLLECTIVE_LOOP}; {COLLECTIVES[call]}"
    )
    meaning = Meaning(over_calls="mean", over_ranks="mean", start="library-barrier", text=text)
    return _make_collective(call, "nonblocking", meaning)


def _make_persistent(call: str) -> Operation:
    start: Literal["not reported", "library-barrier"] = "not reported" if call == "barrier" else "library-barrier"
    text = (
        f"mean over ranks of each rank's mean time of MPI_Start and MPI_Wait, without MPI_{call.capitalize()}_init, "
        f"which is called before; {COLLECTIVE_LOOP}; {COLLECTIVES[call]}"
    )
    return _make_collective(call, "persistent", Meaning(over_calls="mean", over_ranks="mean", start=start, text=text))


def _make_half_trip(
    name: str, text: str, *, counterpart: str = "", form: Form = "blocking", pairs: bool = False
) -> Operation:
    meaning = Meaning(
        over_calls="mean",
        over_ranks="mean" if pairs else "one",
        start="none",
        trip="half",
        text=f"half of the mean time of a message and an answer of the same size; {text}; {LATENCY_LOOP}",
    )
    return make_benchmark(
        NAME,
        name,
        f"osu_{name}",
        f"half a round trip, {text}, by OSU",
        meaning,
        counterpart=counterpart,
        metric="latency",
        kind="point-to-point",
        forms=(form,),
        ranks_exactly=0 if pairs else 2,
        in_pairs=pairs,
    )


def _make_windows(
    name: str,
    text: str,
    *,
    counterpart: str = "",
    form: Form = "nonblocking",
    kind: str = "point-to-point",
    counted: float = 1.0,
    many: bool = False,
    metric: Literal["bandwidth", "rate"] = "bandwidth",
) -> Operation:
    meaning = Meaning(
        over_calls="mean",
        over_ranks="mean" if many else "one",
        start="none",
        counted=counted,
        megabyte=MEGABYTE if metric == "bandwidth" else 0,
        text=f"all bytes over the whole time, {text}; {WINDOW_LOOP}; {MB}",
    )
    return make_benchmark(
        NAME,
        name,
        "osu_mbw_mr" if metric == "rate" else f"osu_{name}",
        f"{text}, by OSU",
        meaning,
        counterpart=counterpart,
        metric=metric,
        kind=kind,
        forms=(form,),
        ranks_exactly=0 if many else 2,
        in_pairs=many and not name.startswith("bw_fan"),
        one_buffer=True,
    )


def _make_remote(name: str, counterpart: str, text: str, *, pairs: bool = False, datatype: str = "byte") -> Operation:
    meaning = Meaning(
        over_calls="mean",
        over_ranks="mean" if pairs else "one",
        start="none",
        text=f"mean time of {text} and its completion, see `Synchronization` in the output; {LATENCY_LOOP}",
    )
    return make_benchmark(
        NAME,
        name,
        f"osu_{name}",
        f"{text}, by OSU",
        meaning,
        counterpart=counterpart,
        kind="one-sided",
        ranks_exactly=0 if pairs else 2,
        in_pairs=pairs,
        datatype=datatype,
    )


ANSWERED_WINDOWS = "windows of MPI_Isend until the receiver's short answer"
BOTH_WAYS = "bytes of both directions count"
PUT_HALF = "; with fences or post and start half of the time of a put there and one back"
START_UP = Meaning(
    over_calls="single",
    over_ranks="mean",
    start="none",
    text="mean over ranks of the time of MPI_Init, once in a launch, in whole milliseconds; min and max are over ranks",
)
OPERATIONS: list[Operation] = [
    *(_make_blocking(call) for call in COLLECTIVES),
    *(_make_nonblocking(call) for call in COLLECTIVES),
    *(
        _make_persistent(call)
        for call in COLLECTIVES
        if call != "reduce_scatter_block" and not call.startswith("neighbor")
    ),
    _make_half_trip("latency", "MPI_Send and MPI_Recv", counterpart="pingpong"),
    _make_half_trip("latency_persistent", "MPI_Start and MPI_Wait", counterpart="pingpong", form="persistent"),
    _make_half_trip(
        "latency_mt", "with several receiving threads, since 5.6 also sending threads, at each end in turn"
    ),
    _make_half_trip("latency_mp", "with forked processes of both ranks"),
    _make_half_trip("partitioned_latency", "by partitioned communication", form="persistent"),
    _make_half_trip("multi_lat", "all pairs at once, mean over ranks", counterpart="pingpong-pairs", pairs=True),
    _make_windows("bw", ANSWERED_WINDOWS, counterpart="bandwidth"),
    _make_windows("bw_persistent", "windows of MPI_Start until an answer", counterpart="bandwidth", form="persistent"),
    _make_windows("bibw", f"windows each way; {BOTH_WAYS}", counterpart="bandwidth-bidirectional", counted=2.0),
    _make_windows(
        "bibw_persistent",
        f"windows of MPI_Start each way; {BOTH_WAYS}",
        counterpart="bandwidth-bidirectional",
        form="persistent",
        counted=2.0,
    ),
    _make_windows(
        "mbw_mr", f"{ANSWERED_WINDOWS}, all pairs together, over their mean time", counterpart="message-rate", many=True
    ),
    _make_windows(
        "mbw_mr-rate",
        "messages per second of all pairs: their bandwidth over the size",
        counterpart="message-rate",
        many=True,
        metric="rate",
    ),
    _make_windows("bw_fan_in", "windows from all other nodes to one node, bytes of all together", many=True),
    _make_windows("bw_fan_out", "windows from one node to all others, bytes of all together", many=True),
    _make_remote("put_latency", "put", f"one MPI_Put{PUT_HALF}"),
    _make_remote("get_latency", "get", "one MPI_Get"),
    _make_remote("acc_latency", "accumulate", "one MPI_Accumulate of MPI_SUM", datatype="char"),
    _make_remote("get_acc_latency", "get_accumulate", "one MPI_Get_accumulate of MPI_SUM", datatype="char"),
    _make_remote("cas_latency", "compare_and_swap", "one MPI_Compare_and_swap; the size is the number's"),
    _make_remote("fop_latency", "fetch_and_op", "one MPI_Fetch_and_op of MPI_SUM; the size is the number's"),
    _make_remote("get_multi_lat", "", "one MPI_Get, all pairs of ranks at once, mean over pairs", pairs=True),
    _make_windows("put_bw", "windows of MPI_Put", counterpart="put-bandwidth", form="blocking", kind="one-sided"),
    _make_windows("get_bw", "windows of MPI_Get", counterpart="get-bandwidth", form="blocking", kind="one-sided"),
    _make_windows(
        "put_bibw",
        f"windows of MPI_Put each way; {BOTH_WAYS}",
        counterpart="put-bidirectional",
        form="blocking",
        kind="one-sided",
        counted=2.0,
    ),
    _make_windows(
        "get_mbw",
        "windows of MPI_Get, all pairs together, with MPI_Barrier before each; a second number, without a heading, is "
        "10^6 times the messages per second",
        form="blocking",
        kind="one-sided",
        many=True,
    ),
    make_benchmark(
        NAME, "init", "osu_init", "MPI_Init, by OSU", START_UP, counterpart="init", kind="process", sized=False
    ),
]
PROGRAMS = {operation.name.removeprefix(f"{NAME}-"): operation for operation in OPERATIONS}


def find_program(name: str) -> Operation | None:
    """Return the benchmark of a program, such as `osu_latency`; None if it is not known."""
    return PROGRAMS.get(name.removeprefix(f"{NAME}_"))
