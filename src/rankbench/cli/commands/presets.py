"""The command `presets`: the plans that come with rankbench."""

from __future__ import annotations

import tomllib
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from rankbench import plan
from rankbench.cli.display import console
from rankbench.cli.formats import TableOrJson, add_output_option, check_format, print_json
from rankbench.model import Record

ORDER = 23
GROUP = "Get ready"
EXAMPLES = """
rankbench presets
rankbench presets quick                    # print this plan
rankbench presets quick --output plan.toml # begin a plan of your own
"""


class Preset(Record, frozen=True):
    """A plan that comes with rankbench."""

    name: str
    question: str
    file: str


@add_output_option
def presets(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="The preset to print; without it all are listed.")] = "",
    format_: TableOrJson = "table",
) -> None:
    """List the plans that come with rankbench, or print one.

    Run one by `rankbench run --preset NAME`.
    """
    form = check_format(format_, "table", "json")
    if name and form == "table":
        print(plan.find_preset(name).read_text(encoding="utf-8"), end="")  # noqa: T201 - a plan, with no line broken
        return
    names = [plan.find_preset(name).stem] if name else plan.list_presets()
    rows = [Preset(name=stem, question=question(stem), file=str(plan.find_preset(stem))) for stem in names]
    if form == "json":
        print_json(rows)
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    for preset in rows:
        table.add_row(preset.name, Text(preset.question))
    console.print(table)


def question(name: str) -> str:
    """Return the question of a preset."""
    return str(tomllib.loads(plan.find_preset(name).read_text(encoding="utf-8"))["question"])
