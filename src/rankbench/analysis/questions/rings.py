"""Rings of periodic grids: what each of them took, and what one more hop costs.

A ring's rounds are timed by its first rank, at the edge of the grid, so that one case has a distribution for each edge
rank. What a hop costs is the slope of the typical round time over the number of hops, block by block, since all cases
of a block met the machine in the same minutes; its interval is Student's over blocks. A ring of one hop is a rank that
sends to itself, which takes another way through a library: it is left out. Of one length alone, what a hop takes is the
round divided by its hops, so that what a round takes besides is in it. Cases
with more ranks on a node than the node has cores never share a line with others unless the result says so; nor do cases
of one node share one with cases of several.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.analysis.statistics.decision import half_width
from rankbench.analysis.statistics.launch_values import LAUNCH, compute_launch_values
from rankbench.analysis.statistics.modes import Repeated, find_group_modes
from rankbench.analysis.statistics.parts import divide_by_case
from rankbench.analysis.statistics.summaries import CONFIDENCE, median_interval
from rankbench.language import Text, say
from rankbench.model import Campaign, Case

KEY = ["case", "candidate", "edge"]
SELF = 1
"""Hops of a ring that is one rank alone."""
EDGE = pl.col("series").alias("edge")


class HopCost(NamedTuple):
    """What one more hop costs a candidate, in cases that differ only in the grid."""

    candidate: str
    line: str
    """Key of these cases, less what shows their grid."""
    cases: list[str]
    hops: list[int]
    """The lengths of the rings that count."""
    cost_ns: float
    low_ns: float
    high_ns: float
    """Interval over blocks; not a number where there is one only."""
    blocks: int
    oversubscribed: bool
    """Whether some of the cases had more ranks on a node than the node has cores."""
    between_nodes: bool

    @property
    def basis(self) -> Text:
        """Return in words what the value is based on."""
        return say(
            "line through {hops:and} hops"
            if len(self.hops) > 2
            else "difference between {hops:and} hops"
            if len(self.hops) == 2
            else "round of {hops:and} hops, divided by them",
            hops=self.hops,
        )


def tabulate_rings(
    campaign: Campaign, rank_samples: pl.LazyFrame, cases: pl.DataFrame, confidence: float = CONFIDENCE
) -> pl.DataFrame:
    """Return one row per candidate, case and edge rank, in the order of the campaign's cases and candidates.

    Args:
        campaign: its cases, machine and placements.
        rank_samples: the store's samples of single ranks: of rings, those of each edge rank.
        cases: the store's cases, which show grid and hops.
        confidence: of the interval of the typical value.
    """
    grids = _grids(cases)
    if grids.is_empty():
        return pl.DataFrame()
    launch_values = _compute_values(rank_samples, grids["case"]).group_by(KEY).agg(pl.col("figure_ns"))
    frame = launch_values.join(_pool(rank_samples, grids["case"]), on=KEY).join(grids, on="case")
    known = {case.key: describe_case(campaign, case) for case in campaign.cases}
    order = {name: number for number, name in enumerate(candidate.name for candidate in campaign.candidates)}
    places = {case.key: number for number, case in enumerate(campaign.cases)}
    return (
        frame.with_columns(
            pl.col("figure_ns")
            .map_elements(lambda values: _typical(values, confidence), return_dtype=_TYPICAL)
            .alias("typical"),
            pl.col("case").replace_strict(known, return_dtype=_ABOUT).alias("about"),
            launches=pl.col("figure_ns").list.len(),
        )
        .unnest("typical", "about")
        .with_columns(
            pl.col("case").replace_strict(places).alias("place"),
            pl.col("candidate").replace_strict(order).alias("turn"),
        )
        .sort("place", "edge", "turn")
        .select(*COLUMNS)
    )


_TYPICAL = pl.Struct({"typical_ns": pl.Float64, "low_ns": pl.Float64, "high_ns": pl.Float64, "coverage": pl.Float64})
_ABOUT = pl.Struct(
    {
        "direction": pl.String,
        "size_bytes": pl.Int64,
        "placement": pl.String,
        "ranks": pl.Int64,
        "nodes": pl.Int64,
        "start": pl.String,
        "oversubscribed": pl.Boolean,
    }
)
POOLED = ("samples", "discarded", "min_ns", "median_ns", "mean_ns", "p10_ns", "p90_ns", "p99_ns", "max_ns")
COLUMNS = (
    *KEY,
    "grid",
    "hops",
    *(field.name for field in _ABOUT.fields),
    "launches",
    *(field.name for field in _TYPICAL.fields),
    *POOLED,
)
"""Those of `rings`: what it is of, how much is known, the typical value with its interval, and all samples together."""


def describe_case(campaign: Campaign, case: Case) -> dict[str, object]:
    """Return what a ring's case is: which way round, where, on how many nodes, and whether cores were short."""
    placement = next((placement for placement in campaign.plan.placements if placement.name == case.placement), None)
    usual = {
        option.name: option.usual
        for operation in campaign.operations
        if operation.name == case.operation
        for option in operation.options
    }
    return {
        "direction": case.options.get("direction", usual.get("direction", "")),
        "size_bytes": case.size_bytes,
        "placement": case.placement,
        "ranks": case.ranks,
        "nodes": placement.nodes if placement else 1,
        "start": case.start,
        "oversubscribed": bool(placement and campaign.oversubscribed(placement.ranks_per_node, placement.nodes)),
    }


