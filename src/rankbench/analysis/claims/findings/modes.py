"""Times have a second mode that comes again in launch after launch.

Why: Some calls take another path: credits, full queues, polling, interrupts, or a state of the machine.

What to do: If slow calls come at regular intervals, the library causes them. If they come in bursts, it is mostly the
machine: look at stolen time, frequency and other processes. If they are scattered, bind ranks, or try another
transport.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.near_and_far import follows_level, has_second_mode
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.modes import Repeated
from rankbench.language import Text, say, sentences
from rankbench.model import Finding

TITLE = "Second modes"
MOST_SHOWN = 3
"""Cases that are described."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a note per candidate some of whose cases have a further mode that repeats over launches.

    Modes that occur at one level of the reference, near or far, are the machine's (`verdict.findings.reference`).
    """
    for name in view.candidates:
        by_case = {
            case: [mode for mode in view.modes[case, name][1:] if mode.repeats]
            for case in view.case_of
            if has_second_mode(view, case, name) and not follows_level(view, case, name)
        }
        if by_case:
            yield _make_finding(view, name, by_case)


def _make_finding(view: CampaignView, name: str, by_case: dict[str, list[Repeated]]) -> Finding:
    heaviest = sorted(by_case, key=lambda case: -max(mode.mode.share for mode in by_case[case]))
    most = say(
        "In {n:count case} the times of {name} have more than one mode, launch after launch.", n=len(by_case), name=name
    )
    texts = [
        say("{case}: {modes:;}.", case=view.full_title(view.case_of[case]), modes=[mode.text for mode in by_case[case]])
        for case in heaviest[:MOST_SHOWN]
    ]
    more = (
        [say("The same holds for {n:count more case}.", n=len(by_case) - MOST_SHOWN)]
        if len(by_case) > MOST_SHOWN
        else []
    )
    return Finding(
        kind="modes",
        title=say("{name}: times have more than one mode", name=name),
        text=sentences([most, *texts, *more]),
        advice=_advise([mode for case in by_case for mode in by_case[case]]),
        cases=list(by_case),
        severity="note",
    )


def _advise(modes: list[Repeated]) -> Text:
    """Return likely causes and how to check them, by the pattern of slow samples."""
    kinds = {mode.pattern.kind for mode in modes}
    texts = [say("A mean hides this: compare percentiles.")]
    if "even" in kinds:
        texts.append(say("Slow calls at regular intervals come from the library: credits, full queues, polling."))
    if "bursts" in kinds:
        texts.append(
            say("Bursts of slow calls mostly come from the machine: check stolen time, frequency and other processes.")
        )
    if "scattered" in kinds or not kinds & {"even", "bursts"}:
        texts.append(
            say(
                "Scattered slow calls may be page faults, cache misses or interrupts: bind ranks, or try another "
                "transport."
            )
        )
    return sentences(texts)
