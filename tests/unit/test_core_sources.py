"""What the core's sources must not contain. Each absence is promised in docs/develop/architecture.md."""

from __future__ import annotations

import graphlib
import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "core"
OPERATIONS = sorted((CORE / "ops").glob("*.c"))
SOURCES = sorted(CORE.rglob("*.[ch]"))


@pytest.mark.parametrize("path", OPERATIONS, ids=lambda path: path.stem)
def test_an_operation_has_no_conditional_compilation(path: Path) -> None:
    assert not re.search(r"^\s*#\s*(if|else|elif)", path.read_text(), re.MULTILINE), (
        "a call that a library lacks is mapped by missing.h, see docs/develop/architecture.md"
    )


@pytest.mark.parametrize(
    "path", [*OPERATIONS, *CORE.glob("starts/*.c"), *CORE.glob("clocks/*.c")], ids=lambda path: path.stem
)
def test_a_unit_registers_itself_last(path: Path) -> None:
    assert re.fullmatch(r"REGISTER\(\w+, \w+\);", path.read_text().rstrip().splitlines()[-1])


def test_the_core_knows_no_scheduler() -> None:
    words = re.compile(r"slurm|srun|\bpbs\b|\blsf\b|flux|hydra|mpiexec\.", re.IGNORECASE)
    matches = [
        f"{path.name}: {line}" for path in SOURCES for line in path.read_text().splitlines() if words.search(line)
    ]
    assert not matches


def test_the_core_talks_to_itself_without_the_collectives_under_test() -> None:
    """But for the start that is there to show what the library's own barrier does."""
    collectives = re.compile(r"MPI_(Barrier|Bcast|Reduce|Allreduce|Gather|Allgather|Alltoall|Scatter|Scan)\w*\(")
    matches = [
        f"{path.name}: {call}"
        for path in SOURCES
        if path.parent.name != "ops" and path.name != "library_barrier.c"
        for call in collectives.findall(path.read_text())
    ]
    assert not matches


def test_there_is_one_timing_loop() -> None:
    callers = [path.name for path in SOURCES if re.search(r"timing->run\(|->begin\(", path.read_text())]
    assert callers == ["rounds.c"]


ROOMS = ("base", "sync", "kit", "request", "timing", "verify", "output", "case", "study")
"""A file includes those of its own room and of rooms to its left."""
UNITS = {"ops": "kit", "datatypes": "kit", "starts": "sync", "clocks": "sync"}
"""Folders of units, and the last room that they need."""

INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)
ASIDE = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
"""Comments and strings."""

DEFINED = re.compile(
    r"^(?!static|typedef|enum|#|REGISTER|struct \w+ \{)\w[\w *]*?\b(\w+)(?:\(.*\{| = .*|;|\[.*)$", re.MULTILINE
)
"""What a file defines for others: functions and variables at the beginning of a line, without `static`."""


def headers_of(path: Path) -> set[Path]:
    """Return the headers that a file names, but for the one that is made for each library."""
    return {CORE / name for name in INCLUDE.findall(path.read_text()) if name != "missing.h"}


def wrong_way(path: Path) -> list[str]:
    """Return what a file of a room includes from a room to its right."""
    room = path.relative_to(CORE).parts[0]
    last = ROOMS.index(UNITS.get(room, room))
    rooms = {header: header.relative_to(CORE).parts[0] for header in headers_of(path)}
    return [str(header) for header, of in rooms.items() if of != room and of not in ROOMS[: last + 1]]


def names_of(header: Path) -> set[str]:
    """Return what a header is for: its macros, types, constants, functions and variables."""
    text = ASIDE.sub("", header.read_text())
    names = set(re.findall(r"#define (\w+)|^(?:struct|enum) (\w+) \{|\btypedef .*?\b(\w+)[(;]", text, re.MULTILINE))
    words = {word for matches in names for word in matches if word and not word.startswith("RANKBENCH_")}
    for constants in re.findall(r"\benum(?: \w+)? \{([^}]*)\}", text):
        words |= set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", constants))
    words |= set(re.findall(r"^\w[\w *]*?\b(\w+)\(", text, re.MULTILINE))
    for variables in re.findall(r"^(?!struct \w+;)\w([^;({]*);", text, re.MULTILINE):
        words |= set(re.findall(r"(\w+)(?:\[\w*\])*(?=,|$)", variables))
    return words


