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
    versions = (
        r"^MPICH Version:\s+(\S+)",
        r"^mpicc for MPICH version (\S+)",
        r"^HYDRA build details:\s+Version:\s+(\S+)",
    )
    failures = (
        *hydra.FAILURES,
        (
            r"MPIR_T_cvar_init|invalid.*MPIR_CVAR|MPIR_CVAR_\w+.*(?:invalid|unrecognized)",
            "a setting has a value that this MPICH does not know; see `mpivars`",
        ),
    )

    def launch_line(
        self, library: Library, placement: Placement, settings: Mapping[str, str], program: list[str]
    ) -> CommandLine:
        """Hydra binds."""
        return hydra.launch_line(library, placement, self.settings(settings), program)
