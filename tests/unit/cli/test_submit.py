"""Campaigns run by job scripts, on stand-in libraries and schedulers: from `submit` to the store, and failures."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from fakes import campaigns, mark_thorough, scheduler, sites
from fakes.library import behave
from fakes.sites import PREFIXES, Site, list_rows
from wording import WORDING, find_lines

from rankbench import store
from rankbench.cli import job_status
from rankbench.launch import job_commands, schedulers
from rankbench.launch.schedulers import JobState
from rankbench.model import UNKNOWN_MACHINE, CaseStatus, LaunchStatus, RankbenchError
from rankbench.store import Store

PLAN = """
question = "Which of two stand-ins?"
candidates = ["mpich==9.1", "mpich==9.2"]
operations = ["allreduce", "bcast"]
sizes = "8,64"
samples = 20
placements = ["2x1", "1x2"]
[stop]
blocks = 2
"""
TWO_PASSES = "samples = { good = 20, passes = 2 }"
LAUNCHES = 2 * 3 * 2
"""Of the whole plan: two candidates and the control's twin, two placements."""


def make_site(place: Path, kind: str, plan: str = PLAN, **behaviour: object) -> Site:
    """Make a site with this file's plan, or another one."""
    return sites.make_site(place, kind, plan, **behaviour)


@pytest.mark.parametrize(
    "kind", [kind if kind == "slurm" else mark_thorough(kind) for kind in sorted(schedulers.find_schedulers())]
)
def test_a_submitted_campaign_runs_to_its_end(tmp_path: Path, kind: str) -> None:
    here = make_site(tmp_path, kind)
    process = here.submit("--wait")
    assert process.exit_code == 0, process.printed
    results = here.open_results()
    launches = results.launches()
    assert [launch.number for launch in launches] == list(range(1, LAUNCHES + 1))
    assert {launch.status.value for launch in launches} == {"ok"}
    assert {launch.candidate for launch in launches} == {"mpich-9.1", "mpich-9.1 (again)", "mpich-9.2"}
    for launch in launches:
        across = launch.placement == "2x1"
        assert [rank.host for rank in launch.ranks] == (["a1", "a2"] if across else ["a1", "a1"])
        assert launch.command[1:3] == ["-hosts", "a1,a2" if across else "a1"]
        assert launch.before
        assert launch.after
        assert launch.together == 3
        assert launch.job.isdigit() or launch.job in {"101.server", "ƒ101"}
    assert [(usage.candidate, usage.placement) for usage in results.campaign.usage] == [
        ("mpich-9.1", "2x1"),
        ("mpich-9.2", "2x1"),
    ]
    for usage in results.campaign.usage:
        assert [(node.host, node.probe_bytes) for node in usage.nodes] == [("a1", 1000), ("a2", 1000)]
    (ratio,) = find_lines(process.printed, "Time against mpich-9.1: ")
    assert re.search(r": mpich-9\.2 1\.\d+× \(", ratio)
    assert process.printed.splitlines()[-1] == "next: rankbench report results/plan"


def test_candidates_and_options_are_submitted_without_a_plan(tmp_path: Path) -> None:
    """They have the campaign that `run` would give them, on the nodes of the job."""
    here = make_site(tmp_path, "slurm")
    measured = ["mpich==9.1", "two=mpich==9.2", "--operations", "allreduce", "--sizes", "8,64", "--samples", "20"]
    words = [*measured, *PREFIXES, "--blocks", "1", "--scheduler", "slurm"]
    process = here.run("submit", *words, "--nodes", "2", "--wait")
    assert process.exit_code == 0, process.printed
    (folder,) = (tmp_path / "results").iterdir()
    results = store.open(folder)
    assert {candidate.name for candidate in results.campaign.candidates} >= {"mpich-9.1", "two"}
    assert {(row["size_bytes"], row["placement"]) for row in results.cases().to_dicts()} == {(8, "2x1"), (64, "2x1")}
    assert {launch.block for launch in results.launches()} == {1}
    again = here.run("submit", *words, "--nodes", "2", "--tasks-per-node", "2", "--print")
    assert "#SBATCH --ntasks-per-node=2\n" in again.printed
    assert here.run("submit", *words, "--print").exit_code == 2  # Cores of sockets of the job's nodes are not known.


