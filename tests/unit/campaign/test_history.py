"""The remaining launches of a campaign follow from its stored launches, separately for each launch group."""

from __future__ import annotations

import msgspec
from fakes import campaigns
from wording import WORDING

from rankbench.campaign.history import History, Turn
from rankbench.model import Case, CaseStatus, Launch, LaunchStatus

PLAIN = campaigns.make_cases(lines=[("allreduce", "blocking")])[0]
THREADED = msgspec.structs.replace(PLAIN, options={"threads": "4"})
TURNS = [Turn(3, "alpha", "socket"), Turn(3, "alpha", "socket", "threads")]


def make_launch(number: int, block: int, status: LaunchStatus = LaunchStatus.OK) -> Launch:
    record = campaigns.make_launch(number, block, 0, "alpha", "socket")
    return msgspec.structs.replace(record, status=status)


def make_history(*launches: tuple[Launch, Case, CaseStatus]) -> History:
    past = History(0.03)
    for record, case, status in launches:
        past.add(record, [(case, status)])
    return past


def test_a_launch_group_that_never_starts_is_given_up_alone() -> None:
    past = make_history(
        (make_launch(1, 1), PLAIN, CaseStatus.OK),
        (make_launch(2, 1, LaunchStatus.REFUSED), THREADED, CaseStatus.NOT_RUN),
        (make_launch(3, 2), PLAIN, CaseStatus.OK),
        (make_launch(4, 2, LaunchStatus.CRASHED), THREADED, CaseStatus.NOT_RUN),
    )
    assert [past.explain_skip(turn, case) for turn, case in zip(TURNS, (PLAIN, THREADED), strict=True)] == WORDING


def test_launches_of_a_turn_are_those_of_its_launch_group() -> None:
    past = make_history(
        (make_launch(1, 3), PLAIN, CaseStatus.OK),
        (make_launch(2, 3, LaunchStatus.CRASHED), THREADED, CaseStatus.CRASHED),
        (make_launch(3, 3), THREADED, CaseStatus.OK),
    )
    assert [past.launches[turn] for turn in TURNS] == [1, 2]
    assert past.last_number == 3


def test_cases_without_a_row_remain() -> None:
    past = make_history((make_launch(1, 3), THREADED, CaseStatus.OK))
    assert past.list_remaining(TURNS[1], [PLAIN, THREADED]) == [PLAIN]
    assert past.list_remaining(Turn(4, "alpha", "socket"), [PLAIN, THREADED]) == [PLAIN, THREADED]
