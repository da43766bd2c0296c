"""The total time of an application's calls with each candidate."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest
from fakes import verdicts
from scipy.stats import t
from wording import WORDING

from rankbench.language import render
from rankbench.model import Calls, Case, CaseStatus
from rankbench.verdict import mix
from rankbench.verdict.interim import find_penalty
from rankbench.verdict.mix import Mix
from rankbench.verdict.view import CampaignView
from rankbench.verdict.wording import format_plan_sizes


def make_call(size: int, times: float = 1.0, operation: str = "allreduce") -> Calls:
    return Calls(operation=operation, size_bytes=size, calls=times)


def find_factor(candidate: str, case: Case) -> float:
    """Beta takes half of alpha's time for 8 bytes, and twice from 64 KiB on; gamma is equal to alpha."""
    return 1.0 if candidate != "beta" else {8: 0.5, 1024: 1.0, 65536: 2.0}[case.size_bytes]


@pytest.fixture
def view(tmp_path: Path) -> CampaignView:
    return verdicts.evaluate(tmp_path, find_factor, cases=verdicts.LINE)


def sum_mix(view: CampaignView, *calls: Calls) -> Mix:
    (placed,) = mix.sum_mixes(view, calls)
    return placed


def find_time_ns(view: CampaignView, size: int, candidate: str) -> float:
    (key,) = (case.key for case in view.case_of.values() if case.size_bytes == size)
    return view.summary_of[key, candidate].typical_ns


def test_the_best_candidate_depends_on_the_calls(view: CampaignView) -> None:
    assert sum_mix(view, make_call(8, 1000), make_call(65536, 0.001)).standings[0].candidate == "beta"
    assert sum_mix(view, make_call(8), make_call(65536, 1000)).standings[0].candidate in {"alpha", "gamma"}


def test_a_mix_is_the_sum_of_its_calls(view: CampaignView) -> None:
    placed = sum_mix(view, make_call(8, 1000), make_call(65536, 3))
    times = {standing.candidate: standing.time_ns for standing in placed.standings}
    for name in ("alpha", "beta"):
        small, large = 1000 * find_time_ns(view, 8, name), 3 * find_time_ns(view, 65536, name)
        assert times[name] == pytest.approx(small + large)
        assert placed.shares[name, 1] == pytest.approx(large / (small + large))
    beta = next(standing for standing in placed.standings if standing.candidate == "beta")
    alpha = next(standing for standing in placed.standings if standing.candidate == "alpha")
    assert alpha.ratio / beta.ratio == pytest.approx(times["alpha"] / times["beta"])


@pytest.mark.parametrize(("size", "factor"), [(1024, 1.0), (8192, 2**0.5), (1 << 20, 2.0), (4, 0.5)])
def test_unmeasured_sizes_are_interpolated(view: CampaignView, size: int, factor: float) -> None:
    placed = sum_mix(view, make_call(size))
    times = {standing.candidate: standing.time_ns for standing in placed.standings}
    assert render(placed.parts[0].how) == WORDING
    assert times["beta"] / times["alpha"] == pytest.approx(factor, rel=0.005)


def test_beyond_the_largest_size_time_grows_with_the_size(view: CampaignView) -> None:
    placed = sum_mix(view, make_call(1 << 20, 2))
    alpha = next(standing for standing in placed.standings if standing.candidate == "alpha")
    assert alpha.time_ns == pytest.approx(2 * 16 * find_time_ns(view, 65536, "alpha"))


def test_equal_candidates_are_not_distinguished(view: CampaignView) -> None:
    placed = sum_mix(view, make_call(65536))
    assert [(standing.candidate, standing.different) for standing in placed.standings][1:] == [
        ("gamma" if placed.standings[0].candidate == "alpha" else "alpha", False),
        ("beta", True),
    ]


def test_sentences_name_the_best_its_reason_and_omitted_calls(view: CampaignView) -> None:
    placed = sum_mix(view, make_call(65536, 10), make_call(8, 1), make_call(8, 2, "scan"))
    best, second = (standing.candidate for standing in placed.standings[:2])
    total = placed.standings[0].time_ns / 1000
    beta = placed.standings[2]
    assert [render(sentence) for sentence in mix.describe_mix(view, placed)] == [
        f"No clear winner for these calls: {best} ({total:.3g} µs in all) is not shown to be more than 3% faster than "
        f"{second}.",
        f"beta needs {beta.ratio:.2f}× the time ({beta.low:.2f}–{beta.high:.2f}×).",
        f"{placed.shares[best, 0]:.0%} of the time is allreduce 64 KiB and 1 other call takes the rest.",
        "Not included, because not measured: scan 8 B.",
    ]


def test_a_candidate_without_a_value_is_left_out(tmp_path: Path) -> None:
    def crash_beta(candidate: str, case: Case) -> float | CaseStatus:
        return CaseStatus.CRASHED if candidate == "beta" and case.size_bytes == 65536 else 1.0

    view = verdicts.evaluate(tmp_path, crash_beta, cases=verdicts.LINE)
    placed = sum_mix(view, make_call(8), make_call(65536))
    assert {standing.candidate for standing in placed.standings} == {"alpha", "gamma"}
    assert [render(sentence) for sentence in mix.describe_mix(view, placed)][-1] == WORDING


