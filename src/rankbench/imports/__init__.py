"""The output of other tools as a campaign: each run in a file is a launch, each round a block, each row a case.

All files are read before anything is stored, so that an import is complete or absent. Values are only converted to
nanoseconds; the other columns of a tool are stored as printed.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from rankbench import store
from rankbench.foreign import Problem, Row, Table
from rankbench.foreign.case_results import make_case_result
from rankbench.imports import labels, names
from rankbench.imports.labels import UNKNOWN, RunInfo
from rankbench.imports.sources import (
    ERRORS,
    FileContent,
    ImportRequest,
    Part,
    Source,
    describe_cut,
    describe_ending,
    drop_endings,
    explain_no_results,
    make_table_key,
    read_source,
    refuse_duplicates,
)
from rankbench.model import (
    UNKNOWN_MACHINE,
    Campaign,
    Candidate,
    CandidateSpec,
    Case,
    CaseResult,
    CaseStatus,
    Launch,
    LaunchStatus,
    Library,
    Operation,
    Placement,
    Plan,
    RankbenchError,
    Sampling,
    Start,
    Stop,
)
from rankbench.store import Store

MOST_NAMED = 2
STATUSES = {"refused": CaseStatus.REFUSED, "time": CaseStatus.NOT_RUN, "crashed": CaseStatus.CRASHED}
STARTS = {
    "none": "calls follow each other, after at most one barrier",
    "barrier": "a barrier before each call",
    "library-barrier": "MPI_Barrier before each call",
    "window": "calls begin at agreed times",
    "roundtime": "calls begin at agreed times, as many as fit into a label_origin time",
    UNKNOWN: "the output does not say how ranks begin a call together",
}


__all__ = [
    "ERRORS",
    "FileContent",
    "ImportRequest",
    "Part",
    "Source",
    "import_campaigns",
    "import_files",
    "read_source",
]


class Understanding(NamedTuple):
    """What an import took runs for: a row of its table."""

    label: str
    ranks: int
    """0: not known."""
    nodes: int
    """0: not known."""
    runs: int
    label_origin: str
    ranks_origin: str


class Imported(NamedTuple):
    """A campaign of imported results."""

    store: Store
    understanding: list[Understanding]


def import_files(request: ImportRequest, folder: Path) -> Store:
    """Read all files and store them as a campaign, as `import_campaigns` does for files of one machine."""
    return import_campaigns(request, folder)[0].store


def import_campaigns(request: ImportRequest, folder: Path) -> list[Imported]:
    """Read all files and store them as a campaign, or as one for each machine that the pattern names.

    What cannot be read is left out and reported. Raises RankbenchError if no file has results, if names of folders may
    be machines, and if a campaign cannot be stored: then none remains.
    """
    refuse_duplicates(request.sources)
    files = drop_endings([read_source(request, source) for source in request.sources])
    if not any(part.table and part.table.rows for file in files for part in file.parts):
        raise RankbenchError(explain_no_results([file.record for file in files]))
    files = label_parts(request, explain_paths(request, files))
    machines = list(
        dict.fromkeys(part.place.fields.get("machine", "") for file in files for part in file.parts if part.place)
    )
    imported: list[Imported] = []
    try:
        for machine in machines or [""]:
            on_machine = [file for file in files if is_of_machine(file, machine)]
            place = folder.with_name(f"{folder.name}-{machine}") if len(machines) > 1 else folder
            imported.append(store_campaign(request, place, on_machine))
    except BaseException:
        for each in imported:
            shutil.rmtree(each.store.folder)
        raise
    return imported


def is_of_machine(file: FileContent, machine: str) -> bool:
    """Return whether a file has runs on a machine; one without runs is reported with every machine."""
    machines = {part.place.fields.get("machine", "") for part in file.parts if part.place}
    return machine in machines or not file.parts


def store_campaign(request: ImportRequest, folder: Path, files: Sequence[FileContent]) -> Imported:
    """Store the runs of files as a campaign. If they cannot be stored, no campaign remains."""
    parts = assign_blocks(part for file in files for part in file.parts)
    operations = collect_operations([part.table for part in parts if part.table])
    rows = [make_results(part, operations) for part in parts]
    existed = folder.exists()
    known = collect_cases(parts, rows)
    missing = [
        make_missing_results(part, case_results, known, operations)
        for part, case_results in zip(parts, rows, strict=True)
    ]
    complete = [[*case_results, *lacking] for case_results, lacking in zip(rows, missing, strict=True)]
    created = store.create(folder, make_campaign(request, folder.name, files, parts, complete, operations))
    try:
        for number, (part, case_results) in enumerate(zip(parts, complete, strict=True), 1):
            created.append(make_launch(number, part), case_results)
    except BaseException:
        if not existed:
            shutil.rmtree(folder)
        raise
    return Imported(created, describe_parts(parts))


def describe_parts(parts: Sequence[Part]) -> list[Understanding]:
    """Return what runs were taken for: a row for each label and placement."""
    alike: dict[tuple[str, int, int], list[Part]] = {}
    for part in parts:
        known_nodes = part.placement.nodes if re.match(r"\d+x|nodes-", part.placement.name) else 0
        alike.setdefault((part.label, part.placement.ranks, known_nodes), []).append(part)
    return [
        Understanding(label, ranks, nodes, len(each), each[0].origins[0], each[0].origins[1])
        for (label, ranks, nodes), each in alike.items()
    ]


# --- labels and placements --------------------------------------------------------------------------------------------


def explain_paths(request: ImportRequest, files: Sequence[FileContent]) -> list[FileContent]:
    """Return the files with what their paths say; one that does not match the pattern has no runs.

    Raises RankbenchError if none matches.
    """
    with_parts = [file for file in files if file.parts]
    places = names.read_places([file.path.absolute() for file in with_parts], request.pattern)
    by_path = {file.path: place for file, place in zip(with_parts, places, strict=True)}
    if not any(by_path.values()):
        raise RankbenchError(f"--pattern: {request.pattern} matches none of the files, such as {with_parts[0].path}")
    explained = []
    for file in files:
        place = by_path.get(file.path)
        if file.parts and place is None:
            problem = Problem(0, f"does not match {request.pattern}", "not matching the pattern")
            explained.append(file._replace(parts=[], messages=[], problems=[problem]))
        else:
            explained.append(file._replace(parts=[part._replace(place=place) for part in file.parts]))
    return explained


def label_parts(request: ImportRequest, files: Sequence[FileContent]) -> list[FileContent]:
    """Return the files with the label and the placement of each run. Raises RankbenchError as `choose_labels` does."""
    named = {source.path for source in request.sources if source.is_named}
    infos = labels.mark_others(
        [inform(request, part, is_named=part.source in named) for file in files for part in file.parts if part.table]
    )
    chosen = iter(zip(infos, labels.choose_labels(infos), strict=True))
    labelled = []
    for file in files:
        parts = []
        for part in file.parts:
            if part.table is None:
                parts.append(part._replace(placement=place_part(part, request)[0]))
                continue
            info, label = next(chosen)
            origins = (label.origin, info.ranks_origin)
            parts.append(part._replace(label=label.text, placement=info.placement, origins=origins))
        labelled.append(file._replace(parts=parts))
    return labelled


def inform(request: ImportRequest, part: Part, *, is_named: bool) -> RunInfo:
    """Return what is known about a run before its label is chosen."""
    assert part.table
    assert part.place
    placement, origin, of_ranks = place_part(part, request)
    by_pattern = part.place.fields.get("library", "")
    table_key = (make_table_key(part.table), tuple(part.run.hosts))
    label_origin = "turns in the file" if part.run.label or part.run.position or request.labels else "LABEL="
    return RunInfo(
        path=part.source,
        benchmark=table_key,
        label=part.label or by_pattern,
        label_origin=label_origin if part.label else "--pattern",
        is_named=is_named,
        context=part.context,
        place=part.place,
        placement=placement,
        of_ranks=of_ranks,
        ranks_origin=origin,
    )


def place_part(part: Part, request: ImportRequest) -> tuple[Placement, str, str]:
    """Return where a run's ranks were, as far as output and names show; from where; and the ranks of its command."""
    hosts = Counter(part.run.hosts)
    ranks = part.table.ranks if part.table else 0
    if hosts and (ranks or request.ranks) in {0, hosts.total()} and len(set(hosts.values())) == 1:
        each = hosts.total() // len(hosts)
        name = f"{len(hosts)}x{each}"
        return Placement(name=name, nodes=len(hosts), ranks_per_node=each, binding="none"), "host names", ""
    facts = {**(part.place.facts if part.place else {}), **part.context.facts}
    if part.place and part.place.fields:
        facts |= {name: fact for name, fact in part.place.facts.items() if fact.origin == "--pattern"}
    return labels.place_run(ranks, facts, request.ranks)