def test_options_override_a_submitted_plan(tmp_path: Path) -> None:
    """Placements of the plan that mean nothing in a job are no error where others are given."""
    here = make_site(tmp_path, "slurm", PLAN.replace('["2x1", "1x2"]', '["socket"]'))
    assert here.submit("--print").exit_code == 2
    assert here.submit("--placements", "2x1", "--sizes", "8", "--blocks", "1", "--wait").exit_code == 0
    rows = here.open_results().cases()
    assert (set(rows["placement"]), set(rows["size_bytes"])) == ({"2x1"}, {8})


@pytest.mark.parametrize(
    "behaviour",
    [{"crash": ["bcast.8"], "wrong": ["allreduce.64"], "torn": ["bcast.64"]},
     {"crash": ["allreduce.8", "bcast.8", "allreduce.64"], "lacking": {"bcast": "MPI_Bcast"}}],
)  # fmt: skip
@pytest.mark.thorough
def test_a_job_gives_the_rows_of_a_local_run(tmp_path: Path, behaviour: dict[str, object]) -> None:
    """Failed, repeated and given up launches are the same with and without a scheduler."""
    plan = PLAN.replace('["2x1", "1x2"]', '["1x2"]').replace("blocks = 2", "blocks = 4")
    here = make_site(tmp_path, "slurm", plan, **behaviour)
    assert here.submit("--wait").exit_code == 1
    assert here.run("run", "plan.toml", *PREFIXES, "--results", "local").exit_code == 1
    assert list_rows(here.open_results()) == list_rows(store.open(tmp_path / "local/plan"))
    assert list_companions(here.open_results()) == list_companions(store.open(tmp_path / "local/plan"))


@pytest.mark.thorough
def test_a_job_has_the_launch_groups_of_a_local_run(tmp_path: Path) -> None:
    """Two of three candidates at a time, and another two in the next block."""
    plan = "together = 2\n" + PLAN.replace('["2x1", "1x2"]', '["1x2"]').replace("blocks = 2", "blocks = 3")
    here = make_site(tmp_path, "slurm", plan)
    assert here.submit("--wait").exit_code == 0
    assert here.run("run", "plan.toml", *PREFIXES, "--results", "local").exit_code == 0
    there = store.open(tmp_path / "local/plan")
    assert list_rows(here.open_results()) == list_rows(there)
    assert list_companions(here.open_results()) == list_companions(there)
    besides = [launch.beside for launch in there.launches() if launch.together > 1]
    assert [len(beside) for beside in besides] == [2] * 6
    assert len({frozenset(beside) for beside in besides}) == 3


STATED = """
question = "By which launcher?"
operations = ["allreduce"]
sizes = "8"
samples = 20
placements = ["2x1"]
control = false
stop = { blocks = 1 }
launcher = "mpiexec -hosts {hosts} -n {ranks} -bind-to core {program}"
[[candidate]]
library = "mpich==9.1"
[[candidate]]
library = "mpich==9.2"
wrap = "nice -n 0"
[job]
setup = ["export UCX_TLS=tcp SLURM_HINT=x SLURM_JWT=hidden"]
"""


def test_stated_launchers_and_wraps_start_the_ranks_of_a_job(tmp_path: Path) -> None:
    here = make_site(tmp_path, "slurm", STATED)
    process = here.submit("--wait")
    assert process.exit_code == 0, process.printed
    launches = here.open_results().launches()
    assert {launch.candidate: launch.status.value for launch in launches} == {"mpich-9.1": "ok", "mpich-9.2+nice": "ok"}
    for launch in launches:
        assert Path(launch.command[0]).name == "mpiexec"
        assert launch.command[1:7] == ["-hosts", "a1,a2", "-n", "2", "-bind-to", "core"]
        assert (launch.command[7:10] == ["nice", "-n", "0"]) is (launch.candidate == "mpich-9.2+nice")
        assert [rank.host for rank in launch.ranks] == ["a1", "a2"]
        assert launch.before
        assert (launch.environment["SLURM_HINT"], "SLURM_JWT" in launch.environment) == ("x", False)
        assert ("UCX_TLS", "tcp", "this shell") in [
            (setting.name, setting.value, setting.source) for setting in launch.ambient
        ]


def list_companions(results: Store) -> list[tuple[int, str, int]]:
    """Return for each launch how many launches measured in turns."""
    return sorted((launch.block, launch.candidate, launch.together) for launch in results.launches())


