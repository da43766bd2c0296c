"""A stand-in for the commands of every scheduler: jobs run here immediately, on nodes that are only names.

`install` puts the commands of one scheduler into a folder for PATH. Each calls this file, by its path, with the kind
of scheduler, the folder of its jobs, and its own name and arguments. It needs only the standard library.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

COMMANDS = {
    "slurm": ("sbatch", "scontrol", "scancel", "squeue", "sinfo"),
    "pbs": ("qsub", "qstat", "qdel"),
    "lsf": ("bsub", "bjobs", "bkill"),
    "flux": ("flux",),
    "grid-engine": ("qsub", "qstat", "qdel"),
    "ssh": (),
}
NODES = ("a1", "a2", "a3", "a4")
STATES = {  # running, ended successfully, ended otherwise
    "slurm": ("JobId={} JobState=RUNNING Reason=None", "JobId={} JobState=COMPLETED Reason=None",
              "JobId={} JobState=NODE_FAIL Reason=NodeDown"),
    "pbs": ("Job Id: {}\n    job_state = R\n", "Job Id: {}\n    job_state = F\n    Exit_status = 0\n",
            "Job Id: {}\n    job_state = F\n    Exit_status = 271\n"),
    "lsf": ("RUN -", "DONE -", "EXIT TERM_OWNER: job killed by owner"),
    "flux": ("RUN ", "INACTIVE COMPLETED", "INACTIVE FAILED"),
    "grid-engine": ("  {} 0.55500 plan  root  r  11/22/2026 02:00:00 all.q@a1  2", "", ""),
}  # fmt: skip


def install(kind: str, folder: Path) -> dict[str, str]:
    """Put the commands of a scheduler into a folder; return the environment in which they are found."""
    (folder / "jobs").mkdir(parents=True)
    for name in COMMANDS[kind]:
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{__file__}" {kind} "{folder}" {name} "$@"\n')
        program.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def write_node_file(path: Path, tasks: int) -> str:
    """Write a file of nodes in which each occurs once for each of its tasks."""
    path.write_text("".join(f"{node}\n" for node in NODES for _ in range(tasks)))
    return str(path)


def make_environment(kind: str, folder: Path, number: str) -> dict[str, str]:
    """Return the variables that a scheduler sets in a job."""
    nodes = folder / "jobs" / f"{number}.nodes"
    return {
        "slurm": {"SLURM_JOB_ID": number, "SLURM_JOB_NODELIST": "a[1-4]"},
        "pbs": {"PBS_JOBID": number, "PBS_NODEFILE": write_node_file(nodes, 2)},
        "lsf": {"LSB_JOBID": number, "LSB_DJOB_HOSTFILE": write_node_file(nodes, 2)},
        "flux": {"FLUX_JOB_ID": number},
        "grid-engine": {"JOB_ID": number, "PE_HOSTFILE": write_node_file(nodes, 1)},
    }[kind]


def submit(kind: str, folder: Path, script: str) -> str:
    """Run a script in the background; return the job's number, or end as a scheduler does that rejects it."""
    import re  # The frequent requests for a job's state need neither module.
    import subprocess

    if (folder / "refuses").exists():
        sys.exit((folder / "refuses").read_text())
    number = str(101 + len(list((folder / "jobs").glob("*.pid"))))
    log = re.search(r"(?m)^#\S+ (?:--output=|-o )(\S+)$", Path(script).read_text())
    assert log
    command = f'bash "{script}"; echo $? >"{folder}/jobs/{number}.ended"'
    with Path(log[1]).open("ab") as output:
        process = subprocess.Popen(
            ["bash", "-c", command],
            env=os.environ | make_environment(kind, folder, number),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    (folder / "jobs" / f"{number}.pid").write_text(str(process.pid))
    return number


def read_state(kind: str, folder: Path, number: str) -> str:
    """Return the scheduler's output on the state of a job."""
    running, well, otherwise = STATES[kind]
    pid, ended = int((folder / "jobs" / f"{number}.pid").read_text()), folder / "jobs" / f"{number}.ended"
    if ended.exists():
        return (well if ended.read_text().strip() == "0" else otherwise).format(number)
    return (running if any(map(make_test_of_life(pid), Path("/proc").glob("[0-9]*/stat"))) else otherwise).format(
        number
    )


def is_running(kind: str, folder: Path, number: str) -> bool:
    """Return whether a job still runs."""
    return read_state(kind, folder, number) == STATES[kind][0].format(number)


def refuse_ended(folder: Path, number: str) -> None:
    """Answer as qstat does for an ended job: by default a server no longer knows it."""
    if "job_state = F" in read_state("pbs", folder, number):
        if (folder / "no-history").exists():
            refuse(153, f"qstat: Unknown Job Id {number}.server")
        refuse(35, f"qstat: {number}.server Job has finished, use -x or -H to obtain historical job information")


def refuse(code: int, text: str) -> NoReturn:
    """End with an exit code and a line."""
    print(text, file=sys.stderr)
    sys.exit(code)


def make_test_of_life(group: int) -> Callable[[Path], bool]:
    """Return a test whether a process belongs to a group and still runs: a script may outlive its parent."""

    def lives(stat: Path) -> bool:
        try:
            state, _, process_group = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            return False
        return int(process_group) == group and state not in "ZX"

    return lives


def cancel(folder: Path, number: str) -> None:
    """End a job as a scheduler does: all its processes get a signal at once."""
    os.killpg(int((folder / "jobs" / f"{number}.pid").read_text()), signal.SIGTERM)


def main(kind: str, place: str, name: str, *words: str) -> str:
    """Run a command and return its output."""
    folder = Path(place)
    if (folder / "gone").exists():
        sys.exit(f"{name}: error: cannot connect to the server")
    if words[:2] == ("show", "hostnames"):
        return "\n".join(NODES)
    if name == "flux" and words[0] == "hostlist":
        return "\n".join(NODES)
    if name == "flux" and words[0] == "batch":
        return f"f{submit(kind, folder, words[1])}"
    if name in {"sbatch", "qsub"}:
        return submit(kind, folder, words[-1]) + (".server" if kind == "pbs" else "")
    if name == "bsub":
        script = folder / "jobs" / "script"
        script.write_text(sys.stdin.read())
        return f"Job <{submit(kind, folder, str(script))}> is submitted to default queue <normal>."
    if name == "sinfo":
        lost = folder / "lost"
        return "down*" if lost.exists() and f"--nodes={lost.read_text()}" in words else "allocated"
    if name == "squeue":
        return ""
    number = words[-1].removeprefix("f").partition(".")[0]
    if name in {"scancel", "qdel", "bkill"} or words[0] == "cancel":
        cancel(folder, number)
        return ""
    if kind == "pbs" and words[0] != "-x":
        refuse_ended(folder, number)
    elif kind == "pbs" and (folder / "no-history").exists():
        refuse(34, "qstat: PBS is not configured to maintain job history")
    if words[-1] == "*":
        return "\n".join(read_state(kind, folder, path.stem) for path in (folder / "jobs").glob("*.pid"))
    return read_state(kind, folder, number)


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
