"""Fujitsu MPI of the Technical Computing Suite, derived from Open MPI: launched by what the plan states."""

from __future__ import annotations

from collections.abc import Mapping

from rankbench.libraries import families, mca


class Family(families.UnknownLauncherFamily):
    """Fujitsu MPI. Its settings are parameters of Open MPI."""

    name = "fujitsu-mpi"
    title = "Fujitsu MPI"
    packages = ()
    precedence = 40
    colour = "#D55E00"
    origin = "openmpi"
    compiler_variable = "OMPI_CC"
    pmi = "pmix"
    versions = (r"^FUJITSU MPI Library (\d\S*)",)
    variables = mca.VARIABLES

    def encode_settings(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Spell MCA parameters as environment variables."""
        return mca.encode_settings(settings)
