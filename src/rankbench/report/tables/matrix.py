"""Tables of what was measured between all pairs of ranks: a matrix for each candidate, operation and size.

Below the matrices of one operation and size is the time of pairs by what they share. Nothing is computed here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping

import polars as pl

from rankbench import language
from rankbench.analysis.questions import case_labels, maps
from rankbench.analysis.questions.maps import Map
from rankbench.analysis.questions.pairs import LevelTime, Pair
from rankbench.analysis.questions.places import Places, Unit
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render
from rankbench.model import Case, Summary
from rankbench.model.verdicts import is_informative
from rankbench.plots import captions
from rankbench.quantities import format_ratio
from rankbench.report.tables import Block, Cell, Charts, Hint, Paragraph, Table, describe_end, name_circumstances

TITLE = "Between pairs of ranks"
SHORT = "Pairs"
HELP = "Values from rank to rank."
FLAG = "matrix"
ORDER = 50
ANCHOR = "pairs"
FOLDED = True
ABSENT = 'none of these cases was made between several pairs of ranks; a plan makes them by pairs = "all"'
MOST_VALUES = 16
"""Ranks up to which a table has the value of every pair."""
LEVELS = ["candidate", "pairs of ranks", "number", "typical", "time, as a ratio to the first"]


def parts(view: CampaignView) -> list[CampaignView]:
    """Return the parts of a view that are matrices."""
    return [part for _, part in view.parts("matrix") if part.cases[0].key in view.pair_cases]


def tables(view: CampaignView) -> list[Table]:
    """Return the matrices, those of one operation and size after each other, and what they say by levels."""
    summaries = {(summary.case, summary.candidate): summary for summary in view.verdict.summaries}
    tables_made = []
    for part in parts(view):
        tables_made += [matrix_table(part, name, summaries) for name in part.candidates]
        tables_made += level_tables(part)
    return tables_made


def body(view: CampaignView) -> list[Block]:
    """Return what the page shows above the tables."""
    keys = [key for key, part in view.parts("matrix") if part.cases[0].key in view.pair_cases]
    hint = Hint("Choose a cell to see its distribution.", plot="matrix")
    return [hint, Charts("matrix", keys), *map(Paragraph, sentences(view))]


def matrix_table(part: CampaignView, candidate: str, summaries: Mapping[tuple[str, str], Summary]) -> Table:
    """Return the matrix of one candidate: from the rank on the left to the one above, in the order of the machine."""
    case, operation = part.cases[0], part.operation(part.cases[0])
    measured = {case_labels.find_ends(case, operation): case for case in part.cases}
    between = maps.add_way_back(measured, operation)
    launches = (
        launch for launch in part.launches if (launch.candidate, launch.placement) == (candidate, case.placement)
    )
    ranks, seated = maps.order_ranks({rank for pair in measured for rank in pair}, launches, part.campaign.machine)
    name, what = name_of(part, case), part.measure(case).heading
    caption = f"{name}, {candidate}: {what} from rank to rank"
    if len(ranks) > MOST_VALUES:
        return digits_table(part, caption, blocks(ranks, seated), between, summaries, candidate)
    firsts, seconds = ([rank for rank in ranks if rank in side] for side in map(set, zip(*between, strict=True)))
    rows = [
        [Cell(str(first)), *(cell(part, between.get((first, second)), candidate, summaries) for second in seconds)]
        for first in firsts
    ]
    columns = ["from", *(f"to {rank}" for rank in seconds)]
    return Table(f"{caption}, {captions.describe_conditions(part)}", columns, rows)


def blocks(ranks: list[int], seated: Places) -> list[list[int]]:
    """Return ranks in runs that share everything that is known."""

    def parts_of(rank: int) -> list[Unit]:
        return [level.units[rank] for level in seated.levels]

    return [list(alike) for _, alike in itertools.groupby(ranks, key=parts_of)]


def digits_table(
    part: CampaignView,
    caption: str,
    runs: list[list[int]],
    between: Mapping[Pair, Case],
    summaries: Mapping[tuple[str, str], Summary],
    candidate: str,
) -> Table:
    """Return the matrix of many ranks as a digit for each pair: 0 is the shortest time and 9 the longest."""
    by_pair = {pair: summaries.get((case.key, candidate)) for pair, case in between.items()}
    logs = {
        pair: math.log(summary.typical_ns)
        for pair, summary in by_pair.items()
        if summary and summary.launches and summary.typical_ns
    }
    if not logs:
        return Table(caption, [], [])
    low, high = min(logs.values()), max(logs.values())

    def digit(pair: Pair) -> str:
        return (
            f"{9 * (logs[pair] - low) / ((high - low) or 1):.0f}" if pair in logs else "–" if pair in by_pair else "·"
        )

    lines = {
        first: " ".join("".join(digit((first, second)) for second in run) for run in runs)
        for first in itertools.chain(*runs)
    }
    ends = [part.measure(part.cases[0]).format(math.exp(end)) for end in (low, high)]
    scale = f"a digit for each rank in this order, from 0 ({ends[0]}) to 9 ({ends[1]})"
    step = f"{format_ratio(math.exp((high - low) / 9))} the time from digit to digit"
    rows = [[Cell(str(first)), Cell(line)] for first, line in lines.items()]
    return Table(f"{caption}, {captions.describe_conditions(part)}; {step}", ["from", scale], rows)


def name_of(part: CampaignView, case: Case) -> str:
    """Return how a matrix is called."""
    return case_labels.name_case(case_labels.drop_ends(case), part.operation(case)) + name_circumstances(part, case)


def cell(part: CampaignView, case: Case | None, candidate: str, summaries: Mapping[tuple[str, str], Summary]) -> Cell:
    """Return the typical value between two ranks, or how the case ended; nothing where there was none."""
    summary = summaries.get((case.key, candidate)) if case else None
    if case is None or summary is None:
        return Cell("")
    if summary.launches or summary.doubt:
        return Cell(
            part.measure(case).text(summary.typical_ns) + " ?" * bool(summary.doubt),
            render(summary.doubt),
            case=case.key,
        )
    return Cell(describe_end(summary) or "not run", case=case.key)


# --- what they say ----------------------------------------------------------------------------------------------------


def _maps_of(part: CampaignView) -> list[Map]:
    return [entry for entry in part.maps if entry.case == case_labels.drop_ends(part.cases[0])]


def level_tables(part: CampaignView) -> Iterator[Table]:
    """Yield the table of what pairs take by what they share, where they share unlike things."""
    level_maps = [pair_map for pair_map in _maps_of(part) if len(pair_map.levels) > 1]
    if level_maps:
        case = part.cases[0]
        rows = [level_row(part, pair_map, level) for pair_map in level_maps for level in pair_map.levels]
        name, what = name_of(part, case), part.measure(case).heading
        caption = f"{name}: {what} by what two ranks share"
        yield Table(f"{caption}, {captions.describe_conditions(part)}", [*LEVELS], rows)


def level_row(part: CampaignView, pair_map: Map, level: LevelTime) -> list[Cell]:
    """Return what pairs of one level take, with its ratio to the first level and the interval of that."""
    texts = [pair_map.candidate, render(pair_map.places.name(level.level)), str(level.pairs)]
    typical = part.measure(part.cases[0]).text(level.typical_ns)
    return [*map(Cell, texts), Cell(typical), ratio(level)]


def ratio(level: LevelTime) -> Cell:
    """Return a ratio with its interval; `~` where it is not known from 1."""
    if level.ratio is None:
        return Cell("1")
    text = format_ratio(level.ratio.ratio) + ("" if level.ratio.different else " ~")
    known = is_informative(level.ratio.low, level.ratio.high)
    interval = f"{format_ratio(level.ratio.low)} to {format_ratio(level.ratio.high)}"
    return Cell(text, interval if known else "one launch" if level.ratio.blocks == 1 else "not known")


def sentences(view: CampaignView) -> list[str]:
    """Return what the maps say: levels, groups of like pairs, pairs that do not fit."""
    return [
        f"{name_of(part, part.cases[0])}, {pair_map.candidate}: {render(text)}"
        for part in parts(view)
        for pair_map in _maps_of(part)
        if (text := language.sentences(maps.describe_map(pair_map, part.measure(part.cases[0]))))
    ]


def frame(view: CampaignView) -> pl.DataFrame:
    """Return one row per pair of ranks and candidate: where they sat, what they share, their group, their values."""
    summaries = {(summary.case, summary.candidate): summary for summary in view.verdict.summaries}
    return pl.DataFrame(
        [
            frame_row(part, pair_map, pair, summaries[case.key, pair_map.candidate])
            for part in parts(view)
            for pair_map in _maps_of(part)
            for pair, case in pair_map.cases.items()
            if (case.key, pair_map.candidate) in summaries
        ],
        infer_schema_length=None,
    )


def frame_row(part: CampaignView, pair_map: Map, pair: Pair, summary: Summary) -> dict[str, object]:
    """Return a row of the CSV."""
    case, odd = pair_map.cases[pair], pair_map.odd.get(pair)
    return {
        "operation": case.operation,
        "size_bytes": case.size_bytes,
        "placement": case.placement,
        "candidate": pair_map.candidate,
        "from": pair[0],
        "to": pair[1],
        "from_place": pair_map.places.describe_location(pair[0]),
        "to_place": pair_map.places.describe_location(pair[1]),
        "share": render(pair_map.between(pair)),
        "group": pair_map.group.get(pair),
        "groups": len(pair_map.groups) if pair_map.table.blocks else None,
        "times_as_its_like": odd.factor if odd else None,
        "launches": summary.launches,
        "typical_ns": summary.typical_ns,
        "low_ns": summary.low_ns,
        "high_ns": summary.high_ns,
        "value": part.measure(case).value(summary.typical_ns),
        "unit": part.measure(case).unit or {"time": "ns", "memory": "B"}[part.measure(case).kind],
        "failures": ", ".join(f"{status} in {count}" for status, count in sorted(summary.failures.items())),
        "case": case.key,
    }
