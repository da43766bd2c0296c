"""Write the pages of `docs/reference` that code knows: plan keys, commands, findings, operations, foreign tools.

Beside them `rankbench.1`, the manual page, which is installed with the package: `man docs/reference/rankbench.1`, and
the schema of exports. `make reference` runs this after it has renewed what the core says of itself.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import typer

from rankbench import cli, units
from rankbench.analysis.claims import findings
from rankbench.cli import help_pages
from rankbench.exports.formats import json as json_export
from rankbench.model import CaseResult, Description, list_columns
from rankbench.plan import keys
from rankbench.report import catalogue, meanings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reference"
MANUAL = FOLDER / "rankbench.1"
DESCRIPTION = ROOT / "tests" / "fakes" / "description.json"
"""What the core of this version says of itself; a test compares it with the core's answer."""
NOTICE = "\n<!-- Made by tools/reference.py: change the code, and run it again. -->\n"

PLAN = """\
# Plan keys

Every key of a plan, which is a TOML file: what it takes, its default, and an example. Only `operations` and
`candidates` (or `[[candidate]]`) are required. Where no default is named, nothing is set without the key, or the
description says what happens. `rankbench plan keys` lists all keys.

```toml
candidates = ["mpich", "openmpi"]
operations = ["allreduce"]
```

Values of `operations`, `options`,
`datatypes` and `start` are in [Operations](operations.md). The guides [Placements](../howto/placements.md) and
[Settings as candidates](../howto/settings-as-candidates.md) have whole plans.
"""
CLI = """\
# Commands

Which commands are there? `rankbench COMMAND --help` explains each with all options and examples; so does the manual
page, [`rankbench.1`](rankbench.1), which is installed as `man rankbench`.
"""
CLI_NOTES = """
Many commands take `--format json`, and `--output FILE`; `-` is standard output. [Formats](formats.md#json-of-commands)
has the keys, [Exit codes](exit-codes.md) what scripts can rely on.

Variables: `RANKBENCH_HOME` (libraries and builds), `RANKBENCH_RESULTS` (campaigns), and, for the options of the same
names (of `submit` only the third), `RANKBENCH_HOSTS`, `RANKBENCH_REMOTE_SHELL`, `RANKBENCH_BINDING`,
`RANKBENCH_LAUNCHER`, `RANKBENCH_ONE_MACHINE`.
"""
USAGE_WIDTH = 50
"""Longer usages do not widen the column of the others."""
COLUMNS = """\
# Columns of `cases`

What is in the tables `cases` of a [campaign](formats.md)? Each row is a case of a launch.

| column | what it is |
|---|---|
| `launch` | number of the launch |
| `block` | number of its block, from 1 |
| `candidate` | name of the candidate |
| `case` | the case in one text: operation, form, size, datatype, placement, start, and what is unusual in its memory and options, divided by dots |
| `operation` | what is timed: `allreduce`, `pingpong` ... |
| `form` | `blocking`, `nonblocking` or `persistent` |
| `size_bytes` | message size: bytes per rank handed to the send side, as the MPI standard counts; 0 where there is none |
| `datatype` | `byte`, `int`, `float`, `double`, or a derived one such as `vector` |
| `placement` | name of the placement, whose nodes and ranks `campaign.json` shows |
| `ranks` | ranks in the world |
| `start` | how ranks begin a call together: `window`, `roundtime`, `barrier`, `none` ... |
| `memory` | what is unusual in the state of memory, such as `cold, in-place`; empty: nothing is |
| `options` | what is unusual in the options of the operation, such as `epoch=fence, window=8`; empty: nothing is |
"""
FINDINGS = """\
# Findings

Every kind of finding that a report can have: what it is, why it matters, and what to do. A finding is reported
only where launches show it; [What a finding must show](../evidence/findings.md) has the limits and how often they err.
"""


def render_plan() -> str:
    """Return the page of the keys of a plan."""
    sections = [section for name, table in keys.TABLES.items() for section in ["", *render_plan_section(name, table)]]
    return "\n".join([PLAN.rstrip(), *sections, ""])


def render_plan_section(name: str, table: Mapping[str, keys.Key]) -> Iterator[str]:
    """Yield the lines of one table of a plan."""
    heads = {"": "Keys", "candidate": "`[[candidate]]`"}
    yield f"## {heads.get(name, f'`[{name}]`')}"
    for key, entry in table.items():
        yield from ["", f"### `{f'{name}.' * bool(name)}{key}`", "", entry.help, ""]
        default = f"; default `{entry.default}`" if entry.default else ""
        yield f"Takes {entry.values}{default}. `{key} = {entry.example}`"


def render_cli() -> str:
    """Return the page of all commands, in the groups and the order of the help."""
    app: Any = typer.main.get_command(cli.application())
    groups = [
        (group, [(name, command) for name, command in app.commands.items() if command.rich_help_panel == group])
        for group in help_pages.GROUPS
    ]
    sections = [line for group, commands in groups for line in render_group(group, commands)]
    return "\n".join([CLI.rstrip(), *sections, CLI_NOTES.rstrip(), ""])


