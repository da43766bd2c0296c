"""Whether a node, core or link ranks lower among the others than chance allows.

In each round everybody measures at the same time, so that a busy network or machine slows all. What is constant within
a launch, as the place that the system gave to a process, is one accident however many rounds show it. So each launch
counts once: by the median over its rounds a node has a place among all. If it is like the others, this is any place
with equal probability, whatever the distribution of the times; the sum of its places over launches then has a known
distribution.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankbench.fleet.sweep_records import Trait
from rankbench.fleet.tournament import Link
from rankbench.samples.rounds import Round

Numbers = NDArray[np.float64]
Whole = NDArray[np.int64]
Chosen = NDArray[np.bool_]
FEW = 64
"""Up to this number of places their sum is counted exactly; above, places are as good as continuous."""
LEVEL = 0.95
"""Of intervals."""


class Measured(NamedTuple):
    """A round with what was measured in it: by quantity, the values of all ranks or nodes; NaN: unknown."""

    round: Round
    values: Mapping[str, Numbers]
    launch: int = 0


class Speeds(NamedTuple):
    """One trait of all nodes, or of all cores, in all rounds that measure it: arrays of rounds x nodes.

    NaN, and -1 of a partner: not in this round.
    """

    values: Numbers
    slowness: Numbers
    """Logarithm of the time over the median of the round; of a rate, the reverse."""
    partner: Whole
    """Whom each node met, in rounds of pairs."""
    launch: Whole
    """Of each round."""


class Standing(NamedTuple):
    """How a node, core or link did: times as slow as the others by the median over launches, and its interval."""

    ratio: float
    low: float
    high: float
    slower: int
    launches: int
    chance: float


# --- what was measured ------------------------------------------------------------------------------------------------


def arrange(rounds: Iterable[Measured], trait: Trait, first: Sequence[int]) -> Speeds:
    """Return a trait of all nodes. `first` has the first rank of each node, and the number of all ranks last."""
    nodes = len(first) - 1
    return join_rounds(
        [arrange_round(measured, trait, first) for measured in rounds if _has_trait(measured, trait)], nodes
    )


def arrange_cores(rounds: Iterable[Measured], trait: Trait, ranks: int) -> Speeds:
    """Return a trait of all cores, by the rank that was on each."""
    chosen = [measured for measured in rounds if _has_trait(measured, trait)]
    return join_rounds([make_row(measured, measured.values[trait.quantity], trait) for measured in chosen], ranks)


def _has_trait(measured: Measured, trait: Trait) -> bool:
    return measured.round.kind == trait.kind and trait.quantity in measured.values


def arrange_round(measured: Measured, trait: Trait, first: Sequence[int]) -> Speeds:
    """Return one round of nodes, pairs or groups."""
    values = measured.values[trait.quantity]
    if measured.round.kind == "nodes":
        return make_row(measured, np.array([find_median(values[begin:end]) for begin, end in pairwise(first)]), trait)
    groups = np.array(measured.round.nodes).reshape(-1, measured.round.size)
    partner = np.full(len(values), -1)
    if measured.round.kind == "pairs":
        partner[groups[:, 0]], partner[groups[:, 1]] = groups[:, 1], groups[:, 0]
    if trait.name == "receiving":
        values = np.where(partner >= 0, values[partner], np.nan)
    if trait.name in {"latency", "allreduce"}:
        together = np.full(len(values), np.nan)
        for group in groups:
            together[group] = find_median(values[group])
        values = together
    return make_row(measured, values, trait)._replace(partner=partner[None, :])


def find_median(values: Numbers) -> float:
    """Return the median of the values that are known; NaN: none is."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else math.nan


def make_row(measured: Measured, values: Numbers, trait: Trait) -> Speeds:
    """Return a round. One in which nobody else has a value shows nothing about anybody."""
    logs = np.log(values) * (-1 if trait.is_rate else 1)
    alone = (~np.isnan(logs)).sum() < (2 if trait.kind == "nodes" else measured.round.size + 1)
    slowness = np.full(len(values), np.nan) if alone else logs - find_median(logs)
    nobody = np.full((1, len(values)), -1)
    return Speeds(values[None, :], slowness[None, :], nobody, np.array([measured.launch]))


def join_rounds(rounds: Sequence[Speeds], count: int) -> Speeds:
    """Return several rounds of this number of nodes together."""
    if not rounds:
        nothing = np.empty((0, count))
        return Speeds(nothing, nothing, nothing.astype(np.int64), np.empty(0, dtype=np.int64))
    return Speeds(*(np.concatenate(parts) for parts in zip(*rounds, strict=True)))


def subtract_effects(speeds: Speeds, effects: Numbers, of_partners: Numbers) -> Speeds:
    """Return rounds of pairs without what single nodes explain: their own slowness and their partners'."""
    explained = effects + np.where(speeds.partner >= 0, of_partners[speeds.partner], 0)
    slowness = speeds.slowness - explained
    for row in slowness:
        row -= find_median(row)
    return speeds._replace(slowness=slowness)


def leave_out_links(speeds: Speeds, links: Iterable[Link]) -> Speeds:
    """Return what nodes did in rounds where they did not meet over one of these links."""
    slowness = speeds.slowness.copy()
    for a, b in links:
        for node, other in ((a, b), (b, a)):
            slowness[speeds.partner[:, node] == other, node] = np.nan
    return speeds._replace(slowness=slowness)


