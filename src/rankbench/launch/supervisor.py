"""A small process that runs one command and leaves no process behind, whatever happens to rankbench.

It stands outside rankbench's process group and adopts every process whose parent ends (PR_SET_CHILD_SUBREAPER): ranks
whose launcher was killed, or that moved into sessions of their own, are still its descendants. Standard input has one
line of JSON, the order; end of file means that rankbench is gone or wants to stop. It prints one line of JSON at the
end. It needs the standard library only and is started by its path.

It is two processes: one that does this, and its parent, which does it in its place if it is killed. If both are, the
kernel kills the launcher, and rankbench adopts and ends what is left (`launch/local.py`).
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
import threading
import time
from pathlib import Path

TYPE_CHECKING = False  # As type checkers know it; typing would be a tenth of the start.
if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO
    from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
SHARED = "/dev/shm/"  # noqa: S108 - only files that the descendants made there are removed
POLL_S = 1.0
"""Time between two looks at the watched file: long, since the ranks may need every core."""
TIDY_S = 0.5
"""Time that the launcher has to end its ranks and to tidy up, before they get SIGTERM too."""
GRACE_S = 2.0
"""Time to end in after SIGTERM, before SIGKILL."""
PAUSE_S = 0.01
END = b'{"record":"end"'
"""How the last line of the core's stream begins: all was measured, and only MPI_Finalize is left."""
END_S = 5.0
"""Time without a change that a command has to end in after that line."""
OUTPUT_BYTES = 1 << 20
"""How much of a command's output is kept of its beginning, and of its end."""
OMISSION = b"\n[rankbench left out %d bytes of output here]\n"
LINE_BYTES = 65536
"""More than the last line has."""


def main() -> None:
    """Supervise a command in a child process, and end what that leaves if it is killed."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    child = os.fork()
    if not child:
        supervise()
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        end_all(descendants)
        reap()
    if code < 0:
        os.kill(os.getpid(), -code)  # So that rankbench sees how it ended.
    sys.exit(code)


def supervise() -> None:
    """Run the command of the order on standard input and print how it ended."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    line = sys.stdin.readline()
    if not line:
        return
    step = json.loads(line)
    began = time.monotonic()
    try:
        child, copier = start(step)
    except (OSError, ValueError) as error:
        write_answer({"error": explain_refusal(step, error)})
        return
    hung = wait(child, Path(step["watch"]), step["limit_s"], step.get("heartbeat"))
    duration_s = time.monotonic() - began
    end_all(descendants, child)
    child.poll()
    reap()
    copier.join(GRACE_S)
    outcome = {"exit_code": None if hung else child.returncode, "hung": hung, "duration_s": duration_s}
    write_answer(outcome | {"output_bytes": copier.copied})


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process; prctl(2)."""
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def write_answer(message: dict[str, Any]) -> None:
    """Write a line to standard output, without a buffer that Python would flush again after rankbench is gone."""
    with contextlib.suppress(BrokenPipeError):
        os.write(1, json.dumps(message).encode() + b"\n")


class OutputCopier(threading.Thread):
    """Copies what a pipe brings to a file, the beginning and the end of it, and counts all of it.

    A command that prints without end must fill neither disk nor memory. The file's time of change shows that it still
    prints. A disk that takes no more must not keep the command waiting.
    """

    def __init__(self, source: int, output: FileIO) -> None:
        super().__init__(daemon=True)
        self._source, self._output = source, output
        self.copied = 0

    def run(self) -> None:
        """Copy until the pipe ends, and say how much was left out between beginning and end."""
        room, end, touched = OUTPUT_BYTES, bytearray(), time.monotonic()
        while data := os.read(self._source, 1 << 16):
            self.copied += len(data)
            with contextlib.suppress(OSError):
                self._output.write(data[:room])
            end += data[room:]
            room = max(0, room - len(data))
            if len(end) > 2 * OUTPUT_BYTES:
                del end[:-OUTPUT_BYTES]
            if time.monotonic() - touched > POLL_S:
                touched = time.monotonic()
                os.utime(self._output.fileno())
        if self.copied > 3 * OUTPUT_BYTES:
            del end[:-OUTPUT_BYTES]
        omitted = self.copied - OUTPUT_BYTES + room - len(end)
        with contextlib.suppress(OSError), self._output as output:
            output.write((OMISSION % omitted if omitted else b"") + end)
        os.close(self._source)


def start(step: dict[str, Any]) -> tuple[subprocess.Popen[bytes], OutputCopier]:
    """Start the command in a session of its own, and a thread that copies its output to a file.

    The command is killed when this process is.
    """
    supervisor = os.getpid()

    def die_with_supervisor() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:  # It was killed just before.
            os._exit(1)

    output = Path(step["output"]).open("wb", buffering=0)  # noqa: SIM115 - the thread closes it
    source, into = os.pipe()
    try:
        child = subprocess.Popen(
            step["arguments"],
            env=os.environ | step["environment"],
            stdin=subprocess.DEVNULL,
            stdout=into,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_supervisor,
        )
    finally:
        os.close(into)
    copier = OutputCopier(source, output)
    copier.start()
    return child, copier


def explain_refusal(step: dict[str, Any], error: OSError | ValueError) -> str:
    """Return why the command was not started; ValueError is for arguments or names that no process can be given."""
    if isinstance(error, OSError):
        return f"{error.filename or step['arguments'][0]}: {error.strerror}"
    return f"{step['arguments'][0]}: cannot be given these arguments and settings ({error})"


def read_heartbeat(heartbeat: tuple[str, int] | None) -> bytes:
    """Return a number that changes while the command lives, as it stands in memory that is a file."""
    if not heartbeat:
        return b""
    try:
        with Path(heartbeat[0]).open("rb", buffering=0) as page:
            return os.pread(page.fileno(), 4, heartbeat[1])
    except OSError:
        return b""


def wait(child: subprocess.Popen[bytes], watch: Path, limit_s: float, heartbeat: tuple[str, int] | None = None) -> bool:
    """Wait until the command ends or rankbench wants it to; return whether it stopped giving signs of life before."""
    poll = select.poll()
    with contextlib.suppress(AttributeError, OSError):  # Before Linux 5.3 the child is asked at every look instead.
        poll.register(os.pidfd_open(child.pid), select.POLLIN)
    poll.register(sys.stdin, select.POLLIN | select.POLLHUP)
    pause_s = min(POLL_S, limit_s / 4)
    polled, still_s, state = time.monotonic(), 0.0, (-1, 0, b"")
    while not poll.poll(1000 * pause_s) and child.poll() is None:
        facts = watch.stat() if watch.exists() else None
        now = (*((facts.st_size, facts.st_mtime_ns) if facts else (0, 0)), read_heartbeat(heartbeat))
        # If the look itself is late, all processes may have been stopped: the launch could give no sign then.
        still_s = 0.0 if now != state else still_s + min(time.monotonic() - polled, 2 * pause_s)
        polled, state = time.monotonic(), now
        if still_s > limit_s or (still_s > END_S and is_complete(watch)):
            return True
    return False


def is_complete(watch: Path) -> bool:
    """Return whether the watched file is a stream with all its records."""
    try:
        with watch.open("rb") as stream:
            stream.seek(max(0, watch.stat().st_size - LINE_BYTES))
            return stream.read().rstrip(b"\n").rpartition(b"\n")[2].startswith(END)
    except OSError:
        return False


def end_all(find: Callable[[], list[int]], launcher: subprocess.Popen[bytes] | None = None) -> None:
    """End all processes found: first the launcher, which can tidy up, then all politely, then for certain.

    What they leave in /dev/shm is removed.
    """
    pids = find() or find()  # The child of a process that ends during a look may be missed by it.
    if not pids:  # As after most launches.
        return
    shared = {entry for pid in pids for entry in list_mapped(pid)}
    if launcher and launcher.poll() is None:
        launcher.terminate()
        wait_for_end(find, TIDY_S)
    signal_all(find(), signal.SIGTERM)
    wait_for_end(find, GRACE_S)
    while pids := find():
        signal_all(pids, signal.SIGKILL)
        time.sleep(PAUSE_S)
    remove(shared)


def wait_for_end(find: Callable[[], list[int]], limit_s: float) -> None:
    """Wait until no process is found any more, or the time is over."""
    until = time.monotonic() + limit_s
    while find() and time.monotonic() < until:
        time.sleep(PAUSE_S)


def list_mapped(pid: int) -> set[tuple[str, int]]:
    """Return path and inode of each file in /dev/shm that a process has mapped and that still has its name."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines()
    except OSError:
        return set()
    fields = (line.split(maxsplit=5) for line in lines if SHARED in line and not line.endswith(" (deleted)"))
    return {(words[5], int(words[4])) for words in fields if words[5].startswith(SHARED)}


