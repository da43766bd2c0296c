"""How every candidate fared in one case at each number of nodes and of ranks, failures included."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rankbench.analysis.questions.scaling import Site, oversubscribed
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import NOTHING, Text, Words, say
from rankbench.model import Campaign, Case, CaseVerdict, Summary
from rankbench.quantities import spell_count

NOT_RUN = "not-run"


class SiteResult(NamedTuple):
    """A candidate at one place."""

    case: Case
    site: Site
    candidate: str
    summary: Summary
    counts: bool
    """Whether it has a value that counts."""
    fate: Words
    """What befell it: `crashed in 3 of 3 launches`; empty if nothing did."""
    word: Words
    """That in a word or two: `crashed`; `crashed at times` if other launches ended well."""


def list_results(view: CampaignView, cases: dict[Site, Case], names: Iterable[str]) -> list[SiteResult]:
    """Return how candidates fared, by the ranks per node, by the nodes, and in the order of the names."""
    ordered = sorted(cases, key=lambda place: (place.ranks_per_node, place.nodes))
    return [
        make_result(view.verdict_of[cases[place].key], place, summary)
        for place in ordered
        for name in names
        for _, summary in view.summaries_of.get(cases[place].key, ())
        if summary.candidate == name
    ]


def make_result(verdict: CaseVerdict, place: Site, summary: Summary) -> SiteResult:
    """Return how one candidate fared at one place."""
    counts = summary.candidate in verdict.ranking
    befell, worst = describe_result(summary, counts=counts), ending(summary)
    return SiteResult(verdict.case, place, summary.candidate, summary, counts, befell, worst.words if worst else befell)


class Ending(NamedTuple):
    """What a candidate's launches ended in most often, where they did not end well."""

    status: str
    launches: int
    tried: int
    always: bool
    """Whether no launch ended well."""

    @property
    def words(self) -> Text:
        """Return what they ended in, and whether only some did."""
        return say("{status}" if self.always else "{status} at times", status=self.status)


def ending(summary: Summary) -> Ending | None:
    """Return what they ended in. Where it was not tried again, that is reported as what it ended in before."""
    ends = {status: count for status, count in summary.failures.items() if status != NOT_RUN} or summary.failures
    if not ends:
        return None
    status = max(ends, key=lambda end: ends[end])
    well = summary.launches + summary.left_out
    return Ending(status.replace("-", " "), ends[status], well + sum(ends.values()), always=not well)


def describe_result(summary: Summary, *, counts: bool) -> Text:
    """Return what befell a candidate."""
    if worst := ending(summary):
        return say("{status} in {n} of {all:count launch}", status=worst.status, n=worst.launches, all=worst.tried)
    return NOTHING if counts else say("not judged")


def place_name(place: Site, campaign: Campaign) -> str:
    """Return `4x2`, with a remark where ranks share cores."""
    return f"{place.nodes}x{place.ranks_per_node}{describe_oversubscription(place, campaign)}"


def ranks_name(ranks: int, campaign: Campaign) -> str:
    """Return `2 ranks per node`, with the same remark."""
    return f"{spell_count(ranks, 'rank')} per node{describe_oversubscription(Site(1, ranks), campaign)}"


def describe_oversubscription(place: Site, campaign: Campaign) -> str:
    """Return what must be said of more ranks on a node than it has cores."""
    return ", more than cores" if oversubscribed(place, campaign) else ""