def assign_blocks(parts: Iterable[Part]) -> list[Part]:
    """Return parts with their blocks: the round, or the next one without such a run of the same library."""
    following: dict[tuple[object, ...], int] = {}
    assigned = []
    for part in parts:
        block, table = part.block, part.table
        what = (part.source, part.run.position) if table is None else make_run_key(part)
        passed = [block]
        while (after := following.get((part.label, block, what))) is not None:
            block = after
            passed.append(block)
        following.update(dict.fromkeys(((part.label, number, what) for number in passed), block + 1))
        assigned.append(part._replace(block=block))
    return assigned


# --- rows -------------------------------------------------------------------------------------------------------------


def collect_operations(tables: Sequence[Table]) -> dict[str, Operation]:
    """Return the benchmarks by name."""
    operations: dict[str, Operation] = {}
    for table in tables:
        operations.setdefault(table.operation.name, table.operation)
    return operations


def make_results(part: Part, operations: Mapping[str, Operation]) -> list[CaseResult]:
    """Return the results of a run, one for each size; a size that comes again has only its first row."""
    if part.table is None:
        return []
    by_size: defaultdict[int, list[Row]] = defaultdict(list)
    for row in part.table.rows:
        if part.table.repeated or row.size_bytes not in by_size:
            by_size[row.size_bytes].append(row)
    operation = operations[part.table.operation.name]
    return [make_case_result(part.table, make_case(part, size, operation), rows) for size, rows in by_size.items()]


