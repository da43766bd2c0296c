"""How a campaign spent its time: parts of launches in turns, starts, and the time between launches."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rankbench.campaign.spending import OUTSIDE, PARTS, block_durations_s, list_parts, total_duration_s
from rankbench.model import Launch, LaunchStatus

CORE = Path(__file__).parents[3] / "core"


def make_launch(block: int, at_s: float, duration_s: float, **spent_s: float) -> Launch:
    return Launch(
        number=block, block=block, position=0, candidate="alpha", placement="here", status=LaunchStatus.OK, reason="",
        started=(datetime(2026, 11, 25, tzinfo=UTC) + timedelta(seconds=at_s)).isoformat(), duration_s=duration_s,
        exit_code=0, command=[], environment={}, facts=None, ranks=[], load_before=0.0, stolen_s=0.0, spent_s=spent_s,
    )  # fmt: skip


def test_every_part_of_the_core_is_explained() -> None:
    (names,) = re.findall(r"part_names\[PARTS\] = \{(.*?)\};", (CORE / "base/time_parts.c").read_text(), re.DOTALL)
    assert set(re.findall(r'"(\w+)"', names)) == (PARTS.keys() | OUTSIDE) - {"between", "start"}


def test_times_of_concurrent_launches_add_up() -> None:
    """Two launches at the same time, 10 s in all: each waits while the other has its turn."""
    first = make_launch(1, 0, 5, init=0.5, join=0.5, wait=4.5, calls=2, check=2.5)
    second = make_launch(1, 0, 5, init=1, wait=4.5, calls=3, check=1.5)
    parts = {part.part: part for part in list_parts([first, second])}
    assert {name: part.seconds for name, part in parts.items()} == {"start": 1, "calls": 5, "check": 4}
    assert parts["calls"].share == 0.5


def test_an_interruption_is_not_time_between_launches() -> None:
    starts_s = [0, 11, 22, 33 + 86400]
    parts = list_parts([make_launch(block, at_s, 10, calls=10) for block, at_s in enumerate(starts_s, 1)])
    assert {part.part: part.seconds for part in parts} == {"between": pytest.approx(3), "calls": 40}


def test_of_two_gaps_the_interruption_does_not_count() -> None:
    launches = [make_launch(block, at_s, 10) for block, at_s in enumerate([0, 11, 121], 1)]
    assert total_duration_s(launches) == pytest.approx(32)


def test_elapsed_time_includes_the_time_between_launches_but_no_interruption() -> None:
    starts_s = [0, 11, 22, 33 + 86400]
    assert total_duration_s([make_launch(block, at_s, 10) for block, at_s in enumerate(starts_s, 1)]) == pytest.approx(
        43
    )
    assert total_duration_s([make_launch(2, 12, 5), make_launch(1, 0, 5), make_launch(1, 0, 5)]) == pytest.approx(17)
    assert total_duration_s([]) == 0


def test_a_block_takes_the_time_of_its_launches_and_the_time_before_them() -> None:
    pair = [make_launch(1, 0, 5), make_launch(1, 0, 5), make_launch(1, 11, 4)]
    assert block_durations_s([make_launch(2, 16, 6), *pair]) == {1: pytest.approx(15), 2: pytest.approx(7)}
    assert block_durations_s([]) == {}


def test_launches_without_reported_times_have_no_parts() -> None:
    assert list_parts([make_launch(1, 0, 5)]) == []
