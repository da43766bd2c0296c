"""Launches of one candidate scatter far more than those of all others in the same blocks.

Why: Then it is the library and not the machine: it decides something anew in each launch, such as memory,
connections or threads.

What to do: Look at the launches one by one, bind ranks and helper threads, and compare the worst launches too.
"""

from __future__ import annotations

import math
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankbench.language import Text, say
from rankbench.model import Finding
from rankbench.statistics import FINEST_SPREAD
from rankbench.statistics.contrasts import Contrast, contrasts
from rankbench.statistics.shapes import curves
from rankbench.verdict.lines import Line, find_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankbench.statistics.shapes import Curve, Numbers
    from rankbench.verdict.view import CampaignView

TITLE = "Unstable launches"
FAR = 3.0
"""How often the scatter of others a candidate's must be."""
LEAST = 0.05
"""Scatter below which nothing is said, as a share of the time."""


class Unstable(NamedTuple):
    """A candidate whose launches scatter far more than those of each other one in a line."""

    line: Line
    candidate: str
    scatter: float
    others: float
    nearest: Contrast
    """Its scatter over that of the other that scatters most."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a warning per candidate that is unstable in any line."""
    found = unstable(view)
    for name in view.candidates:
        if own := [one for one in found if one.candidate == name]:
            yield _finding(view, name, own)


def unstable(view: CampaignView) -> list[Unstable]:
    """Return, per line, the candidates that surely scatter more than each of the others, and far more."""
    asked = find_lines(view, 1)
    by_line: dict[int, dict[str, dict[int, float]]] = {}
    keys = [{size: verdict.case.key for size, verdict in line.verdicts.items()} for line in asked]
    for curve in curves(view.judged_figures, keys):
        if curve.candidate in view.candidates and len(curve.blocks) > 2:
            by_line.setdefault(curve.line, {})[curve.candidate] = deviations(curve)
    return [
        Unstable(
            asked[number], name, scatter(own[name]), max(scatter(own[other]) for other in own if other != name), least
        )
        for (number, name), least in sure(by_line, view.campaign.plan.confidence).items()
        if least.ratio >= FAR and scatter((own := by_line[number])[name]) >= LEAST
    ]


def deviations(curve: Curve) -> dict[int, float]:
    """Return, by block, how far a launch is from the middle one of all others: the mean over the sizes, as a logarithm.

    The others' median, and not the mean, is what one lone launch cannot move.
    """
    logs = curve.logs[:, (~np.isnan(curve.logs)).sum(axis=0) > 1]
    others = np.stack([np.delete(logs, row, axis=0) for row in range(len(logs))])
    far = np.abs(logs - np.nanmedian(others, axis=1))
    known = ~np.isnan(far)
    mean = np.where(known, far, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return {curve.blocks[row]: float(mean[row]) for row in np.flatnonzero(known.any(axis=1))}


def scatter(far: Mapping[int, float]) -> float:
    """Return the typical deviation of a launch."""
    return math.exp(float(np.mean(_logs(list(far.values())))))


def _logs(values: list[float]) -> Numbers:
    return np.log(np.hypot(values, FINEST_SPREAD))


def sure(
    by_line: Mapping[int, Mapping[str, Mapping[int, float]]], confidence: float
) -> dict[tuple[int, str], Contrast]:
    """Return, by line and candidate, the least ratio of its scatter to that of another, where all are sure.

    Deviations are paired within blocks, as figures are: what stirs a block stirs all who are in it. Each line's scatter
    of them stands for itself, since theirs may be of any kind.
    """
    keys, moments = [], []
    for number, far in by_line.items():
        for name, other in permutations(far, 2):
            both = sorted(far[name].keys() & far[other].keys())
            logs = _logs([far[name][block] for block in both]) - _logs([far[other][block] for block in both])
            keys.append((number, name))
            moments.append((len(both), logs.mean() if len(both) else 0.0, logs.std(ddof=1) if len(both) > 1 else 0.0))
    found: dict[tuple[int, str], list[Contrast]] = {}
    if keys:
        count, mean, spread = np.array(moments).T
        for contrast in contrasts(keys, count, mean, spread, np.zeros(len(keys)), confidence, moderate=False):
            found.setdefault((contrast.key[0], contrast.key[1]), []).append(contrast)
    return {key: min(own, key=lambda one: one.ratio) for key, own in found.items() if all(one.sure for one in own)}


def _finding(view: CampaignView, name: str, found: list[Unstable]) -> Finding:
    worst = sorted(found, key=lambda one: -one.scatter)
    widest = [
        max(one.line.verdicts.values(), key=lambda verdict: _width(view, verdict.case.key, name)) for one in worst
    ]
    return Finding(
        kind="unstable",
        title=say("{name}: launches differ more than those of others", name=name),
        text=say(
            "In the same blocks, launches of {name} scatter far more than those of any other candidate in {lines:and}.",
            name=name,
            lines=[_told(view, one) for one in worst],
        ),
        advice=say(
            "Something is decided anew in each launch of this library: memory, connections, threads. Look at the "
            "launches one by one, bind its ranks and helper threads, and compare its worst launches, too."
        ),
        cases=[verdict.case.key for verdict in widest],
        severity="warning",
        plot="launches",
    )


def _told(view: CampaignView, one: Unstable) -> Text:
    return say(
        "{title} (typically {own:.1%} off the middle, the others {others:.1%} at most: {ratio:ratio}, {low:ratio} to "
        "{high:ratio})",
        title=view.title(next(iter(one.line.cases.values()))),
        own=math.expm1(one.scatter),
        others=math.expm1(one.others),
        ratio=one.nearest.ratio,
        low=one.nearest.low,
        high=one.nearest.high,
    )


def _width(view: CampaignView, case: str, name: str) -> float:
    summary = view.summary_of.get((case, name))
    return summary.high_ns / summary.low_ns if summary and summary.launches else 0.0
