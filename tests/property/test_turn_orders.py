"""The order of launches that measure in turn, over the visits of a case."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from fakes.core import row
from hypothesis import given
from hypothesis import strategies as st

launches = st.integers(2, 64)
first = st.integers(0, 1000)


@given(launches, first)
def test_over_all_rows_each_launch_follows_each_other_one_equally_often(launches: int, first: int) -> None:
    rows = [row(launches, first + visit) for visit in range(launches * (1 + launches % 2))]
    followed = Counter(pair for order in rows for pair in pairwise(order))
    assert len(followed) == launches * (launches - 1)
    assert set(followed.values()) == {len(rows) // launches}


@given(launches, first)
def test_over_as_many_visits_as_launches_each_has_each_place_once(launches: int, first: int) -> None:
    """However many visits there are, places then differ by one at most, but where the rows begin to go backwards."""
    begin = first // launches * launches
    rows = [row(launches, begin + visit) for visit in range(launches)]
    assert all(sorted(places) == list(range(launches)) for places in zip(*rows, strict=True))
    assert all(sorted(order) == list(range(launches)) for order in rows)
