"""The result of a proof: the tuned library compared with the default one, over all cases and in each.

These are the comparisons of the campaign's evaluation, as every report of it shows them.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from rankbench import evaluation
from rankbench.language import Text, say
from rankbench.quantities import format_size
from rankbench.tuning import DEFAULT, TUNED
from rankbench.verdict.overall import Overall, compare_overall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankbench.model import Case, Comparison, Rule
    from rankbench.store import Store


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


def drop_slower(rules: Sequence[Rule], proof: Proof, *, single: bool) -> tuple[list[Rule], list[str]]:
    """Return the rules without those that make a case slower, and a sentence on each case.

    Where no rule covers the case, what is written for the operation makes it slower all the same: all its rules go. So
    they do where rules cannot go one by one (not `single`).
    """
    remaining = list(rules)
    sentences = []
    for case in proof.slower:
        name = f"{case.operation} {format_size(case.size_bytes)} on {case.ranks} ranks"
        candidates = [rule for rule in remaining if rule.operation == case.operation]
        covering = [rule for rule in candidates if _covers(rule, case)]
        dropped = covering if covering and single else candidates
        remaining = [rule for rule in remaining if rule not in dropped]
        if covering and single:
            sentences.append(f"slower as tuned: {name}; its rule is left out")
        elif dropped:
            why = "rules of this library cannot be left out one by one" if covering else "no rule is for this case"
            sentences.append(f"slower as tuned: {name}; {why}, so all rules of {case.operation} are left out")
    return remaining, sentences


def _covers(rule: Rule, case: Case) -> bool:
    within = rule.ranks == case.ranks and rule.first_bytes <= case.size_bytes <= rule.last_bytes
    return rule.all_sizes or within
