"""What the calls of a recorded program mean for it: time in MPI and run time, predicted, recorded and measured."""

from __future__ import annotations

import math

import polars as pl

from rankbench.analysis.claims import program_answer
from rankbench.analysis.claims.program_answer import Interval, ProgramAnswer
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.quantities import format_count, format_time
from rankbench.report.tables import Block, Cell, Charts, Hint, Table

TITLE = "The program"
HELP = "What the calls of a recorded program mean for it, predicted and measured."
FLAG = "program"
ORDER = 12
UNASKED = "campaign"
ABSENT = "no recorded program is in the plan; see `rankbench record` and `rankbench run --profile`"
MEANING = (
    "Times are those of the mean rank. Predicted: the measured times of the calls, with the waiting in the candidate's "
    "own runs if they were recorded; run times are predicted with that of the record, the same for all. "
    "Recorded: the median run, beside the least and the most. "
    "Of the run only the time of the calls is taken to depend on the library."
)
COLUMNS = ["candidate", "time in MPI", "recorded", "run time / lowest", "measured"]
PLOTS = ("program_prediction", "program_calls", "program_ranks", "program_arrivals")
RECORDED = ("recorded_mpi_s", "recorded_mpi_least_s", "recorded_mpi_most_s")
NS_PER_S = 1e9


def tables(view: CampaignView) -> list[Table]:
    """Return a table of the candidates, and one of the calls."""
    answer = program_answer.find_answer(view)
    return [_candidate_table(answer), call_table(answer)] if answer else []


def body(_view: CampaignView) -> list[Block]:
    """Return what the page shows above the tables."""
    return [Hint(MEANING), *(Charts(plot, ["campaign"]) for plot in PLOTS)]


def sentences(view: CampaignView) -> list[str]:
    """Return what terminals print below the tables."""
    return [MEANING] if program_answer.find_answer(view) else []


def _candidate_table(answer: ProgramAnswer) -> Table:
    rows = [
        [
            Cell(entry.candidate),
            Cell(format_time(entry.mpi_s.value * NS_PER_S), detail=_format_ends(entry.mpi_s)),
            Cell(format_time(entry.recorded.value * NS_PER_S), detail=_format_ends(entry.recorded))
            if entry.recorded
            else Cell("–"),
            Cell(format_ratio(entry.ratio) if entry.ratio else "–"),
            Cell(format_ratio(entry.measured) if entry.measured else "–"),
        ]
        for entry in answer.predictions
    ]
    return Table("The program: predicted and measured", COLUMNS, rows, rests=list_cases(answer))


def call_table(answer: ProgramAnswer) -> Table:
    """Return a row for each call that is measured, with its recorded time and that of each candidate."""
    names = [standing.candidate for standing in answer.calls.standings]
    times = {standing.candidate: standing.time_ns for standing in answer.calls.standings}
    rows = [
        [
            Cell(answer.calls.names[place], case=part.cases[0][0].key),
            Cell(format_count(part.calls.calls)),
            Cell(f"{part.calls.seconds / answer.recorded.mpi_s:.1%}"),
            Cell(f"{part.calls.waiting_s / part.calls.seconds:.0%}" if part.calls.seconds else "–"),
            *(Cell(format_time(answer.calls.shares[name, place] * times[name])) for name in names),
        ]
        for place, part in enumerate(answer.calls.parts)
    ]
    columns = ["call", "calls of a rank", "of the time in MPI", "waiting", *names]
    return Table("The program: time of its calls", columns, rows)


def list_cases(answer: ProgramAnswer) -> tuple[str, ...]:
    """Return the keys of the cases that stand for the calls."""
    return tuple(case.key for part in answer.calls.parts for case, _ in part.cases)


def _format_ends(interval: Interval) -> str:
    return f"{format_time(interval.low * NS_PER_S)} to {format_time(interval.high * NS_PER_S)}"


def format_ratio(interval: Interval) -> str:
    """Return a ratio with its interval."""
    if interval.low == interval.high == 1:
        return render(say("{value:ratio}", value=1.0))
    if not math.isfinite(interval.high):
        return render(say("{value:ratio}, too few blocks for an interval", value=interval.value))
    return render(
        say("{value:ratio} ({low:bare}–{high:ratio})", value=interval.value, low=interval.low, high=interval.high)
    )


def frame(view: CampaignView) -> pl.DataFrame:
    """Return a row for each candidate; times are in seconds."""
    answer = program_answer.find_answer(view)
    rows = [
        {
            "candidate": entry.candidate,
            "mpi_s": entry.mpi_s.value,
            **dict(zip(RECORDED, entry.recorded or (None,) * 3, strict=True)),
            **dict(zip(("ratio", "low", "high"), entry.ratio or (None,) * 3, strict=True)),
            **dict(zip(("measured", "measured_low", "measured_high"), entry.measured or (None,) * 3, strict=True)),
        }
        for entry in (answer.predictions if answer else ())
    ]
    names = ("mpi_s", *RECORDED, "ratio", "low", "high", "measured", "measured_low", "measured_high")
    return pl.DataFrame(rows, schema={"candidate": pl.String, **dict.fromkeys(names, pl.Float64)})
