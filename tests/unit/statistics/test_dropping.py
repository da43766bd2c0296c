"""What is left out of comparisons is chosen by what a call did not cause, and its times are compared with the rest."""

from __future__ import annotations

import itertools
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest
from fakes import campaigns
from wording import WORDING, find_lines

from rankbench import store
from rankbench.analysis import evaluation, statistics
from rankbench.analysis.statistics import dropping
from rankbench.language import render
from rankbench.model import LATE_START, AloneComparison, CaseResult, CaseStatus, Visit
from rankbench.store import Store

CASES = [case for case in campaigns.make_cases("socket") if case.operation == "allreduce" and case.form == "blocking"]


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 3), (4, 2), (5, 5)])
def test_orders_are_counted_as_they_are(first: int, second: int) -> None:
    expected = np.zeros(first * second + 1)
    for places in itertools.combinations(range(first + second), second):
        expected[sum(place - number for number, place in enumerate(places))] += 1
    assert dropping.count_orders(first, second).tolist() == expected.tolist()


def test_the_p_value_is_exact() -> None:
    assert dropping.find_rank_p([1.0, 2, 3, 4, 5, 6, 7], [8.0, 9, 10]) == pytest.approx(2 / 120)
    assert dropping.find_rank_p([1.0, 2, 3], [1.0, 2, 3]) == 1.0
    many = np.linspace(1, 2, 60).tolist()
    assert dropping.find_rank_p(many, many) == pytest.approx(1.0)
    assert dropping.find_rank_p(many, [value + 0.5 for value in many]) < 1e-6


@pytest.mark.parametrize(
    ("counted", "left_out", "expected"),
    [
        ([20.0, 21, 20, 22, 21, 20, 21], [40.0, 44, 41], True),
        ([40.0, 44, 41], [20.0, 21, 20, 22, 21, 20, 21], True),
        ([20.0, 21, 20], [40.0], True),
        ([20.0, 21, 20, 22, 21, 20], [40.0, 20, 41], True),
        ([20.0, 21], [40.0], False),
        ([20.0, 21, 20, 22, 21, 20, 21], [20.3, 21.2, 20.5], False),
        ([20.0, 40, 20, 40, 20, 40], [40.0, 20, 40], False),
    ],
)
def test_times_differ_by_more_than_chance_and_the_threshold(
    counted: list[float], left_out: list[float], *, expected: bool
) -> None:
    assert dropping.differ(counted, left_out, 0.03) == expected


def test_a_slow_mode_that_is_lost_more_often_is_hardly_ever_missed() -> None:
    """Three of ten launches take twice as long; of these two in three are lost, of the others one in thirty."""
    random, missed, tried = np.random.default_rng(2), 0, 0
    for _ in range(1000):
        slow = random.random(10) < 0.3
        lost = random.random(10) < np.where(slow, 0.67, 0.03)
        times = np.where(slow, 2.0, 1.0) * random.lognormal(0, 0.05, 10)
        if not slow.any() or (slow & ~lost).any():
            continue  # What is kept shows the mode.
        tried += 1
        missed += not dropping.differ(times[~lost].tolist(), times[lost].tolist(), 0.03)
    assert tried > 100
    assert missed <= 0.05 * tried


def test_launches_that_are_lost_by_chance_seldom_seem_to_differ() -> None:
    random, alarms, runs = np.random.default_rng(2), 0, 1000
    for _ in range(runs):
        times = random.lognormal(0, 0.1, 20)
        alarms += dropping.differ(times[4:].tolist(), times[:4].tolist(), 0.03)
    assert alarms <= 0.08 * runs


def make_launch(result: CaseResult, factor: float, *, refused: bool, waited: float = 0.0) -> CaseResult:
    """Return a case that took a multiple of its time, refused as one without a round in time."""
    (column,) = result.series
    times = [factor * time_ns for time_ns in column.time_ns]
    visits = [Visit(len(times), waited=waited)]
    changed = msgspec.structs.replace(
        result,
        series=[msgspec.structs.replace(column, time_ns=times, visits=visits)],
        estimate_ns=factor * result.estimate_ns,
    )
    if not refused:
        return changed
    return msgspec.structs.replace(changed, status=CaseStatus.REFUSED, cause=LATE_START, reason="late", series=[])


def make_campaign(folder: Path, slow: set[int], refused: set[int], seed: int = 1, blocks: int = 10) -> Store:
    """Return a campaign of equal candidates, except that beta takes twice as long in slow blocks, and some are refused.

    A refused launch of beta has no values.
    """
    record = campaigns.make_record(folder.name, CASES, ("alpha", "beta"), control=False, seed=seed)
    campaign = store.create(folder, record)
    draws = campaigns.Draw(campaigns.make_equal_truth, np.random.default_rng(seed), (1.0,), 40)
    numbers = itertools.count(1)
    for block, position, name, place in campaigns.list_turns(record, blocks):
        results = [
            make_launch(
                result,
                2.0 if name == "beta" and block in slow else 1.0,
                refused=name == "beta" and block in refused,
            )
            for result in draws.draw_results(block, name, CASES)
        ]
        campaign.append(campaigns.make_launch(next(numbers), block, position, name, place), results)
    return campaign


