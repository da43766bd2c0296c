"""Names of libraries: unique, and of several builds of one version by the part of the prefix that differs. Pure."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

import msgspec

from rankbench.model import Library

HASH_LENGTH = 7
"""Length of an abbreviated hash."""
PREFIX = "prefix"
"""The source of libraries that users name by their prefix."""


def name_uniquely(libraries: Iterable[Library], available: Sequence[Library] = ()) -> Iterator[Library]:
    """Yield libraries under unique names, also among the available ones, whose names stay.

    The first of a version has its plain name, and others what distinguishes them; of several prefixes each one has the
    part that differs.
    """
    all_libraries = list(libraries)
    used_names = {library.name for library in available}
    for library in all_libraries:
        new, others = (list_prefixes(library.name, places) for places in (all_libraries, [*available, *all_libraries]))
        from_prefix = library.source == PREFIX
        labels = [label_prefix(library.prefix, new), label_prefix(library.prefix, others)] if from_prefix else []
        longer = [f"{library.name}@{label}" for label in labels or [make_label(library)]]
        plain = [] if from_prefix and len(others) > 1 else [library.name]
        names = itertools.chain(plain, longer, (f"{longer[0]}-{number}" for number in itertools.count(2)))
        name = next(name for name in names if name not in used_names)
        used_names.add(name)
        yield msgspec.structs.replace(library, name=name)


def list_prefixes(name: str, libraries: Iterable[Library]) -> list[str]:
    """Return the prefixes of libraries of one version that users name by them."""
    version = name.partition("@")[0]
    same = (library for library in libraries if library.source == PREFIX and library.name.partition("@")[0] == version)
    return list(dict.fromkeys(library.prefix for library in same))


def label_prefix(prefix: str, among: Sequence[str]) -> str:
    """Return the part of a prefix that differs from others."""
    return distinguish(among)[among.index(prefix)]


def make_label(library: Library) -> str:
    """Return what distinguishes a library from others of its version: modules, the start of its hash, or source."""
    modules, digest = library.origin.get("modules", ""), library.origin.get("hash", "")
    return modules.replace(" ", "+") or digest[:HASH_LENGTH] or library.source


def distinguish(paths: Sequence[str]) -> list[str]:
    """Return the last part of each path that differs: `base` and `dev` of `/opt/base/install` and `/opt/dev/install`.

    Of one path it is the last folder.
    """
    parts = [PurePath(path).parts[1:] if path.startswith("/") else PurePath(path).parts for path in paths]
    while len(parts) > 1 and all(len(part) > 1 for part in parts) and len({part[-1] for part in parts}) == 1:
        parts = [part[:-1] for part in parts]
    longest = max((len(part) for part in parts), default=1)
    tails = next(
        (tails for length in range(1, longest + 1) if is_unique(tails := [part[-length:] for part in parts])), parts
    )
    return [re.sub(r"[^\w.+]+", "-", "-".join(tail)).strip("-.") for tail in tails]


def is_unique(items: Sequence[object]) -> bool:
    """Return whether no item is there twice."""
    return max(Counter(items).values(), default=1) == 1
