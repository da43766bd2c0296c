"""Launches of a user's program: it runs instead of the core, and a recorder preloaded into it reports its ranks.

One launch is one run. Its value is what the program prints, or the time from MPI_Init to MPI_Finalize.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import shlex
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from rankbench import files, libraries, processes, staging
from rankbench.build.recorder import build_recorder
from rankbench.campaign import exit_causes
from rankbench.campaign.exit_causes import EMPTY, LaunchExit
from rankbench.foreign import make_benchmark
from rankbench.model import (
    Case,
    CaseResult,
    CaseStatus,
    LaunchStatus,
    Library,
    Meaning,
    Operation,
    Outcome,
    Plan,
    ProgramSpec,
    RankbenchError,
    Record,
    Series,
)
from rankbench.plan.programs import OPERATION, RATE, TIMES_NS, UNIT_HELP
from rankbench.quantities import format_size
from rankbench.units import suggestion

if TYPE_CHECKING:
    from rankbench.campaign.launching import LaunchRequest

SUITE = OPERATION
PLACE = "programs"
"""Subfolder of RANKBENCH_HOME with copies of programs' folders, built for each library."""
SCRIPT = "program.sh"
RECORD = "record"
WORK = "work"
CHECKS = "checks.json"
"""In the campaign's folder: what the first launch of each case printed that all others must print, too."""
MOST_BYTES = 1 << 30
"""Largest folder that is copied."""
LONGEST_NAME = 40
LONGEST_LINE = 1 << 16
LINE_SHOWN = 160
LAUNCHER = re.compile(
    r"={5}|-{5}|(mpiexec|mpirun|prterun|srun|\[mpiexec|\[proxy|BAD TERMINATION)\b|Abort\(|\[[^]]*\] PMIX ERROR"
)
"""How lines of launchers about the end of a rank begin."""
UNIT = re.compile(r"\s*([A-Za-zµ]+(?:/[A-Za-z]+)?)")
FROM_INIT = "the time from MPI_Init to MPI_Finalize"
INIT_TO_FINALIZE = "seconds from MPI_Init to MPI_Finalize"
SH = """#!/bin/sh
# Runs one rank of the program. The first one on the file system makes the copy of the folder that all use.
here=$(cd "$(dirname "$0")" && pwd) || exit 127
mkdir -p "$here/{record}" || exit 127
{enter}
exec env RANKBENCH_RECORD="$here/{record}" LD_PRELOAD="{recorder}${{LD_PRELOAD:+ $LD_PRELOAD}}" {words}
"""
ENTER_COPY = """work="$here/{work}"
if mkdir "$work.lock" 2>/dev/null; then
    {{ cp -R {folder} "$work.part" && mv "$work.part" "$work"; }} || {{ touch "$work.failed"; exit 127; }}
fi
until [ -d "$work" ]; do
    [ -e "$work.failed" ] && exit 127
    sleep 0.01
done
cd "$work" || exit 127"""


class RankRecord(Record, frozen=True):
    """What the recorder writes for one rank (`recorder/startup.c`)."""

    rank: int
    ranks: int
    seconds: float
    """From the end of MPI_Init to the begin of MPI_Finalize, or to the end of the process."""
    finalised: bool
    library: str
    """Path of its libmpi."""
    version: str
    """What MPI_Get_library_version answered."""


def make_operation(plan: Plan) -> Operation:
    """Return the operation that stands for the plan's program."""
    assert plan.program
    spec = plan.program
    command = shlex.join(spec.run)
    words = [Path(spec.run[0]).name, *spec.run[1:]]
    slug = re.sub(r"[^A-Za-z0-9]+", "-", "-".join(words)).strip("-")
    if len(slug) > LONGEST_NAME:
        slug = f"{slug[:LONGEST_NAME].rstrip('-')}-{hashlib.sha256(command.encode()).hexdigest()[:4]}"
    what = f'the value that "{spec.value}" finds in its output' if spec.value else FROM_INIT
    meaning = Meaning(
        over_calls="single",
        over_ranks="one" if spec.value else "maximum",
        start="not reported",
        text=f"One run of {command}: {what}.",
        data="checked" if spec.check else "not checked",
    )
    metric: Literal["rate", "time"] = "rate" if RATE.fullmatch(spec.unit) else "time"
    return make_benchmark(SUITE, slug, command, f"{command}: {what}", meaning, metric=metric, kind=SUITE, sized=False)


