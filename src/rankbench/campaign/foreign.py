"""Launches of foreign programs: a benchmark of OSU or IMB instead of the core, its output instead of a stream.

One launch is one benchmark. Its value for each size is one sample, since it is a mean. The libmpi that a program would
load is checked first, so that results belong to the right library.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import shutil
import subprocess
import tarfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from rankbench import libraries, units
from rankbench.campaign import exit_causes, user_program
from rankbench.campaign.exit_causes import EMPTY, LaunchExit
from rankbench.foreign import Text, printed_lines, recognition, refusals, tools
from rankbench.foreign.case_results import make_case_result
from rankbench.foreign.running import RunRequest
from rankbench.model import CaseResult, CaseStatus, LaunchStatus, RankbenchError, Stream, SuiteSpec
from rankbench.plan.variants import abbreviate_names

if TYPE_CHECKING:
    from rankbench.campaign.launching import LaunchRequest
    from rankbench.foreign import Line, Row, Table
    from rankbench.model import Case, Description, Library, Operation, Outcome, Plan

RUNS = ("program", "arguments", "apply_plan")
"""Attributes of a tool that can be run."""
PLACE = "suites"
"""Subfolder of RANKBENCH_HOME with builds of tarballs."""


MOST_SIZES = 8
"""Longest list of sizes in a message."""


class Program(NamedTuple):
    """A benchmark's program for one library."""

    path: Path
    environment: dict[str, str]
    """Variables that it needs to load the library."""
    operation: Operation
    arguments: list[str]
    """Arguments from the plan."""
    lacking: frozenset[str] = frozenset()
    """Options that its build lacks, of those that rankbench would give it."""
    script: str = ""
    """Of a user's program: what each rank runs."""


Programs = dict[tuple[str, str], Program]
"""By library and operation."""


def find_tools() -> dict[str, ModuleType]:
    """Return the tools that can be run, by name."""
    types = units.modules(tools)
    return {name: tool for name, tool in types.items() if all(hasattr(tool, word) for word in RUNS)}


def add_operations(description: Description, planned: Plan) -> Description:
    """Return a description with the benchmarks of the foreign tools in a plan.

    Raises RankbenchError for an unknown tool.
    """
    tool_names = {text.partition("-")[0] for text in planned.operations}
    for spec in planned.suites:
        if spec.name not in find_tools():
            raise RankbenchError(
                f'{planned.file}: suites: found "{spec.name}"{units.suggestion(spec.name, find_tools())}'
            )
    arguments = {spec.name: spec.arguments for spec in planned.suites}
    rows = [
        replace(tool.apply_plan(operation, planned, arguments.get(name, [])), kind=tool.NAME)
        for name, tool in find_tools().items()
        if name in tool_names
        for operation in getattr(tool, "RUNNABLE", tool.OPERATIONS)
    ]
    rows += [user_program.make_operation(planned)] if planned.program else []
    return replace(description, operations=[*description.operations, *rows]) if rows else description


class Search(NamedTuple):
    """Where programs of foreign tools are searched for."""

    used: Sequence[Library]
    """The libraries of the candidates."""
    reach: Sequence[Library]
    home: Path


def drop_absent(
    description: Description, planned: Plan, search: Search, *, building: bool
) -> tuple[Description, list[str]]:
    """Return a description without benchmarks that no library has a program for, and notes on them.

    Only benchmarks that a plan names together, by their tool, are left out; those named one by one have a row with the
    reason. Unless `building`, tarballs that are not built yet are taken to have all programs.
    """
    specs = {spec.name: spec for spec in planned.suites}
    names = {text.partition(".")[0] for text in planned.operations}
    notes, absent = [], set()
    for suite in sorted(find_tools().keys() & names):
        benchmarks = [
            operation for operation in description.operations if operation.foreign and operation.kind == suite
        ]
        by_program: defaultdict[str, list[str]] = defaultdict(list)
        for operation in benchmarks:
            by_program[units.module(tools, suite).program(operation)].append(operation.name)
        present = [name for name in by_program if is_there(name, specs.get(suite), search, building=building)]
        if not present:
            continue  # The plan's location is wrong, and an error shows where was searched.
        lacking = [name for program in by_program.keys() - present for name in by_program[program] if name not in names]
        absent |= set(lacking)
        if left_out := [operation.name for operation in benchmarks if operation.name in lacking]:
            notes.append(f"{abbreviate_names(left_out)}: no candidate has the program; left out")
    operations = [operation for operation in description.operations if operation.name not in absent]
    return replace(description, operations=operations), notes


def is_there(program: str, spec: SuiteSpec | None, search: Search, *, building: bool) -> bool:
    """Return whether a library has a program, or may have it because its programs cannot be searched yet."""
    if spec and spec.source and not building:
        return True
    for library in search.used:
        try:
            if search_program(program, spec, library, search.reach, search.home).path:
                return True
        except RankbenchError:
            return True
    return False


