"""Ratios of launches that measured in turns, against known truth."""

from __future__ import annotations

import math

import polars as pl
import pytest

from rankbench.analysis.statistics.pairing import pair_logs, pair_visits


def make_launch(
    candidate: str, block: int, figure_ns: float, visits: dict[int, float], hop_ns: float = 50.0
) -> dict[str, object]:
    return {
        "case": "c",
        "candidate": candidate,
        "block": block,
        "launch": block,
        "figure_ns": figure_ns,
        "visit": list(visits),
        "visit_ns": list(visits.values()),
        "visit_hop_ns": [hop_ns] * len(visits),
    }


def list_logs(*launches: dict[str, object]) -> list[float]:
    return pair_logs(pl.DataFrame(launches), [("a", "b")])["log"].to_list()


def test_a_block_has_the_median_ratio_of_its_visits() -> None:
    """The machine is four times slower in the second visit, which distorts the ratio of the launches' medians."""
    first = make_launch("a", 1, 100.0, {0: 100.0, 1: 400.0, 2: 100.0})
    second = make_launch("b", 1, 420.0, {0: 105.0, 1: 420.0, 2: 420.0})
    assert list_logs(first, second) == [pytest.approx(math.log(1.05))]


def test_visits_are_paired_by_their_number() -> None:
    """A visit lost by one launch has no pair."""
    first = make_launch("a", 1, 100.0, {0: 100.0, 2: 300.0, 3: 100.0})
    second = make_launch("b", 1, 100.0, {0: 110.0, 1: 9.0, 2: 330.0, 3: 110.0})
    assert list_logs(first, second) == [pytest.approx(math.log(1.1))]


def test_launches_with_a_single_visit_are_compared_by_their_values() -> None:
    assert list_logs(make_launch("a", 1, 100.0, {0: 90.0}), make_launch("b", 1, 120.0, {0: 180.0})) == [
        pytest.approx(math.log(1.2))
    ]


def test_values_below_the_clock_s_step_are_left_out() -> None:
    blocks = [make_launch("a", 1, 0.0, {0: 0.0, 1: 0.0}), make_launch("b", 1, 1.0, {0: 1.0, 1: 1.0})]
    blocks += [make_launch("a", 2, 1.0, {0: 0.0, 1: 1.0, 2: 1.0}), make_launch("b", 2, 2.0, {0: 9.0, 1: 2.0, 2: 2.0})]
    assert list_logs(*blocks) == [pytest.approx(math.log(2))]


def test_visits_have_the_time_of_a_hop() -> None:
    frame = pl.DataFrame(
        make_launch(name, 1, 100.0, {0: time, 1: time}, hop)
        for name, time, hop in (("a", 100.0, 50.0), ("b", 200.0, 200.0))
    )
    assert pair_visits(frame, [("a", "b")]).rows() == [
        ("a", "b", "c", 1, 0, pytest.approx(math.log(2)), 50.0, 200.0),
        ("a", "b", "c", 1, 1, pytest.approx(math.log(2)), 50.0, 200.0),
    ]
