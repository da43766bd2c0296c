"""How jobs end, and what is known while they run, on stand-in schedulers that answer as real ones were seen to do."""

from __future__ import annotations

import contextlib
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest
from fakes import library, mark_thorough, scheduler, sites
from fakes.sites import Site

FAKES = Path(__file__).parents[2] / "fakes"
PLAN = """
candidates = ["mpich==9.1", "mpich==9.2"]
operations = ["allreduce"]
sizes = "8,64"
samples = 20
placements = ["1x2"]
control = false
[stop]
blocks = 1
"""
TWO_PLACEMENTS = PLAN.replace('["1x2"]', '["1x2", "2x1"]')
LIMITED = PLAN + '[job]\ntime = "1h"\n'


def read_log(here: Site) -> str:
    """Return the log of a job's script."""
    return (here.campaign / "job/output.log").read_text()


@pytest.mark.parametrize(
    ("kind", "history", "sentence"),
    [mark_thorough("flux", True, "its job was cancelled before it began (CANCELED)"),
     mark_thorough("pbs", True, "its job was cancelled before it began (F, exit status 0"),
     ("pbs", False, "its job did not begin (no longer known to PBS)")],
)  # fmt: skip
def test_a_job_that_was_cancelled_in_the_queue_did_not_begin(
    tmp_path: Path, kind: str, sentence: str, *, history: bool
) -> None:
    here = sites.make_site(tmp_path, kind, PLAN)
    (tmp_path / "scheduler/full").touch()
    if not history:
        (tmp_path / "scheduler/no-history").touch()
    assert here.submit().exit_code == 0
    assert here.submit().exit_code == 2
    scheduler.cancel(tmp_path / "scheduler", "101")
    assert here.wait_for_end().splitlines()[-2].startswith(sentence)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [mark_thorough("flux"), "pbs"])
def test_a_waiting_job_is_reported_with_its_reason(tmp_path: Path, kind: str) -> None:
    here = sites.make_site(tmp_path, kind, PLAN)
    (tmp_path / "scheduler/full").touch()
    assert here.submit().exit_code == 0
    reason = {"flux": "SCHED", "pbs": "Q (Not Running: Not enough free nodes available)"}[kind]
    assert here.run("status", "results/plan").printed.splitlines()[-2].endswith(f": {reason}")


