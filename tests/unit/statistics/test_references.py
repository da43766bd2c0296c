"""Two levels of the reference within launches, against known truth."""

from __future__ import annotations

import msgspec
import numpy as np
import polars as pl
import pytest
from fakes import campaigns

from rankbench.analysis.statistics.references import Levels, by_case, find_levels, name_level

NEAR, FAR = 55.0, 228.0


def test_two_levels_are_found_and_values_between_belong_to_neither() -> None:
    random = np.random.default_rng(1)
    hops = [*random.normal(NEAR, 3, 300), *random.normal(FAR, 4, 200), *[120.0] * 20, *[0.0] * 9]
    result = find_levels(hops)
    assert result
    assert result.near_ns == pytest.approx(NEAR, rel=0.03)
    assert result.far_ns == pytest.approx(FAR, rel=0.03)
    assert NEAR < result.nearest_ns < 120 < result.farthest_ns < FAR


@pytest.mark.parametrize(
    "hops",
    [
        [],
        [0.0] * 100,
        [NEAR] * 3 + [FAR] * 3,
        list(np.random.default_rng(2).normal(NEAR, 4, 500)),
        list(np.random.default_rng(3).lognormal(4, 0.5, 500)),
        [NEAR] * 480 + [FAR] * 20,
    ],
    ids=["none", "unknown", "few", "one level", "evenly", "hardly ever"],
)
def test_a_single_level_is_not_divided(hops: list[float]) -> None:
    assert find_levels(hops) is None


def test_each_placement_has_its_own_levels_and_memory_has_none() -> None:
    cases = campaigns.make_cases(lines=[("bcast", "blocking")], sizes=(8, 1024))
    memory = msgspec.structs.replace(cases[1], options={"quantity": "memory"})
    elsewhere = msgspec.structs.replace(cases[0], placement="spread")
    record = campaigns.make_record("made", [cases[0], memory, elsewhere], ["a", "b"], control=False)
    hops = {cases[0].key: [NEAR, FAR], memory.key: [NEAR, FAR], elsewhere.key: [NEAR, NEAR]}
    launch_values = pl.DataFrame([{"case": key, "visit_hop_ns": hop * 20} for key, hop in hops.items()])
    levelses = by_case(launch_values, record)
    assert list(levelses) == [cases[0].key]
    assert levelses[cases[0].key].far_ns == pytest.approx(FAR)
    assert by_case(launch_values.drop("visit_hop_ns"), record) == {}


def test_a_case_whose_reference_is_not_measured_has_no_levels() -> None:
    """A program is launched without the core."""
    cases = campaigns.make_cases(lines=[("bcast", "blocking")], sizes=(8, 1024))
    record = campaigns.make_record("made", cases, ["a", "b"], control=False)
    hops = {cases[0].key: [NEAR, FAR], cases[1].key: [0.0, 0.0]}
    launch_values = pl.DataFrame([{"case": key, "visit_hop_ns": hop * 20} for key, hop in hops.items()])
    assert list(by_case(launch_values, record)) == [cases[0].key]


def test_visits_have_the_names_of_their_levels() -> None:
    frame = pl.DataFrame({"case": ["a"] * 5 + ["b"], "visit_hop_ns": [0.0, NEAR, 100.0, 120.0, FAR, NEAR]})
    levels = {"a": Levels(NEAR, FAR, 100.0, 200.0)}
    assert frame.select(name_level(levels)).to_series().to_list() == [None, "near", "near", None, "far", None]
    assert frame.with_columns(state=name_level({}))["state"].to_list() == [None] * 6
