"""MPI libraries, their builds, and the candidates made of them."""

from __future__ import annotations

from rankbench.model.base import Record
from rankbench.model.tuning import Rule


class Library(Record, frozen=True):
    """One MPI implementation as built. `family` is a family's name, or "unknown" where no family recognised it."""

    name: str
    """Unique among all libraries of a search, for example `openmpi-5.0.11`."""
    family: str
    version: str
    source: str
    """Name of the source that found it (`pypi`, `system`, `path`, `prefix`)."""
    prefix: str
    wrapper: str
    """Absolute path of the compiler wrapper (`mpicc`), empty if there is none."""
    launcher: str
    """Absolute path of the library's own `mpiexec`, empty if there is none."""
    environment: dict[str, str] = {}
    """Variables that its wrapper, launcher and programs need, such as I_MPI_ROOT."""
    abi: str = ""
    """File that programs are linked to, such as `libmpi.so.12`; empty: unknown."""
    compiler: str = ""
    """First line of the version that the wrapper's compiler prints."""
    build_environment: dict[str, str] = {}
    """Further variables that only its wrapper needs, such as MPICH_CC."""
    binary_of: str = ""
    """Name of the library whose wrapper builds this library's binaries, if not its own."""
    launch: list[str] = []
    """Words of the command line that starts its ranks in the place of `launcher`, with placeholders; empty: none."""
    wrap: list[str] = []
    """Words before its wrapper and before the program of each rank, such as `apptainer exec image.sif`."""
    launcher_version: str = ""
    """Version of the library that `launcher` is of, if not of this one."""
    origin: dict[str, str] = {}
    """How it was built, as its source reports it: `modules`, `spec`, `hash`."""


class Receipt(Record, frozen=True):
    """The inputs of a build of the core; stored beside the binary and with every result."""

    library: str
    wrapper: str
    compiler: str
    flags: list[str]
    linked: str
    """What `mpicc -show` printed."""
    missing: list[str]
    """MPI calls that the core uses and the library's mpi.h does not declare."""
    core_sha256: str
    binary_sha256: str


class Candidate(Record, frozen=True):
    """What is compared: a library with settings. `control_of` names the candidate of which this one is the A/A twin."""

    name: str
    library: str
    settings: dict[str, str] = {}
    control_of: str = ""
    rules: list[Rule] = []
    """Of a tuned library: which variant its settings use for which calls; empty: unknown."""
