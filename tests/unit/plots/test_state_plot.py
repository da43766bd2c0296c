"""The plot of states: a point and a bar for each launch with a known state."""

from __future__ import annotations

import dataclasses
import math

import msgspec
import pytest
from fakes import campaigns, evaluations
from wording import WORDING

from rankbench.model import Exchange, Launch, State
from rankbench.plots import chart as plots_chart
from rankbench.plots import marks
from rankbench.plots.chart import Chart
from rankbench.plots.kinds import state


def draw_chart(*launches: Launch) -> Chart | None:
    """Draw launches of alpha, beta and alpha's twin."""
    return state.chart(dataclasses.replace(evaluations.make_evaluation(), launches=list(launches)))


def make_launch(number: int, before: State | None, after: State | None, candidate: str = "alpha") -> Launch:
    record = campaigns.make_launch(number, 1, 0, candidate, "socket")
    return msgspec.structs.replace(record, before=before, after=after)


def list_rows(*launches: Launch) -> list[plots_chart.Row]:
    drawn = draw_chart(*launches)
    assert drawn is not None
    return drawn.datasets["launches"]


def test_a_launch_is_a_bar_from_before_to_after_and_a_point_between() -> None:
    (row,) = list_rows(make_launch(7, campaigns.make_state(50), campaigns.make_state(52)))
    assert row == {
        "candidate": "alpha",
        "launch": 7,
        "block": 1,
        "exchange_ns": marks.shorten(math.sqrt(50 * 52)),
        "before_ns": 50.0,
        "after_ns": 52.0,
        "before": "50.0 ns",
        "after": "52.0 ns",
        "changed": False,
    }


def test_a_launch_that_is_not_compared_is_drawn_hollow() -> None:
    changed = [
        row["changed"]
        for row in list_rows(
            make_launch(1, campaigns.make_state(50), campaigns.make_state(210)), make_launch(2, None, None)
        )
    ]
    assert changed == [True]


def test_the_twin_is_drawn_with_its_original() -> None:
    twin = make_launch(1, campaigns.make_state(50), None, "alpha (again)")
    assert [(row["candidate"], row["before"], row["after"]) for row in list_rows(twin)] == [
        ("alpha", "50.0 ns", "50.0 ns")
    ]


def test_without_known_states_there_is_no_plot() -> None:
    assert draw_chart(make_launch(1, None, None), make_launch(2, State(cpus=[0]), None)) is None


@pytest.mark.parametrize("cpus", [2, 3])
def test_the_title_names_the_cpus(cpus: int) -> None:
    pairs = [(a, b) for a in range(cpus) for b in range(a + 1, cpus)]
    known = State(exchange=[Exchange(cpus=pair, median_ns=50, min_ns=40) for pair in pairs])
    record = make_launch(1, known, known)
    ranks = [msgspec.structs.replace(record.ranks[0], rank=cpu, cpu=cpu) for cpu in range(cpus)]
    drawn = draw_chart(msgspec.structs.replace(record, ranks=ranks))
    assert drawn is not None
    assert drawn.subtitle == WORDING
