"""The order of launches in turns, over the visits of a case."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from fakes.core import make_row
from hypothesis import given
from hypothesis import strategies as st

launches = st.integers(2, 64)
first = st.integers(0, 1000)


@given(launches, first)
def test_each_launch_follows_each_other_equally_often(launches: int, first: int) -> None:
    rows = [make_row(launches, first + visit) for visit in range(launches * (1 + launches % 2))]
    followed = Counter(pair for order in rows for pair in pairwise(order))
    assert len(followed) == launches * (launches - 1)
    assert set(followed.values()) == {len(rows) // launches}


@given(launches, first)
def test_each_launch_has_each_place_once_in_as_many_visits_as_launches(launches: int, first: int) -> None:
    """For any number of visits, counts of places differ by at most one, except where rows begin to run backwards."""
    begin = first // launches * launches
    rows = [make_row(launches, begin + visit) for visit in range(launches)]
    assert all(sorted(places) == list(range(launches)) for places in zip(*rows, strict=True))
    assert all(sorted(order) == list(range(launches)) for order in rows)
