"""The output of other tools as a campaign: each run in a file is a launch, each round a block, each row a case.

All files are read before anything is stored, so that an import is complete or absent. Values are only converted to
nanoseconds; the other columns of a tool are stored as printed.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections import Counter, defaultdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from rankbench import store
from rankbench.foreign import NoResultsError, lines, outputs, tools
from rankbench.foreign.case_results import make_case_result
from rankbench.model import (
    UNKNOWN_MACHINE,
    Campaign,
    Candidate,
    CandidateSpec,
    Case,
    CaseResult,
    CaseStatus,
    ImportRecord,
    Launch,
    LaunchStatus,
    Library,
    Operation,
    Option,
    Placement,
    Plan,
    RankbenchError,
    Sampling,
    Start,
    Stop,
)
from rankbench.quantities import format_size
from rankbench.units import module

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankbench.foreign import Row, Table
    from rankbench.foreign.outputs import Run
    from rankbench.store import Store

WORDS = re.compile(r"[A-Za-z]{3}")
CONTENT = re.compile(r"[A-Za-z]{3}|\d")
"""Lines that are not the tool's and may matter to a reader."""
ERRORS = (".err", ".stderr")
UNKNOWN = "not-reported"
NO_RESULTS = "has no results"
STARTS = {
    "none": "calls follow each other, after at most one barrier",
    "barrier": "a barrier before each call",
    "library-barrier": "MPI_Barrier before each call",
    "window": "calls begin at agreed times",
    "roundtime": "calls begin at agreed times, as many as fit into a given time",
    UNKNOWN: "the output does not say how ranks begin a call together",
}


class Source(NamedTuple):
    """A file to import."""

    path: Path
    label: str = ""
    """Name of the measured library; empty: from the file, or the name of its folder."""


class ImportRequest(NamedTuple):
    """What to import, and how."""

    sources: Sequence[Source]
    labels: Sequence[str] = ()
    """Names of the libraries that take turns in an output, in their order."""
    ranks: int = 0
    """Number of ranks of runs whose tool does not print it; 0: derived from host names, if there are any."""
    strict_errors: bool = False
    """Whether to leave out files that have an error file with content beside them."""
    question: str = "Which MPI library, by the imported results?"


class Part(NamedTuple):
    """One run of one benchmark, or a run without results."""

    label: str
    block: int
    source: Path
    run: Run
    table: Table | None

    @property
    def line(self) -> int:
        """Line at which it begins in its file."""
        return self.table.line if self.table else self.run.line


class FileContent(NamedTuple):
    """The content of one file."""

    record: ImportRecord
    parts: list[Part]
    in_turns: bool
    problem_count: int
    """Messages about the file itself, without those about an error file beside it."""


def import_files(request: ImportRequest, folder: Path) -> Store:
    """Read all files and store them as a campaign. If one cannot be read or stored, no campaign remains.

    Raises RankbenchError for a file that cannot be read, and if no file has results.
    """
    refuse_duplicates(request.sources)
    files = [read_source(request, source) for source in request.sources]
    parts = assign_blocks(part for file in files for part in file.parts)
    operations = collect_operations([part.table for part in parts if part.table])
    rows = [make_results(part, request, operations) for part in parts]
    if not any(rows):
        raise RankbenchError(explain_no_results([file.record for file in files]))
    existed = folder.exists()
    known = collect_cases(parts, rows)
    created = store.create(folder, make_campaign(request, folder.name, files, parts, rows, operations))
    try:
        for number, (part, case_results) in enumerate(zip(parts, rows, strict=True), 1):
            created.append(
                make_launch(number, part, request), [*case_results, *make_missing_results(part, case_results, known)]
            )
    except BaseException:
        if not existed:
            shutil.rmtree(folder)
        raise
    return created


# --- reading ----------------------------------------------------------------------------------------------------------


def refuse_duplicates(sources: Iterable[Source]) -> None:
    """Refuse a file that is named twice: its results would count as two runs."""
    paths: set[Path] = set()
    for source in sources:
        if source.path.resolve() in paths:
            raise RankbenchError(f"{source.path}: named twice; it has the results of one run")
        paths.add(source.path.resolve())


