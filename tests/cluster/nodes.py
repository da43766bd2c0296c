"""Several nodes on one machine, each with a clock of its own, and nothing left of them afterwards.

A node is a set of namespaces (network, host name, mounts, System V IPC, processes, time); its clock is ahead of the
machine's by an exactly known amount. All nodes lie on one network with a head, from which programs are launched. The
head's first process has a process namespace of its own and lasts until its standard input ends: when it is closed, or
this process dies in whatever way, the kernel ends all that runs on the nodes. Works as root, and for others where the
system lets them make user namespaces.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankbench.model import Library

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
FAKES = REPOSITORY / "tests" / "fakes"
PACKAGES = {"ip": "iproute2", "unshare": "util-linux", "nsenter": "util-linux", "mount": "mount", "cc": "gcc"}
SPACES = ("--net", "--uts", "--mount", "--ipc", "--pid")
NETWORK = "10.77.0"
HUNG_S = 120
"""What takes so long hangs, in a test."""


class NoNodesError(Exception):
    """This machine cannot emulate nodes; says what it lacks."""


class Delay(NamedTuple):
    """How long a frame is on its way from a node to one of higher number, and back."""

    forward_ns: int
    backward_ns: int

    def of(self, sender: int, receiver: int) -> int:
        """Return the delay between two ports of the switch. The head is port 0; to and from it there is none."""
        if 0 in {sender, receiver} or sender == receiver:
            return 0
        return self.forward_ns if sender < receiver else self.backward_ns


class Done(NamedTuple):
    """How a program ended and all that it printed."""

    exit_code: int
    printed: str


class Cluster(NamedTuple):
    """Nodes that are up."""

    folder: Path
    """Seen by all nodes under this path."""
    nodes: tuple[str, ...]
    offsets_ns: tuple[int, ...]
    """How far each node's monotonic clock is ahead of the machine's."""
    head_pid: int
    limit_s: float
    """What runs longer is ended."""

    @property
    def remote_shell(self) -> Path:
        """Return the stand-in for ssh: `HOST COMMAND...`."""
        return self.folder / "rsh"

    def run(self, command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> Done:
        """Run a command on the head to its end."""
        done = subprocess.run(
            [*_entry(self.head_pid), *command],
            env={**os.environ, **(environment or {}), "PATH": _path()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=self.limit_s,
            check=False,
        )
        return Done(done.returncode, done.stdout)

    def on(self, node: str, command: Sequence[str | Path]) -> str:
        """Run a command on a node and return what it prints."""
        done = self.run([self.remote_shell, node, shlex.join(map(str, command))])
        assert done.exit_code == 0, f"{node}: {command}: {done.printed}"
        return done.printed

    def start(self, node: str, command: Sequence[str | Path]) -> subprocess.Popen[str]:
        """Start a command on a node; it ends with the node at the latest."""
        return subprocess.Popen(
            [*_entry(self.head_pid), self.remote_shell, node, shlex.join(map(str, command))],
            env={**os.environ, "PATH": _path()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )

    def launch(
        self, library: Library, ranks: int, program: Sequence[str | Path], *, clocks_ns: Sequence[int] = ()
    ) -> Done:
        """Launch ranks, as many on each node, neighbours on different nodes.

        With `clocks_ns` each rank has a clock of its own, that much ahead of the machine's, whatever its node's is.
        """
        line, environment = launch_line(library, self.nodes, ranks, self.remote_shell)
        own_clock = [f"{self.folder}/timens_exec", ",".join(map(str, clocks_ns))] if clocks_ns else []
        return self.run([*line, *own_clock, *program], {**library.environment, **environment})

    def bytes_sent(self, node: str, interface: str = "eth0") -> int:
        """Return how much a node has sent to others, or to itself by `lo`."""
        return int(self.on(node, ["cat", f"/sys/class/net/{interface}/statistics/tx_bytes"]))


def launch_line(
    library: Library, nodes: Sequence[str], ranks: int, remote_shell: Path
) -> tuple[list[str], dict[str, str]]:
    """Return a family's own way to launch over nodes, and what it needs set. Nobody is bound: nodes share the CPUs."""
    shell, count = str(remote_shell), ["-n", str(ranks)]
    if library.family == "openmpi":
        slots = ",".join(f"{node}:{ranks // len(nodes)}" for node in nodes)
        options = ["--prtemca", "plm_ssh_agent", shell, "--bind-to", "none", "--map-by", "node", "-H", slots]
        # Inside a user namespace everybody is root.
        environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    elif library.family == "intel-mpi":
        options = ["-bootstrap", "ssh", "-bootstrap-exec", shell, "-hosts", ",".join(nodes), "-ppn", "1"]
        environment = {"LD_LIBRARY_PATH": f"{library.prefix}/lib", "I_MPI_PIN": "0"}
    else:
        options = ["-launcher", "ssh", "-launcher-exec", shell, "-hosts", ",".join(nodes), "-ppn", "1"]
        environment = {}
    return [library.launcher, *options, *count], environment


