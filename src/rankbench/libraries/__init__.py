"""MPI libraries: their `sources`, their `families`, and how they are found and selected.

No MPI program is run here; whether a library works is asked by the campaign's doctor.
"""

from __future__ import annotations

import difflib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rankbench import units
from rankbench.libraries import derived, families, inspection, modulefiles, sources, wheels
from rankbench.libraries.derived import (
    explain_wrong_libmpi,
    find_libmpi,
    make_environment,
    make_environment_of_script,
)
from rankbench.libraries.families import Family, recognise
from rankbench.libraries.naming import distinguish, name_uniquely
from rankbench.libraries.sources import Installation, Search
from rankbench.libraries.wheels import download, list_installable
from rankbench.model import CandidateSpec, Library, RankbenchError
from rankbench.tuning.handover import proven_settings

ABI = "abi"
"""Prefix of a library's name, before a colon: the library with its wrapper for the MPI standard's ABI."""
MOST_HINTED = 8
"""Most modules in a hint."""
LIKELY = 0.8
"""Similarity above which a name is a misspelling of a family that is not installed."""


def make_search(home: Path, prefixes: Sequence[Path] = (), modules: Sequence[str] = ()) -> Search:
    """Return the search over all places that this process can see."""
    return Search(
        home=home,
        prefixes=tuple(prefixes),
        modules=tuple(modules),
        path=tuple(map(Path, os.get_exec_path())),
        spack_root=Path(os.environ["SPACK_ROOT"]) if "SPACK_ROOT" in os.environ else None,
        shells=modulefiles.find_shells(),
    )


def find(search: Search) -> list[Library]:
    """Return every library in reach, each once and under a unique name, in the order of the sources.

    Libraries are asked at the same time: nearly all of it is waiting for their compilers and launchers.
    """
    with ThreadPoolExecutor() as pool:
        return list(name_uniquely(pool.map(inspection.describe, find_distinct(search))))


def install(requirement: str, home: Path, folder: Path | None = None) -> Library:
    """Install `family` or `family==version` from PyPI, or from a folder of wheels, below the home and return it."""
    return inspection.describe(wheels.install(requirement, home, folder))


def find_installed(requirement: str, home: Path) -> Library | None:
    """Return the library that an earlier `install` of the same requirement made, if there is one."""
    installation = wheels.find_installed(requirement, home)
    return inspection.describe(installation) if installation else None


def resolve_libraries(specs: Sequence[CandidateSpec], available: list[Library]) -> list[Library]:
    """Return the library of each candidate. Those that they name by a source's notation are named together.

    `available` grows by these.
    """
    named = name_together([text for spec in specs for text in (spec.library, spec.binary_of) if text], available)
    resolved: list[Library] = []
    for spec in specs:
        resolved.append(name_apart(resolve_library(substitute(spec, named), available), resolved))
    return resolved


def name_apart(library: Library, others: Iterable[Library]) -> Library:
    """Return a library under another name if one of the others has its name and is started by another launcher."""
    known = {other.name: other for other in others}
    program = Path(library.launch[0]).name if library.launch else "own-launcher"
    longer = f"{library.name}+{program}"
    for name in itertools.chain([library.name, longer], (f"{longer}-{number}" for number in itertools.count(2))):
        named = msgspec.structs.replace(library, name=name)
        if known.get(name, named) == named:
            return named
    raise AssertionError


def name_together(texts: Iterable[str], available: list[Library]) -> dict[str, str]:
    """Return the name of the library of each text with a source's notation; add those that are new to the available."""
    wanted = dict.fromkeys(text for text in map(drop_additions, texts) if text.partition(":")[0] in list_schemes())
    with ThreadPoolExecutor() as pool:
        described = dict(zip(wanted, pool.map(describe_named, wanted), strict=True))
    new: list[Library] = []
    for library in described.values():
        if not find_same(library, [*available, *new]):
            new.append(library)
    available.extend(name_uniquely(new, available))
    return {text: (find_same(library, available) or library).name for text, library in described.items()}


def substitute(spec: CandidateSpec, named: Mapping[str, str]) -> CandidateSpec:
    """Return a candidate that has the names of libraries in place of texts with a source's notation."""

    def replace(text: str) -> str:
        core = drop_additions(text)
        return text.replace(core, named[core]) if core in named else text

    return msgspec.structs.replace(spec, library=replace(spec.library), binary_of=replace(spec.binary_of))


def drop_additions(text: str) -> str:
    """Return what a plan says of a library, without the words for its standard ABI and for tuned settings."""
    return proven_settings.split_name(text)[0].removeprefix(f"{ABI}:")


def describe_named(text: str) -> Library:
    """Return the library that a source finds by its notation; its name may not be unique."""
    scheme, _, rest = text.partition(":")
    return inspection.describe(list_schemes()[scheme](rest.strip()))


def resolve_library(spec: CandidateSpec, available: list[Library]) -> Library:
    """Return the library of a candidate, with its compiler or the other library's binary.

    `available` grows by what the candidate names that was not found before, so that names stay unique.
    """
    library = derive_library(spec, available)
    if spec.launcher:
        library = msgspec.structs.replace(library, launch=spec.launcher)
    return derived.add_wrap(library, spec.wrap) if spec.wrap else library


