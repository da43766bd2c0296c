"""Tables of rings: grids by ring and by direction, the same as lists with all values; what a hop costs; shapes.

Each table holds placements inside a node, or between nodes.
Placements with more ranks on a node than it has cores have tables of their own, with a heading that says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import polars as pl

from rankbench.analysis.questions import case_labels
from rankbench.analysis.questions.rings import HopCost
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.model import Case
from rankbench.model.verdicts import is_informative
from rankbench.quantities import format_time, format_whole
from rankbench.report.tables import TOO_FEW_LAUNCHES, Block, Cell, Hint, Table

TITLE = "Rings, and what a hop costs"
SHORT = "Rings"
HELP = "Each ring of a grid, and what a hop costs."
FLAG = "rings"
ORDER = 60
ABSENT = "none of these cases goes round a grid; the preset torus measures some"
STATISTICS = {"min": "min_ns", "mean": "mean_ns", "p10": "p10_ns", "p90": "p90_ns", "p99": "p99_ns", "max": "max_ns"}
COSTS = ["candidate", "direction", "where", "cost of a hop", "interval", "from", "blocks"]
SHAPES = ["candidate", "case", "modes", "standard deviation"]
NUMBERS = {"launches": "launches", "samples": "samples", "discarded": "discarded"}
USUAL = {"min": "min_ns", "median": "typical_ns", "mean": "mean_ns"}
ROW = ["candidate", "grid", "hops", "direction"]
HEADS = ["median", "its interval", *STATISTICS, *NUMBERS]
MEANING = (
    "Each ring is timed by its first rank, at the edge of the grid. The median is that over launches of each launch's "
    "median, with its interval; min, mean and percentiles are over all samples. Rings of a direction are numbered "
    "from 0 along the edge of their grid. What one more hop costs is the slope of the round time over the number of "
    "hops, block by block, with Student's interval over blocks."
)


def tables(view: CampaignView) -> list[Table]:
    """Return all tables of rings; none where there are no rings."""
    if view.rings.is_empty():
        return []
    return [
        table
        for part in lines(view)
        for table in (*make_value_tables(part), *costs(part), *places(part), *shapes(part))
    ]


def body(_whole: CampaignView) -> list[Block]:
    """Return what the page shows above the tables."""
    return [Hint(f"{MEANING} {'Choose a grid to see its histograms.'}")]


def note(table: Table) -> str:
    """Return where the rings are and how they were started, which several tables differ in."""
    return table.caption.partition(": ")[2]


def lines(view: CampaignView) -> list[CampaignView]:
    """Divide the cases of rings by all but direction, placement and grid."""
    known = set(view.rings["case"])
    by_line: dict[str, list[Case]] = {}
    for case in view.cases:
        if case.key in known:
            by_line.setdefault(plain(case).key, []).append(case)
    return [view.showing(cases) for cases in by_line.values()]


def plain(case: Case) -> Case:
    """Return the case without what the rows of a table show."""
    options = {name: value for name, value in case.options.items() if name not in {"direction", "grid"}}
    return msgspec.structs.replace(case, placement="", ranks=0, options=options)


def name_of(part: CampaignView) -> str:
    """Return how the cases of a table are called."""
    case = part.cases[0]
    return case_labels.name_case(plain(case), part.operation(case))


def make_value_tables(part: CampaignView) -> Iterator[Table]:
    """Yield first the tables by grid, then the lists with all values."""
    edges, directions = (groups(part, rings) for rings in (part.rings, part.ring_directions))
    for by_edge, cases in ((True, edges), (False, directions)):
        for circumstances, rows in cases:
            what = "grid by ring" if by_edge else "grid by direction"
            yield by_grid(f"{name_of(part)}, {what}: {circumstances}", rows, by_edge=by_edge)
    for by_edge, cases in ((True, edges), (False, directions)):
        for circumstances, rows in cases:
            columns = [*ROW, *(["ring of rank"] if by_edge else []), *HEADS]
            cells = [row(entry, by_edge=by_edge) for entry in rows.iter_rows(named=True)]
            yield Table(f"{heading(name_of(part), by_edge=by_edge)}: {circumstances}", [*columns], cells, wide=True)


def groups(part: CampaignView, rings: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return the rings by their circumstances: first inside a node, those with a core per rank before others."""
    keys = [case.key for case in part.cases]
    shown = rings.filter(pl.col("case").is_in(keys), pl.col("candidate").is_in(list(part.candidates)))
    parts = shown.with_columns(between=pl.col("nodes") > 1).partition_by(
        "between", "oversubscribed", as_dict=True, maintain_order=True
    )
    return [
        (setting(part, rows, between=bool(between), short=bool(short)), rows)
        for (between, short), rows in sorted(parts.items(), key=lambda item: item[0])
    ]


