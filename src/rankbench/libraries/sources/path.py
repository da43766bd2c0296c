"""PATH: the `mpicc` of every folder, with the `mpiexec` beside it."""

from __future__ import annotations

from collections.abc import Iterable

from rankbench.libraries import sources

TITLE = "the folders of PATH"
PRECEDENCE = 40


def find(search: sources.Search) -> Iterable[sources.Installation]:
    """Yield the wrapper of every folder of PATH, even if another one hides it."""
    for folder in search.path:
        wrapper = folder.absolute() / "mpicc"
        if sources.is_executable(wrapper):
            yield sources.make_installation(wrapper, "path")
