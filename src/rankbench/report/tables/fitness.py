"""One row for each candidate with what decides whether it can be the default of a machine: times, data, failures."""

from __future__ import annotations

import math
import statistics
from typing import NamedTuple

import polars as pl

from rankbench.analysis.claims.standings import Standings, list_standings
from rankbench.analysis.questions.block_ratios import Overall
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.model import BROKEN, CaseStatus
from rankbench.quantities import format_ratio, format_time
from rankbench.report.tables import Cell, Table

TITLE = "Fit to be the default"
SHORT = "Candidates"
HELP = "Each candidate's overall time, wrong data, failures, calls that it lacks, and time in MPI_Init."
FLAG = "candidates"
ORDER = 11
DETAILS = True
ABSENT = "fewer than two candidates have values of the same cases"
MEANING = (
    "Times are overall times over the lowest, with their intervals. A case that failed in several launches counts "
    "once; known: forms of calls in which `rankbench operations` had wrong data here. MPI_Init is the median over "
    "launches, beside the other candidates' where these start together."
)
FAILED = frozenset(BROKEN) - {CaseStatus.WRONG_DATA}
KNOWN = frozenset({CaseStatus.OK, CaseStatus.WRONG_DATA, CaseStatus.LACKING})
"""A case without any of these failed as well: it was refused, or not run."""
NS_PER_S = 1e9


class Faults(NamedTuple):
    """Numbers of cases of a candidate."""

    wrong_data: int
    failed: int
    lacking: int


def tables(view: CampaignView) -> list[Table]:
    """Return the table of all candidates."""
    standings = list_standings(view)
    if not standings:
        return []
    faults = count_faults(view)
    rows = [make_row(view, standings, faults[name], name) for name in order_names(view, standings)]
    times = [place_time(of) for of in standings]
    columns = ["candidate", *times, "fastest in", "wrong data", "failed", "lacking", "MPI_Init", "settings"]
    caption = render(say("Overall, over {n:count case}", n=len(view.main_verdicts)))
    return [Table(caption, columns, rows)]


def sentences(view: CampaignView) -> list[str]:
    """Return what terminals print below the table."""
    return [MEANING] if list_standings(view) else []


def latex(_view: CampaignView) -> list[Table]:
    """Return no table: papers have values."""
    return []


def frame(view: CampaignView) -> pl.DataFrame:
    """Return one row per candidate and place; a ratio that is not known is null."""
    faults = count_faults(view)
    return pl.DataFrame(
        [
            {
                "candidate": row.name,
                "place": render(of.place),
                "ratio": row.overall.mean if row.overall else None,
                "low": row.overall.low if row.overall else None,
                "high": row.overall.high if row.overall and math.isfinite(row.overall.high) else None,
                "fastest": count_fastest(view, row.name),
                **faults[row.name]._asdict(),
                "init_ns": find_init_ns(view, row.name),
            }
            for of in list_standings(view)
            for row in of.rows
        ],
        infer_schema_length=None,
    )


def order_names(view: CampaignView, standings: list[Standings]) -> list[str]:
    """Return the candidates in the order of the answer, or of the plan where it depends on the place."""
    return [row.name for row in standings[0].rows] if len(standings) == 1 else list(view.candidates)


def place_time(standings: Standings) -> str:
    """Return the heading of times at a place."""
    place = render(standings.place)
    return f"time, {place}" if place else "time"


def make_row(view: CampaignView, standings: list[Standings], faults: Faults, name: str) -> list[Cell]:
    """Return the cells of a candidate."""
    overall = [next(row.overall for row in of.rows if row.name == name) for of in standings]
    init_ns = find_init_ns(view, name)
    candidate = view.campaign.get_candidate(name)
    return [
        Cell(name),
        *map(make_ratio_cell, overall),
        Cell(f"{count_fastest(view, name)} of {len(view.main_verdicts)}"),
        Cell(count_wrong(view, name, faults.wrong_data)),
        *(Cell(str(number)) for number in faults[1:]),
        Cell("–" if init_ns is None else format_time(init_ns)),
        Cell(", ".join(candidate.settings) or "default"),
    ]


def make_ratio_cell(overall: Overall | None) -> Cell:
    """Return the cell of an overall ratio: 1 for the lowest, with an interval where it says something."""
    if overall is None:
        return Cell("not compared")
    if overall.low == overall.high:
        return Cell(format_ratio(overall.mean), best=True)
    known = math.isfinite(overall.high) and not overall.is_wide
    detail = f"{format_ratio(overall.low)} to {format_ratio(overall.high)}" if known else "too few blocks"
    return Cell(format_ratio(overall.mean), detail)


def count_wrong(view: CampaignView, name: str, cases: int) -> str:
    """Return the number of cases with wrong data, and of forms that are known to deliver them."""
    known = view.campaign.known_wrong.get(view.campaign.get_candidate(name).library, ())
    return f"{cases}, known {len(known)}" if known else str(cases)


def count_fastest(view: CampaignView, name: str) -> int:
    """Return in how many cases a candidate is faster than all others by more than the threshold."""
    return sum(verdict.outcome == "faster" and verdict.winners == [name] for verdict in view.main_verdicts)


def count_faults(view: CampaignView) -> dict[str, Faults]:
    """Return the number of cases with faults by candidate."""
    statuses: dict[str, list[set[str]]] = {name: [] for name in view.candidates}
    if not view.case_rows.is_empty():
        rows = view.case_rows.filter(pl.col("case").is_in([case.key for case in view.cases]))
        for name, _, endings in rows.group_by("candidate", "case").agg(pl.col("status").unique()).iter_rows():
            statuses.setdefault(name, []).append(set(endings))
    return {
        name: Faults(
            sum(CaseStatus.WRONG_DATA in endings for endings in cases),
            sum(bool(FAILED & endings) or not endings & KNOWN for endings in cases),
            sum(CaseStatus.LACKING in endings for endings in cases),
        )
        for name, cases in statuses.items()
    }


def find_init_ns(view: CampaignView, name: str) -> float | None:
    """Return the median time of a candidate's launches in MPI_Init, in nanoseconds; None: it is not known."""
    times = [
        launch.spent_s["init"] for launch in view.launches if launch.candidate == name and "init" in launch.spent_s
    ]
    return statistics.median(times) * NS_PER_S if times else None
