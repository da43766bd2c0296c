"""Summaries: the results of a case over launches, for each candidate, with warnings that limit them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.analysis.statistics import distributions, launch_values, rounding
from rankbench.analysis.statistics.parts import divide_by_case
from rankbench.language import NOTHING, Text, say
from rankbench.model import LATE_START, CaseStatus, Summary
from rankbench.plan.estimators import trim_times

CONFIDENCE = 0.95
KEY = ["case", "candidate"]
POOLED = (
    *("min_ns", "mean_ns", "p10_ns", "p90_ns", "p99_ns", "max_ns"),
    *("trimmed_mean_ns", "trimmed_min_ns", "trimmed_max_ns"),
)
OVER_VALUES = ("launches_mean_ns", "launches_min_ns", "launches_max_ns", "launches_rse")
OVER_LAUNCHES = ("skew_ns", "skew_p90_ns", "bound_ns", "error_ns")
SLOW = 1.5
"""A round is slow if it takes this many times its launch's median."""
HIDDEN_SHARE, FEW_SLOW = 0.005, 5
"""A warning says that discarded rounds are slow if that hides this share, and this many."""
OF_OVERLAP = ("pure_ns", "compute_ns", "overlap")


def summarise(
    launch_values: pl.DataFrame,
    samples: pl.LazyFrame,
    cases: pl.DataFrame,
    confidence: float = CONFIDENCE,
    per_second: Sequence[str] = (),
) -> list[Summary]:
    """Return one summary per case and measured candidate, with or without values.

    Args:
        launch_values: result of `compute_launch_values`. Launches with an uncertain start, or too few valid rounds, are
            reported only where there are no others, and then the summary says that it is not to be judged.
        samples: the store's samples; quantiles are taken over all of those launches that are not discarded.
        cases: the store's cases, one row per case and launch.
        confidence: of the interval of the typical value.
        per_second: cases reported as bytes or messages per second, whose mean is that of these, as a time.
    """
    tried = cases.group_by(KEY, maintain_order=True).agg(
        pl.col("status").filter(pl.col("status") != "ok").value_counts().alias("failures"),
        pl.col("reason").filter(pl.col("status") == CaseStatus.NOT_AS_ASKED).first().alias("elsewhere"),
        pl.col("reason").filter(pl.col("status") == CaseStatus.FAILED).first().alias("why_failed"),
        (pl.col("cause") == LATE_START).sum().alias("all_late"),
        pl.col("late").sum(),
        pl.col("overrun").sum(),
        pl.col("sync_bound_ns", "cost_ns", "printed_bytes", "fallback").max(),
        (pl.col("moved") != "").sum(),
        pl.col("moved_bytes", "moved_messages").max(),
    )
    poor = pl.col("uncertain") | pl.col("few")
    frame = launch_values.with_columns(poor.all().over(KEY).alias("doubted")).filter(pl.col("doubted") | ~poor)
    rows = (
        tried.lazy()
        .join(_launches(launch_values, frame, per_second).lazy(), on=KEY, how="left")
        .join(_summarise_quantities(cases, frame).lazy(), on=KEY, how="left")
        .join(
            pl.concat([_count_discarded(part, frame).collect() for part in divide_by_case(samples)]).lazy(),
            on=KEY,
            how="left",
        )
        .join(
            pl.concat([_pool(part, frame, per_second).collect() for part in divide_by_case(samples)]).lazy(),
            on=KEY,
            how="left",
        )
        .collect()
    )
    # A left join of lazy frames need not keep the order; the plan's is wanted.
    order = {key: number for number, key in enumerate(tried.select(KEY).iter_rows())}
    ordered = sorted(rows.iter_rows(named=True), key=lambda row: order[row["case"], row["candidate"]])
    return [_summary(row, confidence) for row in ordered]


def median_interval(values: NDArray[np.float64], level: float = CONFIDENCE) -> tuple[float, float, float]:
    """Return low, high and true coverage of the narrowest interval of order statistics that covers the median.

    Exact for any continuous distribution (Le Boudec, Performance Evaluation, 2010, section 2.2). Where no interval
    reaches the level, which is so below six values for 95%, it is the whole range, with the coverage that this has.
    """
    ordered = np.sort(values)
    count = len(ordered)
    outside = max(distributions.heads_ppf((1 - level) / 2, count) - 1, -1)
    while outside + 1 < count / 2 - 1 and _coverage(count, outside + 1) >= level:
        outside += 1
    rank = max(outside, 0)
    return float(ordered[rank]), float(ordered[count - 1 - rank]), _coverage(count, rank)


def _coverage(count: int, rank: int) -> float:
    """Return the chance that the median lies between the order statistics `rank` from either end."""
    return float(1 - 2 * distributions.heads_cdf(rank, count)) if count > 1 else 0.0