@pytest.mark.thorough
def test_a_crash_in_a_later_pass_costs_only_its_case(tmp_path: Path) -> None:
    """Other cases keep their samples, as many as the plan wants; none of them is launched again."""
    plan = PLAN.replace('["2x1", "1x2"]', '["1x2"]').replace("samples = 20", TWO_PASSES)
    here = make_site(tmp_path, "slurm", plan, crash=["bcast.8"], survives=1)
    assert here.submit("--wait").exit_code == 1
    assert here.run("run", "plan.toml", *PREFIXES, "--results", "local").exit_code == 1
    assert list_rows(here.open_results()) == list_rows(store.open(tmp_path / "local/plan"))
    for results in (here.open_results(), store.open(tmp_path / "local/plan")):
        assert {launch.status for launch in results.launches()} == {LaunchStatus.CRASHED, LaunchStatus.OK}
        frame = results.cases().filter(candidate="mpich-9.2")
        assert set(frame.filter(status="ok")["taken"]) <= {10, 20}
        assert set(frame.filter(status="crashed")["case"]) == {"bcast.blocking.8.byte.1x2.window"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("behaviour", "alone"),
    [mark_thorough({"waited_s": 1.0, "busy_s": 0.9}, [3, 1, 1]), ({"waited_s": 1.0, "busy_s": 0.004}, [3, 3, 1]),
     mark_thorough({"waited_s": 1.0, "busy_s": 0.002}, [3, 3, 3]),
     mark_thorough({"dead_in_turns": True}, [1, 1, 1]), mark_thorough({"killed_in_turns": True}, [1, 1, 1])],
)  # fmt: skip
def test_launches_that_disturb_others_or_fail_beside_them_are_launched_alone(
    tmp_path: Path, behaviour: dict[str, object], alone: list[int]
) -> None:
    """Without a scheduler the rows are the same, and the launches behind them ran beside the same others."""
    plan = PLAN.replace('["2x1", "1x2"]', '["1x2"]').replace("blocks = 2", "blocks = 3")
    here = make_site(tmp_path, "slurm", plan, **behaviour)
    assert here.submit("--wait").exit_code == 0
    launches = here.open_results().launches()
    assert {launch.status.value for launch in launches} == {"ok"}
    assert [launch.together for launch in launches if launch.candidate == "mpich-9.2"] == alone
    others = {
        block: {launch.together for launch in launches if launch.block == block and launch.candidate != "mpich-9.2"}
        for block in (1, 2, 3)
    }
    stays_alone = "dead_in_turns" in behaviour
    assert others[3] == ({2} if stays_alone or (alone[2:] == [1] and "busy_s" in behaviour) else {3})
    reasons = [launch.alone for launch in launches if launch.candidate == "mpich-9.2"]
    assert [bool(reason) for reason in reasons] == [False, stays_alone, stays_alone]
    assert sorted(set(reasons) - {""}) == WORDING
    printed = "its last line: fake core: "
    assert (printed in (here.campaign / "job/output.log").read_text()) == stays_alone
    assert here.run("run", "plan.toml", *PREFIXES, "--results", "local").exit_code == 0
    local = store.open(tmp_path / "local/plan")
    assert list_rows(here.open_results()) == list_rows(local)
    measured = set(local.cases()["launch"])
    brought = sorted((launch.block, launch.candidate, launch.together, launch.alone) for launch in local.launches()
                     if launch.number in measured)  # fmt: skip
    assert brought == sorted((launch.block, launch.candidate, launch.together, launch.alone) for launch in launches)


@pytest.mark.thorough
def test_launches_that_did_not_end_together_in_a_job_run_one_after_the_other(tmp_path: Path) -> None:
    """Otherwise a block longer than a job would be started in every job and never finished."""
    here = make_site(tmp_path, "slurm", PLAN.replace('["2x1", "1x2"]', '["2x1"]').replace("blocks = 2", "blocks = 1"))
    assert here.submit("--write-only").exit_code == 0
    script = here.campaign / "job/job.sh"
    script.write_text(re.sub(r"(?m)^time_s=\d+", "time_s=600", script.read_text()))
    (here.campaign / "job/cut_s").write_text("500\n")
    assert here.submit("--wait").exit_code == 0
    assert {launch.together for launch in here.open_results().launches()} == {1}


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ["killed", mark_thorough("cancelled")])
def test_launches_that_ended_before_their_job_was_killed_are_judged(tmp_path: Path, ending: str) -> None:
    """A launch that cannot start beside others ends before the job is killed. It has no row and is repeated alone."""
    here = make_site(tmp_path, "slurm", PLAN.replace('["2x1", "1x2"]', '["2x1"]'), dead_in_turns=True)
    behave(tmp_path / "9.1", pause_s=1.0)
    here.submit()
    here.wait_for("launches/001-mpich_9_2*/1/ending")
    if ending == "killed":
        os.killpg(int((tmp_path / "scheduler/jobs/101.pid").read_text()), signal.SIGKILL)
        subprocess.run(["pkill", "-KILL", "-f", f"{here.campaign}/job"], check=True)  # Also the launched processes.
        time.sleep(0.05)  # As long as any scheduler takes to notice.
    else:
        scheduler.cancel(tmp_path / "scheduler", "101")
        here.wait_for_end()
    behave(tmp_path / "9.1")
    assert here.submit("--wait").exit_code == 0
    launches = here.open_results().launches()
    assert {launch.status.value for launch in launches} == {"ok"}
    assert [launch.together for launch in launches if launch.candidate == "mpich-9.2"] == [1, 1]