def read_source(request: ImportRequest, source: Source) -> FileContent:
    """Return the content of a file, with messages from error files beside it."""
    path = source.path
    try:
        output = outputs.read_output(str(path), lines.read_file(path))
    except NoResultsError as error:
        return make_empty_content(path, str(error).removeprefix(f"{path}: "))
    beside = [other for ending in ERRORS if (other := path.with_suffix(ending)) != path and read_first_message(other)]
    errors = [f"{other.name} beside it says: {read_first_message(other)}" for other in beside]
    parts = [
        Part(choose_label(request, source, output, run), run.round, path, run, table)
        for run in output.runs
        for table in list_tables(run)
    ]
    if output.in_turns:
        parts = mark_cut_parts(parts)
    texts = list(dict.fromkeys(list_problems(parts, cut=any(run.cut for run in output.runs))))
    if errors and request.strict_errors:
        parts, texts = [], ["left out"]
    tables = [part.table for part in parts if part.table]
    names = dict.fromkeys(f"{find_tool_title(table)} {table.version}".strip() for table in tables)
    facts: dict[str, str] = {}
    for table in tables:
        facts |= {key: value for key, value in table.facts.items() if key not in facts}
    record = ImportRecord(
        file=str(path), sha256=compute_digest(path), tools=list(names), facts=facts, remarks=[*texts, *errors]
    )
    return FileContent(record, parts, output.in_turns, len(texts))


def make_empty_content(path: Path, why: str) -> FileContent:
    """Return the content of a complete file without results."""
    record = ImportRecord(file=str(path), sha256=compute_digest(path), tools=[], remarks=[f"{NO_RESULTS}: {why}"])
    return FileContent(record, [], in_turns=True, problem_count=1)


def explain_no_results(files: Sequence[ImportRecord]) -> str:
    """Return why no file has results."""
    first = f"{files[0].file}: {'; '.join(files[0].remarks).removeprefix(f'{NO_RESULTS}: ')}"
    return first if len(files) == 1 else f"no results in any of {len(files)} files; the first: {first}"


def compute_digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def list_tables(run: Run) -> Sequence[Table | None]:
    """Return the tables of a run, or [None]: a run without results is a part, too."""
    return run.tables or [None]


def mark_cut_parts(parts: Sequence[Part]) -> list[Part]:
    """Return the parts of a file. A part is cut if another run of its benchmark has larger sizes."""
    last: dict[tuple[object, ...], int] = {}
    for part in parts:
        if part.table:
            last[make_table_key(part.table)] = max(
                last.get(make_table_key(part.table), 0), find_largest_size(part.table)
            )
    cut = [
        part.table is not None and find_largest_size(part.table) < last[make_table_key(part.table)] for part in parts
    ]
    return [part._replace(run=part.run._replace(cut=is_cut)) for part, is_cut in zip(parts, cut, strict=True)]


def make_table_key(table: Table) -> tuple[object, ...]:
    """Return a key that is equal for tables of the same benchmark."""
    return table.operation.name, table.form, table.datatype, table.ranks, *table.options.items()


def find_largest_size(table: Table) -> int:
    """Return the largest size, in bytes."""
    return max(row.size_bytes for row in table.rows)


def read_first_message(path: Path) -> str:
    """Return the first line of a file that has words, with the number of further ones; empty without a file."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    texts = [line.strip() for line in text.splitlines() if WORDS.search(line)]
    more = f" (and {len(texts) - 1} more lines)" if len(texts) > 1 else ""
    return texts[0] + more if texts else ""


def list_problems(parts: Sequence[Part], *, cut: bool) -> Iterator[str]:
    """Yield the problems of a file, each as a message."""
    if not any(part.table for part in parts):
        yield NO_RESULTS
        return
    for part in parts:
        if part.table is None:
            what = f"printed {part.run.message!r} and no results" if part.run.message else "printed nothing"
            yield f"line {part.run.line}: {part.label} {what} in round {part.run.round}"
            continue
        if part.run.cut:
            yield f"line {part.line}: {part.label} {describe_cut(part.table)} in round {part.run.round}"
        if foreign := [line for line in part.table.noise if CONTENT.search(line.text)]:
            more = f" (and {len(foreign) - 1} more lines)" if len(foreign) > 1 else ""
            yield f"line {foreign[0].number}: among the results of {part.label}: {foreign[0].text.strip(' =')!r}{more}"
    if cut:
        last = parts[-1]
        yield f"ends without {outputs.END!r}, in round {last.run.round}, with {last.label}"


def describe_cut(table: Table) -> str:
    """Return at which size a run's output ended too early."""
    return f"printed nothing after {format_size(find_largest_size(table))}"


