"""The cells of the winner map, as the plot and the page draw them."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from rankbench.analysis.questions import case_labels
from rankbench.analysis.questions.view import CampaignView
from rankbench.model import CaseVerdict
from rankbench.plots import captions
from rankbench.quantities import format_ratio

LABEL = 30
"""Letters in a line of a row's label."""
SIGNS = {"equivalent": "=", "undecided": "~", "depends": "~"}


class Half(NamedTuple):
    """Who is fastest in a cell, or in one half of it: while cores are near, or while they are far."""

    level: str
    """`near` or `far`; empty for a whole cell without levels."""
    winners: list[str]
    sign: str
    """Of several winners: `=` or `~`. `!`: no value that counts; `only`: nothing to compare; empty: a single winner."""
    margin: float
    """Of a single winner: the time of the next candidate over its time."""

    @property
    def winner(self) -> str:
        """Return the name of the single winner, or nothing."""
        return "" if self.sign else self.winners[0]

    def write(self, letters: dict[str, str]) -> str:
        """Return `O`, `O~I` or `only O`; the sign alone for several winners that are all candidates, `!` for none."""
        names = [letters[name] for name in self.winners]
        if not names or len(names) == len(letters) > 1:
            return self.sign
        return f"only {names[0]}" if self.sign == "only" else self.sign.join(names)

    def describe(self) -> str:
        """Return who is fastest, in words: `near: alpha 1.20×`."""
        names = f" {self.sign} ".join(self.winners) or "none: no candidate has a value that counts"
        only = f"only {names}" if self.sign == "only" else names
        text = f"{only} {format_ratio(self.margin)}" if self.winner and self.margin > 1 else only
        return f"{self.level}: {text}" if self.level else text


def list_halves(verdict: CaseVerdict) -> list[Half]:
    """Return the two halves of a cell, near and far, where these differ; else one that fills it."""
    if verdict.differs and len(verdict.winners_by_level) > 1:
        return [_make_half(level, verdict.at(level)) for level in verdict.winners_by_level]
    only = [*verdict.winners_by_level] if len(verdict.winners_by_level) == 1 else [""]
    return [_make_half(only[0], verdict)]


def _make_half(level: str, verdict: CaseVerdict) -> Half:
    winners = verdict.winners
    if not winners:
        return Half(level, [], "!", 1.0)
    if len(verdict.ranking) == 1:
        return Half(level, winners, "only", 1.0)
    sign = "" if len(winners) == 1 else SIGNS.get(verdict.outcome, "~")
    return Half(level, winners, sign, verdict.margin if not sign else 1.0)


def describe_cell(verdict: CaseVerdict) -> str:
    """Return who is fastest in a case, in words, at each level where levels differ."""
    return ", ".join(half.describe() for half in list_halves(verdict))


def count_wins(verdicts: Iterable[CaseVerdict], letters: dict[str, str]) -> str:
    """Return how many cases each candidate wins alone, near and far alike: `O 5  I 2`."""
    halves = [halves[0] for verdict in verdicts if len(halves := list_halves(verdict)) == 1]
    wins = Counter(half.winner for half in halves if half.winner)
    return ", ".join(f"{letters[name]} {count}" for name, count in wins.most_common())


def list_shown(view: CampaignView) -> list[CaseVerdict]:
    """Return the verdicts that have a cell: not those between pairs of ranks, nor those with an unusual start."""
    return [verdict for verdict in view.without_pairs().list_shown_verdicts() if view.has_usual_start(verdict.case)]


def headings(view: CampaignView, verdicts: list[CaseVerdict]) -> tuple[str, str]:
    """Return title and subtitle of a map; the placement comes first where there are several."""
    memory = any(verdict.case.quantity == "memory" for verdict in verdicts)
    fastest = "fastest candidate by operation and message size"
    title = "best candidate by operation and message size" if memory else fastest
    if place := name_place(view, verdicts[0].case.placement):
        title = f"{place}: {title}"
    return title[:1].upper() + title[1:], captions.describe_conditions(
        view.showing([verdict.case for verdict in verdicts])
    )


def name_place(view: CampaignView, placement: str) -> str:
    """Return a placement as the title of a map begins with it; empty: the campaign has only one."""
    nodes = {place.name: place.nodes for place in view.campaign.plan.placements}
    if len(nodes) < 2:
        return ""
    across = [name for name, count in nodes.items() if count > 1]
    alike = across if placement in across else [name for name in nodes if name not in across]
    where = "Across nodes" if placement in across else "Within a node"
    if not across or len(across) == len(nodes):
        return f"At {placement}"
    return where if len(alike) == 1 else f"{where} ({placement})"


def explain_signs(verdicts: Iterable[CaseVerdict]) -> dict[str, str]:
    """Return what the signs in cells without a single winner mean: those that these verdicts can have."""
    shown = list(verdicts)
    signs = {"=": "equivalent", "~": "not distinguishable"}
    if any(len(list_halves(verdict)) > 1 for verdict in shown):
        signs["A/B"] = "A while cores are near, B while they are far"
    if not all(verdict.winners for verdict in shown):
        signs["!"] = "no value that counts"
    return signs


def fold_label(line: str) -> str:
    """Return a row's label on as many lines as it needs, divided where a reader would."""
    return "\n".join(textwrap.wrap(line, LABEL, break_on_hyphens=False))


def name_row(verdict: CaseVerdict, view: CampaignView) -> str:
    """Return the label of a case's row."""
    return fold_label(case_labels.name_line(verdict.case, view.operation(verdict.case)))


def scale_ratio(margin: float) -> float:
    """Return 0 for no margin up to 1 for twice as fast and more."""
    return round(math.sqrt(min(max(margin - 1, 0), 1)), 3)
