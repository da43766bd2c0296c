"""What all records share: their base, the words of a case, and the one error type users see."""

from __future__ import annotations

from typing import Literal

import msgspec

FORMS = ("blocking", "nonblocking", "persistent")
Form = Literal["blocking", "nonblocking", "persistent"]
Cache = Literal["warm", "cold", "written"]
Buffers = Literal["separate", "in-place"]
Pages = Literal["touched", "untouched", "huge"]
Binding = Literal["core", "thread", "none"]
Launcher = Literal["mpiexec", "srun"]
Quantity = Literal["time", "overlap", "memory"]
"""What samples are. `overlap`: the time of a call with computation in it. `memory`: bytes, in the place of times."""
ALL_RANKS = -1
"""The `series` of samples that are the maximum over all ranks; other series are the measuring rank's number."""
ROTATING = -1
"""The `root` of a case whose rounds take their roots in turn."""
THREADS = "threads"
"""The launch group of cases in which several threads of a rank call at once."""
LEVEL = "thread_level"
"""The option of the level of threads that MPI is initialised with."""
MULTIPLE = "multiple"
"""Its value, and the launch group, of MPI_THREAD_MULTIPLE with one thread."""
MEMORY_GROUPS = ("memory", f"memory-{MULTIPLE}")
"""The launch groups of cases that measure memory, without and with MPI_THREAD_MULTIPLE."""
WITH_THREADS = frozenset({THREADS, MULTIPLE, MEMORY_GROUPS[1]})
"""The launch groups whose MPI is initialised with MPI_THREAD_MULTIPLE."""


class RankbenchError(Exception):
    """Something the user can fix. The message is one line: what, where, what would be right."""


class DamagedFileError(RankbenchError):
    """A file of a campaign is not as it was written. The message names it."""


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the records written by rankbench and read back by it."""
