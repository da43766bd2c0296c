"""Reads the files of an import: the runs in each, with what stands around them, and what cannot be read."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rankbench import store
from rankbench.foreign import LineError, NoResultsError, Problem, Table, outputs, printed_lines, refusals, tools
from rankbench.foreign.fields import make_table_without_rows
from rankbench.foreign.outputs import Run
from rankbench.imports import contexts, names
from rankbench.imports.commands import Fact
from rankbench.imports.contexts import Context
from rankbench.imports.labels import UNKNOWN
from rankbench.model import ImportRecord, Placement, RankbenchError
from rankbench.quantities import format_size
from rankbench.units import module, modules

WORDS = re.compile(r"[A-Za-z]{3}")
CONTENT = re.compile(r"[A-Za-z]{3}|\d")
"""Lines that are not the tool's and may matter to a reader."""
MOST_LINES = 5000
"""Most lines of a file without results that are searched for the reason."""
PROGRAM_IN_NAME = re.compile(r"osu_[a-z_]*[a-z]")
ERRORS = (".err", ".stderr")
NO_RESULTS = "has no results"
NOT_OUTPUT = "not output of a benchmark"
AMONG = "among the results that are not of the benchmark"


class Source(NamedTuple):
    """A file to import."""

    path: Path
    label: str = ""
    """Name of the measured library; empty: from the file, or the name of its folder."""
    is_named: bool = False
    """The user gave the label to this file, not to its folder: the file's name says no more."""


class ImportRequest(NamedTuple):
    """What to import, and how."""

    sources: Sequence[Source]
    labels: Sequence[str] = ()
    """Names of the libraries that take turns in an output, in their order."""
    ranks: int = 0
    """Number of ranks of runs whose tool does not print it; 0: from the text and the names, if they say it."""
    pattern: str = ""
    """What the parts of a file's path are, such as `{machine}/{library}/{benchmark}.out`."""
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
    context: Context = Context({})
    place: names.Place | None = None
    ending: refusals.Ending | None = None
    """Why its output ends early; None: it does not, or nothing says why."""
    placement: Placement = Placement(name=UNKNOWN, nodes=1, ranks_per_node=0, binding="none")
    origins: tuple[str, str] = ("", "")
    """From where its label is, and its number of ranks."""

    @property
    def line(self) -> int:
        """Line at which it begins in its file."""
        return self.table.line if self.table else self.run.line

    @property
    def failed(self) -> bool:
        """Whether the benchmark printed no row."""
        return self.table is not None and not self.table.rows


class FileContent(NamedTuple):
    """The content of one file."""

    record: ImportRecord
    parts: list[Part]
    in_turns: bool
    messages: Sequence[str]
    """About its runs, without those about an error file beside it."""
    problems: Sequence[Problem] = ()
    """Lines that were left out, or the file itself: of line 0."""

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self.record.file)


def refuse_duplicates(sources: Iterable[Source]) -> None:
    """Refuse a file that is named twice: its results would count as two runs. Raises RankbenchError for such a file."""
    paths: set[Path] = set()
    for source in sources:
        if source.path.resolve() in paths:
            raise RankbenchError(f"{source.path}: named twice; it has the results of one run")
        paths.add(source.path.resolve())


def read_source(request: ImportRequest, source: Source) -> FileContent:
    """Return the content of a file, with messages from error files beside it. Its runs have no labels yet.

    Raises RankbenchError if there is no such file, or the names of libraries do not fit it.
    """
    path = source.path
    if not path.exists():
        raise RankbenchError(f"{path}: cannot be read (No such file or directory)")
    try:
        read = outputs.read_file(path)
    except NoResultsError as error:
        content = make_empty_content(path, str(error).removeprefix(f"{path}: "))
        failed = list_failures(source)
        messages = [f"line {part.line}: {_name_benchmark(part)} {describe_ending(part)}" for part in failed]
        return content._replace(parts=failed, messages=messages, problems=[]) if failed else content
    except LineError as error:
        return make_empty_content(path, f"line {error.line}: {error.reason}")
    except RankbenchError as error:
        return make_empty_content(path, str(error).removeprefix(f"{path}").lstrip(": "))
    return join_parts(request, source, read)


