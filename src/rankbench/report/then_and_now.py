"""Then and now as one table, the same for the terminal and Markdown, and as text. Nothing is computed here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankbench.across.two_campaigns import between
from rankbench.language import format_text, render
from rankbench.quantities import format_ratio
from rankbench.report.tables import Cell, Table
from rankbench.report.text import markdown_cell, markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.across.conditions import Match
    from rankbench.across.two_campaigns import Change, Held, Remark, ThenAndNow

SAME = "~"
MARK = "°"
"""Of ratios that are no larger than what the raw probes of the machine show."""
SMALLEST_P = 0.001
COLUMNS = ["case", "candidate", "then", "now", "ratio", "interval", "p"]
RATIO = COLUMNS.index("ratio")
WHY = {"name": "the same name", "family": "the same family", "request": "as asked"}


def heading(now: ThenAndNow) -> str:
    """Return what is held against what."""
    return format_text(
        "{new} ({new_date}) over {old} ({old_date}): times of unpaired launches",
        new=now.new,
        new_date=now.new_created[:10],
        old=now.old,
        old_date=now.old_created[:10],
    )


def explanation(now: ThenAndNow) -> str:
    """Return how the table is to be read."""
    return format_text(
        "A ratio above 1: slower now; {same}: no change above {percent:g} % can be shown.",
        same=SAME,
        percent=now.threshold * 100,
    )


def matched(match: Match) -> str:
    """Return who is held against whom, and why."""
    return format_text("{new} against {old} ({why})", new=match.new, old=match.old, why=WHY[match.by])


def table(held: Held) -> Table:
    """Return one row per case and candidate."""
    of, view = {case.key: case for case in held.now.campaign.cases}, held.now
    rows = []
    for change in held.told.changes:
        measure = view.measure(of[change.case])
        figures = (Cell(measure.spelt(figure)) for figure in (change.old_ns, change.new_ns))
        rows.append([Cell(change.title), Cell(change.new), *figures, *map(Cell, judged(change))])
    return Table(heading(held.told), [*COLUMNS], rows)


def judged(change: Change) -> tuple[str, str, str]:
    """Return ratio, interval and adjusted p-value; a lone launch gives no interval."""
    ratio = format_ratio(change.ratio) + MARK * change.explained if change.different else SAME
    if math.isinf(change.high):
        return ratio, "", ""
    p = f"{change.p_adjusted:.3f}" if change.p_adjusted >= SMALLEST_P else f"<{SMALLEST_P:g}"
    return ratio, render(between(change.low, change.high)), p


def lines(now: ThenAndNow) -> Iterator[str]:
    """Yield who was matched with whom, what must be known, and at last what was found."""
    yield from circumstances(now)
    yield from map(render, now.sentences)


def circumstances(now: ThenAndNow) -> Iterator[str]:
    """Yield who was matched with whom, and what must be known."""
    yield format_text("Matched: {pairs}.", pairs="; ".join(map(matched, now.matches)) or format_text("nobody"))
    yield from map(remark, now.remarks)


def remark(one: Remark) -> str:
    """Return a remark with what to do about it."""
    return f"{render(one.text)} {render(one.advice)}".rstrip()


def markdown(held: Held) -> str:
    """Return everything as Markdown."""
    texts = [markdown_cell(Cell(line)) for line in (explanation(held.told), *lines(held.told))]
    return "\n\n".join([markdown_table(table(held)), *texts]) + "\n"
