"""Times with a second hump that comes again launch after launch: some calls take another way through the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.model import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.statistics.modes import Repeated
    from rankbench.verdict.evidence import Evidence

TITLE = "Second modes"
TOLD = 3
"""Cases that are told word for word."""


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yield a note per candidate some of whose cases have a further mode that repeats over launches."""
    for name in evidence.names:
        found = {
            case: repeated
            for case in evidence.case
            if (repeated := [one for one in evidence.modes.get((case, name), [])[1:] if one.repeats])
        }
        if found:
            yield _finding(evidence, name, found)


def _finding(evidence: Evidence, name: str, found: dict[str, list[Repeated]]) -> Finding:
    heaviest = sorted(found, key=lambda case: -max(one.mode.share for one in found[case]))
    most = say(
        "In {n:count case} the samples of {name} have more than one mode, launch after launch.", n=len(found), name=name
    )
    told = [
        f"{evidence.full_title(evidence.case[case])}: {'; '.join(one.told for one in found[case])}."
        for case in heaviest[:TOLD]
    ]
    more = [say("And {n:count case} more.", n=len(found) - TOLD)] if len(found) > TOLD else []
    return Finding(
        kind="modes",
        title=say("{name}: some calls take another time than most", name=name),
        text=" ".join([most, *told, *more]),
        advice=_advice([one for case in found for one in found[case]]),
        cases=list(found),
        severity="note",
    )


def _advice(modes: list[Repeated]) -> str:
    """Return what may be behind it and what would show it, by how the slow samples follow each other."""
    kinds = {one.pattern.kind for one in modes}
    said = [say("A mean hides this: compare percentiles.")]
    if "even" in kinds:
        said.append(say("What comes at even distances is the library's own: credits, queues that are filled, polling."))
    if "bursts" in kinds:
        said.append(
            say("What comes in bursts is mostly the machine's: look at stolen time, frequency and other processes.")
        )
    if "scattered" in kinds or not kinds & {"even", "bursts"}:
        said.append(
            say("Scattered calls may meet a page, a cache line or an interrupt: bind ranks, try another transport.")
        )
    return " ".join(said)