def join_parts(request: ImportRequest, source: Source, read: outputs.Reading) -> FileContent:
    """Return the content of a file whose output was read."""
    path, output = source.path, read.output
    beside = [other for ending in ERRORS if (other := path.with_suffix(ending)) != path and read_first_message(other)]
    errors = [f"{other.name} beside it says: {read_first_message(other)}" for other in beside]
    parts = list_parts(request, source, read)
    if output.in_turns:
        parts = mark_cut_parts(parts)
    problems = [*read.problems, *([] if output.in_turns else list_noise(parts))]
    texts = list(dict.fromkeys(list_problems(parts, output, cut=any(run.cut for run in output.runs))))
    if errors and request.strict_errors:
        parts, texts, problems = [], ["left out"], []
    tables = [part.table for part in parts if part.table]
    titles = dict.fromkeys(f"{find_tool_title(table)} {table.version}".strip() for table in tables)
    facts: dict[str, str] = {}
    for table in tables:
        facts |= {key: value for key, value in table.facts.items() if key not in facts}
    left_out = [f"line {problem.line}: {problem.reason}" for problem in sorted(problems)]
    record = ImportRecord(
        file=str(path),
        sha256=store.hash_file(path),
        tools=list(titles),
        facts=facts,
        remarks=[*texts, *left_out, *errors],
    )
    return FileContent(record, parts, output.in_turns, texts, sorted(problems))


def list_parts(request: ImportRequest, source: Source, read: outputs.Reading) -> list[Part]:
    """Return the runs of a file, and the commands in it that no table follows."""
    output = read.output
    tables = [table for run in output.runs for table in run.tables]
    around, commands = contexts.read_contexts(tables, read.texts, in_turns=output.in_turns)
    parts = []
    for run in output.runs:
        label = choose_label(request, source, output, run)
        tables_of_run: Sequence[Table | None] = run.tables or [None]  # A run without results is a part, too.
        for table in tables_of_run:
            part = Part(label, run.round, source.path, run, table)
            if table:
                context = around[table.line]
                columns = {name: Fact(name, value, "column") for name, value in table.context.items()}
                context = context._replace(facts={**context.facts, **columns})
                ending = None if output.in_turns else find_ending(table, context)
                part = part._replace(context=context, ending=ending)
            parts.append(part)
    failed = [failure for command in commands if (failure := make_failed_part(command, parts[0], source))]
    return sorted([*parts, *failed], key=lambda part: (part.run.round, part.run.position, part.line))


def find_ending(table: Table, context: Context) -> refusals.Ending | None:
    """Return why a run of a plain file ended early; None if it did not, as far as the text shows."""
    after = [
        line.text for line in (*table.noise, *context.after) if not table.rows or line.number > table.rows[-1].line
    ]
    ending = refusals.find_ending(after)
    if not table.rows:
        return ending or refusals.Ending("crashed", "nothing follows its title")
    if ending and ending.kind != "refused":
        return ending
    return None if table.has_end else refusals.Ending("crashed", "its end is missing")


def drop_endings(files: Sequence[FileContent]) -> list[FileContent]:
    """Return files; a run with the largest size that a run of its benchmark has was complete, whatever came after."""
    largest: dict[tuple[object, ...], int] = {}
    for part in (part for file in files for part in file.parts if part.table and not part.ending):
        assert part.table
        key = make_table_key(part.table)
        largest[key] = max(largest.get(key, 0), find_largest_size(part.table))

    def drop(part: Part) -> Part:
        table = part.table
        if not (table and table.rows and table.has_end and part.ending):
            return part
        known = largest.get(make_table_key(table))
        return part._replace(ending=None) if known is not None and find_largest_size(table) >= known else part

    return [file._replace(parts=list(map(drop, file.parts))) for file in files]


