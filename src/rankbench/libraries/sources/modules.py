"""Environment Modules and Lmod. Only the modules that the user names are loaded."""

from __future__ import annotations

from collections.abc import Iterable

from rankbench.libraries import modulefiles, sources
from rankbench.model import RankbenchError

TITLE = "environment modules given by --modules"
PRECEDENCE = 22
SCHEMES = ("module", "modules")


def find(search: sources.Search) -> Iterable[sources.Installation]:
    """Yield the library of each list of modules."""
    return [find_named(text) for text in search.modules]


def find_named(text: str) -> sources.Installation:
    """Return the library of modules that are loaded together, in order: `gcc/12 mpich/4.3`.

    Raises RankbenchError if none is named.
    """
    if not text.split():
        raise RankbenchError('modules: none is named; use the names of module load: "gcc/12 mpich/4.3"')
    return modulefiles.find_installation(text.split())
