"""Two campaigns compared while cores are near and while they are far. Pure: frames in, records out.

Where the reference has two levels (`references`), a library takes another time at each, so that a campaign that met far
cores more often takes longer without any change of a library. So launches are compared by their visits
at one level. A level counts for which either side has launches enough; all levels are in one correction.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from rankbench.analysis.statistics import CONFIDENCE, rounding
from rankbench.analysis.statistics.references import Levels
from rankbench.analysis.statistics.unpaired import FEWEST_LAUNCHES, Unpaired, compare_unpaired

NAMES = ("near", "far")
COLUMNS = ("case", "candidate", "figure_ns", "rounding")
SEPARATOR = "\n"
"""Between a case and its level; no case has one in its key."""
Key = tuple[str, str, str]


class AtLevels(NamedTuple):
    """What a candidate takes now over what it took then, as a whole and at each level that both campaigns met."""

    overall: Unpaired
    levels: dict[str, Unpaired] | None = None
    """Near before far; empty where no level is known of both; None where the case has one level only."""


def compare_at_levels(
    then: pl.DataFrame,
    now: pl.DataFrame,
    pairs: Sequence[tuple[str, str]],
    threshold: float,
    confidence: float = CONFIDENCE,
    *,
    levels: Mapping[str, Levels],
) -> list[AtLevels]:
    """Compare pairs of candidates as `compare_unpaired` does, at each level of the cases that have two.

    The whole of such a case is the mean of its levels by their shares of the visits of both campaigns, with the mean of
    their intervals, which is right however its launches' levels are correlated. It is different if a level is, and none
    the other way. Without a level in common it has no interval.
    """
    if not levels:
        return [AtLevels(result) for result in compare_unpaired(then, now, pairs, threshold, confidence)]
    then, now = rounding.complete(then), rounding.complete(now)
    divided = pl.col("case").is_in(list(levels))
    parts = [_split(side.filter(divided), levels) for side in (then, now)]
    visits = _visits(parts[0], parts[1], pairs)
    old, new = (
        pl.concat([side.filter(~divided).select(COLUMNS), part.select(COLUMNS)])
        for side, part in zip((then, now), parts, strict=True)
    )
    judged = compare_unpaired(
        old, new, pairs, threshold, confidence, wanted=lambda key: SEPARATOR not in key[0] or key in visits
    )
    at = {(result.case, result.base, result.other): result for result in judged}
    wholes = compare_unpaired(then.filter(divided), now.filter(divided), pairs, threshold, confidence)
    return [
        *(AtLevels(result) for result in judged if SEPARATOR not in result.case),
        *(_combine(result, at, visits) for result in wholes),
    ]


def compute_far_share(launch_values: pl.DataFrame, levels: Mapping[str, Levels]) -> float:
    """Return the share of visits at the far level among those at either level, not a number where there is none."""
    visits = (
        _split(launch_values.filter(pl.col("case").is_in(list(levels))), levels)
        .group_by("level")
        .agg(pl.col("visits").sum())
    )
    counts = dict(visits.iter_rows())
    return counts.get("far", 0) / sum(counts.values()) if counts else math.nan


def _split(launch_values: pl.DataFrame, levels: Mapping[str, Levels]) -> pl.DataFrame:
    """Return a row for each launch and level that it met: the median of its visits, and their number."""
    nearest, farthest = (
        pl.col("case").replace_strict(
            {key: getattr(at, name) for key, at in levels.items()}, default=None, return_dtype=pl.Float64
        )
        for name in ("nearest_ns", "farthest_ns")
    )
    hop = pl.col("visit_hop_ns")
    level = pl.when(hop <= nearest).then(pl.lit("near")).when(hop >= farthest).then(pl.lit("far"))
    lists = ["visit_ns", "visit_hop_ns"]
    return (
        rounding.complete(launch_values)
        .select("case", "candidate", "launch", "rounding", *lists)
        .explode(lists)
        .filter(pl.col("visit_ns") > 0, hop > 0)
        .with_columns(level=level)
        .drop_nulls("level")
        .group_by("case", "candidate", "launch", "level", maintain_order=True)
        .agg(pl.col("rounding").max(), figure_ns=pl.col("visit_ns").median(), visits=pl.len())
        .with_columns(case=pl.col("case") + SEPARATOR + pl.col("level"))
    )


def _visits(then: pl.DataFrame, now: pl.DataFrame, pairs: Sequence[tuple[str, str]]) -> dict[Key, int]:
    """Return the visits of both sides at each level, of pairs with launches enough on either side."""
    counts = [
        {(case, name): (launches, visits) for case, name, launches, visits in side.iter_rows()}
        for side in (frame.group_by("case", "candidate").agg(pl.len(), pl.col("visits").sum()) for frame in (then, now))
    ]
    visits = {}
    for base, other in pairs:
        for case, name in counts[0]:
            here = counts[1].get((case, other)) if name == base else None
            if here and min(here[0], counts[0][case, base][0]) >= FEWEST_LAUNCHES:
                visits[case, base, other] = here[1] + counts[0][case, base][1]
    return visits


def _combine(overall: Unpaired, parts: Mapping[Key, Unpaired], visits: Mapping[Key, int]) -> AtLevels:
    keys = {name: (f"{overall.case}{SEPARATOR}{name}", overall.base, overall.other) for name in NAMES}
    known = {name: parts[key]._replace(case=overall.case) for name, key in keys.items() if key in parts}
    if not known:
        unknown = overall._replace(low=0.0, high=math.inf, p_value=1.0, p_adjusted=1.0, different=False, degrees=0.0)
        return AtLevels(unknown, {})
    total = sum(visits[keys[name]] for name in known)
    shares = {name: visits[keys[name]] / total for name in known}
    ratio, low, high = (
        math.exp(sum(shares[name] * math.log(getattr(part, end)) for name, part in known.items()))
        for end in ("ratio", "low", "high")
    )
    return AtLevels(
        overall._replace(
            ratio=ratio,
            low=low,
            high=high,
            p_value=min(part.p_value for part in known.values()),
            p_adjusted=min(part.p_adjusted for part in known.values()),
            different=len({part.ratio > 1 for part in known.values() if part.different}) == 1,
            error=sum(shares[name] * part.error for name, part in known.items()),
            degrees=min(part.degrees for part in known.values()),
            rounding=sum(shares[name] * part.rounding for name, part in known.items()),
        ),
        known,
    )
