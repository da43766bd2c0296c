"""PyPI: wheels of whole MPI libraries that `rankbench get` installed below `<home>/libraries`."""

from __future__ import annotations

from collections.abc import Iterable

from rankbench.libraries import sources

TITLE = "PyPI, installed by `rankbench get`"
PRECEDENCE = 10


def find(search: sources.Search) -> Iterable[sources.Installation]:
    """Yield the libraries installed below the home."""
    return [
        sources.make_installation(wrapper, "pypi") for wrapper in sorted(search.home.glob("libraries/[!.]*/bin/mpicc"))
    ]
