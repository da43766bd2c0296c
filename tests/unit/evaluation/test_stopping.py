from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import fakes
import msgspec
import pytest
from fakes import campaigns, verdicts
from fakes.campaigns import Truth
from scipy import stats
from wording import WORDING

from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.evaluation.stopping import decide
from rankbench.analysis.questions.interim import list_interim_looks
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.looks import Penalty
from rankbench.campaign import Decision
from rankbench.language import render
from rankbench.model import Case, Comparison, Look, Plan, Stop, Summary
from rankbench.plan import list_looks
from rankbench.plan.reading import parse_plan

FIRST_LOOK = [1.0] * 5
LOOKS = list_looks(Stop())


def make_plan(until: str) -> Plan:
    return parse_plan(
        f'candidates = ["a"]\noperations = ["b"]\n[stop]\nuntil = "{until}"\n', "plan.toml", fakes.make_machine()
    )


def make_comparison(low: float, high: float, different: bool) -> Comparison:
    return Comparison(
        case="c",
        base="a",
        other="b",
        blocks=5,
        ratio=(low + high) / 2,
        low=low,
        high=high,
        p_value=0.5,
        p_adjusted=0.5,
        error=math.log(high / low) / 2 / float(stats.t.isf(Penalty(tuple(LOOKS), 5).nominal(0.05) / 2, 4)),
        degrees=4,
        different=different,
        alike=low >= 1 / 1.03 and high <= 1.03,
    )


def make_summary(low_ns: float, high_ns: float, typical_ns: float = 100.0) -> Summary:
    return Summary(
        case="c",
        candidate="a",
        launches=5,
        samples=500,
        late=0,
        overrun=0,
        typical_ns=typical_ns,
        low_ns=low_ns,
        high_ns=high_ns,
        coverage=0.95,
        min_ns=90.0,
        mean_ns=100.0,
        p10_ns=95.0,
        p90_ns=105.0,
        p99_ns=110.0,
        max_ns=120.0,
    )


def make_view(*comparisons: Comparison, summaries: Sequence[Summary] = ()) -> Callable[[], CampaignView]:
    return lambda: verdicts.make_view(campaigns.make_record(), summaries=summaries, comparisons=comparisons)


def refuse_view() -> CampaignView:
    raise AssertionError("this rule needs no values, and reading every sample takes time")


DIFFERENT = make_comparison(1.10, 1.30, different=True)
EQUIVALENT = make_comparison(0.98, 1.02, different=False)
OPEN = make_comparison(0.99, 1.08, different=False)
UNDECIDABLE = msgspec.structs.replace(make_comparison(1.0, 1.06, different=False), blocks=49, degrees=30)


def test_decided_stops_when_all_pairs_differ_or_are_equivalent() -> None:
    answer = decide(
        make_plan("decided"), make_view(DIFFERENT, msgspec.structs.replace(EQUIVALENT, case="d")), FIRST_LOOK
    )
    assert (answer.stop, render(answer.reason)) == (True, WORDING)
    assert answer.look == Look(block=5, decided=["c", "d"], given_up=[], open={}, until=0, winners={})


def test_decided_continues_with_open_pairs_that_may_be_decided() -> None:
    others = [msgspec.structs.replace(state, case=case) for case, state in (("d", OPEN), ("e", UNDECIDABLE))]
    answer = decide(make_plan("decided"), make_view(DIFFERENT, *others), FIRST_LOOK)
    assert (answer.stop, render(answer.reason)) == (False, WORDING)
    assert answer.look is not None
    assert (answer.look.open, answer.look.given_up, answer.look.until) == ({"d": ["a", "b"]}, ["e"], 49)


def test_precision_is_half_the_interval() -> None:
    narrow, wide = make_summary(98.0, 102.0), make_summary(97.0, 102.0)
    without = Summary(case="c", candidate="b", launches=0, samples=0, late=0, overrun=0, failures={"crashed": 5})
    assert decide(make_plan("precision 2%"), make_view(OPEN, summaries=[narrow]), FIRST_LOOK).stop
    answer = decide(make_plan("precision 2%"), make_view(summaries=[narrow, wide, without]), FIRST_LOOK)
    assert (answer.stop, render(answer.reason)) == (False, WORDING)


