"""The result of a proof: the tuned library compared with the default one, over all cases and in each.

These are the comparisons of the campaign's evaluation, as every report of it shows them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import polars as pl

from rankbench.analysis import evaluation
from rankbench.analysis.questions.block_ratios import Overall
from rankbench.analysis.questions.overall import compare_overall
from rankbench.language import Text, say
from rankbench.model import Case, CaseStatus, Comparison, Rule
from rankbench.quantities import format_size
from rankbench.store import Store
from rankbench.tuning import DEFAULT, LEAST_CHECKED, TUNED, Task
from rankbench.tuning.choosing import Fault, Point, SearchResult, list_failed_launches, select_broken

NO_OVERALL = Overall(1.0, 0.0, math.inf)


class CaseFault(NamedTuple):
    """What went wrong with the tuned library."""

    case: Case | None
    """None: a launch failed outside of its cases."""
    status: str
    reason: str


class Proof(NamedTuple):
    """The result of a proof."""

    overall: Overall
    """Tuned time over default time, each operation with the same weight."""
    cases: list[tuple[Case, Comparison]]
    faults: Sequence[CaseFault] = ()
    checked: Sequence[tuple[Case, int]] = ()
    """Calls of the tuned library whose data were checked while they were timed, by case."""

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

    def follows(self, ratio: float) -> bool:
        """Return whether the overall ratio is nearer to another one than to 1: few blocks need not show more."""
        middle = math.sqrt(ratio)
        return self.overall.mean > middle if ratio > 1 else self.overall.mean < middle

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
    by_key = {case.key: case for case in view.cases}
    tuned = store.cases().filter(candidate=TUNED)
    counts = tuned.filter(status="ok").group_by("case").agg(pl.col("taken").sum()).rows()
    broken = select_broken(tuned).select("case", "status", "reason").unique(["case", "status"], maintain_order=True)
    failed = [launch for launch in list_failed_launches(store) if launch.candidate == TUNED]
    return Proof(
        overall,
        cases,
        [
            *(CaseFault(by_key[case], status, reason) for case, status, reason in broken.rows()),
            *(CaseFault(None, launch.status, launch.reason) for launch in failed),
        ],
        [(by_key[case], count) for case, count in counts],
    )


class Exclusion(NamedTuple):
    """What rules may not use any more, by a proof."""

    result: SearchResult
    """The result of the search without it."""
    unknown: dict[str, set[int]]
    """Sizes between those of the search, by operation, at which another variant may be better."""
    sentences: list[str]
    """A sentence on each reason."""


def exclude(
    task: Task, result: SearchResult, rules: Sequence[Rule], proof: Proof, *, operations: bool = False
) -> Exclusion:
    """Exclude variants with faults, what made cases slower, and rules of which too few calls were checked."""
    faulty = exclude_faulty(result, rules, proof)
    slower = exclude_slower(task, faulty.result, rules, proof, operations=operations)
    unchecked = exclude_unchecked(task, slower.result, rules, proof)
    return Exclusion(unchecked.result, slower.unknown, faulty.sentences + slower.sentences + unchecked.sentences)


def exclude_faulty(result: SearchResult, rules: Sequence[Rule], proof: Proof) -> Exclusion:
    """Exclude the variants of rules for a case that failed or had wrong data, in all sizes.

    Where no rule covers the case, what is written for its operation causes it all the same: all variants of its rules
    are excluded. Those of all rules are where a launch failed outside of its cases.
    """
    faults, sentences = list(result.faults), []
    for case, status, reason in proof.faults:
        same = [rule for rule in rules if case is None or rule.operation == case.operation]
        causing = [rule for rule in same if case and rule.covers(case)] or same
        faults += [Fault(rule.variant.name, rule.operation, status, reason) for rule in causing]
        where = f"{case.operation} {format_size(case.size_bytes)} on {case.ranks} ranks" if case else "a launch"
        names = ", ".join(dict.fromkeys(rule.variant.name for rule in causing))
        sentences.append(f"{spell_fault(status)} as tuned: {where} ({reason}); {names} cannot be used")
    return Exclusion(result._replace(faults=tuple(dict.fromkeys(faults))), {}, sentences)


def exclude_unchecked(task: Task, result: SearchResult, rules: Sequence[Rule], proof: Proof) -> Exclusion:
    """Exclude the variant of a rule at the sizes of the rule, where the data of too few calls were checked."""
    excluded, sentences = set(result.excluded), []
    for rule in rules:
        checked = sum(count for case, count in proof.checked if rule.covers(case))
        if checked >= LEAST_CHECKED:
            continue
        excluded |= {
            point
            for point in result.ratios
            if (point.operation, point.variant) == (rule.operation, rule.variant.name)
            and task.placements.get(point.placement) == rule.ranks
            and rule.first_bytes <= point.size_bytes <= rule.last_bytes
        }
        sentences.append(
            f"too few calls were checked: {checked} of {LEAST_CHECKED} of {rule.operation} with {rule.variant.name} "
            f"from {format_size(rule.first_bytes)} to {format_size(rule.last_bytes)} on {rule.ranks} ranks; this rule "
            "is left out; more --blocks check more"
        )
    return Exclusion(result._replace(excluded=frozenset(excluded)), {}, sentences)


def list_faults(faults: Iterable[Fault]) -> Iterator[str]:
    """Yield a line on each variant with a fault."""
    variants: dict[tuple[str, str], list[Fault]] = {}
    for fault in faults:
        variants.setdefault((fault.status, fault.variant), []).append(fault)
    for (status, variant), alike in variants.items():
        operations = ", ".join(sorted({fault.operation for fault in alike}))
        reason = f" ({alike[0].reason})" if alike[0].reason else ""
        yield f"{spell_fault(status)}: {variant} of {operations}; it is not used. Report it to the vendor{reason}"


def spell_fault(status: str) -> str:
    """Return a fault in one or two words."""
    return "WRONG DATA" if status == CaseStatus.WRONG_DATA else status


def exclude_slower(
    task: Task, result: SearchResult, rules: Sequence[Rule], proof: Proof, *, operations: bool = False
) -> Exclusion:
    """Exclude what made cases slower: the variant of the rule at the case's size.

    Where no rule covers the case, what is written for its operation makes it slower all the same: the operation is
    excluded. With `operations` it is in every case. An operation that needs a rule for every size may be slower.
    """
    excluded = set(result.excluded)
    unknown: dict[str, set[int]] = {}
    sentences = []
    for case in proof.slower:
        if case.operation in task.forced:
            continue
        text = f"slower as tuned: {case.operation} {format_size(case.size_bytes)} on {case.ranks} ranks; "
        covering = [rule for rule in rules if rule.covers(case)]
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
