"""Launches of one candidate scatter far more than those of all others in the same blocks.

Why: Then it is the library and not the machine: it decides something anew in each launch, such as memory,
connections or threads.

What to do: Look at the launches one by one, bind ranks and helper threads, and compare the worst launches too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import NamedTuple

import numpy as np
import polars as pl

from rankbench.analysis.claims.lines import Line, find_lines
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics import FINEST_SPREAD
from rankbench.analysis.statistics.contrasts import Contrast, decide_contrasts
from rankbench.analysis.statistics.references import name_level
from rankbench.analysis.statistics.shapes import Curve, Numbers, list_curves
from rankbench.language import Text, say
from rankbench.model import Finding

TITLE = "Unstable launches"
FAR = 3.0
"""Least ratio of a candidate's scatter to that of others."""
LEAST = 0.05
"""Scatter below which nothing is reported, as a share of the time."""


class Unstable(NamedTuple):
    """A candidate whose launches vary far more than those of each other candidate in a line."""

    line: Line
    candidate: str
    scatter: float
    others: float
    nearest: Contrast
    """Its scatter over the largest scatter of another candidate."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a warning per candidate that is unstable in any line."""
    unstable = find_unstable(view)
    for name in view.candidates:
        if items := [item for item in unstable if item.candidate == name]:
            yield _make_finding(view, name, items)


def find_unstable(view: CampaignView) -> list[Unstable]:
    """Return, per line, the candidates whose scatter is significantly and far larger than that of each other."""
    line_list = find_lines(view, 1)
    by_line: dict[int, dict[str, dict[int, float]]] = {}
    keys = [{size: verdict.case.key for size, verdict in line.verdicts.items()} for line in line_list]
    for curve in list_curves(select_common_level(view), keys):
        if curve.candidate in view.candidates and len(curve.blocks) > 2:
            by_line.setdefault(curve.line, {})[curve.candidate] = find_deviations(curve)
    return [
        Unstable(
            line_list[number],
            name,
            find_scatter(by_name[name]),
            max(find_scatter(by_name[other]) for other in by_name if other != name),
            least,
        )
        for (number, name), least in find_certain(by_line, view.campaign.plan.confidence).items()
        if least.ratio >= FAR and find_scatter((by_name := by_line[number])[name]) >= LEAST
    ]


def select_common_level(view: CampaignView) -> pl.DataFrame:
    """Return the values of launches, of a case with two levels of the reference those at the level that most launches
    met throughout: a launch that met the other one differs by the machine.
    """
    values = view.judged_values
    if not view.levels:
        return values
    hops = pl.col("visit_hop_ns").list
    ends = [
        values.with_columns(visit_hop_ns=end).select(name_level(view.levels)).to_series()
        for end in (hops.min(), hops.max())
    ]
    values = values.with_columns(level=pl.select(pl.when(ends[0] == ends[1]).then(ends[0])).to_series())
    most = values.drop_nulls("level").group_by("case").agg(most=pl.col("level").mode().sort().first())
    at_most = values.join(most, on="case", how="left", maintain_order="left")
    return at_most.filter(~pl.col("case").is_in(list(view.levels)) | (pl.col("level") == pl.col("most")))


def find_deviations(curve: Curve) -> dict[int, float]:
    """Return, by block, the distance of a launch from the median of all others: the mean over sizes, as a logarithm.

    A single unusual launch does not move the median of the others.
    """
    logs = curve.logs[:, (~np.isnan(curve.logs)).sum(axis=0) > 1]
    others = np.stack([np.delete(logs, row, axis=0) for row in range(len(logs))])
    far = np.abs(logs - np.nanmedian(others, axis=1))
    known = ~np.isnan(far)
    mean = np.where(known, far, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return {curve.blocks[row]: float(mean[row]) for row in np.flatnonzero(known.any(axis=1))}


def find_scatter(far: Mapping[int, float]) -> float:
    """Return the typical deviation of a launch."""
    return math.exp(float(np.mean(_take_logs(list(far.values())))))


def _take_logs(values: list[float]) -> Numbers:
    return np.log(np.hypot(values, FINEST_SPREAD))


def find_certain(
    by_line: Mapping[int, Mapping[str, Mapping[int, float]]], confidence: float
) -> dict[tuple[int, str], Contrast]:
    """Return, by line and candidate, the least ratio of its scatter to that of another, where all are significant.

    Deviations are paired within blocks, as values are: what stirs a block stirs all who are in it. Each line's scatter
    of them stands for itself, since theirs may be of any kind.
    """
    keys, moments = [], []
    for number, far in by_line.items():
        for name, other in permutations(far, 2):
            both = sorted(far[name].keys() & far[other].keys())
            logs = _take_logs([far[name][block] for block in both]) - _take_logs([far[other][block] for block in both])
            keys.append((number, name))
            moments.append((len(both), logs.mean() if len(both) else 0.0, logs.std(ddof=1) if len(both) > 1 else 0.0))
    by_key: dict[tuple[int, str], list[Contrast]] = {}
    if keys:
        count, mean, spread = np.array(moments).T
        for contrast in decide_contrasts(keys, count, mean, spread, np.zeros(len(keys)), confidence, moderate=False):
            by_key.setdefault((contrast.key[0], contrast.key[1]), []).append(contrast)
    return {
        key: min(contrasts_, key=lambda contrast: contrast.ratio)
        for key, contrasts_ in by_key.items()
        if all(contrast.sure for contrast in contrasts_)
    }


def _make_finding(view: CampaignView, name: str, items: list[Unstable]) -> Finding:
    worst = sorted(items, key=lambda item: -item.scatter)
    widest = [
        max(item.line.verdicts.values(), key=lambda verdict: _measure_width(view, verdict.case.key, name))
        for item in worst
    ]
    return Finding(
        kind="unstable",
        title=say("{name}: launches vary more than those of others", name=name),
        text=say(
            "In the same blocks, launches of {name} vary far more than those of any other candidate in {lines:and}.",
            name=name,
            lines=[_describe_scatter(view, item) for item in worst],
        ),
        advice=say(
            "The library decides something anew in each launch: memory, connections or threads. Look at single "
            "launches, bind its ranks and helper threads, and compare its worst launches too."
        ),
        cases=[verdict.case.key for verdict in widest],
        severity="warning",
        plot="distribution",
    )


def _describe_scatter(view: CampaignView, item: Unstable) -> Text:
    return say(
        "{title} (typically {scatter:ratio} off the median, others at most {others:ratio}; as logarithms "
        "{ratio:ratio}, {low:ratio} to {high:ratio})",
        title=view.title(next(iter(item.line.cases.values()))),
        scatter=math.exp(item.scatter),
        others=math.exp(item.others),
        ratio=item.nearest.ratio,
        low=item.nearest.low,
        high=item.nearest.high,
    )


def _measure_width(view: CampaignView, case: str, name: str) -> float:
    summary = view.summary_of.get((case, name))
    return summary.high_ns / summary.low_ns if summary and summary.launches else 0.0
