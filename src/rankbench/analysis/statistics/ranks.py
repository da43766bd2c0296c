"""Single ranks: how often each was the last to end; and where their samples were kept, when each began and ended."""

from __future__ import annotations

import polars as pl

from rankbench.analysis.statistics.launch_values import LAUNCH
from rankbench.model import ALL_RANKS

KEY = ["case", "candidate"]
ENDED = (pl.col("series") == ALL_RANKS) & (pl.col("last_rank") != ALL_RANKS)
"""Of samples over all ranks, those of which it is known who ended last; foreign tools do not show."""
OWN = {
    "median_ns": pl.col("time_ns").median(),
    "p90_ns": pl.col("time_ns").quantile(0.9, "linear"),
    "began_ns": pl.col("skew_ns").median(),
    "began_p90_ns": pl.col("skew_ns").quantile(0.9, "linear"),
}


def tabulate_ranks(samples: pl.LazyFrame, rank_samples: pl.LazyFrame) -> pl.DataFrame:
    """Return one row per case, candidate and rank, of cases that are timed over all ranks.

    `last` is the share of samples in which the rank was the last to end. `median_ns` and `p90_ns` are its end after the
    common start, or its own time where a start has none; `began_ns` and `began_p90_ns` how late it began: medians over
    launches, null where the samples of ranks were not kept.

    Args:
        samples: the store's samples.
        rank_samples: the store's samples of single ranks.
    """
    over_all = samples.filter(~pl.col("discarded") & ENDED)
    last = over_all.group_by(*KEY, pl.col("last_rank").alias("rank")).agg(pl.len().alias("times"))
    every = (
        over_all.group_by(KEY, maintain_order=True)
        .agg(pl.len().alias("samples"), pl.int_ranges(0, pl.col("ranks").first(), dtype=pl.Int32).alias("rank"))
        .explode("rank")
    )
    launches = (
        rank_samples.filter(~pl.col("discarded"))
        .group_by(*LAUNCH, pl.col("series").alias("rank"))
        .agg(value.alias(name) for name, value in OWN.items())
    )
    frame = launches.group_by(*KEY, "rank").agg(pl.col(*OWN).median())
    joined = every.join(last, on=[*KEY, "rank"], how="left", maintain_order="left").join(
        frame, on=[*KEY, "rank"], how="left", maintain_order="left"
    )
    share = pl.col("times").fill_null(0) / pl.col("samples")
    return joined.select(*KEY, "rank", "samples", share.alias("last"), *OWN).collect()


def tabulate_last_ranks(samples: pl.LazyFrame) -> pl.DataFrame:
    """Return the share of samples in which a rank was the last to end, per case, candidate, block, launch and rank.

    Columns beside these: ranks, how many took part. Ranks that never were the last of a launch have no row there. This
    is for what must repeat over launches to count.

    Args:
        samples: the store's samples.
    """
    over_all = samples.filter(~pl.col("discarded") & ENDED)
    return (
        over_all.group_by(*LAUNCH, pl.col("last_rank").alias("rank"))
        .agg(pl.col("ranks").first(), times=pl.len())
        .with_columns(last=pl.col("times") / pl.col("times").sum().over(LAUNCH))
        .select(*LAUNCH, "ranks", "rank", "last")
        .sort(*LAUNCH, "rank")
        .collect()
    )
