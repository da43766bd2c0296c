"""The correction of a campaign's tests for its interim analyses (looks). Pure."""

from __future__ import annotations

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.looks import Penalty
from rankbench.model import Plan
from rankbench.plan import list_looks, notation, stop_rules


def list_interim_looks(plan: Plan) -> tuple[int, ...]:
    """Return the numbers of blocks after which the values may end a campaign: empty where they do not end it."""
    ends = stop_rules.find_rule(notation.parse_until(plan.stop.until).rule).costs_error or plan.stop.past
    return tuple(list_looks(plan.stop)) if ends else ()


def find_penalty(view: CampaignView, blocks: int = 0) -> Penalty:
    """Return the penalty for looks up to this number of blocks; 0: up to the campaign's last one."""
    return Penalty(list_interim_looks(view.campaign.plan), blocks or view.judged_values["block"].n_unique())
