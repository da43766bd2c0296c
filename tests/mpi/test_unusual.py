"""Libraries that are wrong only with unusual numbers, or in calls that differ in one respect from those of a case."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from fakes import mark_thorough

from mpi.test_core import Core, core

__all__ = ["core"]

UNUSUAL = Path(__file__).parents[1] / "fakes" / "unusual.c"
VISIT: dict[str, object] = {"start": "barrier", "samples": 2, "limit_s": 60}
ALLREDUCE = {"operation": "allreduce", "bytes": 8}
LARGE = ALLREDUCE | {"bytes": 1 << 14}
BANDWIDTH = {"operation": "bandwidth", "bytes": 8, "form": "nonblocking"}


@pytest.fixture(scope="module")
def unusual(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("unusual") / "unusual.so"
    command = [core.library.wrapper, "-O2", "-shared", "-fPIC", "-w", "-o", str(library), str(UNUSUAL), "-lm"]
    subprocess.run(command, check=True, env={**os.environ, **core.library.environment})
    return library


def measure_all(
    core: Core,
    unusual: Path,
    tmp_path: Path,
    fault: str,
    cases: Sequence[Mapping[str, object]],
    *arguments: str,
    ranks: int = 2,
) -> list[dict[str, Any]]:
    """Return the rows of cases with such a library."""
    before = ("env", f"LD_PRELOAD={unusual}", f"UNUSUAL={fault}")
    return core.run_job(tmp_path, ranks, [dict(case) | {**VISIT, **case} for case in cases], *arguments, before=before)


def measure(
    core: Core, unusual: Path, tmp_path: Path, fault: str, case: Mapping[str, object], *arguments: str, ranks: int = 2
) -> dict[str, Any]:
    """Return the row of a case with such a library."""
    (record,) = measure_all(core, unusual, tmp_path, fault, [case], *arguments, ranks=ranks)
    return record


EVERY = ("float", "double")
NUMBERS = {
    **{
        fault: [*((datatype, "sum") for datatype in EVERY), ("float", "max"), ("double", "min"), ("float", "prod")]
        for fault in ("abs", "cut", "finite", "flush")
    },
    "unsigned": [("int", "min"), ("int", "max")],
    "truth": [("int", reduction) for reduction in ("land", "lor", "lxor")],
}
NUMBERS["abs"].append(("int", "sum"))
NUMBERS["finite"].append(("float", "user"))


@pytest.mark.parametrize("fault", NUMBERS)
def test_numbers_of_every_kind_must_be_right(core: Core, unusual: Path, fault: str, tmp_path: Path) -> None:
    """Already in the smallest message: it has one element of type double, or two."""
    cases = [ALLREDUCE | {"datatype": datatype, "reduction": reduction} for datatype, reduction in NUMBERS[fault]]
    records = measure_all(core, unusual, tmp_path, fault, cases)
    assert [record["status"] for record in records] == ["wrong-data"] * len(cases)


CALLS = [
    ("place", ALLREDUCE, 2, "in place"),
    ("odd", LARGE, 2, "with another number of elements"),
    ("comm", ALLREDUCE, 2, "on a communicator with its ranks in reverse order"),
    ("root", {"operation": "bcast", "bytes": 8}, 3, "with another root"),
    mark_thorough("root", {"operation": "bcast", "bytes": 8}, 4, "with another root"),
]


@pytest.mark.parametrize(("fault", "case", "ranks", "circumstance"), CALLS)
def test_a_rehearsal_makes_calls_that_differ_in_one_respect(
    core: Core, unusual: Path, fault: str, case: dict[str, object], ranks: int, circumstance: str, tmp_path: Path
) -> None:
    record = measure(core, unusual, tmp_path, fault, case, ranks=ranks)
    assert record["status"] == "wrong-data"
    assert record["reason"].endswith(f"; in a call that the case does not time: {circumstance}")


@pytest.mark.parametrize(
    ("fault", "case"),
    [
        ("burst", ALLREDUCE),
        ("apart", ALLREDUCE),
        ("early", {"operation": "pingpong", "bytes": 8}),
        ("early", BANDWIDTH),
        ("order", LARGE),
    ],
)
def test_unusual_moments_and_orders_are_tested_where_nothing_is_timed(
    core: Core, unusual: Path, fault: str, case: dict[str, object], tmp_path: Path
) -> None:
    """On a busy machine one moment may be missed, but not all."""
    records = measure_all(core, unusual, tmp_path, fault, [case] * 10, "--probe")
    assert "wrong-data" in {record["status"] for record in records}


@pytest.mark.parametrize("fault", ["test", "any", "probe"])
def test_receives_are_completed_in_every_way(core: Core, unusual: Path, fault: str, tmp_path: Path) -> None:
    """Where nothing is timed: they take long if ranks share a CPU."""
    case = {"operation": "pingpong", "bytes": 8}
    assert measure(core, unusual, tmp_path, fault, case, "--probe")["status"] == "wrong-data"


@pytest.mark.parametrize("fault", ["shared", "atomic"])
@pytest.mark.parametrize("ranks", [2, mark_thorough(3)])
def test_several_origins_change_one_number(core: Core, unusual: Path, fault: str, ranks: int, tmp_path: Path) -> None:
    """Ranks that share a CPU seldom meet, so that the launch is repeated."""
    case = {"operation": "accumulate-all-to-one", "bytes": 8}
    for _ in range(20):
        record = measure(core, unusual, tmp_path, fault, case, "--probe", ranks=ranks)
        if record["status"] != "ok":
            break
    assert record["status"] == "wrong-data"
    assert "added 1 to a number" in record["reason"]


@pytest.mark.parametrize(
    ("fault", "case"),
    [
        ("spell", {"operation": "barrier", "bytes": 0}),
        ("ssend", {"operation": "pingpong", "bytes": 8, "mode": "synchronous"}),
    ],
)
def test_promises_are_checked_between_stages(
    core: Core, unusual: Path, fault: str, case: dict[str, object], tmp_path: Path
) -> None:
    """The library is right in the first calls and the last ones; ranks that share a CPU may hide a wrong order."""
    visit = case | {"start": "barrier", "samples": 4000, "limit_s": 60}
    records = (measure(core, unusual, tmp_path, fault, visit) for _ in range(10))
    assert "wrong-data" in (record["status"] for record in records)


@pytest.mark.parametrize("operation", ["comm_dup", "comm_split", "win_create", "win_allocate"])
def test_the_time_of_a_call_can_include_freeing_its_result(
    core: Core, unusual: Path, operation: str, tmp_path: Path
) -> None:
    """A library can do in one the work of the other."""
    size = {"bytes": 64 if operation.startswith("win") else 0}
    case = {"operation": operation, **size, "samples": 5, "start": "barrier"}
    untimed, timed = measure_all(core, unusual, tmp_path, "store", [case, case | {"free": "timed"}])
    assert (untimed["status"], timed["status"]) == ("ok", "ok")
    if operation.startswith("comm"):
        assert min(untimed["series"][0]["time_ns"]) < 20e6 <= min(timed["series"][0]["time_ns"])


@pytest.mark.parametrize("operation", ["allreduce", "reduce", "scan", "exscan", "reduce_scatter"])
def test_a_reduction_that_is_not_commutative_keeps_the_order_of_ranks(
    core: Core, unusual: Path, operation: str, tmp_path: Path
) -> None:
    """It is measured like any other one; a wrong order shows in it."""
    case = {"operation": operation, "bytes": 64, "reduction": "ordered"}
    cases = [case | {"datatype": datatype} for datatype in ("float", "double", "int")]
    records = measure_all(core, unusual, tmp_path, "none", cases, ranks=3)
    assert [record["status"] for record in records] == ["ok"] * 3
    if operation == "allreduce":
        assert measure(core, unusual, tmp_path, "order", case, ranks=3)["status"] == "wrong-data"


def test_a_call_that_leaves_another_mode_of_the_processor_is_wrong(core: Core, unusual: Path, tmp_path: Path) -> None:
    record = measure(core, unusual, tmp_path, "round", ALLREDUCE | {"datatype": "int"})
    assert record["status"] == "wrong-data"
    assert "rounding upward, denormal numbers are kept" in record["reason"]


@pytest.mark.parametrize(
    ("fault", "mode"),
    [
        ("upward", "rounding upward, denormal numbers are kept; since MPI_Init"),
        ("zeroes", "rounding to nearest, denormal numbers become 0; since MPI_Init"),
        ("none", ""),
    ],
)
def test_the_mode_that_a_library_leaves_at_its_start_is_reported(
    core: Core, unusual: Path, fault: str, mode: str, tmp_path: Path
) -> None:
    measure(core, unusual, tmp_path, fault, ALLREDUCE | {"datatype": "int"})
    launch = json.loads((tmp_path / "stream").read_text().splitlines()[0])
    assert launch["float_mode"] == mode
