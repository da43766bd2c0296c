"""The command `reconcile`: the same calls by the core and by other tools, alternated, and why their values differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from rankbench import campaign, launch, plan
from rankbench.analysis.questions import reconciling
from rankbench.analysis.questions.measures import choose_measure
from rankbench.analysis.questions.reconciling import BEGUN, MEAN, REST, WHOLE, Reconciled
from rankbench.analysis.statistics.contrasts import Contrast
from rankbench.campaign import CampaignRequest, foreign
from rankbench.cli.display import columns, console, print_text
from rankbench.cli.formats import TableOrJson, add_output_option, check_format, print_json
from rankbench.cli.live_progress import watch_campaign
from rankbench.cli.shared_options import Modules, Prefixes, Results, choose_libraries
from rankbench.model import Campaign, Library, Operation, Plan, RankbenchError
from rankbench.model.verdicts import is_informative
from rankbench.plan.document import Value
from rankbench.quantities import format_size
from rankbench.store import Store
from rankbench.workflows.decisions import stopping
from rankbench.workflows.locations import home

ORDER = 65
GROUP = "Check"
EXAMPLES = """
rankbench reconcile mpich
rankbench reconcile mpich --operations pingpong,allreduce --tool osu
"""
QUESTION = "Do the core and other programs measure the same?"
TITLES = {
    WHOLE: "tool / core",
    BEGUN: "begun as the tool does",
    MEAN: "mean, not median",
    REST: "what is left",
}


@add_output_option
def reconcile(
    library: Annotated[str, typer.Argument(metavar="LIBRARY", help="The MPI library to use, such as mpich==5.0.2.")],
    operations: Annotated[
        str, typer.Option(metavar="NAME,...", help="Operations of the core.")
    ] = "pingpong,allreduce,bcast,barrier",
    tool: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[=FOLDER|TARBALL]", help="A benchmark suite; else all that are installed."),
    ] = None,
    sizes: Annotated[str, typer.Option(help="Message sizes, as in plans.")] = "8,1K,64K",
    placement: Annotated[str, typer.Option(help="Where ranks run, as in plans.")] = "socket",
    blocks: Annotated[int, typer.Option(min=3, help="Launches of each program.")] = 10,
    samples: Annotated[int, typer.Option(min=10, help="Calls of each case in a launch.")] = 200,
    results: Results = Path("results"),
    prefix: Prefixes = None,
    modules: Modules = None,
    format_: TableOrJson = "table",
) -> None:
    """Explain why OSU or IMB report other times than the core.

    The core and the programs measure the same calls in turns, in a campaign of its own.
    """
    form = check_format(format_, "table", "json")
    (mpi_library,) = choose_libraries([library], prefix or [], modules or [])
    places = dict(place(text) for text in tool or [])
    rows = list(there(mpi_library, operations.split(","), places, prefix or (), modules or ()))
    if not rows:
        raise RankbenchError(
            f"no benchmark suite here measures {operations} with {mpi_library.name}; name the folder of one: "
            f"--tool osu=FOLDER (allowed: {', '.join(foreign.find_tools())})"
        )
    folder = results / f"reconcile-{mpi_library.name}"
    planned = make_plan(library, rows, places, (sizes, placement, samples, blocks), str(folder / "plan.toml"))
    request = CampaignRequest(planned, folder, launch.machine(), home(), prefix or (), modules or ())
    quiet = form == "json"
    prepared = campaign.prepare(request, (lambda _: None) if quiet else print_text)
    with watch_campaign(prepared.store.campaign, quiet=quiet) as watch:
        campaign.run(prepared, stopping(prepared.store), watch)
    print_json(list(map(record, reconciling.reconcile(prepared.store)))) if quiet else explain(prepared.store)


def make_plan(
    library: str,
    rows: Sequence[Operation],
    places: Mapping[str, tuple[str, str]],
    options: tuple[str, str, int, int],
    file: str,
) -> Plan:
    """Return the plan of the alternation. `options`: sizes, placement, samples and blocks; errors name them."""
    sizes, placement, samples, blocks = options
    shared = {"send_buffers": "one"} if any(row.foreign and row.foreign.one_buffer for row in rows) else {}
    values = {
        "question": QUESTION,
        "candidates": [library],
        "operations": [*dict.fromkeys(counterpart(row) for row in rows), *names(rows)],
        "sizes": sizes,
        "placements": [placement],
        "start": list(dict.fromkeys(["auto", *(row.start for row in rows)])),
        "samples": samples,
        "control": False,
        **({"options": shared} if shared else {}),
        "stop": {"blocks": blocks, "until": "blocks"},
        "suites": {name: {key: value} for name, (key, value) in places.items() if value},
    }
    typed = {"sizes": sizes, "placements": Value("", "--placement", [placement])}
    return plan.make_plan(values, file, launch.machine(), typed)


def record(row: Reconciled) -> dict[str, object]:
    """Return a pair for JSON: times in ns per call, and the parts of their ratio."""
    parts = row.parts.items()
    return {
        "tool": row.pair.theirs.key,
        "core": row.pair.core.key,
        "candidate": row.candidate,
        "tool_ns": row.theirs_ns,
        "core_ns": row.core_ns,
        "parts": {
            TITLES[name]: {"ratio": contrast.ratio, "low": contrast.low, "high": contrast.high}
            for name, contrast in parts
        },
    }


def place(text: str) -> tuple[str, tuple[str, str]]:
    """Return a tool's name and location: the key of a plan and its value.

    Raises RankbenchError for an unknown tool or a missing folder.
    """
    name, _, where = text.partition("=")
    if name not in foreign.find_tools():
        raise RankbenchError(
            f"--tool {text}: no such tool that can be run (allowed: {', '.join(foreign.find_tools())})"
        )
    path = Path(where).expanduser()
    if where and not path.exists():
        raise RankbenchError(f"--tool {text}: {path} is not there")
    return name, ("source" if path.is_file() else "path", str(path.absolute()) if where else "")


def there(
    library: Library,
    request: Sequence[str],
    places: dict[str, tuple[str, str]],
    prefix: Sequence[Path],
    modules: Sequence[str],
) -> Iterator[Operation]:
    """Yield the first benchmark of each tool for each requested operation, if its program exists."""
    reach = choose_libraries([], prefix, modules)
    for name, tool in foreign.find_tools().items():
        if places and name not in places:
            continue
        for counterpart in request:
            for operation in tool.OPERATIONS:
                fits = operation.foreign.counterpart == counterpart and operation.form == "blocking"
                if fits and not operation.foreign.overlap:
                    spec = foreign.spec(name, *places.get(name, ("path", "")))
                    try:
                        foreign.find_program(spec, operation, library, reach, home())
                    except RankbenchError as error:
                        if name in places:
                            print_text(f"note: {error}")
                    else:
                        yield operation
                    break


def counterpart(operation: Operation) -> str:
    """Return the core's operation that corresponds to a benchmark."""
    return operation.foreign.counterpart if operation.foreign else operation.name


