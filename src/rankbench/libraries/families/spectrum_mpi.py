"""IBM Spectrum MPI, derived from Open MPI: launched by what the plan states, such as jsrun."""

from __future__ import annotations

from collections.abc import Mapping

from rankbench.libraries import families, mca


class Family(families.UnknownLauncherFamily):
    """Spectrum MPI names itself as a package of Open MPI; some releases begin with the version of Open MPI."""

    name = "spectrum-mpi"
    title = "IBM Spectrum MPI"
    packages = ()
    precedence = 45
    colour = "#D55E00"
    origin = "openmpi"
    compiler_variable = "OMPI_CC"
    pmi = "pmix"
    versions = (
        r"^Open MPI v\S+, package: IBM Spectrum MPI, ident: (\d[^\s,]*)",
        r"^Open MPI v(\d[^\s,]*), package: IBM Spectrum MPI",
    )
    variables = mca.VARIABLES

    def encode_settings(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Spell MCA parameters as environment variables."""
        return mca.encode_settings(settings)
