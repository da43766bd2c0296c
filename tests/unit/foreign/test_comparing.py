"""Comparison of two benchmarks: their differences, the conversion between them, and refusals."""

from __future__ import annotations

from typing import Any

import pytest
from fakes import kinds
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from wording import WORDING

from rankbench.foreign import make_benchmark
from rankbench.foreign.comparing import Comparable, compare_benchmarks, describe_core_value
from rankbench.foreign.tools import imb, mpbench, osu, skampi
from rankbench.model import Meaning, Operation

FORMS = ["blocking", "nonblocking", "persistent"]


def read_core_operation(name: str, **others: object) -> Operation:
    return kinds.make_operation(name, "collective", **{"forms": FORMS, **others})


ALLREDUCE, BCAST, REDUCE_SCATTER = (
    read_core_operation("allreduce"),
    read_core_operation("bcast"),
    read_core_operation("reduce_scatter"),
)
PINGPONG = read_core_operation("pingpong", metric="latency", start="none")
SEND_GAP = read_core_operation("send-gap", start="none", rounds=32, forms=["blocking"])
BANDWIDTH = read_core_operation("bandwidth", metric="bandwidth", start="none")
BOTH_WAYS = read_core_operation("bandwidth-bidirectional", metric="bandwidth")
RATE = read_core_operation("message-rate", metric="rate")
INIT = read_core_operation("init", start="none", once=True, forms=["blocking"])
FOREIGN_BENCHMARKS = [*imb.OPERATIONS, *mpbench.OPERATIONS, *osu.OPERATIONS, *skampi.OPERATIONS]
CORE_OPERATIONS = [ALLREDUCE, BCAST, REDUCE_SCATTER, PINGPONG, SEND_GAP, BANDWIDTH, BOTH_WAYS, RATE, INIT]


def find_benchmark(name: str) -> Operation:
    return next(each for each in FOREIGN_BENCHMARKS if each.name == name)


def make_foreign(name: str, *, counterpart: str = "allreduce", metric: Any = "time", **meaning: Any) -> Operation:
    usual = {"over_calls": "mean", "over_ranks": "mean", "start": "none", "text": "all reported"}
    return make_benchmark(
        "tool", name, name, name, Meaning(**{**usual, **meaning}), counterpart=counterpart, metric=metric
    )


# --- the core's own operations ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "start", "meaning"),
    [
        (
            *(ALLREDUCE, "window"),
            Meaning(
                over_calls="median",
                over_ranks="span",
                start="window",
                text=WORDING,
                data="checked",
            ),
        ),
        (
            *(ALLREDUCE, "window-mpiperf"),
            Meaning(
                over_calls="median",
                over_ranks="span",
                start="window",
                text=WORDING,
                data="checked",
            ),
        ),
        (
            *(ALLREDUCE, "library-barrier"),
            Meaning(
                over_calls="median",
                over_ranks="maximum",
                start="library-barrier",
                text=WORDING,
                data="checked",
            ),
        ),
        (
            *(ALLREDUCE, "none"),
            Meaning(
                over_calls="mean",
                over_ranks="maximum",
                start="none",
                text=WORDING,
                data="checked",
            ),
        ),
        (
            *(PINGPONG, "none"),
            Meaning(
                over_calls="median",
                over_ranks="one",
                start="none",
                text=WORDING,
                trip="half",
                data="checked",
            ),
        ),
        (
            *(SEND_GAP, "none"),
            Meaning(
                over_calls="median",
                over_ranks="one",
                start="none",
                text=WORDING,
                trip="gap",
                data="checked",
            ),
        ),
        (
            *(BOTH_WAYS, "roundtime"),
            Meaning(
                over_calls="median",
                over_ranks="span",
                start="roundtime",
                text=WORDING,
                counted=2.0,
                data="checked",
            ),
        ),
        (
            *(RATE, "barrier"),
            Meaning(
                over_calls="median",
                over_ranks="maximum",
                start="barrier",
                text=WORDING,
                data="checked",
            ),
        ),
        (
            *(INIT, "none"),
            Meaning(
                over_calls="single",
                over_ranks="maximum",
                start="none",
                text=WORDING,
                data="checked",
            ),
        ),
    ],
    ids=lambda value: getattr(value, "name", value) if not isinstance(value, Meaning) else "",
)
def test_a_value_of_the_core_has_a_meaning(operation: Operation, start: str, meaning: Meaning) -> None:
    assert describe_core_value(operation, start) == meaning