@pytest.mark.thorough
def test_a_hung_launch_of_a_job_is_killed(tmp_path: Path) -> None:
    plan = PLAN.replace("samples = 20", 'samples = 20\ncase_limit = "10ms"\nlaunch_limit = "11s"').replace(
        "blocks = 2", "blocks = 1"
    )
    here = make_site(tmp_path, "slurm", plan.replace('["2x1", "1x2"]', '["1x2"]'), hang=["bcast.8"])
    assert here.submit("--write-only").exit_code == 0
    script = here.campaign / "job/job.sh"
    script.write_text(script.read_text().replace("silence_s=11", "silence_s=4"))
    assert here.submit("--wait").exit_code == 1
    failures = [row for row in list_rows(here.open_results()) if row[3] != "ok"]
    assert [row[2:4] for row in failures] == [("bcast.blocking.8.byte.1x2.window", "hung")]


@pytest.mark.thorough
def test_beginning_and_end_of_a_job_launch_s_output_are_stored(tmp_path: Path) -> None:
    plan = PLAN.replace('["2x1", "1x2"]', '["1x2"]').replace("blocks = 2", "blocks = 1")
    here = make_site(tmp_path, "slurm", plan)
    for version in ("9.1", "9.2"):
        behave(tmp_path / version, prints_bytes=5_000_000)
    assert here.submit("--wait").exit_code == 0
    for launch in here.open_results().launches():
        assert launch.output_bytes == 5_000_000 + len("fake core: warning\n\nfake core: last line\n")
        assert launch.log.endswith("x\nfake core: last line\n")
    for path in (here.campaign / "job/launches").glob("*/1/output.log"):
        log = path.read_bytes()
        assert log.startswith(b"fake core: warning\n")
        assert b"[rankbench left out 29" in log
        assert len(log) < (2 << 20) + 100


@pytest.mark.thorough
def test_a_cancelled_job_continues_in_the_next_one(tmp_path: Path) -> None:
    here = make_site(tmp_path, "slurm", hangs_from=3)  # In the second block.
    assert here.submit().printed.splitlines()[-2:] == WORDING
    here.wait_for("launches/*/done", 4)
    assert here.submit() == (2, WORDING)
    assert here.run("status", "results/plan").printed.splitlines()[-2:] == WORDING
    scheduler.cancel(tmp_path / "scheduler", "101")
    text = here.wait_for_end()
    assert text.splitlines()[-2:] == WORDING
    before = {launch.number: launch.started for launch in here.open_results().launches()}
    assert 4 <= len(before) < LAUNCHES
    behave(tmp_path / "9.2", factor=1.5)
    assert here.submit("--wait").exit_code == 0
    after = {launch.number: launch.started for launch in here.open_results().launches()}
    assert len(after) == LAUNCHES
    assert {number: after[number] for number in before} == before
    assert len(here.open_results().cases().unique(["block", "candidate", "case"])) == len(here.open_results().cases())


@pytest.mark.thorough
def test_a_killed_job_continues_in_the_next_one(tmp_path: Path) -> None:
    """Nothing is lost but the launch in progress, and nothing is stored twice."""
    here = make_site(tmp_path, "pbs", pause_s=0.02)
    for number in (1, 4, 7):
        assert here.submit().exit_code == 0
        here.wait_for("launches/*/done", number)
        pids = sorted((tmp_path / "scheduler/jobs").glob("*.pid"))
        os.killpg(int(pids[-1].read_text()), signal.SIGKILL)
        time.sleep(0.05)  # As long as any scheduler takes to notice.
    finished = here.submit("--wait")
    assert finished.exit_code == 0, finished.printed
    assert len(here.open_results().launches()) == LAUNCHES
    assert len(here.open_results().cases().unique(["block", "candidate", "case"])) == len(here.open_results().cases())


