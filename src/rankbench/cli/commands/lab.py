"""The command `lab`: several emulated nodes on this machine, for as long as a command runs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from rankbench import build
from rankbench import lab as nodes_lab
from rankbench.lab import Lab, LabRequest, lab_request
from rankbench.lab.setup import MOST_NODES
from rankbench.model import RankbenchError
from rankbench.workflows.locations import home

ORDER = 70
GROUP = "Cluster"
EXAMPLES = """
rankbench lab --nodes 4 -- rankbench run plan.toml
rankbench lab --slurm -- rankbench submit plan.toml --scheduler slurm --wait
"""
SHELL = """[ ! -e ~/.bashrc ] || . ~/.bashrc
PS1='(lab) \\h:\\w\\$ '
"""


def lab(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND", help="What to run on the head; default: a shell."),
    ] = None,
    nodes: Annotated[int, typer.Option(min=1, max=MOST_NODES, help="Number of nodes, named n1, n2 ...")] = 2,
    delay: Annotated[str, typer.Option(metavar="TIME", help="Extra one-way delay of each packet: 50us.")] = "",
    rate: Annotated[str, typer.Option(metavar="RATE", help="Bandwidth of each link in each direction: 1gbit.")] = "",
    clocks: Annotated[str, typer.Option(metavar="TIME|random", help="Clock offset between successive nodes: 5s.")] = "",
    slurm: Annotated[bool, typer.Option("--slurm", help="Start Slurm on the nodes: sbatch, srun, scancel.")] = False,  # noqa: FBT002
    cores: Annotated[
        str, typer.Option(metavar="[SOCKETSx]CORES", help="Sockets and cores that Slurm reports per node: 2x4.")
    ] = "",
    share: Annotated[list[Path] | None, typer.Option(help="A folder below /tmp that all nodes must see.")] = None,
) -> None:
    """Run a command on emulated nodes of this machine.

    The nodes have a network of their own, and nothing of them is left behind.
    """
    texts = {"delay": delay, "rate": rate, "clocks": clocks, "cores": cores}
    request = make_request(nodes, texts, share or [], slurm=slurm)
    with nodes_lab.up(request) as up:
        print(f"lab: head, {', '.join(up.nodes)}; {up.description}{and_more(up, request)}", file=sys.stderr)  # noqa: T201
        code = ran(up, command or shell(up))
    raise typer.Exit(code)


def make_request(nodes: int, texts: dict[str, str], share: list[Path], *, slurm: bool) -> LabRequest:
    """Return the lab that is asked for. Raises RankbenchError for options that do not fit."""
    if texts["cores"] and not slurm:
        raise RankbenchError("--cores is what Slurm sees of each node; add --slurm")
    if missing := [path for path in share if not path.is_dir()]:
        raise RankbenchError(f"--share {missing[0]}: no such folder")
    delay_ns = lab_request.delay_ns(texts["delay"]) if texts["delay"] else 0
    believed = lab_request.cores(texts["cores"]) if texts["cores"] else nodes_lab.Cores(1, os.cpu_count() or 1)
    return nodes_lab.LabRequest(
        nodes=nodes,
        delay=nodes_lab.Delay(delay_ns, delay_ns) if delay_ns else None,
        rate_bit_s=lab_request.rate_bit_s(texts["rate"]) if texts["rate"] else 0,
        offsets_ns=lab_request.offsets_ns(texts["clocks"], nodes) if texts["clocks"] else (),
        slurm=believed if slurm else None,
        shared=(Path.home(), home(), Path(sys.prefix), build.find_sources(), *share),
    )


def and_more(up: Lab, request: LabRequest) -> str:
    """Return what there is besides links."""
    ahead = f"; clocks ahead by {', '.join(f'{offset_ns} ns' for offset_ns in up.offsets_ns)}" if up.offsets_ns else ""
    if not request.slurm:
        return ahead
    sockets, cores = request.slurm
    return f"{ahead}; Slurm, to which each node has {sockets} x {cores} cores"


def shell(up: Lab) -> list[str]:
    """Return the command of a shell whose prompt says where one is."""
    start = up.folder / "bashrc"
    start.write_text(SHELL)
    return [shutil.which("bash") or "bash", "--rcfile", str(start), "-i"]


def ran(up: Lab, command: list[str]) -> int:
    """Run a command on the head to its end and return its exit code. An interrupt is the command's to answer."""
    process = subprocess.Popen(up.command(command), env={**os.environ, **up.environment})
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code
