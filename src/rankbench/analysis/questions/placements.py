"""What a placement does to a case: the same case of one candidate at several placements, and what may explain it. Pure.

Ratios are paired within blocks, as those between candidates are. What the machine does without MPI is compared in the
same way, so that the two can be compared.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.analysis.questions.places import HOST, locate_rank
from rankbench.analysis.statistics import CONFIDENCE, FEWEST_BLOCKS, FINEST_SPREAD, compare, rounding, states
from rankbench.analysis.statistics.decision import Estimate, Family, decide
from rankbench.analysis.statistics.shapes import JUMP, compute_excesses
from rankbench.model import Campaign, Case, Comparison, Cpu, Launch, Level, Machine, list_rank_sets


class PlacementEffect(NamedTuple):
    """What one placement does to a case of one candidate, against another."""

    candidate: str
    line: str
    """Key of the case without its placement."""
    ratio: Comparison
    """Its `base` and `other` are the names of the two placements."""


class Jump(NamedTuple):
    """Two sizes next to each other between which time changes as no smooth curve does."""

    smaller_bytes: int
    larger_bytes: int
    factor: float
    """Time at the larger size over that at the smaller one."""


def remove_placement(case: Case) -> Case:
    """Return the case without its placement."""
    return msgspec.structs.replace(case, placement="")


def list_same_cases(campaign: Campaign) -> dict[str, dict[str, Case]]:
    """Return the cases that were made at several placements: by what they have in common, and by placement.

    They have as many ranks, or are between two ranks wherever the others are.
    """
    between_two = {operation.name for operation in campaign.operations if operation.between_two}
    by_line: dict[tuple[str, int], dict[str, Case]] = {}
    for case in campaign.cases:
        ranks = 2 if case.operation in between_two else case.ranks
        by_line.setdefault((remove_placement(case).key, ranks), {})[case.placement] = case
    several = {key: cases for key, cases in by_line.items() if len(cases) > 1}
    return {line if ranks == 2 else f"{line} {ranks}": cases for (line, ranks), cases in several.items()}


def placement_effects(launch_values: pl.DataFrame, campaign: Campaign) -> list[PlacementEffect]:
    """Return what each placement does to each case of each candidate, against each that the plan names before it.

    Args:
        launch_values: result of `compute_launch_values`, less what is not to be judged.
        campaign: the campaign; its A/A twins take no part.
    """
    lines = list_same_cases(campaign)
    rows = [(case.key, line, place) for line, cases in lines.items() for place, case in cases.items()]
    if not rows:
        return []
    named = pl.DataFrame(rows, ["case", "line", "placement"], orient="row")
    placed = rounding.complete(launch_values).join(named, on="case").drop("case")
    pairs = list(itertools.combinations([placement.name for placement in campaign.plan.placements], 2))
    effects: list[PlacementEffect] = []
    for name in (candidate.name for candidate in campaign.candidates if not candidate.control_of):
        frame = placed.filter(candidate=name).select(
            "block", "launch", "figure_ns", "rounding", case="line", candidate="placement"
        )
        planned = campaign.plan
        ratios = compare(frame, pairs, planned.threshold, confidence=planned.confidence)
        effects += (PlacementEffect(name, ratio.case, ratio) for ratio in ratios)
    return effects


def invert(ratio: Comparison) -> Comparison:
    """Return a comparison the other way round, its levels too."""
    levels = [msgspec.structs.replace(level, **_invert(level)) for level in ratio.levels]
    return msgspec.structs.replace(ratio, base=ratio.other, other=ratio.base, **_invert(ratio), levels=levels)


def _invert(ratio: Comparison | Level) -> dict[str, float]:
    high = 1 / ratio.low if ratio.low else math.inf
    return {"ratio": 1 / ratio.ratio, "low": 1 / ratio.high, "high": high}


# --- the machine without MPI ------------------------------------------------------------------------------------------


def exchange_effects(
    launches: Iterable[Launch], ranks: Collection[int], machine: Machine, threshold: float
) -> list[Comparison]:
    """Return how long a cache line takes between the CPUs of these ranks at one placement, against another.

    Where a launch's own CPUs were not measured, as of a machine of many, CPUs that share the same stand for them.
    """
    known = [(launch, exchange_ns(launch, ranks, machine)) for launch in launches]
    rows = [
        ("exchange", launch.placement, launch.block, launch.number, time)
        for launch, time in known
        if math.isfinite(time)
    ]
    schema = {"case": pl.String, "candidate": pl.String, "block": pl.Int32, "launch": pl.Int32, "figure_ns": pl.Float64}
    frame = pl.DataFrame(rows, schema, orient="row")
    names = list(dict.fromkeys(launch.placement for launch, _ in known))
    return compare(frame, list(itertools.permutations(names, 2)), threshold)


def exchange_ns(launch: Launch, ranks: Collection[int], machine: Machine) -> float:
    """Return the exchange time between the CPUs of these ranks around a launch, not a number where it is not known."""
    facts = [fact for fact in launch.ranks if fact.rank in ranks]
    if len({fact.host for fact in facts}) != 1 or facts[0].host != machine.host:
        return math.nan
    before, after = (states.index_exchanges(state) for state in (launch.before, launch.after))
    measured = {pair: math.sqrt(before[pair] * after[pair]) for pair in before.keys() & after.keys()} or before or after
    cpus = {fact.cpu for fact in facts}
    values = {pair: time for pair, time in measured.items() if set(pair) <= cpus}
    return states.average_times(
        values or find_equivalent_pairs(measured, cpus, {cpu.number: cpu for cpu in machine.cpus})
    )


def find_equivalent_pairs(
    measured: Mapping[tuple[int, int], float], cpus: set[int], known: Mapping[int, Cpu]
) -> states.Exchanges:
    """Return the exchange times of pairs of CPUs that share just what two others share."""
    if len(cpus) > 2 or not cpus <= known.keys():
        return {}
    wanted = list_common_kinds(known, *sorted(cpus))
    return {
        pair: time
        for pair, time in measured.items()
        if set(pair) <= known.keys() and list_common_kinds(known, *pair) == wanted
    }


def list_common_kinds(known: Mapping[int, Cpu], cpu: int, other: int) -> set[str]:
    """Return the kinds of what two CPUs share: `socket`, `NUMA node`, `L3`, `core`."""
    first, second = known[cpu], known[other]
    shared = {
        "socket": first.socket == second.socket,
        "NUMA node": first.numa == second.numa,
        "core": first.core == second.core,
        **{name: second.caches.get(name) == number for name, number in first.caches.items()},
    }
    return {name for name, same in shared.items() if same}


def find_shared_kinds(launches: Iterable[Launch], ranks: Collection[int], machine: Machine) -> set[str] | None:
    """Return the kinds of what all these ranks share: none where they share no host, None where launches disagree."""
    cpus = {cpu.number: cpu for cpu in machine.cpus}
    common_kinds: set[str] | None = None
    for together in list_rank_sets(launches):
        locations = [locate_rank(fact, cpus).units for fact in together if fact.rank in ranks]
        if len(locations) < len(ranks):
            continue
        kinds = {kind for kind, unit in locations[0].items() if all(units.get(kind) == unit for units in locations)}
        if common_kinds not in (None, kinds):
            return None
        common_kinds = kinds
    return common_kinds


def measure_copying(launches: Iterable[Launch]) -> float:
    """Return the bytes a second that one core copies while all others copy too, not a number where nobody measured it.

    Copying reads and writes, and the core counts both.
    """
    probes = [state for launch in launches for state in (launch.before, launch.after) if state and state.cpus]
    rates = [state.copy_bytes_per_s / len(state.cpus) / 2 for state in probes if state.copy_bytes_per_s]
    return float(np.median(rates)) if rates else math.nan


def one_host(kinds: set[str] | None) -> bool:
    """Return whether ranks are known to be on one host."""
    return kinds is not None and HOST in kinds


# --- along the sizes --------------------------------------------------------------------------------------------------


def find_jumps(launch_values: pl.DataFrame, cases: Mapping[int, str], candidate: str) -> list[Jump]:
    """Return the jumps of one candidate along the sizes, of which `cases` gives the keys.

    A step is a jump if it leaves what a smooth curve allows (`shapes.compute_excesses`) by significantly more than a
    quarter of the time (`decision`, over blocks, for all steps at once: Bonferroni).
    """
    sizes = sorted(size for size in cases if size)
    keys = [cases[size] for size in sizes]
    frame = launch_values.filter(pl.col("case").is_in(keys), pl.col("figure_ns") > 0, candidate=candidate)
    table = frame.pivot("case", index="block", values="figure_ns", aggregate_function="first")
    if len(sizes) < 3 or not set(keys) <= set(table.columns):
        return []
    logs = np.log(table.select(keys).drop_nulls().to_numpy())
    if len(logs) < FEWEST_BLOCKS:
        return []
    return list(_jumps(sizes, logs))


def _jumps(sizes: Sequence[int], logs: NDArray[np.float64]) -> Iterator[Jump]:
    both = compute_excesses(sizes, logs)
    for step, (smaller, larger) in enumerate(itertools.pairwise(sizes)):
        if any(_beyond(excess[:, step], len(sizes) - 1) for excess in both):
            yield Jump(smaller, larger, float(np.exp((logs[:, step + 1] - logs[:, step]).mean())))


def _beyond(excess: NDArray[np.float64], tries: int) -> bool:
    """Return whether a logarithm is certainly beyond that of a jump, one of so many tests."""
    spread = max(float(excess.std(ddof=1)), FINEST_SPREAD)
    estimate = Estimate(float(excess.mean()), spread / math.sqrt(len(excess)), len(excess) - 1)
    (decision,) = decide([estimate], JUMP - 1, CONFIDENCE, family=Family("bonferroni", tests=tries), one_sided=True)
    return decision.different