def estimate_hop_costs(
    campaign: Campaign, rank_samples: pl.LazyFrame, cases: pl.DataFrame, confidence: float = CONFIDENCE
) -> list[HopCost]:
    """Return what one more hop costs each candidate, line by line; nothing where ranks send to themselves only."""
    grids = _grids(cases)
    if grids.is_empty():
        return []
    # Of rings side by side the usual one: the slowest would be the slower, the more there are.
    rounds = (
        _compute_values(rank_samples, grids["case"])
        .group_by("case", "candidate", "block")
        .agg(pl.col("figure_ns").median())
    )
    of_block = rounds.join(grids.select("case", "hops"), on="case").partition_by("candidate", as_dict=True)
    names = [candidate.name for candidate in campaign.candidates if not candidate.control_of]
    known = set(grids["case"])
    costs = []
    for (line, between), alike in _lines(campaign, known).items():
        for name in names:
            if (name,) in of_block:
                costs += list(_costs(name, line, alike, of_block[name,], confidence, between=between))
    return costs


def _lines(campaign: Campaign, known: set[str]) -> dict[tuple[str, bool], dict[str, bool]]:
    """Return the cases that differ only in their grid, each with whether cores were short, by line and by nodes."""
    lines: dict[tuple[str, bool], dict[str, bool]] = {}
    for case in campaign.cases:
        if case.key in known:
            facts = describe_case(campaign, case)
            options = {name: value for name, value in case.options.items() if name != "grid"}
            line = msgspec.structs.replace(case, placement="", options=options).key
            lines.setdefault((line, int(str(facts["nodes"])) > 1), {})[case.key] = bool(facts["oversubscribed"])
    return lines


def _costs(
    name: str, line: str, shortages: Mapping[str, bool], rounds: pl.DataFrame, confidence: float, *, between: bool
) -> Iterator[HopCost]:
    """Yield the cost among cases with a core per rank; and that among the others, with the rest where they need it."""
    enough = [key for key, short in shortages.items() if not short]
    short = [key for key, is_short in shortages.items() if is_short]
    for keys in (enough, short if _lengths(rounds, short) > 1 else [*enough, *short] if short else []):
        cost = _cost(rounds.filter(pl.col("case").is_in(keys)))
        if cost is not None:
            hops, counted, slopes = cost
            texts = [key for key in keys if key in counted]
            some_short = any(shortages[key] for key in texts)
            mean, half = float(np.mean(slopes)), _half(slopes, confidence)
            yield HopCost(name, line, texts, hops, mean, mean - half, mean + half, len(slopes), some_short, between)


