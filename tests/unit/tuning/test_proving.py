"""The result of a proof agrees with every other report on the same campaign."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from fakes import campaigns

from rankbench import evaluation
from rankbench.language import render
from rankbench.model import Case
from rankbench.statistics.looks import ONE_LOOK
from rankbench.tuning import DEFAULT, TUNED, proving
from rankbench.verdict.overall import find_answer


def tune_large(name: str, case: Case) -> campaigns.Truth:
    """Tuned, large messages need 0.8 of the time, and small ones almost the same."""
    small = 0.985 if case.operation == "allreduce" else 1.0
    factor = 0.8 if case.size_bytes > 8 else small
    return campaigns.Truth(factor=factor if name == TUNED else 1.0, spread=0.02)


def probe(_candidate: str, block: int) -> tuple[float, float]:
    """Cores are near in every second block."""
    value = 44.0 if block % 2 else 160.0
    return value, value


@pytest.mark.parametrize("states", [(1.0,), (1.0, 1.4)])
def test_a_proof_counts_the_cases_as_the_report_does(tmp_path: Path, states: tuple[float, ...]) -> None:
    store = campaigns.make_campaign(
        tmp_path / "proof", tune_large, 12, candidates=(DEFAULT, TUNED), states=states, exchange_ns=probe
    )
    view = evaluation.evaluate(store)
    proof = proving.read_proof(store)
    outcomes = Counter(
        (comparison.different and (comparison.ratio > 1) - (comparison.ratio < 1), comparison.alike)
        for comparison in view.verdict.comparisons
        if (comparison.base, comparison.other) == (DEFAULT, TUNED)
    )
    faster, slower = outcomes[-1, False], outcomes[1, False]
    equivalent = outcomes[False, True]
    assert sum(outcomes.values()) == len(view.cases)
    assert faster >= len(view.cases) // 2 - 1
    counts = f"faster in {faster}, slower in {slower}, equivalent in {equivalent}, not distinguishable in "
    assert counts + str(outcomes[False, False]) in render(proof.text)
    assert len(proof.faster) == faster


def test_a_proof_has_the_overall_ratio_of_the_answer(tmp_path: Path) -> None:
    store = campaigns.make_campaign(
        tmp_path / "proof", tune_large, 12, candidates=(DEFAULT, TUNED), states=(1.0, 1.4), exchange_ns=probe
    )
    answer = find_answer(evaluation.evaluate(store), ONE_LOOK)
    proof = proving.read_proof(store)
    assert answer is not None
    assert answer.best == TUNED
    slower = answer.ratios[DEFAULT]
    assert proof.overall[:3] == pytest.approx((1 / slower.mean, 1 / slower.high, 1 / slower.low))
    assert proof.significant


def test_a_proof_with_too_few_blocks_has_counts_only(tmp_path: Path) -> None:
    store = campaigns.make_campaign(tmp_path / "proof", tune_large, 1, candidates=(DEFAULT, TUNED))
    proof = proving.read_proof(store)
    assert render(proof.text).startswith("faster in 0, slower in 0, ")
    assert not proof.significant
