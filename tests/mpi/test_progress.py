"""Libraries that keep a message until their rank calls MPI again: they are measured, alone and in turns."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import fakes
import pytest
from fakes import mark_thorough

from mpi.test_core import core
from rankbench.model import LATE_START

if TYPE_CHECKING:
    from mpi.test_core import Core

__all__ = ["core"]

STARTS = ("window", "window-mpiperf", "roundtime", "barrier", "library-barrier", "none")
TRIES = 9


class Kept(NamedTuple):
    """A call that keeps its message, the ranks on which it does, and the operation whose message this is."""

    call: str
    ranks: str
    operation: str
    epoch: str = ""


KEPT = (
    Kept("MPI_Bcast", "0", "bcast"),
    Kept("MPI_Reduce", "1", "reduce"),
    Kept("MPI_Send", "0,1", "pingpong"),
    Kept("MPI_Isend", "0,1", "exchange"),
    Kept("MPI_Sendrecv", "1", "allreduce"),
    Kept("MPI_Win_complete", "0", "put", "pscw"),
    Kept("MPI_Win_complete", "0", "accumulate", "pscw"),
)
"""MPI_Send and MPI_Sendrecv keep messages of the core itself, too."""


@pytest.fixture(scope="module")
def keeping_library(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("keeps") / "keeps.so"
    source = Path(fakes.__file__).with_name("keeps.c")
    command = [core.library.wrapper, "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True, env={**os.environ, **core.library.environment})
    return library


@pytest.mark.parametrize(
    "messages", [KEPT[0], *map(mark_thorough, KEPT[1:])], ids=lambda messages: f"{messages.call}-{messages.operation}"
)
def test_a_library_that_keeps_messages_until_its_next_call_is_measured(
    core: Core, keeping_library: Path, messages: Kept, tmp_path: Path
) -> None:
    """With every start. On a busy machine few rounds of a scheduled one begin in time: it is tried again."""
    case = {"operation": messages.operation, "bytes": 64, "samples": 20, "tries": 2000, "limit_s": 30}
    case |= {"epoch": messages.epoch} if messages.epoch else {}
    starts = list(STARTS)
    before = ("env", f"LD_PRELOAD={keeping_library}", f"KEEP_CALL={messages.call}", f"KEEP_RANKS={messages.ranks}")
    for _ in range(TRIES):
        records = core.run_job(tmp_path, 2, [case | {"start": start} for start in starts], before=before)
        wrong = [record["reason"] for record in records if record["status"] != "ok" and record["cause"] != LATE_START]
        assert wrong == []
        starts = [record["start"] for record in records if record["valid"] < case["samples"]]
        if not starts:
            break
    assert starts == []