@pytest.mark.thorough
def test_an_edited_script_is_submitted_unchanged(tmp_path: Path) -> None:
    """The edited script leaves so little time that no launch begins."""
    here = make_site(tmp_path, "slurm")
    assert here.submit("--write-only").printed.splitlines()[-2:] == WORDING
    script = here.campaign / "job/job.sh"
    script.write_text(re.sub(r"time_s=0\b", "time_s=20", script.read_text()))
    process = here.submit("--wait")
    assert find_lines(process.printed, "job.sh was edited") == WORDING
    assert process.exit_code == 1
    assert process.printed.splitlines()[-2:] == WORDING
    script.unlink()
    assert here.submit("--wait").exit_code == 0
    assert len(here.open_results().launches()) == LAUNCHES


@pytest.mark.thorough
def test_a_launcher_that_starts_singletons_is_refused_in_the_job(tmp_path: Path) -> None:
    here = make_site(tmp_path, "slurm")
    (tmp_path / "9.2/worlds").touch()
    process = here.submit("--wait")
    assert process.exit_code == 1, process.printed
    wrong = [launch for launch in here.open_results().launches() if launch.status != "ok"]
    assert [(launch.candidate, launch.placement) for launch in wrong] == [("mpich-9.2", "2x1"), ("mpich-9.2", "1x2")]
    assert sorted({launch.reason for launch in wrong}) == WORDING
    assert {row[3] for row in list_rows(here.open_results()) if row[1] == "mpich-9.2"} == {"refused"}


@pytest.mark.thorough
def test_a_library_that_cannot_report_its_variables_is_checked_without_them(tmp_path: Path) -> None:
    here = make_site(tmp_path, "slurm", dies_with="MPIR_CVAR_DEBUG_SUMMARY")
    process = here.submit("--wait")
    assert process.exit_code == 0, process.printed
    assert len(here.open_results().launches()) == LAUNCHES
    environments = {
        path.parent.name: path.read_text() for path in (here.campaign / "job" / "checks").glob("*/environment")
    }
    assert len(environments) == LAUNCHES // 2
    reporting = {name for name, text in environments.items() if "MPIR_CVAR_DEBUG_SUMMARY" in text}
    assert reporting == {name for name in environments if name.startswith("mpich_9_1")}


@pytest.mark.thorough
def test_a_lost_node_does_not_count_against_a_candidate(tmp_path: Path) -> None:
    """The launch that died with it is stored; the next job measures its remaining cases."""
    every = ["allreduce.8", "allreduce.64", "bcast.8", "bcast.64"]
    here = make_site(tmp_path, "slurm", crash=every)
    (tmp_path / "scheduler/lost").write_text("a2")
    process = here.submit("--wait")
    assert process.exit_code == 1
    assert process.printed.splitlines()[-2:] == WORDING
    (tmp_path / "scheduler/lost").unlink()
    behave(tmp_path / "9.2")
    assert here.submit("--wait").exit_code == 0
    launches = here.open_results().launches()
    (died,) = [launch for launch in launches if launch.status != "ok"]
    assert (died.status, died.reason) == ("crashed", WORDING)
    assert len(launches) == LAUNCHES + 1
    assert [row[3] for row in list_rows(here.open_results()) if row[3] != "ok"] == ["crashed"]


@pytest.mark.thorough
def test_a_job_ends_after_a_lost_node_although_its_launch_died_before(tmp_path: Path) -> None:
    """The launcher may notice before the scheduler does: the launch is stored all the same, with its real end."""
    here = make_site(tmp_path, "slurm", plan=PLAN.replace("blocks = 2", "blocks = 1"))
    for version in ("9.1", "9.2"):
        behave(tmp_path / version, crash=["bcast.64"], state_s=1.0)
    (tmp_path / "scheduler/lost").write_text("a2")
    here.submit()
    here.wait_for("launches/*/1/after.json")
    scheduler.cancel(tmp_path / "scheduler", "101")
    here.wait_for_end()
    (tmp_path / "scheduler/lost").unlink()
    for version in ("9.1", "9.2"):
        behave(tmp_path / version)
    assert here.submit("--wait").exit_code == 0
    died = [launch for launch in here.open_results().launches() if launch.status != "ok"]
    assert {(launch.status, launch.together) for launch in died} == {("crashed", 3)}
    assert sorted({launch.reason for launch in died}) == WORDING


