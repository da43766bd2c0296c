"""Tables of single ranks: how often each was the last to end, and where it was kept, when each began and ended."""

from __future__ import annotations

import polars as pl
from markupsafe import Markup

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.model import Launch, list_rank_sets
from rankbench.plots.chart import Row
from rankbench.quantities import format_time, spell_count
from rankbench.report.tables import Block, Cell, Hint, Table, line_name

TITLE = "Single ranks"
SHORT = "Ranks"
HELP = "Single ranks: which was the last to end, and when each began and ended."
FLAG = "ranks"
ORDER = 90
MEANING = (
    "In what share of the samples a rank was the last to end. One that is always the last has more to do in the "
    "algorithm, or a worse place; an even share shows neither. Where the plan keeps every rank's samples "
    "(<code>every_rank = true</code>), also when each began and ended: medians over launches."
)
OTHER_STARTS = "Cases with another start are shown by <code>rankbench show --table ranks</code>."
Locations = dict[tuple[str, str, int], dict[tuple[str, int], None]]
"""Hosts and CPUs, each once, by candidate, placement and rank."""
MOST_NAMED = 3
"""Ranks named in a cell; the others are summed up."""


def tables(view: CampaignView) -> list[Table]:
    """Return the fullest table there is of each line: with times where they were kept, else of who was the last."""
    by_case = rows_by_case(view)
    timed_by_case = {
        key: timed for key, rows in by_case.items() if (timed := [row for row in rows if row["median_ns"]])
    }
    locations = find_locations(view) if timed_by_case else {}
    tables_made = []
    for _, part in view.parts("line"):
        keys = [case.key for case in part.cases]
        if any(key in timed_by_case for key in keys):
            tables_made.append(_time_table(part, timed_by_case, locations))
        elif any(key in by_case for key in keys):
            tables_made.append(_last_table(part, by_case))
    return tables_made


def page(view: CampaignView) -> list[Table]:
    """Return the tables of the page: those of cases with their usual start."""
    return tables(view.showing([case for case in view.cases if view.has_usual_start(case)]))


def text(_whole: CampaignView) -> list[Table]:
    """Return no tables for Markdown and LaTeX, where a row for each rank is too long."""
    return []


def absent(view: CampaignView) -> str:
    """Return why there is no table."""
    if not view.verdict.summaries:
        return "no launch has ended yet"
    return "none of these cases is timed over all ranks; choose a collective by --operations"


def body(view: CampaignView) -> list[Block]:
    """Return what the page shows above the tables."""
    several = any(not view.has_usual_start(case) for case in view.cases)
    return [Hint(Markup(f"{MEANING} {OTHER_STARTS}" if several else MEANING))]  # noqa: S704 - constants above


def frame(view: CampaignView) -> pl.DataFrame:
    """Return one row per case, candidate and rank with all that is known of it."""
    return view.single_ranks.filter(
        pl.col("case").is_in([case.key for case in view.cases]), pl.col("candidate").is_in(list(view.candidates))
    )


def _last_table(part: CampaignView, by_case: dict[str, list[Row]]) -> Table:
    rows = [
        [
            Cell(part.size_text(case), case=case.key),
            *(Cell(last([row for row in by_case[case.key] if row["candidate"] == name])) for name in part.candidates),
        ]
        for case in part.cases
        if case.key in by_case
    ]
    start = part.cases[0].start
    caption = f"{line_name(part)}: which rank was the last to end, start: {start}"
    return Table(caption, ["message size", *part.candidates], rows)


def last(ranks: list[Row]) -> str:
    """Return `rank 1: 62%, rank 0: 38%`, most often first; others in one, ranks with none left out."""
    ordered = sorted((rank for rank in ranks if rank["last"] > 0), key=lambda rank: (-rank["last"], rank["rank"]))
    texts = [
        render(say("rank {rank}: {share:.0%}", rank=row["rank"], share=row["last"])) for row in ordered[:MOST_NAMED]
    ]
    if rest := ordered[MOST_NAMED:]:
        share = sum(row["last"] for row in rest)
        texts.append(render(say("{ranks}: {share:.0%}", ranks=spell_count(len(rest), "other"), share=share)))
    return ", ".join(texts) or "–"


def _time_table(part: CampaignView, by_case: dict[str, list[Row]], locations: Locations) -> Table:
    rows = [
        [
            Cell(part.size_text(case), case=case.key),
            Cell(row["candidate"]),
            Cell(str(row["rank"])),
            *(
                Cell(text)
                for text in describe_locations(locations.get((row["candidate"], case.placement, row["rank"]), {}))
            ),
            *(Cell(text) for text in times(row, common=part.campaign.scheduled(case))),
        ]
        for case in part.cases
        for row in by_case.get(case.key, [])
    ]
    caption = f"{line_name(part)}: single ranks, start: {part.cases[0].start}"
    return Table(caption, [*HEADS], rows)


HEADS = ["message size", "candidate", "rank", "host", "CPU", "ends after", "p90", "last", "begins late by", "p90"]


def times(row: Row, *, common: bool) -> list[str]:
    """Return when a rank ended, how often it was the last, and how late it began where there is a common start."""
    ended, began = [row["median_ns"], row["p90_ns"]], [row["began_ns"], row["began_p90_ns"]] if common else [None, None]
    return [*map(spell_time, ended), f"{row['last']:.0%}", *map(spell_time, began)]


def spell_time(time_ns: float | None) -> str:
    """Return a time, or a dash."""
    return "–" if time_ns is None else format_time(time_ns)


def find_locations(view: CampaignView) -> Locations:
    """Return every host and CPU that a rank of a candidate had at a placement, in the order of the launches."""
    locations: Locations = {}
    groups: dict[tuple[str, str], list[Launch]] = {}
    for launch in view.launches:
        groups.setdefault((launch.candidate, launch.placement), []).append(launch)
    for (candidate, placement), launches in groups.items():
        for fact in (fact for ranks in list_rank_sets(launches) for fact in ranks):
            locations.setdefault((candidate, placement, fact.rank), {})[fact.host, fact.cpu] = None
    return locations


def describe_locations(places: dict[tuple[str, int], None]) -> tuple[str, str]:
    """Return the host and the CPU of a rank; several where launches differ."""
    return " ".join(dict.fromkeys(host for host, _ in places)), " ".join(dict.fromkeys(str(cpu) for _, cpu in places))


def rows_by_case(view: CampaignView) -> dict[str, list[Row]]:
    """Return the ranks of each case, candidates in the plan's order."""
    order = {name: number for number, name in enumerate(view.candidates)}
    keys = [case.key for case in view.cases]
    frame = view.single_ranks.filter(pl.col("candidate").is_in(list(order)), pl.col("case").is_in(keys))
    by_case: dict[str, list[Row]] = {}
    for to_dict in sorted(frame.to_dicts(), key=lambda entry: (order[entry["candidate"]], entry["rank"])):
        by_case.setdefault(to_dict["case"], []).append(to_dict)
    return by_case
