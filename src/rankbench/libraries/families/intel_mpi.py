"""Intel MPI: Hydra's command line with pinning by I_MPI_* variables; settings are those variables as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.libraries import families, hydra
from rankbench.model import CommandLine

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rankbench.model import Library, Placement

PINNING = {
    # The default order deals ranks out over sockets; compact fills core after core, as the other families do.
    "core": {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": "core", "I_MPI_PIN_ORDER": "compact"},
    "none": {"I_MPI_PIN": "0"},
}


class Family(families.Family):
    """Intel MPI of oneAPI and of PyPI. Asked first: its header says MPICH."""

    name = "intel-mpi"
    title = "Intel MPI"
    packages = ("impi-rt", "impi-devel")
    precedence = 10
    versions = (
        r"^Intel\(R\) MPI Library (\d[\d.]*) for",
        r"^Intel\(R\) MPI Library for Linux\* OS, Version (\d[\d.]*)",
        r"for the Intel\(R\) MPI Library (\d[\d.]*) for",
    )
    failures = (
        *hydra.FAILURES,
        (
            r"mpi\.h: No such file",
            "I_MPI_ROOT does not name the library's prefix; unset it, or load the module of this very version",
        ),
        (
            r"OFI fi_getinfo\(\) failed|open_fabric|MPIDI_OFI_mpi_init_hook",
            "no usable network fabric; within one node set I_MPI_FABRICS=shm, else check FI_PROVIDER",
        ),
    )

    def environment(self, prefix: Path) -> dict[str, str]:
        """Wrapper and libraries look for everything below I_MPI_ROOT."""
        return {"I_MPI_ROOT": str(prefix)}

    def launch_line(
        self, library: Library, placement: Placement, settings: Mapping[str, str], program: list[str]
    ) -> CommandLine:
        """Pinning is asked for by variables; Hydra's own option is ignored by this launcher."""
        return CommandLine(
            arguments=[families.local_launcher(library, placement), "-n", str(placement.ranks), *program],
            environment={**library.environment, **PINNING[placement.binding], **self.settings(settings)},
        )
