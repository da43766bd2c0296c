"""The value of one launch from its samples, and how well its ranks began together.

An estimator is named as in a plan; each is a unit of `plan/estimators`.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import polars as pl

from rankbench.analysis.statistics import dropping
from rankbench.analysis.statistics.decision import half_width
from rankbench.analysis.statistics.medians import TIED, find_grouped_median
from rankbench.analysis.statistics.parts import divide_by_launch
from rankbench.plan import estimators

LAUNCH = ["case", "candidate", "block", "launch"]
VISITS = ["visit", "visit_ns", "visit_hop_ns", "visit_position", "visit_after"]
FEWEST, LEAST_SHARE = 10, 0.1
"""A launch counts if this many of its rounds do; of few rounds half, of many this share."""
START_BOUND = 0.05
"""Share of a launch's median time above which its start is too inaccurate to compare."""
COST_SHARE = 0.05
"""Share of a time that measuring may take without a warning: it draws ratios towards 1."""
TRIMMED = "trimmed-mean"
"""The estimator with which a report also has MPIPerf's tables and intervals."""


def compute_launch_values(
    samples: pl.LazyFrame, estimator: str = "median", by_ranks: Collection[str] = ()
) -> pl.DataFrame:
    """Return one row per case, candidate, block and launch, made of the samples that are not discarded.

    `figure_ns` is what the estimator makes of them, `middle_ns` their median. VISITS, where the estimator is a MIDDLE,
    are lists: the launch's visits of the case, the value of each, what a hop took then, and which turn it was. Then
    `figure_ns` is the median of its visits' values: visits count equally, as in the comparisons, however many samples
    the machine left each.
    `skew_ns` and `skew_p90_ns` show how far
    apart ranks began, as measured; `bound_ns` and `error_ns`, medians, how far their clocks may have differed at most,
    and likely did;
    `uncertain` whether the latter is too much to judge the value. That matters where times are counted from a `common`
    start only: not in the cases `by_ranks`, in which each rank's time is its own. `few` shows whether too few rounds
    count to judge the value, or ranks waited for a CPU in all visits. Other visits in which they waited are left out. A
    median on a step of the clock is interpolated within it.
    """
    if "visit_waited" not in samples.collect_schema():
        samples = samples.with_columns(visit_waited=pl.lit(None, pl.Float32))
    most_waited = dropping.find_most_waited(samples)
    parts = [_compute_launch_values(part, estimator, by_ranks, most_waited) for part in divide_by_launch(samples)]
    return pl.concat(parts).sort(LAUNCH)


def _compute_launch_values(
    samples: pl.LazyFrame, estimator: str, by_ranks: Collection[str], most_waited: float
) -> pl.DataFrame:
    time, rounds = pl.col("time_ns"), pl.col("rounds")
    valid = dropping.drop_disturbed(samples, most_waited).filter(~pl.col("discarded"))
    needed = pl.max_horizontal(LEAST_SHARE * rounds, pl.min_horizontal(FEWEST, rounds / 2))
    far = pl.col("error_ns") > START_BOUND * pl.col("middle_ns")
    plain = (
        valid.group_by(LAUNCH)
        .agg(
            estimators.estimate_times(time, estimator).alias("figure_ns"),
            time.median().alias("middle_ns"),
            pl.col("skew_ns").median(),
            pl.col("skew_ns").quantile(0.9, "linear").alias("skew_p90_ns"),
            pl.col("bound_ns", "error_ns").median().fill_null(0),
            (time == time.median()).mean().alias("tied"),
            pl.len().alias("valid"),
            pl.col("disturbed").first(),
        )
        .join(samples.group_by(LAUNCH).agg(pl.len().alias("rounds")), on=LAUNCH)
        .with_columns(
            common=~pl.col("case").is_in(list(by_ranks)), few=pl.col("disturbed") | (pl.col("valid") < needed)
        )
        .with_columns(uncertain=far & pl.col("common"))
        .collect()
    )
    finer = _finer(plain, valid, LAUNCH) if estimator == "median" else plain
    if estimators.find_estimator(estimator).middle:
        finer = finer.join(_visits(valid, estimator), on=LAUNCH, how="left", maintain_order="left").with_columns(
            figure_ns=pl.coalesce(pl.col("visit_ns").list.median(), "figure_ns")
        )
    return finer.drop("tied", "valid", "rounds", "disturbed")


def _visits(valid: pl.LazyFrame, estimator: str) -> pl.DataFrame:
    """Return for every launch its visits of a case, less those of half the usual samples, and each one's value."""
    key, time = [*LAUNCH, "visit"], pl.col("time_ns")
    tied = (time == time.median()).mean().alias("tied")
    around = pl.col("visit_hop_ns", "visit_position", "visit_after").first()
    plain = (
        valid.group_by(key)
        .agg(estimators.estimate_times(time, estimator).alias("figure_ns"), tied, around, pl.len())
        .collect()
    )
    plain = plain.filter(2 * pl.col("len") >= pl.col("len").median().over(LAUNCH))
    finer = _finer(plain, valid, key) if estimator == "median" else plain
    return finer.sort(key).rename({"figure_ns": "visit_ns"}).group_by(LAUNCH, maintain_order=True).agg(VISITS)


def students_half(spread_ns: float, count: int, confidence: float) -> float:
    """Return half of Student's interval of the mean of so many samples, not a number where there is one only.

    Of what trimming leaves, this is the interval that MPIPerf states. It takes the samples left for independent draws
    from a normal distribution. They are not: they were chosen by their size, and resemble each other within a launch.
    So it is narrower than its confidence says, even for this launch; `docs/evidence/estimators.md` says by how much.
    """
    return float(half_width(spread_ns / math.sqrt(count), count - 1, 1 - confidence)) if count > 1 else math.nan


def _finer(plain: pl.DataFrame, valid: pl.LazyFrame, key: list[str]) -> pl.DataFrame:
    """Return launches, or visits, with their medians interpolated where the clock's step makes many samples equal."""
    tied = plain.filter(pl.col("tied") > TIED)
    if tied.is_empty():
        return plain
    finer = valid.join(tied.lazy(), on=key, how="semi").group_by(key).agg(pl.col("time_ns")).collect()
    finer = finer.with_columns(
        pl.col("time_ns")
        .map_elements(lambda times: find_grouped_median(times.to_numpy()), return_dtype=pl.Float64)
        .alias("finer_ns")
    )
    joined = plain.join(finer.drop("time_ns"), on=key, how="left", maintain_order="left")
    return joined.with_columns(pl.coalesce("finer_ns", "figure_ns").alias("figure_ns")).drop("finer_ns")
