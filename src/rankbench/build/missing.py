"""Which MPI calls the core makes that a library's header does not declare, and the `missing.h` that stands in for them.

The header is asked, not MPI_VERSION: libraries declare calls of a standard that they do not claim yet, and the reverse.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FUNCTION = re.compile(r"\bMPI_[A-Z]\w*(?=\s*\()")
# MPICH up to 4.0 declares MPI_STATUSES_IGNORE as address 1, which gcc takes for an array of no bytes.
PROLOGUE = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif
"""
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)


def declared(preprocessed: str) -> set[str]:
    """Return the MPI functions that a preprocessed `mpi.h` declares; what its macros mention does not count."""
    return {name for line in preprocessed.splitlines() if line[:1] != "#" for name in FUNCTION.findall(line)}


def used(sources: Iterable[str]) -> set[str]:
    """Return the MPI functions that C sources call."""
    return {name for source in sources for name in FUNCTION.findall(NOT_CODE.sub(" ", source))}


def header(lacking: Iterable[str]) -> str:
    """Return the text of `missing.h`: each lacking call becomes one of the core's own, which says its name."""
    return PROLOGUE + "".join(f'#define {name}(...) missing_call("{name}", __VA_ARGS__)\n' for name in sorted(lacking))
