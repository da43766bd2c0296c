"""The command `plan`: writes a commented template of a plan, or prints a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankbench import plan as plans
from rankbench.cli.display import console
from rankbench.cli.output_files import STANDARD_OUTPUT
from rankbench.model import RankbenchError
from rankbench.units import suggestion

ORDER = 24
GROUP = "Get ready"
EXAMPLES = """
rankbench plan new                               # writes plan.toml
rankbench plan new study.toml
rankbench plan show quick                        # a preset
"""
ACTIONS = ("new", "show")


def plan(
    action: Annotated[str, typer.Argument(metavar="new|show", help="new: write a template. show: print a plan.")],
    name: Annotated[
        str,
        typer.Argument(
            metavar="[FILE|PRESET]", help="The file to write, else plan.toml, - prints it; the plan to print."
        ),
    ] = "",
) -> None:
    """Write a commented template of a plan, or print a plan.

    The template compares two libraries and can be run as it is.
    """
    if action not in ACTIONS:
        raise RankbenchError(f"plan {action}: no such action{suggestion(action, ACTIONS)}")
    if action == "new":
        write_template(Path(name or "plan.toml"))
    elif not name:
        raise RankbenchError("plan show: name a preset or a file; `rankbench presets` lists the presets")
    else:
        path = Path(name) if Path(name).is_file() else plans.find_preset(name)
        print(plans.read_plan(path), end="")  # noqa: T201 - a plan, with no line broken


def write_template(path: Path) -> None:
    """Write the template; never overwrite what is there."""
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