# --- before the campaign ----------------------------------------------------------------------------------------------


def find_program(plan: Plan, library: Library, home: Path) -> tuple[Path, str]:
    """Return the program's file for a library, and the script that each rank runs. It is copied and built if needed.

    Raises RankbenchError where it cannot be built or started, or would not load this library.
    """
    assert plan.program
    spec = plan.program
    folder = prepare_folder(spec, library, home)
    command = choose_command(spec, plan, library)
    program = find_executable(command, spec, folder)
    recorder = build_recorder(library, home)
    place = shlex.quote(str(folder))
    enter = ENTER_COPY.format(work=WORK, folder=place) if spec.copies else f"cd {place} || exit 127"
    words = shlex.join([command, *spec.run[1:]])
    text = SH.format(record=RECORD, enter=enter, recorder=recorder, words=words)
    return program, text


def choose_command(spec: ProgramSpec, plan: Plan, library: Library) -> str:
    """Return the first word of the command for a library."""
    candidates = [
        candidate.name or candidate.library
        for candidate in plan.candidates
        if candidate.library in {library.name, library.family}
    ]
    for name in (*candidates, library.name, library.family):
        if name in spec.paths:
            return spec.paths[name]
    return spec.run[0]


def require_known_paths(plan: Plan, used: Iterable[Library]) -> None:
    """Raise RankbenchError if `paths` names what the plan does not compare: it would be ignored."""
    names = {candidate.name or candidate.library: None for candidate in plan.candidates}
    names |= {name: None for library in used for name in (library.name, library.family)}
    for name in plan.program.paths if plan.program else ():
        if name not in names:
            raise RankbenchError(f'program.paths: found "{name}"{suggestion(name, names)}')


def find_executable(command: str, spec: ProgramSpec, folder: Path) -> Path:
    """Return the file of a command in the folder of `prepare_folder`.

    Raises RankbenchError if it is none, or one that cannot be recorded.
    """
    place = str(folder / command) if "/" in command else shutil.which(command)
    path = Path(place) if place else None
    if path is None or not path.is_file():
        where = "PATH"
        if "/" in command:
            where = f"{spec.folder} after {spec.build}" if spec.build else f"{spec.folder}, and the plan has no build"
        raise RankbenchError(f"program.run: {command}: no such program in {where}")
    if not os.access(path, os.X_OK):
        raise RankbenchError(f"program.run: {path}: cannot be executed; chmod +x?")
    if path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
        raise RankbenchError(f"program.run: {path}: is set-uid or set-gid, so that no library can be preloaded")
    return path


def prepare_folder(spec: ProgramSpec, library: Library, home: Path) -> Path:
    """Return the folder that launches run in or copy: the user's own, or a copy in which the program was built.

    Raises RankbenchError if it is too large to copy, or holds what cannot be read.
    """
    folder = Path(spec.folder)
    if not spec.copies and not spec.build:
        return folder
    facts = files.find_facts(list_entries(folder))
    entries = list(facts)
    total = sum(fact.st_size for fact in facts.values() if stat.S_ISREG(fact.st_mode))
    if total > MOST_BYTES:
        raise RankbenchError(
            f"program.folder: {folder} has {total / 2**30:.1f} GiB, which is not copied; name a smaller "
            "folder, or write copies = false and leave build out"
        )
    made_of = [spec.build, library.wrapper, str(folder)]
    made_of += [
        f"{entry} {fact.st_size} {fact.st_mtime_ns}" for entry, fact in facts.items() if not stat.S_ISDIR(fact.st_mode)
    ]
    digest = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:12]
    place = home / PLACE / f"{folder.name or 'program'}-{digest}" / library.name
    if not place.exists():
        with staging.make_temporary_folder(files.make_folder(place.parent)) as copy:
            copy_folder(folder, copy, entries)
            if spec.build:
                build_program(spec, library, copy)
            staging.publish(copy, place)
    return place