def remove(shared: set[tuple[str, int]]) -> None:
    """Remove files of this user that no process maps any more. Nothing is read where there are none left."""
    entries = {(path, inode) for path, inode in shared if is_own(path, inode)}
    if entries:
        entries -= {entry for folder in Path("/proc").glob("[0-9]*") for entry in list_mapped(int(folder.name))}
    for path, _ in entries:
        with contextlib.suppress(OSError):
            Path(path).unlink()


def is_own(path: str, inode: int) -> bool:
    """Return whether a path still is that file, and this user's."""
    try:
        facts = os.lstat(path)
    except OSError:
        return False
    return (facts.st_ino, facts.st_uid) == (inode, os.getuid())


def reap() -> None:
    """Collect the ended processes that were adopted; not every container has an init that would."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def signal_all(pids: list[int], number: signal.Signals) -> None:
    """Send a signal to processes."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def descendants() -> list[int]:
    """Return the processes below this one that still run."""
    return find_descendants({os.getpid()}, list_parents())


def list_parents() -> dict[int, int]:
    """Return the parent of every process that has not ended."""
    return dict(filter(None, map(parent, filter(str.isdigit, os.listdir("/proc")))))  # noqa: PTH208 - pathlib takes longer


def find_descendants(ancestors: set[int], parents: dict[int, int]) -> list[int]:
    """Return the processes that have one of these above them."""
    pids: list[int] = []
    generation = ancestors
    while generation := {pid for pid, above in parents.items() if above in generation}:
        pids += generation
    return pids


def parent(pid: str) -> tuple[int, int] | None:
    """Return a process and its parent, or nothing for one that has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:  # noqa: PTH123 - there are hundreds
            state, above = stat.read().rpartition(b")")[2].split()[:2]
    except (OSError, ValueError):
        return None
    return None if state in b"ZX" else (int(pid), int(above))


if __name__ == "__main__":
    main()
