"""MPI libraries, their builds, and the candidates made of them."""

from __future__ import annotations

from rankbench.model.base import Record
from rankbench.model.tuning import Rule


class Library(Record, frozen=True):
    """One MPI implementation as built. `family` is a family's name, or "unknown" where no family recognised it."""

    name: str
    """Unique among the libraries found together, for instance `openmpi-5.0.11`."""
    family: str
    version: str
    source: str
    """The place it came from: the name of a source (`pypi`, `system`, `path`, `prefix`)."""
    prefix: str
    wrapper: str
    """Absolute path of the compiler wrapper (`mpicc`), empty if there is none."""
    launcher: str
    """Absolute path of the library's own `mpiexec`, empty if there is none."""
    environment: dict[str, str] = {}
    """What its wrapper, launcher and programs need set, such as I_MPI_ROOT."""
    abi: str = ""
    """File name a program is linked to, such as `libmpi.so.12`, empty if not known."""
    compiler: str = ""
    """First line of what the compiler behind the wrapper says of its version."""
    build_environment: dict[str, str] = {}
    """What its wrapper needs set besides, and its launcher and programs do not, such as MPICH_CC."""
    binary_of: str = ""
    """Name of the library whose wrapper makes the binaries that this one runs, if that is not its own."""
    origin: dict[str, str] = {}
    """What its source reports of how it was made, in the source's own words: `modules`, `spec`, `hash`."""


class Receipt(Record, frozen=True):
    """What a build of the core was made of, kept beside the binary and stored with every result."""

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
    """Of a library as tuned: which variant its settings use for which calls; empty: not known."""