def list_entries(folder: Path) -> Iterator[Path]:
    """Yield what is below a folder, in order, without campaigns of rankbench and folders of version control.

    Raises RankbenchError if a folder below it cannot be read.
    """
    with _refusing_unreadable(folder):
        below = sorted(folder.iterdir())
    for entry in below:
        if entry.is_dir() and not entry.is_symlink():
            if entry.name != ".git" and not (entry / "campaign.json").exists():
                yield entry
                yield from list_entries(entry)
        elif entry.is_file() or entry.is_symlink():
            yield entry


def copy_folder(folder: Path, copy: Path, entries: Sequence[Path]) -> None:
    """Copy entries of a folder, with times and permissions. Links stay links, and lead where they did.

    Raises RankbenchError if one cannot be read.
    """
    for entry in entries:
        target = copy / entry.relative_to(folder)
        if entry.is_dir() and not entry.is_symlink():
            target.mkdir(exist_ok=True)
        else:
            with contextlib.suppress(FileNotFoundError), _refusing_unreadable(entry):  # Removed since it was listed.
                if entry.is_symlink() and not entry.resolve().is_relative_to(folder.resolve()):
                    target.symlink_to(entry.resolve())
                else:
                    shutil.copy2(entry, target, follow_symlinks=False)


@contextlib.contextmanager
def _refusing_unreadable(entry: Path) -> Iterator[None]:
    """Raise RankbenchError where an entry of the program's folder cannot be read."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise RankbenchError(
            f"program.folder: {entry} cannot be copied ({error.strerror}); name a folder that holds only the program, "
            "or write copies = false and leave build out"
        ) from None


def find_wrapper(mpicc: Path, *names: str) -> Path:
    """Return the first of a library's other wrappers that is there, else the first one."""
    paths = [mpicc.with_name(mpicc.name.replace("mpicc", name, 1)) for name in names]
    return next((path for path in paths if path.exists()), paths[0])


def build_program(spec: ProgramSpec, library: Library, folder: Path) -> None:
    """Build a program with a library's wrappers. Raises RankbenchError with the first error of the output."""
    mpicc = Path(library.wrapper)
    wrappers = {
        "mpicc": str(mpicc),
        "mpicxx": str(find_wrapper(mpicc, "mpicxx", "mpic++")),
        "mpifort": str(find_wrapper(mpicc, "mpifort", "mpif90", "mpifc")),
    }
    line = spec.build.format(**wrappers)
    environment = os.environ | library.environment | library.build_environment
    process = processes.run(["/bin/sh", "-c", line], environment, folder=folder, joins_errors=True)
    if process.returncode:
        lines = [text for text in process.stdout.splitlines() if text.strip()]
        first = next((text for text in lines if re.search(r"error|not found|No such", text, re.IGNORECASE)), "")
        reason = first or next(reversed(lines), f"exit code {process.returncode}")
        raise RankbenchError(f"program.build for {library.name}: {line}: {reason.strip()}")


# --- launches ---------------------------------------------------------------------------------------------------------


def write_script(text: str, folder: Path) -> list[str]:
    """Write the script of a launch and remove what an earlier launch left in its folder; return its command."""
    for name in (RECORD, WORK, f"{WORK}.part", f"{WORK}.lock"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / f"{WORK}.failed").unlink(missing_ok=True)
    files.write(folder / SCRIPT, text.encode())
    return ["/bin/sh", str(folder / SCRIPT)]


