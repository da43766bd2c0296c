"""The core accesses only its own memory and has no undefined behaviour, in any operation and form.

The core is built for MPICH with AddressSanitizer and UndefinedBehaviorSanitizer. Leaks are not examined: a launch
keeps its memory until it ends, and so does the library. Whether it decides by values that were never written is shown
by Valgrind, with all three libraries; a first call that takes long leads the core past its warm-up. Valgrind does not
follow values to another process: what a library writes beside a message, and never wrote, counts as the library's.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from mpi.conftest import WHEELS
from mpi.test_core import FLIP, FORMS, Core, core, make_cases

from rankbench import build, libraries
from rankbench.model import Library

__all__ = ["core"]

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


SYSTEM = re.compile(r"/(?:lib(?:c|m|dl|pthread)[.-]|ld-|vgpreload_)[^/]*$")
"""Objects of the C library and of Valgrind: the frame that called them is judged."""
SLOW_CASES = """rankbench-job 1
case operation=bcast bytes=8 start=barrier samples=20 fill_s=0.003 limit_s=0.04
case operation=allreduce bytes=65536 start=barrier samples=20 fill_s=0.003 limit_s=0.04
case operation=send-gap bytes=4096 start=none samples=20 fill_s=0.003 limit_s=0.04
case operation=bandwidth form=nonblocking bytes=65536 start=none samples=20 fill_s=0.003 limit_s=0.04
case operation=put bytes=64 start=barrier samples=20 fill_s=0.003 limit_s=0.04
"""


def is_in(program: Path, stack: ElementTree.Element) -> bool:
    """Report whether the first frame that is not the C library's is that of a program."""
    frames = [frame for frame in stack.iter("frame") if not SYSTEM.search(frame.findtext("obj", ""))]
    return bool(frames) and Path(frames[0].findtext("obj", "")).name == program.name


UNWRITTEN = ElementTree.fromstring("<auxwhat>Uninitialised value</auxwhat>")


def is_origin(what: ElementTree.Element) -> bool:
    """Report whether the stack behind this text is where an error occurred or memory that was never written began."""
    return (what.text or "").startswith(UNWRITTEN.text or "")


def list_errors_of(program: Path, text: str) -> list[str]:
    """Return the errors of a report of Valgrind that are a program's own, not those of a library that it called.

    An error occurred in the program; where Valgrind knows which memory was never written, that is the program's, too.
    """
    errors = []
    for error in ElementTree.fromstring(text).iter("error"):
        parts = [part for part in error if part.tag in {"stack", "auxwhat"}]
        judged = [stack for what, stack in pairwise([UNWRITTEN, *parts]) if stack.tag == "stack" and is_origin(what)]
        if all(is_in(program, stack) for stack in judged):
            errors.append(" ".join(error.itertext()))
    return errors


ERROR = "<error><kind>{kind}</kind>{stacks}</error>"
SOURCE = "</stack><auxwhat>Uninitialised value was created by a stack allocation</auxwhat><stack>"
BLOCK = "</stack><auxwhat>Address 0x1 is 0 bytes inside a block of size 8 free'd</auxwhat><stack>"
CORE, C_LIBRARY, LIBRARY = "/b/rankbench-core", "/usr/lib/libc.so.6", "/l/libmpi.so.12"
VALGRIND = "/usr/libexec/valgrind/vgpreload_memcheck.so"
STACKS = {
    "UninitCondition": [CORE],
    "UninitValue": [C_LIBRARY, LIBRARY, CORE],
    "InvalidRead": [VALGRIND, "/usr/lib/libc-2.36.so", CORE],
    "SyscallParam": [CORE, BLOCK, CORE, SOURCE, LIBRARY],
    "ClientCheck": [C_LIBRARY, CORE, SOURCE, VALGRIND, CORE],
    "InvalidWrite": [CORE, BLOCK, VALGRIND, LIBRARY],
}


def test_errors_in_libraries_are_not_those_of_the_core() -> None:
    """The first frame that is not the C library's decides, of the place and of the memory."""
    blocks = []
    for kind, parts in STACKS.items():
        frames = (part if part in {SOURCE, BLOCK} else f"<frame><obj>{part}</obj></frame>" for part in parts)
        blocks.append(ERROR.format(kind=kind, stacks=f"<stack>{''.join(frames)}</stack>"))
    text = f"<valgrindoutput>{''.join(blocks)}</valgrindoutput>"
    errors = list_errors_of(Path("/elsewhere/rankbench-core"), text)
    assert [error.split()[0] for error in errors] == ["UninitCondition", "InvalidRead", "ClientCheck", "InvalidWrite"]


def build_preload(library: Library, name: str, folder: Path) -> str:
    """Build a library of `tests/fakes` to preload; return its path."""
    path = folder / f"{name}.so"
    command = [library.wrapper, "-w", "-shared", "-fPIC", "-o", str(path), str(FLIP.with_name(f"{name}.c")), "-ldl"]
    subprocess.run(command, check=True, env={**os.environ, **library.environment})
    return str(path)


@pytest.mark.needs("valgrind")
@pytest.mark.parametrize("core", WHEELS, indirect=True)
@pytest.mark.parametrize("call", ["MPI_Allreduce 65536", "MPI_Send 4096", "MPI_Isend 65536", "MPI_Put 64"])
def test_no_decision_depends_on_a_value_that_was_never_written(core: Core, call: str, tmp_path: Path) -> None:
    """The first call of one case takes longer than a second."""
    job, stream = tmp_path / "job", tmp_path / "stream"
    preloads = [build_preload(core.library, name, tmp_path) for name in ("defined", "fault")]
    job.write_text(SLOW_CASES)
    name, size = call.split()
    environment = (f"LD_PRELOAD={':'.join(preloads)}", "FAULT=take-long", f"FAULT_CALL={name}", f"FAULT_BYTES={size}")
    valgrind = (
        "valgrind",
        "-q",
        "--num-callers=30",
        "--track-origins=yes",
        "--xml=yes",
        f"--xml-file={tmp_path}/valgrind.%p",
    )
    # The printed rows show progress: after the last one, MPI_Finalize takes long under Valgrind.
    run = core.run(RANKS, "--job", str(job), "--stream", str(stream), before=("env", *environment, *valgrind))
    logs = [path.read_text() for path in tmp_path.glob("valgrind.*")]
    assert len(logs) == RANKS, run.printed[-2000:]
    assert [error for log in logs for error in list_errors_of(core.core_build.binary, log)] == []
    records = [line for line in stream.read_text().splitlines() if '"record":"case"' in line]
    assert len(records) == SLOW_CASES.count("case "), run.printed[-2000:]
    assert [line for line in records if '"status":"wrong-data"' in line] == []
