"""Places where libraries come from: one module each, with `TITLE`, `PRECEDENCE` and `find(search)`.

`PRECEDENCE` orders the sources: a library that two of them reach belongs to the first, and of two equal ones the first
is chosen. Sources look at names of files only, and ask those who installed them; what an installation is, is asked
elsewhere. A source from which a plan can name a library (`module:mpich/4.3`) has two things more: `SCHEMES`, what
comes before the colon, and `find_named(text)`, which returns the installation that the text behind it means.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from rankbench.model import Record

LAUNCHERS = ("mpiexec", "mpiexec.hydra", "mpirun_rsh", "mpirun")


class Search(Record, frozen=True):
    """The places to search."""

    home: Path
    """The folder in which `rankbench get` installs."""
    prefixes: tuple[Path, ...] = ()
    """Prefixes named by the user."""
    modules: tuple[str, ...] = ()
    """Environment modules named by the user; the names in one text, separated by spaces, are loaded together."""
    path: tuple[Path, ...] = ()
    """The folders of PATH."""
    system: tuple[Path, ...] = (Path("/usr/bin"), Path("/usr/local/bin"))
    """Folders in which a distribution keeps several libraries side by side."""
    spack_root: Path | None = None
    """The folder of Spack, if its command is not on PATH."""
    shells: tuple[Path, ...] = ()
    """Files that may define the command `module`, in the order of trial."""


class Installation(Record, frozen=True):
    """The files of a library that is not yet identified."""

    prefix: Path
    wrapper: Path
    launcher: Path | None
    source: str
    environment: dict[str, str] = msgspec.field(default_factory=dict)
    """The variables that its source sets for it."""
    origin: dict[str, str] = msgspec.field(default_factory=dict)
    """How it was built, as its source reports it (`Library.origin`)."""
    wrap: tuple[str, ...] = ()
    """Words before its wrapper (`Library.wrap`)."""


def is_executable(file: Path) -> bool:
    """Return whether a file can be executed; False if its folder is not accessible."""
    return os.access(file, os.X_OK) and file.is_file()


def make_installation(wrapper: Path, source: str, origin: dict[str, str] | None = None) -> Installation:
    """Return the installation of a wrapper, with the launcher beside it that has the same suffix (`mpicc.mpich`)."""
    suffix = wrapper.name.removeprefix("mpicc") if wrapper.name.startswith("mpicc") else ""
    beside = (wrapper.with_name(name + suffix) for name in LAUNCHERS)
    launcher = next((file for file in beside if is_executable(file)), None)
    return Installation(
        prefix=wrapper.parent.parent, wrapper=wrapper, launcher=launcher, source=source, origin=origin or {}
    )
