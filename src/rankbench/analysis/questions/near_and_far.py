"""How candidates compare over all cases while cores are near each other, and while they are far. Pure.

Second modes of times that occur while cores are far are the machine's, not a library's.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from rankbench.analysis.questions.block_ratios import Numbers, Overall, average_logs, decide_overall, tabulate_pairs
from rankbench.analysis.questions.overall import Answer, weigh_cases
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.decision import Estimate
from rankbench.analysis.statistics.looks import Penalty
from rankbench.analysis.statistics.pairing import pair_visits
from rankbench.analysis.statistics.references import find_levels

COINCIDES = 0.5
"""Correlation, over visits, of being slow with being far, above which a mode is one of the machine."""
NEAR, FAR = "near", "far"


class State(NamedTuple):
    """The ratios to the fastest at one level of the reference."""

    level: str
    share: float
    """Of the visits at either level."""
    blocks: int
    ratios: dict[str, Overall]


def compare_states(view: CampaignView, answer: Answer, penalty: Penalty) -> list[State]:
    """Return both states; nothing where there is only one, or no ratio depends significantly on it, by more than the
    threshold.
    """
    frames = {name: _list_visits(view, answer.best, name, answer.cases) for name in answer.ratios}
    frames = {name: frame for name, frame in frames.items() if not frame.is_empty()}
    both = {name: of for name, frame in frames.items() if (of := _estimate_both(view, frame, answer.cases))}
    if not any(
        decision.different
        for decision in decide_overall(view, [_estimate_difference(*of) for of in both.values()], penalty, 0)
    ):
        return []
    ratios = [decide_overall(view, at_level, penalty, 0) for at_level in zip(*both.values(), strict=True)]
    every = pl.concat([frames[name] for name in both])
    return [
        State(
            name,
            every.filter(pl.col("level") == name).height / every.height,
            every.filter(pl.col("level") == name)["block"].n_unique(),
            dict(zip(both, map(Overall.of, ratio), strict=True)),
        )
        for name, ratio in zip((NEAR, FAR), ratios, strict=True)
    ]


def _list_visits(view: CampaignView, base: str, other: str, cases: Collection[str]) -> pl.DataFrame:
    """Return the log ratios of visits in which both were at the same level: case, block, level and log."""
    frame = pl.DataFrame(schema={"case": pl.String, "block": pl.Int32, "level": pl.String, "log": pl.Float64})
    if "visit_hop_ns" not in view.judged_values.columns:
        return frame
    for placement in view.campaign.plan.placements:
        keys = [key for key in cases if view.case_of[key].placement == placement.name]
        launch_values = view.judged_values.filter(pl.col("case").is_in(keys))
        at = find_levels(launch_values["visit_hop_ns"].explode().drop_nulls().to_list())
        if at:
            hop = (pl.col("hop_ns") * pl.col("hop_ns_other")).sqrt()
            level = pl.when(hop <= at.nearest_ns).then(pl.lit(NEAR)).when(hop >= at.farthest_ns).then(pl.lit(FAR))
            visits = pair_visits(launch_values, [(base, other)]).filter(
                pl.col("hop_ns") > 0, pl.col("hop_ns_other") > 0
            )
            known = visits.with_columns(level=level).drop_nulls("level").select(frame.columns)
            frame = pl.concat([frame, known.cast(frame.schema)])
    return frame


def _estimate_both(view: CampaignView, visits: pl.DataFrame, cases: Sequence[str]) -> tuple[Estimate, Estimate] | None:
    """Return the mean log ratio near and far over the cases that have both; nothing where either has no error."""
    medians = visits.group_by("case", "block", "level").agg(pl.col("log").median())
    blocks = visits["block"].unique().sort()
    tables: list[Numbers] = [
        tabulate_pairs(medians.filter(pl.col("level") == level), cases, blocks) for level in (NEAR, FAR)
    ]
    shared = np.flatnonzero(np.logical_and.reduce([~np.isnan(table).all(axis=0) for table in tables]))
    if not len(shared):
        return None
    weighed = weigh_cases(view, [cases[place] for place in shared.tolist()])
    columns = [list(cases).index(key) for key in weighed]
    near, far = (average_logs(table[:, columns], np.array([*weighed.values()])) for table in tables)
    return (near, far) if near.degrees and far.degrees else None


def _estimate_difference(near: Estimate, far: Estimate) -> Estimate:
    """Return the difference of the log ratios far and near."""
    error = math.hypot(near.error, far.error)
    return Estimate(far.mean - near.mean, error, min(near.degrees, far.degrees))


def has_second_mode(view: CampaignView, case: str, name: str) -> bool:
    """Return whether the times of a candidate have a further mode that repeats over launches."""
    return any(mode.repeats for mode in view.modes.get((case, name), [])[1:])


def follows_level(view: CampaignView, case: str, name: str) -> bool:
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


def list_level_modes(view: CampaignView) -> list[str]:
    """Return the cases in which a candidate has such a mode."""
    return [
        case
        for case in view.case_of
        if any(has_second_mode(view, case, name) and follows_level(view, case, name) for name in view.candidates)
    ]
