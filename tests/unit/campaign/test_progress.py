from __future__ import annotations

import fakes
import msgspec
import pytest
from wording import WORDING

from rankbench import plan
from rankbench.campaign import Decision, Progress
from rankbench.campaign.history import Turn
from rankbench.model import (
    ALL_RANKS,
    Campaign,
    Candidate,
    Case,
    CaseResult,
    CaseStatus,
    Launch,
    LaunchStatus,
    Look,
    Series,
)
from rankbench.plan.reading import parse_plan

PLAN = """
candidates = ["a", "b"]
operations = ["bcast"]
sizes = 8
[stop]
blocks = { min = 2, max = 4 }
"""


EVERY_TURN = {("a", "socket"): 1, ("b", "socket"): 1}


@pytest.fixture
def campaign() -> Campaign:
    planned = parse_plan(PLAN, "plan.toml", fakes.make_machine())
    cases, notes = plan.expand_plan(planned, fakes.read_description(), fakes.make_machine())
    return Campaign(
        format=1,
        name="plan",
        created="",
        rankbench="0",
        plan=planned,
        seed=3,
        machine=fakes.make_machine(),
        libraries=[],
        receipts=[],
        candidates=[Candidate(name=name, library=name) for name in ("a", "b")],
        cases=cases,
        operations=[],
        notes=notes,
        starts=fakes.read_description().starts,
    )


def make_launch(candidate: str, block: int, duration_s: float, status: LaunchStatus = LaunchStatus.OK) -> Launch:
    return Launch(
        number=1,
        block=block,
        position=0,
        candidate=candidate,
        placement="socket",
        status=status,
        reason="" if status == LaunchStatus.OK else "exit code 1",
        started="",
        duration_s=duration_s,
        exit_code=0,
        command=[],
        environment={},
        facts=None,
        ranks=[],
        load_before=0.0,
        stolen_s=0.0,
    )


def make_result(case: Case, *time_ns: float, late: tuple[int, ...] = ()) -> CaseResult:
    series = Series(rank=ALL_RANKS, time_ns=list(time_ns), last_rank=[], late=list(late), overrun=[])
    return CaseResult(case=case, status=CaseStatus.OK, series=[series])


def test_nothing_is_predicted_before_the_first_launch(campaign: Campaign) -> None:
    progress = Progress(campaign)
    assert (progress.turns, progress.share_done, progress.seconds_left(4)) == (EVERY_TURN, 0, None)


def test_progress_is_relative_to_the_first_look_and_then_to_the_last_block(campaign: Campaign) -> None:
    progress = Progress(campaign)
    shares = []
    for block in (1, 2, 3):
        for name in plan.draw_block_order(3, block, ["a", "b"]):
            progress.on_start([Turn(block, name, "socket")], 1)
            shares.append(progress.share_done)
    assert shares == [0, 1 / 4, 2 / 4, 3 / 4, 4 / 8, 5 / 8]


def test_turns_of_concurrent_launches_end_together(campaign: Campaign) -> None:
    progress = Progress(campaign)
    for block in (1, 2):
        progress.on_start([Turn(block, name, "socket") for name in ("a", "b")], 1)
        assert (progress.share_done, progress.turns_done) == ((block - 1) / 2, 0)
        for name in ("a", "b"):
            progress.on_end(make_launch(name, block, 10.0), [])
        assert progress.seconds_left(2) == pytest.approx((3 - block) * 20.0, abs=15)
    progress.on_start([Turn(2, "b", "socket")], 1)
    assert progress.turns_done == 1
    assert progress.seconds_left(2) == pytest.approx(10.0, abs=5)


def make_look(campaign: Campaign, *candidates: str, until: int) -> Decision:
    case = campaign.cases[0].key
    facts = Look(block=2, decided=[], given_up=[], open={case: list(candidates)}, until=until, winners={})
    return Decision(stop=False, reason="1 goes on", look=facts)


