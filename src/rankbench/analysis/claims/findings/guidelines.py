"""A call is slower than an equivalent combination of other calls.

Why: The library could use that combination itself. These are the self-consistent performance guidelines
(Traeff, Gropp and Thakur, IEEE Transactions on Parallel and Distributed Systems 21(5), 2010). The times of
the parts are added, and each part is measured with a synchronised start. So the sum is more likely too long than too
short.

What to do: `rankbench tune` searches for a faster algorithm. Use the combination as a workaround, and report it to
the vendor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

import msgspec

from rankbench.analysis.claims.advice import advise_tuning
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.contrasts import Claim, Contrast, compare_within_launches, judge
from rankbench.language import Text, clauses, say, sentences
from rankbench.model import Case, Finding, Operation

TITLE = "Slower than its parts"

RULES = (
    # A specialised call against a general one that does as much.
    "gather(n) <= allgather(n)",
    "scatter(n) <= bcast(n p)",
    "reduce(n) <= allreduce(n)",
    "allgather(n) <= alltoall(n)",
    "allgather(n) <= allreduce(n p)",
    "reduce_scatter_block(n) <= allreduce(n p)",
    "reduce_scatter(n) <= allreduce(n p)",
    "barrier(n) <= allreduce(1)",
    # Equal blocks against blocks of any size.
    "gather(n) <= gatherv(n)",
    "scatter(n) <= scatterv(n)",
    "allgather(n) <= allgatherv(n)",
    "alltoall(n) <= alltoallv(n)",
    "alltoallv(n) <= alltoallw(n)",
    "reduce_scatter_block(n) <= reduce_scatter(n)",
    "neighbor_allgather(n) <= neighbor_allgatherv(n)",
    "neighbor_alltoall(n) <= neighbor_alltoallv(n)",
    "neighbor_alltoallv(n) <= neighbor_alltoallw(n)",
    # A call against several that do the same one after the other.
    "allreduce(n) <= reduce(n) + bcast(n)",
    "allreduce(n) <= reduce_scatter_block(n/p) + allgather(n/p)",
    "allgather(n) <= gather(n) + bcast(n p)",
    "bcast(n) <= scatter(n/p) + allgather(n/p)",
    "reduce(n) <= reduce_scatter_block(n/p) + gather(n/p)",
    "reduce_scatter_block(n) <= reduce(n p) + scatter(n)",
    "reduce_scatter(n) <= reduce(n p) + scatterv(n)",
    "scan(n) <= exscan(n) + reduce_local(n)",
    # Neighbours against messages from point to point.
    "neighbor_allgather(n) <= neighbor_alltoall(n)",
    "neighbor_alltoall(n) <= halo(n)",
    "neighbor_alltoallv(n) <= halo(n)",
    "ring-neighbor(n) <= ring(n)",
    "sendrecv(n) <= exchange(n)",
)
"""Sizes are message sizes as operations define them: n, times or by the p ranks, or the smallest that was measured."""
FORMS = {"persistent": 1.0, "nonblocking": 1.25}
"""Forms with the largest acceptable ratio to blocking calls."""
PLAIN = ("byte", "int", "float", "double")
"""Datatypes that make no difference to calls that only move data."""
MOST_SHOWN = 3


class Part(NamedTuple):
    """An operation, and its message size as a function of that of the call."""

    operation: str
    size: str


class Rule(NamedTuple):
    """A call that should take no longer than its parts one after the other."""

    call: str
    parts: list[Part]

    @property
    def text(self) -> str:
        """Return the parts in words."""
        return " + ".join(part.operation for part in self.parts)


class Breach(NamedTuple):
    """A rule that a candidate significantly breaks in a case."""

    rule: str
    case: Case
    parts: list[Case]
    ratio: Contrast


class Test(NamedTuple):
    """A rule with cases to test it by."""

    about: str
    """The call or form that a finding is about."""
    rule: str
    case: Case
    parts: list[Case]
    margin: float


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a warning per candidate and operation slower than its parts, and per form slower than blocking."""
    cases = find_cases(view)
    margin = 1 + view.campaign.plan.threshold
    tests = [*apply_rules(view, cases, margin), *apply_forms(cases, margin)]
    claims = [Claim(test.case.key, tuple(part.key for part in test.parts), test.margin) for test in tests]
    contrasts = judge(
        compare_within_launches(view.judged_values, claims), ["claim", "candidate"], view.campaign.plan.confidence
    )
    shown = [contrast for contrast in contrasts if contrast.key[1] in view.candidates]
    tested: dict[tuple[str, str], list[tuple[Test, Contrast]]] = {}
    for test in shown:
        number, candidate = test.key
        tested.setdefault((candidate, tests[number].about), []).append((tests[number], test))
    for (candidate, about), results in tested.items():
        if any(ratio.sure for _, ratio in results):
            yield _make_finding(view, candidate, about, results)


