"""Concurrent launches of a block: their stored rows, and those of launches that fail."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

import msgspec
import pytest
from fakes.library import behave
from unit.campaign.test_blocks import PLAN, assert_sound, continue_measuring, libraries, list_statuses, prepare, run
from wording import WORDING, find_lines

from rankbench import campaign, plan
from rankbench.analysis import evaluation
from rankbench.campaign import Progress
from rankbench.campaign.loop import MOST_LOST_LAUNCHES
from rankbench.language import render
from rankbench.model import (
    CaseStatus,
    Launch,
    LaunchGroup,
    LaunchStatus,
    RankbenchError,
    find_least_restful,
    find_restless,
)

__all__ = ["libraries"]

NAMES = ["mpich-9.1", "mpich-9.2", "mpich-9.1 (again)"]


def list_places(launches: list[Launch]) -> list[str]:
    """Return the place among the turns that each core got, with the number of all."""
    folders = []
    for launch in launches:
        text = launch.command[launch.command.index("--turns") + 1] if "--turns" in launch.command else ""
        folders.append(text.partition(":")[0].rpartition("/")[0])
    return folders


@pytest.mark.usefixtures("libraries")
def test_launches_of_a_block_take_turns_in_the_order_of_the_block(tmp_path: Path) -> None:
    store = run(tmp_path)
    assert_sound(store, blocks=2)
    for block in (1, 2):
        launches = [launch for launch in store.launches() if launch.block == block]
        assert [launch.candidate for launch in launches] == plan.draw_block_order(7, block, NAMES)
        assert list_places(launches) == ["0/3", "1/3", "2/3"]
        assert {launch.together for launch in launches} == {3}
        assert len({launch.started for launch in launches}) == 1
        assert {tuple(launch.beside) for launch in launches} == {tuple(plan.draw_block_order(7, block, NAMES))}


@pytest.mark.usefixtures("libraries")
def test_each_visit_stores_its_position_and_its_predecessor(tmp_path: Path) -> None:
    store = run(tmp_path)
    beside = {launch.number: launch.beside for launch in store.launches()}
    visits = store.samples().select("launch", "case", "visit", "candidate", "block", "visit_position", "visit_after")
    for _, frame in visits.unique().collect().group_by("case", "block", "visit"):
        assert frame["visit_position"].sort().to_list() == [0, 1, 2]
        by_position = frame.sort("visit_position")
        after = [beside[launch][place] for launch, place in by_position.select("launch", "visit_after").iter_rows()]
        assert after[1:] == by_position["candidate"].to_list()[:-1]


@pytest.mark.usefixtures("libraries")
def test_a_plan_can_run_each_launch_alone(tmp_path: Path) -> None:
    store = run(tmp_path, f"together = false{PLAN}")
    assert_sound(store, blocks=2)
    assert list_places(store.launches()) == [""] * 6
    assert {launch.together for launch in store.launches()} == {1}


def test_cases_left_by_a_crashed_launch_are_measured_by_a_launch_alone(
    tmp_path: Path, libraries: dict[str, Path]
) -> None:
    prepared = prepare(tmp_path, PLAN.replace("blocks = 2", "blocks = 1"))
    behave(libraries["9.2"], crash=["allreduce.64"])
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    assert_sound(prepared.store, blocks=1)
    assert list_statuses(prepared.store, "mpich-9.2", "allreduce.blocking.64.") == ["crashed"]
    crashed = [launch for launch in prepared.store.launches() if launch.candidate == "mpich-9.2"]
    others = [launch for launch in prepared.store.launches() if launch.candidate != "mpich-9.2"]
    assert {(launch.status, launch.together) for launch in others} == {(LaunchStatus.OK, 3)}
    assert [launch.together for launch in crashed[:1]] == [3]
    assert {launch.together for launch in crashed[1:]} <= {1}


@pytest.mark.thorough
def test_a_hung_launch_does_not_stop_the_others(tmp_path: Path, libraries: dict[str, Path]) -> None:
    prepared = prepare(tmp_path, PLAN.replace("blocks = 2", "blocks = 1"))
    behave(libraries["9.2"], hang=["bcast.64"])
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    assert_sound(prepared.store, blocks=1)
    assert list_statuses(prepared.store, "mpich-9.2", "bcast.blocking.64.") == ["hung"]
    assert set(list_statuses(prepared.store, "mpich-9.1", "")) == {CaseStatus.OK}


def test_a_candidate_that_disturbs_others_is_launched_alone_from_then_on(
    tmp_path: Path, libraries: dict[str, Path]
) -> None:
    behave(libraries["9.2"], waited_s=1.0, busy_s=0.9)
    store = run(tmp_path)
    assert_sound(store, blocks=2)
    launches = [launch for launch in store.launches() if launch.candidate == "mpich-9.2"]
    assert [(launch.block, launch.together) for launch in launches] == [(1, 3), (2, 1)]
    assert {launch.together for launch in store.launches() if launch.block == 2} == {1, 2}


@pytest.mark.thorough
def test_a_candidate_that_fails_beside_others_in_two_blocks_is_launched_alone(
    tmp_path: Path, libraries: dict[str, Path]
) -> None:
    """As where all of them together would need more shared memory than there is. It is shown, stored and reported."""
    prepared = prepare(tmp_path, PLAN.replace("blocks = 2", "blocks = 4"))
    behave(libraries["9.2"], dead_in_turns=True)
    progress = Progress(prepared.store.campaign)
    campaign.run(prepared, continue_measuring, progress)
    assert_sound(prepared.store, blocks=4)
    launches = [launch for launch in prepared.store.launches() if launch.candidate == "mpich-9.2"]
    assert [(launch.block, launch.together, launch.status) for launch in launches] == [
        *((1, 3, "refused"), (1, 1, "ok"), (2, 3, "refused"), (2, 1, "ok"), (3, 1, "ok"), (4, 1, "ok")),
    ]
    assert set(list_statuses(prepared.store, "mpich-9.2", "")) == {CaseStatus.OK}
    why = "two launches measured nothing beside the others: did not start: exit code 1"
    assert [launch.alone for launch in launches] == ["", "", "", why, why, why]
    assert progress.notes == WORDING
    findings = [render(finding.text) for finding in evaluation.evaluate(prepared.store).verdict.findings]
    assert find_lines(findings, "mpich-9.2 was measured alone") == WORDING


def test_launches_continue_in_turns_after_a_launcher_was_killed_from_outside(
    tmp_path: Path, libraries: dict[str, Path]
) -> None:
    """The turn in that block is repeated, alone. Two such blocks are no reason to launch alone afterwards."""
    prepared = prepare(tmp_path, PLAN.replace("blocks = 2", "blocks = 4"))
    behave(libraries["9.2"], killed_in_turns=True)
    progress = Progress(prepared.store.campaign)
    campaign.run(prepared, continue_measuring, progress)
    assert_sound(prepared.store, blocks=4)
    launches = [launch for launch in prepared.store.launches() if launch.candidate == "mpich-9.2"]
    assert [(launch.block, launch.together) for launch in launches] == [
        (block, many) for block in range(1, 5) for many in (3, 1)
    ]
    assert {(launch.exit_code, launch.reason) for launch in launches if launch.together == 3} == {
        (-9, "did not start: exit code -9 (SIGKILL)")
    }
    assert progress.notes == []


def find_parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def kill_a_supervisor(folder: Path, mark: Path, *, times: int) -> threading.Thread:
    """Kill the supervisor of a launch, so many times, as soon as a library's core runs; later launches do not pause."""

    def list_running() -> dict[int, int]:
        """Return the processes of the launch, and the parent of each."""
        pids = {}
        for path in Path("/proc").glob("[0-9]*"):
            words = read_cmdline(int(path.name))
            if all(part in words for part in (f"{mark}\0", f"{folder}/", "--job\0")):
                with contextlib.suppress(OSError):
                    pids[int(path.name)] = find_parent(int(path.name))
        return pids

    def kill() -> None:
        for number in range(times):
            while not (targets := [pid for pid in list_running().values() if "supervisor.py" in read_cmdline(pid)]):
                time.sleep(0.02)
            group, outer = list_running().keys(), find_parent(targets[0])
            os.kill(outer, signal.SIGSTOP)  # No launch is repeated before the library has its final behaviour.
            os.kill(targets[0], signal.SIGKILL)
            if number == times - 1:
                behave(mark)
            os.kill(outer, signal.SIGCONT)
            # They are passed to a supervisor which must not be killed because of them.
            while group & list_running().keys():
                time.sleep(0.02)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return thread


