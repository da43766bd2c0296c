"""The gate of a new campaign against the typical values of many earlier ones of the same cases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from rankbench.across import conditions, gate, trend
from rankbench.across.gate import Check, Ratio, Ruling
from rankbench.across.trend import Past, Track
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.statistics.pairing import pair_logs
from rankbench.analysis.statistics.prediction import FEWEST_PAST, LAST, Prediction, predict
from rankbench.analysis.statistics.rounding import find_offsets
from rankbench.language import NOTHING, say
from rankbench.model import Campaign, RankbenchError
from rankbench.store import Store

Key = tuple[str, str]


class Nightly(NamedTuple):
    """What came of a gate against earlier campaigns."""

    checks: list[Check]
    past: int
    """Earlier campaigns."""
    reference: str
    """The candidate that times are divided by; empty: none."""
    unchecked: int
    """Cases of the new campaign that the one before it does not have."""


def nightly(
    new: Store, earlier: Sequence[Store], last: int = LAST, reference: str = "", threshold: float | None = None
) -> Nightly:
    """Return the checks of a campaign against the `last` ones made before it.

    Times are divided by those of the reference candidate in the same campaign, if there is one: the plan's baseline
    unless another is named. The threshold is the plan's, without a reference 5% at least, unless one is given.
    """
    stores = select_earlier(new, earlier, last)
    campaign = new.campaign
    base = conditions.resolve(campaign, reference) if reference else campaign.baseline
    least = campaign.plan.threshold if base else max(campaign.plan.threshold, gate.UNPAIRED)
    predicted = _predict(stores, base, least if threshold is None else threshold)
    checks = _checks(stores, base, predicted, least if threshold is None else threshold)
    before = {case.key for case in stores[-2].campaign.cases}
    return Nightly(checks, len(stores) - 1, base, sum(case.key not in before for case in campaign.cases))


def select_earlier(new: Store, earlier: Sequence[Store], last: int) -> list[Store]:
    """Return the last campaigns with cases of the new one made before it, in order of time, and the new one.

    Raises RankbenchError if they are too few for a prediction.
    """
    moment, cases = trend.parse_created(new.campaign), {case.key for case in new.campaign.cases}
    older = sorted(
        (
            store
            for store in earlier
            if trend.parse_created(store.campaign) < moment and any(case.key in cases for case in store.campaign.cases)
        ),
        key=lambda store: trend.parse_created(store.campaign),
    )[-last:]
    if len(older) < FEWEST_PAST:
        raise RankbenchError(
            f"--history has {len(older)} campaigns with cases of {new.campaign.name} and made before it; "
            f"a prediction needs {FEWEST_PAST} or more"
        )
    return [*older, new]


def _predict(stores: Sequence[Store], base: str, threshold: float) -> dict[Key, Prediction]:
    """Return a prediction for each case and candidate of the new campaign that has enough earlier values."""
    newest = stores[-1].campaign
    frames = [trend.read_launch_values(store, newest.plan.estimator) for store in stores]
    pasts = [trend.past_of(store, store.campaign.name, frame) for store, frame in zip(stores, frames, strict=True)]
    tracks = trend.follow_candidates(pasts)
    bases = _bases(pasts, tracks, base)
    series: dict[Key, list[float]] = {}
    for track in (track for track in tracks if track.names.get(len(stores) - 1, base) != base):
        logs_of = [
            compute_typical_logs(frames[place], track.names.get(place, ""), bases.get(place, "") if base else None)
            for place in range(len(stores))
        ]
        for case in newest.cases:
            series[case.key, track.names[len(stores) - 1]] = [
                values.get(case.key, math.nan) if case in past.campaign.cases else math.nan
                for values, past in zip(logs_of, pasts, strict=True)
            ]
    logs = {key: np.array([log for log in values[:-1] if not math.isnan(log)]) for key, values in series.items()}
    enough = [key for key, values in series.items() if len(logs[key]) >= FEWEST_PAST and not math.isnan(values[-1])]
    now = np.array([series[key][-1] for key in enough])
    offsets = _find_offsets(frames, tracks, bases if base else {}, enough)
    forecasts = predict([logs[key] for key in enough], now, threshold, newest.plan.confidence, offsets)
    return dict(zip(enough, forecasts, strict=True))


def _find_offsets(
    frames: Sequence[pl.DataFrame], tracks: Sequence[Track], bases: Mapping[int, str], keys: Sequence[Key]
) -> list[float]:
    """Return how far the new value over the earlier ones may be from the truth, where tools printed values rounded."""
    newest = len(frames) - 1
    names = {track.names[newest]: track.names for track in tracks if newest in track.names}
    at = [
        find_offsets(frame, [(case, bases.get(place, ""), names[who].get(place, "")) for case, who in keys])
        for place, frame in enumerate(frames)
    ]
    return [now + max(earlier, default=0.0) for *earlier, now in zip(*at, strict=True)]


def _bases(pasts: Sequence[Past], tracks: Sequence[Track], base: str) -> dict[int, str]:
    """Return the reference's name by the campaign's place, where it is of the same version as in the new one."""
    newest = len(pasts) - 1
    names = next((track.names for track in tracks if base and track.names.get(newest) == base), {})
    versions = {place: _version(pasts[place].campaign, name) for place, name in names.items()}
    return {place: name for place, name in names.items() if versions[place] == versions[newest]}


def _version(campaign: Campaign, name: str) -> str:
    return conditions.library(campaign, name).version


def compute_typical_logs(launch_values: pl.DataFrame, name: str, base: str | None) -> dict[str, float]:
    """Return the logarithm of a candidate's typical value by case: its median over launches.

    With a base it is the median over blocks of the ratios to it, which are paired within blocks and visits.
    """
    if base is None:
        frame = launch_values.filter(pl.col("candidate") == name, pl.col("figure_ns") > 0)
        logs = frame.select("case", log=pl.col("figure_ns").log())
    else:
        logs = pair_logs(launch_values, [(base, name)])
    return dict(logs.group_by("case").agg(pl.col("log").median()).iter_rows())


def _checks(stores: Sequence[Store], base: str, predicted: dict[Key, Prediction], threshold: float) -> list[Check]:
    """Return a check of everything that had a value in the campaign before the new one."""
    then, now = (evaluate(store) for store in stores[-2:])
    partners = {match.old: match.new for match in conditions.match_candidates(then.campaign, now.campaign, {})}
    checks = []
    for case, name, summary in gate.list_measured(then, conditions.candidates(then.campaign)):
        who = partners.get(name, name)
        current = gate.summary_of(now, case, who) if case in now.campaign.cases else None
        lost = gate.find_loss(summary, current, now.campaign.name)
        if who == base and not lost:
            continue  # Its ratio to itself is 1.
        ruling = lost or _rule_on_prediction(
            predicted.get((case.key, who)), base, threshold, memory=case.quantity == "memory"
        )
        checks.append(gate.check(now if current else then, case, who, ruling, current))
    if not checks:
        raise RankbenchError(f"{then.campaign.name} has no values; nothing to gate")
    return checks


def _rule_on_prediction(prediction: Prediction | None, base: str, threshold: float, *, memory: bool) -> Ruling:
    if prediction is None:
        few = say("fewer than {n} earlier campaigns have this value", n=FEWEST_PAST)
        return Ruling("skipped", few, say("Run more campaigns, or name more by --history."))
    ratio = Ratio(prediction.ratio, prediction.low, prediction.high, prediction.p_adjusted, enough=True, memory=memory)
    text = say(
        "{verb} {ratio} the mean of {n} earlier campaigns",
        verb="needs" if memory else "takes",
        ratio=ratio.text,
        n=prediction.past,
    )
    if base:
        text = say("{text}, relative to {base}", text=text, base=base)
    pinned = "A pinned reference library (--reference) gives narrower intervals."
    return gate.rule(ratio, threshold, text, NOTHING if base else say(pinned))