def derive_library(spec: CandidateSpec, available: list[Library]) -> Library:
    """Return the library of a candidate, whatever starts its ranks."""
    name, _ = proven_settings.split_name(spec.library)
    library = add_library(choose(name, available), available)
    if spec.compiler:
        return derived.replace_compiler(library, find_family(library), spec.compiler)
    if spec.binary_of:
        return derived.make_runner(library, add_library(choose(spec.binary_of, available), available))
    return library


def add_library(library: Library, available: list[Library]) -> Library:
    """Return a library and add it to those found."""
    if library not in available:
        available.append(library)
    return library


def choose(spec: str, available: Sequence[Library]) -> Library:
    """Return the library with a name, of a family, or of `family==version`: the newest; of equals, the first found.

    Or the one that a source has by its own notation: `module:gcc/12 mpich/4.3`, `spack:mpich@4.3.2`, `prefix:/opt/x`.
    `abi:` before any of these is the same library with its wrapper of the MPI standard's ABI.

    Raises RankbenchError if there is none.
    """
    scheme, colon, rest = spec.partition(":")
    if colon and scheme == ABI:
        return derived.use_standard_abi(choose(rest, available))
    if colon and scheme in list_schemes():
        library = describe_named(spec)
        return find_same(library, available) or next(name_uniquely([library], available))
    named_so = [library for library in available if library.name == spec]
    family, _, version = spec.partition("==")
    fitting = [library for library in available if library.family == family and version in list_versions(library)]
    if not named_so and not fitting:
        raise RankbenchError(f"{spec}: no such library here{describe_available(spec, family, available)}")
    return max(named_so or fitting, key=lambda library: wheels.parse_version(library.version))


def list_versions(library: Library) -> set[str]:
    """Return the versions by which a library can be named: none, its own, and that of its wheel."""
    of_wheel = Path(library.prefix).name.removeprefix(f"{library.family}-") if library.source == "pypi" else ""
    return {"", library.version, of_wheel}


def list_schemes() -> dict[str, Callable[[str], Installation]]:
    """Return the functions that find a library by its source's notation, by the word before the colon."""
    modules = units.modules(sources).values()
    return {scheme: module.find_named for module in modules for scheme in getattr(module, "SCHEMES", ())}


def find_same(library: Library, available: Sequence[Library]) -> Library | None:
    """Return the equal library among those found, under whatever name."""
    same = (candidate for candidate in available if msgspec.structs.replace(candidate, name=library.name) == library)
    return next(same, None)


def suggest_modules(search: Search) -> str:
    """Return a hint with modules of the site that may provide MPI; empty: there are none."""
    tried = {name for text in search.modules for name in text.split()}
    names = [name for name in modulefiles.list_likely_modules(search.shells) if name not in tried]
    if not names:
        return ""
    more = f" and {len(names) - MOST_HINTED} more" if len(names) > MOST_HINTED else ""
    listed = ", ".join(names[:MOST_HINTED])
    return f"modules that may be MPI libraries: {listed}{more}; try: rankbench find --modules {names[0]}"


def load_modules(library: Library, names: Sequence[str]) -> modulefiles.LoadResult:
    """Return the result of loading modules after those that the library comes from."""
    return modulefiles.load([*library.origin.get("modules", "").split(), *names])


def find_family(library: Library) -> Family:
    """Return the family of a library. Raises RankbenchError if it is of none."""
    if library.family not in families.list_families():
        raise RankbenchError(
            f"{library.wrapper}: not recognised as an MPI library; known are "
            + ", ".join(family.title for family in families.list_families().values())
        )
    return families.list_families()[library.family]


def format_title(library: Library) -> str:
    """Return the name and version of a library for people."""
    family = families.list_families().get(library.family)
    return f"{family.title} {library.version}" if family else "not recognised"


def describe_available(spec: str, family: str, available: Sequence[Library]) -> str:
    """Return the end of an error line: the libraries found, and how to install others."""
    known = families.list_families().get(family)
    if known and known.packages:
        have = ", ".join(library.name for library in available) or "none"
        return f" (found: {have}); get it by: rankbench get {spec}"
    if known:
        return " and not on PyPI; name the prefix of one by --prefix"
    near = difflib.get_close_matches(family, families.list_families(), n=1, cutoff=LIKELY)
    if available and near and not any(library.family == near[0] for library in available):
        return f"; did you mean {near[0]}? Not found here{describe_available(near[0], near[0], available)}"
    names = [library.name for library in available]
    if near and names:
        return f"; did you mean {near[0]}? (allowed: {', '.join(names)})"
    return units.suggestion(spec, names or list(families.list_families()))


def find_distinct(search: Search) -> Iterator[Installation]:
    """Yield the installations of all sources, one for each wrapper, although several links or sources may lead to it.

    A wrapper for which a source has an environment of its own is another library in it.
    """
    modules = sorted(units.modules(sources).values(), key=lambda module: module.PRECEDENCE)
    known: set[tuple[Path, tuple[tuple[str, str], ...]]] = set()
    for installation in itertools.chain.from_iterable(module.find(search) for module in modules):
        real, within = installation.wrapper.resolve(), tuple(sorted(installation.environment.items()))
        if (real, within) not in known:
            known |= {(real, within), (real, ())}
            yield installation
