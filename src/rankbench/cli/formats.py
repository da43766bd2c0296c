"""The options `--format`, which selects the output format, and `--output FILE`, which writes the output to a file."""

from __future__ import annotations

import contextlib
import csv
import functools
import inspect
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from rankbench.cli.output_files import check_output, write_output
from rankbench.units import suggestion

OPTION = "--output"
TABLE, JSON, CSV, MARKDOWN = "table", "json", "csv", "markdown"
TableOrJson = Annotated[str, typer.Option("--format", metavar="table|json", help="Output format.")]
GateFormat = Annotated[str, typer.Option("--format", metavar="table|json|markdown|openmetrics", help="Output format.")]
AnyFormat = Annotated[str, typer.Option("--format", metavar="table|json|csv|markdown", help="Output format.")]
OUTPUT = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write to a file instead of the terminal; - is standard output.", show_default=False
    ),
]
STYLE = re.compile(r"\x1b\[[0-9;]*m")


def check_format(name: str, *allowed: str) -> str:
    """Return the format with a name. Raises RankbenchError if the command does not have it."""
    from rankbench.model import RankbenchError

    if name not in allowed:
        raise RankbenchError(f"--format {name}: not a format of this command{suggestion(name, allowed)}")
    return name


def print_json(value: object) -> None:
    """Print a value as JSON; texts have their templates and fields beside the string."""
    import msgspec

    from rankbench.language import as_data

    print(msgspec.json.format(msgspec.json.encode(as_data(value))).decode())  # noqa: T201 - for programs


def print_csv(rows: Iterable[Sequence[str]]) -> None:
    """Print rows of cells as CSV, with a row of titles."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    print(text.getvalue(), end="")  # noqa: T201 - for programs


def print_markdown(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of cells as a Markdown table, with a row of titles."""
    head, *body = ([cell.replace("|", r"\|").replace("~", r"\~") for cell in row] for row in rows)
    for row in [head, ["---", *["---:"] * (len(head) - 1)], *body]:
        print(f"| {' | '.join(row)} |")  # noqa: T201 - for other documents


def strip_style(cell: object) -> str:
    """Return the text of a cell without its style."""
    return cell.plain if isinstance(cell, Text) else str(cell)


def add_output_option(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the additional option `--output FILE`."""
    signature = inspect.signature(command, eval_str=True)
    option = inspect.Parameter("output", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=OUTPUT)
    parameters = [parameter.replace(kind=parameter.kind) for parameter in signature.parameters.values()]

    @functools.wraps(command)
    def write(*values: Any, output: Path | None = None, **options: Any) -> None:
        with redirect_output(output):
            command(*values, **options)

    write.__signature__ = signature.replace(parameters=[*parameters, option])  # type: ignore[attr-defined]
    write.__annotations__ = {parameter.name: parameter.annotation for parameter in [*parameters, option]}
    return write


@contextlib.contextmanager
def redirect_output(path: Path | None) -> Iterator[None]:
    """Redirect printed output to a file, if one is named; after an error nothing is written."""
    if path is None:
        yield
        return
    check_output(OPTION, path)
    printed, ended = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        try:
            yield
        except typer.Exit as error:
            ended = error
    write_output(OPTION, path, STYLE.sub("", printed.getvalue()))
    if ended:
        raise ended
