"""The command `plan`: lists presets and the keys of plans, prints a plan, writes a template."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from rankbench import plan as plans
from rankbench.cli.display import console, spread_lines
from rankbench.cli.formats import TableOrJson, check_format, print_json
from rankbench.cli.output_files import STANDARD_OUTPUT, check_output, write_output
from rankbench.model import RankbenchError, Record
from rankbench.plan import keys
from rankbench.units import suggestion

ORDER = 24
GROUP = "Get ready"
EXAMPLES = """
rankbench plan                                   # the presets
rankbench plan show quick
rankbench plan show quick --output plan.toml     # begin a plan of your own
rankbench plan new                               # writes plan.toml
rankbench plan keys                              # all keys of a plan
"""
ACTIONS = ("new", "show", "keys")


class Preset(Record, frozen=True):
    """A plan that comes with rankbench."""

    name: str
    question: str
    file: str


def plan(
    action: Annotated[
        str,
        typer.Argument(
            metavar="[new|show|keys]",
            help="new: write a template. show: print a plan. keys: list all keys. Without it, list the presets.",
        ),
    ] = "",
    name: Annotated[
        str,
        typer.Argument(
            metavar="[FILE|PRESET]", help="The file to write, else plan.toml, - prints it; the plan to print."
        ),
    ] = "",
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write into this file instead.")] = None,
    format_: TableOrJson = "table",
) -> None:
    """List the plans that come with rankbench, print one, or begin one.

    Run one by `rankbench run --preset NAME`. The template compares two libraries and can be run as it is.
    """
    form = check_format(format_, "table", "json")
    if action and action not in ACTIONS:
        raise RankbenchError(f"plan {action}: no such action{suggestion(action, ACTIONS)}")
    if not action:
        list_presets(form)
    elif action == "keys":
        list_keys(form)
    elif action == "new":
        if output and name:
            raise RankbenchError(f"plan new: name one file; found {name} and --output {output}")
        write_template(output or Path(name or "plan.toml"))
    elif not name:
        raise RankbenchError("plan show: name a preset or a file; `rankbench plan` lists the presets")
    else:
        path = Path(name) if Path(name).is_file() else plans.find_preset(name)
        check_output("--output", output or STANDARD_OUTPUT)
        write_output("--output", output or STANDARD_OUTPUT, plans.read_plan(path))


def list_presets(form: str) -> None:
    """Print the name and the question of each preset."""
    rows = [
        Preset(name=stem, question=_read_question(stem), file=str(plans.find_preset(stem)))
        for stem in plans.list_presets()
    ]
    if form == "json":
        print_json(rows)
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    for preset in rows:
        table.add_row(preset.name, Text(preset.question))
    console.print(table)


def _read_question(name: str) -> str:
    return str(tomllib.loads(plans.find_preset(name).read_text(encoding="utf-8"))["question"])


def list_keys(form: str) -> None:
    """Print every key of a plan with its help and its default, by table."""
    rows = [
        {"table": table, "key": name, "values": key.values, "default": key.default, "example": key.example,
         "help": key.help}
        for table, entries in keys.TABLES.items() for name, key in entries.items()
    ]  # fmt: skip
    if form == "json":
        print_json(rows)
        return
    for table, entries in keys.TABLES.items():
        console.print(Text(f"\n[{table}]" if table else "keys of a plan", "bold"))
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True)
        for name, key in entries.items():
            grid.add_row(name, Text(f"{key.help} {f'Default: {key.default}.' if key.default else ''}".rstrip()))
        console.print(grid)
    spread_lines("\nWith values and examples: docs/reference/plan.md, or --format json")


def write_template(path: Path) -> None:
    """Write the template; never overwrite what is there. Raises RankbenchError if it cannot be written."""
    if path == STANDARD_OUTPUT:
        print(plans.read_template(), end="")  # noqa: T201 - a plan, with no line broken
        return
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(plans.read_template().replace("rankbench run plan.toml", f"rankbench run {path}", 1))
    except FileExistsError:
        raise RankbenchError(f"{path} is there already; name another file: rankbench plan new FILE") from None
    except OSError as error:
        raise RankbenchError(f"{path}: cannot be written ({error.strerror}); name another file") from None
    console.print(f"wrote {path}", markup=False, soft_wrap=True)
    console.print(f"next: rankbench run {path} --dry-run", markup=False, soft_wrap=True)
