"""Then and now as one table, the same for the terminal and Markdown, and as text. Nothing is computed here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from rankbench.across.conditions import Match
from rankbench.across.intervals import format_interval
from rankbench.across.two_campaigns import CampaignComparison, CampaignPair, Change, Remark
from rankbench.language import render, say
from rankbench.model import CaseVerdict
from rankbench.quantities import format_ratio
from rankbench.report.tables import Cell, Table
from rankbench.report.text import markdown_cell, markdown_table

SAME = "~"
MARK = "°"
"""Of ratios that are no larger than what the raw probes of the machine show."""
SMALLEST_P = 0.001
COLUMNS = ["case", "candidate", "then", "now", "ratio", "interval", "p"]
RATIO = COLUMNS.index("ratio")
WHY = {"name": "the same name", "family": "the same family", "request": "as requested"}


def heading(now: CampaignComparison) -> str:
    """Return the names and dates of both campaigns."""
    return (
        f"{now.new} ({format_date(now.new_created)}) over {now.old} ({format_date(now.old_created)}): times of "
        "unpaired launches"
    )


def format_date(created: str) -> str:
    """Return date and time of day of a campaign's beginning: `2026-11-24 16:05`."""
    return created[:16].replace("T", " ")


def explain_table(now: CampaignComparison) -> str:
    """Return how the table is to be read."""
    return render(
        say(
            "A ratio above 1: slower now; {same}: no change above {percent:g}% can be shown.",
            same=SAME,
            percent=now.threshold * 100,
        )
    )


def describe_change(
    change: Change, before: CaseVerdict | None, now: CaseVerdict | None, renamed: Mapping[str, str]
) -> str:
    """Return what changed for a candidate, and for the verdict on its case: `slower, new winner`; empty: nothing.

    `renamed` leads from a candidate's name then to its name now.
    """
    words = []
    if change.apart:
        return f"not comparable: cores {change.apart}"
    if change.different:
        if change.memory:
            words.append("more memory" if change.ratio > 1 else "less memory")
        else:
            words.append("slower" if change.ratio > 1 else "faster")
    if before and now and before.winners and now.winners:
        past = [renamed.get(name, name) for name in before.winners]
        if len(past) == 1 and len(now.winners) > 1:
            words.append("now equivalent" if now.outcome == "equivalent" else "no longer distinguishable")
        elif len(now.winners) == 1 and now.winners != past:
            words.append("new winner")
    return ", ".join(words)


def describe_match(match: Match) -> str:
    """Return which candidates are compared, and why."""
    return f"{match.new} against {match.old} ({WHY[match.by]})"


def describe_matches(matches: Sequence[Match]) -> Iterator[str]:
    """Yield those of different names with the reason, and the names that are in both campaigns."""
    yield from (describe_match(match) for match in matches if match.old != match.new)
    if same := [match.new for match in matches if match.old == match.new]:
        yield f"by name: {', '.join(same)}"


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
        return "not comparable", f"cores {change.apart}", ""
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
    yield f"Matched: {'; '.join(describe_matches(now.matches)) or 'none'}."
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
