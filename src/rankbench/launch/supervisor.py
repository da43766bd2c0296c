"""A small process that runs one command and leaves no process behind, whatever happens to rankbench.

It is outside rankbench's process group and adopts every process whose parent ends (PR_SET_CHILD_SUBREAPER). So ranks
whose launcher was killed, or that have their own sessions, remain its descendants. It reads the step from standard
input, as `marshal` writes it; end of file means that rankbench has ended or wants to stop. At the end it writes how the
step ended, in the same way. Each launch starts one: it is found by its path, and loads little of the standard library.

It consists of two processes: the child supervises; its parent takes over if the child is killed. If both are killed,
the kernel kills the launcher, and rankbench adopts and ends the remaining processes (`launch/local.py`).
"""

from __future__ import annotations

import contextlib
import ctypes
import marshal
import os
import select
import signal
import subprocess
import sys
import threading
import time

TYPE_CHECKING = False  # Type checkers know this name; importing typing would take a tenth of the start.
if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO
    from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
SHARED = "/dev/shm/"  # noqa: S108 - only files that the descendants made there are removed
POLL_S = 1.0
"""Time between two looks at the watched file: long, since the ranks may need every core."""
START_S, START_POLL_S = 10.0, 0.05
"""Until the first sign of life, for so long at most, looks are as frequent: a process may end right after it has made
shared memory."""
LOOKS = 10
"""How often the owner of a file in shared memory is looked for: processes may be about to map it."""
SESSIONS = {"ompi.": "pid.", "prte.": "dvm."}
"""Folders that Open MPI's launcher makes in TMPDIR for itself and its ranks, and removes unless it is killed: what the
name of the outer one begins with, and the name of the inner one before the process's number."""
TIDY_S = 0.5
"""Time for the launcher to end its ranks, before they get SIGTERM too."""
GRACE_S = 2.0
"""Time between SIGTERM and SIGKILL."""
PAUSE_S = 0.01
END = b'{"record":"end"'
"""Prefix of the last line of the core's stream: everything is measured, and MPI_Finalize follows."""
END_S = 5.0
"""Time after that line in which the command must end."""
FIRST_BYTES, LAST_BYTES = 32 << 20, 1 << 20
"""Bytes of a command's output that are kept: of its beginning, which goes to the file at once, and of its end."""
OMISSION = b"\n[rankbench left out %d bytes of output here]\n"
LINE_BYTES = 65536
"""Upper bound of the length of the last line."""


