"""From what a search measured to rules: which variant is significantly faster, and for which sizes. Pure.

A setting is changed only where it is faster than the library's own choice by more than the threshold. What a choice
among many gains is biased upwards; the proof, on other measurements, gives the gain.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from rankbench import statistics
from rankbench.model import Rule
from rankbench.plan.settings import OPTION
from rankbench.tuning import DEFAULT
from rankbench.tuning.plans import make_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankbench.model import Campaign, Comparison, Variant
    from rankbench.store import Store
    from rankbench.tuning import Task

SCREENING_RATIO = 1.0
"""Of a variant after screening: the lowest end of its intervals must be below this ratio to the library's choice."""


class SearchResult(NamedTuple):
    """The variants of a search against the library's own choice."""

    ratios: dict[tuple[str, int, str], Comparison]
    """Time of a variant over time by default, by operation, size and variant."""
    wrong: dict[str, list[str]]
    """Operations in which a variant delivered wrong data, by variant."""


def read_search(store: Store, task: Task) -> SearchResult:
    """Return what a search measured."""
    campaign = store.campaign
    named = _index_variants(campaign, task)
    figures = statistics.launch_figures(store.samples(), campaign.plan.estimator)
    figures = figures.filter(~pl.col("uncertain"), ~pl.col("few"))
    rows = (
        figures.join(named, on=["case", "candidate"])
        .with_columns(case="like", candidate="variant")
        .drop("like", "variant")
    )
    pairs = [(DEFAULT, name) for name in rows["candidate"].unique().sort() if name != DEFAULT]
    comparisons = statistics.compare(rows, pairs, campaign.plan.threshold, confidence=campaign.plan.confidence)
    cases = {case.key: case for case in campaign.cases}
    ratios = {
        (cases[comparison.case].operation, cases[comparison.case].size_bytes, comparison.other): comparison
        for comparison in comparisons
    }
    return SearchResult(ratios, _find_wrong(store, named, campaign))


def _index_variants(campaign: Campaign, task: Task) -> pl.DataFrame:
    """Return the variant of each case and candidate, and the case that is `like` it but by the library's choice."""
    usual = {_strip_settings(case.key): case.key for case in campaign.cases if OPTION not in case.options}
    names = {make_label(operation, one): one.name for operation, variant in task.variants.items() for one in variant}
    rows = [
        (
            case.key,
            candidate.name,
            usual[_strip_settings(case.key)],
            names.get(case.options.get(OPTION, ""), DEFAULT) if task.in_launch else candidate.name,
        )
        for case in campaign.cases
        for candidate in campaign.candidates
    ]
    return pl.DataFrame(rows, ["case", "candidate", "like", "variant"], orient="row")


def _strip_settings(key: str) -> str:
    """Return a case's key without its settings."""
    return ".".join(word for word in key.split(".") if not word.startswith(f"{OPTION}="))


def _find_wrong(store: Store, named: pl.DataFrame, campaign: Campaign) -> dict[str, list[str]]:
    cases = {case.key: case for case in campaign.cases}
    rows = store.cases().filter(pl.col("status") == "wrong-data").select("case", "candidate").unique()
    found: dict[str, list[str]] = {}
    for case, variant in rows.join(named, on=["case", "candidate"]).select("case", "variant").iter_rows():
        found.setdefault(variant, []).append(cases[case].operation)
    return {variant: sorted(set(operations)) for variant, operations in found.items()}


def select_promising(task: Task, result: SearchResult) -> dict[str, list[Variant]]:
    """Return the variants that may still be faster somewhere, by operation."""
    kept: dict[str, list[Variant]] = {}
    for operation, variants in task.variants.items():
        for variant in variants:
            comparisons = [
                ratio for (name, _, label), ratio in result.ratios.items() if (name, label) == (operation, variant.name)
            ]
            right = operation not in result.wrong.get(variant.name, ())
            if right and any(
                comparison.low < SCREENING_RATIO and comparison.ratio < 1 + task.threshold for comparison in comparisons
            ):
                kept.setdefault(operation, []).append(variant)
    return kept


def choose_rules(task: Task, result: SearchResult, can_split: Mapping[str, bool]) -> list[Rule]:
    """Return the rules: of each operation ranges of sizes with the variant that is used there."""
    listed: list[Rule] = []
    for operation in task.operations:
        variants = [
            variant
            for variant in task.variants.get(operation, ())
            if operation not in result.wrong.get(variant.name, ())
        ]
        if can_split.get(operation, False):
            listed += _choose_ranges(operation, task, result, variants)
        else:
            listed += _choose_for_all_sizes(operation, task, result, variants)
    return listed


def _choose_for_all_sizes(
    operation: str, task: Task, result: SearchResult, variants: Sequence[Variant]
) -> Iterable[Rule]:
    """Yield the one variant for all sizes: never slower, faster somewhere, with the lowest times of all such."""
    able = [variant for variant in variants if _is_never_slower(operation, variant, task, result)]
    if able:
        best = min(able, key=lambda variant: _multiply_ratios(operation, variant, result))
        sizes = _list_sizes(operation, result)
        yield Rule(operation, min(sizes), max(sizes), best)


def _is_never_slower(operation: str, variant: Variant, task: Task, result: SearchResult) -> bool:
    comparisons = [result.ratios.get((operation, size, variant.name)) for size in _list_sizes(operation, result)]
    known = [comparison for comparison in comparisons if comparison]
    bounded = all(
        comparison.ratio <= 1 + task.threshold and not (comparison.different and comparison.ratio > 1)
        for comparison in known
    )
    return len(known) == len(comparisons) and bounded and any(_is_faster(comparison) for comparison in known)


def _multiply_ratios(operation: str, variant: Variant, result: SearchResult) -> float:
    return math.prod(result.ratios[operation, size, variant.name].ratio for size in _list_sizes(operation, result))


def _list_sizes(operation: str, result: SearchResult) -> list[int]:
    """Return the sizes in which an operation was measured, in rising order."""
    return sorted({size for name, size, _ in result.ratios if name == operation})


def _choose_ranges(operation: str, task: Task, result: SearchResult, variants: Sequence[Variant]) -> Iterable[Rule]:
    """Yield ranges of sizes. A variant goes on as long as it is faster and no other one is faster than it by more."""
    current: Rule | None = None
    for size in _list_sizes(operation, result):
        faster = {
            variant.name: variant
            for variant in variants
            if _is_faster(result.ratios.get((operation, size, variant.name)))
        }
        ratios = {name: result.ratios[operation, size, name].ratio for name in faster}
        best = min(ratios, key=lambda name: ratios[name], default="")
        goes_on = current and ratios.get(current.variant.name, 9e9) <= ratios.get(best, 0) * (1 + task.threshold)
        if current and goes_on:
            current = Rule(operation, current.first_bytes, size, current.variant)
            continue
        if current:
            yield current if not best else Rule(operation, current.first_bytes, size - 1, current.variant)
        current = Rule(operation, size, size, faster[best]) if best else None
    if current:
        yield current


def _is_faster(comparison: Comparison | None) -> bool:
    return comparison is not None and comparison.different and comparison.ratio < 1
