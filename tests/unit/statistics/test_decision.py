"""The decision: its level holds at the edge of the threshold, interval and test agree, and there is only one."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import numpy as np
import pytest
from fakes import campaign_views
from scipy import stats

from rankbench.analysis.statistics import decision
from rankbench.analysis.statistics.decision import (
    FDR,
    NO_FAMILY,
    Estimate,
    Family,
    adjust,
    decide,
    log_beyond,
    p_beyond,
)
from rankbench.analysis.statistics.looks import ONE_LOOK, Penalty

MARGIN = math.log1p(0.03)


def test_without_a_threshold_the_p_value_is_two_sided() -> None:
    log, error = np.array([0.1, -0.2, 0.0]), np.array([0.05, 0.1, 0.1])
    assert p_beyond(log, error, 4.0, 0.0) == pytest.approx(2 * stats.t.sf(np.abs(log) / error, 4.0))


@pytest.mark.parametrize("blocks", [3, 5, 20])
@pytest.mark.parametrize("scatter", [0.005, 0.03, 0.2])
def test_the_level_holds_at_the_edge_of_the_threshold(blocks: int, scatter: float) -> None:
    """Of 40 000 samples with the true ratio at the edge, 5% are rejected: not half of it, and hardly more."""
    logs = MARGIN + scatter * np.random.default_rng(1).normal(size=(40_000, blocks))
    error = logs.std(axis=1, ddof=1) / math.sqrt(blocks)
    share = float(np.mean(p_beyond(logs.mean(axis=1), error, blocks - 1, MARGIN) <= 0.05))
    assert 0.04 < share < 0.055


@pytest.mark.parametrize("margin", [0.0, MARGIN, 0.4])
def test_the_smallest_rejected_log_ratio_has_the_requested_p_value(margin: float) -> None:
    level, error, degrees = np.array([0.05, 0.01, 1e-4]), np.array([0.001, 0.05, 0.3]), np.array([2.0, 9.0, 40.0])
    values = log_beyond(level, error, degrees, margin)
    assert p_beyond(values, error, degrees, margin) == pytest.approx(level, rel=1e-9)


def test_outcomes_are_slower_faster_equivalent_and_open() -> None:
    means = (math.log(1.2), math.log(0.8), 0.0, math.log(1.04))
    decisions = decide([Estimate(mean, 0.01, 8) for mean in means], 0.03, 0.95)
    assert [result.outcome for result in decisions] == ["slower", "faster", "equivalent", "open"]
    half = float(stats.t.isf(0.025, 8)) * 0.01
    assert (decisions[0].low, decisions[0].high) == pytest.approx((1.2 * math.exp(-half), 1.2 * math.exp(half)))


def test_without_an_error_or_with_too_few_values_nothing_is_decided() -> None:
    unknown, few = decide([Estimate(1.0, 0.0, 0.0), Estimate(1.0, 0.01, 2.0)], 0.03, 0.95, enough=[True, False])
    assert (unknown.low, unknown.high, unknown.p_value, unknown.outcome) == (0.0, math.inf, 1.0, "open")
    assert (few.different, few.beyond, few.outcome) == (False, False, "open")
    assert decide([], 0.03, 0.95) == []


@pytest.mark.parametrize("family", [NO_FAMILY, FDR, Family("bonferroni")])
@pytest.mark.parametrize("paid", [ONE_LOOK, Penalty((5, 10, 20), 10)])
@pytest.mark.parametrize("threshold", [0.0, 0.03, 0.5])
def test_interval_and_decision_agree(family: Family, paid: Penalty, threshold: float) -> None:
    """A difference has an interval without 1, is not equivalent, and has the same correction for looks and tests."""
    random = np.random.default_rng(2)
    drawn = zip(random.normal(0, 0.3, 400), random.uniform(0.001, 0.2, 400), random.integers(2, 30, 400), strict=True)
    decisions = decide([Estimate(*values) for values in drawn], threshold, 0.95, penalty=paid, family=family)
    assert {result.outcome for result in decisions} >= {"slower", "faster", "open"}
    for result in (result for result in decisions if result.different):
        assert not result.equivalent
        assert result.low > 1 or result.high < 1
        assert result.ratio > 1 + threshold or result.ratio < 1 / (1 + threshold)
    assert all(result.different for result in decisions if result.beyond)
    if family != FDR:
        within, most = [(result.low, result.high) for result in decisions], 1 + threshold
        assert [result.beyond for result in decisions] == [low > most or high < 1 / most for low, high in within]


def test_a_bonferroni_family_widens_intervals_by_its_size() -> None:
    (alone,) = decide([Estimate(0.2, 0.05, 6)], 0.0, 0.95)
    (among,) = decide([Estimate(0.2, 0.05, 6)], 0.0, 0.95, family=Family("bonferroni", tests=10))
    assert among.p_adjusted == pytest.approx(10 * alone.p_value)
    assert math.log(among.high) == pytest.approx(0.2 + 0.05 * float(stats.t.isf(0.0025, 6)))


def test_a_one_sided_question_has_one_tail() -> None:
    up, down = decide([Estimate(0.2, 0.05, 6), Estimate(-0.2, 0.05, 6)], 0.03, 0.95, one_sided=True)
    assert up.p_value == pytest.approx(float(stats.t.sf((0.2 - MARGIN) / 0.05, 6)))
    assert up.different
    assert not down.different


def test_an_offset_widens_the_threshold_and_the_interval() -> None:
    plain, off = decide([Estimate(0.2, 0.05, 6), Estimate(0.2, 0.05, 6, 0.1)], 0.03, 0.95)
    (shifted,) = decide([Estimate(0.2, 0.05, 6)], 1.03 * math.exp(0.1) - 1, 0.95)
    assert off.p_value == pytest.approx(shifted.p_value)
    assert math.log(off.high / plain.high) == pytest.approx(0.1)
    assert math.log(plain.low / off.low) == pytest.approx(0.1)


def test_comparisons_outside_a_family_are_judged_by_its_cutoff() -> None:
    """They do not count in the family: each of the two is different where those of the family are."""
    estimates = [Estimate(mean, 0.01, 20) for mean in (0.10, 0.06, 0.0, 0.045, 0.06)]
    decisions = decide(estimates, 0.03, 0.95, family=FDR, members=[True, True, True, True, False])
    alone = decide(estimates[:4], 0.03, 0.95, family=FDR)
    assert [result.p_adjusted for result in decisions[:4]] == [result.p_adjusted for result in alone]
    assert decisions[4].different == decisions[1].different is True


def test_a_p_value_of_zero_is_a_valid_cutoff() -> None:
    assert adjust(np.array([0.0, 0.5, 0.0]), members=[True, True, False]).tolist() == [0.0, 0.5, 0.0]


@pytest.mark.parametrize("scatter", [0.01, 0.05])
def test_family_and_looks_hold_their_level_at_the_edge(scatter: float) -> None:
    """In 5% of 2000 campaigns of 20 ratios at the edge, any ratio is called different; Bonferroni is as strict."""
    random = np.random.default_rng(4)
    logs = MARGIN + scatter * random.normal(size=(2000, 20, 6))
    mean, error = logs.mean(axis=2), logs.std(axis=2, ddof=1) / math.sqrt(6)
    for family in (FDR, Family("bonferroni")):
        wrong = 0
        for row, errors in zip(mean.tolist(), error.tolist(), strict=True):
            decisions = decide(
                [Estimate(*values, 5) for values in zip(row, errors, strict=True)], 0.03, 0.95, family=family
            )
            wrong += any(result.different for result in decisions)
        assert 0.03 < wrong / 2000 < 0.065, family


def test_comparisons_of_a_drawn_campaign_are_those_of_earlier_versions() -> None:
    """Ratio, interval and adjusted p-value equal those of the versions with several implementations."""
    comparisons = campaign_views.make_view(campaign_views.find_smooth_time, seed=1, launches=8).verdict.comparisons
    known = {
        5: (1.3657244955149659, 1.3383744019285926, 1.3936334966970803, 2.8188531251553196e-50),
        14: (0.5163046674876914, 0.5056739296088388, 0.5271588944199275, 2.70381481933899e-79),
        23: (1.4013476339335433, 1.3722424708262895, 1.4310701154356942, 1.2521766533191969e-51),
    }
    assert comparisons[5].case == "allreduce.blocking.256.float.socket.window"
    for place, values in known.items():
        comparison = comparisons[place]
        assert (comparison.ratio, comparison.low, comparison.high, comparison.p_adjusted) == pytest.approx(
            values, rel=1e-6
        )


@pytest.mark.parametrize("threshold", [0.0, 0.03])
def test_without_looks_decisions_are_those_of_the_plain_formulas(threshold: float) -> None:
    random = np.random.default_rng(5)
    mean, error, degrees = random.normal(0, 0.1, 50), random.uniform(0.001, 0.1, 50), random.uniform(2, 60, 50)
    decisions = decide(list(map(Estimate, mean, error, degrees)), threshold, 0.9, family=FDR)
    far, margin = np.abs(mean), math.log1p(threshold)
    p_values = stats.t.sf((far - margin) / error, degrees) + stats.t.sf((far + margin) / error, degrees)
    half = stats.t.isf(0.05, degrees) * error
    adjusted_ = stats.false_discovery_control(np.minimum(p_values, 1.0))
    assert [result.p_adjusted for result in decisions] == pytest.approx(adjusted_.tolist())
    assert [result.low for result in decisions] == pytest.approx(np.exp(mean - half).tolist())
    assert [result.high for result in decisions] == pytest.approx(np.exp(mean + half).tolist())
    assert [result.different for result in decisions] == (adjusted_ <= 0.05).tolist()


ROOMS = ("statistics", "questions", "claims")
ALLOWED_CALLS = {
    "statistics/moderation.py": "expresses a mixture of normal tails as Student's t; decides nothing",
}


def list_calls(path: Path) -> list[str]:
    """Return calls of Student's distribution and of family corrections in a module."""
    names = {f"distributions.{name}" for name in ("t_sf", "t_isf", "t_ppf", "t_cdf", "false_discovery")}
    return [
        ast.unparse(node)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in names
    ]


def test_no_other_module_makes_decisions() -> None:
    """A second implementation could forget the correction for looks."""
    source = Path(decision.__file__).parents[1]
    users = {
        f"{room}/{path.relative_to(source / room)}": calls
        for room in ROOMS
        for path in sorted((source / room).rglob("*.py"))
        if (calls := list_calls(path))
    }
    assert users.pop("statistics/decision.py")
    assert users.keys() == ALLOWED_CALLS.keys(), "call statistics.decision.decide, or its half_width"
