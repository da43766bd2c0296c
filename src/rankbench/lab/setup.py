"""What a lab is made from: the files in its folder, and what the machine must have."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from rankbench import processes
from rankbench.lab import links, slurm
from rankbench.lab.links import Delay
from rankbench.lab.slurm import Cores
from rankbench.model import RankbenchError

HERE = Path(__file__).parent
SCRIPT = "lab.sh"
CLOCKS = "timens_exec.c"
PROGRAMS = {"ssh": "ssh", "lab-node": "power"}
"""What programs of the head find on their path, and the script's roles that do it."""
PACKAGES = {
    "ip": "iproute2",
    "tc": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "setsid": "util-linux",
    "mount": "mount",
    "bash": "bash",
}
COMPILER = {"cc": "gcc"}
SPACES = ("--net", "--uts", "--mount", "--ipc", "--pid")
NETWORK = "10.77.0"
MOST_NODES = 200
HIDDEN = (Path("/tmp"), Path("/dev/shm"))  # noqa: S108 - the folders that each node has for itself


class LabRequest(NamedTuple):
    """What a lab is asked to be."""

    nodes: int = 2
    delay: Delay | None = None
    netem: bool = True
    """Whether the kernel delays frames where it can; else, and where not, a switch in user space does."""
    rate_bit_s: int = 0
    """Of each node's link, each way; 0: as fast as it goes."""
    offsets_ns: tuple[int, ...] = ()
    """How far each node's monotonic clock is ahead of the machine's; none: they have the machine's."""
    slurm: Cores | None = None
    """Sockets and cores that Slurm reports for each node; None: there is no Slurm."""
    shared: tuple[Path, ...] = ()
    """Folders that all must see although they lie where each node has a folder of its own."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the nodes' names."""
        return tuple(f"n{number}" for number in range(1, self.nodes + 1))


class CommandResult(NamedTuple):
    """How a program ended and all that it printed."""

    exit_code: int
    printed: str


# --- the folder -------------------------------------------------------------------------------------------------------


def prepare(folder: Path, request: LabRequest) -> str:
    """Write what the nodes are made from, and return the line on their links."""
    for name in ("pids", "bin"):
        (folder / name).mkdir(parents=True)
    folder.chmod(0o755)
    shutil.copyfile(HERE / SCRIPT, folder / SCRIPT)
    clocks = request.offsets_ns or ("-",) * request.nodes
    _write(folder / "nodes", (f"{name} {clock}" for name, clock in zip(request.names, clocks, strict=True)))
    addresses = (f"{NETWORK}.{number} {name}" for number, name in enumerate(["head", *request.names], 1))
    _write(folder / "hosts", ["127.0.0.1 localhost", *addresses])
    _write(folder / "shared", _list_shared(folder, request))
    for name, role in PROGRAMS.items():
        _write_program(folder, name, role)
    if request.offsets_ns:
        compile_program(CLOCKS, folder)
    if request.slurm:
        _prepare_slurm(folder, request.names, request.slurm)
    return _prepare_links(folder, request)


def _write_program(folder: Path, name: str, role: str) -> None:
    program = folder / "bin" / name
    line = shlex.join(["exec", "bash", f"{folder}/{SCRIPT}", role, str(folder)])
    program.write_text(f'#!/bin/sh\n{line} "$@"\n')
    program.chmod(0o755)


def _prepare_slurm(folder: Path, nodes: Sequence[str], cores: Cores) -> None:
    (folder / "slurm" / "state").mkdir(parents=True)
    (folder / "slurm.conf").write_text(slurm.configuration(folder, nodes, cores))
    if os.geteuid() != 0:
        compile_program(slurm.ONE_USER, folder, ["-shared", "-fPIC"])