@pytest.mark.skipif(not (CORE / ROOMS[0]).is_dir(), reason="the core is one folder")
def test_a_file_includes_its_room_and_those_to_the_left_only() -> None:
    homeless = {path.name for path in SOURCES if path.parent == CORE} - {"main.c"}
    assert homeless == set(), f"move them to a room: {', '.join(ROOMS)}"
    wrong = {str(path): wrong_way(path) for path in SOURCES if path.parent != CORE}
    assert {name: headers for name, headers in wrong.items() if headers} == {}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_a_file_uses_all_that_it_includes(path: Path) -> None:
    words = set(re.findall(r"\w+", ASIDE.sub("", path.read_text())))
    others = (header for header in headers_of(path) if header.stem != path.stem)
    assert [header.name for header in others if not names_of(header) & words] == []


def test_every_file_but_units_has_a_header_that_says_all_that_it_defines() -> None:
    """`missing_call` alone is in the contract, since `missing.h` names it in every file."""
    missed = [
        f"{path.name}: {name}"
        for path in CORE.rglob("*.c")
        if path.relative_to(CORE).parts[0] not in UNITS and path.name != "main.c"
        for name in {*DEFINED.findall(ASIDE.sub("", path.read_text()))} - {"missing_call"}
        if not path.with_suffix(".h").exists() or name not in names_of(path.with_suffix(".h"))
    ]
    assert missed == []


def test_no_two_files_of_the_core_need_each_other() -> None:
    """Not by way of others either: each can be read, and changed, with those below it alone."""
    texts = {path: ASIDE.sub("", path.read_text()) for path in CORE.rglob("*.c")}
    places = {name: path for path, text in texts.items() for name in DEFINED.findall(text)}
    assert {"run_case", "measure", "make_world"} <= places.keys()
    needs = {
        path: {places[word] for word in re.findall(r"\w+", text) if places.get(word, path) != path}
        for path, text in texts.items()
    }
    graphlib.TopologicalSorter(needs).prepare()  # Raises CycleError with the files of a circle.


def test_no_two_headers_or_files_with_their_headers_include_each_other() -> None:
    """A file and its header count as one."""
    needs: dict[str, set[str]] = {}
    for path in SOURCES:
        name = str(path.with_suffix(""))
        needs[name] = needs.get(name, set()) | {str(header.with_suffix("")) for header in headers_of(path)} - {name}
    graphlib.TopologicalSorter(needs).prepare()


ALLOCATED = re.compile(r"\b([mc]alloc|realloc(array)?|posix_memalign|aligned_alloc|memalign|valloc|strn?dup)\(")


def test_one_file_alone_allocates() -> None:
    """Its callers get memory, or the launch ends with one line."""
    matches = [
        f"{path.name}: {line}" for path in SOURCES for line in path.read_text().splitlines() if ALLOCATED.search(line)
    ]
    assert {line.split(":")[0] for line in matches} == {"allocation.c"}


def find_unhandled(text: str) -> list[str]:
    """Return what is given the memory that the system may refuse, where the lines after it do not look at it."""
    lines = text.splitlines()
    missed = []
    for number, line in enumerate(lines):
        if not re.search(r"\b(ask_\w*memory|mmap)\(", line) or "return" in line:
            continue
        names = "|".join(re.escape(name) for name in re.findall(r"([\w>.-]+) = ", line))
        after = " ".join(lines[number : number + 7])
        if not re.search(rf"!({names})\b|\(({names})\)|\b({names}) (\?|&&|\|\||[!=]= (NULL|MAP_FAILED))", after):
            missed.append(line.strip())
    return missed


def test_memory_that_the_system_may_refuse_is_looked_at() -> None:
    missed = {path.name: find_unhandled(path.read_text()) for path in CORE.rglob("*.c") if path.name != "allocation.c"}
    assert {name: lines for name, lines in missed.items() if lines} == {}


@pytest.mark.parametrize("line", ["int *a = ask_memory(4);\n*a = 1;", "a = mmap(NULL, 1, 0, 0, -1, 0);\nuse(*a);"])
def test_memory_that_is_used_unseen_is_noticed(line: str) -> None:
    assert find_unhandled(line) == [line.splitlines()[0]]
