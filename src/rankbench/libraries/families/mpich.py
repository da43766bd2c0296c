"""MPICH, launched by Hydra; settings are its MPIR_CVAR_* environment variables as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.libraries import families, hydra

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankbench.model import CommandLine, Library, Placement


class Family(families.Family):
    """MPICH from 3.x on. Asked last: the libraries made from it carry its name too."""

    name = "mpich"
    title = "MPICH"
    packages = ("mpich",)
    precedence = 90
    compiler_variable = "MPICH_CC"
    versions = (
        r"^MPICH Version:\s+(\S+)",
        r"^mpicc for MPICH version (\S+)",
        r"^HYDRA build details:\s+Version:\s+(\S+)",
    )
    failures = (
        *hydra.FAILURES,
        (
            r"(?m)Fatal error in \w*Init\w*: Other MPI error, *$",
            "MPI_Init failed without a reason, as it does for a setting it does not know; check the MPIR_CVAR_* values",
        ),
    )

    def make_mpiexec_line(
        self, library: Library, placement: Placement, settings: Mapping[str, str], program: list[str]
    ) -> CommandLine:
        """Hydra binds."""
        return hydra.make_launch_line(library, placement, self.encode_settings(settings), program)