def test_calls_without_a_measured_operation_have_no_total(view: CampaignView) -> None:
    assert list(mix.sum_mixes(view, [make_call(8, operation="scan")])) == []


def test_a_single_call_has_the_interval_for_two_rivals_at_once(tmp_path: Path) -> None:
    campaign_view = verdicts.evaluate(tmp_path, verdicts.make_constant({"beta": 1.5}), cases=verdicts.LINE)
    placed = sum_mix(campaign_view, make_call(8, 7))
    (comparison,) = (
        comparison
        for comparison in campaign_view.comparisons
        if {comparison.base, comparison.other} == {"alpha", "beta"} and ".8." in comparison.case
    )
    beta = next(standing for standing in placed.standings if standing.candidate == "beta")
    level = find_penalty(campaign_view, comparison.blocks).nominal(0.05 / 2)
    half = float(t.isf(level / 2, comparison.degrees)) * comparison.error
    assert math.log(beta.high / beta.low) == pytest.approx(2 * half)


@pytest.mark.parametrize(("high", "different"), [(1.035, False), (1.5, True)])
def test_a_rival_is_slower_only_if_its_entire_interval_is_beyond_the_threshold(
    high: float, different: bool, tmp_path: Path
) -> None:
    campaign_view = verdicts.evaluate(tmp_path, verdicts.make_constant({"beta": high}), cases=verdicts.LINE)
    wide = [msgspec.structs.replace(comparison, error=0.005) for comparison in campaign_view.comparisons]
    placed = sum_mix(verdicts.change_verdict(campaign_view, comparisons=wide), make_call(8, 7))
    beta = next(standing for standing in placed.standings if standing.candidate == "beta")
    assert beta.ratio > 1.03
    assert beta.different == different


def test_the_best_is_chosen_by_ratios_within_blocks(tmp_path: Path) -> None:
    campaign_view = verdicts.evaluate(
        tmp_path, verdicts.make_constant({"beta": 1.05}), candidates=("alpha", "beta"), cases=verdicts.LINE
    )
    assert sum_mix(campaign_view, make_call(8, 7)).standings[0].candidate == "alpha"
    turned = [
        msgspec.structs.replace(
            comparison, ratio=1 / comparison.ratio, low=1 / comparison.high, high=1 / comparison.low
        )
        for comparison in campaign_view.comparisons
    ]
    best, other = sum_mix(verdicts.change_verdict(campaign_view, comparisons=turned), make_call(8, 7)).standings
    assert (best.candidate, other.candidate) == ("beta", "alpha")
    assert other.ratio == pytest.approx(1.05, rel=1e-3)


def compute_width(standing: mix.MixResult) -> float:
    return math.log(standing.high / standing.low) / 2


def test_an_interpolated_size_widens_the_interval_by_the_distance_of_its_neighbours(view: CampaignView) -> None:
    beta = next(standing for standing in sum_mix(view, make_call(8192)).standings if standing.candidate == "beta")
    assert compute_width(beta) >= math.log(2) / 2
    measured = next(standing for standing in sum_mix(view, make_call(1024)).standings if standing.candidate == "beta")
    assert compute_width(measured) < 0.1


def test_an_extrapolated_size_widens_the_interval_by_the_last_change(view: CampaignView) -> None:
    beta = next(standing for standing in sum_mix(view, make_call(1 << 17)).standings if standing.candidate == "beta")
    assert compute_width(beta) >= math.log(2)


def test_a_largely_extrapolated_total_gives_no_recommendation(view: CampaignView) -> None:
    placed = sum_mix(view, make_call(1 << 20, 10), make_call(8, 1))
    (sentence,) = mix.describe_mix(view, placed)
    assert render(sentence) == WORDING


def test_a_small_extrapolated_part_is_stated_in_the_answer(view: CampaignView) -> None:
    placed = sum_mix(view, make_call(1 << 17, 1), make_call(65536, 1000), make_call(8192, 1))
    best = placed.standings[0].candidate
    far, _, between = (placed.shares[best, place] for place in range(3))
    assert 0 < between < 0.001
    sentences = [render(sentence) for sentence in mix.describe_mix(view, placed)]
    assert f" in all, {far:.1%} of it extrapolated" in sentences[0]
    assert sentences[-2:] == [
        f"{far:.1%} of the total is extrapolated: allreduce from 64 KiB to 128 KiB.",
        "less than 0.1% of the total is interpolated: allreduce 8 KiB between 1 KiB and 64 KiB.",
    ]


@pytest.mark.parametrize(
    ("size", "text"), [(8, "8"), (1536, "1536"), (1 << 20, "1M"), (65536, "64K"), (12345, "12345")]
)
def test_sizes_are_in_the_notation_of_a_plan(size: int, text: str) -> None:
    assert format_plan_sizes([size]) == [text]
