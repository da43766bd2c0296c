"""Several nodes on one machine, on a network of their own, and nothing left of them afterwards.

A node is a set of namespaces (network, host name, mounts, System V IPC, processes; time, where nodes have clocks of
their own). All lie on one network with a head, from which programs are launched:

    machine | supervisor -> head -- v-head -+- bridge or switch
            |                n1 eth0 -- v-n1 -+
            |                n2 eth0 -- v-n2 -+

The head's first process has a process namespace of its own and lasts until its standard input ends: when a lab is
closed, or this process dies in whatever way, the kernel ends all that runs in it. Works as root, and for others where
the system lets them make user namespaces. It is the machine's cores, memory and kernel that the nodes share.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rankbench import processes
from rankbench.lab import setup
from rankbench.lab.links import Delay, name_links
from rankbench.lab.setup import CommandResult, LabRequest
from rankbench.lab.slurm import Cores
from rankbench.model import LINKS_VARIABLE, RankbenchError

__all__ = ["CommandResult", "Cores", "Delay", "Lab", "LabRequest", "up"]

HUNG_S = 120
"""What takes so long hangs, unless more is allowed."""


class Lab(NamedTuple):
    """Nodes that are up."""

    folder: Path
    """Seen by all nodes under this path."""
    nodes: tuple[str, ...]
    offsets_ns: tuple[int, ...]
    head_pid: int
    description: str
    """One line on what the links are and by what."""
    links: str
    """Rate and delay of the links: `1 Gbit/s, 200 µs`; empty: as fast as the machine is."""
    limit_s: float
    """What `run` runs longer is ended."""

    @property
    def remote_shell(self) -> Path:
        """Return the stand-in for ssh: `HOST COMMAND...`."""
        return self.folder / "bin" / "ssh"

    @property
    def environment(self) -> dict[str, str]:
        """Return what programs of the head find set."""
        configured = self.folder / "slurm.conf"
        return {
            "PATH": f"{self.folder}/bin:{setup.path()}",
            "RANKBENCH_HOSTS": ",".join(self.nodes),
            "RANKBENCH_REMOTE_SHELL": str(self.remote_shell),
            "RANKBENCH_BINDING": "none",
            "RANKBENCH_ONE_MACHINE": "1",
            LINKS_VARIABLE: self.links,
            **({"SLURM_CONF": str(configured)} if configured.exists() else {}),
        }

    def command(self, command: Sequence[str | Path]) -> list[str]:
        """Return the command line that runs a command on the head, in the folder of this process."""
        user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        there = ["sh", "-c", 'cd "$0" && exec "$@"', str(Path.cwd())]
        return ["nsenter", "--target", str(self.head_pid), *user, *setup.SPACES, *there, *map(str, command)]

    def run(self, command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> CommandResult:
        """Run a command on the head to its end."""
        around = {**os.environ, **self.environment, **(environment or {})}
        process = processes.run(self.command(command), around, limit_s=self.limit_s, joins_errors=True)
        return CommandResult(process.returncode, process.stdout)

    def start(self, command: Sequence[str | Path], node: str = "") -> subprocess.Popen[str]:
        """Start a command on a node, or on the head; it ends with the lab at the latest."""
        there: Sequence[str | Path] = [self.remote_shell, node, shlex.join(map(str, command))] if node else command
        return subprocess.Popen(
            self.command(there),
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )

    def on(self, node: str, command: Sequence[str | Path]) -> str:
        """Run a command on a node and return what it prints."""
        return self._all_well([self.remote_shell, node, shlex.join(map(str, command))])

    def down(self, node: str) -> None:
        """Take a node down as a power failure would."""
        self._all_well(["lab-node", "down", node])

    def up(self, node: str) -> None:
        """Bring a node that is down up again."""
        self._all_well(["lab-node", "up", node])

    def bytes_sent(self, node: str, interface: str = "eth0") -> int:
        """Return how much a node has sent to others, or to itself by `lo`."""
        return int(self.on(node, ["cat", f"/sys/class/net/{interface}/statistics/tx_bytes"]))

    def _all_well(self, command: Sequence[str | Path]) -> str:
        result = self.run(command)
        if result.exit_code:
            raise RankbenchError(f"lab: {shlex.join(map(str, command))}: {result.printed.strip()}")
        return result.printed


@contextlib.contextmanager
def up(request: LabRequest, folder: Path | None = None, *, limit_s: float = HUNG_S) -> Iterator[Lab]:
    """Bring nodes up and yield them; all that runs on them is gone when this returns.

    `folder` is the lab's own, which stays; without it there is one for a time.
    """
    setup.require(request)
    path = folder or Path(tempfile.mkdtemp(prefix="rankbench-lab-"))
    try:
        text = setup.prepare(path, request)
        with _head(path, passing=folder is None) as head_pid:
            yield Lab(
                path,
                request.names,
                request.offsets_ns,
                head_pid,
                text,
                name_links(request.rate_bit_s, request.delay),
                limit_s,
            )
    finally:
        if not folder:
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _head(folder: Path, *, passing: bool) -> Iterator[int]:
    """Start the head with its nodes, yield its process id, and end it; its last process is gone when this returns.

    The folder of a lab that is `passing` goes with it, even if this process is killed.
    """
    script = ["bash", f"{folder}/{setup.SCRIPT}"]
    supervisor = [*script, "supervise", str(folder)] if passing else []
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [*supervisor, *setup.unshare(), *script, "head", str(folder)],
            env={**os.environ, "PATH": setup.path()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            text=True,
        )
        assert process.stdin
        assert process.stdout
        try:
            words = process.stdout.readline().split()
            if words[:1] != ["ready"]:
                errors.seek(0)
                raise RankbenchError(f"lab: nodes do not come up: {' '.join(errors.read().split())}")
            yield int(words[1])
        finally:
            process.stdin.close()
            process.wait()
            process.stdout.close()
