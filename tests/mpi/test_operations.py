"""Requests for operations: options, datatypes, reductions, quantities, ranks, each with a known result."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import fakes
import pytest

from mpi.test_core import Core, assert_refused, core

__all__ = ["core"]

OPERATIONS = {operation.name: operation for operation in fakes.read_description().operations}
SHORT = ("--samples", "20", "--limit", "2")
MILLISECOND_NS = 1e6


def list_options(**options: str | int) -> list[str]:
    """Return the arguments that choose options of an operation."""
    return [word for name, value in options.items() for word in ("--with", f"{name}={value}")]


def list_failures(records: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """Return operation, status and reason of failed cases."""
    return [(record["operation"], record["status"], record["reason"]) for record in records if record["status"] != "ok"]


INTEGER_REDUCTIONS = ("land", "lor", "lxor", "band", "bor", "bxor")
REDUCTIONS = next(option.values for option in OPERATIONS["allreduce"].options if option.name == "reduction")


def test_logical_and_bitwise_reductions_need_integers(core: Core, tmp_path: Path) -> None:
    case = {"operation": "allreduce", "bytes": 4096, "datatype": "double"}
    cases = [{**case, "reduction": reduction} for reduction in REDUCTIONS]
    for record in core.run_job(tmp_path, 2, cases, "--probe"):
        refused = record["options"].get("reduction") in INTEGER_REDUCTIONS
        expected = ("refused", "this reduction is for integers only") if refused else ("ok", "")
        assert (record["status"], record["reason"]) == expected


def test_arrival_patterns_need_a_scheduled_start(core: Core, tmp_path: Path) -> None:
    (record,) = core.measure(tmp_path, 2, "--op", "barrier", "--start", "barrier", *list_options(arrival="random"))
    reason = "arrival patterns need a scheduled start (start=window or roundtime)"
    assert (record["status"], record["reason"]) == ("refused", reason)


def test_a_blocking_call_has_no_overlap(core: Core, tmp_path: Path) -> None:
    (record,) = core.measure(tmp_path, 2, "--op", "allreduce", "--sizes", "8", *list_options(quantity="overlap"))
    reason = "quantity=overlap needs a nonblocking or persistent form that the core completes"
    assert (record["status"], record["reason"]) == ("refused", reason)


def test_memory_of_a_window_is_measured(core: Core, tmp_path: Path) -> None:
    """A window allocated by the library has a known size, of which two ranks that share it hold half each."""
    arguments = ["--op", "put", "--sizes", "8,32M", *list_options(quantity="memory", allocation="allocate")]
    small, large = core.measure(tmp_path, 2, *arguments)
    for record in (small, large):
        assert (record["taken"], record["valid"]) == (1, 1)
        assert record["series"][0]["time_ns"][0] > 1e6
    grown = large["growth_bytes"] - max(0, small["growth_bytes"])
    assert 0.3 * (32 << 20) < grown < 2 * (32 << 20)


def test_starting_the_library_is_timed_once(core: Core, tmp_path: Path) -> None:
    (record,) = core.measure(tmp_path, 2, "--op", "init", "--samples", "50")
    assert (record["status"], record["taken"]) == ("ok", 1)
    assert record["series"][0]["time_ns"][0] > 1e5


def test_threads_call_at_the_same_time_with_their_own_data(core: Core, tmp_path: Path) -> None:
    """Four threads are more than two cores: a few samples suffice, since only the data count."""
    arguments = [
        "--op",
        "message-rate",
        "--form",
        "nonblocking",
        "--sizes",
        "64",
        "--start",
        "none",
        *list_options(window=4),
    ]
    (first,) = core.measure(tmp_path, 2, *arguments, *SHORT)
    (second,) = core.measure(tmp_path, 2, *arguments, "--samples", "2", "--limit", "2", *list_options(threads=2))
    assert list_failures([first, second]) == []
    assert (first["moved_messages"], first["moved_bytes"]) == (4, 256)
    assert (second["moved_messages"], second["moved_bytes"]) == (8, 512)


def test_one_thread_can_have_the_level_of_several(core: Core, tmp_path: Path) -> None:
    """As in programs that ask for MPI_THREAD_MULTIPLE, which makes the calls of some libraries slower."""
    arguments = ["--op", "allreduce", "--sizes", "32K", *list_options(thread_level="multiple")]
    (record,) = core.measure(tmp_path, 2, *arguments, *SHORT)
    assert (record["status"], record["options"]) == ("ok", {"thread_level": "multiple"})
    (refused,) = core.run_job(tmp_path, 2, [{"operation": "allreduce", "bytes": 8, "thread_level": "multiple"}])
    assert (refused["status"], refused["reason"]) == ("refused", "MPI_THREAD_MULTIPLE needs a launch with --threads")


def test_buffered_sends_are_refused_with_several_threads(core: Core, tmp_path: Path) -> None:
    options = list_options(threads=2, mode="buffered")
    (record,) = core.measure(tmp_path, 2, "--op", "pingpong", "--sizes", "8", *options)
    reason = "a process has a single buffer for MPI_Bsend: mode=buffered needs threads=1"
    assert (record["status"], record["reason"]) == ("refused", reason)


def test_any_two_ranks_can_be_measured_and_the_others_do_not_take_part(core: Core, tmp_path: Path) -> None:
    arguments = [
        "--op",
        "pingpong",
        "--sizes",
        "8,1K",
        "--samples",
        "5",
        "--limit",
        "20",
        *list_options(**{"from": 2, "to": 1}),
    ]
    for record in core.measure(tmp_path, 3, *arguments):
        assert (record["status"], record["ranks"], record["options"]) == ("ok", 2, {"from": "2"})
        assert [series["rank"] for series in record["series"]] == [2]
        assert record["valid"] >= 1


def test_the_two_ranks_must_differ_and_exist(core: Core, tmp_path: Path) -> None:
    (record,) = core.measure(tmp_path, 2, "--op", "pingpong", "--sizes", "8", *list_options(to=0))
    assert record["reason"] == "pingpong needs two different ranks of the 2, not 0 and 0"
    (record,) = core.measure(tmp_path, 2, "--op", "pingpong", "--sizes", "8", *list_options(to=7))
    assert record["reason"] == "pingpong needs two different ranks of the 2, not 0 and 7"


def test_the_odd_rank_of_pairs_does_not_take_part(core: Core, tmp_path: Path) -> None:
    arguments = ["--op", "message-rate,pingpong-pairs", "--form", "nonblocking", "--sizes", "8", *list_options()]
    records = core.measure(tmp_path, 3, *arguments, "--start", "barrier", "--samples", "3", "--limit", "60")
    assert [(record["status"], record["ranks"]) for record in records] == [("ok", 2), ("ok", 2)]


def list_values(operation: str, option: str) -> list[str]:
    """Return the values of an option."""
    return next(known_option.values for known_option in OPERATIONS[operation].options if known_option.name == option)


def test_one_sided_data_arrive_in_every_epoch_and_window(core: Core, tmp_path: Path) -> None:
    """All epochs in all windows, for all one-sided operations."""
    names = ("put", "get", "accumulate", "get_accumulate", "fetch_and_op", "put-exchange", "get-all-to-all")
    ways = itertools.product(names, list_values("put", "epoch"), list_values("put", "allocation"))
    cases = [
        {"operation": name, "bytes": 4096 if OPERATIONS[name].sized else 0, "epoch": epoch, "allocation": allocation}
        for name, epoch, allocation in ways
    ]
    assert list_failures(core.run_job(tmp_path, 2, cases, "--probe")) == []


@pytest.mark.parametrize("ranks", [2, 3])
def test_blocks_of_unequal_counts_arrive(core: Core, ranks: int, tmp_path: Path) -> None:
    names = ("gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw", "reduce_scatter")
    cases = [{"operation": name, "bytes": size, "counts": "unequal"} for name in names for size in (0, 8, 4096)]
    assert list_failures(core.run_job(tmp_path, ranks, cases, "--probe")) == []


@pytest.mark.thorough
def test_more_elements_than_an_int_holds_are_moved(core: Core, tmp_path: Path) -> None:
    """More than two gigabytes in each direction, if the library has the calls."""
    bytes_ = str((2 << 30) + 8)
    (record,) = core.measure(tmp_path, 2, "--op", "pingpong", "--sizes", bytes_)
    assert (record["status"], record["reason"]) == (
        "refused",
        f"{bytes_} bytes are more than 2^31-1 elements of type byte",
    )
    lacking = "MPI_Send_c" in core.core_build.receipt.missing
    size = "8" if lacking else bytes_
    (record,) = core.measure(tmp_path, 2, "--op", "pingpong-large", "--sizes", size, "--probe")
    expected = ("lacking", "MPI_Send_c is not in this library") if lacking else ("ok", "")
    assert (record["status"], record["reason"]) == expected


@pytest.mark.parametrize("core", ["mpich"], indirect=True)
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["--op", "put", *list_options(epoch="never")],
            "epoch: 'never' is not known (allowed: flush, flush_local, lock, ",
        ),
        (["--op", "bandwidth", *list_options(window=0)], "window: '0' is not a whole number from 1 to 4096"),
        (
            ["--op", "barrier", *list_options(epoch="fence")],
            "key 'epoch' is not known of barrier (allowed: operation, form, ",
        ),
        (["--op", "barrier", "--with", "epoch"], "--with: 'epoch' is not NAME=VALUE"),
        (["--op", "allreduce", "--datatype", "vector"], "allreduce: vector cannot be used (use int, float or double)"),
        (["--op", "put", "--datatype", "matrix"], "datatype 'matrix' is not known (allowed: byte, contiguous, "),
        (
            ["--op", "collective", *list_options(epoch="fence")],
            "nothing to measure: no operation of collective has all requested options",
        ),
    ],
)
def test_wrong_options_are_refused_in_one_line(core: Core, arguments: list[str], line: str) -> None:
    """With one library, since the core reads options in the same way with all."""
    assert_refused(core, arguments, line)
