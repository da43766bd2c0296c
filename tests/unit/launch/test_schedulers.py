"""Job scripts of every scheduler, and the states read from the schedulers' output."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from wording import refuses

from rankbench.launch import job_commands, schedulers
from rankbench.launch.schedulers import JobState
from rankbench.launch.script import FUNCTIONS, Line, Script, Turn, insert_nodes, render_script, write_file_line
from rankbench.model import CommandLine, Job, RankbenchError

RECORDED = Path(__file__).parents[2] / "recorded" / "schedulers"
GOLDEN = Path(__file__).parents[2] / "golden" / "scripts"
REQUESTED = Job(
    nodes=4,
    tasks_per_node=2,
    time_s=5400,
    partition="bench",
    account="project",
    exclusive=True,
    setup=["module load numactl"],
)
REQUESTS: dict[str, dict[str, Any]] = {
    "slurm": {
        "tasks_per_socket": 1,
        "contiguous": True,
        "nodelist": "n[1-4]",
        "options": ["--reservation=night", "--mail-type=END"],
    },
    "pbs": {"nodelist": "n1,n2,n3,n4", "options": ["-m e"]},
    "lsf": {"nodelist": "n[1-3],n4"},
    "grid-engine": {"options": ["-pe orte 8"], "exclusive": False},
    "ssh": {"nodelist": "n1,n2", "partition": "", "account": "", "time_s": 0},
}
"""Requests that only some schedulers know."""


def make_script(name: str) -> Script:
    """Return a script of two launches, one of a launcher that reads a file."""
    hosts = CommandLine(
        arguments=["/opt/a b/mpiexec", "-hosts", "__NODE_1__,__NODE_2__", "-n", "2", "/build/one/rankbench-core"],
        environment={"SETTING": "it's $5"},
    )
    seats = CommandLine(
        arguments=[
            "/opt/o/mpiexec",
            "--rankfile",
            "rankfile.txt",
            "-H",
            "__NODE_1__:1,__NODE_12__:1",
            "/build/two/core",
        ],
        files={"rankfile.txt": "rank 0=__NODE_1__ slot=0\nrank 1=__NODE_12__ slot=0\n"},
    )
    return Script(
        campaign=Path("/scratch/results/study"),
        question="Which library, from node to node?",
        job=msgspec.structs.replace(REQUESTED, scheduler=name, **REQUESTS.get(name, {})),
        lines=[
            Line(
                "one_on_2x1",
                "one on 2x1: 2 ranks",
                ["/build/one/rankbench-core"],
                2,
                hosts,
                reports={"SUMMARY": "1", "LOG": "info"},
            ),
            Line("two_on_2x1", "two on 2x1: 2 ranks", ["/build/two/core"], 2, seats),
        ],
        blocks=[
            [Turn("001-two_on_2x1", "two_on_2x1", "001-2x1.txt"), Turn("001-one_on_2x1", "one_on_2x1", "001-2x1.txt")],
            [Turn("002-one_on_2x1", "one_on_2x1", "002-2x1.txt"), Turn("002-two_on_2x1", "two_on_2x1", "002-2x1.txt")],
        ],
        remote_shell="",
        silence_s=60,
        threshold=0.03,
        mpi_variables=["OMPI_", "I_MPI_"],
    )


@pytest.mark.parametrize("name", sorted(schedulers.find_schedulers()))
def test_a_script_is_as_recorded(name: str) -> None:
    """All but the functions, which are the same everywhere."""
    values = make_script(name)
    lines = render_script(values, schedulers.find_scheduler(values.job)).replace(
        FUNCTIONS.read_text().rstrip(), "<functions.sh>"
    )
    lines = re.sub(r"by rankbench [\d.]+", "by rankbench VERSION", lines)
    assert lines == (GOLDEN / f"{name}.sh").read_text()


@pytest.mark.parametrize("name", sorted(schedulers.find_schedulers()))
def test_bash_accepts_a_script(name: str) -> None:
    values = make_script(name)
    lines = render_script(values, schedulers.find_scheduler(values.job))
    process = subprocess.run(["bash", "-n"], input=lines, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (0, "")


def test_every_scheduler_has_a_recorded_script() -> None:
    assert {path.stem for path in GOLDEN.glob("*.sh")} == set(schedulers.find_schedulers())


@pytest.mark.parametrize("job", [Job(), Job(scheduler="slrum"), Job(scheduler="pbs", contiguous=True)])
def test_impossible_jobs_are_refused(job: Job) -> None:
    with refuses():
        schedulers.find_scheduler(job)


@pytest.mark.parametrize(
    ("name", "exit_code", "sentence", "state"),
    [
        ("slurm", 0, "JobId=7 JobName=x Priority=1 JobState=PENDING Reason=Resources Dependency=(null)",
         JobState("queued", "PENDING (Resources)")),
        ("slurm", 0, "JobId=7 JobState=RUNNING Reason=None", JobState("running", "RUNNING")),
        ("slurm", 0, "JobId=7 JobState=COMPLETING Reason=None", JobState("running", "COMPLETING")),
        ("slurm", 0, "JobId=7 JobState=REQUEUED Reason=BeginTime", JobState("queued", "REQUEUED (BeginTime)")),
        ("slurm", 0, "JobId=7 JobState=TIMEOUT Reason=TimeLimit", JobState("ended", "TIMEOUT (TimeLimit)", "time")),
        ("slurm", 0, "JobId=7 JobState=CANCELLED Reason=None", JobState("ended", "CANCELLED", "cancelled")),
        ("slurm", 0, "JobId=7 JobState=PREEMPTED Reason=None", JobState("ended", "PREEMPTED", "preempted")),
        ("slurm", 0, "JobId=7 JobState=OUT_OF_MEMORY Reason=OutOfMemory",
         JobState("ended", "OUT_OF_MEMORY (OutOfMemory)", "memory")),
        ("slurm", 0, "JobId=7 JobState=FAILED Reason=NonZeroExitCode", JobState("ended", "FAILED (NonZeroExitCode)")),
        ("slurm", 0, "JobId=7 JobState=NODE_FAIL Reason=NodeDown", JobState("ended", "NODE_FAIL (NodeDown)", "node")),
        ("slurm", 1, "slurm_load_jobs error: Invalid job id specified", JobState("ended", "no longer known to Slurm")),
        ("slurm", 1, "slurm_load_jobs error: Unable to contact slurm controller (connect failure)", None),
        ("pbs", 0, "Job Id: 7.s\n    job_state = Q\n    comment = Not Running: no nodes\n",
         JobState("queued", "Q (Not Running: no nodes)")),
        ("pbs", 35, "Job Id: 7.s\n    job_state = F\n    substate = 93\n    Exit_status = -29\n",
         JobState("ended", "F, exit status -29", "time")),
        ("pbs", 35, "Job Id: 7.s\n    job_state = F\n    substate = 92\n    Exit_status = 0\n",
         JobState("ended", "F, exit status 0")),
        ("pbs", 0, "Job Id: 7.s\n    job_state = F\n    Exit_status = 143\n", JobState("ended", "F, exit status 143")),
        ("pbs", 153, "qstat: Unknown Job Id 7.s", JobState("ended", "no longer known to PBS")),
        ("pbs", 35, "qstat: 7.s Job has finished, use -x or -H to obtain historical job information\n"
                    "Job Id: 7.s\n    job_state = F\n    Exit_status = 1\n", JobState("ended", "F, exit status 1")),
        ("pbs", 35, "qstat: 7.s Job has finished, use -x or -H to obtain historical job information\nqstat: PBS is not "
                    "configured to maintain job history", JobState("ended", "no longer known to PBS")),
        ("pbs", 255, "Connection refused\nqstat: cannot connect to server", None),
        ("lsf", 0, "PEND -\n", JobState("queued", "PEND")),
        ("lsf", 0, "EXIT TERM_RUNLIMIT: job killed after reaching LSF run time limit",
         JobState("ended", "EXIT (TERM_RUNLIMIT: job killed after reaching LSF run time limit)", "time")),
        ("lsf", 0, "EXIT TERM_OWNER: job killed by owner",
         JobState("ended", "EXIT (TERM_OWNER: job killed by owner)", "cancelled")),
        ("lsf", 255, "Job <7> is not found", JobState("ended", "no longer known to LSF")),
        ("lsf", 255, "LSF is down. Please wait ...", None),
        ("flux", 0, "SCHED \n", JobState("queued", "SCHED")),
        ("flux", 0, "INACTIVE TIMEOUT\n", JobState("ended", "TIMEOUT", "time")),
        ("flux", 0, "INACTIVE CANCELED\n", JobState("ended", "CANCELED", "cancelled")),
        ("flux", 0, "INACTIVE FAILED\n", JobState("ended", "FAILED")),
        ("flux", 1, "flux-jobs: ERROR: JobID f7 unknown", JobState("ended", "no longer known to Flux")),
        ("flux", 1, "flux-jobs: ERROR: [Errno 2] Unable to connect to Flux: ENOENT", None),
        ("grid-engine", 0, "job-ID prior\n-----\n  7 0.5 x root qw 11/22/2026\nlooked for 7", JobState("queued", "qw")),
        ("grid-engine", 0, "  7 0.5 x root r 11/22/2026 all.q@n1\nlooked for 7", JobState("running", "r")),
        ("grid-engine", 0, "  7 0.5 x root t 11/22/2026 lab@n1\nlooked for 7", JobState("running", "t")),
        ("grid-engine", 0, "  7 0.5 x root dr 11/22/2026 lab@n1\nlooked for 7", JobState("running", "dr")),
        ("grid-engine", 0, "  7 0.5 x root Eqw 11/22/2026\nlooked for 7",
         JobState("queued", "Eqw (an error keeps it: qstat -j 7 shows which)")),
        ("grid-engine", 0, "looked for 7", JobState("ended", "no longer in the queue")),
        ("grid-engine", 1, "error: commlib error: got select error (Connection refused)", None),
        ("ssh", 0, "", JobState("running", "running")),
        ("ssh", 1, "", JobState("ended", "ended")),
    ],
)  # fmt: skip
def test_output_of_a_scheduler_is_a_job_state(name: str, exit_code: int, sentence: str, state: JobState | None) -> None:
    assert schedulers.find_schedulers()[name].state(exit_code, sentence) == state


def read_answers(name: str) -> dict[str, tuple[int, str]]:
    """Return exit code and output of each command in a recorded dialogue with a scheduler."""
    parts = re.split(r"(?m)^\$ (.+)$", (RECORDED / name).read_text())[1:]
    answers = zip(parts[::2], parts[1::2], strict=True)
    return {command: (int(text.rpartition("rc=")[2]), text.rpartition("rc=")[0]) for command, text in answers}


def test_a_recorded_job_that_was_deleted_was_cancelled() -> None:
    answers = read_answers("pbs-answers-with-history.txt")
    text = answers["qstat -f 3.head"][1] + answers["qstat -x -f 3.head"][1]
    state = schedulers.find_schedulers()["pbs"].state(answers["qstat -f 3.head"][0], text)
    assert state and (state.phase, state.ending) == ("ended", "cancelled")
    unknown = schedulers.find_schedulers()["pbs"].state(
        *read_answers("pbs-answers-without-history.txt")["qstat -f 0.head"]
    )
    assert unknown == JobState("ended", "no longer known to PBS")


def test_a_recorded_comment_over_several_lines_is_read_whole() -> None:
    """qstat breaks lines near 80 columns, also in the middle of a word."""
    exit_code, text = read_answers("pbs-answers-with-history.txt")["qstat -x -f 3.head"]
    state = schedulers.find_schedulers()["pbs"].state(exit_code, text)
    assert state and state.reason == (
        "F, exit status 0 (Job run at Thu Nov 26 at 20:50 on (n1:ncpus=2)+(n2:ncpus=2) and t)"
    )


@pytest.mark.parametrize(
    ("number", "state"),
    [("ƒ9tN5LoR", JobState("running", "RUN")), ("ƒKCj5aD5", JobState("queued", "SCHED")),
     ("ƒ1111111", JobState("ended", "no longer known to Flux")),
     ("nonsense", JobState("ended", "no longer known to Flux"))],
)  # fmt: skip
def test_recorded_answers_of_flux_are_job_states(number: str, state: JobState) -> None:
    """State and result were recorded with an underscore between them."""
    answers = read_answers("flux-states.txt")
    exit_code, text = answers[f"flux jobs --no-header --format={{state}}_{{result}} {number}"]
    assert schedulers.find_schedulers()["flux"].state(exit_code, text.replace("_", " ", 1)) == state


@pytest.mark.parametrize(("time_s", "warned"), [(0, False), (100, False), (3600, True)])
def test_a_job_of_flux_is_warned_of_its_end(time_s: float, *, warned: bool) -> None:
    lines = schedulers.find_schedulers()["flux"].directives(Job(nodes=1, time_s=time_s), "study", "log")
    assert ("#FLUX: --signal=USR1@60s" in lines) == warned


@pytest.mark.parametrize("name", sorted(schedulers.find_schedulers()))
def test_a_line_end_in_a_text_does_not_end_its_comment(name: str) -> None:
    values = make_script(name)
    lines = [line._replace(title=f"{line.title}\n touch X") for line in values.lines]
    content = render_script(
        values._replace(lines=lines, question="Which?\ntouch X"), schedulers.find_scheduler(values.job)
    )
    assert all(line.startswith("#") for line in content.splitlines() if "touch X" in line)


@pytest.mark.parametrize("name", sorted(set(schedulers.find_schedulers()) - {"ssh"}))
def test_a_line_end_in_a_request_is_refused(name: str) -> None:
    values = make_script(name)
    job = msgspec.structs.replace(values.job, account="a\ntouch X")
    with pytest.raises(RankbenchError, match=r"^'#.*a\\ntouch X.*': not possible in a job script"):
        render_script(values._replace(job=job), schedulers.find_scheduler(values.job))


@pytest.mark.parametrize("name", sorted(set(schedulers.find_schedulers()) - {"ssh"}))
def test_values_with_blanks_are_quoted(name: str) -> None:
    job = Job(nodes=1, tasks_per_node=1, partition="a b")
    lines = schedulers.find_schedulers()[name].directives(job, "my study", "/my results/output.log")
    values = [line for line in lines if "results" in line or "a b" in line]
    assert [line[-len(value) :] for line, value in zip(values, ('"/my results/output.log"', '"a b"'), strict=True)] == [
        '"/my results/output.log"',
        '"a b"',
    ]
    assert not any(line.endswith("my study") for line in lines)
    with pytest.raises(RankbenchError, match="no scheduler takes blanks together with quotes"):
        schedulers.find_schedulers()[name].directives(job, "study", '/my "results"/output.log')


def test_a_launcher_s_file_is_written_literally(tmp_path: Path) -> None:
    content = "a $(touch X) `touch X` \\ $HOME\n"
    function = write_file_line("file.txt", content)
    subprocess.run(["bash", "-c", f"out=.\n{function}\n"], cwd=tmp_path, check=True)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"file.txt": content}


@pytest.mark.parametrize(
    ("job", "options"),
    [
        (Job(nodes=1), ["--mem=0"]),
        (Job(nodes=1, exclusive=False), []),
        (Job(nodes=1, memory="64G"), ["--mem=64G"]),
        (Job(nodes=1, memory="64G", exclusive=False), ["--mem=64G"]),
        (Job(nodes=1, memory="site"), []),
    ],
)
def test_exclusive_nodes_of_slurm_come_with_their_memory(job: Job, options: list[str]) -> None:
    lines = schedulers.find_schedulers()["slurm"].directives(job, "study", "log")
    assert [line.removeprefix("#SBATCH ") for line in lines if "--mem" in line] == options


@pytest.mark.parametrize(
    ("name", "called"),
    [("study", "study"), ("2 nodes", "r2_nodes"), ("a:b/c@d*e?f\\g", "a_b_c_d_e_f_g"), ("_x", "r_x")],
)
def test_names_become_valid_for_grid_engine(name: str, called: str) -> None:
    lines = schedulers.find_schedulers()["grid-engine"].directives(Job(nodes=1), name, "/my results/output.log")
    assert (lines[0], lines[3]) == (f"#$ -N {called}", '#$ -o "/my results/output.log"')


@pytest.mark.parametrize(("folder", "called"), [("/my results/2 nodes", "r2_nodes"), ("/r/a b", "a_b")])
@pytest.mark.parametrize("name", sorted(set(schedulers.find_schedulers()) - {"ssh"}))
def test_names_and_logs_with_blanks_are_replaced_or_quoted(name: str, folder: str, called: str) -> None:
    values = make_script(name)._replace(campaign=Path(folder))
    heads = [
        line
        for line in render_script(values, schedulers.find_scheduler(values.job)).splitlines()
        if line.startswith("#")
    ]
    assert any(re.search(rf"[ =]{called}$", line) for line in heads)
    assert any(f'{folder}/job/scheduler.log"' in line for line in heads) == (" " in folder)


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("n1,n2", ["n1", "n2"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("a[08-10,12]-ib, b1", ["a08-ib", "a09-ib", "a10-ib", "a12-ib", "b1"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("", []),
    ],
)
def test_ranges_of_nodes_are_their_names(text: str, hosts: list[str]) -> None:
    assert schedulers.list_hosts(Job(nodelist=text)) == hosts


def test_a_missing_command_is_reported() -> None:
    with refuses():
        job_commands.run_command(["no-such-qstat", "-f"])


@pytest.mark.parametrize("suffix", ["", ":64"])
def test_a_list_of_many_nodes_is_short_in_the_script(suffix: str) -> None:
    listed = ",".join(f"__NODE_{number}__{suffix}" for number in range(3, 1001))
    text = insert_nodes(f"-H {listed} -n 998")
    assert len(text) < 50
    names = " ".join(f"n{number:04}" for number in range(1000))
    function = re.search(r"(?ms)^join_nodes\(\) .*?^}", FUNCTIONS.read_text())
    assert function
    script = f'node=({names})\n{function[0]}\necho "{text}"'
    printed = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
    assert printed == f"-H {','.join(f'n{number:04}{suffix}' for number in range(2, 1000))} -n 998\n"


def test_lists_of_few_nodes_and_in_another_order_are_written_out() -> None:
    assert insert_nodes("__NODE_1__,__NODE_2__") == "${node[0]},${node[1]}"
    order = [1, 3, 2, 4, 5, 6, 7, 8, 9]
    assert insert_nodes(",".join(f"__NODE_{number}__" for number in order)) == ",".join(
        f"${{node[{number - 1}]}}" for number in order
    )
