"""MPI libraries: where they come from (`sources`), what they are (`families`), how they are found and chosen.

No MPI program is run here; whether a library works is asked by the campaign's doctor.
"""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rankbench import units
from rankbench.libraries import derived, families, inspection, modulefiles, sources, wheels
from rankbench.libraries.derived import environment_for, mapped_wrong
from rankbench.libraries.families import Family, recognise
from rankbench.libraries.sources import Installation, Search
from rankbench.model import Library, RankbenchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rankbench.model import CandidateSpec

__all__ = [
    "Family",
    "Search",
    "choose",
    "environment_for",
    "everywhere",
    "family_of",
    "find",
    "hint",
    "install",
    "installed",
    "mapped_wrong",
    "meant",
    "recognise",
    "title",
    "with_modules",
]
ABI = "abi"
"""Before the colon of a library's name: the same with its wrapper of the MPI standard's ABI."""
HINTED = 8
"""Modules that a hint names at most."""
HASH = 7
"""Characters of a hash that tell it from others."""


def everywhere(home: Path, prefixes: Sequence[Path] = (), modules: Sequence[str] = ()) -> Search:
    """Return the search of all places this process can see."""
    return Search(
        home=home,
        prefixes=tuple(prefixes),
        modules=tuple(modules),
        path=tuple(map(Path, os.get_exec_path())),
        spack_root=Path(os.environ["SPACK_ROOT"]) if "SPACK_ROOT" in os.environ else None,
        shells=modulefiles.shells(),
    )


def find(search: Search) -> list[Library]:
    """Return every library in reach, each once and under a name of its own, in the order of the sources.

    Libraries are asked at the same time: nearly all of it is waiting for their compilers and launchers.
    """
    with ThreadPoolExecutor() as pool:
        return list(named(pool.map(inspection.describe, distinct(search))))


def install(requirement: str, home: Path) -> Library:
    """Install `family` or `family==version` from PyPI below the home and return it."""
    return inspection.describe(wheels.install(requirement, home))


def installed(requirement: str, home: Path) -> Library | None:
    """Return what an earlier `install` made of the same requirement, if anything."""
    found = wheels.installed(requirement, home)
    return inspection.describe(found) if found else None


def offered() -> list[str]:
    """Return the names of the libraries that can be installed."""
    return wheels.offered()


def meant(spec: CandidateSpec, found: list[Library]) -> Library:
    """Return the library of a candidate: with the compiler, or running the binary, that it asks for.

    `found` grows by what the candidate names that was not found before, so that names stay unique.
    """
    library = taken_in(choose(spec.library, found), found)
    if spec.compiler:
        return derived.compiled_by(library, family_of(library), spec.compiler)
    if spec.binary_of:
        return derived.running(library, taken_in(choose(spec.binary_of, found), found))
    return library


def taken_in(library: Library, found: list[Library]) -> Library:
    """Return a library that is now among those found."""
    if library not in found:
        found.append(library)
    return library


def choose(wanted: str, found: Sequence[Library]) -> Library:
    """Return the library meant by a name, a family or `family==version`: the newest; of equals, the first found.

    Or the one that a source has by its own notation: `module:gcc/12 mpich/4.3`, `spack:mpich@4.3.2`, `prefix:/opt/x`.
    `abi:` before any of these is the same library with its wrapper of the MPI standard's ABI.
    """
    scheme, colon, rest = wanted.partition(":")
    if colon and scheme == ABI:
        return derived.standard_abi(choose(rest, found))
    if colon and scheme in schemes():
        return unlike(inspection.describe(schemes()[scheme](rest.strip())), found)
    named_so = [library for library in found if library.name == wanted]
    family, _, version = wanted.partition("==")
    fitting = [library for library in found if library.family == family and version in ("", library.version)]
    if not named_so and not fitting:
        raise RankbenchError(f"{wanted}: no such library here{offer(wanted, family, found)}")
    return max(named_so or fitting, key=lambda library: wheels.numbers(library.version))


def schemes() -> dict[str, Callable[[str], Installation]]:
    """Return what finds a library by the notation of its source, by what stands before the colon."""
    modules = units.modules(sources).values()
    return {scheme: module.named for module in modules for scheme in getattr(module, "SCHEMES", ())}


def unlike(library: Library, found: Sequence[Library]) -> Library:
    """Return that of the libraries found which a library is, else itself, under a name that none of them has."""
    same = (one for one in found if msgspec.structs.replace(one, name=library.name) == library)
    return next(same, None) or list(named([*found, library]))[-1]


def hint(search: Search) -> str:
    """Return a line on modules of the site that may be worth a try, empty where there are none."""
    tried = {name for text in search.modules for name in text.split()}
    names = [name for name in modulefiles.likely(search.shells) if name not in tried]
    if not names:
        return ""
    more = f" and {len(names) - HINTED} more" if len(names) > HINTED else ""
    listed = ", ".join(names[:HINTED])
    return f"modules that may be MPI libraries: {listed}{more}; try: rankbench find --modules {names[0]}"


def with_modules(library: Library, names: Sequence[str]) -> modulefiles.Loaded:
    """Return what modules give that are loaded after those which a library is from."""
    return modulefiles.load([*library.origin.get("modules", "").split(), *names])


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
    """Yield the installations of all sources, one for each wrapper however many links and sources lead to it.

    A wrapper for which a source has an environment of its own is another library in it.
    """
    modules = sorted(units.modules(sources).values(), key=lambda module: module.PRECEDENCE)
    seen: set[tuple[Path, tuple[tuple[str, str], ...]]] = set()
    for installation in itertools.chain.from_iterable(module.find(search) for module in modules):
        real, within = installation.wrapper.resolve(), tuple(sorted(installation.environment.items()))
        if (real, within) not in seen:
            seen |= {(real, within), (real, ())}
            yield installation


def named(libraries: Iterable[Library]) -> Iterator[Library]:
    """Yield libraries under unique names: the second of a version is named by its origin too, the third numbered."""
    taken: set[str] = set()
    for library in libraries:
        longer = f"{library.name}@{label(library)}"
        names = itertools.chain([library.name, longer], (f"{longer}-{number}" for number in itertools.count(2)))
        name = next(name for name in names if name not in taken)
        taken.add(name)
        yield msgspec.structs.replace(library, name=name)


def label(library: Library) -> str:
    """Return what tells a library from others of its version: its modules, the beginning of its hash, its source."""
    modules, digest = library.origin.get("modules", ""), library.origin.get("hash", "")
    return modules.replace(" ", "+") or digest[:HASH] or library.source