def read_cmdline(pid: int) -> str:
    """Return the command of a process, nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_a_launch_whose_supervisor_was_killed_is_repeated_and_not_stored(
    tmp_path: Path, libraries: dict[str, Path]
) -> None:
    prepared = prepare(tmp_path)
    behave(libraries["9.2"], pause_s=60)
    progress = Progress(prepared.store.campaign)
    killer = kill_a_supervisor(tmp_path / "results", libraries["9.2"], times=1)
    campaign.run(prepared, continue_measuring, progress)
    killer.join()
    assert_sound(prepared.store, blocks=2)
    launches = prepared.store.launches()
    assert {launch.status: (launch.reason, launch.log) for launch in launches} == {LaunchStatus.OK: ("", "")}
    assert [launch.together for launch in launches if launch.candidate == "mpich-9.2"] == [1, 3]
    assert progress.notes == WORDING


def test_a_campaign_ends_if_supervisors_are_killed_repeatedly(tmp_path: Path, libraries: dict[str, Path]) -> None:
    prepared = prepare(tmp_path, f"together = false{PLAN}")
    behave(libraries["9.2"], pause_s=60)
    killer = kill_a_supervisor(tmp_path / "results", libraries["9.2"], times=MOST_LOST_LAUNCHES)
    with pytest.raises(RankbenchError) as error:
        campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    killer.join()
    assert str(error.value) == WORDING
    assert "mpich-9.2" not in {launch.candidate for launch in prepared.store.launches()}
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    assert_sound(prepared.store, blocks=2)


def test_a_launch_that_skips_a_case_passes_its_turn(tmp_path: Path, libraries: dict[str, Path]) -> None:
    """A case in which it crashed in two blocks is skipped; its other cases are measured in turns."""
    prepared = prepare(tmp_path, PLAN.replace("blocks = 2", "blocks = 3"))
    behave(libraries["9.2"], crash=["allreduce.64"])
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    assert_sound(prepared.store, blocks=3)
    assert {launch.together for launch in prepared.store.launches() if launch.block == 3} == {3}
    order = plan.draw_block_order(7, 3, NAMES)
    job = (prepared.store.folder / "work" / str(order.index("mpich-9.2")) / "job.txt").read_text().splitlines()
    all_lines = (prepared.store.folder / "work" / str(order.index("mpich-9.1")) / "job.txt").read_text().splitlines()
    (left_out,) = [number for number, line in enumerate(all_lines) if line not in job]
    assert job == [*all_lines[:left_out], *["pass 1"] * (left_out + 1 < len(all_lines)), *all_lines[left_out + 1 :]]


@pytest.mark.usefixtures("libraries")
def test_launches_on_named_hosts_take_turns_by_a_page_of_each_host(tmp_path: Path) -> None:
    store = run(tmp_path, f'hosts = ["fake"]\nremote_shell = "ssh"\n{PLAN}')
    assert list_places(store.launches()) == ["0/3", "1/3", "2/3"] * 2
    texts = {launch.command[launch.command.index("--turns") + 1].partition(":")[2] for launch in store.launches()}
    assert len(texts) == 2, "each block has its own"
    assert all(path.startswith("/dev/shm/rankbench-turns-") and path.endswith("-%") for path in texts)


def test_the_least_restful_candidate_is_named_above_a_tenth_of_the_threshold() -> None:
    assert not find_least_restful({"a": 0.001, "b": 0.001, "c": 0.0009}, 0.03)
    assert find_least_restful({"a": 0.0012, "b": 0.0019, "c": 0.0009}, 0.03) == "b", "each alone is below, both are not"
    assert find_least_restful({"a": 0.0, "b": 0.0031}, 0.03) == "b"
    assert find_least_restful({"a": 0.0031, "b": 0.0031}, 0.03) == "a"
    assert not find_least_restful({"a": 0.0009, "b": 0.0}, 0.0), "a machine cannot measure less"
    assert not find_least_restful({}, 0.03)


def test_timers_that_all_launches_have_separate_no_candidate() -> None:
    assert not find_least_restful(dict.fromkeys("abcdef", 0.0003), 0.01)
    assert find_least_restful({**dict.fromkeys("abcde", 0.0003), "f": 0.0014}, 0.01) == "f"


def test_two_restless_blocks_identify_a_candidate() -> None:
    quiet, restless = {"a": 0.0, "b": 0.0001}, {"a": 0.0, "b": 0.004}
    blocks: dict[LaunchGroup, dict[str, float]] = {
        (number, "p", ("a", "b")): shares for number, shares in enumerate([quiet, restless, quiet], 1)
    }
    assert not find_restless(blocks, 0.03)
    blocks[4, "p", ("a", "b")] = restless
    assert find_restless(blocks, 0.03) == {"b": [(2, "p", ("a", "b")), (4, "p", ("a", "b"))]}
    assert find_restless({(1, "p", ("a", "b")): {"a": 0.0, "b": 0.05}}, 0.03), "a spinning thread needs one block"


def test_a_short_wait_has_no_share_of_rest() -> None:
    launch = msgspec.convert(
        {"number": 1, "block": 1, "position": 0, "candidate": "a", "placement": "p", "status": "ok", "reason": "",
         "started": "", "duration_s": 1, "exit_code": 0, "command": [], "environment": {}, "facts": None, "ranks": [],
         "load_before": 0, "stolen_s": 0, "waited_s": 2.0, "busy_s": 0.1},
        Launch,
    )  # fmt: skip
    assert launch.rest_share == 0.05
    assert msgspec.structs.replace(launch, waited_s=0.01, busy_s=0.01).rest_share == 0
