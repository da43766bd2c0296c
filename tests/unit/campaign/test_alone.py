"""Launches that are made alone beside those in turns, and what they show."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest
from fakes.library import behave
from unit.campaign.test_blocks import PLAN, assert_sound, libraries, run

from rankbench.analysis import evaluation
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.alone import compare_alone
from rankbench.campaign import loop
from rankbench.language import render

__all__ = ["libraries"]

NAMES = ["mpich-9.1", "mpich-9.2"]
LONGER = PLAN.replace("blocks = 2", "blocks = 5")


@pytest.mark.usefixtures("libraries")
def test_the_first_block_launches_each_candidate_alone_for_few_cases(tmp_path: Path) -> None:
    store = run(tmp_path)
    assert_sound(store, blocks=2)
    launches = store.alone.launches()
    assert [(launch.block, launch.candidate, launch.together) for launch in launches] == [
        (1, name, 1) for name in NAMES
    ]
    assert all("--turns" not in launch.command for launch in launches)
    rows = store.alone.cases()
    assert rows.height == len(NAMES) * loop.CHEAPEST
    assert set(rows["case"]) < {case.key for case in store.campaign.cases}


@pytest.mark.usefixtures("libraries")
def test_the_cheapest_cases_are_chosen(tmp_path: Path) -> None:
    store = run(tmp_path)
    rows = store.cases().filter(block=1)
    costs = dict(rows.group_by("case").agg(pl.col("timed_ns").max()).iter_rows())
    chosen = set(store.alone.cases()["case"])
    assert max(costs[key] for key in chosen) <= min(costs[key] for key in costs.keys() - chosen)


@pytest.mark.thorough
@pytest.mark.usefixtures("libraries")
def test_one_in_ten_blocks_does_so_and_a_continued_campaign_repeats_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "ALONE_EVERY", 3)
    run(tmp_path, LONGER)
    before = [(launch.block, launch.started) for launch in run(tmp_path, LONGER).alone.launches()]
    assert [block for block, _ in before] == [1, 1, 3, 3]
    after = [(launch.block, launch.started) for launch in run(tmp_path, LONGER).alone.launches()]
    assert after == before


@pytest.mark.usefixtures("libraries")
def test_launches_that_run_alone_anyway_are_not_repeated(tmp_path: Path) -> None:
    assert run(tmp_path, f"together = false{PLAN}").alone.launches() == []


def test_a_launch_that_fails_alone_changes_nothing(libraries: dict[str, Path], tmp_path: Path) -> None:
    behave(libraries["9.2"], crash=["allreduce.8"])
    store = run(tmp_path)
    alone = store.alone.launches()
    assert {launch.candidate for launch in alone} == set(NAMES)
    assert len(alone) == len(NAMES)


def evaluate_factors(libraries: dict[str, Path], tmp_path: Path, **factors: float) -> CampaignView:
    """Return the view of a campaign in which the second library takes longer under some condition."""
    behave(libraries["9.2"], **factors)
    return evaluation.evaluate(run(tmp_path, LONGER))


@pytest.mark.parametrize(
    ("factors", "ratios"),
    [
        ({"factor_in_turns": 1.3}, (1.0, 1.3)),
        ({"factor": 1.3, "factor_in_turns": 1 / 1.3}, (1.3, 1.0)),
    ],
)
def test_a_library_that_is_slower_only_beside_others_or_only_alone_is_not_judged(
    libraries: dict[str, Path], tmp_path: Path, factors: dict[str, float], ratios: tuple[float, float]
) -> None:
    view = evaluate_factors(libraries, tmp_path, **factors)
    tested = {comparison.case for comparison in view.verdict.alone}
    assert len(tested) == loop.CHEAPEST
    for comparison in view.verdict.alone:
        assert (comparison.base, comparison.other) == ("mpich-9.1", "mpich-9.2")
        assert (comparison.alone, comparison.in_turns) == pytest.approx(ratios, rel=0.12)
        assert view.verdict_of[comparison.case].outcome == "undecided"
    assert {finding.kind for finding in view.verdict.findings} >= {"alone"}
    brief = " ".join(render(claim.text) for claim in view.verdict.conclusion if claim.brief)
    assert "Not decided: in 3 cases candidates compare differently when each runs alone" in brief


def test_a_library_that_is_slower_under_all_conditions_is_judged(libraries: dict[str, Path], tmp_path: Path) -> None:
    view = evaluate_factors(libraries, tmp_path, factor=1.3)
    assert view.verdict.alone == []
    assert {verdict.outcome for verdict in view.case_verdicts} == {"faster"}
    scope = render(view.verdict.conclusion[-1].text)
    assert "measured in turns while the other candidates' processes waited" in scope


def test_the_line_of_validity_says_nothing_of_turns_where_launches_ran_alone(
    libraries: dict[str, Path], tmp_path: Path
) -> None:
    behave(libraries["9.2"], factor=1.3)
    view = evaluation.evaluate(run(tmp_path, f"together = false{PLAN}"))
    assert "in turns" not in render(view.verdict.conclusion[-1].text)


def draw_values(
    random: np.random.Generator, blocks: int, scatter: float, far: Callable[[], bool] = lambda: False
) -> pl.DataFrame:
    """Return values of two candidates in three cases, of which both of a block share a disturbance.

    They are equal while cores are near; while they are far, the first takes three times as long.
    """
    rows = [
        (case, name, block, block, factor * 1000 * float(np.exp(shared + scatter * random.normal())), [hop, hop])
        for block in range(1, blocks + 1)
        for shared, is_far in [(scatter * random.normal(), far())]
        for hop in [(160.0 if is_far else 40.0) * float(np.exp(0.05 * random.normal()))]
        for case in "abc"
        for name in NAMES
        for factor in [3 if is_far and name == NAMES[0] else 1]
    ]
    names = ["case", "candidate", "block", "launch", "figure_ns", "visit_hop_ns"]
    return pl.DataFrame(rows, names, orient="row")


@pytest.mark.thorough
@pytest.mark.parametrize("far_share", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("scatter", [0.01, 0.2])
def test_candidates_that_compare_alike_seldom_seem_to_differ_alone(scatter: float, far_share: float) -> None:
    """Launches alone follow each other, so the machine may have changed between them."""
    random, runs = np.random.default_rng(5), 400

    def is_far() -> bool:
        return bool(random.random() < far_share)

    wrong = 0
    for _ in range(runs):
        alone = pl.concat([draw_values(random, 1, scatter, is_far).filter(candidate=name) for name in NAMES])
        in_turns = draw_values(random, 5, scatter, is_far)
        wrong += bool(compare_alone(in_turns, alone, [(NAMES[0], NAMES[1])], 0.03, 0.95))
    assert wrong <= 0.05 * runs


def test_a_difference_alone_is_seen_at_either_level_of_the_machine() -> None:
    """Blocks in turns at the level of a launch alone are enough to compare it with."""
    random = np.random.default_rng(1)
    in_turns = draw_values(random, 12, 0.01, lambda: bool(random.random() < 0.5))
    for is_far in (False, True):
        alone = draw_values(random, 1, 0.01, partial(bool, is_far))
        slower = pl.when(candidate=NAMES[1]).then(pl.col("figure_ns") * 2).otherwise("figure_ns")
        assert compare_alone(in_turns, alone, [(NAMES[0], NAMES[1])], 0.03, 0.95) == []
        changed = compare_alone(in_turns, alone.with_columns(figure_ns=slower), [(NAMES[0], NAMES[1])], 0.03, 0.95)
        assert [comparison.change for comparison in changed] == pytest.approx([2.0] * 3, rel=0.05)


def test_a_difference_alone_is_seen_if_no_state_of_the_machine_explains_it() -> None:
    random = np.random.default_rng(1)
    in_turns, alone = draw_values(random, 5, 0.01), draw_values(random, 1, 0.01, lambda: True)
    for factor, cases in ((9, 0), (300, 3)):
        slower = pl.when(candidate=NAMES[1]).then(pl.col("figure_ns") * factor).otherwise("figure_ns")
        changed = compare_alone(in_turns, alone.with_columns(figure_ns=slower), [(NAMES[0], NAMES[1])], 0.03, 0.95)
        assert len(changed) == cases


def test_records_of_alone_comparisons_are_plain() -> None:
    (comparison,) = compare_alone(
        draw_values(np.random.default_rng(1), 5, 0.001).filter(case="a"),
        draw_values(np.random.default_rng(2), 1, 0.001)
        .filter(case="a")
        .with_columns(figure_ns=pl.when(candidate=NAMES[1]).then(pl.col("figure_ns") * 2).otherwise("figure_ns")),
        [(NAMES[0], NAMES[1])],
        0.03,
        0.95,
    )
    assert msgspec.json.decode(msgspec.json.encode(comparison), type=type(comparison)) == comparison
    assert comparison.change == pytest.approx(2.0, rel=0.02)
    assert comparison.low <= comparison.change <= comparison.high
