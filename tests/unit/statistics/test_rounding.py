"""Values that a tool printed rounded: intervals cover the truth, whatever the number of launches."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankbench.analysis import statistics
from rankbench.analysis.statistics import deciding, rounding
from rankbench.analysis.statistics.contrasts import Claim, compare_within_launches, judge
from rankbench.analysis.statistics.prediction import predict
from rankbench.analysis.statistics.unpaired import compare_unpaired
from rankbench.analysis.statistics.unpaired_levels import compare_at_levels

PAIR = [("a", "b")]
TRUE_NS = {"a": 204.7, "b": 205.3}
"""Of these two decimals of a microsecond are 0.20 and 0.21."""
TIMES = st.floats(5.1, 1e5)


def print_values(values_ns: dict[str, list[float]], unit_ns: float, case: str = "c") -> pl.DataFrame:
    """Return launches whose values were printed in this unit."""
    rows = [
        (case, name, block, block, round(value / unit_ns) * unit_ns, unit_ns / 2)
        for name, values in values_ns.items()
        for block, value in enumerate(values, 1)
    ]
    schema = ["case", "candidate", "block", "launch", "figure_ns", "rounding_ns"]
    cases = pl.DataFrame(rows, schema, orient="row")
    return rounding.join_rounding(cases.drop("rounding_ns"), cases)


def test_the_rounding_of_a_value_bounds_its_logarithm() -> None:
    launches = print_values({"a": [204.7], "b": [5.1]}, 10.0)
    assert launches["rounding"].to_list() == pytest.approx([-math.log(195 / 200), -math.log(5 / 10)])
    assert rounding.find_offsets(launches, [("c", "a", "b"), ("c", "", "a")]) == pytest.approx(
        [launches["rounding"].sum(), launches["rounding"][0]]
    )


def test_values_that_were_not_printed_have_no_rounding() -> None:
    cases = pl.DataFrame({"case": "c", "candidate": "a", "block": 1, "launch": 1, "figure_ns": 1.0, "rounding_ns": 0.0})
    assert rounding.join_rounding(cases.drop("rounding_ns"), cases)["rounding"].to_list() == [0.0]
    assert rounding.find_offsets(cases, [("c", "a", "b")]) == [0.0]
    assert rounding.complete(cases)["rounding"].to_list() == [0.0]


def test_a_value_smaller_than_its_rounding_is_as_good_as_unknown() -> None:
    cases = pl.DataFrame({"case": "c", "candidate": "a", "block": 1, "launch": 1, "figure_ns": 1.0, "rounding_ns": 2.0})
    (known,) = rounding.join_rounding(cases.drop("rounding_ns"), cases)["rounding"]
    assert 6 < known < 8


def test_two_values_that_differ_by_a_unit_are_not_distinguishable() -> None:
    launches = print_values({name: [value] * 6 for name, value in TRUE_NS.items()}, 10.0)
    (comparison,) = statistics.compare(launches, PAIR, 0.03)
    assert comparison.ratio == pytest.approx(1.05)
    assert (comparison.different, comparison.alike, comparison.is_rounded) == (False, False, True)
    assert comparison.low < 1 < comparison.high
    (finer,) = statistics.compare(launches.with_columns(rounding=pl.lit(0.0)), PAIR, 0.03)
    assert (finer.different, finer.is_rounded) == (True, False)


def test_equal_values_are_not_equivalent_where_a_unit_exceeds_the_threshold() -> None:
    (coarse,) = statistics.compare(print_values({"a": [200.0] * 6, "b": [200.0] * 6}, 10.0), PAIR, 0.03)
    (fine,) = statistics.compare(print_values({"a": [200.0] * 6, "b": [200.0] * 6}, 1.0), PAIR, 0.03)
    assert (coarse.alike, coarse.is_rounded, fine.alike, fine.is_rounded) == (False, True, True, False)


@given(TIMES, TIMES, st.integers(3, 12))
def test_the_interval_covers_the_true_ratio_of_rounded_values(first: float, second: float, launches: int) -> None:
    printed = print_values({"a": [first] * launches, "b": [second] * launches}, 10.0)
    (comparison,) = statistics.compare(printed, PAIR, 0.03)
    assert comparison.low <= second / first <= comparison.high
    assert not comparison.different or abs(math.log(second / first)) > math.log(1.03)
    assert not comparison.alike or abs(math.log(second / first)) <= math.log(1.03) + 1e-12
    (unpaired,) = compare_unpaired(printed, printed, PAIR, 0.03)
    assert unpaired.low <= second / first <= unpaired.high


@pytest.mark.thorough
@pytest.mark.parametrize("scatter", [0.01, 0.05])
def test_intervals_of_rounded_values_that_scatter_cover_the_truth(scatter: float) -> None:
    """At least 95% of 400 ratios; without the rounding far fewer where it is larger than the scatter."""
    generator = np.random.default_rng(7)
    cases, truth = [], {}
    for number in range(400):
        key = f"c{number}"
        times = {name: float(generator.uniform(50, 400)) for name in "ab"}
        truth[key] = times["b"] / times["a"]
        launches = {name: list(time * np.exp(scatter * generator.normal(size=8))) for name, time in times.items()}
        cases.append(print_values(launches, 10.0, key))
    frame = pl.concat(cases)
    covered, narrow = (
        np.mean([result.low <= truth[result.case] <= result.high for result in statistics.compare(values, PAIR, 0.03)])
        for values in (frame, frame.drop("rounding"))
    )
    assert covered >= 0.95
    assert narrow < covered - (0.2 if scatter == 0.01 else 0)


def test_campaigns_are_compared_with_their_rounding() -> None:
    then, now = (print_values({"a": [value] * 6}, 10.0) for value in TRUE_NS.values())
    (change,) = compare_unpaired(then, now, [("a", "a")], 0.03)
    assert change.ratio == pytest.approx(1.05)
    assert not change.different
    assert change.rounding == pytest.approx(then["rounding"][0] + now["rounding"][0])
    (at,) = compare_at_levels(then, now, [("a", "a")], 0.03, levels={})
    assert at.overall == change


def test_a_prediction_has_the_rounding_of_both_sides() -> None:
    past, new = [np.log([200.0] * 10)], np.log([210.0])
    (exact,) = predict(past, new, 0.03)
    (rounded,) = predict(past, new, 0.03, offsets=[0.05])
    assert exact.p_adjusted < 0.05 < rounded.p_adjusted
    assert rounded.low < 1 < exact.low


def test_more_blocks_do_not_decide_rounded_values() -> None:
    launches = print_values({name: [value] * 6 for name, value in TRUE_NS.items()}, 10.0)
    comparisons = statistics.compare(launches, PAIR, 0.03)
    progress = deciding.assess_cases(comparisons, deciding.SequentialDesign(0.03, [6, 12, 24, 48]))
    assert (progress.given_up, progress.open) == (["c"], {})


@pytest.mark.parametrize(("unit_ns", "sure"), [(10.0, False), (0.1, True)])
def test_a_whole_is_not_slower_than_its_parts_because_of_rounding(unit_ns: float, sure: bool) -> None:
    """A call of 205.3 ns, and one of 204.7 ns with less to do, are printed as 0.21 and 0.20 us."""
    launches = pl.concat(
        print_values({"a": [time] * 6}, unit_ns, case) for case, time in (("whole", 205.3), ("part", 204.7))
    )
    logs = compare_within_launches(launches, [Claim("whole", ("part",), 1.0)])
    assert logs["rounding"].to_list() == pytest.approx(
        [sum(launches.group_by("case").agg(pl.col("rounding").max())["rounding"])] * 6
    )
    (contrast,) = judge(logs, ["claim", "candidate"])
    assert contrast.sure == sure
    assert contrast.low < 205.3 / 204.7 < contrast.high