def names(operations: Sequence[Operation]) -> list[str]:
    """Return names."""
    return [operation.name for operation in operations]


# --- output -----------------------------------------------------------------------------------------------------------


def explain(store: Store) -> None:
    """Print, for each benchmark of a tool, its values and the core's, the parts of their ratio, and their meanings."""
    results = reconciling.reconcile(store)
    for theirs, core_operation in reconciling.find_counterparts(store.campaign):
        rows = [
            row
            for row in results
            if row.pair.theirs.operation == theirs.name and row.pair.core.operation == core_operation.name
        ]
        if rows:
            print_text("")
            print_benchmark(store.campaign, theirs, core_operation, rows)
    print_text("")
    print_text(f"next: rankbench report {store.folder}")


def print_benchmark(campaign: Campaign, theirs: Operation, operation: Operation, rows: Sequence[Reconciled]) -> None:
    """Print the results of one benchmark of a tool."""
    first = rows[0]
    console.print(Text(f"{theirs.name} beside {operation.name} of the core", style="bold"), soft_wrap=True)
    parts = [part for part in TITLES if any(part in row.parts for row in rows)]
    table = columns("size", "core", "tool", *(TITLES[part] for part in parts))
    for row in rows:
        size = format_size(row.pair.core.size_bytes) if operation.sized else "–"
        cells = [format_contrast(row.parts[part]) if part in row.parts else "" for part in parts]
        table.add_row(size, value(campaign, row, of_core=True), value(campaign, row, of_core=False), *cells)
    console.print(table)
    if first.comparable.reason:
        print_text(f"Not comparable as the core usually measures: {first.comparable.reason}.")
        if not first.comparable_same_start.reason:
            print_text(f"Comparable with start {first.pair.core_same_start.start}, in the column “{TITLES[REST]}”.")
    for difference in (first.comparable_same_start if first.comparable.reason else first.comparable).differences:
        print_text(f"- {difference}")
    if theirs.foreign:
        print_text(f"The tool's number: {theirs.foreign.meaning.text}.")


def value(campaign: Campaign, row: Reconciled, *, of_core: bool) -> str:
    """Return the typical value of one side as text."""
    case, value = (row.pair.core, row.core_ns) if of_core else (row.pair.theirs, row.theirs_ns)
    operation = next(operation for operation in campaign.operations if operation.name == case.operation)
    kind = f" ({case.datatype})" if row.other_numbers else ""
    return choose_measure(case, operation, row.moved[of_core].bytes, row.moved[of_core].messages).format(value) + kind


def format_contrast(ratio: Contrast) -> str:
    """Return a ratio with its interval, if that says something."""
    interval = f" ({ratio.low:.3f} to {ratio.high:.3f})" if is_informative(ratio.low, ratio.high) else ""
    return f"{ratio.ratio:.3f}{interval}"
