"""Tables of single ranks: how often each was the last to end, and where it was kept, when each began and ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rankbench import plots
from rankbench.quantities import format_time
from rankbench.report.tables import Cell, Table, line_name

if TYPE_CHECKING:
    from rankbench.model import Case
    from rankbench.plots import Picture, Row

TOLD = 3
"""Ranks named in a cell; the others are summed up."""


def rank_tables(whole: Picture) -> list[Table]:
    """Return the fullest tables there are of each line: with times where they were kept, else of who was the last."""
    found = []
    for _, part in whole.parts("line"):
        found += time_tables(part) or last_tables(part)
    return found


def last_tables(whole: Picture) -> list[Table]:
    """Return a table for each line that is timed over all ranks: which ranks were the last, for each candidate."""
    found = rows_by_case(whole)
    return [last_table(part, found) for _, part in whole.parts("line") if any(case.key in found for case in part.cases)]


def last_table(part: Picture, found: dict[str, list[Row]]) -> Table:
    """Return the table of one line."""
    rows = [
        [
            Cell(plots.size_name(case, part.operation(case)), case=case.key),
            *(Cell(last([one for one in found[case.key] if one["candidate"] == name])) for name in part.candidates),
        ]
        for case in part.cases
        if case.key in found
    ]
    caption = f"{line_name(part)}: which rank was the last to end, start: {part.cases[0].start}"
    return Table(caption, ["message size", *part.candidates], rows)


def last(ranks: list[Row]) -> str:
    """Return `rank 1: 62%, rank 0: 38%`, most often first; the tail is summed up."""
    ordered = sorted(ranks, key=lambda one: (-one["last"], one["rank"]))
    said = [f"rank {one['rank']}: {one['last']:.0%}" for one in ordered[:TOLD]]
    if rest := ordered[TOLD:]:
        said.append(f"{len(rest)} others: {sum(one['last'] for one in rest):.0%}")
    return ", ".join(said) or "–"


def time_tables(whole: Picture) -> list[Table]:
    """Return a table for each line of which the samples of single ranks were kept: a row per case, candidate, rank."""
    found = {
        key: kept for key, rows in rows_by_case(whole).items() if (kept := [one for one in rows if one["median_ns"]])
    }
    return [time_table(part, found) for _, part in whole.parts("line") if any(case.key in found for case in part.cases)]


def time_table(part: Picture, found: dict[str, list[Row]]) -> Table:
    """Return the table of one line."""
    rows = [
        [
            Cell(plots.size_name(case, part.operation(case)), case=case.key),
            Cell(one["candidate"]),
            Cell(str(one["rank"])),
            *(Cell(text) for text in seat(part, case, one)),
            *(Cell(text) for text in times(one, common=part.campaign.scheduled(case))),
        ]
        for case in part.cases
        for one in found.get(case.key, [])
    ]
    caption = f"{line_name(part)}: single ranks, start: {part.cases[0].start}"
    return Table(caption, ["message size", "candidate", "rank", "host", "CPU", *HEADS], rows)


HEADS = ["ends after", "p90", "last", "begins late by", "p90"]


def times(one: Row, *, common: bool) -> list[str]:
    """Return when a rank ended, how often it was the last, and how late it began where there is a common start."""
    ended, began = [one["median_ns"], one["p90_ns"]], [one["began_ns"], one["began_p90_ns"]] if common else [None, None]
    return [*map(spelled, ended), f"{one['last']:.0%}", *map(spelled, began)]


def spelled(time_ns: float | None) -> str:
    """Return a time, or a dash."""
    return "–" if time_ns is None else format_time(time_ns)


def seat(whole: Picture, case: Case, one: Row) -> tuple[str, str]:
    """Return the host and the CPU of a rank; several where launches differ."""
    seats = dict.fromkeys(
        (fact.host, fact.cpu)
        for launch in whole.launches
        if (launch.candidate, launch.placement) == (one["candidate"], case.placement)
        for fact in launch.ranks
        if fact.rank == one["rank"]
    )
    return " ".join(dict.fromkeys(host for host, _ in seats)), " ".join(dict.fromkeys(str(cpu) for _, cpu in seats))


def rows_by_case(whole: Picture) -> dict[str, list[Row]]:
    """Return the ranks of each case, candidates in the plan's order."""
    order = {name: number for number, name in enumerate(whole.candidates)}
    keys = [case.key for case in whole.cases]
    found = whole.evaluation.ranks.filter(pl.col("candidate").is_in(list(order)), pl.col("case").is_in(keys))
    by_case: dict[str, list[Row]] = {}
    for one in sorted(found.to_dicts(), key=lambda one: (order[one["candidate"]], one["rank"])):
        by_case.setdefault(one["case"], []).append(one)
    return by_case