@pytest.mark.parametrize(("block_s", "stop"), [([20.0, 20.0], False), ([20.0, 20.0, 10.0], True), ([61.0], True)])
def test_time_stops_before_a_block_that_would_not_fit(block_s: list[float], stop: bool) -> None:
    assert decide(make_plan("time 1m"), refuse_view, block_s).stop is stop


def test_a_rule_with_a_limit_ends_by_whichever_comes_first() -> None:
    limited = make_plan("decided or time 1m")
    assert decide(limited, make_view(DIFFERENT), [1.0] * len(FIRST_LOOK)).stop
    assert not decide(limited, make_view(OPEN), [1.0] * len(FIRST_LOOK)).stop
    late = decide(limited, refuse_view, [50.0] * len(FIRST_LOOK))
    assert (late.stop, render(late.reason)) == (True, WORDING)


@pytest.mark.parametrize("block_s", [[20], [20, 20], [29, 30], [61], [15] * 4, [11] * 5, [10] * 4 + [30]])
def test_the_reason_names_the_time_that_does_not_suffice(block_s: list[float]) -> None:
    assert render(decide(make_plan("time 1m"), refuse_view, block_s).reason) == WORDING


def test_blocks_ignores_all_results() -> None:
    assert decide(make_plan("blocks"), refuse_view, [1e9]).stop is False


@pytest.mark.parametrize("until", ["decided", "answered", "precision 2%"])
def test_results_are_read_at_looks_only(until: str) -> None:
    answer = decide(make_plan(until), refuse_view, [1.0] * 6)
    assert (answer.stop, render(answer.reason)) == (False, WORDING)


def decide_campaign(tmp_path: Path, factors: dict[str, float], spread: float) -> Decision:
    """Return the decision on a campaign of five blocks whose launches scatter."""

    def make_truth(candidate: str, _: Case) -> Truth:
        return Truth(factor=factors[candidate], spread=spread, noise=0.001)

    store = campaigns.make_campaign(
        tmp_path / "c", make_truth, 5, candidates=list(factors), cases=verdicts.LINE, control=False
    )
    return decide(make_plan("answered"), lambda: evaluate(store), FIRST_LOOK)


def test_answered_stops_when_no_other_candidate_can_take_less_over_all_cases(tmp_path: Path) -> None:
    decision = decide_campaign(tmp_path, {"alpha": 1.0, "beta": 1.2, "gamma": 1.0001}, spread=0.0005)
    assert decision.stop
    assert render(decision.reason) in {
        f"over 3 cases {best} is fastest; against 2 of 2 other candidates that is decided"
        for best in ("alpha", "gamma")
    }


def test_answered_continues_while_another_candidate_can_take_less(tmp_path: Path) -> None:
    decision = decide_campaign(tmp_path, {"alpha": 1.0, "beta": 3.0, "gamma": 1.03}, spread=0.05)
    assert not decision.stop
    assert render(decision.reason) == WORDING


@pytest.mark.parametrize(
    ("stop", "numbers"),
    [
        (Stop(blocks_min=5, blocks_max=10, past=[4]), [4, 5, 7, 10]),
        (Stop(blocks_min=5, blocks_max=15, past=[3, 4, 6]), [3, 4, 6, 7, 10, 15]),
        (Stop(blocks_min=5, blocks_max=6, past=[5, 7, 9]), [5, 7, 9]),
    ],
)
def test_looks_of_an_earlier_rule_count(stop: Stop, numbers: list[int]) -> None:
    assert list_looks(stop) == numbers


def test_an_extended_campaign_corrects_for_its_earlier_looks() -> None:
    """Also after a fixed number of blocks, whose end is a look only if the campaign is extended."""
    fixed = msgspec.structs.replace(make_plan("blocks"), stop=Stop(blocks_min=8, blocks_max=8, until="blocks"))
    more = msgspec.structs.replace(fixed, stop=msgspec.structs.replace(fixed.stop, past=[4]))
    levels = [float(Penalty(list_interim_looks(looks), 8).nominal(0.05)) for looks in (fixed, more)]
    assert levels[0] == pytest.approx(0.05)
    assert levels[1] < 0.05 / 1.1
