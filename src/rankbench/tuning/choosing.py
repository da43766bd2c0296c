"""Chooses rules from the results of a search: which variant is significantly faster, and for which sizes. Pure.

A setting is changed only where it is faster than the library's own choice by more than the threshold. What a choice
among many gains is biased upwards; the proof, on other measurements, gives the gain.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from rankbench.analysis import statistics
from rankbench.analysis.questions.interim import list_interim_looks
from rankbench.analysis.questions.view import select_judgeable
from rankbench.analysis.statistics import references
from rankbench.model import BROKEN, NO_CPU, Campaign, Comparison, Launch, LaunchStatus, Rule, Variant
from rankbench.plan.settings import OPTION
from rankbench.store import Store
from rankbench.tuning import DEFAULT, Task
from rankbench.tuning.step_plans import make_label

MOST_IN_FRONT = 3
"""Variants of an operation whose parameters are searched."""
EVIDENT_RATIO = 1.3
"""A variant that is slower or faster than the default by this factor shows in few blocks that settings have effect."""


class Point(NamedTuple):
    """A variant in one case."""

    placement: str
    operation: str
    size_bytes: int
    variant: str


class Fault(NamedTuple):
    """What excludes a variant of an operation, whatever its times: wrong data, an error, a crash or a hang."""

    variant: str
    operation: str
    status: str
    """Of its case, or of its launch."""
    reason: str


class SearchResult(NamedTuple):
    """The results of a search: variants compared with the library's own choice."""

    ratios: dict[Point, Comparison]
    """Time of a variant over time by default."""
    faults: tuple[Fault, ...] = ()
    fallbacks: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    """The library's report that it did not use a variant, by variant and operation; there is no ratio then."""
    excluded: frozenset[Point] = frozenset()
    """Points that no rule may use, since a proof showed that they are slower."""

    def list_sizes(self, placement: str, operation: str) -> list[int]:
        """Return the sizes in which an operation was measured, in rising order."""
        sizes = {point.size_bytes for point in self.ratios if point[:2] == (placement, operation)}
        return sorted(sizes)


class Abilities(NamedTuple):
    """What the library's rules can express."""

    can_split: Mapping[str, Collection[str]]
    """Variants, by operation, that a rule can use for a range of sizes; others hold for all sizes."""
    has_own_choice: bool
    """Whether a rule can leave sizes to the library."""


def read_search(store: Store, task: Task) -> SearchResult:
    """Return the results of a search."""
    campaign = store.campaign
    index = _index_variants(campaign, task)
    fell_back = store.cases().filter(pl.col("fallback") != "").join(index, on=["case", "candidate"])
    fell_back = fell_back.filter(pl.col("variant") != DEFAULT)
    launch_values = select_judgeable(statistics.compute_launch_values(store.samples(), campaign.plan.estimator))
    levels = references.by_case(launch_values, campaign)
    launch_values = launch_values.join(fell_back, on=["case", "candidate"], how="anti")
    rows = (
        launch_values.join(index, on=["case", "candidate"])
        .with_columns(case="like", candidate="variant")
        .drop("like", "variant")
    )
    pairs = [(DEFAULT, name) for name in rows["candidate"].unique().sort() if name != DEFAULT]
    comparisons = statistics.compare(
        rows,
        pairs,
        campaign.plan.threshold,
        looks=list_interim_looks(campaign.plan),
        confidence=campaign.plan.confidence,
        levels=levels,
    )
    cases = {case.key: case for case in campaign.cases}
    ratios = {}
    for comparison in comparisons:
        case = cases[comparison.case]
        ratios[Point(case.placement, case.operation, case.size_bytes, comparison.other)] = comparison
    fallbacks: dict[str, dict[str, str]] = {}
    for variant, operation, report in fell_back.select("variant", "operation", "fallback").iter_rows():
        fallbacks.setdefault(variant, {})[operation] = report
    return SearchResult(ratios, tuple(_find_faults(store, index, task)), fallbacks)