# --- differences ------------------------------------------------------------------------------------------------------


def test_a_benchmark_equals_itself() -> None:
    assert compare_benchmarks(ALLREDUCE, ALLREDUCE) == Comparable([])
    assert compare_benchmarks(find_benchmark("imb-mpi1-bcast"), find_benchmark("imb-mpi1-bcast")) == Comparable([])


def test_a_collective_of_imb_is_compared_with_the_core() -> None:
    assert compare_benchmarks(find_benchmark("imb-mpi1-allreduce"), ALLREDUCE) == Comparable(WORDING)


def test_the_core_can_start_calls_as_imb_does() -> None:
    assert compare_benchmarks(find_benchmark("imb-mpi1-allreduce"), ALLREDUCE, "library-barrier") == Comparable(WORDING)


def test_two_benchmarks_of_one_name_are_distinguished() -> None:
    assert compare_benchmarks(make_foreign("a"), make_foreign("a", start="window")) == Comparable(WORDING)


def test_half_a_round_trip_is_doubled() -> None:
    operation = find_benchmark("skampi-pingpong_send_recv")
    comparable = compare_benchmarks(PINGPONG, operation)
    assert (comparable.factor, comparable.reason) == (2.0, "")
    assert comparable.differences == WORDING
    assert compare_benchmarks(operation, PINGPONG).factor == 0.5


def test_bytes_counted_twice_are_halved() -> None:
    once = make_foreign("once", metric="bandwidth", megabyte=10**6)
    twice = make_foreign("twice", metric="bandwidth", megabyte=10**6, counted=2.0)
    often = make_foreign("often", metric="bandwidth", megabyte=10**6, counted=4.0)
    odd = make_foreign("odd", metric="bandwidth", megabyte=10**6, counted=3.0)
    assert compare_benchmarks(twice, once) == Comparable(WORDING, 0.5)
    assert compare_benchmarks(twice, often) == Comparable(WORDING, 2.0)
    assert compare_benchmarks(once, odd).differences == WORDING


def test_counting_of_bytes_does_not_matter_for_times() -> None:
    assert compare_benchmarks(
        make_foreign("a", counted=4.0, megabyte=10**6), make_foreign("b", megabyte=1 << 20)
    ) == Comparable([])


def test_printed_megabytes_of_two_sizes_are_a_difference() -> None:
    now = make_foreign("now", metric="bandwidth", megabyte=10**6)
    then = make_foreign("then", metric="bandwidth", megabyte=1 << 20)
    assert compare_benchmarks(then, now) == Comparable(WORDING)
    kibi = make_foreign("kibi", metric="bandwidth", megabyte=1024)
    assert compare_benchmarks(kibi, now).differences == WORDING


def test_both_directions_count_alike_in_rankbench_and_osu() -> None:
    assert compare_benchmarks(find_benchmark("osu-bibw"), BOTH_WAYS).factor == 1.0


def test_bytes_per_second_are_converted_to_messages() -> None:
    comparable = compare_benchmarks(find_benchmark("imb-mpi1-uniband"), RATE)
    assert comparable.differences[-1] == WORDING
    assert (comparable.factor, comparable.reason) == (1.0, "")


