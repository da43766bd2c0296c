"""Somebody else's figures as a campaign: each run in an output file is a launch, each round a block, each row a case.

All files are read before anything is stored, so that nothing is half imported. Figures are changed by no more than what
turns them into nanoseconds; what a tool prints beside them is kept as it is.
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
from rankbench.suites import NoFiguresError, lines, outputs, tools
from rankbench.suites.figures import result
from rankbench.units import module

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankbench.store import Store
    from rankbench.suites import Row, Table
    from rankbench.suites.outputs import Run

WORDS = re.compile(r"[A-Za-z]{3}")
TOLD = re.compile(r"[A-Za-z]{3}|\d")
"""Of lines that are not the tool's: those that could be something."""
ERRORS = (".err", ".stderr")
NOT_TOLD = "not-told"
NO_FIGURES = "no figures in it"
STARTS = {
    "none": "calls follow each other, after one barrier at most",
    "barrier": "a barrier before each call",
    "library-barrier": "MPI_Barrier before each call",
    "window": "calls begin at agreed times",
    "roundtime": "calls begin at agreed times, as many as fit in a given time",
    NOT_TOLD: "the tool does not tell how ranks begin a call together",
}


class Source(NamedTuple):
    """A file to read."""

    path: Path
    label: str = ""
    """Of the library that it was measured with; empty: as the file tells, or its folder is called."""


class Wish(NamedTuple):
    """What is asked of an import."""

    sources: Sequence[Source]
    labels: Sequence[str] = ()
    """Of the libraries that take turns in an output, in their order."""
    ranks: int = 0
    """Of the runs whose tool does not print their number; 0: it is taken from the names of hosts, if there are any."""
    strict_errors: bool = False
    """Whether a file is left out beside which one of errors lies that is not empty."""
    question: str = "Which MPI library, by the figures that were imported?"


class Part(NamedTuple):
    """One run of one benchmark, or a run that printed none."""

    label: str
    block: int
    source: Path
    run: Run
    table: Table | None

    @property
    def line(self) -> int:
        """Return where it begins in its file."""
        return self.table.line if self.table else self.run.line


class Read(NamedTuple):
    """What one file holds."""

    file: ImportRecord
    parts: list[Part]
    in_turns: bool
    troubles: int
    """How many of what is said of it are more than that a file of errors lies beside it."""


def make(wish: Wish, folder: Path) -> Store:
    """Read all files and store them as a campaign; nothing is left of it where one cannot be read or stored."""
    refuse_twice(wish.sources)
    reads = [read(wish, source) for source in wish.sources]
    parts = in_blocks(part for one in reads for part in one.parts)
    operations = with_usual([part.table for part in parts if part.table])
    rows = [results(part, wish, operations) for part in parts]
    if not any(rows):
        raise RankbenchError(why_nothing([one.file for one in reads]))
    begun = folder.exists()
    known = in_files(parts, rows)
    made = store.create(folder, campaign(wish, folder.name, reads, parts, rows, operations))
    try:
        for number, (part, case_results) in enumerate(zip(parts, rows, strict=True), 1):
            made.append(launch(number, part, wish), [*case_results, *missing(part, case_results, known)])
    except BaseException:
        if not begun:
            shutil.rmtree(folder)
        raise
    return made


# --- reading ----------------------------------------------------------------------------------------------------------


def refuse_twice(sources: Iterable[Source]) -> None:
    """Refuse a file that is named twice, whose figures would count as those of two runs."""
    paths: set[Path] = set()
    for source in sources:
        if source.path.resolve() in paths:
            raise RankbenchError(f"{source.path}: named twice; its figures are of one run")
        paths.add(source.path.resolve())


def read(wish: Wish, source: Source) -> Read:
    """Return what a file holds, with what was found beside it."""
    path = source.path
    try:
        output = outputs.read(str(path), lines.read(path))
    except NoFiguresError as error:
        return nothing(path, str(error).removeprefix(f"{path}: "))
    beside = [other for ending in ERRORS if (other := path.with_suffix(ending)) != path and said_in(other)]
    errors = [f"{other.name} beside it says: {said_in(other)}" for other in beside]
    parts = [
        Part(label_of(wish, source, output, run), run.round, path, run, table)
        for run in output.runs
        for table in tables_of(run)
    ]
    if output.in_turns:
        parts = with_ends(parts)
    texts = list(dict.fromkeys(troubles(parts, cut=any(run.cut for run in output.runs))))
    if errors and wish.strict_errors:
        parts, texts = [], ["left out"]
    tables = [part.table for part in parts if part.table]
    names = dict.fromkeys(f"{title(table)} {table.version}".strip() for table in tables)
    facts: dict[str, str] = {}
    for table in tables:
        facts |= {key: value for key, value in table.facts.items() if key not in facts}
    record = ImportRecord(file=str(path), sha256=digest(path), tools=list(names), facts=facts, said=[*texts, *errors])
    return Read(record, parts, output.in_turns, len(texts))