def _prepare_links(folder: Path, request: LabRequest) -> str:
    """Write how links are shaped and delayed, and return it in words."""
    by_kernel = bool(request.delay and request.netem and request.delay.is_even and kernel_has("netem"))
    shaping = links.shaping(request.rate_bit_s, request.delay if by_kernel else None)
    for name, arguments in shaping.items():
        _write(folder / name, [arguments])
    if request.delay and not by_kernel:
        _write(folder / "delays", map(str, links.matrix(request.delay, request.nodes + 1)))
        compile_program(links.SWITCH, folder)
    return links.describe_links(request.rate_bit_s, request.delay, by_kernel=by_kernel)


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines))


def _list_shared(folder: Path, request: LabRequest) -> list[str]:
    """Return the folders that all must see and that would be hidden; programs start in the current one."""
    paths = [path.resolve() for path in (folder, Path.cwd(), HERE.parents[1], *request.shared)]
    for path in paths:
        if path in HIDDEN:
            raise RankbenchError(f"lab: each node has a {path} of its own; go to a folder below it, or another one")
    return [str(path) for path in dict.fromkeys(paths) if set(HIDDEN) & set(path.parents) and path.is_dir()]


def compile_program(name: str, folder: Path, more: Sequence[str] = ()) -> Path:
    """Return one of the lab's programs in C, compiled into a folder. Raises RankbenchError if it does not compile."""
    options = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", *more]
    source, program = HERE / name, folder / Path(name).stem
    result = try_command(["cc", *options, "-o", str(program), str(source)])
    if result.exit_code:
        text = next(iter(result.printed.splitlines()), "cc says nothing")
        raise RankbenchError(f"lab: {source} does not compile: {text}")
    return program


# --- the machine ------------------------------------------------------------------------------------------------------


def require(request: LabRequest) -> None:
    """Make sure that the lab can be made here. Raises RankbenchError if it cannot."""
    if not 1 <= request.nodes <= MOST_NODES:
        raise RankbenchError(f"--nodes {request.nodes}: expected 1 to {MOST_NODES}")
    require_packages(request)
    if request.offsets_ns and not Path("/proc/self/ns/time").exists():
        raise RankbenchError("--clocks needs time namespaces: a Linux kernel of 5.6 or later with CONFIG_TIME_NS")
    clocks = ["--time"] if request.offsets_ns else []
    result = try_command([*unshare(), *clocks, "mount", "-t", "tmpfs", "tmpfs", str(HIDDEN[0])])
    if result.exit_code:
        raise RankbenchError(
            f"a lab needs namespaces and mounts, which are not permitted here: {result.printed.strip()}; "
            "be root outside a container, or let users make user namespaces"
        )
    if request.rate_bit_s and not kernel_has("tbf"):
        raise RankbenchError("--rate needs the kernel's token bucket filter: CONFIG_NET_SCH_TBF, module sch_tbf")


def require_packages(request: LabRequest) -> None:
    """Make sure that all programs are there that the lab is made with. Raises RankbenchError if one is missing."""
    compiles = request.offsets_ns or request.delay or (request.slurm and os.geteuid() != 0)
    tools = PACKAGES | (COMPILER if compiles else {}) | (slurm.PACKAGES if request.slurm else {})
    missing = sorted({package for tool, package in tools.items() if not shutil.which(tool, path=path())})
    if missing:
        what = "a lab with Slurm" if request.slurm else "a lab"
        raise RankbenchError(f"{what} needs {', '.join(missing)}; on Debian: apt-get install {' '.join(missing)}")


def kernel_has(discipline: str) -> bool:
    """Return whether the kernel has one of tc's disciplines, by a try in a namespace of its own."""
    return not try_command([*unshare(), "sh", "-c", f"tc qdisc add dev lo root {links.TRIALS[discipline]}"]).exit_code


def try_command(command: Sequence[str]) -> CommandResult:
    """Return what becomes of a command of the system."""
    process = processes.run(command, {**os.environ, "PATH": path()}, joins_errors=True)
    return CommandResult(process.returncode, process.stdout)


def unshare() -> list[str]:
    """Return the command that makes the head's namespaces; they need a user namespace where not root asks."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, *SPACES, "--fork", "--kill-child"]


def path() -> str:
    """Return where programs are looked for."""
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"
