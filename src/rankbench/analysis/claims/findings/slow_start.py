"""A library's MPI_Init takes half a second or more in every launch, longer than that of another or for a known reason.

Why: Every program that is started with this library waits as long, and so does every block of a campaign. Some
libraries look for devices that a machine does not have, or wait for a fixed time.

What to do: Set what the finding names, in a candidate of its own. The operation `init` measures MPI_Init more exactly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import NOTHING, Text, Words, say
from rankbench.libraries.families import list_families
from rankbench.model import Finding, LaunchStatus

TITLE = "Slow start"
LEAST_S = 0.5
"""Least distance between the fastest launch of a candidate and the slowest one of another, or from 0 if the library's
check shows a reason.
"""
FEWEST = 3
"""Least number of launches of each."""
PART = "init"
"""The part of a launch's time: MPI_Init on rank 0."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a note for each candidate all of whose launches start much later than all of another, or late for a known
    reason.
    """
    for placement in view.campaign.plan.placements:
        start_s = list_starts(view, placement.name)
        quickest = min(start_s, key=lambda name: max(start_s[name]), default="")
        for candidate, times_s in start_s.items():
            why = _explain(view, candidate, placement.name)
            later = min(times_s) - max(start_s[quickest]) >= LEAST_S
            if later or (why and min(times_s) >= LEAST_S):
                compared = _compare(quickest, start_s) if later else NOTHING
                yield _make_finding(candidate, placement.name, times_s, compared, why)


def list_starts(view: CampaignView, placement: str) -> dict[str, list[float]]:
    """Return the times of MPI_Init in seconds, in good launches of each candidate that has enough of them."""
    twins = {candidate.name for candidate in view.campaign.candidates if candidate.control_of}
    start_s: defaultdict[str, list[float]] = defaultdict(list)
    for launch in view.launches:
        measured = launch.placement == placement and launch.status == LaunchStatus.OK and PART in launch.spent_s
        if measured and launch.candidate not in twins:
            start_s[launch.candidate].append(launch.spent_s[PART])
    return {candidate: times_s for candidate, times_s in start_s.items() if len(times_s) >= FEWEST}


def _compare(quickest: str, start_s: dict[str, list[float]]) -> Text:
    """Return the times of the candidate that starts first."""
    return say(
        "that of {other} {least:time} to {most:time}",
        other=quickest,
        least=1e9 * min(start_s[quickest]),
        most=1e9 * max(start_s[quickest]),
    )


def _make_finding(candidate: str, placement: str, times_s: list[float], compared: Text, why: Words) -> Finding:
    took = say(
        "MPI_Init of {candidate} took {low:time} to {high:time} in {n:count launch} on {placement}",
        candidate=candidate,
        placement=placement,
        low=1e9 * min(times_s),
        high=1e9 * max(times_s),
        n=len(times_s),
    )
    return Finding(
        kind="slow_start",
        title=say("{candidate} {candidate:of starts|start} slowly", candidate=candidate),
        text=say(
            "{facts:,}. {rest: }",
            facts=[fact for fact in (took, compared) if fact],
            rest=[sentence for sentence in (say("Times of calls do not include it."), why) if sentence],
        ),
        advice=say(
            "Every program waits for it. The operation init measures it more exactly; a candidate with other "
            "settings shows whether they help."
        ),
        cases=[],
        severity="note",
    )


def _explain(view: CampaignView, candidate: str, placement: str) -> Words:
    """Return what the library's check shows about its start."""
    library_of = {each.name: each.library for each in view.campaign.candidates}
    family_of = {library.name: library.family for library in view.campaign.libraries}
    family = list_families().get(family_of.get(library_of.get(candidate, ""), ""))
    uses = (usage.uses for usage in view.campaign.usage if (usage.candidate, usage.placement) == (candidate, placement))
    return family.explain_slow_start(next(uses, {})) if family else ""
