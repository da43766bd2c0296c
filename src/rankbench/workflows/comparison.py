"""Compares two candidates of a campaign, or two campaigns, case by case."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rankbench.across.conditions import parse_pairs, resolve
from rankbench.across.two_campaigns import CampaignPair, hold
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.placements import invert
from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Campaign, Comparison, RankbenchError
from rankbench.quantities import spell_count
from rankbench.store import find_similar
from rankbench.units import suggestion
from rankbench.workflows.locations import find_campaign, is_campaign, results_folder
from rankbench.workflows.opening import open_current
from rankbench.workflows.watching import SILENT, Progress


class CompareRequest(NamedTuple):
    """What is compared with what."""

    words: Sequence[str] = ()
    """Two campaigns, the older one first; or two candidates, after the campaign that has them or of the newest one.
    Without the second candidate the next one, without both the first two.
    """
    match: Sequence[str] = ()
    """`OLD=NEW`, with two campaigns: the candidates to compare with each other."""


class CandidatePair(NamedTuple):
    """Two candidates of one campaign, compared."""

    view: CampaignView
    base: str
    other: str
    comparisons: dict[str, Comparison]
    """By case: the ratio of the other's time to the base's."""


ComparedPair = CandidatePair | CampaignPair


def compare(request: CompareRequest, progress: Progress = SILENT) -> ComparedPair:
    """Compare two candidates, or two campaigns.

    Raises RankbenchError for what is no campaign or candidate, or has no case with values of both.
    """
    words = [word for word in request.words if word]
    named = list(itertools.takewhile(names_campaign, words[:2]))
    rest = words[len(named) :]
    if len(named) == 2 and not rest:
        with progress.show_status(f"comparing {named[0]} and {named[1]} …"):
            return compare_campaigns(Path(named[0]), Path(named[1]), parse_pairs(request.match))
    if len(named) == 2 or len(rest) > 2 or any("/" in word and Path(word).parent.is_dir() for word in rest):
        raise RankbenchError(explain_words(words))
    if request.match:
        raise RankbenchError("--match is for two campaigns; name their folders, the older one first")
    return compare_candidates(Path(named[0]) if named else None, *[*rest, "", ""][:2])


def names_campaign(text: str) -> bool:
    """Return whether a text names a campaign, by its folder or by its name below the results."""
    return is_campaign(find_campaign(Path(text)))


def explain_words(words: Sequence[str]) -> str:
    """Return the error for words that are neither two campaigns nor a campaign and two candidates."""
    return (
        f"{'; '.join(map(describe_word, words))}: compare takes two campaigns "
        "(OLD NEW), or two candidates, after the campaign that has them or of the newest one (CAMPAIGN mpich openmpi)"
    )


def describe_word(word: str) -> str:
    """Return whether a word names a campaign."""
    if names_campaign(word):
        return f"{word} is a campaign"
    return f"{word} is no campaign ({'it has no campaign.json' if Path(word).is_dir() else 'no such folder'})"


def compare_campaigns(old: Path, new: Path, match: dict[str, str]) -> CampaignPair:
    """Compare a campaign with an older one. Raises RankbenchError if they have no case in common."""
    campaign_pair = hold(open_current(old), open_current(new), match)
    if not campaign_pair.comparison.changes:
        raise RankbenchError(f"{old} and {new} have no case of the same candidate with values in both")
    return campaign_pair


def compare_candidates(folder: Path | None, base: str, other: str) -> CandidatePair:
    """Compare two candidates of one campaign; empty: those that come first.

    Raises RankbenchError for unknown candidates, and if no case has values of both.
    """
    opened = open_current(folder)
    base, other = pair(opened.campaign, base, other)
    view = evaluate(opened)
    by_case = list_comparisons(view, base, other)
    if not by_case:
        raise RankbenchError(f"campaign {opened.campaign.name}: no case has values of both {base} and {other}")
    return CandidatePair(view, base, other, by_case)


def pair(campaign: Campaign, base: str, other: str) -> tuple[str, str]:
    """Return the names of the two candidates. Raises RankbenchError if there are no two, or a name is not known."""
    names = [candidate.name for candidate in campaign.candidates if not candidate.control_of]
    first = find_candidate(campaign, base) if base else names[0]
    second = find_candidate(campaign, other) if other else next((name for name in names if name != first), "")
    if not second:
        raise RankbenchError(f"campaign {campaign.name} has one candidate only, {first}; nothing to compare it with")
    if first == second:
        raise RankbenchError(f"{base} and {other} are the same candidate; name two{suggestion('', names)}")
    return first, second


def find_candidate(campaign: Campaign, word: str) -> str:
    """Return the name of a candidate. Raises RankbenchError, which mentions a campaign with a similar name."""
    try:
        return resolve(campaign, word)
    except RankbenchError as error:
        near = find_similar(results_folder() / word)
        raise RankbenchError(f"{error}; campaigns: did you mean {near[0]}?" if near else str(error)) from None


def list_comparisons(view: CampaignView, base: str, other: str) -> dict[str, Comparison]:
    """Return the comparisons of two candidates by case, inverted if necessary."""
    by_case = {}
    for comparison in (*view.verdict.comparisons, *view.verdict.control):
        if (comparison.base, comparison.other) == (base, other):
            by_case[comparison.case] = comparison
        elif (comparison.base, comparison.other) == (other, base):
            by_case[comparison.case] = invert(comparison)
    return by_case


def describe_control(comparisons: list[Comparison]) -> str:
    """Return the result of the A/A control."""
    if not comparisons:
        return "Noise check: none in this campaign; `control = true` in the plan shows how far to trust the ratios."
    return (
        f"Noise check: {comparisons[0].base}, measured twice, differs from itself in "
        f"{sum(comparison.different for comparison in comparisons)} of "
        f"{spell_count(len(comparisons), 'case')}."
    )
