"""The command `operations`: the core's operations, and what libraries lack of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rankbench import build, libraries
from rankbench.campaign import probing
from rankbench.campaign.probing import Answer, Probe
from rankbench.cli.display import console, spread_lines
from rankbench.cli.formats import add_output_option, check_format, print_json
from rankbench.cli.shared_options import Modules, Prefixes
from rankbench.language import join_words
from rankbench.model import CaseStatus, Description, Library, Operation, Option, RankbenchError
from rankbench.report import catalogue
from rankbench.units import suggestion
from rankbench.workflows.locations import home

Answers = Mapping[str, Sequence[Answer]]
"""The failures of libraries, by their titles."""

ORDER = 25
GROUP = "Get ready"
EXAMPLES = """
rankbench operations
rankbench operations -v
rankbench operations allreduce put
rankbench operations --no-probe --format json
"""
WORDS = (
    "Bytes are those of each rank: n is the message size, p the number of ranks, m the messages of a call. "
    "`rankbench operations NAME` shows one operation in full. A plan names operations, one of their forms "
    "(allreduce.persistent), or kinds of them:"
)
SAYINGS = {
    CaseStatus.LACKING: ("not in {library}", ""),
    CaseStatus.REFUSED: ("refused with {library}", ""),
    CaseStatus.NOT_RUN: ("not tried with {library}", ""),
    CaseStatus.FAILED: ("FAILED in {library}", "red"),
    CaseStatus.CRASHED: ("CRASHED in {library}", "red"),
    CaseStatus.HUNG: ("HUNG in {library}", "red"),
    CaseStatus.WRONG_DATA: ("WRONG DATA in {library}", "red"),
}
"""Words and colours of failures, the worst last."""


@add_output_option
def operations(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Operations to explain; default: list all.")
    ] = None,
    prefix: Prefixes = None,
    modules: Modules = None,
    verbose: Annotated[  # noqa: FBT002
        bool, typer.Option("--verbose", "-v", help="List call types, bytes, options and sections of the standard, too.")
    ] = False,
    no_probe: Annotated[  # noqa: FBT002
        bool, typer.Option("--no-probe", help="Do not test which operations each library supports.")
    ] = False,
    format_: Annotated[str, typer.Option("--format", metavar="table|json|markdown", help="Output format.")] = "table",
) -> None:
    """List what can be measured, or explain operations.

    Shows the names by kind, and what the installed libraries do not support; with -v call types, bytes and options.
    """
    form = check_format(format_, "table", "json", "markdown")
    reach = libraries.find(libraries.make_search(home(), prefix or (), modules or ()))
    description = describe_core(reach)
    if form == "json":
        print_json(description)
    elif form == "markdown":
        print(catalogue.page(description), end="")  # noqa: T201 - for a file
    else:
        chosen = [find_operation(description, name) for name in names or []]
        for operation in chosen:
            show_one(operation, description)
        sys.stdout.flush()  # Building the core with every library can take minutes.
        answers, silent = ({}, {}) if no_probe else ask_libraries(reach)
        if not chosen:
            (show_all if verbose else show_names)(description, answers)
        elif answers:
            show_answers(chosen, answers)
        for library, reason in silent.items():
            console.print(f"\n{library} could not be probed: {reason}", soft_wrap=True, markup=False)


def describe_core(reach: Iterable[Library]) -> Description:
    """Return the core's description, built with the first library that can build it.

    Raises RankbenchError if none can.
    """
    reason = "no MPI library found to build the core with; get one: rankbench get mpich"
    for library in reach:
        try:
            with console.status(f"building the core with {library.name} …"):
                return build.describe(build.build(library, home(), show=print_progress))
        except RankbenchError as error:
            reason = str(error)
    raise RankbenchError(reason)


def find_operation(description: Description, name: str) -> Operation:
    """Return the operation of a name. Raises RankbenchError if there is none."""
    by_name = {operation.name: operation for operation in description.operations}
    if name not in by_name:
        raise RankbenchError(f"no operation {name}{suggestion(name, by_name, 'rankbench operations')}")
    return by_name[name]


# --- failures of libraries --------------------------------------------------------------------------------------------


def ask_libraries(reach: Iterable[Library]) -> tuple[dict[str, list[Answer]], dict[str, str]]:
    """Return the failures of each working library, and why the others could not be probed."""
    answers: dict[str, list[Answer]] = {}
    silent: dict[str, str] = {}
    for library in reach:
        try:
            with console.status(f"{library.name}: building the core and probing its operations …"):
                probe = probing.probe_library(library, home(), print_progress)
        except RankbenchError as error:
            silent[library.name] = str(error).removeprefix(f"{library.name}: ")
            continue
        title = libraries.format_title(library)
        answers[library.name if title in answers else title] = list_failures(probe)
    return answers, silent


def print_progress(text: str) -> None:
    """Print a progress message to standard error."""
    print(text, file=sys.stderr)  # noqa: T201 - a pipe gets the list alone


def list_failures(probe: Probe) -> list[Answer]:
    """Return the failures among the answers."""
    return [answer for answer in probe.answers if answer.status != CaseStatus.OK]


def list_answers(answers: Answers, operation: str = "") -> Iterator[Text]:
    """Yield a line for each library and kind of failure, of one operation or of all."""
    for status, (saying, colour) in SAYINGS.items():
        for library, every in answers.items():
            matches = [answer for answer in every if answer.status == status and operation in ("", answer.operation)]
            if matches:
                yield Text(
                    f"{saying.format(library=library)}: {format_answers(matches, operation)}", colour or "yellow"
                )


def format_answers(answers: Sequence[Answer], operation: str) -> str:
    """Return names of calls: MPI names of missing ones, operation and form of others."""
    if answers[0].status == CaseStatus.LACKING:
        return ", ".join(dict.fromkeys(answer.reason.partition(" ")[0] for answer in answers))
    if operation:
        return ", ".join(answer.form for answer in answers)
    forms: dict[str, list[str]] = {}
    for answer in answers:
        forms.setdefault(answer.operation, []).append(answer.form)
    return ", ".join(f"{name} ({', '.join(of)})" for name, of in forms.items())


# --- output -----------------------------------------------------------------------------------------------------------


def show_all(description: Description, answers: Answers) -> None:
    """Print all operations by kind, their options, and what libraries lack."""
    for kind, of_kind in catalogue.group_operations(description).items():
        console.print(Text(f"\n{kind}\n", "bold underline"))
        for operation in of_kind:
            console.print(pairs([(operation.name, operation.help)]))
            for line in (*facts(operation, description), *list_answers(answers, operation.name)):
                console.print(Padding.indent(line, 4))
    show_words(description)
    show_summary(answers)


def show_names(description: Description, answers: Answers) -> None:
    """Print the names of all operations by kind, and what libraries lack."""
    groups = catalogue.group_operations(description)
    console.print(pairs([(kind, ", ".join(each.name for each in of_kind)) for kind, of_kind in groups.items()]))
    console.print()
    spread_lines("`rankbench operations NAME` shows one in full, -v all: call types, bytes, options.")
    show_summary(answers)


def pairs(rows: Iterable[tuple[str, str]]) -> Table:
    """Return names with their descriptions."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    for name, text in rows:
        table.add_row(name, Text(text))
    return table


