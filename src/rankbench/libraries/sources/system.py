"""The distribution's own packages; Debian installs several side by side: `mpicc.mpich`, `mpicc.openmpi`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.libraries import sources

if TYPE_CHECKING:
    from collections.abc import Iterable

TITLE = "the distribution's packages"
PRECEDENCE = 30


def find(search: sources.Search) -> Iterable[sources.Installation]:
    """Yield each suffixed wrapper; the plain `mpicc` is only an alternative that points to one of them."""
    for folder in search.system:
        for wrapper in sorted(folder.glob("mpicc.*")):
            if sources.is_executable(wrapper):
                yield sources.make_installation(wrapper, "system")
