"""Findings and groups on the fastest along sizes or nodes agree with the verdict of each case."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest
from fakes import campaign_views, campaigns, scales
from fakes.campaigns import Truth
from hypothesis import given, settings
from hypothesis import strategies as st
from wording import WORDING

from rankbench.analysis import evaluation
from rankbench.analysis.claims.findings import crossover
from rankbench.analysis.claims.groups import find_groups
from rankbench.analysis.claims.lines import describe_undecided
from rankbench.analysis.questions.spans import Run, describe_run, find_runs
from rankbench.language import render, say
from rankbench.model import Case, CaseVerdict, Placement, Span
from rankbench.model.verdicts import Outcome
from rankbench.store import Store

NAMES = ("alpha", "beta", "gamma")
SIZES = tuple(2**power for power in range(3, 13))
CASES = campaigns.make_cases(lines=[("allreduce", "blocking"), ("bcast", "blocking")], sizes=SIZES)


def check_spans(spans: Iterable[Span], cases: Iterable[CaseVerdict]) -> int:
    """Check spans against the verdicts of their cases; return the number of spans."""
    verdicts, count = {case_verdict.case.key: case_verdict for case_verdict in cases}, 0
    for span in spans:
        count += 1
        winners = [verdicts[key].winners for key in span.cases]
        assert all(set(span.candidates) <= set(winner) for winner in winners)
        assert not [winner for winner in winners if len(winner) == 1 and winner != span.candidates]
        assert span.undecided == [key for key in span.cases if verdicts[key].winners != span.candidates]
    return count


def compute_offset(name: str, case: Case) -> int:
    """Return a number from -2 to 2 that differs from candidate to candidate."""
    return case.size_bytes * (3 + NAMES.index(name)) % 5 - 2


def test_spans_agree_with_the_verdicts_of_drawn_campaigns() -> None:
    """Half of the cases differ by so little that some verdicts are right and others undecided."""
    count = 0
    for seed in range(30):
        campaign_view = campaign_views.make_view(
            lambda name, case: campaign_views.find_smooth_time(name, case) * (1 + 0.03 * compute_offset(name, case)),
            seed=seed, spread=0.03, launches=5, cases=CASES,
        )  # fmt: skip
        spans = [span for group in find_groups(campaign_view) for span in group.spans]
        spans += [span for finding in crossover.find(campaign_view) for span in finding.spans]
        count += check_spans(spans, campaign_view.case_verdicts)
    assert count > 100


WINNERS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True)


@given(st.lists(st.tuples(WINNERS, st.booleans()), min_size=1, max_size=9))
@settings(max_examples=200, deadline=None)
def test_spans_of_any_sequence_of_winners_agree_with_the_cases(sequence: list[tuple[list[str], bool]]) -> None:
    verdicts = [
        make_verdict(case, *won, decided=decided) for case, (won, decided) in zip(CASES, sequence, strict=False)
    ]
    runs = find_runs([(case_verdict.case.size_bytes, case_verdict) for case_verdict in verdicts])
    check_spans([run.record for run in runs], verdicts)
    covered = [number for run in runs for number, _ in run.cases]
    assert covered == sorted(set(covered))
    missing = [case_verdict for case_verdict in verdicts if case_verdict.case.size_bytes not in covered]
    assert all(len(case_verdict.winners) == len(NAMES) for case_verdict in missing)
    assert all(run.alone or "are among" in text or "is among" in text for run, text in describe_runs(runs))
    noted = [(run, text) for run, text in describe_runs(runs) if run.alone and run.shared]
    assert all("undecided" in text or "equivalent" in text for _, text in noted)


def describe_runs(runs: list[Run]) -> list[tuple[Run, str]]:
    return [
        (run, render(describe_run(run, "here", lambda numbers: say("at {numbers}", numbers=numbers)))) for run in runs
    ]


def make_verdict(case: Case, *winners: str, decided: bool = False) -> CaseVerdict:
    outcome: Outcome = "faster" if len(winners) == 1 else "equivalent" if decided else "undecided"
    return CaseVerdict(case=case, ranking=list(NAMES), winners=list(winners), outcome=outcome)


def test_a_span_ends_where_another_candidate_wins_and_names_undecided_cases() -> None:
    winners = (("alpha",), ("alpha", "beta"), ("alpha",), ("beta",), ("alpha",), ("alpha", "beta"), NAMES)
    cases = [(case.size_bytes, make_verdict(case, *winner)) for case, winner in zip(CASES, winners, strict=False)]
    runs = find_runs(cases)
    assert [(run.names, [number for number, _ in run.cases]) for run in runs] == [
        (["alpha"], [8, 16, 32]),
        (["beta"], [64]),
        (["alpha"], [128]),
        (["alpha", "beta"], [256]),
    ]
    assert [text for _, text in describe_runs(runs)][::3] == WORDING


def test_a_span_includes_cases_that_differ_between_levels_and_says_so() -> None:
    by_level = {"near": ["alpha"], "far": ["alpha", "beta"]}
    partly = msgspec.structs.replace(
        make_verdict(CASES[1], "alpha", "beta"),
        winners_by_level=by_level,
        outcome_by_level={"near": "faster", "far": "undecided"},
    )
    cases = [(8, make_verdict(CASES[0], "alpha")), (16, partly), (32, make_verdict(CASES[2], "alpha"))]
    runs = find_runs(cases)
    assert [text for _, text in describe_runs(runs)] == WORDING
    assert [
        render(text) for text in describe_undecided([(16, partly), (64, make_verdict(CASES[3], *NAMES))], [])
    ] == WORDING


def make_over_nodes(folder: Path) -> Store:
    """Return a noisy campaign in which the fastest changes with the nodes."""

    def find_time_ns(candidate: str, _case: Case, place: Placement) -> float:
        return 1000 + 500 * place.nodes if candidate == "alpha" else 3000 + 100 * place.nodes

    return scales.make_store(folder, find_time_ns, nodes=(1, 2, 3, 4, 6, 8), ranks=(2,), spread=0.02)


def make_over_sizes(folder: Path) -> Store:
    """Return a noisy campaign of several lines in which the fastest changes with the size."""

    def find_time_ns(candidate: str, case: Case) -> Truth:
        return Truth(
            factor=campaign_views.find_smooth_time(candidate, case) / campaigns.compute_base_ns(case), spread=0.03
        )

    return campaigns.make_campaign(folder, find_time_ns, 6, candidates=NAMES, cases=CASES, samples=10)


@pytest.mark.parametrize("make", [make_over_nodes, make_over_sizes])
def test_spans_agree_with_the_verdicts_of_stored_campaigns(make: Callable[[Path], Store], tmp_path: Path) -> None:
    result = evaluation.evaluate(make(tmp_path / "made")).verdict
    spans = [span for finding in result.findings for span in finding.spans]
    assert check_spans([*spans, *(span for group in result.groups for span in group.spans)], result.cases)
