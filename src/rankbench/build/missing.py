"""What of MPI the core uses and a library's header lacks, and the `missing.h` that replaces it.

The header is asked, not MPI_VERSION: libraries declare calls of a standard that they do not claim yet, and the reverse.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from importlib.metadata import version
from typing import NamedTuple

FUNCTION = re.compile(r"\bMPI_[A-Z]\w*(?=\s*\()")
NAME = re.compile(r"\bMPI_[A-Z]\w*")
IN_FORMS = re.compile(r"\bALL_FORMS\(\w*((?:,\s*MPI_\w+)+)")
"""The macro of the core that makes the three forms of a call, with their functions."""
# MPICH up to 4.0 declares MPI_STATUSES_IGNORE as address 1, which gcc takes for an array of no bytes.
PROLOGUE = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif
"""
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)


def find_declared(preprocessed: str) -> set[str]:
    """Return the MPI functions that a preprocessed `mpi.h` declares; what its macros mention does not count."""
    return {name for line in preprocessed.splitlines() if line[:1] != "#" for name in FUNCTION.findall(line)}


def find_used(sources: Iterable[str]) -> set[str]:
    """Return the MPI functions that C sources call."""
    return {name for source in sources for name in _read_source(source).used}


def find_names(sources: Iterable[str]) -> set[str]:
    """Return everything of MPI that C sources name: functions, types, constants."""
    return {name for source in sources for name in _read_source(source).names}


class _Source(NamedTuple):
    """What a source calls and names of MPI."""

    used: frozenset[str]
    names: frozenset[str]


@functools.lru_cache(maxsize=512)
def _read_source(source: str) -> _Source:
    """Read a source once: the same sources are asked about for each library, several times."""
    code = NOT_CODE.sub(" ", source)
    in_forms = NAME.findall(" ".join(IN_FORMS.findall(code)))
    return _Source(frozenset([*FUNCTION.findall(code), *in_forms]), frozenset(NAME.findall(code)))


def render_header(functions: Iterable[str], names: Iterable[str] = ()) -> str:
    """Return the text of `missing.h`, which also has the version of the core: that of the package.

    Args:
        functions: those lacking; each becomes a call of one of the core's own, which says its name.
        names: types and constants that are lacking; only lacking functions can do anything with them.
    """
    calls = [f'#define {name}(...) missing_call("{name}", __VA_ARGS__)\n' for name in sorted(functions)]
    others = [f"#define {name} {0 if name.isupper() else 'int'}\n" for name in sorted(names)]
    return f'{PROLOGUE}#define CORE_VERSION "{version("rankbench")}"\n' + "".join(calls + others)