def by_grid(caption: str, rows: pl.DataFrame, *, by_edge: bool) -> Table:
    """Return the table with min, median and mean of each grid to the right, candidates and rings downwards.

    Ranks of the edge have other numbers on each grid, so that rings are counted along it.
    """
    number = pl.col("edge").rank("dense").over("case", "candidate", "direction") - 1
    counted = rows.with_columns(site=sites(rows), ring=number)
    key = ["direction", "ring", "candidate"] if by_edge else ["direction", "candidate"]
    places = counted["site"].unique(maintain_order=True)
    lines = counted.sort("ring", maintain_order=True).partition_by(key, as_dict=True, maintain_order=True)
    order = list(rows["direction"].unique(maintain_order=True))
    table_rows = []
    for name, line_rows in sorted(lines.items(), key=lambda line: (order.index(line[0][0]), *line[0][1:-1])):
        by_site = {entry["site"]: entry for entry in line_rows.iter_rows(named=True)}
        table_rows.append(
            [
                *(Cell(str(value)) for value in name),
                *(cell for site in places for cell in make_ring_cells(by_site.get(site))),
            ]
        )
    heads = [f"{site} {what}" for site in places for what in USUAL]
    return Table(caption, [*key, *heads], table_rows)


def sites(rows: pl.DataFrame) -> pl.Expr:
    """Return how columns name a grid: with its placement where others have the same grid."""
    alone = rows.group_by("grid").agg(pl.col("placement").n_unique()).filter(pl.col("placement") == 1)["grid"]
    named = pl.format("{} ({})", "grid", "placement")
    return pl.when(pl.col("grid").is_in(alone.to_list())).then("grid").otherwise(named)


def make_ring_cells(entry: dict[str, Any] | None) -> list[Cell]:
    """Return min, median and mean of a ring; dashes where a grid has none of this number."""
    if entry is None:
        return [Cell("–")] * len(USUAL)
    return [Cell(format_time(entry[name]), case=entry["case"]) for name in USUAL.values()]


def heading(name: str, *, by_edge: bool) -> str:
    """Return what a table of rings is divided by."""
    if by_edge:
        return f"{name} by edge rank and grid"
    return f"{name} by direction and grid"


def setting(part: CampaignView, rows: pl.DataFrame, *, between: bool, short: bool) -> str:
    """Return what a heading owes its reader: where, how started, and whether cores were short."""
    where = "between nodes" if between else "inside a node"
    places = ", ".join(rows["placement"].unique(maintain_order=True))
    started = f"start: {' or '.join(rows['start'].unique(maintain_order=True))}"
    text = f"{where} ({places}), {started}"
    if not short:
        return text
    warning = "{text}; more ranks than the {cores} cores of a node: waiting is measured"
    return render(say(warning, text=text, cores=part.campaign.machine.cores))


def row(entry: dict[str, Any], *, by_edge: bool) -> list[Cell]:
    """Return the row of a ring, or of all rings of a direction."""
    edge = [Cell(str(entry["edge"]))] if by_edge else []
    ends = entry["low_ns"], entry["high_ns"], entry["coverage"]
    interval = render(say("{low:time} to {high:time}", low=ends[0], high=ends[1]))
    return [
        Cell(entry["candidate"]),
        Cell(entry["grid"], case=entry["case"]),
        Cell(str(entry["hops"])),
        Cell(entry["direction"]),
        *edge,
        Cell(format_time(entry["typical_ns"])),
        Cell(interval if is_informative(*ends) else TOO_FEW_LAUNCHES if entry["coverage"] else "one launch"),
        *(Cell(format_time(entry[name])) for name in STATISTICS.values()),
        *(Cell(format_whole(entry[name])) for name in NUMBERS.values()),
    ]


