"""IBM Spectrum MPI, derived from Open MPI 3: launched by mpirun as this is, or by what the plan states (jsrun)."""

from __future__ import annotations

from rankbench.libraries import families
from rankbench.libraries.families import openmpi


class Family(openmpi.Family):
    """Spectrum MPI names itself as a package of Open MPI; releases before 10.3.1 begin with Open MPI's own version."""

    name = "spectrum-mpi"
    title = "IBM Spectrum MPI"
    packages = ()
    precedence = 45
    origin = "openmpi"
    versions = (
        r"^Open MPI v\S+, package: IBM Spectrum MPI, ident: (\d[^\s,]*)",
        r"^Open MPI v(\d[^\s,]*), package: IBM Spectrum MPI",
    )

    def recognise(self, text: str) -> str | None:
        """Its header is that of Open MPI."""
        return families.Family.recognise(self, text)
