"""A small process that runs one command and leaves no process behind, whatever happens to rankbench.

It stands outside rankbench's process group and adopts every process whose parent ends (PR_SET_CHILD_SUBREAPER): ranks
whose launcher was killed, or that moved into sessions of their own, are still its descendants. Standard input is its
life line: one line of JSON tells what to run; end of file means that rankbench is gone or wants to stop. It prints one
line of JSON at the end. It needs the standard library only and is started by its path.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PR_SET_CHILD_SUBREAPER = 36
LOOK_S = 1.0
"""Time between two looks at the watched file. Few, since the ranks may need every core."""
GRACE_S = 2.0
"""Time to end in after SIGTERM, before SIGKILL."""
PAUSE_S = 0.01


def main() -> None:
    """Run the command told on standard input and print how it ended."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    line = sys.stdin.readline()
    if not line:
        return
    step = json.loads(line)
    began = time.monotonic()
    try:
        child = start(step)
    except (OSError, ValueError) as error:
        print(json.dumps({"error": refusal(step, error)}))  # noqa: T201 - this is its protocol
        return
    hung = wait(child, Path(step["watch"]), step["limit_s"])
    duration_s = time.monotonic() - began
    end_all()
    child.poll()
    reap()
    outcome = {"exit_code": None if hung else child.returncode, "hung": hung, "duration_s": duration_s}
    with contextlib.suppress(BrokenPipeError):
        print(json.dumps(outcome), flush=True)  # noqa: T201


def start(step: dict[str, Any]) -> subprocess.Popen[bytes]:
    """Start the command in a session of its own, its output going to a file."""
    with Path(step["output"]).open("wb") as output:
        return subprocess.Popen(
            step["arguments"],
            env=os.environ | step["environment"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def refusal(step: dict[str, Any], error: OSError | ValueError) -> str:
    """Return why the command was not started; ValueError is for arguments or names that no process can be given."""
    if isinstance(error, OSError):
        return f"{error.filename or step['arguments'][0]}: {error.strerror}"
    return f"{step['arguments'][0]}: cannot be given these arguments and settings ({error})"


def wait(child: subprocess.Popen[bytes], watch: Path, limit_s: float) -> bool:
    """Wait until the command ends or rankbench wants it to; return whether the watched file stopped changing before."""
    poll = select.poll()
    with contextlib.suppress(AttributeError, OSError):  # Before Linux 5.3 the child is asked at every look instead.
        poll.register(os.pidfd_open(child.pid), select.POLLIN)
    poll.register(sys.stdin, select.POLLIN | select.POLLHUP)
    changed, state = time.monotonic(), (-1, 0)
    while not poll.poll(1000 * min(LOOK_S, limit_s / 4)) and child.poll() is None:
        facts = watch.stat() if watch.exists() else None
        now = (facts.st_size, facts.st_mtime_ns) if facts else (0, 0)
        if now != state:
            changed, state = time.monotonic(), now
        if time.monotonic() - changed > limit_s:
            return True
    return False


def end_all() -> None:
    """End every descendant: politely first, so that launchers can tidy up, then for certain."""
    signal_all(signal.SIGTERM)
    patient_until = time.monotonic() + GRACE_S
    while descendants():
        if time.monotonic() > patient_until:
            signal_all(signal.SIGKILL)
        time.sleep(PAUSE_S)


def reap() -> None:
    """Collect the ended processes that were adopted; not every container has an init that would."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def signal_all(number: signal.Signals) -> None:
    """Send a signal to every descendant."""
    for pid in descendants():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def descendants() -> list[int]:
    """Return the processes below this one that still run."""
    parents = dict(filter(None, map(parent, Path("/proc").glob("[0-9]*"))))
    found: list[int] = []
    generation = {os.getpid()}
    while generation := {pid for pid, above in parents.items() if above in generation}:
        found += generation
    return found


def parent(folder: Path) -> tuple[int, int] | None:
    """Return a process and its parent, or nothing for one that has ended."""
    try:
        state, above = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
    except (OSError, ValueError):
        return None
    return None if state in "ZX" else (int(folder.name), int(above))


if __name__ == "__main__":
    main()
