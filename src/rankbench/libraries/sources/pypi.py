"""PyPI: wheels of whole MPI libraries that `rankbench get` installed below `<home>/libraries`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.libraries import sources

if TYPE_CHECKING:
    from collections.abc import Iterable

TITLE = "PyPI, installed by `rankbench get`"
PRECEDENCE = 10


def find(search: sources.Search) -> Iterable[sources.Installation]:
    """Yield the libraries installed below the home."""
    return [
        sources.make_installation(wrapper, "pypi") for wrapper in sorted(search.home.glob("libraries/[!.]*/bin/mpicc"))
    ]