def _lengths(rounds: pl.DataFrame, keys: Sequence[str]) -> int:
    return rounds.filter(pl.col("case").is_in(keys), pl.col("hops") != SELF)["hops"].n_unique()


def _cost(rounds: pl.DataFrame) -> tuple[list[int], set[str], list[float]] | None:
    """Return lengths, cases and the cost of a hop in each block that has all lengths; nothing where no block has."""
    frame = rounds.filter(pl.col("hops") != SELF)
    lengths = sorted(set(frame["hops"]))
    costs = [
        _slope(block["hops"].to_numpy(), block["figure_ns"].to_numpy())
        for block in frame.partition_by("block", maintain_order=True)
        if block["hops"].n_unique() == len(lengths)
    ]
    return (lengths, set(frame["case"]), costs) if costs else None


def _slope(hops: NDArray[np.float64], times_ns: NDArray[np.float64]) -> float:
    """Return the slope of the line through several lengths; of one length, that of the line through nothing and it."""
    return float(np.polyfit(hops, times_ns, 1)[0] if len(set(hops)) > 1 else np.mean(times_ns / hops))


def _half(slopes: Sequence[float], confidence: float) -> float:
    """Return half of Student's interval of the mean; of one value it is not a number."""
    if len(slopes) < 2:
        return float("nan")
    return float(half_width(np.std(slopes, ddof=1) / len(slopes) ** 0.5, len(slopes) - 1, 1 - confidence))


def find_ring_modes(rank_samples: pl.LazyFrame, cases: pl.DataFrame) -> dict[tuple[str, ...], list[Repeated]]:
    """Return the modes of every ring, by case, candidate and edge rank (as text)."""
    grids = _grids(cases)
    if grids.is_empty():
        return {}
    frame = rank_samples.join(grids.lazy().select("case"), on="case", how="semi")
    return find_group_modes(frame.with_columns(edge=pl.col("series").cast(pl.String)), KEY)


def _grids(cases: pl.DataFrame) -> pl.DataFrame:
    """Return grid and hops of every case of rings that went well somewhere."""
    if "hops" not in cases.columns:
        return pl.DataFrame()
    return cases.filter(pl.col("hops") > 0).group_by("case", maintain_order=True).agg(pl.col("grid", "hops").first())


def _compute_values(frame: pl.LazyFrame, cases: Iterable[str]) -> pl.DataFrame:
    """Return the median of every launch's ring."""
    chosen = frame.filter(pl.col("case").is_in(list(cases)))
    edges = chosen.select(pl.col("series").unique().sort()).collect()["series"]
    parts = ((edge, compute_launch_values(chosen.filter(pl.col("series") == edge))) for edge in edges)
    return pl.concat(part.select(*LAUNCH, "figure_ns", edge=pl.lit(edge, pl.Int32)) for edge, part in parts)


def _pool(frame: pl.LazyFrame, cases: Iterable[str]) -> pl.DataFrame:
    """Return what is taken over all samples of a ring."""
    time = pl.col("time_ns").filter(~pl.col("discarded"))
    quantiles = [time.quantile(share).alias(f"p{share * 100:.0f}_ns") for share in (0.1, 0.9, 0.99)]
    what = (
        time.len().cast(pl.Int64).alias("samples"),
        pl.col("discarded").sum().cast(pl.Int64),
        time.min().alias("min_ns"),
        time.median().alias("median_ns"),
        time.mean().alias("mean_ns"),
        time.max().alias("max_ns"),
        *quantiles,
    )
    chosen = frame.filter(pl.col("case").is_in(list(cases)))
    return pl.concat([part.group_by("case", "candidate", EDGE).agg(what).collect() for part in divide_by_case(chosen)])


def _typical(launch_values: Iterable[float], confidence: float) -> dict[str, float]:
    values = np.array(list(launch_values), dtype=np.float64)
    low, high, coverage = median_interval(values, confidence)
    return {"typical_ns": float(np.median(values)), "low_ns": low, "high_ns": high, "coverage": coverage}