def make_case(part: Part, size_bytes: int, operation: Operation) -> Case:
    """Return the case of a row. Options that all runs share belong to it, too: other campaigns may have others."""
    table = part.table
    assert table
    assert operation.foreign
    overlap = {"quantity": "overlap"} if {"pure", "compute"} <= table.roles.keys() else {}
    usual = {"send_buffers": "one"} if operation.foreign.one_buffer else {}
    return Case(
        operation=operation.name,
        form=table.form,
        size_bytes=size_bytes,
        datatype=table.datatype or operation.datatype,
        placement=part.placement.name,
        ranks=part.placement.ranks,
        start=operation.start,
        options=dict(sorted({**usual, **table.options, **overlap}.items())),
        suite=operation.foreign.suite,
    )


CasesByFile = dict[tuple[object, ...], dict[str, Case]]
"""Cases by key: those of each file, and those of each benchmark in each placement, with equal options in front."""


def collect_cases(parts: Sequence[Part], rows: Sequence[Sequence[CaseResult]]) -> CasesByFile:
    """Return the cases of runs, by file and benchmark."""
    files: CasesByFile = {}
    for part, case_results in zip(parts, rows, strict=True):
        cases = {row.case.key: row.case for row in case_results}
        files.setdefault((part.source,), {}).update(cases)
        if part.table:
            keys = [(part.source, make_table_key(part.table)), make_run_key(part)]
            for key in (*keys, (part.table.operation.name, part.placement.name)):
                files.setdefault(key, {}).update(cases)
    return files