def find_tool_title(table: Table) -> str:
    """Return the name of the tool that printed a table."""
    assert table.operation.foreign
    return str(module(tools, table.operation.foreign.suite).TITLE)


def choose_label(request: ImportRequest, source: Source, output: outputs.Output, run: Run) -> str:
    """Return the library's name for a run. Raises RankbenchError if the names do not fit the file."""
    turns = 1 + max(run.position for run in output.runs)
    if not output.in_turns:
        label = source.label or source.path.absolute().parent.name
    else:
        label = request.labels[run.position] if len(request.labels) == turns else source.label or run.label
    reasons = (
        check_labels(request, source, run, label, turns) if output.in_turns else check_single_label(request, source)
    )
    if reason := next(reasons, ""):
        raise RankbenchError(f"{source.path}{reason}")
    return label


def check_single_label(request: ImportRequest, source: Source) -> Iterator[str]:
    """Yield what is wrong with the name of the only library in a file."""
    if request.labels and not source.label:
        yield (
            f": has one library (there is no line {outputs.NEXT_LIBRARY!r} before another one), and --labels names "
            f"several; name this one: LABEL={source.path}"
        )


def check_labels(request: ImportRequest, source: Source, run: Run, label: str, turns: int) -> Iterator[str]:
    """Yield what is wrong with the names of libraries that take turns in a file."""
    if source.label and turns > 1:
        yield (f": {turns} libraries take turns in it, and {source.label} is one name; name them all: --labels A,B")
    if request.labels and len(request.labels) != turns:
        names = ", ".join(request.labels)
        yield f": {turns} libraries take turns in it, and --labels names {len(request.labels)}: {names}"
    if run.label != label and run.label in request.labels:
        yield f":{run.line}: headed {run.label}, where --labels has {label}; name them in the file's order"
    if not label:
        yield f":{run.line}: does not name the library; name them all: --labels A,B"


def assign_blocks(parts: Iterable[Part]) -> list[Part]:
    """Return parts with their blocks: the round, or the next one without such a run of the same library."""
    following: dict[tuple[object, ...], int] = {}
    assigned = []
    for part in parts:
        block, table = part.block, part.table
        what = (part.source, part.run.position) if table is None else make_table_key(table)
        passed = [block]
        while (after := following.get((part.label, block, what))) is not None:
            block = after
            passed.append(block)
        following.update(dict.fromkeys(((part.label, number, what) for number in passed), block + 1))
        assigned.append(part._replace(block=block))
    return assigned


# --- rows -------------------------------------------------------------------------------------------------------------


def make_placement(part: Part, request: ImportRequest) -> Placement:
    """Return where a run's ranks were, as far as the output shows."""
    hosts = Counter(part.run.hosts)
    ranks = (part.table.ranks if part.table else 0) or request.ranks
    if hosts and ranks in {0, hosts.total()} and len(set(hosts.values())) == 1:
        each = hosts.total() // len(hosts)
        return Placement(name=f"{len(hosts)}x{each}", nodes=len(hosts), ranks_per_node=each, binding="none")
    name = f"ranks-{ranks}" if ranks else UNKNOWN
    return Placement(name=name, nodes=1, ranks_per_node=ranks, binding="none")


def collect_operations(tables: Sequence[Table]) -> dict[str, Operation]:
    """Return the benchmarks by name. Options that all runs share are defaults, so that names of cases omit them."""
    operations: dict[str, Operation] = {}
    for name in dict.fromkeys(table.operation.name for table in tables):
        same = [table for table in tables if table.operation.name == name]
        common = [
            (option, value)
            for option, value in same[0].options.items()
            if option != "quantity" and all(table.options.get(option) == value for table in same)
        ]
        options = [Option(name=option, help="from the output", usual=value) for option, value in common]
        operations[name] = msgspec.structs.replace(same[0].operation, options=options)
    return operations


