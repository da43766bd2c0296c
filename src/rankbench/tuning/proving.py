"""The result of a proof: the tuned library compared with the default one, over all cases and in each.

These are the comparisons of the campaign's evaluation, as every report of it shows them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rankbench import evaluation
from rankbench.language import Text, say
from rankbench.quantities import format_size
from rankbench.tuning import DEFAULT, TUNED, Task
from rankbench.tuning.choosing import Point
from rankbench.verdict.overall import Overall, compare_overall

if TYPE_CHECKING:
    from rankbench.model import Case, Comparison, Rule
    from rankbench.store import Store
    from rankbench.tuning.choosing import SearchResult


NO_OVERALL = Overall(1.0, 0.0, math.inf)


class Proof(NamedTuple):
    """The result of a proof."""

    overall: Overall
    """Tuned time over default time, each operation with the same weight."""
    cases: list[tuple[Case, Comparison]]

    @property
    def faster(self) -> list[Case]:
        """Cases in which the tuned library is faster by more than the threshold."""
        return [case for case, comparison in self.cases if comparison.different and comparison.ratio < 1]

    @property
    def slower(self) -> list[Case]:
        """Cases in which it is slower by more than the threshold."""
        return [case for case, comparison in self.cases if comparison.different and comparison.ratio > 1]

    @property
    def significant(self) -> bool:
        """Whether it is faster over all cases, and in one by more than the threshold."""
        return bool(self.overall.high < 1 and self.faster)

    @property
    def text(self) -> Text:
        """The result in a sentence."""
        counts = Counter(
            "equivalent" if comparison.alike else "open" for _, comparison in self.cases if not comparison.different
        )
        parts = {"n": len(self.cases), "faster": len(self.faster), "slower": len(self.slower)}
        single = say(
            "faster in {faster}, slower in {slower}, equivalent in {equivalent}, not distinguishable in {open}",
            equivalent=counts["equivalent"],
            open=counts["open"],
            **parts,
        )
        if not math.isfinite(self.overall.high):  # There are too few values.
            return single
        return say(
            "{ratio:ratio} of the time ({low:ratio} to {high:ratio}) over {n:count case}: {single}",
            ratio=self.overall.mean,
            low=self.overall.low,
            high=self.overall.high,
            single=single,
            **parts,
        )


def read_proof(store: Store) -> Proof:
    """Return the result of a campaign of the default and the tuned library."""
    view = evaluation.evaluate(store)
    pairs = ((case, view.comparisons.find(case.key, DEFAULT, TUNED)) for case in view.cases)
    cases = [(case, comparison) for case, comparison in pairs if comparison]
    overall = compare_overall(view, DEFAULT, TUNED, [case.key for case, _ in cases]) if cases else NO_OVERALL
    return Proof(overall, cases)


class Exclusion(NamedTuple):
    """What rules may not use any more, since a proof showed that it makes cases slower."""

    result: SearchResult
    """The result of the search without it."""
    unknown: dict[str, set[int]]
    """Sizes between those of the search, by operation, at which another variant may be better."""
    sentences: list[str]
    """A sentence on each case."""


def exclude_slower(
    task: Task, result: SearchResult, rules: Sequence[Rule], proof: Proof, *, operations: bool = False
) -> Exclusion:
    """Exclude what made cases slower: the variant of the rule at the case's size.

    Where no rule covers the case, what is written for its operation makes it slower all the same: the operation is
    excluded. With `operations` it is in every case.
    """
    excluded = set(result.excluded)
    unknown: dict[str, set[int]] = {}
    sentences = []
    for case in proof.slower:
        text = f"slower as tuned: {case.operation} {format_size(case.size_bytes)} on {case.ranks} ranks; "
        covering = [rule for rule in rules if rule.operation == case.operation and _covers(rule, case)]
        if operations or not covering:
            excluded |= {point for point in result.ratios if point.operation == case.operation}
            reason = "" if covering else "no rule is for this case, so "
            sentences.append(f"{text}{reason}all rules of {case.operation} are left out")
            continue
        for rule in covering:
            for placement, ranks in task.placements.items():
                if ranks != rule.ranks:
                    continue
                sizes = result.list_sizes(placement, rule.operation)
                if ranks == case.ranks:
                    if case.size_bytes not in sizes:
                        unknown.setdefault(case.operation, set()).add(case.size_bytes)
                    sizes = [case.size_bytes]
                excluded |= {Point(placement, rule.operation, size, rule.variant.name) for size in sizes}
            sentences.append(f"{text}{rule.variant.name} is not used there")
    return Exclusion(result._replace(excluded=frozenset(excluded)), unknown, sentences)


def _covers(rule: Rule, case: Case) -> bool:
    within = rule.ranks == case.ranks and rule.first_bytes <= case.size_bytes <= rule.last_bytes
    return rule.all_sizes or within
