"""Wrong data that are hard to detect: rare, temporary, rounded, displaced, beyond the buffer, or of another root."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from fakes import mark_thorough

from mpi.test_core import Core, core

__all__ = ["core"]

SUBTLE = Path(__file__).parents[1] / "fakes" / "subtle.c"
VISIT = {"samples": 300, "limit_s": 60}
"""At least so many calls are timed, however busy the machine is."""
REHEARSED = 150
"""A case is rehearsed with fewer calls."""
KIB = 1 << 10
SIZES = (8, KIB, 64 * KIB)


@pytest.fixture(scope="module")
def subtle(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("subtle") / "subtle.so"
    command = [core.library.wrapper, "-O2", "-shared", "-fPIC", "-w", "-o", str(library), str(SUBTLE), "-lm"]
    subprocess.run(command, check=True, env={**os.environ, **core.library.environment})
    return library


def measure_statuses(
    core: Core,
    subtle: Path,
    tmp_path: Path,
    error: str,
    cases: Iterable[Mapping[str, object]],
    *,
    probe: bool = False,
    environment: tuple[str, ...] = (),
) -> list[tuple[str, object, str, str]]:
    """Return operation, bytes, status and reason of cases with a library that is wrong in one way."""
    before = ("env", f"LD_PRELOAD={subtle}", f"SUBTLE={error}", *environment)
    records: list[dict[str, Any]] = core.run_job(tmp_path, 2, cases, *(["--probe"] if probe else []), before=before)
    return [(record["operation"], record["bytes"], record["status"], record["reason"]) for record in records]


def find_undetected(rows: list[tuple[str, object, str, str]]) -> list[tuple[str, object, str, str]]:
    """Return the cases that are not reported as wrong."""
    return [row for row in rows if row[2] != "wrong-data"]


REPEATED = [
    ("last:30", SIZES),
    ("every:30", (8, KIB)),
    ("second", (*SIZES, KIB * KIB)),
    ("remembered", (KIB, 64 * KIB, KIB * KIB)),
]


@pytest.mark.parametrize("field", ["source", "tag", "count"])
def test_statuses_of_wrong_receives_are_in_the_stream(core: Core, subtle: Path, field: str, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    before = ("env", f"LD_PRELOAD={subtle}", f"SUBTLE=status:{field}", "SUBTLE_BYTES=64")
    selection = ["--op", "pingpong", "--sizes", "64", "--start", "none"]
    core.run(2, "--quiet", "--stream", str(path), *selection, before=before, watch=path)
    (evidence,) = [
        record for record in map(json.loads, path.read_text().splitlines()) if record["record"] == "evidence"
    ]
    (status,) = evidence["statuses"]
    assert status["expected"]["source"] == 1 - evidence["rank"]
    assert {key for key in status["actual"] if status["actual"][key] != status["expected"][key]} == {field}
    assert (evidence["first_wrong"], evidence["received"]) == (-1, evidence["expected"])


@pytest.mark.parametrize("operation", ["allreduce", "bcast"])
@pytest.mark.parametrize(("error", "sizes"), REPEATED, ids=[error for error, _ in REPEATED])
def test_occasional_errors_in_timed_calls_are_detected(
    core: Core, subtle: Path, operation: str, error: str, sizes: tuple[int, ...], tmp_path: Path
) -> None:
    """Each round is compared with correct data. Only operations that deliver data can repeat old data. Errors begin
    after the rehearsal.
    """
    operation = "allreduce" if error == "remembered" else operation
    cases = [{"operation": operation, "bytes": size, "start": "barrier"} | VISIT for size in sizes]
    rows = measure_statuses(core, subtle, tmp_path, error, cases, environment=(f"SUBTLE_FROM={REHEARSED}",))
    assert find_undetected(rows) == []
    assert not any("does not time" in reason for *_, reason in rows)


@pytest.mark.parametrize("operation", ["allreduce", "bcast"])
@pytest.mark.parametrize(
    ("size", "cache", "spell"),
    [
        mark_thorough(8, "warm", "1000:1050"),
        (KIB, "warm", "1000:1050"),
        mark_thorough(64 * KIB, "warm", "1000:1050"),
        (8, "cold", "1000:1200"),
    ],
)
def test_a_temporary_failure_of_calls_to_do_anything_is_detected(
    core: Core, subtle: Path, operation: str, size: int, cache: str, spell: str, tmp_path: Path
) -> None:
    """In timed calls. With cold buffers the last call of each stage is checked, at most 128 rounds apart."""
    case = {"operation": operation, "bytes": size, "start": "barrier", "cache": cache, "samples": 3000, "limit_s": 60}
    assert find_undetected(measure_statuses(core, subtle, tmp_path, f"spell:{spell}", [case])) == []


RECEIVES = [
    ("source", "pingpong", "blocking"),
    ("tag", "pingpong", "nonblocking"),
    ("count", "pingpong", "persistent"),
    ("count", "sendrecv", "blocking"),
    mark_thorough("tag", "sendrecv-replace", "blocking"),
    ("source", "bandwidth", "nonblocking"),
    mark_thorough("tag", "bandwidth", "persistent"),
    mark_thorough("count", "bandwidth", "blocking"),
    ("count", "bandwidth-bidirectional", "nonblocking"),
    mark_thorough("tag", "message-rate", "nonblocking"),
    mark_thorough("source", "fan-in", "nonblocking"),
    ("tag", "exchange", "nonblocking"),
    ("source", "exchange", "blocking"),
    mark_thorough("count", "exchange", "persistent"),
    mark_thorough("source", "halo", "nonblocking"),
    mark_thorough("count", "pingping", "nonblocking"),
    ("tag", "ring", "blocking"),
    ("count", "ring", "nonblocking"),
    mark_thorough("source", "ring", "persistent"),
    mark_thorough("tag", "random-pairs", "nonblocking"),
]
"""Wrong fields of a status, and the receives with such a status."""


@pytest.mark.parametrize(("field", "operation", "form"), RECEIVES)
def test_a_temporarily_wrong_status_in_timed_calls_is_detected(
    core: Core, subtle: Path, field: str, operation: str, form: str, tmp_path: Path
) -> None:
    """In 21 receives of thousands, correct before and after. Without the error the same library passes."""
    if f"{operation}.{form}" in core.list_wrong(2):
        pytest.skip(f"a status of {operation} is always wrong in {core.library.name}")
    case = {"operation": operation, "form": form, "bytes": 8, "start": "none", "samples": 1000, "limit_s": 60}
    spell = ("SUBTLE_FROM=1000", "SUBTLE_UNTIL=1020")
    ((*_, status, reason),) = measure_statuses(core, subtle, tmp_path, f"status:{field}", [case], environment=spell)
    assert (status, f"the status of a receive has {field} " in reason) == ("wrong-data", True)
    never = ("SUBTLE_FROM=1000000000",)
    ((*_, status, reason),) = measure_statuses(core, subtle, tmp_path, f"status:{field}", [case], environment=never)
    assert (status, reason) == ("ok", "")


PLAIN = [
    ("narrow:8", ["allreduce"], {}),
    ("narrow:11", ["allreduce"], {}),
    ("narrow:20", ["allreduce"], {}),
    ("exchange:251", ["allreduce"], {"bytes": 64 * KIB}),
    ("exchange:8192", ["allreduce"], {"bytes": 64 * KIB}),
    ("displaced:251", ["allreduce"], {"bytes": 64 * KIB}),
    ("displaced:2510", ["allreduce"], {"bytes": 64 * KIB}),
    *((f"beyond:{count}", ["allreduce", "bcast", "pingpong"], {}) for count in (1, 60, 70, 200, 2000, 4000)),
    *((f"before:{count}", ["allreduce", "bcast", "pingpong"], {}) for count in (1, 70, 2000)),
    ("gap", ["bcast", "pingpong"], {"datatype": "vector"}),
    ("root", ["bcast"], {}),
    *((f"status:{field}", ["pingpong"], {}) for field in ("source", "tag", "count")),
]


@pytest.mark.parametrize(("error", "operations", "settings"), PLAIN, ids=[error for error, *_ in PLAIN])
def test_errors_in_every_call_are_detected_before_timing(
    core: Core, subtle: Path, error: str, operations: list[str], settings: dict[str, object], tmp_path: Path
) -> None:
    cases = [
        {"operation": operation, "bytes": size} | settings
        for operation in operations
        for size in (SIZES if "bytes" not in settings else [settings["bytes"]])
    ]
    assert find_undetected(measure_statuses(core, subtle, tmp_path, error, cases, probe=True)) == []


@pytest.mark.parametrize("reduction", ["sum", *map(mark_thorough, ["min", "max", "user"])])
@pytest.mark.parametrize("datatype", ["float", *map(mark_thorough, ["double", "int"])])
@pytest.mark.parametrize("ranks", [3, mark_thorough(5)])
def test_terms_of_reductions_are_exact(core: Core, reduction: str, datatype: str, ranks: int, tmp_path: Path) -> None:
    """On an odd number of ranks with many blocks of terms, every result is exact, whatever the library's order."""
    names = ("allreduce", "reduce", "scan", "exscan", "reduce_scatter", "reduce_scatter_block", "reduce_local")
    cases = [
        {"operation": name, "bytes": size, "datatype": datatype, "reduction": reduction}
        for name in names
        for size in (8, 1000, 64 * KIB)
    ]
    assert {record["status"] for record in core.run_job(tmp_path, ranks, cases, "--probe")} == {"ok"}
