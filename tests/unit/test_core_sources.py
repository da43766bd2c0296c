"""Absences in the core's sources that docs/develop/architecture.md promises."""

from __future__ import annotations

import graphlib
import re
from pathlib import Path

import pytest

from rankbench.plan import reading

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


def test_the_core_uses_no_collective_for_its_own_communication() -> None:
    """Except for the start that measures the library's own barrier, and studies of collectives."""
    collectives = re.compile(r"MPI_(Barrier|Bcast|Reduce|Allreduce|Gather|Allgather|Alltoall|Scatter|Scan)\w*\(")
    matches = [
        f"{path.name}: {call}"
        for path in SOURCES
        if path.parent.name != "ops" and path.name not in {"library_barrier.c", "sums.c", "link_speed.c"}
        for call in collectives.findall(path.read_text())
    ]
    assert not matches


def test_core_and_plan_agree_how_long_a_case_without_samples_may_last() -> None:
    (patience,) = re.findall(r"double PATIENCE = (\d+);", (CORE / "timing" / "steering.c").read_text())
    assert int(patience) == reading.PATIENCE


def test_there_is_one_timing_loop() -> None:
    callers = [path.name for path in SOURCES if re.search(r"timing->run\(|->begin\(", path.read_text())]
    assert callers == ["rounds.c"]


ROOMS = ("base", "sync", "kit", "request", "timing", "verify", "output", "case", "study")
"""A file includes headers of its own room and of rooms to its left."""
UNITS = {"ops": "kit", "datatypes": "kit", "starts": "sync", "clocks": "sync"}
"""Folders of units, and the last room that they need."""

INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)
COMMENTS_AND_STRINGS = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
"""Comments and strings."""

DEFINED = re.compile(
    r"^(?!static|typedef|enum|#|REGISTER|struct \w+ \{)\w[\w *]*?\b(\w+)(?:\([^;{]*\{| = .*|;|\[.*)$", re.MULTILINE
)
"""Definitions of a file for other files: functions and variables at the beginning of a line, without `static`."""


def list_headers(path: Path) -> set[Path]:
    """Return the headers that a file includes, except the one generated for each library."""
    return {CORE / name for name in INCLUDE.findall(path.read_text()) if name != "missing.h"}


def list_wrong_includes(path: Path) -> list[str]:
    """Return headers of rooms to the right that a file of a room includes."""
    room = path.relative_to(CORE).parts[0]
    last = ROOMS.index(UNITS.get(room, room))
    rooms = {header: header.relative_to(CORE).parts[0] for header in list_headers(path)}
    return [str(header) for header, of in rooms.items() if of != room and of not in ROOMS[: last + 1]]


def list_names(header: Path) -> set[str]:
    """Return the names that a header provides: macros, types, constants, functions and variables."""
    text = COMMENTS_AND_STRINGS.sub("", header.read_text())
    names = set(re.findall(r"#define (\w+)|^(?:struct|enum) (\w+) \{|\btypedef .*?\b(\w+)[(;]", text, re.MULTILINE))
    words = {word for matches in names for word in matches if word and not word.startswith("RANKBENCH_")}
    for constants in re.findall(r"\benum(?: \w+)? \{([^}]*)\}", text):
        words |= set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", constants))
    words |= set(re.findall(r"^\w[\w *]*?\b(\w+)\(", text, re.MULTILINE))
    for variables in re.findall(r"^(?!struct \w+;)\w([^;({]*);", text, re.MULTILINE):
        words |= set(re.findall(r"(\w+)(?:\[\w*\])*(?=,|$)", variables))
    return words


def test_a_file_includes_only_its_room_and_rooms_to_the_left() -> None:
    homeless = {path.name for path in SOURCES if path.parent == CORE} - {"main.c"}
    assert homeless == set(), f"move them to a room: {', '.join(ROOMS)}"
    wrong = {str(path): list_wrong_includes(path) for path in SOURCES if path.parent != CORE}
    assert {name: headers for name, headers in wrong.items() if headers} == {}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_a_file_uses_every_header_that_it_includes(path: Path) -> None:
    words = set(re.findall(r"\w+", COMMENTS_AND_STRINGS.sub("", path.read_text())))
    others = (header for header in list_headers(path) if header.stem != path.stem)
    assert [header.name for header in others if not list_names(header) & words] == []