@contextlib.contextmanager
def cluster(
    folder: Path,
    offsets_ns: Sequence[int],
    *,
    delay: Delay | None = None,
    shared: Sequence[Path] = (),
    limit_s: float = HUNG_S,
) -> Iterator[Cluster]:
    """Bring up a node for each clock offset; with `delay` a switch takes its time, else a bridge does not.

    Nodes see the machine's files, but have a `/tmp` and a `/dev/shm` of their own. Of what lies there on the machine
    they see only `folder`, `shared` and this repository.
    """
    require()
    nodes = tuple(f"n{number}" for number in range(1, len(offsets_ns) + 1))
    _prepare(folder, nodes, delay, shared)
    told = [f"{node}={offset_ns}" for node, offset_ns in zip(nodes, offsets_ns, strict=True)]
    with _head(folder, told) as head_pid:
        yield Cluster(folder, nodes, tuple(offsets_ns), head_pid, limit_s)


@contextlib.contextmanager
def _head(folder: Path, told: Sequence[str]) -> Iterator[int]:
    """Start the head with its nodes, yield its process id, and end it; its last process is gone when this returns."""
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [*_unshare(), "bash", f"{HERE}/cluster.sh", "head", str(folder), *told],
            env={**os.environ, "PATH": _path()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            text=True,
        )
    assert process.stdin
    assert process.stdout
    try:
        said = process.stdout.readline().split()
        if said[:1] != ["ready"]:
            raise NoNodesError(f"emulated nodes do not come up: {(folder / 'log').read_text().strip()}")
        yield int(said[1])
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def _prepare(folder: Path, nodes: Sequence[str], delay: Delay | None, shared: Sequence[Path]) -> None:
    """Write what the nodes are made from."""
    (folder / "pids").mkdir(parents=True)
    names = ["head", *nodes]
    addresses = ["127.0.0.1 localhost", *(f"{NETWORK}.{number} {name}" for number, name in enumerate(names, 1))]
    (folder / "hosts").write_text("\n".join(addresses) + "\n")
    (folder / "shared").write_text("".join(f"{path}\n" for path in (folder, REPOSITORY, *shared)))
    if delay:
        ports = range(len(names))
        (folder / "delays").write_text("\n".join(str(delay.of(one, other)) for one in ports for other in ports))
        program("switch", folder)
    program("timens_exec", folder)
    shell = folder / "rsh"
    shell.write_text(f"""#!/bin/sh
# Stands in for ssh: rsh [-OPTION...] HOST COMMAND...
while [ "${{1#-}}" != "$1" ]; do shift; done
read -r pid <'{folder}/pids/'"$1" || exit 255
shift
exec nsenter --target "$pid" {" ".join(SPACES)} --time sh -c "$*"
""")
    shell.chmod(0o755)


def require() -> None:
    """Make sure that nodes can be made here."""
    missing = sorted({package for tool, package in PACKAGES.items() if not shutil.which(tool, path=_path())})
    if missing:
        raise NoNodesError(f"emulated nodes need {', '.join(missing)}; on Debian: apt-get install {' '.join(missing)}")
    if not Path("/proc/self/ns/time").exists():
        raise NoNodesError("emulated nodes need time namespaces: a Linux kernel of 5.6 or later with CONFIG_TIME_NS")
    tried = subprocess.run(
        [*_unshare(), "--time", "mount", "-t", "tmpfs", "tmpfs", "/tmp"], capture_output=True, text=True, check=False
    )
    if tried.returncode:
        raise NoNodesError(
            f"emulated nodes need namespaces and mounts, which are not permitted here: {tried.stderr.strip()}; "
            "be root outside a container, or let users make user namespaces"
        )


def program(name: str, folder: Path) -> Path:
    """Return a stand-in written in C, compiled."""
    return _compiled(name, folder / name, [])


def preload(name: str, folder: Path) -> Path:
    """Return a library for LD_PRELOAD, compiled."""
    return _compiled(name, folder / f"{name}.so", ["-shared", "-fPIC"])


def _compiled(name: str, made: Path, options: Sequence[str]) -> Path:
    options = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", *options]
    subprocess.run(["cc", *options, "-o", str(made), f"{FAKES}/{name}.c", "-ldl", "-lm"], check=True)
    return made


def _unshare() -> list[str]:
    """Return the command that makes the head's namespaces; they need a user namespace where not root asks."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, *SPACES, "--fork", "--kill-child"]


def _entry(pid: int) -> list[str]:
    """Return the command that enters the namespaces of a head."""
    user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
    return ["nsenter", "--target", str(pid), *user, *SPACES]


def _path() -> str:
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"
