"""Library families: one file each, a class `Family` that derives from the contract below. This file finds them.

A family knows how a library of its kind names itself, how it launches a program and how its settings are handed over.
What its failures mean is said in `rankbench/causes`. It starts no program itself.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import msgspec

from rankbench import units
from rankbench.libraries import families, launch_commands, srun, ucx
from rankbench.model import CommandLine, Library, Placement, RankbenchError
from rankbench.plan.launchers import EXAMPLE


class Family(Protocol):
    """The contract of a family. Methods with a body here are right for most families."""

    name: str
    """The name users type, such as `intel-mpi`."""
    title: str
    """The name people write, such as `Intel MPI`."""
    packages: tuple[str, ...]
    """PyPI packages of the same version that form one library. Empty: none."""
    precedence: int
    """Order in which families recognise a text; derived ones also contain the name of their origin."""
    colour: str
    """The colour of its libraries in every chart, one of `plots.palette.COLOURS`."""
    origin: str = ""
    """The family that it derives from, by whose name its tools may answer; empty: none."""
    pmi: str = "pmi2"
    """The process-management interface of its programs under Slurm's launcher: `srun --mpi`."""
    compiler_variable: str
    """The variable that sets the C compiler of its wrapper."""
    versions: tuple[str, ...]
    """Patterns of the texts in which a library names itself; the group is the version."""
    network_settings: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    """Settings that make it use a network device, by kind (`model.NetworkDevice.kind`)."""
    report_settings: Mapping[str, str] = MappingProxyType({})
    """Settings that make a launch print what the library uses."""

    variables: tuple[str, ...] = ()
    """Prefixes of the environment variables that it takes as settings."""
    files: tuple[str, ...] = ()
    """Patterns of files that it opens and closes again, so that they are not mapped while it is measured: components
    and configuration. `{prefix}`, `{etc}` (its folder of configuration files) and `~` are replaced."""

    def recognise(self, text: str) -> str | None:
        """Return the version if the text of a wrapper, launcher or library is of this family."""
        matches = (re.search(pattern, text, re.MULTILINE) for pattern in self.versions)
        return next((match[1] for match in matches if match), None)

    def make_environment(self, prefix: Path) -> dict[str, str]:  # noqa: ARG002 - used by those that override it
        """Return the variables that wrapper, launcher and programs of a library at this prefix need."""
        return {}

    def encode_settings(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Return the environment that passes a candidate's settings to the library."""
        return dict(settings)

    def make_launch_line(
        self, library: Library, placement: Placement, settings: Mapping[str, str], program: list[str]
    ) -> CommandLine:
        """Return the command line that starts a program: by the command that the library names, if it names one.

        Ranks fill node after node. They are bound to the placement's CPUs, or to core after core where it names none;
        binding `none` allows more ranks than cores.
        """
        program = [*library.wrap, *program]
        if library.launcher_version:
            library = msgspec.structs.replace(library, version=library.launcher_version)
        if library.launch:
            by_srun = Path(library.launch[0]).name == "srun"
            environment = self.make_srun_environment(library) if by_srun else {}
            environment = environment | self.encode_settings(settings)
            return launch_commands.make_launch_line(library, placement, environment, program)
        if placement.launcher == "srun":
            environment = library.environment | self.make_srun_environment(library) | self.encode_settings(settings)
            return srun.make_launch_line(library, placement, self.pmi, environment, program)
        return self.make_mpiexec_line(library, placement, settings, program)

    def make_mpiexec_line(
        self, library: Library, placement: Placement, settings: Mapping[str, str], program: list[str]
    ) -> CommandLine:
        """Return the command line of the library's own launcher."""
        ...

    def make_srun_environment(self, library: Library) -> dict[str, str]:  # noqa: ARG002 - used by those that override it
        """Return the variables that programs need under Slurm's own launcher."""
        return {}

    def read_usage(self, output: str) -> dict[str, str]:  # noqa: ARG002 - used by those that override it
        """Return transports, devices and components that the library uses, from a launch with `report_settings`.

        Names and values are as reports show them.
        """
        return {}

    def read_functions(self, functions: Sequence[str]) -> dict[str, str]:  # noqa: ARG002
        """Return what the library uses, from the names of its functions for collectives on MPI_COMM_WORLD."""
        return {}

    def list_ignored(self, library: Library, settings: Mapping[str, str], output: str) -> list[str]:  # noqa: ARG002
        """Return a clause on each setting that the library ignores, from such a launch and from its files."""
        return ucx.list_ignored(output)

    def explain_slow_start(self, uses: Mapping[str, str]) -> str:  # noqa: ARG002
        """Return a sentence on what makes its start slow, by what it uses (`read_usage`). Empty: unknown."""
        return ""


class UnknownLauncherFamily(Family):
    """A family whose launcher is not known here, so that the plan states it, or srun launches."""

    def make_mpiexec_line(
        self,
        library: Library,
        placement: Placement,
        settings: Mapping[str, str],  # noqa: ARG002
        program: list[str],  # noqa: ARG002
    ) -> CommandLine:
        """Raise RankbenchError, with what to state."""
        raise RankbenchError(
            f"{library.name} on {placement.name}: how {self.title} starts ranks is not known here; state it, as in "
            f'launcher = {EXAMPLE}, or launcher = "srun" in a job'
        )


def describe_unknown(name: str, known: Collection[str], full: str = "") -> str:
    """Return a clause on a setting that the library does not know. `full`: the name that it may be a part of."""
    near = [full] if full in known else difflib.get_close_matches(name, known, n=1)
    return f"{name} is unknown to the library{f' (did you mean {near[0]}?)' if near else ''}"


def list_unknown(names: Iterable[str], known: set[str], prefix: str) -> list[str]:
    """Return a clause on each variable of an MPI library that is not among those that a library knows.

    A name without a `prefix` that would make it known is one, too. Other names may be those of UCX, libfabric or
    anything.
    """
    prefixes = tuple({prefix for family in list_families().values() for prefix in family.variables})
    return [
        describe_unknown(name, known, f"{prefix}{name.upper()}")
        for name in names
        if (name.startswith(prefixes) and name not in known) or f"{prefix}{name.upper()}" in known
    ]


@functools.cache
def list_families() -> dict[str, Family]:
    """Return every family by name, in the order of recognition."""
    members: list[Family] = [module.Family() for module in units.modules(families).values()]
    return {family.name: family for family in sorted(members, key=lambda family: family.precedence)}


def recognise(text: str) -> tuple[Family, str] | None:
    """Return the family and version of the library that a text names."""
    answers = ((family, family.recognise(text)) for family in list_families().values())
    return next(((family, version) for family, version in answers if version), None)


def require_launcher(library: Library, placement: Placement) -> str:
    """Return the library's launcher. Raises RankbenchError if it cannot launch the placement."""
    srun.require_hosts(placement)
    if not library.launcher:
        raise RankbenchError(f"{library.name}: no mpiexec beside {library.wrapper}; its own launcher is needed")
    return library.launcher
