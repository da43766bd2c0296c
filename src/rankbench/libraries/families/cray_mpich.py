"""Cray MPICH, launched by PALS or srun; settings are environment variables, unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rankbench.libraries import families
from rankbench.model import CommandLine, Library, Placement

HOST_FILE = "hosts.txt"


class Family(families.Family):
    """Cray MPICH 7 and later. Its header and its texts also name the MPICH that it derives from."""

    name = "cray-mpich"
    title = "Cray MPICH"
    packages = ()
    precedence = 10
    colour = "#0072B2"
    origin = "mpich"
    pmi = "cray_shasta"
    compiler_variable = "MPICH_CC"
    versions = (
        r"CRAY MPICH version (\d[\w.]*)",
        r'^#define CRAY_MPICH_VERSION "?(\d[\w.]*)',
    )
    variables = ("MPICH_", "MPIR_")
    network_settings = MappingProxyType({"Slingshot": {"FI_PROVIDER": "cxi"}})

    def make_mpiexec_line(
        self, library: Library, placement: Placement, settings: Mapping[str, str], program: list[str]
    ) -> CommandLine:
        """Ranks are bound by PALS."""
        launcher = families.require_launcher(library, placement)
        count = ["-n", str(placement.ranks), "--ppn", str(placement.ranks_per_node)]
        hosts = ["--hostfile", HOST_FILE] if placement.hosts else []
        return CommandLine(
            arguments=[launcher, *count, *hosts, "--cpu-bind", make_binding(placement), *program],
            environment={**library.environment, **self.encode_settings(settings)},
            files={HOST_FILE: "".join(f"{host}\n" for host in placement.hosts)} if hosts else {},
        )


def make_binding(placement: Placement) -> str:
    """Return the binding of a node's ranks: lists of CPUs, `list:0,12:1,13`, or a kind of object."""
    if placement.binding == "none" or not placement.cpus:
        return placement.binding
    return "list:" + ":".join(",".join(map(str, cpus)) for cpus in placement.cpus)
