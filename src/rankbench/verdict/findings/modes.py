"""Times have a second mode that comes again in launch after launch.

Why: Some calls take another path: credits, full queues, polling, interrupts, or a state of the machine.

What to do: If slow calls come at regular intervals, the library causes them. If they come in bursts, it is mostly the
machine: look at stolen time, frequency and other processes. If they are scattered, bind ranks, or try another
transport. Where they follow near and far cores, compare at one level.
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
MOST_SHOWN = 3
"""Cases that are described."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a note per candidate some of whose cases have a further mode that repeats over launches.

    Modes that occur at one level of the reference, near or far, are the machine's: of these there is one note.
    """
    with_level: dict[str, list[str]] = {}
    for name in view.candidates:
        by_case = {
            case: repeated
            for case in view.case_of
            if (repeated := [mode for mode in view.modes.get((case, name), [])[1:] if mode.repeats])
        }
        for case in [case for case in by_case if _follows_level(view, case, name)]:
            with_level.setdefault(case, []).append(name)
            del by_case[case]
        if by_case:
            yield _make_finding(view, name, by_case)
    if with_level:
        yield _make_machine_finding(view, with_level)


def _follows_level(view: CampaignView, case: str, name: str) -> bool:
    """Return whether the slower of two modes mostly occurs while cores are far, visit by visit."""
    if case not in view.levels:
        return False
    at, modes = view.levels[case], view.modes[case, name]
    launch_values = view.judged_values.filter(pl.col("case") == case, pl.col("candidate") == name)
    visits = launch_values.select("visit_ns", "visit_hop_ns").explode("visit_ns", "visit_hop_ns")
    near, far = pl.col("visit_hop_ns").is_between(1e-9, at.nearest_ns), pl.col("visit_hop_ns") >= at.farthest_ns
    between = math.sqrt(modes[0].mode.location_ns * modes[1].mode.location_ns)
    known = visits.filter(near | far)
    slow, distant = known.select((pl.col("visit_ns") > between).alias("slow"), far.alias("far"))
    if slow.n_unique() < 2 or distant.n_unique() < 2:
        return False
    return float(np.corrcoef(slow.to_numpy(), distant.to_numpy())[0, 1]) > COINCIDES


def _make_machine_finding(view: CampaignView, by_case: dict[str, list[str]]) -> Finding:
    names = [name for name in view.candidates if any(name in each for each in by_case.values())]
    return Finding(
        kind="modes",
        title=say("Times have two modes because cores are near or far"),
        text=say(
            "In {n:count case} the times of {names:and} have more than one mode, and the slower one occurs while "
            "cores are far.",
            n=len(by_case),
            names=names,
        ),
        advice=say("Compare times at one level: a mean over both depends on how often each occurred."),
        cases=list(by_case),
        severity="note",
    )


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
