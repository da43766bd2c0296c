"""Prefixes that the user names: libraries built by hand. A wrapper of another name than mpicc is named itself."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rankbench.libraries import sources
from rankbench.model import RankbenchError

TITLE = "prefixes given by --prefix"
PRECEDENCE = 20
SCHEMES = ("prefix",)


def find(search: sources.Search) -> Iterable[sources.Installation]:
    """Yield the library of each prefix."""
    return [find_named(str(prefix)) for prefix in search.prefixes]


def find_named(text: str) -> sources.Installation:
    """Return the library of a prefix, or of a wrapper. Raises RankbenchError if there is none."""
    path = Path(text).absolute()
    wrapper = path if sources.is_executable(path) else path / "bin" / "mpicc"
    if not sources.is_executable(wrapper):
        raise RankbenchError(f"prefix {text}: no bin/mpicc in it; name the folder that holds an MPI library's bin")
    return sources.make_installation(wrapper, "prefix")