def test_the_size_of_a_scattered_vector_is_reported() -> None:
    assert compare_benchmarks(find_benchmark("imb-mpi1-reduce_scatter"), REDUCE_SCATTER).differences[-1] == WORDING
    assert (
        compare_benchmarks(find_benchmark("imb-mpi1-reduce_scatter"), find_benchmark("osu-reduce_scatter")).differences
        == []
    )


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "other"),
    [
        (find_benchmark("imb-mpi1-bcast"), ALLREDUCE),
        (find_benchmark("imb-ext-window"), ALLREDUCE),
        (find_benchmark("imb-mpi1-allreduce"), find_benchmark("imb-nbc-iallreduce_pure")),
        (replace(ALLREDUCE, forms=["blocking", "persistent"]), find_benchmark("imb-nbc-iallreduce_pure")),
        (find_benchmark("mpbench-allreduce"), ALLREDUCE),
        (find_benchmark("mpbench-roundtrip"), PINGPONG),
        (make_foreign("latency", counterpart="pingpong", trip="gap"), PINGPONG),
        (make_foreign("call", counterpart="pingpong"), PINGPONG),
        (make_foreign("Bcast", counterpart="bcast"), BCAST),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_incomparable_benchmarks_are_refused(operation: Operation, other: Operation) -> None:
    assert compare_benchmarks(operation, other).reason == WORDING


def test_the_pipelined_side_may_be_the_core() -> None:
    assert compare_benchmarks(find_benchmark("imb-mpi1-bcast"), BCAST, "none").reason == WORDING
    assert compare_benchmarks(make_foreign("Bcast", counterpart="bcast"), BCAST, "none").reason == ""


def test_calls_that_cannot_overlap_are_comparable_with_any_start() -> None:
    assert compare_benchmarks(make_foreign("loop"), ALLREDUCE).reason == ""
    assert compare_benchmarks(make_foreign("Bcast", counterpart="bcast", start="not reported"), BCAST).reason == ""


def test_incomparable_benchmarks_have_no_factor() -> None:
    comparable = compare_benchmarks(make_foreign("twice", metric="bandwidth", counted=2.0, megabyte=10**6), ALLREDUCE)
    assert comparable.factor == 1.0


# --- symmetry ---------------------------------------------------------------------------------------------------------

STARTS = ["", "none", "barrier", "library-barrier", "window", "roundtime", "window-mpiperf"]
BENCHMARKS = st.builds(
    make_foreign,
    st.sampled_from(["a", "b"]),
    counterpart=st.sampled_from(["allreduce", "bcast", "pingpong", "reduce_scatter", ""]),
    metric=st.sampled_from(["time", "latency", "bandwidth", "rate"]),
    over_calls=st.sampled_from(["mean", "median", "minimum", "trimmed mean", "single"]),
    over_ranks=st.sampled_from(["mean", "maximum", "minimum", "one", "span"]),
    start=st.sampled_from(["none", "barrier", "library-barrier", "window", "roundtime", "not reported"]),
    trip=st.sampled_from(["call", "half", "round", "gap"]),
    counted=st.sampled_from([1.0, 2.0, 4.0]),
    megabyte=st.sampled_from([0, 10**6, 1 << 20]),
    data=st.sampled_from(["checked", "not checked"]),
)
operations = st.one_of(st.sampled_from(CORE_OPERATIONS), st.sampled_from(FOREIGN_BENCHMARKS), BENCHMARKS)


@given(operations, operations, st.sampled_from(STARTS))
def test_the_order_of_two_benchmarks_does_not_matter(operation: Operation, other: Operation, start: str) -> None:
    forth, back = compare_benchmarks(operation, other, start), compare_benchmarks(other, operation, start)
    assert len(forth.differences) == len(back.differences)
    assert bool(forth.reason) == bool(back.reason)
    assert forth.factor * back.factor == pytest.approx(1.0)


@given(operations, st.sampled_from(STARTS))
def test_equal_benchmarks_have_no_differences(operation: Operation, start: str) -> None:
    assert compare_benchmarks(operation, operation, start) == Comparable([])
