"""How a case changes with the number of nodes and of ranks on each: the same case at placements by numbers. Pure.

Only placements such as `4x2` take part, and operations in which all ranks do: what is between two ranks does not scale,
and rings are reported by their hops.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from rankbench.analysis.questions.placements import remove_placement
from rankbench.analysis.statistics import compare, rounding
from rankbench.model import Campaign, Case, Comparison, Placement

STEEPER = 0.5
"""Growth of a candidate is called steeper than another's if it is beyond theirs by more than this share."""


class Site(NamedTuple):
    """So many nodes with so many ranks on each."""

    nodes: int
    ranks_per_node: int

    @property
    def ranks(self) -> int:
        """Return the ranks of all nodes."""
        return self.nodes * self.ranks_per_node


class Step(NamedTuple):
    """A case at one number of nodes and at the next one, with as many ranks on each."""

    line: str
    """Key of the case without its placement."""
    fewer: Site
    more: Site


class Growth(NamedTuple):
    """How much longer each candidate takes at the larger number of nodes, and how they compare in that."""

    step: Step
    factor: dict[str, float]
    """Time at more nodes over that at fewer, by candidate: geometric mean of the ratios within blocks."""
    ratios: list[Comparison]
    """Of these factors, paired within blocks; `case` says nothing."""


def find_site(placement: Placement) -> Site | None:
    """Return the numbers by which a placement is named, if it is."""
    numbers = Site(placement.nodes, placement.ranks_per_node)
    return numbers if placement.name == f"{numbers.nodes}x{numbers.ranks_per_node}" else None


def list_sites(campaign: Campaign) -> dict[str, Site]:
    """Return the numbers of the placements that are named by them."""
    return {placement.name: numbers for placement in campaign.plan.placements if (numbers := find_site(placement))}


def find_scaled(campaign: Campaign) -> dict[str, dict[Site, Case]]:
    """Return the cases that were made at several numbers of ranks: by what they have in common, and by both numbers."""
    numbers = list_sites(campaign)
    fixed = {
        operation.name
        for operation in campaign.operations
        if operation.between_two or operation.ranks_exactly or operation.rings
    }
    by_line: dict[str, dict[Site, Case]] = {}
    for case in campaign.cases:
        if case.placement in numbers and case.operation not in fixed:
            by_line.setdefault(remove_placement(case).key, {})[numbers[case.placement]] = case
    return {line: cases for line, cases in by_line.items() if len({case.ranks for case in cases}) > 1}


def over_nodes(campaign: Campaign) -> set[str]:
    """Return the keys of the cases that were made at several numbers of nodes: their placements are reported as a
    scale."""
    several = (cases for cases in find_scaled(campaign).values() if len({case.nodes for case in cases}) > 1)
    return {case.key for cases in several for case in cases.values()}


def oversubscribed(place: Site, campaign: Campaign) -> bool:
    """Return whether ranks are more than the cores that they have."""
    return campaign.oversubscribed(place.ranks_per_node, place.nodes)


def list_steps(lines: Mapping[str, Mapping[Site, Case]], campaign: Campaign) -> Iterator[Step]:
    """Yield the steps from one number of nodes to the next.

    From one node to two the way of messages changes, which is no matter of growth; and where ranks share cores, waiting
    is measured.
    """
    for line, cases in lines.items():
        places = sorted((case.ranks_per_node, case.nodes) for case in cases if not oversubscribed(case, campaign))
        for ranks, alike in itertools.groupby(places, key=lambda place: place[0]):
            for fewer, more in itertools.pairwise(nodes for _, nodes in alike if nodes > 1):
                yield Step(line, Site(fewer, ranks), Site(more, ranks))


def compare_growth(
    launch_values: pl.DataFrame, campaign: Campaign, lines: Mapping[str, Mapping[Site, Case]]
) -> list[Growth]:
    """Return how much longer each candidate takes after each step, against the others.

    Args:
        launch_values: result of `compute_launch_values`, less what is not to be judged.
        campaign: the campaign; its A/A twins take no part.
        lines: the cases, as `find_scaled` returns them.
    """
    all_steps = list(list_steps(lines, campaign))
    names = [candidate.name for candidate in campaign.candidates if not candidate.control_of]
    factors = factors_of(launch_values, all_steps, lines)
    if factors.is_empty():
        return []
    pairs = list(itertools.combinations(names, 2))
    ratios = compare(factors, pairs, STEEPER, confidence=campaign.plan.confidence)
    means = factors.group_by("case", "candidate").agg(pl.col("figure_ns").log().mean().exp())
    factor = {(row["case"], row["candidate"]): row["figure_ns"] for row in means.iter_rows(named=True)}
    return [
        Growth(
            step,
            {name: factor[str(number), name] for name in names if (str(number), name) in factor},
            [ratio for ratio in ratios if ratio.case == str(number)],
        )
        for number, step in enumerate(all_steps)
    ]


def factors_of(
    launch_values: pl.DataFrame, all_steps: Sequence[Step], lines: Mapping[str, Mapping[Site, Case]]
) -> pl.DataFrame:
    """Return the factor of each step, candidate and block as `compare` takes values; a case is the step's number."""
    rows = [
        (str(number), lines[step.line][step.fewer].key, lines[step.line][step.more].key)
        for number, step in enumerate(all_steps)
    ]
    ends = pl.DataFrame(rows, {"step": pl.String, "fewer": pl.String, "more": pl.String}, orient="row")
    columns = ("case", "candidate", "block", "launch", "figure_ns", "rounding")
    positive = rounding.complete(launch_values).filter(pl.col("figure_ns") > 0).select(columns)
    both = ends.join(positive, left_on="fewer", right_on="case", maintain_order="left").join(
        positive, left_on=["more", "candidate", "block"], right_on=["case", "candidate", "block"], suffix="_more"
    )
    return both.select(
        "candidate",
        "block",
        pl.col("launch_more").alias("launch"),
        (pl.col("figure_ns_more") / pl.col("figure_ns")).alias("figure_ns"),
        (pl.col("rounding_more") + pl.col("rounding")).alias("rounding"),
        case="step",
    )