@pytest.mark.thorough
def test_a_decided_campaign_ends_its_job(tmp_path: Path) -> None:
    """The job computes no statistics: the process that waits for the job decides and stops it."""
    plan = PLAN.replace("blocks = 2", 'blocks = { min = 2, max = 60 }\nuntil = "precision 50%"')
    here = make_site(tmp_path, "slurm", plan, pause_s=0.05)
    process = here.submit("--wait")
    assert process.exit_code == 0, process.printed
    blocks = {launch.block for launch in here.open_results().launches()}
    assert 2 <= len(blocks) < 60
    log = (here.campaign / "job/output.log").read_text().splitlines()
    assert re.search(r"enough: all \d+ intervals are within ±50\.00%$", log[-1]), log


@pytest.mark.thorough
def test_a_scheduler_that_does_not_answer_is_reported(tmp_path: Path) -> None:
    here = make_site(tmp_path, "slurm", pause_s=0.05)
    assert here.submit().exit_code == 0
    here.wait_for("launches/*/done", 2)
    (tmp_path / "scheduler/gone").touch()
    process = here.run("status", "results/plan")
    assert process.exit_code == 0
    assert find_lines(process.printed, "does not report") == WORDING
    assert len(here.open_results().launches()) >= 1
    (tmp_path / "scheduler/gone").unlink()
    assert here.run("status", "--wait").exit_code == 0
    assert len(here.open_results().launches()) == LAUNCHES


@pytest.mark.thorough
@pytest.mark.parametrize("history", [mark_thorough(True), False])
def test_pbs_servers_with_and_without_job_history_report_ended_jobs(tmp_path: Path, *, history: bool) -> None:
    """A job that has ended is over, and the campaign can be submitted again."""
    here = make_site(tmp_path, "pbs", PLAN.replace('["2x1", "1x2"]', '["1x2"]').replace("blocks = 2", "blocks = 1"))
    if not history:
        (tmp_path / "scheduler/no-history").touch()
    assert here.submit("--write-only").exit_code == 0
    script = here.campaign / "job/job.sh"
    text = script.read_text()
    script.write_text(re.sub(r"time_s=0\b", "time_s=20", text))
    process = here.submit("--wait")
    line = process.printed.splitlines()[-2]
    sentence, state, _ = line.partition("F, exit status 0 (Job " if history else "no longer known to PBS)")
    assert (process.exit_code, f"{sentence}{state}") == (1, WORDING)
    assert line.endswith("); log: results/plan/job/output.log")
    script.write_text(text)
    assert here.submit("--wait").exit_code == 0


ENDS: list[tuple[JobState, str, str, str]] = [
    (JobState("ended", "CANCELLED", "cancelled"), "", "", "its job was cancelled before it began (CANCELLED)"),
    (JobState("ended", "no longer known to PBS"), "", "", "its job did not begin (no longer known to PBS)"),
    (JobState("ended", "CANCELED", "cancelled"), "2", "", "its job was cancelled (CANCELED)"),
    (JobState("ended", "TIMEOUT", "time"), "2", "", "its job reached its time limit (TIMEOUT)"),
    (JobState("ended", "TIMEOUT", "time"), "2", "signal SIGTERM", "its job reached its time limit (TIMEOUT)"),
    (JobState("ended", "CANCELED", "cancelled"), "2", "signal SIGHUP", "its job was cancelled (CANCELED)"),
    (JobState("ended", "FAILED"), "2", "signal SIGTERM", "its job ended by SIGTERM (FAILED)"),
    (JobState("ended", "PREEMPTED", "preempted"), "2", "", "its job was preempted (PREEMPTED)"),
    (JobState("ended", "NODE_FAIL", "node"), "2", "", "its job lost a node (NODE_FAIL)"),
    (JobState("ended", "FAILED"), "2", "",
     "its job ended without a message, as after the loss of a node (FAILED)"),
    (JobState("ended", "CANCELLED", "cancelled"), "1", "signal SIGTERM",
     "its job was cancelled before it began (CANCELLED)"),
    (JobState("ended", "FAILED"), "-", "time", "its job ended because of the time limit (FAILED)"),
]  # fmt: skip
"""What a scheduler reports, the number of the last job that began, its last word, and the sentence on job 2."""


@pytest.mark.parametrize(("state", "begun", "stopped", "sentence"), ENDS)
def test_the_end_of_a_job_is_that_of_its_script_or_its_scheduler(
    tmp_path: Path, state: JobState, begun: str, stopped: str, sentence: str
) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    for number in ("1", "2"):
        job_commands.remember(folder, "slurm", number)
    for name, text in ((job_commands.BEGUN, begun), (job_commands.STOPPED, stopped)):
        if text:
            (folder / name).write_text(f"{text}\n")
    campaign = cast("Store", SimpleNamespace(folder=tmp_path))
    assert job_status.explain_end(campaign, state) == sentence


