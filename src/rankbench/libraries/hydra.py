"""Hydra, the launcher of MPICH and of libraries derived from it: its launch line."""

from __future__ import annotations

from collections.abc import Mapping

from rankbench.libraries import families
from rankbench.model import CommandLine, Library, Placement

FILES = ("{etc}/mpiexec.hydra.conf", "~/.mpiexec.hydra.conf")
"""Its configuration."""
BINDINGS = {"core": "core", "thread": "hwthread", "none": "none"}


def make_launch_line(
    library: Library, placement: Placement, environment: Mapping[str, str], program: list[str]
) -> CommandLine:
    """Return a Hydra command line; ranks are bound one to a core in rank order, or not at all."""
    launcher = families.require_launcher(library, placement)
    bound = ["-bind-to", make_binding(placement)]
    return CommandLine(
        arguments=[launcher, *make_node_options(placement), "-n", str(placement.ranks), *bound, *program],
        environment={**library.environment, **environment},
    )


def make_binding(placement: Placement) -> str:
    """Return the binding of a node's ranks: CPUs by the system's numbers, `user:0+12,1+13`, or a kind of object."""
    if placement.binding == "none" or not placement.cpus:
        return BINDINGS[placement.binding]
    return "user:" + ",".join("+".join(map(str, cpus)) for cpus in placement.cpus)


def make_node_options(placement: Placement, starter: str = "-launcher") -> list[str]:
    """Return the options with the nodes and the remote shell, which Hydra calls bootstrap."""
    shell = [starter, "ssh", f"{starter}-exec", placement.remote_shell] if placement.remote_shell else []
    hosts = ["-hosts", ",".join(placement.hosts), "-ppn", str(placement.ranks_per_node)]
    return [*shell, *hosts] if placement.hosts else []