def nothing(path: Path, why: str) -> Read:
    """Return that a file, with which nothing else is wrong, has no figures."""
    record = ImportRecord(file=str(path), sha256=digest(path), tools=[], said=[f"{NO_FIGURES}: {why}"])
    return Read(record, [], in_turns=True, troubles=1)


def why_nothing(files: Sequence[ImportRecord]) -> str:
    """Return why there are no figures in any of the files."""
    first = f"{files[0].file}: {'; '.join(files[0].said).removeprefix(f'{NO_FIGURES}: ')}"
    return first if len(files) == 1 else f"no figures in any of {len(files)} files; of the first: {first}"


def digest(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tables_of(run: Run) -> Sequence[Table | None]:
    """Return the tables of a run, or what stands for none."""
    return run.tables or [None]


def with_ends(parts: Sequence[Part]) -> list[Part]:
    """Return the parts of a file, as cut those whose sizes end before those of another run of the same benchmark."""
    last: dict[tuple[object, ...], int] = {}
    for part in parts:
        if part.table:
            last[same(part.table)] = max(last.get(same(part.table), 0), largest(part.table))
    cut = [part.table is not None and largest(part.table) < last[same(part.table)] for part in parts]
    return [part._replace(run=part.run._replace(cut=one)) for part, one in zip(parts, cut, strict=True)]


def same(table: Table) -> tuple[object, ...]:
    """Return what two tables of one benchmark have in common."""
    return table.operation.name, table.form, table.datatype, table.ranks, *table.options.items()


def largest(table: Table) -> int:
    """Return the last of the sizes."""
    return max(row.size_bytes for row in table.rows)


def said_in(path: Path) -> str:
    """Return the first line of a file that has words, and how many others there are; nothing where there is no file."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    texts = [line.strip() for line in text.splitlines() if WORDS.search(line)]
    more = f" (and {len(texts) - 1} lines more)" if len(texts) > 1 else ""
    return texts[0] + more if texts else ""


def troubles(parts: Sequence[Part], *, cut: bool) -> Iterator[str]:
    """Yield what a reader of a file's figures must know."""
    if not any(part.table for part in parts):
        yield NO_FIGURES
        return
    for part in parts:
        if part.table is None:
            what = f"printed {part.run.said!r} and no figures" if part.run.said else "printed nothing"
            yield f"line {part.run.line}: {part.label} {what} in round {part.run.round}"
            continue
        if part.run.cut:
            yield f"line {part.line}: {part.label} {early(part.table)} in round {part.run.round}"
        if foreign := [line for line in part.table.noise if TOLD.search(line.text)]:
            more = f" (and {len(foreign) - 1} lines more)" if len(foreign) > 1 else ""
            yield f"line {foreign[0].number}: among the figures of {part.label}: {foreign[0].text.strip(' =')!r}{more}"
    if cut:
        last = parts[-1]
        yield f"ends without {outputs.END!r}, in round {last.run.round}, with {last.label}"


def early(table: Table) -> str:
    """Return where a run's output ended too early."""
    return f"printed nothing after {format_size(largest(table))}"


def title(table: Table) -> str:
    """Return the name of the tool."""
    assert table.operation.foreign
    return str(module(tools, table.operation.foreign.suite).TITLE)


def label_of(wish: Wish, source: Source, output: outputs.Output, run: Run) -> str:
    """Return the library's name for a run."""
    turns = 1 + max(run.position for run in output.runs)
    if not output.in_turns:
        label = source.label or source.path.absolute().parent.name
    else:
        label = wish.labels[run.position] if len(wish.labels) == turns else source.label or run.label
    reasons = misnamed(wish, source, run, label, turns) if output.in_turns else misnamed_alone(wish, source)
    if reason := next(reasons, ""):
        raise RankbenchError(f"{source.path}{reason}")
    return label


def misnamed_alone(wish: Wish, source: Source) -> Iterator[str]:
    """Yield what is wrong with the name of a library that is alone in a file."""
    if wish.labels and not source.label:
        yield f": libraries do not take turns in it, as --labels says; name its own: LABEL={source.path}"


def misnamed(wish: Wish, source: Source, run: Run, label: str, turns: int) -> Iterator[str]:
    """Yield what is wrong with the name of one of the libraries that take turns in a file."""
    if source.label and turns > 1:
        only = f"{source.label} is the name of one; name them all: --labels A,B"
        yield f": {turns} libraries take turns in it, and {only}"
    if wish.labels and len(wish.labels) != turns:
        named = ", ".join(wish.labels)
        yield f": {turns} libraries take turns in it, and --labels names {len(wish.labels)}: {named}"
    if run.label != label and run.label in wish.labels:
        yield f":{run.line}: headed {run.label}, where --labels has {label}; name them in the file's order"
    if not label:
        yield f":{run.line}: does not tell which library this is; name them all: --labels A,B"


def in_blocks(parts: Iterable[Part]) -> list[Part]:
    """Return parts with their blocks: the round, or the next that has no such run of the same library yet."""
    following: dict[tuple[object, ...], int] = {}
    found = []
    for part in parts:
        block, table = part.block, part.table
        what = (part.source, part.run.position) if table is None else same(table)
        passed = [block]
        while (after := following.get((part.label, block, what))) is not None:
            block = after
            passed.append(block)
        following.update(dict.fromkeys(((part.label, one, what) for one in passed), block + 1))
        found.append(part._replace(block=block))
    return found


# --- rows -------------------------------------------------------------------------------------------------------------


def placement(part: Part, wish: Wish) -> Placement:
    """Return where a run's ranks were, as far as anybody tells."""
    hosts = Counter(part.run.hosts)
    ranks = (part.table.ranks if part.table else 0) or wish.ranks
    if hosts and ranks in {0, hosts.total()} and len(set(hosts.values())) == 1:
        each = hosts.total() // len(hosts)
        return Placement(name=f"{len(hosts)}x{each}", nodes=len(hosts), ranks_per_node=each, binding="none")
    name = f"ranks-{ranks}" if ranks else NOT_TOLD
    return Placement(name=name, nodes=1, ranks_per_node=ranks, binding="none")


def with_usual(tables: Sequence[Table]) -> dict[str, Operation]:
    """Return the benchmarks by name; what all runs of one have in common is usual, and need not stand in each name."""
    operations: dict[str, Operation] = {}
    for name in dict.fromkeys(table.operation.name for table in tables):
        own = [table for table in tables if table.operation.name == name]
        common = [
            (option, value)
            for option, value in own[0].options.items()
            if option != "quantity" and all(table.options.get(option) == value for table in own)
        ]
        options = [Option(name=option, help="as its output tells", usual=value) for option, value in common]
        operations[name] = msgspec.structs.replace(own[0].operation, options=options)
    return operations


def results(part: Part, wish: Wish, operations: Mapping[str, Operation]) -> list[CaseResult]:
    """Return the rows of a run, one for each size."""
    if part.table is None:
        return []
    by_size: defaultdict[int, list[Row]] = defaultdict(list)
    for row in part.table.rows:
        by_size[row.size_bytes].append(row)
    found = []
    for size, rows in by_size.items():
        if len(rows) > 1 and not part.table.raw:
            raise RankbenchError(
                f"{part.source}:{rows[1].line}: {part.table.operation.name} of {size} B a second time in one table"
            )
        found.append(result(part.table, case(part, size, wish, operations[part.table.operation.name]), rows))
    return found


def case(part: Part, size_bytes: int, wish: Wish, operation: Operation) -> Case:
    """Return the case of a row."""
    table = part.table
    assert table
    assert operation.foreign
    where = placement(part, wish)
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


InFiles = dict[tuple[object, ...], dict[str, Case]]
"""Cases by key: those of a file, and those of a benchmark in a file."""


def in_files(parts: Sequence[Part], rows: Sequence[Sequence[CaseResult]]) -> InFiles:
    """Return the cases that runs have, by their files and benchmarks."""
    files: InFiles = {}
    for part, case_results in zip(parts, rows, strict=True):
        cases = {row.case.key: row.case for row in case_results}
        files.setdefault((part.source,), {}).update(cases)
        if part.table:
            files.setdefault((part.source, same(part.table)), {}).update(cases)
    return files


def missing(part: Part, case_results: Sequence[CaseResult], in_file: InFiles) -> list[CaseResult]:
    """Return rows for what a run that printed nothing, or was cut, should have had as others in its file have."""
    if part.table and not part.run.cut:
        return []
    have = {row.case.key for row in case_results}
    known = in_file[(part.source, same(part.table)) if part.table else (part.source,)]
    what = f"printed {part.run.said!r}" if part.run.said else "printed nothing"
    status, reason = (CaseStatus.NOT_RUN, "the output ends before it") if part.table else (CaseStatus.CRASHED, what)
    return [CaseResult(case=one, status=status, reason=reason) for key, one in known.items() if key not in have]


def launch(number: int, part: Part, wish: Wish) -> Launch:
    """Return the record of a run."""
    texts = part.table.facts if part.table else {}
    what = f"printed {part.run.said!r} and no figures" if part.run.said else "printed nothing"
    what = early(part.table) if part.table else what
    well = part.table is not None and not part.run.cut
    written = datetime.fromtimestamp(part.source.stat().st_mtime, UTC)
    return Launch(
        number=number,
        block=part.block,
        position=part.run.position,
        candidate=part.label,
        placement=placement(part, wish).name,
        status=LaunchStatus.OK if well else LaunchStatus.CRASHED,
        reason="" if well else what,
        started=written.isoformat(timespec="seconds"),
        duration_s=0.0,
        exit_code=None,
        command=texts.get("command", "").split(),
        environment={},
        facts=None,
        ranks=[],
        load_before=0.0,
        stolen_s=0.0,
        state_reason="imported",
        log=f"{part.source}:{part.line}\n" + "\n".join(line.text for line in (part.table.noise if part.table else ())),
    )


# --- the campaign -----------------------------------------------------------------------------------------------------


def campaign(
    wish: Wish,
    name: str,
    reads: Sequence[Read],
    parts: Sequence[Part],
    rows: Sequence[Sequence[CaseResult]],
    operations: Mapping[str, Operation],
) -> Campaign:
    """Return the record of a campaign that was not run."""
    labels = list(dict.fromkeys(part.label for part in parts))
    cases = list({row.case.key: row.case for case_results in rows for row in case_results}.values())
    starts = sorted({one.start for one in cases})
    return Campaign(
        format=store.FORMAT,
        name=name,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        rankbench=version("rankbench"),
        plan=plan_of(wish, labels, cases, [placement(part, wish) for part in parts], max(part.block for part in parts)),
        seed=1,
        machine=UNKNOWN_MACHINE,
        libraries=[library(label) for label in labels],
        receipts=[],
        candidates=[Candidate(name=label, library=label) for label in labels],
        cases=cases,
        operations=list(operations.values()),
        notes=[*notes(reads, labels), *guesses(parts, wish)],
        starts=[Start(name=start, help=STARTS[start]) for start in starts],
        imported=[one.file for one in reads],
    )


def library(label: str) -> Library:
    """Return what is known of a library of which only the name is."""
    return Library(name=label, family=label, version="", source="imported", prefix="", wrapper="", launcher="")


def notes(reads: Sequence[Read], labels: Sequence[str]) -> Iterator[str]:
    """Yield what a reader of the campaign must know."""
    yield "These figures were imported: rankbench did not make them, and knows of their runs what their files tell."
    if len(labels) > 1 and not all(one.in_turns for one in reads if one.parts):
        yield (
            "Not all libraries took turns: what changed on the machine between their files counts as a difference "
            "between them."
        )
    for one in reads:
        if one.troubles:
            yield f"{Path(one.file.file).name}: {'; '.join(text.partition(' (allowed: ')[0] for text in one.file.said)}"
    if harmless := [one.file for one in reads if one.file.said and not one.troubles]:
        what = "1 file is whole although errors lie beside it:"
        if len(harmless) > 1:
            what = f"{len(harmless)} files are whole although errors lie beside them; such as"
        yield f"{what} {Path(harmless[0].file).name}: {harmless[0].said[0]}"


def guesses(parts: Sequence[Part], wish: Wish) -> Iterator[str]:
    """Yield that numbers of ranks were taken from names of hosts, and that such a collective has one rank."""
    guessed = [part for part in parts if part.table and part.run.hosts and not part.table.ranks and not wish.ranks]
    alone = [
        part for part in guessed if len(part.run.hosts) == 1 and part.table and part.table.operation.kind != "process"
    ]
    if alone and alone[0].table:
        yield (
            f"Only 1 rank by the names of hosts: {alone[0].source.name}, line {alone[0].line}, "
            f"{alone[0].table.operation.name}, and {len(alone) - 1} more; a call of 1 rank moves nothing. If a host's "
            "name stands there once for several ranks, import again with --ranks N."
        )
    elif guessed:
        yield (
            f"The number of ranks of {len(guessed)} runs is a guess: a line with a host's name before a run counts as "
            "a rank. If it is wrong, import again with --ranks N."
        )


def plan_of(
    wish: Wish, labels: Sequence[str], cases: Sequence[Case], placements: Sequence[Placement], blocks: int
) -> Plan:
    """Return the plan that such a campaign would have had, which cannot be run."""
    return Plan(
        question=wish.question,
        candidates=[CandidateSpec(library=label) for label in labels],
        operations=list(dict.fromkeys(one.operation for one in cases)),
        forms=list(dict.fromkeys(one.form for one in cases)),
        sizes_bytes=sorted({one.size_bytes for one in cases}),
        placements=list(
            {one.name: one for one in placements if any(case.placement == one.name for case in cases)}.values()
        ),
        starts=sorted({one.start for one in cases}),
        sampling=Sampling(),
        case_limit_s=0.0,
        launch_limit_s=0.0,
        stop=Stop(blocks_min=blocks, blocks_max=blocks, until="blocks"),
        control=False,
        threshold=0.03,
        seed=1,
        text="# These figures were imported; there is no plan that makes them.\n",
    )