def costs(part: CampaignView) -> Iterator[Table]:
    """Yield the table of what one more hop costs, where there are lengths to compare."""
    keys = {case.key for case in part.cases}
    by_key = {case.key: case for case in part.cases}
    counts = [
        hop_cost
        for hop_cost in part.hop_costs
        if keys.issuperset(hop_cost.cases) and hop_cost.candidate in part.candidates
    ]
    if counts:
        rows = [_cost_row(cost, by_key[cost.cases[0]], part) for cost in counts]
        rests = tuple(key for cost in counts for key in cost.cases)
        yield Table(f"{name_of(part)}: what one more hop costs", [*COSTS], rows, rests)


def places(part: CampaignView) -> Iterator[Table]:
    """Yield what libraries made of the ranks' places, where they were free to give them others."""
    reordered = [case.key for case in part.cases if case.options.get("reorder") == "yes"]
    shown = part.case_rows.filter(
        pl.col("case").is_in(reordered), pl.col("candidate").is_in(list(part.candidates)), pl.col("status") == "ok"
    )
    counted = shown.group_by("case", "candidate", "grid", "order", maintain_order=True).len()
    rows = [
        [
            Cell(entry["candidate"]),
            Cell(entry["grid"], case=entry["case"]),
            Cell(describe_rank_order(entry["order"])),
            Cell(str(entry["len"])),
        ]
        for entry in counted.iter_rows(named=True)
    ]
    if rows:
        columns = ["candidate", "grid", "places", "launches"]
        yield Table(f"{name_of(part)}: ranks by place, row by row", columns, rows)


def describe_rank_order(order: str) -> str:
    """Return which ranks have the places of a grid."""
    return f"ranks {order.replace(',', ', ')}" if order else "each rank its own"


def _cost_row(cost: HopCost, case: Case, part: CampaignView) -> list[Cell]:
    usual = {option.name: option.usual for option in part.operation(case).options}
    where = "between nodes" if cost.between_nodes else "inside a node"
    short = "; more ranks than cores: waiting is measured" if cost.oversubscribed else ""
    interval = f"{format_time(cost.low_ns)} to {format_time(cost.high_ns)}"
    return [
        Cell(cost.candidate),
        Cell(case.options.get("direction", usual.get("direction", ""))),
        Cell(where),
        Cell(format_time(cost.cost_ns)),
        Cell("one block" if math.isnan(cost.low_ns) else interval),
        Cell(render(cost.basis) + short),
        Cell(str(cost.blocks)),
    ]


def shapes(part: CampaignView) -> Iterator[Table]:
    """Yield the table of modes and standard deviations of the slowest ring of each round."""
    rows = [cells for case in part.cases for name in part.candidates if (cells := shape_row(part, case, name))]
    if rows:
        caption = f"{name_of(part)}: shapes of the distributions, of the slowest ring of each round"
        yield Table(caption, [*SHAPES], rows, wide=True)


def shape_row(part: CampaignView, case: Case, name: str) -> list[Cell]:
    """Return what shape the samples of a case have; nothing where a candidate has none."""
    times = part.sample_times(case.key, name)
    if not len(times):
        return []
    modes = part.modes.get((case.key, name), [])
    return [
        Cell(name),
        Cell(", ".join([case.placement, *(f"{key}={value}" for key, value in case.options.items())]), case=case.key),
        Cell("; ".join(render(mode.text) for mode in modes[1:]) or "one"),
        Cell(format_time(float(np.std(times, ddof=1))) if len(times) > 1 else "too few samples"),
    ]


def frame(view: CampaignView) -> pl.DataFrame:
    """Return one row per case, candidate and edge rank with all that is known, for programs."""
    if view.rings.is_empty():
        return pl.DataFrame()
    shown = view.rings.filter(
        pl.col("case").is_in([case.key for case in view.cases]), pl.col("candidate").is_in(list(view.candidates))
    )
    by_case = {(hop_cost.candidate, case): hop_cost for hop_cost in reversed(view.hop_costs) for case in hop_cost.cases}
    rows = []
    for entry in shown.iter_rows(named=True):
        cost = by_case.get((entry["candidate"], entry["case"]))
        modes = view.ring_modes.get((entry["case"], entry["candidate"], str(entry["edge"])), [])
        rows.append(
            {
                **entry,
                "modes": "; ".join(render(mode.text) for mode in modes),
                "hop_cost_ns": cost.cost_ns if cost else None,
                "hop_low_ns": cost.low_ns if cost else None,
                "hop_high_ns": cost.high_ns if cost else None,
                "hop_cost_from": render(cost.basis) if cost else "",
                "hop_cost_oversubscribed": cost.oversubscribed if cost else None,
            }
        )
    return pl.DataFrame(rows)
