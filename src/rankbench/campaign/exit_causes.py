"""Finds what ended a launch: signals, events of the machine, ranks that are stuck, and causes that its log shows.

Launchers report signals by exit codes and texts of their own. Messages with a known cause are files of `causes`.
"""

from __future__ import annotations

import os
import platform
import re
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rankbench import causes
from rankbench.launch.topology import parse_list, read_text
from rankbench.model import NO_CPU, CaseStatus, LaunchStatus, Outcome, RankFact, Record, Stream


class LaunchExit(NamedTuple):
    """How a launch ended."""

    status: LaunchStatus
    reason: str
    outcome: Outcome | None
    stream: Stream
    case_status: CaseStatus | None = None
    """The status of the last case, if it differs from the launch's."""


EMPTY = Stream(facts=None, ranks=[], results=[], unfinished=None, complete=False)


COLLATERAL = {"SIGKILL", "SIGTERM"}
"""Signals with which launchers end the other ranks after one has died."""
FROM_OUTSIDE = {"SIGHUP", "SIGINT", "SIGKILL", "SIGTERM"}
"""Signals that users, schedulers and the kernel send to a launcher, but no library does."""
DEATH = 128
"""Offset that shells and launchers add to a signal's number."""
SIGNAL_PATTERNS = (
    r"EXIT STRING: .*\(signal (?P<number>\d+)\)",
    r"RANK \d+ PID \d+ RUNNING AT .*\n=\s+KILLED BY SIGNAL: (?P<number>\d+)",
    r"^=\s+PID \d+ RUNNING AT .*\n=\s+EXIT CODE: (?P<banner>\d+)$",
    r"exited on\s+signal (?P<number>\d+)",
    r"terminated with signal (?P<number>\d+)",
    r"error signal: .*\(signal (?P<number>\d+)\)",
    r"srun: error: \S+: tasks? [\d,\-\[\]]+: (?P<name>[A-Z][A-Za-z ()]+?)(?: \(core dumped\))?$",
    r"srun: error: \S+: tasks? [\d,\-\[\]]+: Exited with exit code (?P<code>\d+)",
)
"""Messages of MPICH, Intel MPI, MPICH over nodes, Open MPI, MVAPICH (two) and srun (two) about a rank's signal."""
IN_BANNER = {5, 6, 7, 8, 9, 11, 15, 24, 25, 31}
"""Codes that are signals in the banner of Hydra, which over several nodes may end before it prints the signal's name.

Smaller ones may be exit codes: old versions print the banner for these, too."""
NAMES = {signal.strsignal(signals): signals.name for signals in signal.Signals} | {"Out Of Memory": "SIGKILL"}
EVERY_RANK = r"RANK (\d+) PID \d+ RUNNING AT .*\n=\s+KILLED BY SIGNAL: 9 "
"""Intel MPI lists every rank that it ended, but not one that exited by itself."""
SIGNALS = {
    "SIGXFSZ": "a file reached the greatest size allowed; raise `ulimit -f`",
    "SIGXCPU": "the CPU time allowed is used up; raise `ulimit -t`",
    "SIGBUS": "memory could not be provided; is /dev/shm full?",
    "SIGILL": "the library or the core was built for another processor; build it on this one",
}
"""Explanations of signals that do not mean a defect of the program."""


UNWRITTEN_EXIT = 4
"""The core's exit code when it could not write its samples."""
UNWRITTEN = re.compile(r"rankbench-core: the stream cannot be written \((.+)\)")
"""The core's message about a full disk, which is not a failure of the library."""


CLOSED = "rankbench-core: the stream was closed (by the library)"
CLOSED_REASON = "the library closed files that it had not opened, among them that of the results"


STUCK = re.compile(
    r"rankbench-core: stuck: (?P<rank>rank \d+), case \d+ \(.*\) (?P<phase>is [a-z ]+): (?P<why>.+?)"
    r"(?:; without a CPU for (?P<percent>\d+)%)?$",
    re.MULTILINE,
)
"""The core's message about ranks that are stuck, with the error of a single rank, if any."""
NO_RETURN = "a call does not return"
LEAST_CPU = 0.5
"""Share of the CPU time that a launch would have alone; with less of it, a hang is the machine's, not the library's."""
UNFINISHED = (
    "all was measured, but the launch did not end: MPI_Finalize did not return, or a process keeps the output open"
)
OUTLIVED = "a process of the library ({who}) {what}"
OUTLIVES = "outlived the ranks and holds the output"