def spec(name: str, key: str, where: str) -> SuiteSpec:
    """Return the location of a tool's programs from a plan's `path` or `source`; empty: beside the libraries."""
    return SuiteSpec(name=name, path=where) if key == "path" else SuiteSpec(name=name, source=where)


# --- programs ---------------------------------------------------------------------------------------------------------


def find_programs(
    planned: Plan, operations: Sequence[Operation], used: Iterable[Library], reach: Sequence[Library], home: Path
) -> tuple[Programs, dict[tuple[str, str], str]]:
    """Return the programs of foreign operations by library, and why others cannot run.

    Raises RankbenchError if no library has a program that the plan names.
    """
    specs = {spec.name: spec for spec in planned.suites}
    by_operation: Programs = {}
    refused: dict[tuple[str, str], str] = {}
    for library in used:
        for operation in operations:
            if not operation.foreign:
                continue
            is_own, spec = operation.foreign.suite == user_program.SUITE, specs.get(operation.foreign.suite)
            try:
                by_operation[library.name, operation.name] = (
                    find_own(planned, operation, library, home)
                    if is_own
                    else find_program(spec, operation, library, reach, home)
                )
            except RankbenchError as error:
                refused[library.name, operation.name] = str(error)
    if refused and not by_operation:
        raise RankbenchError(f"{planned.file}: {next(iter(refused.values()))}")
    return by_operation, refused


def find_own(planned: Plan, operation: Operation, library: Library, home: Path) -> Program:
    """Return the user's program for a library. Raises RankbenchError if it cannot run with it."""
    refuse_wrap(library, "the program")
    path, script = user_program.find_program(planned, library, home)
    environment = libraries.make_environment_of_script(library, path)
    return Program(path.absolute(), environment, operation, [], script=script)


def refuse_wrap(library: Library, what: str) -> None:
    """Raise RankbenchError if programs of a library run behind a wrapping command: only the core is built there."""
    if library.wrap:
        raise RankbenchError(f"{what}: {library.name} has a wrap, which is for the core only; leave one of them out")


def find_program(
    spec: SuiteSpec | None, operation: Operation, library: Library, reach: Sequence[Library], home: Path
) -> Program:
    """Return a benchmark's program for a library. Raises RankbenchError if none would load that library."""
    assert operation.foreign
    suite = operation.foreign.suite
    refuse_wrap(library, operation.name)
    tool = units.module(tools, suite)
    name = tool.program(operation)
    path, where, besides = search_program(name, spec, library, reach, home)
    if path is None:
        raise RankbenchError(
            f'{operation.name}: no {name} in {where}; say where it is: [suites.{suite}] path = "FOLDER", source = '
            '"TARBALL" or module = "NAME"'
        )
    environment = libraries.make_environment(library, path, besides)
    lacking = tool.find_lacking(operation, path) if hasattr(tool, "find_lacking") else frozenset()
    return Program(path.absolute(), environment, operation, spec.arguments if spec else [], lacking)


class ProgramSearch(NamedTuple):
    """The result of a search for a program."""

    path: Path | None
    where: str
    """The places that were searched, in words."""
    besides: Mapping[str, str] = {}
    """Variables set by its modules."""


def search_program(
    name: str, spec: SuiteSpec | None, library: Library, reach: Sequence[Library], home: Path
) -> ProgramSearch:
    """Return a program from the plan's location, or beside the launcher of a library that ships it."""
    if spec and spec.modules:
        modules = libraries.load_modules(library, spec.modules)
        executable = shutil.which(name, path=modules.path)
        where = f"what {modules.names} put{'s' * (' ' not in modules.names)} on PATH"
        return ProgramSearch(Path(executable) if executable else None, where, modules.environment)
    if spec and spec.source:
        folder = build_tarball(Path(spec.source).expanduser(), library, home)
        return ProgramSearch(find_below(folder, name), f"what was built from {spec.source}")
    if spec and spec.path:
        folder = find_folder(spec, library)
        return ProgramSearch(find_below(folder, name), str(folder))
    beside = find_shipped(name, [library, *reach])
    return ProgramSearch(find_below(beside, name) if beside else None, "the libraries that rankbench finds")


def find_below(folder: Path, name: str) -> Path | None:
    """Return the first file with a name anywhere below a folder."""
    return next((path for path in sorted(folder.rglob(name)) if path.is_file()), None)