def make_run_key(part: Part) -> tuple[object, ...]:
    """Return a key that is equal for runs of the same benchmark in the same placement."""
    return (make_table_key(part.table) if part.table else (), part.placement.name)


def make_missing_results(
    part: Part, case_results: Sequence[CaseResult], known_cases: CasesByFile, operations: Mapping[str, Operation]
) -> list[CaseResult]:
    """Return results for the cases that a run without output, or a cut one, lacks against others.

    Libraries that take turns are compared within their file, others within the import. Of a benchmark that no run
    measured the sizes are not known: it has one row.
    """
    if part.table and not (part.run.cut or part.ending):
        return []
    have = {row.case.key for row in case_results}
    if part.ending and part.table:
        known = known_cases.get(make_run_key(part), {}) if part.table.rows else {}
        if not part.table.rows:
            known = known_cases.get((part.table.operation.name, part.placement.name), {})
            case = make_case(part, 0, operations[part.table.operation.name])
            known = known or {case.key: case}
        status, reason = STATUSES[part.ending.kind], describe_ending(part)
    elif part.table:
        known = known_cases[part.source, make_table_key(part.table)]
        status, reason = CaseStatus.NOT_RUN, "the output ends before it"
    else:
        known = known_cases[part.source,]
        what = f"printed {part.run.message!r}" if part.run.message else "printed nothing"
        status, reason = CaseStatus.CRASHED, what
    return [CaseResult(case=case, status=status, reason=reason) for key, case in known.items() if key not in have]


def make_launch(number: int, part: Part) -> Launch:
    """Return the launch record of a run."""
    facts = part.table.facts if part.table else {}
    what = f"printed {part.run.message!r} and no results" if part.run.message else "printed nothing"
    what = describe_cut(part.table) if part.table and part.table.rows else what
    what = describe_ending(part) if part.ending else what
    is_complete = part.table is not None and not part.run.cut and not part.ending
    written = datetime.fromtimestamp(part.source.stat().st_mtime, UTC)
    return Launch(
        number=number,
        block=part.block,
        position=part.run.position,
        candidate=part.label,
        placement=part.placement.name,
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
        plan=make_plan(request, labels, cases, [part.placement for part in parts], max(part.block for part in parts)),
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
        lines.setdefault(case.without("size"), []).append(case)
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
        if file.messages:
            beside = [text for text in file.record.remarks if " beside it says: " in text]
            yield f"{file.path.name}: {'; '.join([*file.messages, *beside])}"
    if left_out := list(count_problems(files)):
        yield f"Not imported: {', '.join(left_out)}. `rankbench import -v` lists all, with reasons."
    if harmless := [file.record for file in files if file.record.remarks and not file.messages and not file.problems]:
        what = "1 file is complete although it has an error file:"
        if len(harmless) > 1:
            what = f"{len(harmless)} files are complete although they have error files, such as"
        yield f"{what} {Path(harmless[0].file).name}: {harmless[0].remarks[0]}"


def count_problems(files: Sequence[FileContent]) -> Iterator[str]:
    """Yield how many files and lines were left out, by kind, with the first two."""
    kinds: defaultdict[str, list[str]] = defaultdict(list)
    for file in files:
        for problem in file.problems:
            kinds[problem.kind].append(f"{file.path.name}:{problem.line}" if problem.line else file.path.name)
    for kind, places in kinds.items():
        what = "line" if ":" in places[0] else "file"
        more = ", ..." if len(places) > MOST_NAMED else ""
        yield f"{len(places)} {what}{'s' * (len(places) > 1)} {kind} ({', '.join(places[:MOST_NAMED])}{more})"


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