def _launches(launch_values: pl.DataFrame, frame: pl.DataFrame, per_second: Sequence[str]) -> pl.DataFrame:
    """Return statistics over launches: the reported values, and how many launches do not count and why."""
    over = [pl.col(name).median() for name in ("middle_ns", *OVER_LAUNCHES)]
    value = pl.col("figure_ns")
    rate = pl.col("case").first().is_in(list(per_second))
    mean = pl.when(rate).then(1 / (1 / value).mean()).otherwise(value.mean())
    shown = pl.when(rate).then(1 / value).otherwise(value)
    spread = (
        (shown.std() / pl.len().sqrt() / shown.mean()).alias("launches_rse"),
        mean.alias("launches_mean_ns"),
        value.min().alias("launches_min_ns"),
        value.max().alias("launches_max_ns"),
    )
    left_out = launch_values.group_by(KEY).agg(pl.col("uncertain").sum(), (pl.col("few") & ~pl.col("uncertain")).sum())
    first = pl.col("doubted", "common").first()
    rounded = rounding.complete(frame).group_by(KEY)
    return rounded.agg(value, first, pl.col("rounding").max(), *over, *spread).join(left_out, on=KEY)


def _summarise_quantities(cases: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
    """Return medians over the reported launches of overlap and memory.

    Overlap is 1 - (overall - compute) / pure, clipped to 0..1, of the medians of one launch, where it talked at all.
    """
    rows = cases.join(frame.select(*KEY, "launch", "middle_ns"), on=[*KEY, "launch"])
    pure, compute = pl.col("pure_ns"), pl.col("compute_ns")
    known = pure > 0
    hidden = (1 - (pl.col("middle_ns") - compute) / pure).clip(0, 1)
    return rows.group_by(KEY).agg(
        pl.col("growth_bytes").median(),
        *(
            value.filter(known).median().alias(name)
            for name, value in zip(OF_OVERLAP, (pure, compute, hidden), strict=True)
        ),
    )


def _count_discarded(samples: pl.LazyFrame, frame: pl.DataFrame) -> pl.LazyFrame:
    """Return how many samples do not count, and how many of these and of all are slow, however late they began."""
    launches = frame.lazy().select(*launch_values.LAUNCH, "middle_ns")
    taken_ns = pl.col("time_ns") - pl.col("skew_ns").fill_null(0)
    slow = (taken_ns > SLOW * pl.col("middle_ns")).fill_null(value=False)
    return (
        samples.join(launches, on=launch_values.LAUNCH, how="left")
        .group_by(KEY)
        .agg(
            pl.col("discarded").sum(),
            pl.len().alias("rounds"),
            slow.sum().alias("slow"),
            (slow & pl.col("discarded")).sum().alias("slow_discarded"),
        )
    )


def _pool(samples: pl.LazyFrame, frame: pl.DataFrame, per_second: Sequence[str]) -> pl.LazyFrame:
    """Return statistics over all samples of the reported launches."""
    time = pl.col("time_ns")
    trimmed = trim_times(time)
    rate = pl.col("case").first().is_in(list(per_second))
    quantiles = [time.quantile(share).alias(f"p{share * 100:.0f}_ns") for share in (0.1, 0.9, 0.99)]
    valid = samples.filter(~pl.col("discarded")).join(frame.lazy(), on=launch_values.LAUNCH, how="semi")
    return valid.group_by(KEY).agg(
        time.len().alias("samples"),
        time.min().alias("min_ns"),
        pl.when(rate).then(1 / (1 / time).mean()).otherwise(time.mean()).alias("mean_ns"),
        time.max().alias("max_ns"),
        trimmed.mean().alias("trimmed_mean_ns"),
        trimmed.std().alias("trimmed_spread_ns"),
        trimmed.len().alias("trimmed_samples"),
        trimmed.min().alias("trimmed_min_ns"),
        trimmed.max().alias("trimmed_max_ns"),
        *quantiles,
    )


def _summary(row: dict[str, Any], confidence: float) -> Summary:
    values = np.asarray(row["figure_ns"] or [], dtype=np.float64)
    statistics: dict[str, Any] = _compute_statistics(row, values, confidence) if len(values) else {}
    launches = 0 if row["doubted"] else len(values)
    return Summary(
        case=row["case"],
        candidate=row["candidate"],
        launches=launches,
        samples=row["samples"] or 0,
        trimmed_samples=row["trimmed_samples"] or 0,
        late=row["late"],
        overrun=row["overrun"],
        discarded=row["discarded"] or 0,
        **statistics,
        moved_bytes=row["moved_bytes"] or 0,
        moved_messages=row["moved_messages"] or 0,
        printed_bytes=row["printed_bytes"] or 0,
        fallback=row["fallback"] or "",
        uncertain=row["uncertain"] or 0,
        few=row["few"] or 0,
        doubt=_doubt(row) if row["doubted"] else NOTHING,
        all_late=row["all_late"],
        failures={failure["status"]: failure["count"] for failure in row["failures"]},
        elsewhere=(row["elsewhere"] or "").removeprefix("not as asked: "),
        why_failed=row["why_failed"] or "",
        warnings=_warnings(row, launches, statistics, confidence) if launches else [],
    )


def _compute_statistics(row: dict[str, Any], values: NDArray[np.float64], confidence: float) -> dict[str, float]:
    low, high, coverage = median_interval(values, confidence)
    numbers = {
        name: float(row[name])
        for name in (*OVER_VALUES, *POOLED, *OVER_LAUNCHES, *OF_OVERLAP, "growth_bytes")
        if row[name] is not None
    }
    spread, count = row["trimmed_spread_ns"] or 0.0, row["trimmed_samples"]
    half = launch_values.students_half(spread, count, confidence)
    if not math.isnan(half):
        numbers |= {"trimmed_error_ns": spread / math.sqrt(count), "trimmed_half_ns": half}
    if len(values) == 1 and not math.isnan(half):
        numbers |= {"trimmed_low_ns": row["trimmed_mean_ns"] - half, "trimmed_high_ns": row["trimmed_mean_ns"] + half}
    wider = math.exp(row["rounding"])
    return numbers | {
        "typical_ns": float(np.median(values)),
        "low_ns": low / wider,
        "high_ns": high * wider,
        "coverage": coverage,
        "rounding": row["rounding"],
    }


def _doubt(row: dict[str, Any]) -> Text:
    if not row["uncertain"]:
        return say("too few of its rounds count: {n} of {all}", n=row["samples"], all=row["rounds"])
    error, bound, middle = row["error_ns"], row["bound_ns"], row["middle_ns"]
    return say(
        "start uncertain by {share:.0%} of its time: clocks likely agree within {error:time}, certainly within "
        "{bound:time}; a call takes {middle:time}"
        if middle
        else "start uncertain by more than its time: clocks likely agree within {error:time}, certainly within "
        "{bound:time}; a call takes {middle:time}",
        share=error / middle if middle else math.inf,
        error=error,
        bound=bound,
        middle=middle,
    )


def _warnings(row: dict[str, Any], launches: int, statistics: dict[str, float], confidence: float) -> list[Text]:
    typical, skew, bound = statistics["typical_ns"], statistics.get("skew_ns", 0.0), row["sync_bound_ns"] or 0.0
    warnings: list[Text] = []
    if statistics["coverage"] < confidence:
        warnings.append(
            say(
                "{launches} launches: the interval holds with {coverage:.1%} only; {enough} or more give "
                "{confidence:.0%}",
                launches=launches,
                coverage=statistics["coverage"],
                enough=math.ceil(1 - math.log2(1 - confidence)),
                confidence=confidence,
            )
        )
    if row["uncertain"]:
        warnings.append(
            say("{n} launches are left out: their starts are uncertain by more than 5% of the time", n=row["uncertain"])
        )
    if row["few"]:
        warnings.append(say("{n} launches are left out: too few of their rounds count", n=row["few"]))
    if row["common"] and bound > launch_values.START_BOUND * typical:
        warnings.append(
            say(
                "clocks likely agree within {likely:.1%} of the time, but may differ by {share:.0%} of it if messages "
                "take longer one way than the other",
                likely=statistics.get("error_ns", 0.0) / typical,
                share=bound / typical,
            )
        )
    if skew > launch_values.START_BOUND * typical:
        warnings.append(
            say(
                "ranks began {skew:time} apart, {share:.0%} of the time, which is counted in it",
                skew=skew,
                share=skew / typical,
            )
        )
    warnings += _warn_hidden_rounds(row)
    cost = row["cost_ns"] or 0.0
    if cost > launch_values.COST_SHARE * typical:
        warnings.append(
            say(
                "measuring takes {cost:time} of it, {share:.0%}: differences are larger than they look",
                cost=cost,
                share=cost / typical,
            )
        )
    if row["moved"]:
        warnings.append(say("a rank moved to another CPU in {n} launches; bind ranks to cores", n=row["moved"]))
    return warnings


def _warn_hidden_rounds(row: dict[str, Any]) -> list[Text]:
    """Return in words that slow rounds are among those that do not count more often than among the others."""
    slow, discarded = row["slow_discarded"] or 0, row["discarded"] or 0
    if slow < FEW_SLOW or discarded == row["rounds"]:
        return []
    other = (row["slow"] - slow) / (row["rounds"] - discarded)
    if row["slow"] / row["rounds"] - other <= HIDDEN_SHARE:
        return []
    return [
        say(
            "of {n} rounds that do not count {share:.0%} were slow, of the others {other:.1%}: "
            "the tail is longer than stated",
            n=discarded,
            share=slow / discarded,
            other=other,
        )
    ]
