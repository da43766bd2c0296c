"""The command `import`: output files of other benchmarks become a campaign that every other command reads."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from rankbench import extras, imports
from rankbench.cli.display import console, plain_table, print_text
from rankbench.cli.formats import TableOrJson, add_output_option, check_format, print_json
from rankbench.cli.shared_options import Results
from rankbench.imports import Imported, ImportRequest, Source
from rankbench.model import RankbenchError
from rankbench.quantities import spell_count
from rankbench.report.meanings import page
from rankbench.workflows.locations import campaign_folder

ORDER = 45
GROUP = "Share"
EXAMPLES = """
rankbench import MPICH=runs/mpich OpenMPI=runs/openmpi
rankbench import --labels MPICH,OpenMPI *.out --name study
rankbench import --pattern '{machine}/{library}/{benchmark}.out' tree
"""


@add_output_option
def import_(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[LABEL=]FILE...", help="Output files, or folders of them; LABEL names the library."),
    ] = None,
    labels: Annotated[
        str, typer.Option(metavar="NAME,...", help="Libraries whose results alternate in a file, in order.")
    ] = "",
    ranks: Annotated[int, typer.Option(min=0, help="Number of ranks, if the benchmark does not print it.")] = 0,
    name: Annotated[str, typer.Option(help="The campaign's name.")] = "imported",
    results: Results = Path("results"),
    pattern: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="What the parts of paths are: '{machine}/{library}/{benchmark}.out'; also {ranks}, {nodes}, {ppn}, "
            "{run}, and any setting.",
        ),
    ] = "",
    strict_errors: Annotated[  # noqa: FBT002
        bool, typer.Option("--strict-errors", help="Skip files that have a non-empty .err file beside them.")
    ] = False,
    verbose: Annotated[  # noqa: FBT002
        bool, typer.Option("--verbose", "-v", help="Name every file and line that was left out, and why.")
    ] = False,
    format_: TableOrJson = "table",
    meanings: Annotated[  # noqa: FBT002
        bool, typer.Option("--meanings", help="Print what each benchmark reports, as Markdown.")
    ] = False,
) -> None:
    """Make a campaign of what other benchmarks printed.

    Of OSU, IMB, MPBench, SKaMPI, MPIPerf, ReproMPI and nccl-tests, or tables of CSV with a header.
    """
    form = check_format(format_, "table", "json")
    if meanings:
        print(page(), end="")  # noqa: T201 - for a file
        return
    sources = [source for text in files or [] for source in list_sources(text)]
    if not sources:
        raise RankbenchError("name files that benchmarks printed, or folders of them: [LABEL=]FILE...")
    named = [label.strip() for label in labels.split(",")] if labels else []
    if not all(named) or len(set(named)) < len(named):
        raise RankbenchError(f"--labels: found {labels!r}, expected names such as MPICH,OpenMPI, each once")
    extras.require("run", "`rankbench import`")
    folder = campaign_folder(results, name)
    with console.status("reading …"):
        campaigns = imports.import_campaigns(
            ImportRequest(sources, named, ranks, pattern, strict_errors=strict_errors), folder
        )
    if form == "json":
        records = [describe(imported) for imported in campaigns]
        print_json({**records[0], "others": records[1:]} if len(records) > 1 else records[0])
        return
    for imported in campaigns:
        show_import(imported, verbose=verbose)


def describe(imported: Imported) -> dict[str, object]:
    """Return what was imported, for JSON."""
    record = imported.store.campaign
    return {
        "campaign": record.name,
        "folder": str(imported.store.folder),
        "files": record.imported,
        "launches": len(imported.store.launches()),
        "operations": [operation.name for operation in record.operations],
        "candidates": [candidate.name for candidate in record.candidates],
        "understood": [row._asdict() for row in imported.understanding],
        "cases": len(record.cases),
        "notes": record.notes,
    }


def show_import(imported: Imported, *, verbose: bool) -> None:
    """Print what runs were taken for, and what was left out; all of it with `verbose`."""
    record = imported.store.campaign
    for note in record.notes:
        print_text(f"note: {note}")
    for file in record.imported if verbose else ():
        for remark in file.remarks:
            print_text(f"{file.file}: {remark}")
    table = plain_table("label", "ranks", "nodes", "runs", "from", words=(0, 4))
    for row in imported.understanding:
        origins = "; ".join(
            text for text in (row.label_origin, row.ranks_origin and f"ranks: {row.ranks_origin}") if text
        )
        table.add_row(Text(row.label), str(row.ranks or "?"), str(row.nodes or "?"), str(row.runs), Text(origins))
    console.print(table)
    print_text(
        f"{spell_count(len(record.imported), 'file')}: {spell_count(len(imported.store.launches()), 'run')} of "
        f"{spell_count(len(record.operations), 'benchmark')} with "
        f"{spell_count(len(record.candidates), 'library|libraries')}, {spell_count(len(record.cases), 'case')}"
    )
    print_text(f"next: rankbench report {shlex.quote(str(imported.store.folder))}")


def list_sources(text: str) -> list[Source]:
    """Return the files of an argument. Raises RankbenchError if there is none."""
    label, equals, rest = text.partition("=")
    if equals and not rest:
        raise RankbenchError(f"{text}: no file after the label; write {label}=FILE")
    path = Path(text) if Path(text).exists() or not equals else Path(rest)
    label = label if equals and path != Path(text) else ""
    if not path.is_dir():
        return [Source(path, label, is_named=bool(label))]
    inside = [file for file in sorted(path.rglob("*")) if file.is_file() and file.suffix not in imports.ERRORS]
    if not inside:
        raise RankbenchError(f"{path}: no file in it")
    return [Source(path, label) for path in inside]
