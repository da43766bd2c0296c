"""HPE MPT and its variant with MPICH's ABI, HMPT: known by their name, launched by what the plan states."""

from __future__ import annotations

from rankbench.libraries import families


class Family(families.UnknownLauncherFamily):
    """HPE MPT, formerly of SGI."""

    name = "hpe-mpt"
    title = "HPE MPT"
    packages = ()
    precedence = 30
    colour = "#56B4E9"
    compiler_variable = "MPICC_CC"
    versions = (r"\b(?:HPE|SGI) H?MPT (\d\S*)",)
    variables = ("MPI_DSM_", "MPI_IB_")