# --- which cases are compared with which ------------------------------------------------------------------------------


def find_cases(view: CampaignView) -> dict[str, Case]:
    """Return the cases that rules can be tested by, by what identifies them when datatype and root are left out."""
    cases: dict[str, Case] = {}
    for main_verdict in view.main_verdicts:
        case = main_verdict.case
        if case.quantity == "time" and case.key not in view.pair_cases and not view.short_of_cores(case):
            cases.setdefault(make_identity(case, view.operations[case.operation]), case)
    return cases


def make_identity(case: Case, operation: Operation) -> str:
    """Return a case's key, without a root where the operation has none."""
    return case.key if operation.rooted else msgspec.structs.replace(case, memory=drop_root(case)).key


def drop_root(case: Case) -> object:
    """Return the memory of a case without its root."""
    return msgspec.structs.replace(case.memory, root=0)


@cache
def read_rules() -> list[Rule]:
    """Return the parsed rules."""
    rules = []
    for text in RULES:
        (call, _), *parts = re.findall(r"([\w-]+)\(([^)]+)\)", text)
        rules.append(Rule(call, [Part(*part) for part in parts]))
    return rules


def apply_rules(view: CampaignView, cases: dict[str, Case], margin: float) -> Iterator[Test]:
    """Yield the tests of each rule whose call and parts were all measured."""
    sizes: dict[str, list[int]] = {}
    for case in cases.values():
        sizes.setdefault(case.operation, []).append(case.size_bytes)
    for rule in read_rules():
        for case in (case for case in cases.values() if case.operation == rule.call):
            parts = [find_part(view, cases, sizes, case, part) for part in rule.parts]
            if all(parts):
                call = case.operation if case.form == "blocking" else f"{case.form} {case.operation}"
                yield Test(call, rule.text, case, [part for part in parts if part], margin)


def find_part(
    view: CampaignView, cases: dict[str, Case], sizes: dict[str, list[int]], case: Case, part: Part
) -> Case | None:
    """Return the case of a part: with the size of the rule, and all else the same."""
    operation = view.operations.get(part.operation)
    size = find_part_size(part, case, sizes)
    if not operation or not size or case.form not in operation.forms:
        return None
    names = {option.name for option in operation.options}
    part_case = msgspec.structs.replace(
        case,
        operation=part.operation,
        size_bytes=size,
        start=operation.start if operation.kind == "local" else case.start,
        options={name: value for name, value in case.options.items() if name in names},
    )
    types = list_datatypes(view.operations[case.operation], operation, case.datatype)
    same = (msgspec.structs.replace(part_case, datatype=type_) for type_ in types)
    return next((cases[key] for case_ in same if (key := make_identity(case_, operation)) in cases), None)


def find_part_size(part: Part, case: Case, sizes: dict[str, list[int]]) -> int:
    """Return the message size of a part, 0 where there is none."""
    if part.size == "1":
        return min(filter(None, sizes.get(part.operation, ())), default=0)
    if part.size == "n/p":
        return 0 if case.size_bytes % case.ranks else case.size_bytes // case.ranks
    return case.size_bytes * (case.ranks if part.size == "n p" else 1)


def list_datatypes(operation: Operation, part: Operation, wanted: str) -> list[str]:
    """Return the datatypes that a part may have: data that is only moved is the same as bytes and as numbers."""
    reducing = all(any(option.name == "reduction" for option in operation_.options) for operation_ in (operation, part))
    plain = wanted in PLAIN and part.datatype in PLAIN and not reducing
    return [wanted, part.datatype] if plain else [wanted]