def find_medians(speeds: Speeds, rounds: Chosen | None = None) -> Numbers:
    """Return the slowness of each node or core, the median over these rounds, or all; NaN: it is unknown."""
    slowness = speeds.slowness if rounds is None else speeds.slowness[rounds]
    return np.array([find_median(column) for column in slowness.T])


# --- places among the others ------------------------------------------------------------------------------------------


def tabulate_nodes(speeds: Speeds) -> list[Numbers]:
    """Return the slowness of all nodes or cores, for each launch."""
    return [find_medians(speeds, speeds.launch == launch) for launch in np.unique(speeds.launch)]


def judge_node(launches: Sequence[Numbers], who: int) -> Standing | None:
    """Return how a node or core did; None: it was not measured."""
    return sum_up([rank_among(medians[who], np.delete(medians, who)) for medians in launches])


def tabulate_links(speeds: Speeds, *, directed: bool) -> list[dict[Link, float]]:
    """Return the slowness of all links, for each launch; those without a direction once."""
    launches = [list_links(speeds, speeds.launch == launch) for launch in np.unique(speeds.launch)]
    return [
        {(a, b): find_median(values) for (a, b), values in links.items() if directed or a < b} for links in launches
    ]


def judge_link(launches: Sequence[Mapping[Link, float]], link: Link) -> Standing | None:
    """Return how a link did among the others, its own other direction left out; None: it was not measured."""
    return sum_up(
        [
            rank_among(medians[link], np.array([value for other, value in medians.items() if {*other} != {*link}]))
            for medians in launches
            if link in medians
        ]
    )


def list_links(speeds: Speeds, rounds: Chosen) -> dict[Link, Numbers]:
    """Return the slowness of each link in some rounds, from the first node to the second."""
    there = (speeds.partner >= 0) & ~np.isnan(speeds.slowness) & rounds[:, None]
    nodes = speeds.partner.shape[1]
    keys = (np.arange(nodes) * nodes + speeds.partner)[there]
    order = np.argsort(keys, kind="stable")
    if not len(keys):
        return {}
    distinct, begins = np.unique(keys[order], return_index=True)
    parts = np.split(speeds.slowness[there][order], begins[1:])
    return {divmod(int(key), nodes): part for key, part in zip(distinct, parts, strict=True)}


class Rank(NamedTuple):
    """The place of a value among others: 1 is the least, equal ones share the mean of theirs."""

    value: float
    place: float
    of: int


def rank_among(value: float, others: Numbers) -> Rank:
    """Return the place of a value."""
    known = others[~np.isnan(others)]
    return Rank(value, 1 + float((known < value).sum() + (known == value).sum() / 2), len(known) + 1)


def sum_up(launches: Sequence[Rank]) -> Standing | None:
    """Return what the places in several launches say together."""
    known = [rank for rank in launches if not math.isnan(rank.value) and rank.of > 1]
    if not known:
        return None
    values = np.sort([rank.value for rank in known])
    low, high = find_interval(values)
    return Standing(
        ratio=math.exp(float(np.median(values))),
        low=math.exp(low),
        high=math.exp(high),
        slower=int((values > 0).sum()),
        launches=len(known),
        chance=find_chance(np.array([rank.place for rank in known]), np.array([rank.of for rank in known])),
    )


def find_interval(ordered: Numbers) -> tuple[float, float]:
    """Return the interval of the median of ordered values: the narrowest two of them that hold it (binomial)."""
    count = len(ordered)
    tail, cut = 0.5**count, 0
    while cut < count // 2 and tail <= (1 - LEVEL) / 2:
        cut += 1
        tail += math.comb(count, cut) * 0.5**count
    last = max(0, cut - 1)
    return float(ordered[last]), float(ordered[-1 - last])


def find_chance(place: Numbers, of: Whole) -> float:
    """Return the probability that places drawn at random have at least this sum."""
    if (of > FEW).all():
        return find_tail_of_uniforms(len(place), float(np.sum((place - 1) / of)))
    distribution = np.ones(1)
    for places in of:
        distribution = np.convolve(distribution, np.full(int(places), 1 / places))
    lowest = len(of)  # The sum where everybody is the fastest.
    return float(distribution[max(0, math.floor(place.sum()) - lowest) :].sum())


def find_tail_of_uniforms(count: int, total: float) -> float:
    """Return the probability that the sum of uniform numbers from 0 to 1 is at least `total` (Irwin and Hall)."""
    lack = count - total
    terms = ((-1) ** k * math.comb(count, k) * (lack - k) ** count for k in range(math.floor(lack) + 1))
    return min(1.0, math.fsum(terms) / math.factorial(count))


# --- links in the first launch ----------------------------------------------------------------------------------------


class LinkSlowness(NamedTuple):
    """How a link did, without what its nodes do with others: times as slow as the other links, the median."""

    ratio: float
    rounds: int


def find_links(speeds: Speeds, of_other: Speeds) -> dict[Link, LinkSlowness]:
    """Return how each link did that was measured, from the first node to the second.

    `of_other` has the trait of the second node: receiving, where `speeds` has sending.
    """
    effects, effects_of_other = (np.nan_to_num(find_medians(which)) for which in (speeds, of_other))
    links: dict[Link, LinkSlowness] = {}
    for (who, other), slowness in list_links(speeds, np.ones(len(speeds.launch), dtype=bool)).items():
        explained = max(0.0, effects[who], effects_of_other[other])
        links[who, other] = LinkSlowness(math.exp(find_median(slowness) - explained), len(slowness))
    return links
