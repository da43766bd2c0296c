"""The cells of the winner map, as the plot and the page draw them."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from rankbench.language import format_text
from rankbench.plots import captions
from rankbench.quantities import format_ratio
from rankbench.verdict import case_labels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankbench.model import CaseVerdict
    from rankbench.plots.chart import Row
    from rankbench.verdict.view import CampaignView

SHARED = "tied"
LABEL = 30
"""Letters in a line of a row's label."""


def list_shown(view: CampaignView) -> list[CaseVerdict]:
    """Return the verdicts that have a cell: not those between pairs of ranks, nor those with an unusual start."""
    return [verdict for verdict in view.without_pairs().list_shown_verdicts() if view.has_usual_start(verdict.case)]


def headings(view: CampaignView, verdicts: list[CaseVerdict]) -> tuple[str, str]:
    """Return title and subtitle of a map."""
    memory = any(verdict.case.quantity == "memory" for verdict in verdicts)
    fastest = format_text("Fastest candidate by operation and message size")
    title = format_text("Best candidate by operation and message size") if memory else fastest
    return title, captions.describe_conditions(view.showing([verdict.case for verdict in verdicts]))


def explain_signs(verdicts: Iterable[CaseVerdict]) -> dict[str, str]:
    """Return what the signs in cells without a single winner mean: those that these verdicts can have."""
    shown = list(verdicts)
    signs = {"=": format_text("equivalent"), "~": format_text("not distinguishable")}
    if any(verdict.differs for verdict in shown):
        signs["A/B"] = format_text("A if cores are near, B if far")
    if not all(verdict.winners for verdict in shown):
        signs["!"] = format_text("no value that counts")
    return signs


def fold_label(line: str) -> str:
    """Return a row's label on as many lines as it needs, divided where a reader would."""
    return "\n".join(textwrap.wrap(line, LABEL, break_on_hyphens=False))


def cell(verdict: CaseVerdict, letters: dict[str, str], view: CampaignView) -> Row:
    """Return one cell: its position, its fill, and its label in one or two lines."""
    case, winners = verdict.case, verdict.winners
    single = len(winners) == 1 < len(verdict.ranking)
    decided = verdict.margin > 1 and not verdict.differs
    mark = (
        format_levels(verdict, letters)
        if verdict.differs
        else format_winners(winners, verdict.sign, letters, all_candidates=not decided)
    )
    joined = case_labels.format_levels(verdict) if verdict.differs else f" {verdict.sign} ".join(winners)
    winner = joined or format_text("none: no candidate has a value that counts")
    operation = view.operation(case)
    name = view.case_name(case)
    margin = (
        format_ratio(verdict.margin) if decided else verdict.sign if len(winners) > 1 and not verdict.differs else ""
    )
    return {
        "key": case.key,
        "case": name,
        "line": fold_label(case_labels.name_line(case, operation)),
        "size": case_labels.format_case_size(case, operation),
        "size_bytes": case.size_bytes if operation.sized else -1,
        "fill": winners[0] if single else SHARED,
        "strength": scale_ratio(verdict.margin) if single else 1,
        "mark": mark,
        "decided": decided,
        "winner": winner,
        "margin": margin,
        "said": f"{name}: {winner} {margin}".rstrip(),
    }


def format_winners(winners: list[str], sign: str, letters: dict[str, str], *, all_candidates: bool) -> str:
    """Return `O~I`; the sign alone for several winners that are all candidates."""
    return sign if all_candidates and len(winners) > 1 else sign.join(letters[name] for name in winners) or "!"


def format_levels(verdict: CaseVerdict, letters: dict[str, str]) -> str:
    """Return `O/I`: the winners while cores are near, and while they are far."""
    ranked = len(verdict.ranking)
    signs = {level: "=" if outcome == "equivalent" else "~" for level, outcome in verdict.outcome_by_level.items()}
    return "/".join(
        format_winners(names, signs[level], letters, all_candidates=len(names) == ranked)
        for level, names in verdict.winners_by_level.items()
    )


def scale_ratio(margin: float) -> float:
    """Return 0 for no margin up to 1 for twice as fast and more."""
    return round(math.sqrt(min(max(margin - 1, 0), 1)), 3)
