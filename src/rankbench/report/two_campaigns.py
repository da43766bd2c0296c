"""Then and now as one table, the same for the terminal and Markdown, and as text. Nothing is computed here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankbench.across.two_campaigns import format_interval
from rankbench.language import format_text, render
from rankbench.quantities import format_ratio
from rankbench.report.tables import Cell, Table
from rankbench.report.text import markdown_cell, markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankbench.across.conditions import Match
    from rankbench.across.two_campaigns import CampaignComparison, CampaignPair, Change, Remark
    from rankbench.model import CaseVerdict

SAME = "~"
MARK = "°"
"""Of ratios that are no larger than what the raw probes of the machine show."""
SMALLEST_P = 0.001
COLUMNS = ["case", "candidate", "then", "now", "ratio", "interval", "p"]
RATIO = COLUMNS.index("ratio")
WHY = {"name": "the same name", "family": "the same family", "request": "as requested"}


def heading(now: CampaignComparison) -> str:
    """Return the names and dates of both campaigns."""
    return format_text(
        "{new} ({new_date}) over {old} ({old_date}): times of unpaired launches",
        new=now.new,
        new_date=format_date(now.new_created),
        old=now.old,
        old_date=format_date(now.old_created),
    )


def format_date(created: str) -> str:
    """Return date and time of day of a campaign's beginning: `2026-11-24 16:05`."""
    return created[:16].replace("T", " ")


def explain_table(now: CampaignComparison) -> str:
    """Return how the table is to be read."""
    return format_text(
        "A ratio above 1: slower now; {same}: no change above {percent:g}% can be shown.",
        same=SAME,
        percent=now.threshold * 100,
    )


def describe_change(
    change: Change, before: CaseVerdict | None, now: CaseVerdict | None, renamed: Mapping[str, str]
) -> str:
    """Return what changed for a candidate, and for the verdict on its case: `slower, new winner`; empty: nothing.

    `renamed` leads from a candidate's name then to its name now.
    """
    words = []
    if change.apart:
        return format_text("not comparable: cores {states}", states=change.apart)
    if change.different:
        if change.memory:
            words.append(format_text("more memory") if change.ratio > 1 else format_text("less memory"))
        else:
            words.append(format_text("slower") if change.ratio > 1 else format_text("faster"))
    if before and now and before.winners and now.winners:
        past = [renamed.get(name, name) for name in before.winners]
        if len(past) == 1 and len(now.winners) > 1:
            words.append(
                format_text("now equivalent")
                if now.outcome == "equivalent"
                else format_text("no longer distinguishable")
            )
        elif len(now.winners) == 1 and now.winners != past:
            words.append(format_text("new winner"))
    return ", ".join(words)


def describe_match(match: Match) -> str:
    """Return which candidates are compared, and why."""
    return format_text("{new} against {old} ({why})", new=match.new, old=match.old, why=WHY[match.by])


def make_table(comparison: CampaignPair) -> Table:
    """Return one row per case and candidate."""
    of, view = {case.key: case for case in comparison.now.campaign.cases}, comparison.now
    rows = []
    for change in comparison.comparison.changes:
        measure = view.measure(of[change.case])
        values = (Cell(measure.format(value)) for value in (change.old_ns, change.new_ns))
        rows.append([Cell(change.title), Cell(change.new), *values, *map(Cell, describe_ratio(change))])
    return Table(heading(comparison.comparison), [*COLUMNS], rows)


def describe_ratio(change: Change) -> tuple[str, str, str]:
    """Return ratio, interval and adjusted p-value; a lone launch gives no interval."""
    if change.apart:
        return format_text("not comparable"), format_text("cores {states}", states=change.apart), ""
    ratio = format_ratio(change.ratio) + MARK * change.explained if change.different else SAME
    if math.isinf(change.high):
        return ratio, "", ""
    p = f"{change.p_adjusted:.3f}" if change.p_adjusted >= SMALLEST_P else f"<{SMALLEST_P:g}"
    return ratio, render(format_interval(change.low, change.high)), p


def list_lines(now: CampaignComparison) -> Iterator[str]:
    """Yield the matched candidates, the remarks and the result."""
    yield from list_remarks(now)
    yield from map(render, now.sentences)


def list_remarks(now: CampaignComparison) -> Iterator[str]:
    """Yield the matched candidates and the remarks."""
    yield format_text("Matched: {pairs}.", pairs="; ".join(map(describe_match, now.matches)) or format_text("none"))
    yield from map(format_remark, now.remarks)


def format_remark(note: Remark) -> str:
    """Return a remark with what to do about it."""
    return f"{render(note.text)} {render(note.advice)}".rstrip()


def markdown(comparison: CampaignPair) -> str:
    """Return everything as Markdown."""
    texts = [
        markdown_cell(Cell(line)) for line in (explain_table(comparison.comparison), *list_lines(comparison.comparison))
    ]
    return "\n\n".join([markdown_table(make_table(comparison)), *texts]) + "\n"