def make_results(part: Part, request: ImportRequest, operations: Mapping[str, Operation]) -> list[CaseResult]:
    """Return the results of a run, one for each size. Raises RankbenchError for a size that comes twice."""
    if part.table is None:
        return []
    by_size: defaultdict[int, list[Row]] = defaultdict(list)
    for row in part.table.rows:
        by_size[row.size_bytes].append(row)
    results = []
    for size, rows in by_size.items():
        if len(rows) > 1 and not part.table.repeated:
            raise RankbenchError(
                f"{part.source}:{rows[1].line}: {part.table.operation.name} of {size} B a second time in this table"
            )
        results.append(
            make_case_result(part.table, make_case(part, size, request, operations[part.table.operation.name]), rows)
        )
    return results


def make_case(part: Part, size_bytes: int, request: ImportRequest, operation: Operation) -> Case:
    """Return the case of a row."""
    table = part.table
    assert table
    assert operation.foreign
    where = make_placement(part, request)
    usual = {option.name: option.usual for option in operation.options}
    options = {name: value for name, value in table.options.items() if usual.get(name) != value}
    overlap = {"quantity": "overlap"} if {"pure", "compute"} <= table.roles.keys() else {}
    return Case(
        operation=operation.name,
        form=table.form,
        size_bytes=size_bytes,
        datatype=table.datatype or operation.datatype,
        placement=where.name,
        ranks=where.ranks,
        start=operation.start,
        options=dict(sorted({**options, **overlap}.items())),
        suite=operation.foreign.suite,
    )


CasesByFile = dict[tuple[object, ...], dict[str, Case]]
"""Cases by key, for each file, and for each benchmark in a file."""


def collect_cases(parts: Sequence[Part], rows: Sequence[Sequence[CaseResult]]) -> CasesByFile:
    """Return the cases of runs, by file and benchmark."""
    files: CasesByFile = {}
    for part, case_results in zip(parts, rows, strict=True):
        cases = {row.case.key: row.case for row in case_results}
        files.setdefault((part.source,), {}).update(cases)
        if part.table:
            files.setdefault((part.source, make_table_key(part.table)), {}).update(cases)
    return files


def make_missing_results(part: Part, case_results: Sequence[CaseResult], known_cases: CasesByFile) -> list[CaseResult]:
    """Return results for the cases that a run without output, or a cut one, lacks against others in its file."""
    if part.table and not part.run.cut:
        return []
    have = {row.case.key for row in case_results}
    known = known_cases[(part.source, make_table_key(part.table)) if part.table else (part.source,)]
    what = f"printed {part.run.message!r}" if part.run.message else "printed nothing"
    status, reason = (CaseStatus.NOT_RUN, "the output ends before it") if part.table else (CaseStatus.CRASHED, what)
    return [CaseResult(case=case, status=status, reason=reason) for key, case in known.items() if key not in have]


def make_launch(number: int, part: Part, request: ImportRequest) -> Launch:
    """Return the launch record of a run."""
    facts = part.table.facts if part.table else {}
    what = f"printed {part.run.message!r} and no results" if part.run.message else "printed nothing"
    what = describe_cut(part.table) if part.table else what
    is_complete = part.table is not None and not part.run.cut
    written = datetime.fromtimestamp(part.source.stat().st_mtime, UTC)
    return Launch(
        number=number,
        block=part.block,
        position=part.run.position,
        candidate=part.label,
        placement=make_placement(part, request).name,
        status=LaunchStatus.OK if is_complete else LaunchStatus.CRASHED,
        reason="" if is_complete else what,
        started=written.isoformat(timespec="seconds"),
        duration_s=0.0,
        exit_code=None,
        command=facts.get("command", "").split(),
        environment={},
        facts=None,
        ranks=[],
        load_before=0.0,
        stolen_s=0.0,
        state_reason="imported",
        log=f"{part.source}:{part.line}\n" + "\n".join(line.text for line in (part.table.noise if part.table else ())),
    )


# --- the campaign -----------------------------------------------------------------------------------------------------