def classify(request: LaunchRequest, outcome: Outcome, output: Path, log: str) -> LaunchExit:
    """Return how a launch ended, with the value of the program."""
    case = request.cases[0]
    shutil.rmtree(output.parent / WORK, ignore_errors=True)
    shutil.rmtree(output.parent / f"{WORK}.lock", ignore_errors=True)
    spec = request.plan.program
    assert spec
    unfinished = msgspec.structs.replace(EMPTY, unfinished=case)
    if outcome.hung:
        reason = f"printed nothing for {request.plan.launch_limit_s:g} s"
        return LaunchExit(LaunchStatus.HUNG, reason, outcome, unfinished)
    if outcome.exit_code:
        how = exit_causes.ending_text(outcome.exit_code, log, request.placement.ranks)
        how += f"; its last line: {last}" if (last := find_last_line(log)) else ""
        if spec.copies and "No such file" in how:
            how += f"; it ran in a copy of {spec.folder}: copies = false runs it there"
        return LaunchExit(LaunchStatus.CRASHED, how, outcome, unfinished)
    records = read_records(output.parent / RECORD)
    if wrong := explain_wrong_world(records, request):
        return LaunchExit(LaunchStatus.REFUSED, wrong, outcome, EMPTY)
    if (spec.value or spec.check) and outcome.output_bytes != output.stat().st_size:
        reason = f"printed {format_size(outcome.output_bytes)}, of which the middle was not kept to be searched"
        return LaunchExit(
            LaunchStatus.OK,
            "",
            outcome,
            msgspec.structs.replace(EMPTY, results=[fail(case, f"{reason}; let it print less")], complete=True),
        )
    result = read_result(spec, case, records, output)
    if result.status == CaseStatus.OK and spec.check:
        result = compare_check(result, request, spec, output)
    return LaunchExit(LaunchStatus.OK, "", outcome, msgspec.structs.replace(EMPTY, results=[result], complete=True))


def find_last_line(log: str) -> str:
    """Return the last line that the program printed before its launcher reported the end; empty if there is none."""
    lines = []
    for line in log.splitlines():
        if LAUNCHER.match(line):
            break
        lines.append(line.strip())
    return next((line[:LINE_SHOWN] for line in reversed(lines) if line), "")


def read_records(folder: Path) -> list[RankRecord]:
    """Return what the recorder wrote, by rank; files that a rank could not finish are left out."""
    records = []
    for path in folder.glob("rank-*.json"):
        try:
            records.append(msgspec.json.decode(path.read_bytes(), type=RankRecord))
        except (OSError, msgspec.MsgspecError):
            continue
    return sorted(records, key=lambda rank: rank.rank)


def explain_wrong_world(records: Sequence[RankRecord], request: LaunchRequest) -> str:
    """Return why a run was not one world of the candidate's library with the number of ranks requested."""
    ranks = request.placement.ranks
    if not records:
        return (
            "no rank called MPI_Init: it is no MPI program, is linked statically, or drops LD_PRELOAD, so that "
            "it is not known which library it used"
        )
    sizes = {rank.ranks for rank in records}
    if sizes != {ranks}:
        used = records[0].version.partition("\n")[0].strip()
        return (
            f"{len(records)} worlds of {min(sizes)} instead of one of {ranks} ranks: the program's library ({used}) "
            f"is not that of the launcher ({request.library.name})"
        )
    return next(filter(None, (libraries.explain_wrong_libmpi(request.library, rank.library) for rank in records)), "")


