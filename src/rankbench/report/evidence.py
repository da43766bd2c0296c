"""What every form of the report names: the cases that an answer rests on, lines that are alike, and the period."""

from __future__ import annotations

from datetime import datetime, timedelta

from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Group, Verdict
from rankbench.quantities import format_duration

SHOWN = 3
"""Cases that are named of those on which a sentence or a finding rests."""


def list_evidence(view: CampaignView) -> list[str]:
    """Return the keys of the cases that the conclusion or a finding rests on, or that represent a group."""
    verdict = view.verdict
    case_lists = [sentence.cases for sentence in verdict.conclusion] + [finding.cases for finding in verdict.findings]
    case_lists += [group.cases[:1] for group in list_groups(verdict)]
    return list(dict.fromkeys(key for keys in case_lists for key in keys[:SHOWN]))


def list_groups(verdict: Verdict) -> list[Group]:
    """Return the groups, without lines that have a curve of their own."""
    return [group for group in verdict.groups if len(group.lines) > 1 or group.kind != "alike"]


def describe_period(view: CampaignView) -> str:
    """Return when a campaign was measured and how long that took; of an imported one the day it was imported."""
    if view.campaign.imported or not view.launches:
        return view.campaign.created[:10]
    begins = [datetime.fromisoformat(launch.started) for launch in view.launches if launch.started]
    ends = [
        datetime.fromisoformat(launch.started) + timedelta(seconds=launch.duration_s * launch.together)
        for launch in view.launches
        if launch.started
    ]
    if not begins:
        return view.campaign.created[:10]
    begin, end = min(begins), max(ends)
    last = f"{end:%H:%M}" if end.date() == begin.date() else f"{end:%Y-%m-%d %H:%M}"
    return f"measured {f'{begin:%Y-%m-%d %H:%M}'} to {last} UTC, {format_duration((end - begin).total_seconds())}"