def make_failed_part(command: contexts.Failure, model: Part, source: Source) -> Part | None:
    """Return the run of a command that printed no table; None if nothing says that it failed, or of what it is."""
    finders = [tool.find_program for tool in modules(tools).values() if hasattr(tool, "find_program")]
    operation = next((operation for find in finders if (operation := find(command.program))), None)
    ending = refusals.find_ending(line.text for line in command.lines)
    if operation is None or ending is None:
        return None
    table = make_table_without_rows(operation, command.line)
    run = model.run._replace(tables=[table], line=command.line, message="")
    return Part(model.label, run.round, source.path, run, table, command.context, ending=ending)


def list_failures(source: Source) -> list[Part]:
    """Return the runs of a file in which no benchmark printed a title, by its commands or its name."""
    path = source.path
    texts = list(itertools.islice(printed_lines.read_file(path, []), MOST_LINES)) if path.stat().st_size else []
    _, commands = contexts.read_contexts([], texts)
    program = PROGRAM_IN_NAME.search(path.name)
    if program and not commands and texts:
        commands = [contexts.Failure(1, program[0], Context({}), tuple(texts))]
    run = outputs.Run("", 0, 1, 1, [], [], "")
    model = Part(source.label, 1, path, run, None)
    return [part for command in commands if (part := make_failed_part(command, model, source))]


def _name_benchmark(part: Part) -> str:
    assert part.table
    return part.table.operation.name


def list_noise(parts: Sequence[Part]) -> Iterator[Problem]:
    """Yield the lines between the rows of a run that are not of its tool."""
    for part in parts:
        if part.table and part.table.rows:
            first, last = part.table.rows[0].line, part.table.rows[-1].line
            for line in part.table.noise:
                if first < line.number < last and CONTENT.search(line.text):
                    yield Problem(line.number, f"among the results: {line.text.strip(' =')[:200]!r}", AMONG)


def make_empty_content(path: Path, why: str) -> FileContent:
    """Return the content of a file without results."""
    digest = store.hash_file(path) if path.is_file() else ""
    record = ImportRecord(file=str(path), sha256=digest, tools=[], remarks=[f"{NO_RESULTS}: {why}"])
    return FileContent(record, [], in_turns=True, messages=[], problems=[Problem(0, why, NOT_OUTPUT)])


def explain_no_results(files: Sequence[ImportRecord]) -> str:
    """Return why no file has results."""
    first = f"{files[0].file}: {'; '.join(files[0].remarks).removeprefix(f'{NO_RESULTS}: ')}"
    return first if len(files) == 1 else f"no results in any of {len(files)} files; the first: {first}"


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
    return max((row.size_bytes for row in table.rows), default=-1)


def read_first_message(path: Path) -> str:
    """Return the first line of a file that has words, with the number of further ones; empty without a file."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    texts = [line.strip() for line in text.splitlines() if WORDS.search(line)]
    more = f" (and {len(texts) - 1} more lines)" if len(texts) > 1 else ""
    return texts[0] + more if texts else ""


def list_problems(parts: Sequence[Part], output: outputs.Output, *, cut: bool) -> Iterator[str]:
    """Yield the problems of a file, each as a message."""
    if not any(part.table for part in parts):
        yield NO_RESULTS
        return
    for part in parts:
        if not output.in_turns:
            if part.table and part.ending:
                yield f"line {part.line}: {part.table.operation.name} {describe_ending(part)}"
            continue
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


def describe_ending(part: Part) -> str:
    """Return how a run of a plain file ended early: `crashed before its first size (Segmentation fault)`."""
    assert part.table
    assert part.ending
    verb = {"refused": "refused to run", "time": "was ended by the time limit", "crashed": "crashed"}[part.ending.kind]
    if not part.table.rows:
        return f"{verb}{' before its first size' * (part.ending.kind != 'refused')} ({part.ending.text})"
    return f"{verb} after {format_size(find_largest_size(part.table))} ({part.ending.text})"


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
        label = source.label
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
