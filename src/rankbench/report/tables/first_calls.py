"""The table of first calls: what the first call of an operation in a launch takes, and how the second one compares."""

from __future__ import annotations

from typing import Any

import polars as pl

from rankbench.analysis.questions import case_labels
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.first_calls import summarise_first_calls
from rankbench.language import join_words
from rankbench.quantities import format_ratio, format_size, format_time
from rankbench.report.tables import Block, Cell, Hint, Paragraph, Table

TITLE = "First calls"
HELP = "The first call of each operation, and the second."
FLAG = "first-calls"
ORDER = 70
FOLDED = True
ABSENT = "not known of these cases; campaigns of rankbench's own core have them"
FAR = 50
"""Above which median ratio a sentence names an operation."""
MEANING = (
    "The first call of an operation in a launch sets up what later calls use: connections, buffers, the choice of an "
    "algorithm. Both calls are timed when data are checked, before the warm-up, after a barrier of the core's own "
    "messages: the longest of all ranks' local times, so that ranks which begin apart are in it. What those messages "
    "set up before is not. A ping-pong is the whole round trip. The times are medians over launches, and beside "
    "their ratio stand the least and the largest one of a launch."
)


def tables(view: CampaignView) -> list[Table]:
    """Return a table for each placement: operations and candidates downwards. None where first calls are not known."""
    return [placement_table(view, place, part) for place, part in rows_by_placement(view).items()]


def body(view: CampaignView) -> list[Block]:
    """Return what the page shows above the tables."""
    return [Hint(MEANING), *map(Paragraph, sentences(view))]


def note(table: Table) -> str:
    """Return the placement, which is all that shows the tables apart."""
    return table.caption.partition(": ")[2]


def frame(view: CampaignView) -> pl.DataFrame:
    """Return one row per launch and operation, for programs."""
    calls = view.first_calls
    if calls.is_empty():
        return calls
    keys = [case.key for case in view.cases]
    return calls.filter(pl.col("case").is_in(keys), pl.col("candidate").is_in(list(view.candidates)))


def rows_by_placement(view: CampaignView) -> dict[str, list[dict[str, Any]]]:
    """Return the medians by placement, in the order of the cases and candidates."""
    places = {case.operation: number for number, case in reversed(list(enumerate(view.cases)))}
    turns = {name: number for number, name in enumerate(view.candidates)}
    rows = summarise_first_calls(frame(view)).rows(named=True)
    by_placement: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda entry: (places[entry["operation"]], entry["form"], turns[entry["candidate"]])):
        by_placement.setdefault(row["placement"], []).append(row)
    return by_placement


def placement_table(view: CampaignView, placement: str, rows: list[dict[str, Any]]) -> Table:
    """Return the table of one placement."""
    columns = [
        "operation",
        "candidate",
        "first call",
        "second call",
        "first / second",
    ]
    columns += [
        "smallest ratio",
        "largest ratio",
        "launches",
        "size",
    ]
    rests = tuple(key for row in rows for key in row["cases"])
    return Table(f"First calls: {placement}", columns, [cells(view, row) for row in rows], rests)


def cells(view: CampaignView, row: dict[str, Any]) -> list[Cell]:
    """Return the row of an operation and a candidate."""
    sizes = (format_size(row[name]) for name in ("from_bytes", "to_bytes"))
    return [
        Cell(name_of(view, row), case=row["cases"][0]),
        Cell(row["candidate"]),
        *(Cell(format_time(row[name])) for name in ("first_ns", "second_ns")),
        *(Cell(format_ratio(row[name])) for name in ("ratio", "least", "largest")),
        Cell(str(row["launches"])),
        Cell(" – ".join(dict.fromkeys(sizes))),
    ]


def name_of(view: CampaignView, row: dict[str, Any]) -> str:
    """Return how an operation in a form is called."""
    case = next(case for case in view.cases if case.key == row["cases"][0])
    return case_labels.name_call(case, view.operation(case))


def sentences(view: CampaignView) -> list[str]:
    """Return a sentence for each placement and candidate whose first calls take far longer than the second ones."""
    return [
        (
            f"{name} at {place}: the first call takes more than {FAR} times as long as the second one in "
            f"{join_words([with_ratio(view, row) for row in far], 'and')}."
        )
        for place, rows in rows_by_placement(view).items()
        for name in view.candidates
        if (far := slow(rows, name))
    ]


def slow(rows: list[dict[str, Any]], candidate: str) -> list[dict[str, Any]]:
    """Return the rows of a candidate whose ratio is large, the largest first."""
    far = [row for row in rows if row["candidate"] == candidate and row["ratio"] > FAR]
    return sorted(far, key=lambda row: -row["ratio"])


def with_ratio(view: CampaignView, row: dict[str, Any]) -> str:
    """Return an operation with its ratio and its first call."""
    return f"{name_of(view, row)} ({format_ratio(row['ratio'])}, {format_time(row['first_ns'])})"