def disable_flock(here: Site) -> Path:
    """Make a job's `flock` fail as on a file system without locks; return the log."""
    flock = here.place / "scheduler/flock"
    flock.write_text("#!/bin/sh\necho 'flock: 9: Function not implemented' >&2\nexit 71\n")
    flock.chmod(0o755)
    return here.campaign / "job/output.log"


@pytest.mark.thorough
def test_a_job_on_a_file_system_without_locks_uses_a_lock_folder(tmp_path: Path) -> None:
    """A job that ends removes the folder."""
    here = make_site(tmp_path, "slurm", PLAN.replace('["2x1", "1x2"]', '["1x2"]').replace("blocks = 2", "blocks = 1"))
    log = disable_flock(here)
    process = here.submit("--wait")
    assert process.exit_code == 0, process.printed
    folder = here.campaign / "job/lock.d"
    assert find_lines(log.read_text(), "has no locks") == WORDING
    assert not folder.exists()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("owner", "works"),
    [mark_thorough("7 elsewhere 1", False), mark_thorough("101 elsewhere 1", True), ("7 {here} {dead}", True),
     mark_thorough("101 {here} {alive}", False), mark_thorough("", False)],
)  # fmt: skip
def test_an_existing_lock_folder_holds_unless_its_process_is_gone(tmp_path: Path, owner: str, *, works: bool) -> None:
    """It holds unless its process is gone from this host, or it belongs to the same job, which was queued again."""
    here = make_site(tmp_path, "slurm", PLAN.replace('["2x1", "1x2"]', '["1x2"]').replace("blocks = 2", "blocks = 1"))
    log = disable_flock(here)
    assert here.submit("--write-only").exit_code == 0
    folder = here.campaign / "job/lock.d"
    folder.mkdir()
    process = subprocess.Popen(["true"])
    process.wait()
    text = owner.format(here=socket.gethostname(), dead=process.pid, alive=os.getpid())
    (folder / "owner").write_text(f"{text}\n" if text else "")
    assert here.submit("--wait").exit_code == (0 if works else 1)
    job, host, *_ = [*text.split(), "unknown", "unknown"]
    printed = log.read_text()
    refusal, advice = f"job {job} on {host} works on {here.campaign}: nothing is done;", f": rm -r {folder}\n"
    assert [refusal in printed, advice in printed, folder.exists()] == [not works] * 3


@pytest.mark.thorough
def test_wait_does_not_wait_for_a_scheduler_that_never_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = make_site(tmp_path, "slurm", pause_s=0.05)
    assert here.submit().exit_code == 0
    (tmp_path / "scheduler/gone").touch()
    pauses: list[float] = []
    monkeypatch.setattr(job_status, "time", SimpleNamespace(sleep=pauses.append))
    monkeypatch.setenv("PATH", f"{tmp_path}/scheduler:{os.environ['PATH']}")
    with pytest.raises(RankbenchError) as error:
        job_status.follow(here.open_results())
    (tmp_path / "scheduler/gone").unlink()
    with contextlib.suppress(ProcessLookupError):  # The job may have ended meanwhile.
        scheduler.cancel(tmp_path / "scheduler", "101")
    assert str(error.value) == WORDING
    assert 120 < sum(pauses) < 600


@pytest.mark.parametrize(("options", "nodes"), [([], "2 nodes"), (["--nodes", "4"], "4 nodes")])
def test_a_probe_asks_as_many_nodes_as_the_plan_needs(tmp_path: Path, options: list[str], nodes: str) -> None:
    answer = make_site(tmp_path, "flux").submit("--probe", *options)
    assert answer.exit_code == 0, answer.printed
    assert f"job ƒ101 of Flux asks {nodes}\n" in answer.printed
    assert "a1, a2, a3, a4: " in answer.printed


@pytest.mark.costly
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--scheduler", "pbs", "--contiguous"],
        ["--scheduler", "slurm", "--time", "soon"],
        ["--scheduler", "slurm", "--memory", "64 gigabytes"],
        ["--scheduler", "slurm", "--launcher", "aprun"],
        ["--scheduler", "slurm", "--nodes", "1"],
    ],
    ids=" ".join,
)
def test_wrong_submissions_are_refused(tmp_path: Path, options: list[str]) -> None:
    plan = PLAN.replace('["2x1", "1x2"]', '["2x1"]') + '[job]\nscheduler = "pbss"\n'
    here = make_site(tmp_path, "slurm", plan)
    process = here.run("submit", "plan.toml", "--prefix", "9.1", "--prefix", "9.2", *options)
    assert (process.exit_code, process.printed) == (2, WORDING)
    assert not (tmp_path / "results").exists()