def make_campaign(
    request: ImportRequest,
    name: str,
    files: Sequence[FileContent],
    parts: Sequence[Part],
    rows: Sequence[Sequence[CaseResult]],
    operations: Mapping[str, Operation],
) -> Campaign:
    """Return the record of an imported campaign."""
    labels = list(dict.fromkeys(part.label for part in parts))
    cases = order_cases(row.case for case_results in rows for row in case_results)
    starts = sorted({case.start for case in cases})
    return Campaign(
        format=store.FORMAT,
        name=name,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        rankbench=version("rankbench"),
        plan=make_plan(
            request, labels, cases, [make_placement(part, request) for part in parts], max(part.block for part in parts)
        ),
        seed=1,
        machine=UNKNOWN_MACHINE,
        libraries=[make_library(label) for label in labels],
        receipts=[],
        candidates=[Candidate(name=label, library=label) for label in labels],
        cases=cases,
        operations=list(operations.values()),
        notes=[*list_notes(files, labels), *list_guesses(parts, request)],
        starts=[Start(name=start, help=STARTS[start]) for start in starts],
        imported=[file.record for file in files],
    )


def order_cases(cases: Iterable[Case]) -> list[Case]:
    """Return the cases, each once, by line in the order of the files and by size within a line."""
    by_key = {case.key: case for case in cases}
    lines: dict[str, list[Case]] = {}
    for case in by_key.values():
        lines.setdefault(msgspec.structs.replace(case, size_bytes=0).key, []).append(case)
    return [case for line in lines.values() for case in sorted(line, key=lambda case: case.size_bytes)]


def make_library(label: str) -> Library:
    """Return the record of a library of which only the name is known."""
    return Library(name=label, family=label, version="", source="imported", prefix="", wrapper="", launcher="")


def list_notes(files: Sequence[FileContent], labels: Sequence[str]) -> Iterator[str]:
    """Yield remarks for the readers of the campaign."""
    yield (
        "These results were imported: rankbench did not measure them, and knows only what the files say about the runs."
    )
    in_turns = [file.in_turns for file in files if file.parts]
    if len(labels) > 1 and not all(in_turns):
        who = "Not all libraries were" if any(in_turns) else "The libraries were not"
        yield (
            f"{who} measured in turns: changes of the machine between their files count as differences between the "
            "libraries."
        )
    for file in files:
        if file.problem_count:
            messages = "; ".join(text.partition(" (allowed: ")[0] for text in file.record.remarks)
            yield f"{Path(file.record.file).name}: {messages}"
    if harmless := [file.record for file in files if file.record.remarks and not file.problem_count]:
        what = "1 file is complete although it has an error file:"
        if len(harmless) > 1:
            what = f"{len(harmless)} files are complete although they have error files, such as"
        yield f"{what} {Path(harmless[0].file).name}: {harmless[0].remarks[0]}"


def list_guesses(parts: Sequence[Part], request: ImportRequest) -> Iterator[str]:
    """Yield a remark if numbers of ranks were derived from host names."""
    guessed = [part for part in parts if part.table and part.run.hosts and not part.table.ranks and not request.ranks]
    alone = [
        part for part in guessed if len(part.run.hosts) == 1 and part.table and part.table.operation.kind != "process"
    ]
    if alone and alone[0].table:
        yield (
            f"Only 1 rank by the host names: {alone[0].source.name}, line {alone[0].line}, "
            f"{alone[0].table.operation.name}, and {len(alone) - 1} more; a call of 1 rank moves no data. If "
            "several ranks share a line with a host name, import again with --ranks N."
        )
    elif guessed:
        yield (
            f"The number of ranks of {len(guessed)} runs is a guess: each line with a host name before a run "
            "counts as a rank. If it is wrong, import again with --ranks N."
        )


def make_plan(
    request: ImportRequest, labels: Sequence[str], cases: Sequence[Case], placements: Sequence[Placement], blocks: int
) -> Plan:
    """Return a plan that describes the campaign; it cannot be run."""
    return Plan(
        question=request.question,
        candidates=[CandidateSpec(library=label) for label in labels],
        operations=list(dict.fromkeys(case.operation for case in cases)),
        forms=list(dict.fromkeys(case.form for case in cases)),
        sizes_bytes=sorted({case.size_bytes for case in cases}),
        placements=list(
            {where.name: where for where in placements if any(case.placement == where.name for case in cases)}.values()
        ),
        starts=sorted({case.start for case in cases}),
        sampling=Sampling(),
        case_limit_s=0.0,
        launch_limit_s=0.0,
        stop=Stop(blocks_min=blocks, blocks_max=blocks, until="blocks"),
        control=False,
        threshold=0.03,
        seed=1,
        text="# These results were imported; no plan measures them.\n",
    )