def render_group(group: str, commands: Sequence[tuple[str, Any]]) -> Iterator[str]:
    """Yield the lines of one group of commands: each with its arguments and what it does."""
    yield from ["", f"## {group}", ""]
    usages = [format_usage(name, command) for name, command in commands]
    width = max((len(usage) for usage in usages if len(usage) < USAGE_WIDTH), default=0)
    for usage, (_, command) in zip(usages, commands, strict=True):
        yield f"    {usage:{width}}  # {help_pages.summary(command.help)}"


def format_usage(name: str, command: Any) -> str:
    """Return a command with its arguments."""
    arguments = [parameter for parameter in command.params if not parameter.opts[0].startswith("-")]
    return " ".join(["rankbench", name, *(help_pages.usage(argument, None) for argument in arguments)])


def format_prose(words: str) -> str:
    """Return text of a docstring or a help as Markdown: in one line a paragraph, without what would be HTML."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(words).split("\n\n")).replace("<", "&lt;")


def render_findings() -> str:
    """Return the page of all kinds of findings, by title."""
    modules = sorted(units.modules(findings).values(), key=lambda module: str(module.TITLE))
    sections = [f"\n## {module.TITLE}\n\n{format_finding(module.__doc__ or '')}" for module in modules]
    return "\n".join([FINDINGS.rstrip(), *sections, ""])


def format_finding(words: str) -> str:
    """Return when a finding is reported, why it matters, and what to do, of its docstring."""
    return re.sub(r"^(Why|What to do): ", r"**\1:** ", format_prose(words), flags=re.MULTILINE)


def render_columns() -> str:
    """Return the page of the columns of cases, which their fields describe."""
    rows = [f"| `{column.name}` | {column.column.help} |" for column in list_columns(CaseResult).values()]
    return "\n".join([COLUMNS.rstrip(), *rows, ""])


def render_operations() -> str:
    """Return the page of all operations."""
    return catalogue.page(msgspec.json.decode(DESCRIPTION.read_bytes(), type=Description))


# --- the manual page --------------------------------------------------------------------------------------------------


def render_manual() -> str:
    """Return the manual page: every command with its arguments, options and examples."""
    app: Any = typer.main.get_command(cli.application())
    examples, _, notes = cli.EPILOG.partition("\n\n")
    lines = [
        r".\" Made by tools/reference.py: change the code, and run it again.",
        '.TH RANKBENCH 1 "" rankbench "User Commands"',
        ".SH NAME",
        rf"rankbench \- {format_roff(app.help).rstrip('.')}",
        ".SH SYNOPSIS",
        ".B rankbench",
        r"COMMAND [OPTIONS]",
        ".SH EXAMPLES",
        *format_example(examples.partition("\n")[2]),
        ".SH COMMANDS",
        *(line for name, command in app.commands.items() for line in render_manual_section(name, command)),
        ".SH NOTES",
        *(line for note in notes.strip().splitlines() for line in (format_roff(note), ".br")),
    ]
    return "\n".join([*lines, ""])


def render_manual_section(name: str, command: Any) -> Iterator[str]:
    """Yield the lines of one command."""
    arguments = [parameter for parameter in command.params if not parameter.opts[0].startswith("-")]
    options = [parameter for parameter in command.params if parameter.opts[0].startswith("-")]
    words = [help_pages.usage(argument, None) for argument in arguments]
    yield from [f".SS {name}", f".B rankbench {name}", format_roff(" ".join([*words, *["[OPTIONS]"] * bool(options)]))]
    for paragraph in inspect.cleandoc(command.help).split("\n\n"):
        yield from [".PP", format_roff(" ".join(paragraph.split()))]
    for parameter in [*arguments, *options]:
        value = "" if parameter in arguments or parameter.is_flag else f" {parameter.metavar or 'VALUE'}"
        names = parameter.opts if parameter in options else [parameter.metavar or parameter.name.upper()]
        yield from [
            ".TP",
            rf"\fB{format_roff(', '.join(names))}\fR{format_roff(value)}",
            format_roff(parameter.help or ""),
        ]
    yield from format_example(command.epilog)


def format_example(text: str) -> Iterator[str]:
    """Yield lines that are shown as they are."""
    yield from [".PP", ".nf", *map(format_roff, inspect.cleandoc(text).splitlines()), ".fi"]


def format_roff(text: str) -> str:
    """Return text in which nothing is a request or an escape of roff."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


PAGES: dict[str, Callable[[], str]] = {
    "plan.md": render_plan,
    "cli.md": render_cli,
    "columns.md": render_columns,
    "findings.md": render_findings,
    "operations.md": render_operations,
    "foreign.md": meanings.list_tools,
}
PLAIN_PAGES = (render_plan, render_cli, render_columns, render_findings)
"""Pages that no command prints; the others say themselves which one does."""


def render_page(name: str) -> str:
    """Return a page of `docs/reference` as it should be."""
    return f"{PAGES[name]()}{NOTICE}" if PAGES[name] in PLAIN_PAGES else PAGES[name]()


if __name__ == "__main__":
    for name in PAGES:
        (FOLDER / name).write_text(render_page(name), encoding="utf-8")
    MANUAL.write_text(render_manual(), encoding="utf-8")
    (FOLDER / "export.schema.json").write_text(json_export.schema(), encoding="utf-8")
