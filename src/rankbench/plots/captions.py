"""Titles and subtitles: how the values of a chart were measured."""

from __future__ import annotations

from collections.abc import Sequence

from rankbench.analysis.evaluation import scales
from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.scaling import Site
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.launch_values import TRIMMED
from rankbench.language import render, say
from rankbench.model import NOT_REPORTED, Case, Summary
from rankbench.model.verdicts import LEAST_COVERAGE
from rankbench.quantities import spell_count

ROUNDING = 1e-9
TOO_FEW = "too few for intervals"
"""Behind the number of launches."""


def describe_conditions(view: CampaignView, interval: str = "", start: str = "") -> str:
    """Return a subtitle: ranks, placement, start synchronisation, launches, the interval."""
    case = view.cases[0]
    summaries = [at for _, summary in view.list_shown_summaries() for at in summary.list_levels()]
    launches = sorted({summary.launches for summary in summaries})
    place = f"{case.placement}{warn_oversubscription(view, case)}"
    where = render(
        say("{n:count rank} ({place})" if case.ranks else "number of ranks not reported", n=case.ranks, place=place)
    )
    setting = ", ".join(filter(None, [where, start or _describe_start(view.cases)]))
    if not launches:
        return f"{setting}, no launch that counts"
    counts = describe_launches(launches, view.campaign.plan.estimator)
    return f"{setting}, {counts}, {interval or describe_coverage(view, summaries)}"


def _describe_start(cases: Sequence[Case]) -> str:
    """Return how calls of cases start; empty where nobody says it, as of programs."""
    names = dict.fromkeys(case.start for case in cases if case.start != NOT_REPORTED)
    return render(say("start: {names}", names=" or ".join(names))) if names else ""


def describe_launches(launches: Sequence[int], estimator: str = "median") -> str:
    """Return the number of launches, given in rising order, and the estimator if it is not the median."""
    several = f"{launches[0]} to {launches[-1]} launches"
    counted = several if len(launches) > 1 else spell_count(launches[0], "launch")
    if estimator == "median":
        return f"{counted} each"
    return f"{counted} each by its {estimator}"


def describe_coverage(view: CampaignView, summaries: Sequence[Summary]) -> str:
    """Return the level that all intervals have that are shown, or why there are none. Many have more: that of a median
    goes from one launch to another.
    """
    if not any(summary.coverage for summary in summaries):
        return explain_missing_intervals(view)
    coverage = min((each.coverage for each in summaries if each.coverage >= LEAST_COVERAGE), default=0.0)
    if not coverage:
        return TOO_FEW
    wanted = view.campaign.plan.confidence
    if coverage >= wanted - ROUNDING:
        return render(say("{percent:.3g}% intervals", percent=100 * wanted))
    return render(
        say(
            "{percent:.3g}% intervals (too few launches for {wanted:.3g}%)", percent=100 * coverage, wanted=100 * wanted
        )
    )


def warn_oversubscription(view: CampaignView, case: Case) -> str:
    """Return the warning of a placement with more ranks on a node than it has cores; empty: it has enough."""
    places = [place for place in view.campaign.plan.placements if place.name == case.placement]
    return (
        scales.describe_oversubscription(Site(places[0].nodes, places[0].ranks_per_node), view.campaign)
        if places
        else ""
    )


def explain_missing_intervals(view: CampaignView) -> str:
    """Return why there are no intervals over launches, or which interval is shown for a single launch."""
    planned = view.campaign.plan
    if planned.estimator != TRIMMED:
        return TOO_FEW
    return render(
        say(
            "with MPIPerf's {confidence:.0%} interval of the samples within it, not of the next launch",
            confidence=planned.confidence,
        )
    )


def make_initials(names: Sequence[str]) -> dict[str, str]:
    """Return the shortest capital beginnings that distinguish names; letters in order where three characters do not."""
    for length in (1, 2, 3):
        short = [name[:length].upper() for name in names]
        if len(set(short)) == len(names):
            return dict(zip(names, short, strict=True))
    return {name: chr(ord("A") + index % 26) for index, name in enumerate(names)}


def describe_common(view: CampaignView, summaries: Sequence[Summary]) -> str:
    """Return what holds of all placements: start, launches, the interval."""
    launches = sorted({summary.launches for summary in summaries})
    known = any(summary.coverage for summary in summaries)
    interval = describe_coverage(view, summaries) if known else TOO_FEW
    return ", ".join(filter(None, [_describe_start(view.cases[:1]), describe_launches(launches), interval]))


def make_title(name: str, measure: Measure) -> str:
    """Return the title of a chart or table: a name and what is measured, without repeating a word."""
    return f"{name}: {heading(measure).removeprefix(f'{measure.name} in ' if name.startswith(measure.name) else '')}"


def heading(measure: Measure) -> str:
    """Return what the axis of one operation shows."""
    names = {"time": "time per call", "latency": "latency (half a round trip)"}
    return names.get(measure.name, measure.heading)
