"""MVAPICH 1, MVAPICH2 and MVAPICH 3 and later, launched by Hydra or mpirun_rsh; settings are environment variables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from rankbench.libraries import families, hydra
from rankbench.model import CommandLine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankbench.model import Library, Placement

AFFINITY = {"1": "VIADEV_USE_AFFINITY", "2": "MV2_ENABLE_AFFINITY"}
"""Versions that bind ranks themselves, whatever their launcher does, and the switch for it."""


class Family(families.Family):
    """MVAPICH of all ages. MVAPICH 1 names only the MPICH it was made from, and its own device."""

    name = "mvapich"
    title = "MVAPICH"
    packages = ()
    precedence = 20
    versions = (
        r"^MVAPICH2? Version\s*:\s*(\S+)",
        r"^MVAPICH2? (\d\S*) ",
        r"^mpi\w+ for MVAPICH2? version (\S+)",
    )
    failures = (
        *hydra.FAILURES,
        (
            r"(?i)no active HCAs|rdma_open_hca",
            "no InfiniBand device in reach; use a build whose device is shared memory or UCX",
        ),
    )

    def recognise(self, text: str) -> str | None:
        """MVAPICH 1 is known by its device; it does not tell its release, so that its version is 1."""
        first = re.search(r"^MPICH Version:\s+1\.2\.", text, re.MULTILINE)
        device = re.search(r"^MPICH Device:\s+ch_(?:smp|gen2|psm|hybrid|vapi)", text, re.MULTILINE)
        return "1" if first and device else super().recognise(text)

    def launch_line(
        self, library: Library, placement: Placement, settings: Mapping[str, str], program: list[str]
    ) -> CommandLine:
        """Hydra binds where there is Hydra; mpirun_rsh leaves it to the library."""
        rsh = Path(library.launcher).name == "mpirun_rsh"
        switch = AFFINITY.get(library.version.partition(".")[0])
        affinity = {switch: str(int(rsh and placement.binding == "core"))} if switch else {}
        environment = affinity | self.settings(settings)
        if rsh:
            return rsh_line(library, placement, environment, program)
        return hydra.launch_line(library, placement, environment, program)


def rsh_line(library: Library, placement: Placement, environment: dict[str, str], program: list[str]) -> CommandLine:
    """Return a command line of mpirun_rsh, which wants one host a rank and hands on only what it is told."""
    launcher = families.local_launcher(library, placement)
    told = [f"{name}={value}" for name, value in environment.items()]
    hosts = ["localhost"] * placement.ranks
    return CommandLine(
        arguments=[launcher, "-np", str(placement.ranks), *hosts, *told, *program],
        environment={**library.environment, **environment},
    )
