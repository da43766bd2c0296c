"""Prefixes that the user names: self-built libraries, those of modules and of Spack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.libraries import sources
from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from collections.abc import Iterable

TITLE = "prefixes given by --prefix"
PRECEDENCE = 20


def find(search: sources.Search) -> Iterable[sources.Installation]:
    """Yield the library of each prefix; a prefix without one is the user's slip and said at once."""
    for prefix in search.prefixes:
        wrapper = prefix.absolute() / "bin" / "mpicc"
        if not sources.executable(wrapper):
            raise RankbenchError(
                f"prefix {prefix}: no bin/mpicc in it; name the folder that holds an MPI library's bin"
            )
        yield sources.at(wrapper, "prefix")
