"""Libraries that save the transport of what they have seen: data that change every round leave nothing to save."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from fakes import mark_thorough

from mpi.test_core import Core, core

__all__ = ["core"]

REPEATS = Path(__file__).parents[1] / "fakes" / "repeats.c"
VISIT: dict[str, object] = {"start": "barrier", "samples": 40, "limit_s": 60}
KIB = 1 << 10
ALLREDUCE = {"operation": "allreduce", "form": "blocking"}
BANDWIDTH = {"operation": "bandwidth", "form": "nonblocking"}
IN_PLACE = {"buffers": "in-place"}


@pytest.fixture(scope="module")
def repeats(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("repeats") / "repeats.so"
    command = [core.library.wrapper, "-O2", "-shared", "-fPIC", "-w", "-o", str(library), str(REPEATS)]
    subprocess.run(command, check=True, env={**os.environ, **core.library.environment})
    return library


def measure(core: Core, repeats: Path, tmp_path: Path, way: str, case: Mapping[str, object]) -> tuple[str, int]:
    """Return the status of a case with such a library, and how many calls it saved on both ranks."""
    file = tmp_path / "saved"
    settings = (f"REPEATS={way}", f"REPEATS_BYTES={case['bytes']}", f"REPEATS_FILE={file}")
    before = ("env", f"LD_PRELOAD={repeats}", *settings)
    (record,) = core.run_job(tmp_path, 2, [dict(case) | VISIT], before=before)
    return record["status"], sum(map(int, file.read_text().split()))


@pytest.mark.parametrize("size", [KIB, mark_thorough(64 * KIB), KIB * KIB])
def test_a_result_kept_while_the_ends_of_the_input_are_the_same_is_wrong(
    core: Core, repeats: Path, size: int, tmp_path: Path
) -> None:
    """A word that moves changes with every round, and so does the result."""
    status, saved = measure(core, repeats, tmp_path, "ends", ALLREDUCE | {"bytes": size})
    assert (status, saved > 0) == ("wrong-data", True)


@pytest.mark.parametrize(
    "case",
    [
        {"operation": "put", "bytes": 64 * KIB},
        mark_thorough({"operation": "put", "bytes": 64 * KIB, "epoch": "fence"}),
        {"operation": "put-bandwidth", "bytes": 64 * KIB},
    ],
)
def test_data_that_are_not_put_since_their_ends_are_the_same_are_wrong(
    core: Core, repeats: Path, case: dict[str, object], tmp_path: Path
) -> None:
    """The target is checked a few times a visit: the word that changed last must not be in the ends."""
    status, saved = measure(core, repeats, tmp_path, "put", case)
    assert (status, saved > 0) == ("wrong-data", True)


@pytest.mark.parametrize(
    ("way", "case"),
    [
        ("all", ALLREDUCE | {"bytes": 8}),
        mark_thorough("all", ALLREDUCE | {"bytes": 64 * KIB}),
        ("all", ALLREDUCE | {"bytes": 64 * KIB} | IN_PLACE),
        ("zeros", ALLREDUCE | {"bytes": 64 * KIB} | IN_PLACE),
        mark_thorough("zeros", ALLREDUCE | {"bytes": 64 * KIB, "reduction": "max"} | IN_PLACE),
        ("window", BANDWIDTH | {"bytes": 64 * KIB}),
        mark_thorough("window", {"operation": "message-rate", "form": "nonblocking", "bytes": KIB}),
        mark_thorough("window", BANDWIDTH | {"bytes": 8, "datatype": "vector"}),
    ],
)
def test_no_call_has_the_data_of_the_call_before(
    core: Core, repeats: Path, way: str, case: dict[str, object], tmp_path: Path
) -> None:
    assert measure(core, repeats, tmp_path, way, case) == ("ok", 0)


def test_a_window_from_one_buffer_repeats_its_message(core: Core, repeats: Path, tmp_path: Path) -> None:
    """As in OSU's benchmarks: what one buffer for all messages can save is an option of the operation."""
    case = BANDWIDTH | {"bytes": 64 * KIB, "send_buffers": "one"}
    status, saved = measure(core, repeats, tmp_path, "window", case)
    assert (status, saved > 0) == ("ok", True)
