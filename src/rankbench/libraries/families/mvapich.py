"""MVAPICH 1, MVAPICH2 and MVAPICH 3 and later, launched by Hydra or mpirun_rsh; settings are environment variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from rankbench.libraries import families, hydra, ucx
from rankbench.model import CommandLine, Library, Placement, RankbenchError

AFFINITY = {"1": ("VIADEV_USE_AFFINITY", "VIADEV_CPU_MAPPING"), "2": ("MV2_ENABLE_AFFINITY", "MV2_CPU_MAPPING")}
"""Versions that bind ranks themselves, whatever their launcher does; the variables for the switch and for the CPUs."""


class Family(families.Family):
    """All versions of MVAPICH. MVAPICH 1 names only the MPICH that it derives from, and its own device."""

    name = "mvapich"
    title = "MVAPICH"
    packages = ()
    precedence = 20
    colour = "#CC79A7"
    compiler_variable = "MPICH_CC"
    versions = (
        r"^MVAPICH2? Version\s*:\s*(\S+)",
        r"^MVAPICH2? (\d\S*) ",
        r"^mpi\w+ for MVAPICH2? version (\S+)",
        r'^#define MVAPICH2_VERSION "(\S+)"',
    )
    variables = ("MV2_", "MVP_", "MPIR_", "MPICH_")
    files = ("{etc}/mvapich*.conf", "/etc/mvapich*.conf", "~/.mvapich*.conf", *hydra.FILES, *ucx.FILES)

    def recognise(self, text: str) -> str | None:
        """MVAPICH 1 is known by its device; it does not report its release, so its version is 1."""
        first = re.search(r"^MPICH Version:\s+1\.2\.", text, re.MULTILINE)
        device = re.search(r"^MPICH Device:\s+ch_(?:smp|gen2|psm|hybrid|vapi)", text, re.MULTILINE)
        return "1" if first and device else super().recognise(text)

    def make_mpiexec_line(
        self, library: Library, placement: Placement, settings: Mapping[str, str], program: list[str]
    ) -> CommandLine:
        """Ranks are bound by Hydra; under mpirun_rsh the library binds them."""
        rsh = Path(library.launcher).name == "mpirun_rsh"
        environment = make_affinity(
            library, placement, bound=rsh and placement.binding != "none"
        ) | self.encode_settings(settings)
        if rsh:
            return make_rsh_line(library, placement, environment, program)
        return hydra.make_launch_line(library, placement, environment, program)


def make_affinity(library: Library, placement: Placement, *, bound: bool) -> dict[str, str]:
    """Return the variables that make a library bind its ranks itself, or not."""
    major = library.version.partition(".")[0]
    if major not in AFFINITY:
        return {}
    switch, mapping = AFFINITY[major]
    listed = ":".join(",".join(map(str, cpus)) for cpus in placement.cpus)
    return {switch: str(int(bound)), **({mapping: listed} if bound and listed else {})}


def make_rsh_line(
    library: Library, placement: Placement, environment: dict[str, str], program: list[str]
) -> CommandLine:
    """Return a command line of mpirun_rsh, with a host for each rank and the variables to pass on.

    Raises RankbenchError if another remote shell is wanted.
    """
    launcher = families.require_launcher(library, placement)
    if placement.remote_shell:
        raise RankbenchError(
            f"{library.name}: {launcher} reaches nodes by its own ssh; found remote_shell = "
            f'"{placement.remote_shell}", expected none'
        )
    texts = [f"{name}={value}" for name, value in environment.items()]
    hosts = [host for host in placement.hosts or ["localhost"] for _ in range(placement.ranks_per_node)]
    return CommandLine(
        arguments=[launcher, "-np", str(placement.ranks), *hosts, *texts, *program],
        environment={**library.environment, **environment},
    )
