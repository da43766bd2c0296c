"""A stand-in for the commands of every scheduler: jobs run here immediately, on nodes that are only names.

PBS and Flux answer as the real ones were seen to do; the texts are in `tests/recorded/schedulers`. Files in the folder
change what happens: `gone` (no server), `refuses`, `full` (jobs wait), `lost` (a node without power), `no-history`.

`install` puts the commands of one scheduler into a folder for PATH. Each imports this file, so that Python compiles it
once, and calls it with the kind of scheduler, the folder of its jobs, and its own name and arguments. It needs only the
standard library.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

TYPE_CHECKING = False  # For type checkers; importing typing takes a tenth of the start.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

COMMANDS = {
    "slurm": ("sbatch", "scontrol", "scancel", "squeue", "sinfo"),
    "pbs": ("qsub", "qstat", "qdel", "pbsnodes", "pbs_tmrsh", "ssh"),
    "lsf": ("bsub", "bjobs", "bkill", "bhosts"),
    "flux": ("flux", "ssh"),
    "grid-engine": ("qsub", "qstat", "qdel"),
    "ssh": (),
}
NUMBER = "101"
NUMBERS = {"pbs": "101.server", "flux": "ƒ101"}
"""How a job's number is printed where it is more than a number."""
NODES = ("a1", "a2", "a3", "a4")
RECORDED = Path(__file__).parents[1] / "recorded" / "schedulers"
STATES = {  # running, ended successfully, ended otherwise
    "slurm": ("JobId={} JobState=RUNNING Reason=None", "JobId={} JobState=COMPLETED Reason=None",
              "JobId={} JobState=NODE_FAIL Reason=NodeDown"),
    "pbs": ("R", "    substate = 92\n    Exit_status = 0\n", "    substate = 93\n    Exit_status = 271\n"),
    "lsf": ("RUN -", "DONE -", "EXIT TERM_OWNER: job killed by owner"),
    "flux": ("RUN ", "INACTIVE COMPLETED", "INACTIVE FAILED"),
    "grid-engine": ("  {} 0.55500 plan  root  r  11/22/2026 02:00:00 all.q@a1  2", "", ""),
}  # fmt: skip
QUEUED = {"pbs": "Q", "flux": "SCHED "}
CANCELLED = {"pbs": "    substate = 91\n    Exit_status = 0\n", "flux": "INACTIVE CANCELED",
             "slurm": "JobId={} JobState=CANCELLED Reason=None"}  # fmt: skip
SIGNALS = {"flux": (signal.SIGTERM, signal.SIGHUP)}
"""Flux sends both at once; all others only the first."""
START = "import sys; sys.path.append(sys.argv[1]); import scheduler; print(scheduler.main(*sys.argv[2:]))"
TMRSH_USAGE = "usage: pbs_tmrsh [-n][-l username] host [-n][-l username] command"


def install(kind: str, folder: Path) -> dict[str, str]:
    """Put the commands of a scheduler into a folder; return the environment in which they are found."""
    (folder / "jobs").mkdir(parents=True)
    (folder / "kind").write_text(kind)
    for name in COMMANDS[kind]:
        program = folder / name
        call = f'"{sys.executable}" -I -S -c "{START}" "{Path(__file__).parent}" {kind} "{folder}" {name}'
        program.write_text(f'#!/bin/sh\nexec {call} "$@"\n')
        program.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def write_node_file(path: Path, tasks: int) -> str:
    """Write a file of nodes in which each occurs once for each of its tasks."""
    path.write_text("".join(f"{node}\n" for node in NODES for _ in range(tasks)))
    return str(path)


def make_environment(kind: str, folder: Path, number: str, tasks: int) -> dict[str, str]:
    """Return the variables that a scheduler sets in a job with so many tasks on a node.

    Where launchers know nothing of a scheduler, they use ssh.
    """
    nodes = folder / "jobs" / f"{number}.nodes"
    return {
        "slurm": {"SLURM_JOB_ID": number, "SLURM_JOB_NODELIST": "a[1-4]"},
        "pbs": {"PBS_JOBID": f"{number}.server", "PBS_NODEFILE": write_node_file(nodes, tasks), "NCPUS": "2",
                "OMP_NUM_THREADS": "2", "PBS_JOBCOOKIE": "0123456789ABCDEF", "FAKE_REMOTE": "ssh"},
        "lsf": {"LSB_JOBID": number, "LSB_DJOB_HOSTFILE": write_node_file(nodes, 2)},
        "flux": {"FLUX_ENCLOSING_ID": f"ƒ{number}", "FLUX_URI": "local:///tmp/flux/local-0", "FAKE_REMOTE": "ssh"},
        "grid-engine": {"JOB_ID": number, "PE_HOSTFILE": write_node_file(nodes, 1)},
    }[kind]  # fmt: skip