def _index_variants(campaign: Campaign, task: Task) -> pl.DataFrame:
    """Return the variant of each case and candidate, and the case that is `like` it but by the library's choice.

    A candidate has settings of several operations. Cases of an operation of which it is no variant are left out.
    """
    usual = {case.without(OPTION): case.key for case in campaign.cases if OPTION not in case.options}
    labels = {
        make_label(operation, variant): variant.name
        for operation, variants in task.variants.items()
        for variant in variants
    }
    names = {operation: {variant.name for variant in variants} for operation, variants in task.variants.items()}
    rows = [
        (case.key, candidate.name, usual[case.without(OPTION)], variant)
        for case in campaign.cases
        for candidate in campaign.candidates
        for variant in [labels.get(case.options.get(OPTION, ""), DEFAULT) if task.in_launch else candidate.name]
        if variant == DEFAULT or variant in names.get(case.operation, ())
    ]
    return pl.DataFrame(rows, ["case", "candidate", "like", "variant"], orient="row")


def select_broken(cases: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of cases that the library broke off or answered wrongly; not those that lacked a CPU."""
    machine = pl.col("reason").str.contains(NO_CPU, literal=True)
    return cases.filter(pl.col("status").is_in([status.value for status in BROKEN]) & ~machine)


def list_failed_launches(store: Store) -> list[Launch]:
    """Return the launches that failed outside of any case, and not for lack of a CPU."""
    explained = set(store.cases().filter(pl.col("status").is_in(["crashed", "hung", "failed"]))["launch"])
    return [
        launch
        for launch in store.launches()
        if launch.status != LaunchStatus.OK and launch.number not in explained and NO_CPU not in launch.reason
    ]


def _find_faults(store: Store, index: pl.DataFrame, task: Task) -> Iterator[Fault]:
    """Yield the faults of variants. A launch that failed outside of its cases is one of its candidate's variants."""
    operations = {case.key: case.operation for case in store.campaign.cases}
    rows = select_broken(store.cases()).join(index, on=["case", "candidate"]).filter(pl.col("variant") != DEFAULT)
    for row in rows.unique(["case", "variant", "status"], keep="first", maintain_order=True).iter_rows(named=True):
        yield Fault(row["variant"], operations[row["case"]], row["status"], row["reason"])
    for launch in list_failed_launches(store):
        for operation, variants in task.variants.items():
            if launch.candidate in {variant.name for variant in variants}:
                yield Fault(launch.candidate, operation, launch.status, launch.reason)


def combine_results(results: Sequence[SearchResult]) -> SearchResult:
    """Return the results of several searches as one; of a variant in several, the latest counts."""
    ratios = {point: ratio for result in results for point, ratio in result.ratios.items()}
    return SearchResult(
        ratios,
        tuple(dict.fromkeys(fault for result in results for fault in result.faults)),
        excluded=frozenset(point for result in results for point in result.excluded),
    )


def _list_right(task: Task, result: SearchResult, operation: str) -> list[Variant]:
    """Return the variants of an operation without a fault."""
    faulty = {fault.variant for fault in result.faults if fault.operation == operation}
    return [variant for variant in task.variants.get(operation, ()) if variant.name not in faulty]


def select_promising(task: Task, result: SearchResult) -> dict[str, list[Variant]]:
    """Return the variants whose estimate is faster by more than the threshold somewhere, by operation.

    All of an operation that needs a rule for every size.
    """
    promising: dict[str, list[Variant]] = {}
    for operation in task.operations:
        for variant in _list_right(task, result, operation):
            ratios = [ratio.ratio for point, ratio in result.ratios.items() if point[1::2] == (operation, variant.name)]
            if operation in task.forced or min(ratios, default=1.0) < 1 - task.threshold:
                promising.setdefault(operation, []).append(variant)
    return promising


def select_near(task: Task, result: SearchResult, unknown: Mapping[str, Collection[int]]) -> dict[str, list[Variant]]:
    """Return the variants that are not slower at a size next to an unknown one, by operation."""
    near: dict[str, list[Variant]] = {}
    for operation, sizes in unknown.items():
        searches = [_Search(task, result, operation, placement) for placement in task.placements]
        near[operation] = [
            variant
            for variant in searches[0].variants
            if any(search.is_harmless(side, variant) for search in searches for side in search.list_sides(sizes))
        ]
    return near


def select_front(task: Task, result: SearchResult) -> dict[str, list[Variant]]:
    """Return the few variants that may be the fastest somewhere, by operation, the fastest first."""
    front: dict[str, list[Variant]] = {}
    for operation, variants in select_promising(task, result).items():
        lowest: dict[str, float] = {}
        for placement in task.placements:
            for size in result.list_sizes(placement, operation):
                points = [Point(placement, operation, size, variant.name) for variant in variants]
                ratios = {point.variant: result.ratios[point] for point in points if point in result.ratios}
                best = min(ratios.values(), key=lambda ratio: ratio.ratio, default=None)
                for name, ratio in ratios.items():
                    if best and ratio.low <= best.high:
                        lowest[name] = min(lowest.get(name, math.inf), ratio.ratio)
        names = sorted(lowest, key=lambda name: lowest[name])[:MOST_IN_FRONT]
        front[operation] = [next(variant for variant in variants if variant.name == name) for name in names]
    return front


def choose_rules(task: Task, result: SearchResult, abilities: Abilities) -> list[Rule]:
    """Return the rules: for each operation and number of ranks, ranges of sizes with their variants."""
    rules: list[Rule] = []
    for operation in task.operations:
        for placement in sorted(task.placements, key=lambda name: task.placements[name]):
            search = _Search(task, result, operation, placement)
            splittable = [
                variant for variant in search.variants if variant.name in abilities.can_split.get(operation, ())
            ]
            others = [variant for variant in search.variants if variant not in splittable]
            if operation in task.forced:
                rules += search.choose_fastest(splittable, others)
                continue
            choose = search.choose_ranges if abilities.has_own_choice else search.cover_sizes
            choices = [list(choose(splittable)), list(search.choose_one(others))]
            rules += min(choices, key=search.multiply_ratios)
    return rules


class _Search(NamedTuple):
    """The result of one operation in one placement."""

    task: Task
    result: SearchResult
    operation: str
    placement: str

    @property
    def variants(self) -> list[Variant]:
        """Variants without a fault."""
        return _list_right(self.task, self.result, self.operation)

    @property
    def sizes(self) -> list[int]:
        """Sizes in rising order, in bytes."""
        return self.result.list_sizes(self.placement, self.operation)

    def find_ratio(self, size: int, variant: Variant) -> Comparison | None:
        """Return the ratio of a variant to the default, None where it is not known or may not be used."""
        point = Point(self.placement, self.operation, size, variant.name)
        return None if point in self.result.excluded else self.result.ratios.get(point)

    def is_faster(self, size: int, variant: Variant) -> bool:
        """Return whether a variant is faster by more than the threshold."""
        ratio = self.find_ratio(size, variant)
        return ratio is not None and ratio.different and ratio.ratio < 1

    def may_be_harmless(self, size: int, variant: Variant) -> bool:
        """Return whether a variant was measured and is not significantly slower."""
        ratio = self.find_ratio(size, variant)
        return ratio is not None and not (ratio.different and ratio.ratio > 1)

    def is_harmless(self, size: int, variant: Variant) -> bool:
        """Return whether a variant is slower neither significantly nor by its estimate."""
        ratio = self.find_ratio(size, variant)
        return self.may_be_harmless(size, variant) and ratio is not None and ratio.ratio <= 1 + self.task.threshold

    def list_sides(self, others: Collection[int]) -> list[int]:
        """Return the sizes next to others."""
        below = [[size for size in self.sizes if size < other][-1:] for other in others]
        above = [[size for size in self.sizes if size > other][:1] for other in others]
        return [size for side in below + above for size in side]

    def make_rule(self, first: int, last: int, variant: Variant) -> Rule:
        """Return a rule for the placement's number of ranks."""
        return Rule(
            operation=self.operation,
            first_bytes=first,
            last_bytes=last,
            variant=variant,
            ranks=self.task.placements[self.placement],
            all_sizes=(first, last) == (self.sizes[0], self.sizes[-1]),
        )

    def multiply_ratios(self, rules: Iterable[Rule]) -> float:
        """Return the product of ratios over all sizes with these rules."""
        product = 1.0
        for size in self.sizes:
            for rule in rules:
                if rule.first_bytes <= size <= rule.last_bytes and (ratio := self.find_ratio(size, rule.variant)):
                    product *= ratio.ratio
        return product

    def choose_one(self, variants: Sequence[Variant]) -> Iterator[Rule]:
        """Yield a rule with one variant for all sizes: never slower, faster somewhere, the fastest of all such."""
        able = [
            variant
            for variant in variants
            if all(self.is_harmless(size, variant) for size in self.sizes)
            and any(self.is_faster(size, variant) for size in self.sizes)
        ]
        rules = [self.make_rule(self.sizes[0], self.sizes[-1], variant) for variant in able]
        if rules:
            yield min(rules, key=lambda rule: self.multiply_ratios([rule]))

    def choose_fastest(self, splittable: Sequence[Variant], others: Sequence[Variant]) -> list[Rule]:
        """Return the fastest rules for all sizes, even if they are slower than the library's choice."""
        able = {size: [each for each in splittable if self.find_ratio(size, each)] for size in self.sizes}
        choices = [list(self.merge_ranges(able))] if self.sizes and all(able.values()) else []
        choices += [
            [self.make_rule(self.sizes[0], self.sizes[-1], variant)]
            for variant in [*splittable, *others]
            if self.sizes and all(self.find_ratio(size, variant) for size in self.sizes)
        ]
        return min(choices, key=self.multiply_ratios, default=[])

    def choose_ranges(self, variants: Sequence[Variant]) -> Iterator[Rule]:
        """Yield a rule for each range of sizes in which a variant is faster; other sizes are left to the library."""
        yield from self.merge_ranges(
            {size: [variant for variant in variants if self.is_faster(size, variant)] for size in self.sizes}
        )

    def cover_sizes(self, variants: Sequence[Variant]) -> Iterator[Rule]:
        """Yield rules for all sizes with variants that are not slower, where one of them is faster somewhere.

        Where the estimates of all are slower, one that is not significantly slower will do: the proof decides.
        """
        able = {
            size: [variant for variant in variants if self.is_harmless(size, variant)]
            or [variant for variant in variants if self.may_be_harmless(size, variant)]
            for size in self.sizes
        }
        if all(able.values()):
            rules = list(self.merge_ranges(able))
            if any(self.is_faster(size, _find_rule(rules, size).variant) for size in self.sizes):
                yield from rules

    def merge_ranges(self, able: Mapping[int, Sequence[Variant]]) -> Iterator[Rule]:
        """Yield ranges: a variant goes on as long as it is able and no other one is faster by the threshold."""
        start, variant = 0, None
        previous = 0
        for size in self.sizes:
            ratios = {other.name: ratio.ratio for other in able[size] if (ratio := self.find_ratio(size, other))}
            best = min(able[size], key=lambda other: ratios[other.name], default=None)
            lowest = min(ratios.values(), default=0.0)
            if variant and ratios.get(variant.name, math.inf) <= lowest * (1 + self.task.threshold):
                previous = size
                continue
            if variant:
                yield self.make_rule(start, size - 1 if best else previous, variant)
            start, variant, previous = size, best, size
        if variant:
            yield self.make_rule(start, previous, variant)


def _find_rule(rules: Sequence[Rule], size: int) -> Rule:
    return next(rule for rule in rules if rule.first_bytes <= size <= rule.last_bytes)


def find_evident_point(task: Task, result: SearchResult, abilities: Abilities) -> tuple[Point, Variant] | None:
    """Return the case and the variant whose time differs most surely from the default's, of those for ranges of sizes.

    If there is none of these, any variant. None: no time differs, and rules are chosen for the bits of sums only.
    """
    different = [
        (
            variant.name in abilities.can_split.get(point.operation, ()),
            max(ratio.low, 1 / ratio.high if ratio.high > 0 else 0.0),
            point,
            variant,
        )
        for point, ratio in result.ratios.items()
        if ratio.different and point not in result.excluded
        for variant in _list_right(task, result, point.operation)
        if variant.name == point.variant
    ]
    return max(different, key=lambda entry: entry[:2])[2:] if different else None


def list_gains(task: Task, result: SearchResult) -> dict[Point, float]:
    """Return the lowest ratio of each case in which a variant is faster."""
    gains: dict[Point, float] = {}
    for placement in task.placements:
        for operation in task.operations:
            search = _Search(task, result, operation, placement)
            for size in search.sizes:
                faster = [variant for variant in search.variants if search.is_faster(size, variant)]
                points = [Point(placement, operation, size, variant.name) for variant in faster]
                if points:
                    best = min(points, key=lambda point: result.ratios[point].ratio)
                    gains[best] = result.ratios[best].ratio
    return gains


def make_evident_rule(task: Task, point: Point, variant: Variant, abilities: Abilities) -> Rule:
    """Return the rule that selects a variant for the size of a point, or for all sizes where it cannot be split."""
    sizes = [point.size_bytes]
    can_split = variant.name in abilities.can_split.get(point.operation, ())
    if not can_split:
        sizes = task.sizes_bytes
    return Rule(
        operation=point.operation,
        first_bytes=sizes[0],
        last_bytes=sizes[-1],
        variant=variant,
        ranks=task.placements[point.placement],
        all_sizes=not can_split,
    )