def test_every_file_but_units_has_a_header_with_all_its_definitions() -> None:
    """Only `missing_call` is in the contract, since `missing.h` uses it in every file."""
    missed = [
        f"{path.name}: {name}"
        for path in CORE.rglob("*.c")
        if path.relative_to(CORE).parts[0] not in UNITS and path.name != "main.c"
        for name in {*DEFINED.findall(COMMENTS_AND_STRINGS.sub("", path.read_text()))} - {"missing_call"}
        if not path.with_suffix(".h").exists() or name not in list_names(path.with_suffix(".h"))
    ]
    assert missed == []


def test_files_of_the_core_have_no_cyclic_dependencies() -> None:
    """Each file can be read, and changed, with only the files below it."""
    texts = {path: COMMENTS_AND_STRINGS.sub("", path.read_text()) for path in CORE.rglob("*.c")}
    places = {name: path for path, text in texts.items() for name in DEFINED.findall(text)}
    assert {"run_case", "measure", "make_world"} <= places.keys()
    needs = {
        path: {places[word] for word in re.findall(r"\w+", text) if places.get(word, path) != path}
        for path, text in texts.items()
    }
    graphlib.TopologicalSorter(needs).prepare()  # Raises CycleError with the files of a cycle.


def test_each_header_has_its_own_guard() -> None:
    """Of two headers with one guard, a file that includes both sees the first only."""
    guards = [re.findall(r"^#ifndef (\w+)\n#define \1$", path.read_text(), re.MULTILINE) for path in CORE.rglob("*.h")]
    assert all(len(names) == 1 for names in guards)
    assert len({name for (name,) in guards}) == len(guards)


def test_includes_have_no_cycles() -> None:
    """A file and its header count as one."""
    needs: dict[str, set[str]] = {}
    for path in SOURCES:
        name = str(path.with_suffix(""))
        needs[name] = needs.get(name, set()) | {str(header.with_suffix("")) for header in list_headers(path)} - {name}
    graphlib.TopologicalSorter(needs).prepare()


ALLOCATED = re.compile(r"\b([mc]alloc|realloc(array)?|posix_memalign|aligned_alloc|memalign|valloc|strn?dup)\(")


def test_only_one_file_allocates() -> None:
    """Its callers get memory, or the launch ends with one line."""
    matches = [
        f"{path.name}: {line}" for path in SOURCES for line in path.read_text().splitlines() if ALLOCATED.search(line)
    ]
    assert {line.split(":")[0] for line in matches} == {"allocation.c"}


def find_unhandled(text: str) -> list[str]:
    """Return assignments of memory that the system may refuse if the following lines do not test it."""
    lines = text.splitlines()
    missed = []
    for number, line in enumerate(lines):
        if not re.search(r"\b(try_\w*memory|mmap)\(", line) or "return" in line:
            continue
        names = "|".join(re.escape(name) for name in re.findall(r"([\w>.-]+) = ", line))
        after = " ".join(lines[number : number + 7])
        if not re.search(rf"!({names})\b|\(({names})\)|\b({names}) (\?|&&|\|\||[!=]= (NULL|MAP_FAILED))", after):
            missed.append(line.strip())
    return missed


def test_refused_memory_is_tested_for() -> None:
    missed = {path.name: find_unhandled(path.read_text()) for path in CORE.rglob("*.c") if path.name != "allocation.c"}
    assert {name: lines for name, lines in missed.items() if lines} == {}


@pytest.mark.parametrize("line", ["int *a = try_memory(4);\n*a = 1;", "a = mmap(NULL, 1, 0, 0, -1, 0);\nuse(*a);"])
def test_an_untested_allocation_is_found(line: str) -> None:
    assert find_unhandled(line) == [line.splitlines()[0]]