def submit(kind: str, folder: Path, script: str) -> str:
    """Run a script in the background; return the job's number, or end as a scheduler does that rejects it."""
    import re  # The frequent requests for a job's state need neither module.
    import subprocess

    if (folder / "refuses").exists():
        sys.exit((folder / "refuses").read_text())
    number = str(101 + len(list((folder / "jobs").glob("*.pid"))))
    text = Path(script).read_text()
    log = re.search(r"(?m)^#\S+ (?:--output=|-o )(\S+)$", text)
    assert log
    tasks = re.search(r"mpiprocs=(\d+)", text)
    pid_file = folder / "jobs" / f"{number}.pid"
    if (folder / "full").exists():
        pid_file.write_text("")
        return number
    # PBS copies the output of a job where it belongs when the job has ended.
    spool = folder / "jobs" / f"{number}.output" if kind == "pbs" else Path(log[1])
    copying = f'cp "{spool}" "{log[1]}"' if kind == "pbs" else ":"
    ended = folder / "jobs" / f"{number}.ended"
    command = f'trap : TERM HUP ALRM USR1; bash "{script}"; code=$?; {copying}; echo $code >"{ended}"'
    with spool.open("ab") as output:
        process = subprocess.Popen(
            ["bash", "-c", command],
            env=os.environ | make_environment(kind, folder, number, int(tasks[1]) if tasks else 1),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    pid_file.write_text(str(process.pid))
    return number


def read_state(kind: str, folder: Path, number: str) -> str:
    """Return the scheduler's output on the state of a job."""
    running, well, otherwise = STATES[kind]
    pid, ended = (folder / "jobs" / f"{number}.pid").read_text(), folder / "jobs" / f"{number}.ended"
    if kind in CANCELLED and (folder / "jobs" / f"{number}.cancelled").exists():
        otherwise = CANCELLED[kind]
    elif not pid:
        return QUEUED[kind]
    if ended.exists():
        return (well if ended.read_text().strip() == "0" else otherwise).format(number)
    lives = pid and any(map(make_test_of_life(int(pid)), Path("/proc").glob("[0-9]*/stat")))
    return (running if lives else otherwise).format(number)


def is_running(kind: str, folder: Path, number: str) -> bool:
    """Return whether a job still runs."""
    return read_state(kind, folder, number) == STATES[kind][0].format(number)


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
    """End a job as a scheduler does: all its processes get the signals at once."""
    (folder / "jobs" / f"{number}.cancelled").touch()
    if pid := (folder / "jobs" / f"{number}.pid").read_text():
        for each in SIGNALS.get((folder / "kind").read_text(), (signal.SIGTERM,)):
            os.killpg(int(pid), each)


def send(folder: Path, number: str, each: signal.Signals) -> None:
    """Send a signal to a job, as Flux does at the end of its time, or before it."""
    os.killpg(int((folder / "jobs" / f"{number}.pid").read_text()), each)


def read_lost(folder: Path) -> str:
    """Return the node without power; empty: all have it."""
    lost = folder / "lost"
    return lost.read_text() if lost.exists() else ""


def execute(folder: Path, host: str, words: tuple[str, ...]) -> NoReturn:
    """Run words on a node, without a shell."""
    if host not in NODES or host == read_lost(folder):
        refuse(254, f"{host}: no such host in this job, or it does not answer")
    try:
        os.execvp(words[0], words)
    except OSError as error:
        refuse(255, f"{words[0]}: {error.strerror}")


def run_remotely(folder: Path, words: tuple[str, ...]) -> NoReturn:
    """Run words on a node as pbs_tmrsh does, which knows two options, and prints nothing that the words print."""
    while words[0] in {"-n", "-l"}:
        words = words[1:] if words[0] == "-n" else words[2:]
    if words[0].startswith("-") or len(words) == 1:
        refuse(1, TMRSH_USAGE)
    for descriptor in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    execute(folder, words[0], words[1:])


def answer_pbs(folder: Path, name: str, *words: str) -> str:
    """Answer as the commands of PBS do. By default a server forgets its jobs when they end, and refuses no `-x`."""
    if name == "pbs_tmrsh":
        run_remotely(folder, words)
    if name == "pbsnodes":
        text = (RECORDED / "pbs-node-without-power.txt").read_text()
        return "\n".join(text.replace("n2", node) for node in words)
    number = words[-1].partition(".")[0]
    if not number.isdigit():
        refuse(170, f"{name}: Unknown queue destination {words[-1]}")
    identifier, history = f"{number}.server", not (folder / "no-history").exists()
    known = (folder / "jobs" / f"{number}.pid").exists()
    state = read_state("pbs", folder, number) if known else ""
    if state in {"Q", "R"}:
        if name == "qdel":
            cancel(folder, number)
            return ""
        return read_recorded({"Q": "pbs-queued.txt", "R": "pbs-running.txt"}[state]).replace("0.head", identifier)
    if "-x" in words and not history:
        print(f"qstat: PBS is not configured to maintain job history {identifier}", file=sys.stderr)
        return ""
    if not history or not known:
        refuse(153, f"{name}: Unknown Job Id {identifier}")
    if "-x" not in words:
        refuse(35, f"{name}: {identifier} Job has finished, use -x or -H to obtain historical job informat\n\tion")
    ended = read_recorded("pbs-running.txt").replace("0.head", identifier).replace("job_state = R", "job_state = F")
    return ended.replace("    substate = 42\n", state)


def read_recorded(name: str) -> str:
    """Return a recorded answer about job 0.head."""
    return (RECORDED / name).read_text().replace("2.head", "0.head")


def answer_flux(folder: Path, *words: str) -> str:
    """Answer as the commands of Flux do; ranks of a job's instance are the places of its nodes."""
    command, last = words[0], words[-1]
    if command == "batch":
        return f"ƒ{submit('flux', folder, last)}"
    if command == "hostlist":
        return "\n".join(NODES) if last == "local" else last
    if command == "getattr":
        return os.environ.get("FLUX_ENCLOSING_ID", "") or refuse(1, "flux-getattr: jobid: No such file or directory")
    if command == "overlay":
        return str(NODES.index(last)) if last in NODES else refuse(1, f"flux-overlay: {last} not found")
    if command == "exec":
        options = [word for word in words[1:] if word.startswith("--")]
        rank = next(option.partition("=")[2] for option in options if option.startswith("--rank="))
        execute(folder, NODES[int(rank)], words[1 + len(options) :])
    if command == "resource":  # In the instance of a job, a lost node is offline, and no more among the resources.
        return read_lost(folder) if words[1] == "status" and "--states=offline" in words else ""
    number = last.removeprefix("ƒ")
    if not number.isalnum():
        refuse(2, f"usage: flux-jobs [-h] [-a]\nflux-jobs: error: argument JOBID: invalid JobID value: '{last}'")
    if not (folder / "jobs" / f"{number}.pid").exists():
        refuse(1, f"JobID {last} unknown")
    if command == "cancel":
        cancel(folder, number)
        return ""
    return read_state("flux", folder, number)


def answer_lsf(folder: Path, name: str, *words: str) -> str:
    """Answer as the commands of LSF do."""
    if name == "bsub":
        script = folder / "jobs" / "script"
        script.write_text(sys.stdin.read())
        return f"Job <{submit('lsf', folder, str(script))}> is submitted to default queue <normal>."
    if name == "bhosts":
        lost = read_lost(folder)
        lines = [f"{node} {'unreach' if node == lost else 'ok'} - 2 0 0 0 0 0" for node in words[1:]]
        return "\n".join(["HOST_NAME STATUS JL/U MAX NJOBS RUN SSUSP USUSP RSV", *lines])
    if name == "bkill":
        cancel(folder, words[-1])
        return ""
    return read_state("lsf", folder, words[-1])


def main(kind: str, place: str, name: str, *words: str) -> str:
    """Run a command and return its output."""
    folder = Path(place)
    if (folder / "gone").exists():
        sys.exit(f"{name}: error: cannot connect to the server")
    with (folder / "calls").open("a") as calls:
        calls.write(f"{name} {' '.join(words)}\n")
    if name == "ssh":
        refuse(255, f"ssh: connect to host {words[-1]} port 22: Connection refused")
    if name == "flux":
        return answer_flux(folder, *words)
    if kind == "lsf":
        return answer_lsf(folder, name, *words)
    if words[:2] == ("show", "hostnames"):
        return "\n".join(NODES)
    if name in {"sbatch", "qsub"}:
        return submit(kind, folder, words[-1]) + (".server" if kind == "pbs" else "")
    if kind == "pbs":
        return answer_pbs(folder, name, *words)
    if name == "sinfo":
        lost = read_lost(folder)
        return "\n".join(f"{node} {'down*' if node == lost else 'allocated'}" for node in NODES)
    if name == "squeue":
        return ""
    if name in {"scancel", "qdel"}:
        cancel(folder, words[-1])
        return ""
    if words[-1] == "*":
        return "\n".join(read_state(kind, folder, path.stem) for path in (folder / "jobs").glob("*.pid"))
    return read_state(kind, folder, words[-1])
