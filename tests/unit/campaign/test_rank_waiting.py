"""What ranks waited for others: which part of it no library changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankbench.campaign.rank_waiting import Timeline, Windows, find_unavoidable, sum_until


def make_windows(*rows: tuple[int, float, float, int], weight: float = 1.0) -> Windows:
    """Return windows of owner, begin, until and the rank that came."""
    owner, begin, until, other = (np.array(column) for column in zip(*rows, strict=True))
    calls = np.arange(len(rows))
    return Windows(owner, begin.astype(float), until.astype(float), other, calls, np.full(len(rows), weight))


def make_timeline(*points: tuple[float, float]) -> Timeline:
    """Return how long a rank was outside MPI until some moments."""
    return Timeline(*(np.array(column, dtype=float) for column in zip(*points, strict=True)))


COMPUTES = make_timeline((0, 0), (100, 100))
TRANSFERS = make_timeline((0, 0), (100, 0))


def test_a_rank_waits_for_one_that_computes() -> None:
    windows = make_windows((0, 10, 90, 1))
    assert find_unavoidable(windows, [TRANSFERS, COMPUTES]) == pytest.approx([80])


def test_a_rank_that_transfers_is_late_because_of_the_library() -> None:
    windows = make_windows((0, 10, 90, 1))
    assert find_unavoidable(windows, [TRANSFERS, TRANSFERS]) == pytest.approx([0])


def test_a_rank_that_computed_for_a_part_of_the_time_is_waited_for_in_that_part() -> None:
    windows = make_windows((0, 10, 90, 1))
    late = make_timeline((0, 0), (70, 0), (100, 30))
    assert find_unavoidable(windows, [TRANSFERS, late]) == pytest.approx([20])


@pytest.mark.parametrize("ranks", [3, 8])
def test_waiting_is_passed_on_along_a_chain(ranks: int) -> None:
    """Each rank takes a moment to pass on what it waited for; only that is the library's."""
    windows = make_windows(*((rank, 0, 50 + rank, rank - 1) for rank in range(1, ranks)))
    timelines = [make_timeline((0, 0), (50, 50), (100, 50)), *[TRANSFERS] * (ranks - 1)]
    assert find_unavoidable(windows, timelines) == pytest.approx([50] * (ranks - 1), abs=1)


def test_ranks_of_a_ping_pong_do_not_wait() -> None:
    """Each posts its receive when the other one's message is on its way."""
    windows = make_windows(*((turn % 2, 10 * turn, 10 * turn + 9, 1 - turn % 2) for turn in range(10)))
    assert find_unavoidable(windows, [TRANSFERS, TRANSFERS]).sum() < 5


spans = st.lists(st.tuples(st.floats(0, 100), st.floats(0, 10), st.sampled_from([1.0, 2.0, 8.0])), max_size=8)


@given(spans, st.floats(-10, 120))
def test_the_part_of_spans_that_is_over_is_their_sum(rows: list[tuple[float, float, float]], moment: float) -> None:
    ordered = sorted(rows)
    begins, lengths, weights = (np.array([row[place] for row in ordered]) for place in range(3))
    expected = sum(weight * min(max(moment - begin, 0.0), length) for begin, length, weight in ordered)
    assert sum_until(np.array([moment]), begins, lengths, weights) == pytest.approx([expected], abs=1e-6)
