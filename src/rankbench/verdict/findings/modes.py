"""Times have a second mode that comes again in launch after launch.

Why: Some calls take another path: credits, full queues, polling, interrupts, or a state of the machine.

What to do: At even distances it is the library's. In bursts it is mostly the machine's: look at stolen time,
frequency and other processes. Scattered calls: bind ranks, or try another transport. Where it follows near and
far cores, compare at one level.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankbench.language import Text, say, sentences
from rankbench.model import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.statistics.modes import Repeated
    from rankbench.verdict.view import CampaignView

TITLE = "Second modes"
COINCIDES = 0.5
"""Correlation, over visits, of being slow with being far, above which a mode is one of the machine."""
TOLD = 3
"""Cases that are reported word for word."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a note per candidate some of whose cases have a further mode that repeats over launches.

    Modes that occur at one level of the reference, near or far, are the machine's: of these there is one note.
    """
    with_level: dict[str, list[str]] = {}
    for name in view.candidates:
        found = {
            case: repeated
            for case in view.case_of
            if (repeated := [one for one in view.modes.get((case, name), [])[1:] if one.repeats])
        }
        for case in [case for case in found if _follows_level(view, case, name)]:
            with_level.setdefault(case, []).append(name)
            del found[case]
        if found:
            yield _finding(view, name, found)
    if with_level:
        yield _of_the_machine(view, with_level)


def _follows_level(view: CampaignView, case: str, name: str) -> bool:
    """Return whether the slower of two modes mostly occurs while cores are far, visit by visit."""
    if case not in view.levels:
        return False
    at, modes = view.levels[case], view.modes[case, name]
    figures = view.judged_figures.filter(pl.col("case") == case, pl.col("candidate") == name)
    visits = figures.select("visit_ns", "visit_hop_ns").explode("visit_ns", "visit_hop_ns")
    near, far = pl.col("visit_hop_ns").is_between(1e-9, at.nearest_ns), pl.col("visit_hop_ns") >= at.farthest_ns
    between = math.sqrt(modes[0].mode.location_ns * modes[1].mode.location_ns)
    known = visits.filter(near | far)
    slow, distant = known.select((pl.col("visit_ns") > between).alias("slow"), far.alias("far"))
    if slow.n_unique() < 2 or distant.n_unique() < 2:
        return False
    return float(np.corrcoef(slow.to_numpy(), distant.to_numpy())[0, 1]) > COINCIDES


def _of_the_machine(view: CampaignView, found: dict[str, list[str]]) -> Finding:
    names = [name for name in view.candidates if any(name in each for each in found.values())]
    return Finding(
        kind="modes",
        title=say("Times have two modes because cores are near or far"),
        text=say(
            "In {n:count case} the samples of {names:and} have more than one mode, and the slower mode occurs while "
            "cores are far.",
            n=len(found),
            names=names,
        ),
        advice=say("Compare times at one level: a mean over both depends on how often each was met."),
        cases=list(found),
        severity="note",
    )


def _finding(view: CampaignView, name: str, found: dict[str, list[Repeated]]) -> Finding:
    heaviest = sorted(found, key=lambda case: -max(one.mode.share for one in found[case]))
    most = say(
        "In {n:count case} the samples of {name} have more than one mode, launch after launch.", n=len(found), name=name
    )
    texts = [
        say("{case}: {modes:;}.", case=view.full_title(view.case_of[case]), modes=[one.text for one in found[case]])
        for case in heaviest[:TOLD]
    ]
    more = [say("And {n:count case} more.", n=len(found) - TOLD)] if len(found) > TOLD else []
    return Finding(
        kind="modes",
        title=say("{name}: some calls take another time than most", name=name),
        text=sentences([most, *texts, *more]),
        advice=_advice([one for case in found for one in found[case]]),
        cases=list(found),
        severity="note",
    )


def _advice(modes: list[Repeated]) -> Text:
    """Return what may be behind it and what would show it, by how the slow samples follow each other."""
    kinds = {mode.pattern.kind for mode in modes}
    texts = [say("A mean hides this: compare percentiles.")]
    if "even" in kinds:
        texts.append(
            say("What comes at even distances is the library's own: credits, queues that are filled, polling.")
        )
    if "bursts" in kinds:
        texts.append(
            say("What comes in bursts is mostly the machine's: look at stolen time, frequency and other processes.")
        )
    if "scattered" in kinds or not kinds & {"even", "bursts"}:
        texts.append(
            say("Scattered calls may meet a page, a cache line or an interrupt: bind ranks, try another transport.")
        )
    return sentences(texts)
