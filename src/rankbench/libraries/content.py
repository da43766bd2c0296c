"""Identifies libraries by content: which files a launch reports, and whether two launches found the same.

The core computes the hashes where a launch runs (`core/sync/library_files.c`), since a job's nodes may have files that
exist nowhere else. Version, prefix and header of a library stay the same when it is built again in its place.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from rankbench import files
from rankbench.libraries import families
from rankbench.model import Launch, LaunchStatus, Library, LibraryFile

SYSTEM = ("/lib/", "/lib32/", "/lib64/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/")
"""Folders of the system's own libraries. Below `/usr` as a prefix, they count as the library's."""
SHARED = re.compile(r"\.so(\.\d+)*$")
SPECIAL = re.compile(r"([*?\[\\~])")
MPI = re.compile(r"libmpi(ch|_abi)?\.so")
COMMON = ("UCX_", "FI_", "HCOLL_", "CXI_", "PSM2_", "PSM3_", "LD_PRELOAD")
"""Prefixes of variables of network libraries and of the loader, which any library takes."""
MOST_NAMES = 4
NANO = 1_000_000_000
HASH_LENGTH = 8
"""Length of an abbreviated hash."""


def write_list(path: Path, library: Library, variables: Mapping[str, str], known: Iterable[LibraryFile] = ()) -> None:
    """Write the list of a library's files for the core, with the hashes of those that are known. Raises OSError.

    `variables` are those of a launch: the files that they name belong to the library, too.
    """
    lines = [
        *(f"file {pattern}" for pattern in list_patterns(library, variables)),
        *(
            f"known {file.sha256} {file.bytes} {file.modified_ns} {file.inode} {file.path}"
            for file in known
            if file.sha256
        ),
    ]
    files.make_folder(path.parent)
    files.write(path, "".join(f"{line}\n" for line in lines if line.isprintable()))


def list_patterns(library: Library, variables: Mapping[str, str]) -> list[str]:
    """Return the patterns of files that a library reads but does not keep mapped."""
    etc = "/etc" if library.prefix == "/usr" else f"{library.prefix}/etc"
    known = families.list_families().get(library.family)
    places = {"{prefix}": escape(library.prefix), "{etc}": escape(etc)}
    patterns = [re.sub(r"\{\w+\}", lambda match: places[match[0]], text) for text in (known.files if known else ())]
    prefixes = (*COMMON, *(known.variables if known else ()))
    values = [value for name, value in variables.items() if name.startswith(prefixes)]
    words = (word for value in values for word in re.split(r"[:,;]", value))
    return list(dict.fromkeys([*patterns, *(escape(word) for word in words if word.startswith("/"))]))


def escape(path: str) -> str:
    """Return a pattern that only fits this path."""
    return SPECIAL.sub(r"\\\1", path)


def select_own(library: Library, library_files: Iterable[LibraryFile]) -> list[LibraryFile]:
    """Return the files that identify a library: all but those of the system that its programs load as well."""
    prefix = f"{Path(library.prefix).resolve()}/"
    return [
        file
        for file in library_files
        if file.listed or file.path.startswith(prefix) or is_mpi(file) or not file.path.startswith(SYSTEM)
    ]


def is_mpi(file: LibraryFile) -> bool:
    """Return whether a file is a libmpi."""
    return MPI.match(PurePosixPath(file.path).name) is not None


def is_program(file: LibraryFile) -> bool:
    """Return whether a file is a shared library or component; else it is configuration."""
    return SHARED.search(file.path) is not None


class Change(NamedTuple):
    """A change from some files of a library to others."""

    names: list[str]
    """Of the files that differ, libmpi first."""
    rebuilt: bool
    """Whether a shared library or component differs, not only configuration."""

    @property
    def listed(self) -> str:
        """Return the names, of many the first ones and how many more there are."""
        more = len(self.names) - MOST_NAMES
        return ", ".join(self.names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def find_change(
    before: Sequence[LibraryFile], now: Sequence[LibraryFile], prefixes: tuple[str, str] = ("", "")
) -> Change | None:
    """Return what differs between the files of two launches of a library; None: nothing, or one of them is unknown.

    Listed files are compared completely, by path; with `prefixes`, files below one of them fit those below the other.
    Which others are mapped depends on the placement, so that only files mapped by both are compared, by name: a link on
    the way to them may lead elsewhere now.
    """
    if not before or not now:
        return None
    then, after = (
        index_files(library_files, prefix) for library_files, prefix in zip((before, now), prefixes, strict=True)
    )
    places = [place for place in {**then, **after} if differ(then.get(place), after.get(place))]
    different = [after.get(place) or then[place] for place in places]
    if not different:
        return None
    ordered = sorted(different, key=lambda file: (not is_mpi(file), not is_program(file), file.path))
    return Change(list(dict.fromkeys(PurePosixPath(file.path).name for file in ordered)), any(map(is_program, ordered)))


def index_files(library_files: Iterable[LibraryFile], prefix: str) -> dict[str, LibraryFile]:
    """Return files by what identifies them in another launch: a path, or the name of a mapped library."""
    return {name_place(file, prefix): file for file in sorted(library_files, key=lambda file: file.path)}


def merge(before: Iterable[LibraryFile], now: Iterable[LibraryFile]) -> list[LibraryFile]:
    """Return the files of a later launch, with those that only earlier launches mapped."""
    mapped = {place: file for place, file in index_files(before, "").items() if not file.listed}
    return [*{**mapped, **index_files(now, "")}.values()]


def differ(old: LibraryFile | None, new: LibraryFile | None) -> bool:
    """Return whether a file was changed, added or removed."""
    if old and new:
        return old.sha256 != new.sha256
    return any(file.listed for file in (old, new) if file)


def name_place(file: LibraryFile, prefix: str) -> str:
    """Return a listed file's path without the prefix; of a mapped file the name without its version."""
    if file.listed:
        return file.path.removeprefix(f"{prefix}/") if prefix else file.path
    return SHARED.sub(".so", PurePosixPath(file.path).name)


def collect(launches: Iterable[Launch], candidate: str) -> list[LibraryFile]:
    """Return the files of a candidate's library, as its last launches found them; none: unknown."""
    library_files: list[LibraryFile] = []
    for launch in launches:
        if launch.candidate == candidate and is_known(launch):
            library_files = merge(library_files, launch.files)
    return library_files


def is_known(launch: Launch) -> bool:
    """Return whether the files of a launch are known to belong to what was measured."""
    return bool(launch.files) and launch.status != LaunchStatus.REFUSED


def describe_build(library_files: Sequence[LibraryFile], prefix: str) -> str:
    """Return the abbreviated hash of a library's files and the day of the newest one: `5e1f2a3b of 2026-11-20`."""
    newest = max((file.modified_ns for file in library_files), default=0) // NANO
    return (
        f"{compute_digest(library_files, prefix)} of {datetime.fromtimestamp(newest, UTC):%Y-%m-%d}"
        if library_files
        else ""
    )


def compute_digest(library_files: Iterable[LibraryFile], prefix: str) -> str:
    """Return an abbreviated hash of all files, which is the same for equal files below another prefix."""
    lines = sorted(f"{name_place(file, prefix)} {file.sha256}\n" for file in library_files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:HASH_LENGTH] if lines else ""
