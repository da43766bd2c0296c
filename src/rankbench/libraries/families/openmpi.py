"""Open MPI 4 and 5. Settings in lower case are MCA parameters; others (UCX_*, PRTE_MCA_*) are environment variables."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rankbench.libraries import families
from rankbench.model import CommandLine

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rankbench.model import Library, Placement


class Family(families.Family):
    """Open MPI, whose launch options changed with 5.0."""

    name = "openmpi"
    title = "Open MPI"
    packages = ("openmpi",)
    precedence = 50
    versions = (
        r"^Open MPI v(\d[^\s,]*)",
        r": Open MPI (\d\S*) \(Language: C\)",
        r"^mpi\S* \((?:Open MPI|OpenRTE)\) (\d\S*)",
    )
    failures = (
        (
            r"attempt to run as root",
            "Open MPI refuses to run as root; be another user or set OMPI_ALLOW_RUN_AS_ROOT=1 and ..._CONFIRM=1",
        ),
        (
            r"not enough slots available|more\s+(?:processes\s+than\s+)?cpus",
            "more ranks than cores with binding core; use fewer ranks or binding none",
        ),
        (
            r"could not\s+access\s+(?:or execute )?an executable",
            "the launcher cannot find or execute the program; build it again",
        ),
        (
            r"No PMIx server was reachable|no-pmix-but",
            "the launcher belongs to another library; use the library's own mpiexec",
        ),
        (
            r"You were supposed to get help about",
            "Open MPI does not find its own files; was its folder moved, or is OPAL_PREFIX set to another one?",
        ),
        (
            r"processes are unable to reach each other",
            "its transports do not reach the other ranks; let btl name one that does: self,sm (4.x: self,vader)",
        ),
        (
            r"exited on\s+signal 9",
            "a rank was killed from outside, most often for want of memory; use fewer ranks or smaller sizes",
        ),
    )

    def environment(self, prefix: Path) -> dict[str, str]:
        """Name the prefix where the library lies below it (Debian's does not), and let root run where root asks."""
        moved = {"OPAL_PREFIX": str(prefix)} if (prefix / "lib" / "libmpi.so").exists() else {}
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}
        return moved | root

    def settings(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Spell MCA parameters as environment variables."""
        return {name if name[:1].isupper() else f"OMPI_MCA_{name}": value for name, value in settings.items()}

    def launch_line(
        self, library: Library, placement: Placement, settings: Mapping[str, str], program: list[str]
    ) -> CommandLine:
        """Bind core by core, or let ranks share cores; 4.x and 5.x spell the latter differently."""
        crowded = ["--oversubscribe"] if library.version.startswith(("3.", "4.")) else ["--map-by", ":OVERSUBSCRIBE"]
        mapping = {"core": ["--map-by", "core"], "none": crowded}[placement.binding]
        launcher = families.local_launcher(library, placement)
        binding = ["--bind-to", placement.binding, *mapping]
        return CommandLine(
            arguments=[launcher, "-n", str(placement.ranks), *binding, *program],
            environment={**library.environment, **self.settings(settings)},
        )
