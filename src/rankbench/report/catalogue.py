"""What the core can time, in words: the same for the terminal and for the page `docs/reference/operations.md`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

from rankbench.language import join_words

if TYPE_CHECKING:
    from rankbench.model import Amount, Description, Operation, Option

METRICS = {
    "time": "time of a call",
    "latency": "latency: half of a call's time",
    "bandwidth": "bandwidth: all bytes of all ranks over the time",
    "rate": "message rate: all messages of all ranks over the time",
}
OF_ANOTHER = {"spread_us"}
HEAD = """\
# Operations

Everything that rankbench can time, as the measuring program describes it. `rankbench operations --format markdown`
makes this page; `rankbench operations` lists the same, and which of them each installed library does not support or
does wrong.

A plan names operations, one of their forms (`allreduce.persistent`), or kinds of them: {kinds}. Options
are named by their names, or by OPERATION.NAME. Options, datatypes and starts are explained at the end.

"Sends" and "receives" are bytes of each rank: n is the message size, p the number of ranks, m the messages of a call; a
dash: it has no message size. `rankbench operations NAME` names the section of the MPI standard.
"""


def group_operations(description: Description) -> dict[str, list[Operation]]:
    """Return the operations by kind, in the order in which the core shows them, and kinds in that of their names."""
    names = sorted({operation.kind for operation in description.operations})
    return {name: [operation for operation in description.operations if operation.kind == name] for name in names}


def options(description: Description) -> dict[str, Option]:
    """Return every option once; it means the same in all operations that have it."""
    return {option.name: option for operation in description.operations for option in operation.options}


def list_forms(operation: Operation) -> str:
    """Return the forms; the usual one is named as such where it is not the first."""
    return ", ".join(
        f"{form} (usual)" if form == operation.form != operation.forms[0] else form for form in operation.forms
    )


def describe_amounts(operation: Operation) -> str:
    """Return what each rank sends and receives: `sends n (root: 0), receives n`."""
    sends, receives = amounts(operation, "send"), amounts(operation, "receive")
    return f"sends {sends}, receives {receives}" if operation.sized else "has no message size"


def amounts(operation: Operation, way: str) -> str:
    """Return the bytes of a rank, followed by those of the first one, or the root, where they differ."""
    each: Amount = getattr(operation, way)
    first: Amount = getattr(operation, f"root_{way}")
    who = "root" if operation.rooted else "first rank" if operation.between_two else "rank 0"
    return str(each) if each == first else f"{each} ({who}: {first})"


def list_limits(operation: Operation, description: Description) -> Iterator[str]:
    """Yield what not every operation allows or is."""
    if operation.between_two:
        yield "between two ranks"
    elif operation.ranks_exactly:
        yield f"{operation.ranks_exactly} ranks"
    elif operation.in_pairs:
        yield "ranks in pairs"
    elif operation.ranks_least > 1:
        yield f"{operation.ranks_least} ranks or more"
    if operation.sized and len(operation.datatypes) < len(description.datatypes):
        yield f"of {join_words(operation.datatypes, 'or')}"
    if operation.in_place:
        yield "also in place"
    if operation.rounds > 1:
        yield f"{operation.rounds} times in a row"
    if operation.once:
        yield "once in a launch"


def list_values(option: Option) -> str:
    """Return what an option can be, the usual value first: `flush (usual), fence`, `1 to 4096 (usual: 64)`."""
    if option.extents:
        return f"{option.usual} (usual) or extents"
    if not option.values:
        return f"{option.least} to {option.most:,} (usual: {option.usual})"
    others = [value for value in option.values if value != option.usual]
    return ", ".join([f"{option.usual} (usual)", *others])


# --- the page ---------------------------------------------------------------------------------------------------------


def page(description: Description) -> str:
    """Return everything as Markdown."""
    kinds_used = group_operations(description)
    parts = [HEAD.format(kinds=", ".join(f"`{kind}`" for kind in [*kinds_used, "all"]))]
    parts += [section(kind, operations, description) for kind, operations in kinds_used.items()]
    every = options(description).values()
    parts.append(
        make_table(
            "Options",
            ["option", "values", "what it is"],
            [[code(option.name), list_values(option), option.help] for option in every],
        )
    )
    sizes = [[code(datatype.name), str(datatype.size_bytes), datatype.help] for datatype in description.datatypes]
    parts.append(make_table("Datatypes", ["datatype", "a size is a multiple of, in bytes", "what it is"], sizes))
    parts.append(
        make_table(
            "Starts",
            ["start", "how ranks begin together"],
            [[code(start.name), start.help] for start in description.starts],
        )
    )
    return "\n".join(parts)


def section(kind: str, operations: Sequence[Operation], description: Description) -> str:
    """Return what is usual in one kind, and a table with what differs in each operation."""
    forms, metric, start = (
        Counter(values).most_common(1)[0][0] for values in zip(*map(list_properties, operations), strict=True)
    )
    shared = [name for name in list_options(operations[0]) if all(name in list_options(each) for each in operations)]
    usual = f"Unless a row says otherwise: {forms}; {start}; measured: {metric}."
    if shared:
        usual += f" Options of all: {', '.join(shared)}."
    columns = ["operation", "what it is", "sends", "receives", "what differs"]
    rows = [make_row(operation, description, {forms, metric, start, *shared}) for operation in operations]
    heading, _, table = make_table(kind.capitalize(), columns, rows).partition("\n\n")
    return f"{heading}\n\n{usual}\n\n{table}"


def list_properties(operation: Operation) -> list[str]:
    """Return forms, metric and start."""
    return [list_forms(operation), operation.metric, f"start {code(operation.start)}"]


def list_options(operation: Operation) -> list[str]:
    """Return the options of an operation, without those that only say more of another one."""
    return [code(option.name) for option in operation.options if option.name not in OF_ANOTHER]


def make_row(operation: Operation, description: Description, usual: Container[str]) -> list[str]:
    """Return the row of one operation, without what is usual in its kind."""
    ways = [amounts(operation, way) if operation.sized else "–" for way in ("send", "receive")]
    differs = [text for text in list_properties(operation) if text not in usual]
    rest = [name for name in list_options(operation) if name not in usual]
    return [
        code(operation.name),
        operation.help,
        *ways,
        "; ".join([*differs, *list_limits(operation, description), *filter(None, [", ".join(rest)])]),
    ]


def make_table(title: str, columns: list[str], rows: list[list[str]]) -> str:
    """Return a heading and a table below it."""
    head, *lines = ("| " + " | ".join(line).replace("  ", " ") + " |\n" for line in [columns, *rows])
    return f"## {title}\n\n{head}|{'---|' * len(columns)}\n{''.join(lines)}"


def code(name: str) -> str:
    """Return a name as Markdown shows what is typed."""
    return f"`{name}`"