def main() -> None:
    """Supervise a command in a child process; if that is killed, end the remaining processes."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    shared = SharedFiles()
    child = os.fork()
    if not child:
        supervise()
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        end_all(descendants, shared)
        reap()
    if code < 0:
        os.kill(os.getpid(), -code)  # Rankbench sees how it ended.
    sys.exit(code)


def supervise() -> None:
    """Run the command that standard input describes, and print how it ended."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        step = marshal.load(sys.stdin.buffer)  # noqa: S302 - the same Python wrote it
    except EOFError:
        return
    began = time.monotonic()
    shared = SharedFiles()
    try:
        child, copier = start(step)
    except (OSError, ValueError) as error:
        write_answer({"error": explain_refusal(step, error)})
        return
    hung = wait(child, step["watch"], step["limit_s"], step.get("heartbeat"), lambda: shared.look(descendants))
    duration_s = time.monotonic() - began
    outlived = name_orphan(child.pid, step["arguments"]) if hung and is_complete(step["watch"]) else ""
    waiting = find_waiting(child.pid, step["arguments"]) if hung else 0.0
    end_all(descendants, shared, child)
    if hung or child.poll():
        shared.add_new(step["shared"])
    shared.remove()
    remove_sessions(child.pid, step["environment"].get("TMPDIR") or os.environ.get("TMPDIR") or "/tmp")  # noqa: S108 - as Open MPI does
    child.poll()
    reap()
    copier.join(GRACE_S)
    outcome = {"exit_code": None if hung else child.returncode, "hung": hung, "duration_s": duration_s}
    write_answer(outcome | {"output_bytes": copier.copied, "waiting": waiting, "outlived": outlived})


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process; prctl(2)."""
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def write_answer(message: dict[str, Any]) -> None:
    """Write to standard output, unbuffered: Python would flush a buffer again after rankbench has ended."""
    with contextlib.suppress(BrokenPipeError):
        os.write(1, marshal.dumps(message))


class OutputCopier(threading.Thread):
    """Copies the beginning and the end of a pipe's data to a file, and counts all bytes.

    Endless output must fill neither disk nor memory, and a full disk must not block the command. The file's
    modification time shows that the command still prints.
    """

    def __init__(self, source: int, output: FileIO) -> None:
        super().__init__(daemon=True)
        self._source, self._output = source, output
        self.copied = 0

    def run(self) -> None:
        """Copy until the pipe ends; write how many bytes were left out in the middle."""
        room, end, touched = FIRST_BYTES, bytearray(), time.monotonic()
        while data := os.read(self._source, 1 << 16):
            self.copied += len(data)
            with contextlib.suppress(OSError):
                self._output.write(data[:room])
            end += data[room:]
            room = max(0, room - len(data))
            if len(end) > 2 * LAST_BYTES:
                del end[:-LAST_BYTES]
            if time.monotonic() - touched > POLL_S:
                touched = time.monotonic()
                os.utime(self._output.fileno())
        omitted = self.copied - FIRST_BYTES + room - len(end)
        with contextlib.suppress(OSError), self._output as output:
            output.write((OMISSION % omitted if omitted else b"") + end)
        os.close(self._source)


def start(step: dict[str, Any]) -> tuple[subprocess.Popen[bytes], OutputCopier]:
    """Start the command in its own session, and a thread that copies its output to a file.

    The kernel kills the command if this process dies.
    """
    supervisor = os.getpid()

    def die_with_supervisor() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:  # The supervisor was killed just before.
            os._exit(1)

    output = open(step["output"], "wb", buffering=0)  # noqa: SIM115 - the thread closes it
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
    """Return why the command did not start. ValueError: arguments or names that no process can have."""
    if isinstance(error, OSError):
        return f"{error.filename or step['arguments'][0]}: {error.strerror}"
    return f"{step['arguments'][0]}: cannot be given these arguments and settings ({error})"


def read_heartbeat(heartbeat: tuple[str, int] | None) -> bytes:
    """Return the bytes of a number in shared memory that changes while the command lives."""
    if not heartbeat:
        return b""
    try:
        with open(heartbeat[0], "rb", buffering=0) as page:
            return os.pread(page.fileno(), 4, heartbeat[1])
    except OSError:
        return b""


def wait(
    child: subprocess.Popen[bytes],
    watch: str | os.PathLike[str],
    limit_s: float,
    heartbeat: tuple[str, int] | None = None,
    look: Callable[[], None] = lambda: None,
) -> bool:
    """Wait until the command ends, rankbench stops it, or signs of life are missing; return whether they were.

    `look` is called at each look at the signs of life.
    """
    poll = select.poll()
    with contextlib.suppress(AttributeError, OSError):  # Before Linux 5.3, child.poll() below shows the end.
        poll.register(os.pidfd_open(child.pid), select.POLLIN)
    poll.register(sys.stdin, select.POLLIN | select.POLLHUP)
    began = polled = time.monotonic()
    still_s, state, pause_s = 0.0, (-1, 0, b""), min(START_POLL_S, limit_s / 4)
    while not poll.poll(1000 * pause_s) and child.poll() is None:
        look()
        facts = os.stat(watch) if os.path.exists(watch) else None
        if (facts and facts.st_size) or time.monotonic() - began > START_S:
            pause_s = min(POLL_S, limit_s / 4)
        now = (*((facts.st_size, facts.st_mtime_ns) if facts else (0, 0)), read_heartbeat(heartbeat))
        # If this reading is late, all processes may have been stopped, and the launch could give no sign.
        still_s = 0.0 if now != state else still_s + min(time.monotonic() - polled, 2 * pause_s)
        polled, state = time.monotonic(), now
        if still_s > limit_s or (still_s > END_S and is_complete(watch)):
            return True
    return False


def is_complete(watch: str | os.PathLike[str]) -> bool:
    """Return whether the watched file is a complete stream."""
    try:
        with open(watch, "rb") as stream:
            stream.seek(max(0, os.stat(watch).st_size - LINE_BYTES))
            return stream.read().rstrip(b"\n").rpartition(b"\n")[2].startswith(END)
    except OSError:
        return False


def name_orphan(launcher: int, arguments: list[str]) -> str:
    """Return a process that has outlived its parent, as `PID, NAME`; empty: there is none, or a rank still runs.

    Orphans of the launcher's processes become children of this one.
    """
    parents = list_parents()
    if list_ranks(launcher, arguments, parents):
        return ""
    orphans = [pid for pid, above in parents.items() if above == os.getpid() and pid != launcher]
    return f"{orphans[0]}, {read_name(orphans[0])}" if orphans else ""


def list_ranks(launcher: int, arguments: list[str], parents: dict[int, int]) -> list[int]:
    """Return the ranks on this machine: processes below the launcher that run a program of its command line."""
    programs = {os.path.realpath(word) for word in arguments[1:] if word.startswith("/")}
    return [pid for pid in find_descendants({launcher}, parents) if find_program(pid) in programs]


def find_waiting(launcher: int, arguments: list[str]) -> float:
    """Return the share of its life for which each rank waited for a CPU, at least; 0: unknown."""
    return min(map(measure_waiting, list_ranks(launcher, arguments, list_parents())), default=0.0)


def measure_waiting(pid: int) -> float:
    """Return the share of its life for which the first thread of a process waited for a CPU; 0: unknown."""
    try:
        waited_s = int(read_text(f"/proc/{pid}/schedstat").split()[1]) / 1e9
        began = int(read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()[19])
        life_s = float(read_text("/proc/uptime").split()[0]) - began / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0
    return min(1.0, waited_s / life_s) if life_s > 0 else 0.0


def find_program(pid: int) -> str:
    """Return the path of a process's program; empty: the process has ended."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def read_name(pid: int) -> str:
    """Return the name of a process, which it may have chosen itself."""
    try:
        return read_text(f"/proc/{pid}/comm").strip()
    except OSError:
        return "ended"


