"""Single ranks: how often each was the last to end; and where their samples were kept, when each began and ended."""

from __future__ import annotations

import polars as pl

from rankbench.model import ALL_RANKS
from rankbench.statistics.estimators import LAUNCH

KEY = ["case", "candidate"]
OWN = {
    "median_ns": pl.col("time_ns").median(),
    "p90_ns": pl.col("time_ns").quantile(0.9, "linear"),
    "began_ns": pl.col("skew_ns").median(),
    "began_p90_ns": pl.col("skew_ns").quantile(0.9, "linear"),
}


def single_ranks(samples: pl.LazyFrame, rank_samples: pl.LazyFrame) -> pl.DataFrame:
    """Return one row per case, candidate and rank, of cases that are timed over all ranks.

    `last` is the share of samples in which the rank was the last to end. `median_ns` and `p90_ns` are its end after the
    common start, or its own time where a start has none; `began_ns` and `began_p90_ns` how late it began: medians over
    launches, null where the samples of ranks were not kept.

    Args:
        samples: the store's samples.
        rank_samples: the store's samples of single ranks.
    """
    over_all = samples.filter(~pl.col("discarded") & (pl.col("series") == ALL_RANKS))
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
    own = launches.group_by(*KEY, "rank").agg(pl.col(*OWN).median())
    joined = every.join(last, on=[*KEY, "rank"], how="left", maintain_order="left").join(
        own, on=[*KEY, "rank"], how="left", maintain_order="left"
    )
    share = pl.col("times").fill_null(0) / pl.col("samples")
    return joined.select(*KEY, "rank", "samples", share.alias("last"), *OWN).collect()
