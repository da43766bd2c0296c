"""The core accesses only its own memory and has no undefined behaviour, in any operation and form.

The core is built for MPICH with AddressSanitizer and UndefinedBehaviorSanitizer. Leaks are not examined: a launch
keeps its memory until it ends, and so does the library.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from mpi.test_core import FORMS, Core, make_cases

from rankbench import build, libraries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rankbench.model import Library

RANKS = 2
SIZES = (0, 8, 1000)
SANITIZERS = ("-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-g")
ENVIRONMENT = (
    "env",
    "ASAN_OPTIONS=detect_leaks=0:halt_on_error=1:exitcode=99:strict_string_checks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS=print_stacktrace=1",
)
REPORT = re.compile(r"(?:ERROR: AddressSanitizer|runtime error): .*")
MEMORY: list[dict[str, object]] = [
    {},
    {"buffers": "in-place"},
    {"cache": "cold"},
    {"pages": "untouched"},
    {"root": -1},
]
DERIVED: list[dict[str, object]] = [
    {"datatype": name, "bytes": 960} for name in ("contiguous", "vector", "indexed", "subarray", "struct")
]
DEFECTS = {("sendrecv-replace", "nonblocking", "struct")}
"""Operation, form and datatype whose report is the library's: MPICH 5.0.2's MPI_Isendrecv_replace with a type that has
gaps. See docs/evidence/library-bugs.md."""
SHORT = {"start": "barrier", "samples": 3, "limit_s": 60}


@pytest.fixture(scope="module")
def sanitized_core(home: Path, reach: list[Library]) -> Iterator[Core]:
    """Build the core with sanitizers; flags are part of a build's key, so that the usual build is not changed."""
    library = libraries.choose("mpich", [library for library in reach if library.source == "pypi"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "FLAGS", (*build.FLAGS, *SANITIZERS))
        binary = build.build(library, home)
    yield Core(library, binary, build.describe(binary))


@pytest.mark.parametrize(
    "memory", [*MEMORY, *DERIVED], ids=lambda memory: ",".join(f"{key}={value}" for key, value in memory.items())
)
@pytest.mark.parametrize("form", FORMS)
def test_sanitizers_report_nothing(sanitized_core: Core, form: str, memory: dict[str, object], tmp_path: Path) -> None:
    """Cases that are invalid for an operation are refused. The data that a library delivers are tested elsewhere."""
    operations = sanitized_core.list_operations(form, RANKS)
    if "datatype" in memory:
        operations = [
            operation
            for operation in operations
            if memory["datatype"] in operation.datatypes
            and operation.sized
            and (operation.name, form, memory["datatype"]) not in DEFECTS
        ]
    if not operations:
        return
    sizes = SIZES if "datatype" not in memory else (0,)
    cases = [case | SHORT | memory for case in make_cases(operations, form, sizes)]
    lines = [" ".join(["case", *(f"{key}={value}" for key, value in case.items())]) for case in cases]
    job = tmp_path / "job"
    job.write_text("\n".join(["rankbench-job 1", *lines, ""]))
    run, records = sanitized_core.launch_core(tmp_path, RANKS, "--job", str(job), before=ENVIRONMENT)
    reports = sorted(set(REPORT.findall(run.printed)))
    assert reports == [], run.printed[-4000:]
    assert len(records) == len(cases), run.printed[-4000:]
    assert {record["status"] for record in records} <= {"ok", "refused", "lacking", "wrong-data"}
    print(f"{len(records)} cases, no report of a sanitizer")