def test_after_a_look_the_forecast_covers_open_cases_only(campaign: Campaign) -> None:
    progress, case = Progress(campaign), campaign.cases[0]
    progress.on_end(make_launch("a", 1, 30.0), [make_result(case, 1.0)])
    progress.on_start([Turn(3, plan.draw_block_order(3, 3, ["a", "b"])[0], "socket")], 1)
    progress.on_decision(make_look(campaign, "a", "b", until=3))
    assert progress.forecast_s() == pytest.approx((2 * 30.0, 4 * 30.0), abs=15)
    assert (progress.note, progress.blocks, progress.share_done) == ("1 goes on", 3, 2 / 3)
    progress.on_decision(make_look(campaign, "a", until=4))
    assert progress.turns == {("a", "socket"): 1}
    assert progress.forecast_s() == pytest.approx((2 * 30.0, 2 * 30.0), abs=15)


def test_a_launch_takes_a_fixed_time_and_a_time_per_case(campaign: Campaign) -> None:
    progress, case = Progress(campaign), campaign.cases[0]
    for cases in (1, 2, 5):
        progress.on_end(make_launch("a", 1, 3.0 + 0.5 * cases), [make_result(case, 1.0)] * cases)
    assert progress.seconds(11) == pytest.approx(8.5)


def test_remaining_time_follows_from_earlier_turns(campaign: Campaign) -> None:
    progress = Progress(campaign)
    first, second = plan.draw_block_order(3, 1, ["a", "b"])
    progress.on_start([Turn(1, first, "socket")], 1)
    progress.on_end(make_launch(first, 1, 100.0), [])
    progress.on_start([Turn(1, second, "socket")], 1)
    assert progress.seconds_left(2) == pytest.approx(3 * 100.0, abs=15)
    progress.on_end(make_launch(second, 1, 50.0), [])
    progress.on_start([Turn(2, first, "socket")], 1)
    assert progress.seconds_left(4) == pytest.approx(6 * 75.0, abs=15)


def test_a_value_is_the_median_over_launches_of_medians_of_valid_samples(campaign: Campaign) -> None:
    progress, case = Progress(campaign), campaign.cases[0]
    progress.on_end(make_launch("a", 1, 1.0), [make_result(case, 900.0, 10.0, 20.0, 30.0, late=(0,))])
    progress.on_end(make_launch("a", 2, 1.0), [make_result(case, 40.0)])
    assert progress.find_value_ns("a", case) == 30.0
    assert progress.find_value_ns("b", case) is None


def test_a_value_leaves_out_discarded_overruns_and_samples_of_single_ranks(
    campaign: Campaign,
) -> None:
    progress = Progress(campaign)
    column = Series(rank=ALL_RANKS, time_ns=[10.0, 20.0, 90.0], last_rank=[], late=[], overrun=[2])
    view = msgspec.structs.replace(column, rank=0, time_ns=[1.0, 1.0, 1.0])
    for start, figure_ns in (("window", 20.0), ("window-mpiperf", 15.0)):
        case = msgspec.structs.replace(campaign.cases[0], start=start)
        progress.on_end(make_launch("a", 1, 1.0), [CaseResult(case=case, status=CaseStatus.OK, series=[view, column])])
        assert progress.find_value_ns("a", case) == figure_ns


def test_each_failure_is_one_line(campaign: Campaign) -> None:
    progress, case = Progress(campaign), campaign.cases[0]
    crashed = CaseResult(case=case, status=CaseStatus.CRASHED, reason="exit code 139 (SIGSEGV)")
    progress.on_end(make_launch("a", 1, 1.0, LaunchStatus.CRASHED), [crashed])
    progress.on_end(make_launch("b", 1, 1.0, LaunchStatus.REFUSED), [])
    assert progress.failures == WORDING


def test_a_program_is_named_by_itself_and_its_placement(campaign: Campaign) -> None:
    progress = Progress(campaign)
    case = msgspec.structs.replace(campaign.cases[0], operation="program-solver", size_bytes=0, suite="program")
    crashed = CaseResult(case=case, status=CaseStatus.CRASHED, reason="exit code 255")
    progress.on_end(make_launch("a", 1, 1.0, LaunchStatus.CRASHED), [crashed])
    assert progress.failures == WORDING


def test_launches_of_an_earlier_run_count(campaign: Campaign) -> None:
    progress = Progress(campaign)
    progress.on_resume(make_launch("a", 1, 60.0), 1)
    assert progress.seconds_left(2) == pytest.approx(240.0, abs=15)
