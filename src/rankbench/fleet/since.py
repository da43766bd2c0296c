"""A fleet now and before: whether it became slower as a whole, and which of its nodes did."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from rankbench.fleet.sweep_records import TRAITS, Sweep
from rankbench.model import Record

MOST_UNLIKE = 0.1
"""A fleet became slower if at most this share of its nodes did not."""


class Change(Record, frozen=True):
    """How a trait changed since an earlier sweep."""

    trait: str
    ratio: float
    """Time now over time before, the median of all nodes that are in both."""
    slower: int
    nodes: int
    """How many nodes became slower, of how many."""
    became_slower: bool
    """Whether nearly all did, by more than the threshold."""
    worst: list[str]
    """Nodes that became slower than the fleet did, by more than the threshold, the worst first."""


def list_changes(before: Sweep, now: Sweep) -> Iterator[Change]:
    """Yield the change of every trait that both sweeps have."""
    earlier = {node.host: node for node in before.nodes}
    for trait in TRAITS:
        ratios = {
            node.host: (node.values[trait.name] / earlier[node.host].values[trait.name]) ** (-1 if trait.is_rate else 1)
            for node in now.nodes
            if node.host in earlier and {trait.name} <= node.values.keys() & earlier[node.host].values.keys()
        }
        if not ratios:
            continue
        median, limit = statistics.median(ratios.values()), 1 + now.threshold
        slower = sum(ratio > 1 for ratio in ratios.values())
        worst = sorted((-ratio, host) for host, ratio in ratios.items() if ratio > limit * max(1, median))
        yield Change(
            trait=trait.name,
            ratio=median,
            slower=slower,
            nodes=len(ratios),
            became_slower=median >= limit and len(ratios) - slower <= MOST_UNLIKE * len(ratios),
            worst=[host for _, host in worst],
        )


def list_differences(before: Sweep, now: Sweep) -> Iterator[str]:
    """Yield what else differs between two sweeps, so that they do not measure the same."""
    for name in ("library_version", "ranks_per_node", "version"):
        before_value, value = getattr(before, name), getattr(now, name)
        if before_value != value:
            yield f"{name.replace('_', ' ')}: {before_value} before, {value} now"
    hosts, earlier = {node.host for node in now.nodes}, {node.host for node in before.nodes}
    if missing := sorted(earlier - hosts):
        yield f"not in this sweep: {', '.join(missing)}"
    if new := sorted(hosts - earlier):
        yield f"not in the earlier sweep: {', '.join(new)}"