def read_result(spec: ProgramSpec, case: Case, records: Sequence[RankRecord], output: Path) -> CaseResult:
    """Return the row of a run."""
    seconds = max(rank.seconds for rank in records)
    printed = {INIT_TO_FINALIZE: seconds}
    early = sum(not rank.finalised for rank in records)
    if early and not spec.value:
        return fail(
            case,
            f"{early} of {len(records)} ranks ended without MPI_Finalize, up to which a run is timed; finalise MPI, or "
            "write value for a time that the program prints",
        )
    if not spec.value:
        return make_row(case, [seconds * TIMES_NS["s"]], printed)
    values, decimals = [], math.inf
    for line in read_lines(output):
        for match in re.finditer(spec.value, line):
            try:
                number = float(match[1])
            except (TypeError, ValueError):
                return fail(case, f'value: found "{match[1]}" in "{line.strip()[:80]}", expected a number')
            unit = spec.unit or find_unit(line[match.end(1) :])
            if unit not in TIMES_NS and not RATE.fullmatch(unit):
                what = f'the unit "{unit}"' if unit else "no unit"
                return fail(case, f'value: {what} behind {match[1]}; write unit = "s" (or {UNIT_HELP})')
            if unit not in TIMES_NS and not spec.unit:
                return fail(case, f'value: "{unit}" is a rate; write unit = "{unit}", since of a rate more is better')
            if number <= 0 or not math.isfinite(number):
                return fail(case, f"value: {match[1]} is no time or rate that can be compared")
            values.append(number * TIMES_NS[unit] if unit in TIMES_NS else 1e9 / number)
            mantissa = re.split("[eE]", match[1])[0].partition(".")[2]
            decimals = min(decimals, 0.5 * 10.0 ** -len(mantissa) / number * values[-1])
    if not values:
        return fail(case, f'value: nothing in its output matches "{spec.value}"')
    return make_row(case, values, printed, decimals)


def make_row(case: Case, times_ns: list[float], printed: dict[str, float], rounding_ns: float = 0.0) -> CaseResult:
    """Return the row of a run that has values."""
    return CaseResult(
        case=case,
        status=CaseStatus.OK,
        sample_count=len(times_ns),
        valid=len(times_ns),
        ranks=case.ranks,
        moved_messages=1,
        printed=printed,
        rounding_ns=rounding_ns,
        series=[Series(rank=-1, time_ns=times_ns, last_rank=[], late=[], overrun=[])],
    )


def fail(case: Case, reason: str) -> CaseResult:
    """Return the row of a run without a value."""
    return CaseResult(case=case, status=CaseStatus.FAILED, reason=reason)


def find_unit(text: str) -> str:
    """Return the word that follows a number; empty if there is none."""
    match = UNIT.match(text)
    return match[1] if match else ""


def read_lines(output: Path) -> Iterator[str]:
    """Yield the lines of an output, each as far as LONGEST_LINE."""
    with output.open("rb") as file:
        while line := file.readline(LONGEST_LINE):
            yield line.decode("utf-8", "replace")


def compare_check(result: CaseResult, request: LaunchRequest, spec: ProgramSpec, output: Path) -> CaseResult:
    """Return a row that is wrong if the program printed another check value than in the first launch of its case."""
    texts = [match[1] for line in read_lines(output) for match in re.finditer(spec.check, line)]
    if not texts:
        return fail(result.case, f'check: nothing in its output matches "{spec.check}"')
    text = texts[-1]
    store = next((folder for folder in output.parents if (folder / "campaign.json").exists()), output.parent)
    path = store / CHECKS
    first = msgspec.json.decode(path.read_bytes(), type=dict[str, list[str]]) if path.exists() else {}
    expected, candidate = first.setdefault(result.case.key, [text, request.candidate.name])
    if not agree(text, expected, spec.tolerance):
        reason = f"check: printed {text}, where {candidate} printed {expected}"
        return msgspec.structs.replace(result, status=CaseStatus.WRONG_DATA, reason=reason, series=[])
    files.write(path, msgspec.json.encode(first))
    return result


def agree(text: str, expected: str, tolerance: float) -> bool:
    """Return whether two values of a check are equal, or as numbers within a tolerance."""
    if text == expected or not tolerance:
        return text == expected
    try:
        return math.isclose(float(text), float(expected), rel_tol=tolerance)
    except ValueError:
        return False