def find_folder(spec: SuiteSpec, library: Library) -> Path:
    """Return the folder of a tool's programs for a library. Raises RankbenchError if its name has unknown fields."""
    texts = {"library": library.name, "family": library.family, "version": library.version}
    try:
        return Path(spec.path.format(**texts)).expanduser()
    except (LookupError, ValueError, AttributeError):
        raise RankbenchError(
            f'suites.{spec.name}.path: found "{spec.path}"; braces may contain only '
            f"{', '.join(f'{{{name}}}' for name in texts)}"
        ) from None


def find_shipped(name: str, reach: Iterable[Library]) -> Path | None:
    """Return the folder of the first library with the program beside its launcher, as Intel MPI ships IMB."""
    folders = (Path(library.prefix) / "bin" for library in reach if library.prefix)
    return next((folder for folder in folders if (folder / name).exists()), None)


def build_tarball(source: Path, library: Library, home: Path) -> Path:
    """Return the folder with the programs of a tarball, built once for each library by its wrapper.

    Raises RankbenchError if it cannot be read or built.
    """
    try:
        digest = hashlib.sha256(source.read_bytes()).hexdigest()
    except OSError as error:
        raise RankbenchError(f"{source}: cannot be read ({error.strerror})") from None
    folder = home / PLACE / f"{source.name.partition('.tar')[0]}-{digest[:12]}" / library.name
    if (folder / "made").exists():
        return folder
    unpack(source, folder)
    configure = next(iter(sorted(folder.rglob("configure"), key=lambda path: len(path.parts))), None)
    if configure is None:
        raise RankbenchError(
            f'{source}: has no configure; unpack and build it yourself, and say where: path = "FOLDER"'
        )
    with (folder / "build.log").open("wb") as log:
        for step in list_build_commands(configure, library):
            environment = os.environ | library.environment | library.build_environment
            process = subprocess.run(step, cwd=configure.parent, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                  stderr=log, check=False)  # fmt: skip
            if process.returncode:
                raise RankbenchError(f"{source} for {library.name}: {Path(step[0]).name} failed; see {log.name}")
    (folder / "made").touch()
    return folder


def unpack(source: Path, folder: Path) -> None:
    """Unpack a tarball into a folder, and nothing outside it. Raises RankbenchError if it is no tarball."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        with tarfile.open(source) as archive:
            archive.extractall(folder, filter="data")
    except (OSError, EOFError, tarfile.TarError, zlib.error, lzma.LZMAError) as error:
        why = f"{error}".partition("\n")[0].rstrip(": ")
        raise RankbenchError(f"{source}: no tarball that can be unpacked ({why})") from None


def list_build_commands(configure: Path, library: Library) -> list[list[str]]:
    """Return the commands that build the sources with a library's wrappers."""
    wrapper = Path(library.wrapper)
    cxx = wrapper.with_name(wrapper.name.replace("mpicc", "mpicxx", 1))
    return [
        [str(configure), f"CC={wrapper}", *([f"CXX={cxx}"] if cxx.exists() else [])],
        ["make", f"-j{os.cpu_count() or 1}"],
    ]


# --- launches ---------------------------------------------------------------------------------------------------------


def command(request: LaunchRequest, benchmark: Program, folder: Path) -> list[str]:
    """Return a program with its arguments for the cases of a launch."""
    assert benchmark.operation.foreign
    if benchmark.script:
        return user_program.write_script(benchmark.script, folder)
    tool = units.module(tools, benchmark.operation.foreign.suite)
    sizes = sorted({case.size_bytes for case in request.cases})
    ranks = request.placement.ranks
    run = RunRequest(benchmark.operation, sizes, ranks, request.plan, folder, benchmark.lacking)
    return [str(benchmark.path), *tool.arguments(run), *benchmark.arguments]


def classify(request: LaunchRequest, operation: Operation, outcome: Outcome, output: Path, log: str) -> LaunchExit:
    """Return how a launch ended, with the results in its output; the first missing size is the one that failed."""
    assert operation.foreign
    if operation.foreign.suite == user_program.SUITE:
        return user_program.classify(request, outcome, output, log)
    how = exit_causes.ending_text(outcome.exit_code, log, request.placement.ranks)
    printed = read_printed(output, complete=not outcome.hung and not outcome.exit_code)
    text = Text(str(output), printed, operation.foreign.benchmark)
    try:
        # Some programs print tables of several benchmarks.
        all_tables = list(recognition.read_run(units.module(tools, operation.foreign.suite), text))
        tables, unreadable = [table for table in all_tables if table.operation.name == operation.name], ""
    except RankbenchError as error:
        tables, unreadable = [], str(error)
    end: tuple[LaunchStatus, str]
    if outcome.hung:
        end = LaunchStatus.HUNG, f"no sign of life for {request.plan.launch_limit_s:g} s"
    elif refusal := find_refusal(operation, outcome, tables, log):
        results = [CaseResult(case=case, status=CaseStatus.REFUSED, reason=refusal) for case in request.cases]
        return LaunchExit(LaunchStatus.OK, "", outcome, replace(EMPTY, results=results, complete=True))
    elif outcome.exit_code:
        end = LaunchStatus.CRASHED, how
    elif unreadable:
        end = LaunchStatus.CRASHED, f"its output cannot be read: {unreadable}"
    elif wrong := check_world(request, operation, tables) or check_datatype(operation, tables):
        return LaunchExit(LaunchStatus.REFUSED, wrong, outcome, EMPTY)
    else:
        end = LaunchStatus.OK, ""
    ended_well = end[0] == LaunchStatus.OK
    return LaunchExit(*end, outcome, stream_of(operation, request.cases, tables[:1], ended_well=ended_well))


