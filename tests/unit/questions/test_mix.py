"""The total time of an application's calls with each candidate."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest
from fakes import campaigns, verdicts
from scipy.stats import t
from wording import WORDING

from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions import mix
from rankbench.analysis.questions.interim import find_penalty
from rankbench.analysis.questions.mix import Mix
from rankbench.analysis.questions.overall import find_answer
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.questions.wording import format_plan_sizes
from rankbench.language import render
from rankbench.model import Calls, Case, CaseStatus


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
    assert [(standing.candidate, standing.outcome) for standing in placed.standings] == [
        (placed.standings[0].candidate, "best"),
        ("gamma" if placed.standings[0].candidate == "alpha" else "alpha", placed.standings[1].outcome),
        ("beta", "slower"),
    ]
    assert placed.standings[1].outcome in {"equivalent", "open"}


def test_sentences_name_the_best_its_reason_and_omitted_calls(view: CampaignView) -> None:
    placed = sum_mix(view, make_call(65536, 10), make_call(8, 1), make_call(8, 2, "scan"))
    best, second = (standing.candidate for standing in placed.standings[:2])
    assert placed.standings[1].outcome == "equivalent"
    total = placed.standings[0].time_ns / 1000
    beta = placed.standings[2]
    assert [render(sentence) for sentence in mix.describe_mix(view, placed)] == [
        f"For these calls, {best} and {second} are equivalent within 3%: {total:.3g} µs in all.",
        f"Time against {best}: {second} 1.00× (1.00× to 1.00×, equivalent within 3%), "
        f"beta {beta.ratio:.2f}× ({beta.low:.2f}× to {beta.high:.2f}×).",
        f"Of the time with {best}, {placed.shares[best, 0]:.0%} is allreduce 64 KiB and 1 other call takes the rest.",
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


def evaluate_noisy(folder: Path, factor: float, calls: list[Calls], launches: int = 8) -> CampaignView:
    """Return a campaign of these calls whose launches vary by 2 % and in which beta needs a multiple of the time."""
    store = campaigns.make_campaign(
        folder / "noisy",
        lambda name, _case: campaigns.Truth(spread=0.02, factor=factor if name == "beta" else 1.0),
        launches,
        candidates=("alpha", "beta"),
        cases=verdicts.LINE,
        control=False,
    )
    plan = msgspec.structs.replace(store.campaign.plan, calls=calls)
    store.campaign = msgspec.structs.replace(store.campaign, plan=plan)
    return evaluate(store)


@pytest.mark.parametrize(("factor", "outcomes"), [(1.04, {"open", "behind"}), (1.5, {"slower"})])
def test_a_rival_is_slower_only_if_its_entire_interval_is_beyond_the_threshold(
    factor: float, outcomes: set[str], tmp_path: Path
) -> None:
    beta = sum_mix(evaluate_noisy(tmp_path, factor, []), make_call(8, 7)).standings[1]
    assert beta.ratio > 1.03
    assert beta.outcome in outcomes


@pytest.mark.parametrize("launches", [2, 3, 4, 9])
@pytest.mark.parametrize("factor", [1.0, 1.04, 1.3])
def test_the_answer_of_the_plan_is_that_of_its_calls(factor: float, launches: int, tmp_path: Path) -> None:
    calls = [make_call(8, 1000), make_call(1024, 40), make_call(65536, 3)]
    campaign_view = evaluate_noisy(tmp_path, factor, calls, launches)
    answer = find_answer(campaign_view, find_penalty(campaign_view))
    assert answer
    best, rival = sum_mix(campaign_view, *calls).standings
    assert answer.best == best.candidate
    assert answer.ratios[rival.candidate] == rival.overall
    groups = {"slower": answer.slower, "equivalent": answer.equivalent, "behind": answer.behind, "open": answer.open}
    assert groups[rival.outcome] == [rival.candidate]
    assert rival.ratio == pytest.approx(rival.time_ns / best.time_ns)


@pytest.mark.parametrize("shares", [(0.2, 0.5, 0.3), (1.0, 1e-9, 1e-9)])
def test_weights_give_the_ratio_of_totals(shares: tuple[float, ...], view: CampaignView) -> None:
    parts = [mix.make_part(make_call(case.size_bytes), [case]) for case in verdicts.LINE]
    times = {"alpha": [*shares], "beta": [share * factor for share, factor in zip(shares, (0.5, 1, 2), strict=True)]}
    totals = mix.Totals(parts, times)
    weighed = totals.weigh("alpha", "beta")
    logs = {case.key: math.log(factor) for case, factor in zip(verdicts.LINE, (0.5, 1, 2), strict=True)}
    assert sum(weighed.values()) == pytest.approx(1)
    mean = sum(weight * logs[key] for key, weight in weighed.items())
    assert mean == pytest.approx(math.log(sum(times["beta"]) / sum(times["alpha"])), abs=1e-6)


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


def test_calls_of_one_name_are_distinguished() -> None:
    calls = [
        Calls("alltoallv", 32, 1, ranks=2, options={"gap_us": "1", "arrival": "random"}),
        Calls("alltoallv", 32, 1, ranks=4, options={"gap_us": "20", "arrival": "random"}),
        Calls("bcast", 32, 1, ranks=4, options={"gap_us": "20"}),
    ]
    assert mix.name_calls(calls) == [
        "alltoallv 32 B, 2 ranks, gap_us=1",
        "alltoallv 32 B, 4 ranks, gap_us=20",
        "bcast 32 B",
    ]