class MachineCounters(Record, frozen=True):
    """Counters of the machine before and after a launch."""

    killed_for_memory: int
    """Processes ended by the kernel for lack of memory, in this container or since boot."""
    free_bytes: int
    """Free bytes on the disk of the launch's files."""


def count_kills(folder: Path, root: Path = Path("/")) -> MachineCounters:
    """Return the counters now."""
    disk = os.statvfs(folder)
    return MachineCounters(killed_for_memory=count_memory_kills(root), free_bytes=disk.f_bavail * disk.f_frsize)


def count_memory_kills(root: Path) -> int:
    """Return how many processes the kernel ended for lack of memory, in the container or else on the system."""
    matches = (re.search(r"^oom_kill (\d+)$", read_text(path), re.MULTILINE) for path in counters(root))
    return next((int(match[1]) for match in matches if match), 0)


def counters(root: Path) -> Iterator[Path]:
    """Yield files with this counter: of control groups version 2 and 1, and of the system."""
    groups = re.findall(r"^\d+:([^:]*):(.*)$", read_text(root / "proc/self/cgroup"), re.MULTILINE)
    places = {controllers: place.lstrip("/") for controllers, place in groups}
    yield root / "sys/fs/cgroup" / places.get("", "") / "memory.events"
    yield root / "sys/fs/cgroup/memory" / places.get("memory", "") / "memory.oom_control"
    yield root / "proc/vmstat"


LEAST_FREE_BYTES = 1 << 20


def evidence(before: MachineCounters, after: MachineCounters) -> str:
    """Return a machine event during a launch that may have ended it; empty: none."""
    killed = after.killed_for_memory - before.killed_for_memory
    texts = [
        f"the kernel ended {killed} process{'es' * (killed > 1)} for lack of memory; use fewer ranks or smaller sizes"
        if killed > 0
        else "",
        "the disk of the results is full; make room and run again to continue"
        if after.free_bytes < LEAST_FREE_BYTES
        else "",
    ]
    return "; ".join(filter(None, texts))


def signal_of(exit_code: int | None, log: str, ranks: int = 0) -> str:
    """Return the name of the signal that ended a launch's first failed rank, such as `SIGSEGV`; empty: none.

    Other ranks are then ended by their launcher. Exit codes show a signal as shells do, and only if no text does.
    """
    texts = list(find_signals(log))
    listed = len(re.findall(EVERY_RANK, log))
    if texts and set(texts) == {"SIGKILL"} and 0 < listed < ranks:
        return ""
    direct = [name for name in texts if name not in COLLATERAL]
    return next(iter(direct or texts), name_signal(find_signal_of_code(exit_code)))


def ended_from_outside(exit_code: int | None, log: str) -> bool:
    """Return whether a signal from outside ended the launcher itself."""
    return name_signal(find_signal_of_code(exit_code)) in FROM_OUTSIDE and not any(find_signals(log))


def find_signals(log: str) -> Iterator[str]:
    """Yield the names of the signals in a log, by kind of message, then in order."""
    for pattern in SIGNAL_PATTERNS:
        for match in re.finditer(pattern, log, re.MULTILINE):
            groups = match.groupdict()
            banner = int(groups.get("banner") or 0)
            number = int(groups.get("number") or 0) or find_signal_of_code(int(groups.get("code") or banner))
            number = number or (banner if banner in IN_BANNER else 0)
            if name := name_signal(number) or NAMES.get(groups.get("name") or "", ""):
                yield name


