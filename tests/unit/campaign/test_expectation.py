from __future__ import annotations

from pathlib import Path

import fakes
import msgspec
import pytest
from fakes import campaigns
from wording import WORDING, refuses

from rankbench.campaign.expectation import Expectation, check_time, expect_block
from rankbench.model import Case, Plan, Sampling, Stop


def make_plan(folder: Path, sampling: Sampling | None = None) -> tuple[Plan, list[Case]]:
    """Return the plan of a campaign stored in the folder, and its cases."""
    record = campaigns.make_campaign(folder, launches=2).campaign
    planned = record.plan if sampling is None else msgspec.structs.replace(record.plan, sampling=sampling)
    return planned, record.cases


def expect(folder: Path, planned: Plan, cases: list[Case]) -> Expectation:
    return expect_block(planned, cases, campaigns.make_record().machine, 3, folder)


def test_cases_take_as_long_as_in_stored_campaigns(tmp_path: Path) -> None:
    planned, cases = make_plan(tmp_path / "one")
    launch_s = campaigns.make_launch(1, 1, 0, "alpha", "socket").duration_s
    assert expect(tmp_path, planned, cases) == pytest.approx((3 * launch_s, 3 * launch_s, 1))
    half = expect(tmp_path, planned, cases[: len(cases) // 2])
    assert half.least_s / (3 * launch_s) == pytest.approx((len(cases) // 2) / len(cases))


def test_a_case_that_was_not_measured_takes_as_long_as_others_with_as_many_ranks(tmp_path: Path) -> None:
    planned, cases = make_plan(tmp_path / "one")
    other = msgspec.structs.replace(cases[0], operation="alltoall", size_bytes=77)
    known, unknown = expect(tmp_path, planned, cases[:1]), expect(tmp_path, planned, [other])
    assert unknown == pytest.approx(known)
    assert expect(tmp_path, planned, [msgspec.structs.replace(other, ranks=64)]).campaigns == 0


def test_other_samples_or_another_machine_say_nothing(tmp_path: Path) -> None:
    sampling = Sampling(good=10_000, passes=5, fill_s=0.1)
    planned, cases = make_plan(tmp_path / "one", sampling)
    least_s, most_s = 0.12 * 3 * len(cases), planned.case_limit_s * 3 * len(cases)
    assert expect(tmp_path, planned, cases) == pytest.approx((least_s, most_s, 0))
    same = msgspec.structs.replace(planned, sampling=campaigns.make_record().plan.sampling)
    elsewhere = msgspec.structs.replace(fakes.make_machine(), host="elsewhere")
    assert expect_block(same, cases, elsewhere, 3, tmp_path).campaigns == 0


def test_a_damaged_campaign_is_passed_over(tmp_path: Path) -> None:
    planned, cases = make_plan(tmp_path / "one")
    (tmp_path / "two").mkdir()
    (tmp_path / "two/campaign.json").write_text("{")
    assert expect(tmp_path, planned, cases).campaigns == 1


@pytest.mark.parametrize(
    ("blocks", "time", "block_s", "measured", "enough"),
    [(5, "1m", 108, 1, "9m"), (5, "1m", 40, 0, "4m"), (1, "10s", 11, 1, "20s")],
)
def test_a_time_without_room_for_a_comparison_is_refused(
    blocks: int, time: str, block_s: float, measured: int, enough: str
) -> None:
    stop = Stop(blocks_min=blocks, blocks_max=1000, until=f"time {time}")
    expected = Expectation(block_s, block_s, measured)
    with refuses():
        check_time(stop, 73, expected)
    suggested = msgspec.structs.replace(stop, until=f"time {enough}")
    assert check_time(suggested, 73, expected) == ""


def test_a_time_that_allows_fewer_blocks_is_noted() -> None:
    stop, expected = Stop(blocks_max=1000, until="time 1m"), Expectation(25, 25, 1)
    assert check_time(stop, 73, expected) == WORDING
    assert check_time(msgspec.structs.replace(stop, until="decided"), 73, expected) == ""


@pytest.mark.parametrize(("least_s", "most_s", "usual", "most"), [(5, 400, 3, 12), (9, 400, 1, 6), (25, 400, 1, 2)])
def test_usually_fewer_blocks_fit_than_the_least_time_allows(
    least_s: float, most_s: float, usual: int, most: int
) -> None:
    stop, bounds = Stop(blocks_max=1000, until="time 1m"), Expectation(least_s, most_s)
    assert check_time(stop, 73, bounds).startswith(
        f"about {usual} of at least 5 blocks fit into the time of 1m (usually; at most {most})"
    )