def list_processes(here: Site) -> list[bytes]:
    """Return the command lines that name the campaign of a job."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(path.read_bytes())
    return [line for line in lines if bytes(here.campaign) in line]


@pytest.mark.parametrize("kind", ["flux", mark_thorough("pbs")])
def test_a_running_job_that_is_cancelled_ends_its_launch_and_says_so(tmp_path: Path, kind: str) -> None:
    """Flux sends SIGTERM and SIGHUP at once: the second must not kill the script before it has ended its launches."""
    here = sites.make_site(tmp_path, kind, PLAN, hangs_from=1)
    assert here.submit().exit_code == 0
    here.wait_for("launches/*/1/stream.jsonl", 2, content='{"record":"begin"')
    scheduler.cancel(tmp_path / "scheduler", "101")
    assert "its job was cancelled (" in here.wait_for_end().splitlines()[-2]
    assert (here.campaign / "job/stopped").read_text().startswith("signal SIG")
    assert "run this again to continue" in read_log(here)
    assert list_processes(here) == []


FIRST_OF_MEMBER = 'members=() starting_member=""'
UNHEARD = "sleep 0.2"
OF_THE_SECOND = "[[ ${out:-} = */launches/*mpich_9_2* ]]"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("command", "where"),
    [
        mark_thorough("starting=$copier", OF_THE_SECOND),
        mark_thorough("launcher_pid=$!", OF_THE_SECOND),
        mark_thorough("exec 8>&-", OF_THE_SECOND),
        mark_thorough('members+=("$!")', '[ "$number" = 1 ]'),
        ('members+=("$!")', f'[ "$number" = 1 ] && {UNHEARD}'),
    ],
)
def test_a_signal_at_the_start_of_a_launch_ends_it(tmp_path: Path, command: str, where: str) -> None:
    """Bash handles signals between commands: also between the start of a process and the one that keeps its number.

    The process may not hear a signal at its own start.
    """
    condition = f"[ \"$BASH_COMMAND\" = '{command}' ] && {where} && interrupted TERM"
    unheard = f"[ $BASHPID != $$ ] && [ \"$BASH_COMMAND\" = '{FIRST_OF_MEMBER}' ] && {{ trap '' TERM; sleep 1; }}"
    condition = f"{unheard}; {condition}" if UNHEARD in where else condition
    (tmp_path / "trap.sh").write_text(f"set -T\ntrap {shlex.quote(condition)} DEBUG\n")
    here = sites.make_site(tmp_path, "flux", f'{PLAN}[job]\nsetup = ["source {tmp_path}/trap.sh"]\n', hangs_from=1)
    launcher = tmp_path / "9.2/bin/mpiexec"
    launcher.write_text(launcher.read_text().replace("\n", "\nsleep 0.5\n", 1))
    assert here.submit().exit_code == 0
    assert "FAILED" in here.wait_for_end().splitlines()[-2]
    assert (here.campaign / "job/stopped").read_text() == "signal SIGTERM\n"
    time.sleep(1)
    assert list_processes(here) == []


@pytest.mark.thorough
@pytest.mark.parametrize("each", [mark_thorough(signal.SIGUSR1), signal.SIGALRM])
def test_flux_warns_of_the_end_of_the_time_and_then_ends_it(tmp_path: Path, each: signal.Signals) -> None:
    """The warning comes only where a job requests it. A limit that is shorter than it comes without one."""
    here = sites.make_site(tmp_path, "flux", LIMITED, hangs_from=1)
    assert here.submit().exit_code == 0
    assert "#FLUX: --signal=USR1@60s\n" in (here.campaign / "job/job.sh").read_text()
    here.wait_for("launches/*/1/stream.jsonl", 2)
    scheduler.send(tmp_path / "scheduler", "101", each)
    assert here.wait_for_end().splitlines()[-2].startswith("its job ended because of the time limit (FAILED)")


@pytest.mark.parametrize("kind", ["pbs", *map(mark_thorough, ("slurm", "flux"))])
def test_a_script_ends_before_the_time_of_its_job_is_over(tmp_path: Path, kind: str) -> None:
    """What a scheduler leaves a job at the end of its time is too short to end ranks on all nodes."""
    here = sites.make_site(tmp_path, kind, f'{LIMITED}setup = ["SECONDS=3565 leave_s=33"]\n', hangs_from=1)
    assert here.submit().exit_code == 0
    assert here.wait_for_end().splitlines()[-2].startswith("its job ended because of the time limit (")
    assert "the time of this job is over; submit it again" in read_log(here)
    assert list_processes(here) == []


@pytest.mark.parametrize(
    ("message", "sentence"),
    [("=>> PBS: job killed: walltime 76 exceeded limit 60", "its job reached its time limit (no longer known to PBS)"),
     mark_thorough(
         "=>> PBS: job killed: mem 4000kb exceeded limit 3000kb", "its job reached its memory limit (no longer known to"
     ),
     mark_thorough("walltime 76", "its job ended by SIGTERM (no longer known to PBS)")],
)  # fmt: skip
def test_pbs_says_in_the_output_of_a_job_why_it_ended_it(tmp_path: Path, message: str, sentence: str) -> None:
    """As OpenPBS 23.06 wrote it, which keeps no history by default."""
    here = sites.make_site(tmp_path, "pbs", PLAN, hangs_from=1)
    (tmp_path / "scheduler/no-history").touch()
    assert here.submit().exit_code == 0
    here.wait_for("launches/*/1/stream.jsonl", 1)
    scheduler.cancel(tmp_path / "scheduler", "101")
    here.wait_for_end()
    (here.campaign / "job/scheduler.log").write_text(f"{message}\n")
    assert here.run("status", "results/plan").printed.splitlines()[-2].startswith(sentence)


@pytest.mark.parametrize("kind", ["pbs", mark_thorough("slurm"), mark_thorough("flux")])
def test_results_and_log_are_there_before_a_block_or_its_job_ends(tmp_path: Path, kind: str) -> None:
    """The second placement of the only block hangs. PBS shows a job's output only at its end."""
    here = sites.make_site(tmp_path, kind, TWO_PLACEMENTS, hangs_from=2)
    assert here.submit().exit_code == 0
    waiting = here.start("status", "results/plan", "--wait")
    assert waiting.stdout
    assert "block 1 of 1: 2 of 4 turns done\n" in waiting.stdout
    launches = here.open_results().launches()
    assert len({launch.placement for launch in launches}) == 1
    assert sorted(launch.candidate for launch in launches) == ["mpich-9.1", "mpich-9.2"]
    assert " on a1 a2 a3 a4\n" in read_log(here)
    assert scheduler.is_running(kind, tmp_path / "scheduler", "101")
    scheduler.cancel(tmp_path / "scheduler", "101")
    waiting.communicate()
    assert waiting.returncode == 1


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["flux", "pbs", mark_thorough("lsf")])
@pytest.mark.parametrize("behaviour", [{"hangs_from": 1}, mark_thorough({"crash": ["allreduce.8", "allreduce.64"]})])
def test_a_node_that_dies_ends_the_launch_and_is_named(tmp_path: Path, kind: str, behaviour: dict[str, object]) -> None:
    """Whether its launcher notices or waits. The server of PBS calls such a node busy."""
    here = sites.make_site(tmp_path, kind, PLAN.replace('["1x2"]', '["2x1"]'), **behaviour)
    assert here.submit("--write-only").exit_code == 0
    script = here.campaign / "job/job.sh"
    script.write_text(re.sub(r"(?m)^ask_s=60", "ask_s=1", script.read_text()))
    lost = tmp_path / "scheduler/lost"
    if "crash" in behaviour:
        library.behave(tmp_path / "9.2", **behaviour, waits_for=str(lost))
    assert here.submit().exit_code == 0
    # Both have begun on all nodes, and one has measured all of its cases.
    here.wait_for("launches/*mpich_9_1*/1/stream.jsonl", content='{"record":"end"')
    here.wait_for("launches/*mpich_9_2*/1/stream.jsonl", content='{"record":"begin"')
    lost.write_text("a2")
    text = here.wait_for_end()
    assert "its job ended because there is no answer from a2 (" in text.splitlines()[-2]
    assert [launch.candidate for launch in here.open_results().launches() if "a2" in launch.reason] == ["mpich-9.2"]


