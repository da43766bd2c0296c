"""Additions to a lab for tests: links by the switch alone, launches, clocks of single ranks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from rankbench import lab, libraries
from rankbench.lab import CommandResult, Delay, Lab, LabRequest
from rankbench.model import Library, Placement

__all__ = [
    "CommandResult",
    "Delay",
    "Lab",
    "compile_preload",
    "list_processes",
    "measure_one_way_ns",
    "run_launch",
    "start_nodes",
]

REPOSITORY = Path(__file__).parents[2]
FAKES = REPOSITORY / "tests" / "fakes"
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
"""Inside a user namespace every user is root."""
OWN_CLOCK = """
rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-$PMIX_RANK}}
exec "$0" "$(echo "$1" | cut -d, -f$((rank + 1)))" "${@:2}"
"""
"""Runs a rank's program with a clock ahead by its entry of a list."""

ECHO_SCRIPT = """
import socket, time
link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
link.bind(("", 7))
print("ready", flush=True)
while (question := link.recvfrom(64))[0] != b"end":
    link.sendto(question[0] + str(time.monotonic_ns()).encode(), question[1])
"""
PING_SCRIPT = """
import socket, time
link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
link.settimeout(2)
answers = 0
for number in range(1000):
    before = time.monotonic_ns()
    link.sendto(b"%d " % number, ("n2", 7))
    try:
        answer = link.recv(64)
    except TimeoutError:
        continue
    after = time.monotonic_ns()
    asked, there = map(int, answer.split())
    if asked == number:
        answers += 1
        print(there - before, after - there)
    if answers == 50:
        break
for _ in range(3):
    link.sendto(b"end", ("n2", 7))
"""
"""Prints the time of each datagram in each direction, on nodes with a common clock. Some may be lost."""


def start_nodes(
    folder: Path,
    offsets_ns: Sequence[int],
    *,
    delay: Delay | None = None,
    shared: Sequence[Path] = (),
    limit_s: float = lab.HUNG_S,
) -> AbstractContextManager[Lab]:
    """Start a node for each clock offset. Delays are the switch's, whatever the kernel supports."""
    ahead_ns, folders = tuple(offsets_ns), (REPOSITORY, *shared)
    request = LabRequest(nodes=len(ahead_ns), delay=delay, netem=False, offsets_ns=ahead_ns, shared=folders)
    return lab.up(request, folder, limit_s=limit_s)


def run_launch(
    nodes: Lab, library: Library, ranks: int, program: Sequence[str | Path], *, clocks_ns: Sequence[int] = ()
) -> CommandResult:
    """Launch ranks, the same number on each node, those of a node successively.

    With `clocks_ns` each rank has its own clock, ahead of the machine's, whatever its node's clock is.
    """
    placement = Placement(
        name="lab",
        nodes=len(nodes.nodes),
        ranks_per_node=ranks // len(nodes.nodes),
        binding="none",
        hosts=[*nodes.nodes],
        remote_shell=str(nodes.remote_shell),
    )
    clocks = ",".join(map(str, clocks_ns))
    own_clock = ["bash", "-c", OWN_CLOCK, f"{nodes.folder}/timens_exec", clocks] if clocks_ns else []
    line = libraries.find_family(library).make_launch_line(library, placement, {}, [*own_clock, *map(str, program)])
    return nodes.run(line.arguments, {**line.environment, **ROOT})


def compile_preload(name: str, folder: Path) -> Path:
    """Return a library for LD_PRELOAD, compiled."""
    path = folder / f"{name}.so"
    options = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["cc", *options, "-o", str(path), f"{FAKES}/{name}.c", "-ldl", "-lm"], check=True)
    return path


def measure_one_way_ns(nodes: Lab) -> tuple[int, int]:
    """Return the shortest times from n1 to n2 and back."""
    echo = nodes.start([sys.executable, "-c", ECHO_SCRIPT], "n2")
    assert echo.stdout
    assert echo.stdout.readline() == "ready\n"
    ways = [tuple(map(int, line.split())) for line in nodes.on("n1", [sys.executable, "-c", PING_SCRIPT]).splitlines()]
    echo.communicate()
    assert len(ways) == 50
    return min(there for there, _ in ways), min(back for _, back in ways)


def list_processes(spaces: set[str], folder: Path) -> list[str]:
    """Return the processes in one of these namespaces, or with the lab's folder in their command line."""
    texts = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            namespaces = {str(link.readlink()) for link in (process / "ns").iterdir()}
            command = (process / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
        if spaces & namespaces or str(folder) in command:
            texts.append(f"{process.name}: {command}")
    return texts