def test_a_script_that_the_scheduler_rejects_is_reported(tmp_path: Path) -> None:
    here = make_site(tmp_path, "slurm")
    (tmp_path / "scheduler/refuses").write_text("sbatch: error: invalid partition: bench")
    process = here.submit()
    assert (process.exit_code, process.printed.splitlines()[-1]) == (2, WORDING)


@pytest.mark.thorough
def test_script_prints_the_submitted_script_and_changes_nothing(tmp_path: Path) -> None:
    here = make_site(tmp_path, "lsf")
    options = ["--scheduler", "lsf", *PREFIXES, "--time", "90m"]
    printed = here.run("submit", "plan.toml", "--print", *options)
    assert printed.exit_code == 0
    assert not (tmp_path / "results").exists()
    assert here.submit("--write-only", "--time", "90m").exit_code == 0
    note, _, script = printed.printed.partition("\n")
    assert note == WORDING
    assert script == (here.campaign / "job/job.sh").read_text()
    assert "#BSUB -W 1:30\n" in script


@pytest.mark.thorough
def test_status_works_for_a_campaign_without_a_job(tmp_path: Path) -> None:
    here = make_site(tmp_path, "slurm", crash=["bcast.8"])
    plan = PLAN.replace('["2x1", "1x2"]', '["1x2"]').replace("blocks = 2", "blocks = 1")
    (tmp_path / "plan.toml").write_text(plan)
    assert here.run("run", "plan.toml", *PREFIXES).exit_code == 1
    behave(tmp_path / "9.2")
    lines = here.run("status", "results/plan").printed.splitlines()
    assert [lines[0], re.sub(r"0:\d\d$", "TIME", lines[1])] == WORDING
    assert [" ".join(line.split()) for line in [*lines[5:8], lines[-1]]] == WORDING


def test_script_prints_notes_on_skipped_cases(tmp_path: Path) -> None:
    text = PLAN.replace('["2x1", "1x2"]', '["1x2", { name = "far", cpus = [0, 4095] }]')
    here = make_site(tmp_path, "slurm", f"{text}[job]\nsockets = 1\ncores_per_socket = 2\n")
    printed = here.run("submit", "plan.toml", "--print", "--scheduler", "slurm", *PREFIXES).printed
    assert [re.sub(r"\(.*\)", "(CPUS)", line) for line in find_lines(printed, "note: far:")] == WORDING


def test_nodes_of_a_job_are_not_judged_by_the_submitting_host(tmp_path: Path) -> None:
    """Neither by its cores nor by its memory: 64 ranks a node are bound, take turns, and need no note."""
    plan = PLAN.replace('["2x1", "1x2"]', '["2x64"]').replace('"8,64"', '"8,64G"').replace('"allreduce", ', "")
    here = make_site(tmp_path, "slurm", "oversubscribe = 1\n" + plan)
    process = here.submit("--write-only")
    assert process.exit_code == 0, process.printed
    assert "oversubscribed" not in process.printed
    script = (here.campaign / "job/job.sh").read_text()
    assert "-bind-to core" in script
    assert "-bind-to none" not in script
    assert [line for line in script.splitlines() if line.startswith("launch ") and line.endswith(" alone")] == []
    record = here.open_results().campaign
    assert (record.machine, {case.start for case in record.cases}) == (UNKNOWN_MACHINE, {"window"})


def test_waiting_prints_a_line_for_each_complete_block(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crashing = campaigns.Truth(status=CaseStatus.CRASHED)
    opened = campaigns.make_campaign(
        tmp_path / "one", lambda name, _: crashing if name == "beta" else campaigns.Truth(), launches=3, control=False
    )
    before = job_status.News("queued", block=1, launches=len(opened.launches()) - 2)
    news = job_status.print_news(opened, "running", before, ended=False)
    assert news == ("running", 2, len(opened.launches()))
    state, line, begun = capsys.readouterr().out.splitlines()
    assert [state, re.sub(r"\d+\.\d s", "TIME", line), begun] == WORDING
    assert job_status.print_news(opened, "running", news, ended=False) == news
    assert capsys.readouterr().out == ""
    assert job_status.print_news(opened, "running", news, ended=True) == news._replace(block=3)
    assert capsys.readouterr().out.startswith("block 3 (5 to 60 ")
