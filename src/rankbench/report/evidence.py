"""The cases that an answer rests on, and the lines that are alike: what every form of the report names."""

from __future__ import annotations

from rankbench.model import Group, Verdict
from rankbench.verdict.view import CampaignView

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