def test_the_exit_code_of_a_job_says_that_a_check_failed(tmp_path: Path) -> None:
    here = sites.make_site(tmp_path, "slurm", PLAN, dead=True)
    process = here.submit("--wait")
    assert process.exit_code == 1
    assert (tmp_path / "scheduler/jobs/101.ended").read_text() == "3\n"
    assert "1 block of 2 launches: " in process.printed


@pytest.mark.thorough
def test_a_campaign_needs_no_locks_of_its_file_system(tmp_path: Path) -> None:
    """Neither the command, nor a build, nor the job."""
    preload = tmp_path / "no_flock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", preload, FAKES / "no_flock.c"], check=True)
    here = sites.make_site(tmp_path, "slurm", PLAN)
    here.environment["LD_PRELOAD"] = str(preload)
    process = here.submit("--wait")
    assert process.exit_code == 0, process.printed
    assert [launch.status.value for launch in here.open_results().launches()] == ["ok"] * 2
    assert "this file system has no locks" in read_log(here)
    assert not [*tmp_path.rglob("*.d")]


def test_a_block_of_one_launch_is_called_so(tmp_path: Path) -> None:
    here = sites.make_site(tmp_path, "slurm", PLAN.replace('["mpich==9.1", "mpich==9.2"]', '["mpich==9.1"]'))
    assert "1 block of 1 launch: " in here.submit("--write-only").printed