def apply_forms(cases: dict[str, Case], margin: float) -> Iterator[Test]:
    """Yield the tests of other forms against blocking calls."""
    by_key = {case.key: case for case in cases.values()}
    for case in cases.values():
        blocking = by_key.get(msgspec.structs.replace(case, form="blocking").key)
        if case.form in FORMS and blocking:
            yield Test(case.form, "blocking", case, [blocking], margin * FORMS[case.form])


# --- texts ------------------------------------------------------------------------------------------------------------


def _make_finding(view: CampaignView, candidate: str, about: str, results: list[tuple[Test, Contrast]]) -> Finding:
    breaches = [Breach(test.rule, test.case, test.parts, ratio) for test, ratio in results if ratio.sure]
    of_form = about in FORMS
    text = _describe_forms(view, candidate, about, breaches, len(results)) if of_form else None
    worst = max(breach.ratio.ratio for breach in breaches)
    return Finding(
        kind="guidelines",
        title=say(
            "{name}: {about} calls are slower than blocking ones"
            if of_form
            else "{name}: {about} {about:of is|are} slower than an equivalent combination of calls",
            name=candidate,
            about=say("{about} ({worst:ratio})", about=about, worst=worst) if not of_form else about,
        ),
        text=text or sentences(_describe_rules(view, candidate, about, breaches, results)),
        advice=say("Use blocking calls there until this is fixed in the library.")
        if of_form
        else _advise(view, candidate, breaches),
        cases=list(dict.fromkeys(case.key for breach in breaches for case in (breach.case, *breach.parts))),
        severity="warning",
    )


def _advise(view: CampaignView, candidate: str, breaches: Sequence[Breach]) -> Text:
    rules = list(dict.fromkeys(breach.rule for breach in breaches))
    search = list(advise_tuning(view, {candidate: [breach.case for breach in breaches]}))
    return sentences(
        [
            *(search or [say("Look for a setting that selects another algorithm.")]),
            say("As a workaround, use {rules:or} instead.", rules=rules),
        ]
    )


def _describe_rules(
    view: CampaignView,
    candidate: str,
    about: str,
    breaches: Sequence[Breach],
    results: Sequence[tuple[Test, Contrast]],
) -> Iterator[Text]:
    for rule, group in groupby(sorted(breaches, key=lambda breach: breach.rule), key=lambda breach: breach.rule):
        broken = list(group)
        tested = sum(test.rule == rule for test, _ in results)
        yield say(
            "In {n} of {all:count case}, {about} of {name} is slower than {rule}, {worst}.",
            n=len(broken),
            all=tested,
            name=candidate,
            about=about,
            rule=rule,
            worst=_describe_worst(view, max(broken, key=lambda breach: breach.ratio.ratio)),
        )


def _describe_worst(view: CampaignView, breach: Breach) -> Text:
    return say(
        "by up to {ratio:ratio} ({low:ratio} to {high:ratio}; {case})",
        ratio=breach.ratio.ratio,
        low=breach.ratio.low,
        high=breach.ratio.high,
        case=view.full_title(breach.case),
    )


def _describe_forms(view: CampaignView, candidate: str, about: str, breaches: Sequence[Breach], tested: int) -> Text:
    worst: dict[str, Breach] = {}
    for breach in sorted(breaches, key=lambda breach: -breach.ratio.ratio):
        worst.setdefault(breach.case.operation, breach)
    text = clauses(_describe_worst(view, breach) for breach in list(worst.values())[:MOST_SHOWN])
    if len(worst) > MOST_SHOWN:
        text = say("{worst}, and {n:count more operation}", worst=text, n=len(worst) - MOST_SHOWN)
    return say(
        "In {n} of {all:count case}, {about} calls of {name} are slower than blocking ones by more than "
        "{allowed:.0%}: {worst}."
        if FORMS[about] > 1
        else "In {n} of {all:count case}, {about} calls of {name} are slower than blocking ones: {worst}.",
        n=len(breaches),
        all=tested,
        about=about,
        name=candidate,
        allowed=FORMS[about] - 1,
        worst=text,
    )