def find_refusal(operation: Operation, outcome: Outcome, tables: Sequence[Table], log: str) -> str:
    """Return the line with which a program refused to run; empty if it printed results, or was ended by a signal."""
    assert operation.foreign
    program = units.module(tools, operation.foreign.suite).program(operation)
    ended_by_signal = exit_causes.signal_of(outcome.exit_code, log)
    return "" if tables or ended_by_signal else refusals.find_refusal(log, program)


def read_printed(output: Path, *, complete: bool) -> Iterator[Line]:
    """Return the lines of an output; without the last one if it was cut off."""
    if complete:
        return printed_lines.read_file(output)
    text = output.read_bytes()
    return printed_lines.read_lines(io.BytesIO(text[: text.rfind(b"\n") + 1]), str(output))


def check_world(request: LaunchRequest, operation: Operation, tables: Sequence[Table]) -> str:
    """Return why a program did not run as one world with the number of ranks requested."""
    ranks = request.placement.ranks
    taking_part = ranks - ranks % 2 if operation.in_pairs else ranks
    others = {table.ranks for table in tables} - {0, ranks, taking_part, operation.ranks_exactly}
    if len(tables) == 1 and not others:
        return ""
    what = f"measured {others.pop()} ranks" if others else f"printed {len(tables)} tables"
    return f"{what} where one of {ranks} ranks was asked for; is the launcher another library's?"


def check_datatype(operation: Operation, tables: Sequence[Table]) -> str:
    """Return why a program did not calculate with numbers of the datatype of its cases."""
    other = next((table.datatype for table in tables if table.datatype not in {"", operation.datatype}), "")
    if operation.datatype == "byte" or not other:
        return ""
    return f"calculated with numbers of type {other}, where the cases are of {operation.datatype}"


def stream_of(operation: Operation, cases: list[Case], tables: Sequence[Table], *, ended_well: bool) -> Stream:
    """Return the results of a launch, and the case in which it failed. Programs measure sizes in rising order."""
    by_size: defaultdict[int, list[Row]] = defaultdict(list)
    for table in tables:
        for row in table.rows:
            by_size[row.size_bytes if operation.sized else 0].append(row)
    missing = sorted((case for case in cases if case.size_bytes not in by_size), key=lambda case: case.size_bytes)
    results = [
        make_case_result(tables[0], case, by_size[case.size_bytes]) for case in cases if case.size_bytes in by_size
    ]
    if ended_well:
        results += [make_missing_row(case, tables[0]) for case in missing]
    unfinished = missing[0] if missing and not ended_well else None
    return Stream(facts=None, ranks=[], results=results, unfinished=unfinished, complete=ended_well)


def make_missing_row(case: Case, table: Table) -> CaseResult:
    """Return the row of a size that a program did not measure."""
    measured = ", ".join(str(row.size_bytes) for row in table.rows[:MOST_SIZES])
    more = " ..." if len(table.rows) > MOST_SIZES else ""
    return CaseResult(
        case=case,
        status=CaseStatus.REFUSED,
        reason=f"the program does not measure this size; it measured {measured}{more} B",
    )


def list_lacking_options(programs: Programs) -> Iterator[str]:
    """Yield a note for each option that builds of programs lack, and for what they do without it."""
    by_effect: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for program in programs.values():
        assert program.operation.foreign
        if program.script:
            continue
        effects = getattr(units.module(tools, program.operation.foreign.suite), "WITHOUT", {})
        for option in sorted(program.lacking & effects.keys()):
            by_effect[option, effects[option]].append(program.operation.name)
    for (option, effect), names in by_effect.items():
        yield f"{abbreviate_names(list(dict.fromkeys(names)))}: the program has no option {option}; {effect}"


def list_refusals(programs: Mapping[tuple[str, str], str]) -> list[str]:
    """Return a line for each reason for which programs cannot be run."""
    by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for (library, _), reason in programs.items():
        by_reason[reason].append(library)
    return [f"{', '.join(dict.fromkeys(names))}: {reason}" for reason, names in by_reason.items()]
