"""Comparisons that are open, can still matter for the answer, and may yet be decided."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from fakes.level_comparisons import combine_levels
from scipy import stats

from rankbench import plan
from rankbench.analysis import statistics
from rankbench.analysis.statistics import deciding
from rankbench.analysis.statistics.looks import Penalty
from rankbench.model import Comparison, Stop

LOOKS = plan.list_looks(Stop())
DESIGN = deciding.SequentialDesign(0.03, LOOKS)


def make_comparison(
    base: str, other: str, ratio: float, scatter: float, blocks: int = 5, case: str = "c"
) -> Comparison:
    """Return the result of `statistics.compare` for log ratios with this mean and this standard deviation."""
    error, freedom = scatter / math.sqrt(blocks), 4 + deciding.DEGREES_PER_BLOCK * (blocks - 5)
    paid = Penalty(tuple(LOOKS), blocks)
    half = float(stats.t.isf(paid.nominal(0.05) / 2, freedom)) * error
    far, edge = abs(math.log(ratio)), math.log(1.03)
    tails = stats.t.sf((far - edge) / error, freedom) + stats.t.sf((far + edge) / error, freedom)
    p = float(paid.p_value(min(1.0, float(tails))))
    low, high = ratio * math.exp(-half), ratio * math.exp(half)
    return Comparison(
        case=case,
        base=base,
        other=other,
        blocks=blocks,
        ratio=ratio,
        low=low,
        high=high,
        error=error,
        degrees=freedom,
        p_value=p,
        p_adjusted=p,
        different=p <= 0.05,
        alike=low >= 1 / 1.03 and high <= 1.03,
    )


def test_comparisons_among_beaten_candidates_do_not_matter_for_the_answer() -> None:
    beaten = [
        make_comparison("a", "b", 1.5, 0.02),
        make_comparison("a", "c", 1.52, 0.02),
        make_comparison("b", "c", 1.013, 0.02),
    ]
    assert deciding.assess_cases(beaten, DESIGN).decided == ["c"]


@pytest.mark.parametrize(("drop", "names"), [(False, ["a", "b", "c"]), (True, ["a", "b"])])
def test_comparisons_of_beaten_candidates_can_be_dropped_from_open_ones(drop: bool, names: list[str]) -> None:
    leading = [
        make_comparison("a", "b", 1.04, 0.02),
        make_comparison("a", "c", 1.5, 0.02),
        make_comparison("b", "c", 1.45, 0.02),
    ]
    assert deciding.assess_cases(leading, DESIGN, drop=drop).open == {"c": names}


def test_a_single_block_leaves_the_comparison_open() -> None:
    comparison = Comparison(
        case="c", base="a", other="b", blocks=1, ratio=1.2, low=0.0, p_value=1, p_adjusted=1, different=False
    )
    state = deciding.assess_cases([comparison], DESIGN)
    assert (state.open, state.blocks) == ({"c": ["a", "b"]}, LOOKS[-1])


def test_without_comparisons_no_case_is_open() -> None:
    assert deciding.assess_cases([], DESIGN) == ([], [], {}, 0)


@pytest.mark.parametrize(("ratio", "scatter"), [(1.045, 0.03), (1.01, 0.02), (1.10, 0.12)])
def test_the_chance_of_a_decision_is_the_share_of_campaigns_that_decide(ratio: float, scatter: float) -> None:
    """Campaigns with a true ratio drawn from the uncertainty of five blocks continue with the scatter of these."""
    random, last = np.random.default_rng(5), LOOKS[-1]
    true = random.normal(math.log(ratio), scatter / math.sqrt(5), (1500, 1))
    later = random.normal(true, scatter, (1500, last - 5)).sum(axis=1)
    means = (5 * math.log(ratio) + later) / last
    ends = [make_comparison("a", "b", math.exp(mean), scatter, last) for mean in means]
    share = np.mean([deciding.is_resolved(end) for end in ends])
    (probability,) = deciding.predict_chance([make_comparison("a", "b", ratio, scatter)], DESIGN)
    assert probability == pytest.approx(share, abs=0.04)


def test_the_number_of_decisions_after_twice_the_blocks_is_reported() -> None:
    design = deciding.SequentialDesign(0.03, [10])
    decided, undecidable = (
        make_comparison("a", "b", 1.5, 0.02, case="c"),
        make_comparison("a", "b", 1.03, 0.02, case="d"),
    )
    likely = make_comparison("a", "b", 1.2, 0.09, case="e")
    assert not likely.different
    assert deciding.predict_decisions([decided], design) == (0, 0.0)
    assert deciding.predict_decisions([], design) == (0, 0.0)
    undecided, more = deciding.predict_decisions([decided, undecidable, likely], design)
    assert undecided == 2
    assert 0.6 < more < 1.2


@pytest.mark.parametrize(
    ("ratio", "scatter", "look"), [(1.2, 0.1, 10), (1.0, 0.016, 10), (1.1, 0.1, 22), (1.02, 0.05, 60)]
)
def test_the_look_at_which_all_is_decided_is_reported(ratio: float, scatter: float, look: int) -> None:
    (needed,) = deciding.blocks_needed([make_comparison("a", "b", ratio, scatter)], DESIGN)
    assert needed == look
    settled = [
        deciding.is_resolved(make_comparison("a", "b", ratio, scatter, number)) for number in LOOKS if number <= look
    ]
    assert settled == [*[False] * (len(settled) - 1), look < LOOKS[-1]]


def test_dropping_decided_comparisons_does_not_change_the_answer() -> None:
    """With fewer than half of the measurements. If the two campaigns differ, neither contradicts the other."""
    random, cases, blocks = np.random.default_rng(2), 100, LOOKS[-1]
    names, pairs = ["a", "b", "c"], [("a", "b"), ("a", "c"), ("b", "c")]
    slower = np.array(
        [
            [1.0, ratio, other]
            for ratio, other in zip([1, 1.02, 1.08, 1.3, 2] * 20, [1, 1.3, 1.1, 1.3, 1.02] * 20, strict=True)
        ]
    )
    scatter = np.repeat([0.01, 0.02, 0.03, 0.06], cases // 4)[:, None, None]
    logs = np.log(slower)[:, :, None] + scatter * random.normal(size=(cases, 3, blocks))

    def compare_blocks(measured: np.ndarray, looks: Sequence[int]) -> list[Comparison]:
        case, name, block = np.nonzero(measured)
        launch_values = pl.DataFrame(
            {"case": case, "candidate": name, "block": block, "figure_ns": np.exp(logs[measured])}
        )
        expressions = {
            "case": pl.col("case").cast(pl.String),
            "candidate": pl.col("candidate").replace_strict({0: "a", 1: "b", 2: "c"}),
        }
        return statistics.compare(launch_values.with_columns(launch=0, **expressions), pairs, 0.03, looks=looks)

    measured = np.zeros(logs.shape, bool)
    measured[:, :, : LOOKS[0]] = True
    for look, following in zip(LOOKS, [*LOOKS[1:], blocks], strict=True):
        comparisons = compare_blocks(measured, LOOKS)
        for case, open_names in deciding.assess_cases(comparisons, DESIGN, drop=True).open.items():
            measured[int(case), [names.index(name) for name in open_names], look:following] = True
    fixed = list_fastest(compare_blocks(np.ones_like(measured), ()))
    winners = list_fastest(comparisons)
    assert measured.mean() < 0.5
    assert sum(fixed[case] == winners[case] for case in fixed) >= 0.9 * cases
    assert all(fixed[case] & winners[case] for case in fixed)


def list_fastest(comparisons: list[Comparison]) -> dict[str, set[str]]:
    """Return, by case, the candidates that none beats."""
    winners: dict[str, set[str]] = {comparison.case: {"a", "b", "c"} for comparison in comparisons}
    for comparison in comparisons:
        if comparison.different:
            winners[comparison.case].discard(deciding.find_slower(comparison))
    return winners


# --- levels of the reference ------------------------------------------------------------------------------------------


def test_a_case_is_open_while_one_of_its_levels_may_be_decided() -> None:
    decided, open_ = make_comparison("a", "b", 1.5, 0.02), make_comparison("a", "b", 1.08, 0.05)
    assert not deciding.is_resolved(open_)
    assert deciding.assess_cases([combine_levels(decided, open_)], DESIGN).open == {"c": ["a", "b"]}
    assert deciding.assess_cases([combine_levels(decided, decided)], DESIGN).decided == ["c"]


def test_a_case_whose_winner_depends_on_the_level_is_decided() -> None:
    comparison = combine_levels(make_comparison("a", "b", 1.5, 0.02), make_comparison("a", "b", 1 / 1.5, 0.02))
    assert (comparison.different, comparison.reverses) == (False, True)
    assert deciding.assess_cases([comparison], DESIGN).decided == ["c"]


@pytest.mark.parametrize(("blocks", "decided"), [(10, []), (40, ["c"])])
def test_a_level_with_few_expected_blocks_is_given_up(blocks: int, decided: list[str]) -> None:
    """At this level 6 or 1 to 2 of 60 blocks are expected."""
    near, far = make_comparison("a", "b", 1.5, 0.02, blocks - 1), make_comparison("a", "b", 1.1, 0.5, 1)
    comparison = combine_levels(near, far, blocks)
    assert deciding.assess_cases([comparison], DESIGN).decided == decided


def test_a_candidate_beaten_at_one_level_continues_at_the_other() -> None:
    settled, slow = make_comparison("a", "b", 1.5, 0.02), make_comparison("a", "c", 1.5, 0.02)
    open_, third = make_comparison("a", "c", 1.08, 0.05), make_comparison("b", "c", 1.0, 0.001)
    pairs = [
        combine_levels(settled, settled),
        combine_levels(slow, open_),
        combine_levels(third, make_comparison("b", "c", 1 / 1.4, 0.02)),
    ]
    assert deciding.assess_cases(pairs, DESIGN, drop=True).open == {"c": ["a", "c"]}
    both = [pairs[0], combine_levels(slow, slow), pairs[2]]
    assert deciding.assess_cases(both, DESIGN, drop=True).decided == ["c"]


def test_few_blocks_at_a_level_rarely_decide_it_later() -> None:
    often = combine_levels(make_comparison("a", "b", 1.5, 0.02), make_comparison("a", "b", 1.1, 0.1), blocks=5)
    seldom = combine_levels(make_comparison("a", "b", 1.5, 0.02), make_comparison("a", "b", 1.1, 0.1), blocks=15)
    needed = [deciding.assess_cases([comparison], DESIGN).blocks for comparison in (often, seldom)]
    assert needed[0] < needed[1]
    assert deciding.predict_decisions([often], DESIGN)[0] == 1


def test_a_case_is_not_open_for_a_level_that_the_verdict_leaves_out() -> None:
    """The far level was met by 1 of 5 blocks: of the other, which the verdict rests on, `a` is known to be faster."""
    near, far = make_comparison("a", "b", 1.5, 0.02, 4), make_comparison("a", "b", 1.1, 0.5, 1)
    comparison = combine_levels(near, far, 5)
    assert deciding.predict_decisions([comparison], DESIGN) == (0, 0.0)


def test_a_single_block_makes_no_forecast() -> None:
    undecided, likely = deciding.predict_decisions([make_comparison("a", "b", 1.2, 0.1, 1)], DESIGN)
    assert (undecided, np.isnan(likely)) == (1, True)
