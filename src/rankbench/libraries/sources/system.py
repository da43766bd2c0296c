"""The distribution's own packages; Debian installs several side by side: `mpicc.mpich`, `mpicc.openmpi`."""

from __future__ import annotations

from collections.abc import Iterable

from rankbench.libraries import sources

TITLE = "the distribution's packages"
PRECEDENCE = 30


def find(search: sources.Search) -> Iterable[sources.Installation]:
    """Yield each suffixed wrapper; the plain `mpicc` is only an alternative that points to one of them."""
    for folder in search.system:
        for wrapper in sorted(folder.glob("mpicc.*")):
            if sources.is_executable(wrapper):
                yield sources.make_installation(wrapper, "system")
