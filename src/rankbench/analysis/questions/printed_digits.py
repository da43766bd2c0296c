"""Comparisons that are open because a tool printed too few digits. Pure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

from rankbench.analysis.questions.view import CampaignView
from rankbench.model import CaseVerdict, Comparison


def find_rounded(view: CampaignView, verdict: CaseVerdict) -> list[Comparison]:
    """Return the comparisons of a case's winners that are open because their values are rounded."""
    pairs = (view.comparisons.find(verdict.case.key, *pair) for pair in itertools.combinations(verdict.winners, 2))
    return [pair for pair in pairs if pair and pair.is_rounded]


def find_unit_share(view: CampaignView, cases: Iterable[str]) -> float:
    """Return the largest share of a value in these cases that a unit of its last printed digit is."""
    roundings = (summary.rounding for key in cases for _, summary in view.summaries_of[key])
    return 2 * -math.expm1(-max(roundings))