def quote_signal(log: str) -> str:
    """Return the launcher's lines on the signal that ended the first failed rank, as one; empty: there are none."""
    name = signal_of(None, log)
    matches = (match for pattern in SIGNAL_PATTERNS for match in re.finditer(pattern, log, re.MULTILINE) if name)
    match = next((match for match in matches if name in find_signals(match[0])), None)
    if not match:
        return ""
    begin, end = log.rfind("\n", 0, match.start()) + 1, log.find("\n", match.end())
    lines = log[begin : end if end >= 0 else len(log)].splitlines()
    return "; ".join(line.strip(" =") for line in lines)


def find_signal_of_code(code: int | None) -> int:
    """Return the number of the signal in an exit code; 0: none."""
    return -code if code and code < 0 else max(0, (code or 0) - DEATH)


def name_signal(number: int) -> str:
    """Return a signal's name; empty: no such signal."""
    names = {int(signals): signals.name for signals in signal.Signals}
    return names.get(number, "")


def ending_text(exit_code: int | None, log: str = "", ranks: int = 0) -> str:
    """Return an exit code in words, with the name of a signal: `exit code 255 (SIGSEGV)`."""
    name = signal_of(exit_code, log, ranks)
    return f"exit code {exit_code}" + (f" ({name})" if name else "")


def explain_log(log: str, family: str = "", exit_code: int | None = None, ranks: int = 0) -> str:
    """Return a sentence on the cause of a failed launch of a family's library, and what to do; empty: unknown."""
    return causes.explain(log, family) or SIGNALS.get(signal_of(exit_code, log, ranks), "")


def lacked_cpu(waiting: float, ranks: Sequence[RankFact]) -> bool:
    """Return whether ranks that each waited for a CPU for this share of the time lacked what they would have alone.

    One that sleeps in a call does not wait for a CPU, and shows that the library hangs. Ranks that share a CPU wait for
    each other, too: three that spin on one wait for two thirds of the time.
    """
    crowds = [1.0]
    for host in {rank.host for rank in ranks}:
        there = [rank for rank in ranks if rank.host == host]
        crowds.append(len(there) / (len({cpu for rank in there for cpu in parse_list(rank.cpus)}) or len(there)))
    return waiting > 1 - LEAST_CPU / max(crowds)


def explain_waiting(share: float) -> str:
    """Return that a launch made no progress because its ranks waited for a CPU, each for this share of the time."""
    return f"{NO_CPU}: each rank waited for one for {share:.0%} of the time or more"


def explain_leftover(outcome: Outcome, stream: Stream) -> str:
    """Return that a launch was complete and only a process that its ranks left kept it from ending; empty: it was not.

    Ranks of other nodes are not seen, and MPI_Finalize may not have returned there.
    """
    here = {rank.host for rank in stream.ranks} == {platform.node()}
    is_over = outcome.hung and stream.complete and outcome.outlived and here
    return OUTLIVED.format(who=outcome.outlived, what=OUTLIVES) if is_over else ""


def is_leftover(reason: str) -> bool:
    """Return whether the reason of a launch is that a process outlived its ranks."""
    return reason.endswith(OUTLIVES)


def find_stuck_phase(log: str, ranks: Sequence[RankFact] = ()) -> tuple[CaseStatus, str] | None:
    """Return the status of a case in which ranks were stuck, and why, from the rank with an error if there is one."""
    matches = list(STUCK.finditer(log))
    if not matches:
        return None
    match = min(matches, key=lambda hit: hit["why"] == NO_RETURN)
    waiting = min(int(hit["percent"] or 0) / 100 for hit in matches)
    if match["why"] == NO_RETURN and lacked_cpu(waiting, ranks):
        return CaseStatus.NOT_RUN, f"{explain_waiting(waiting)} (the case {match['phase']})"
    during = f"{match['why']} (the case {match['phase']})"
    return (
        (CaseStatus.HUNG, during)
        if match["why"] == NO_RETURN
        else (CaseStatus.FAILED, f"{match['rank']} alone: {during}")
    )


def explain_stream_error(exit_code: int | None, log: str) -> str:
    """Return why the core could not write its samples; empty: it could. Its message may be missing."""
    match = UNWRITTEN.search(log)
    return match[1] if match else "is the disk full?" if exit_code == UNWRITTEN_EXIT else ""