def read_text(path: str) -> str:
    """Return what is in a file of the kernel."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def end_all(
    find: Callable[[], list[int]], shared: SharedFiles, launcher: subprocess.Popen[bytes] | None = None
) -> None:
    """End all processes: first the launcher, which can clean up, then all by SIGTERM, then by SIGKILL.

    Their files in /dev/shm are removed.
    """
    pids = find() or find()  # One search can miss the child of a process that just ended.
    if not pids:
        return
    shared.read(pids)
    if launcher and launcher.poll() is None:
        launcher.terminate()
        wait_for_end(find, TIDY_S)
    signal_all(find(), signal.SIGTERM)
    wait_for_end(find, GRACE_S)
    while pids := find():
        signal_all(pids, signal.SIGKILL)
        time.sleep(PAUSE_S)
    shared.remove()


def wait_for_end(find: Callable[[], list[int]], limit_s: float) -> None:
    """Wait until all processes have ended, or the time is over."""
    until = time.monotonic() + limit_s
    while find() and time.monotonic() < until:
        time.sleep(PAUSE_S)


class SharedFiles:
    """Files in /dev/shm that processes of a launch map, read while they run.

    Libraries remove theirs at the end, unless a rank dies; afterwards nothing shows whose they were. Files that were
    there before belong to others.
    """

    def __init__(self) -> None:
        self._old, self._mapped = list_shared(), set[tuple[str, int]]()
        self._looks: dict[tuple[str, int], int] = {}

    def look(self, find: Callable[[], list[int]]) -> None:
        """Read what processes map if there are new files. Otherwise they are left alone, since reading delays them."""
        new = [entry for entry in list_shared() - self._old - self._mapped if self._looks.get(entry, 0) < LOOKS]
        if new:
            self._looks |= {entry: self._looks.get(entry, 0) + 1 for entry in new}
            self.read(find())

    def read(self, pids: list[int]) -> None:
        """Read what processes map."""
        self._mapped |= {entry for pid in pids for entry in list_mapped(pid)} - self._old

    def add_new(self, patterns: list[str]) -> None:
        """Add new files with names of MPI libraries: processes that die soon are not seen to map theirs."""
        import fnmatch  # Rarely needed, and it takes long to load.

        self._mapped |= {
            entry
            for entry in list_shared() - self._old
            if any(fnmatch.fnmatch(os.path.basename(entry[0]), pattern) for pattern in patterns)
        }

    def remove(self) -> None:
        """Remove the files that no process maps any more."""
        remove(self._mapped)


def remove_sessions(launcher: int, temporary: str) -> None:
    """Remove the folders that a launcher, which has ended, left among temporary files."""
    try:
        outer = [name for name in os.listdir(temporary) if name[:5] in SESSIONS]
    except OSError:
        return
    folders = [f"{temporary}/{name}/{SESSIONS[name[:5]]}{launcher}" for name in outer]
    for folder in (f"{temporary}/ompi.{launcher}", *folders):
        if os.path.isdir(folder) and is_own(folder, os.lstat(folder).st_ino):
            import shutil  # Rarely needed, and it takes long to load.

            shutil.rmtree(folder, ignore_errors=True)


def list_shared() -> set[tuple[str, int]]:
    """Return path and inode of each file directly in /dev/shm."""
    try:
        return {(entry.path, entry.inode()) for entry in os.scandir(SHARED)}
    except OSError:
        return set()


def list_mapped(pid: int) -> set[tuple[str, int]]:
    """Return path and inode of each file in /dev/shm that a process maps and that is not deleted."""
    try:
        lines = read_text(f"/proc/{pid}/maps").splitlines()
    except OSError:
        return set()
    fields = (line.split(maxsplit=5) for line in lines if SHARED in line and not line.endswith(" (deleted)"))
    return {(words[5], int(words[4])) for words in fields if words[5].startswith(SHARED)}


def remove(shared: set[tuple[str, int]]) -> None:
    """Remove the files of this user that no process maps any more."""
    entries = {(path, inode) for path, inode in shared if is_own(path, inode)}
    if entries:
        entries -= {entry for name in filter(str.isdigit, os.listdir("/proc")) for entry in list_mapped(int(name))}
    for path, _ in entries:
        with contextlib.suppress(OSError):
            os.unlink(path)


def is_own(path: str, inode: int) -> bool:
    """Return whether a path is still the same file, and owned by this user."""
    try:
        facts = os.lstat(path)
    except OSError:
        return False
    return (facts.st_ino, facts.st_uid) == (inode, os.getuid())


def reap() -> None:
    """Wait for adopted processes that have ended; not every container has an init that would."""
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
    return dict(filter(None, map(parent, filter(str.isdigit, os.listdir("/proc")))))


def find_descendants(ancestors: set[int], parents: dict[int, int]) -> list[int]:
    """Return all descendants of these processes."""
    pids: list[int] = []
    generation = ancestors
    while generation := {pid for pid, above in parents.items() if above in generation}:
        pids += generation
    return pids


def parent(pid: str) -> tuple[int, int] | None:
    """Return a process and its parent; None: it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            state, above = stat.read().rpartition(b")")[2].split()[:2]
    except (OSError, ValueError):
        return None
    return None if state in b"ZX" else (int(pid), int(above))


if __name__ == "__main__":
    main()
