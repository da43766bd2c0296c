"""MPI libraries: where they come from (`sources`), what they are (`families`), how they are found and chosen.

No MPI program is run here; whether a library works is asked by the campaign's doctor.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rankbench import units
from rankbench.libraries import families, inspection, sources
from rankbench.libraries.families import Family, recognise
from rankbench.libraries.sources import Installation, Search, pypi
from rankbench.model import Library, RankbenchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "Family",
    "Search",
    "choose",
    "everywhere",
    "family_of",
    "find",
    "install",
    "installed",
    "recognise",
    "title",
]


def everywhere(home: Path, prefixes: Sequence[Path] = ()) -> Search:
    """Return the search of all places this process can see."""
    return Search(home=home, prefixes=tuple(prefixes), path=tuple(map(Path, os.get_exec_path())))


def find(search: Search) -> list[Library]:
    """Return every library in reach, each once and under a name of its own, in the order of the sources."""
    return list(named(inspection.describe(installation) for installation in distinct(search)))


def install(requirement: str, home: Path) -> Library:
    """Install `family` or `family==version` from PyPI below the home and return it."""
    return inspection.describe(pypi.install(requirement, home))


def installed(requirement: str, home: Path) -> Library | None:
    """Return what an earlier `install` made of the same requirement, if anything."""
    found = pypi.installed(requirement, home)
    return inspection.describe(found) if found else None


def choose(wanted: str, found: Sequence[Library]) -> Library:
    """Return the library meant by a name, a family or `family==version`: the newest; of equals, the first found."""
    named_so = [library for library in found if library.name == wanted]
    family, _, version = wanted.partition("==")
    fitting = [library for library in found if library.family == family and version in ("", library.version)]
    if not named_so and not fitting:
        raise RankbenchError(f"{wanted}: no such library here{offer(wanted, family, found)}")
    return max(named_so or fitting, key=lambda library: pypi.numbers(library.version))


def family_of(library: Library) -> Family:
    """Return the family of a library."""
    if library.family not in families.known():
        raise RankbenchError(
            f"{library.wrapper}: not recognised as an MPI library; known are "
            + ", ".join(family.title for family in families.known().values())
        )
    return families.known()[library.family]


def title(library: Library) -> str:
    """Return how people write a library's name, with its version."""
    family = families.known().get(library.family)
    return f"{family.title} {library.version}" if family else "not recognised"


def offer(wanted: str, family: str, found: Sequence[Library]) -> str:
    """Return the tail of an error line: what there is, and how to get what there is not."""
    known = families.known().get(family)
    if known and known.packages:
        have = ", ".join(library.name for library in found) or "none"
        return f" (found: {have}); get it by: rankbench get {wanted}"
    if known:
        return " and not on PyPI; name the prefix of one by --prefix"
    return "; " + units.suggestion(wanted, [library.name for library in found] or list(families.known()))


def distinct(search: Search) -> Iterator[Installation]:
    """Yield the installations of all sources, one for each wrapper however many links and sources lead to it."""
    modules = sorted(units.modules(sources).values(), key=lambda module: module.PRECEDENCE)
    seen: set[Path] = set()
    for installation in itertools.chain.from_iterable(module.find(search) for module in modules):
        real = installation.wrapper.resolve()
        if real not in seen:
            seen.add(real)
            yield installation


def named(libraries: Iterable[Library]) -> Iterator[Library]:
    """Yield libraries under unique names: the second of a version is named by its source too, the third numbered."""
    taken: set[str] = set()
    for library in libraries:
        sourced = f"{library.name}@{library.source}"
        names = itertools.chain([library.name, sourced], (f"{sourced}-{number}" for number in itertools.count(2)))
        name = next(name for name in names if name not in taken)
        taken.add(name)
        yield msgspec.structs.replace(library, name=name)