def test_a_library_with_a_slow_mode_whose_slow_launches_are_lost_is_not_equivalent(tmp_path: Path) -> None:
    view = evaluation.evaluate(make_campaign(tmp_path / "slow", {2, 5, 9}, {2, 5, 9}))
    assert [verdict.outcome for verdict in view.case_verdicts] == ["undecided"] * len(CASES)
    (warning,) = [finding for finding in view.verdict.findings if finding.kind == "dropping"]
    assert sorted(warning.cases) == sorted(case.key for case in CASES)
    text = render(warning.text)
    assert find_lines(text, "3 launches of beta") == WORDING
    assert "never called equivalent" in text


def test_losing_launches_by_chance_changes_no_verdict(tmp_path: Path) -> None:
    view = evaluation.evaluate(make_campaign(tmp_path / "chance", set(), {2, 5, 9}, blocks=20))
    assert [verdict.outcome for verdict in view.case_verdicts] == ["equivalent"] * len(CASES)
    assert not [finding for finding in view.verdict.findings if finding.kind == "dropping"]


def test_a_slow_mode_that_is_kept_is_not_equivalent_either(tmp_path: Path) -> None:
    view = evaluation.evaluate(make_campaign(tmp_path / "kept", {2, 5, 9}, set()))
    assert "equivalent" not in {verdict.outcome for verdict in view.case_verdicts}


def make_visits(waited: list[float | None], candidate: str = "alpha", launch: int = 1) -> pl.DataFrame:
    """Return ten samples of each visit of a launch, whose time is the number of the visit."""
    visits = [number for number in range(len(waited)) for _ in range(10)]
    return pl.DataFrame(
        {
            "case": "c",
            "candidate": candidate,
            "block": launch,
            "launch": launch,
            "visit": visits,
            "visit_hop_ns": 50.0,
            "visit_position": 0,
            "visit_after": -1,
            "visit_waited": [share for share in waited for _ in range(10)],
            "time_ns": [100.0 * (number + 1) for number in visits],
            "discarded": False,
            "skew_ns": 0.0,
            "bound_ns": 0.0,
            "error_ns": 0.0,
        },
        schema_overrides={"visit_waited": pl.Float32},
    )


def values_of(*launches: pl.DataFrame) -> list[tuple[list[int], bool]]:
    """Return the visits of each launch that count, and whether it does not count."""
    frame = statistics.compute_launch_values(pl.concat(launches).lazy())
    return list(frame.sort("launch").select("visit", "few").iter_rows())


def test_visits_in_which_ranks_waited_for_a_cpu_do_not_count_whatever_their_times() -> None:
    assert values_of(make_visits([0.0, 0.5, 0.02, 0.01])) == [([0, 2, 3], False)]
    assert values_of(make_visits([0.0, 0.09, 0.02, 0.01])) == [([0, 1, 2, 3], False)]
    assert values_of(make_visits([None, None])) == [([0, 1], False)]


def test_a_launch_of_which_all_visits_waited_is_shown_and_not_compared() -> None:
    quiet = [make_visits([0.0, 0.01], launch=number) for number in (1, 2, 3)]
    assert values_of(*quiet, make_visits([0.6, 0.7], launch=4))[-1] == ([0, 1], True)


def test_on_a_machine_that_is_always_busy_no_visit_is_worse_than_the_others() -> None:
    busy = [make_visits([0.4, 0.5, 0.6], launch=number) for number in (1, 2, 3)]
    assert values_of(*busy) == [([0, 1, 2], False)] * 3


def test_a_disturbed_launch_takes_its_partner_out_of_the_comparison() -> None:
    quiet = [
        make_visits([0.0, 0.01], candidate=name, launch=number) for number in (1, 2, 3, 4) for name in ("alpha", "beta")
    ]
    disturbed = [make_visits([0.6, 0.7], "alpha", 5), make_visits([0.0, 0.0], "beta", 5)]
    frame = statistics.compute_launch_values(pl.concat([*quiet, *disturbed]).lazy()).filter(~pl.col("few"))
    (comparison,) = statistics.compare(frame, [("alpha", "beta")], 0.03)
    assert comparison.blocks == 4


@pytest.mark.parametrize(
    ("in_turns", "change", "agrees"),
    [(0.33, 1.12, True), (3.0, 0.9, True), (1.2, 0.7, False), (1.02, 1.2, False), (0.9, 1.08, False)],
)
def test_a_case_is_open_if_its_ratio_alone_contradicts(in_turns: float, change: float, agrees: bool) -> None:
    """Alone the interval is 3 % wide on either side."""
    pair = AloneComparison(
        case="a", base="alpha", other="beta", alone=in_turns * change, in_turns=in_turns,
        change=change, low=change / 1.03, high=change * 1.03,
    )  # fmt: skip
    assert pair.agrees(0.03) == agrees