def facts(operation: Operation, description: Description) -> Iterator[Text]:
    """Yield lines on the notation of an operation in plans."""
    metric = [] if operation.metric == "time" else [operation.metric]
    parts = [
        catalogue.list_forms(operation),
        *metric,
        catalogue.describe_amounts(operation),
        *catalogue.list_limits(operation, description),
    ]
    parts += [f"start {operation.start}", operation.standard]
    yield Text("; ".join(parts), "dim")
    if operation.options:
        yield Text(f"options: {', '.join(option.name for option in operation.options)}", "dim")


def show_words(description: Description) -> None:
    """Print the options, datatypes and starts named in the list, and how plans name operations."""
    words = {
        "options": [
            (name, f"{catalogue.list_values(option)}: {option.help}")
            for name, option in catalogue.options(description).items()
        ],
        "datatypes": [
            (datatype.name, f"{datatype.help}; sizes are multiples of {datatype.size_bytes} B")
            for datatype in description.datatypes
        ],
        "starts": [(start.name, start.help) for start in description.starts],
    }
    for title, rows in words.items():
        console.print(Text(f"\n{title}\n", "bold underline"))
        console.print(pairs(rows))
    kinds = ", ".join([*catalogue.group_operations(description), "all"])
    console.print(f"\n{WORDS} {kinds}.", markup=False)


def explain_option(option: Option) -> tuple[str, str]:
    """Return the name of an option and its values."""
    return option.name, f"{catalogue.list_values(option)} – {option.help}"


def show_summary(answers: Answers) -> None:
    """Print the failures of all libraries."""
    if lines := list(list_answers(answers)):
        console.print(Text("\nwhat libraries here lack, and what they do wrong\n", "bold underline"))
        for line in lines:
            console.print(line)
    elif answers:
        console.print(f"\nAll of this is in {join_words(list(answers), 'and')}, and data are right.", markup=False)


def show_one(operation: Operation, description: Description) -> None:
    """Print the details of one operation."""
    console.print()
    console.print(pairs([(operation.name, operation.help)]))
    console.print()
    console.print(pairs(in_full(operation, description)))
    if operation.options:
        console.print("\noptions\n")
        console.print(pairs(map(explain_option, operation.options)))


def in_full(operation: Operation, description: Description) -> Iterator[tuple[str, str]]:
    """Yield the properties of an operation, each with its name."""
    yield "kind", operation.kind
    yield "standard", operation.standard
    yield "forms", catalogue.list_forms(operation)
    yield "measured", catalogue.METRICS[operation.metric]
    yield "each rank", catalogue.describe_amounts(operation)
    if operation.sized:
        others = [name for name in operation.datatypes if name != operation.datatype]
        yield "datatypes", ", ".join([f"{operation.datatype} (usual)", *others])
    if limits := [limit for limit in catalogue.list_limits(operation, description) if not limit.startswith("of ")]:
        yield "limits", ", ".join(limits)
    if operation.keeps_buffers:
        yield "buffers", "bound once, so that they cannot be cold or change"
    if operation.large:
        yield "counts", "elements are counted as MPI_Count, beyond 2^31-1"
    if operation.unchecked:
        yield "checked", f"not: {operation.unchecked}"
    yield "start", operation.start


def show_answers(operations: Sequence[Operation], answers: Answers) -> None:
    """Print the result of each library for each operation."""
    console.print("\nlibraries here")
    for operation in operations:
        console.print(f"\n{operation.name}\n" if len(operations) > 1 else "")
        table = Table.grid(padding=(0, 2, 0, 0))
        for library, every in answers.items():
            relevant = [answer for answer in every if answer.operation == operation.name]
            lines = [Text(describe_failure(answer), SAYINGS[answer.status][1] or "yellow") for answer in relevant]
            for place, line in enumerate(lines or [Text("has every form; data are right")]):
                table.add_row("" if place else library, line)
        console.print(table)


def describe_failure(answer: Answer) -> str:
    """Return the result of one form, and its reason."""
    what = "" if answer.status == CaseStatus.LACKING else f"{answer.status.replace('-', ' ')}: "
    return f"{answer.form}: {what}{answer.reason}"
