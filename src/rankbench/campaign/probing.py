"""Which operations a library has and executes correctly: each is called once in every form, without timing.

The results are stored beside the build of the core, whose name changes with core and library: each is probed once.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from rankbench import build
from rankbench.campaign import selftest
from rankbench.model import CaseStatus, Form, Library, Record

FILE = "probe.json"
RANKS, SIZE_BYTES = 2, 64


class Answer(Record, frozen=True, omit_defaults=True):
    """The result of one operation in one form."""

    operation: str
    form: Form
    status: CaseStatus
    reason: str = ""


class Probe(Record, frozen=True):
    """The results of a library."""

    answers: list[Answer]


def probe_library(library: Library, home: Path, show: Callable[[str], None]) -> Probe:
    """Return the stored results of a library, or build the core with it and probe it, which `show` announces.

    Raises RankbenchError if the core cannot be built with the library, or does not start.
    """
    core = build.build(library, home, show=show)
    place = core.binary.with_name(FILE)
    if answer := read_answer(place):
        return answer
    show(f"probing the operations of {library.name}, once for this build of the core …")
    probe = call_operations(library, home)
    write_answer(place, probe)
    return probe


def list_known_wrong(core: Path) -> list[str]:
    """Return the calls, as `bcast.persistent`, in which the stored probe of this core found wrong data."""
    probe = read_answer(core.with_name(FILE))
    return [
        f"{answer.operation}.{answer.form}"
        for answer in (probe.answers if probe else ())
        if answer.status == CaseStatus.WRONG_DATA
    ]


def call_operations(library: Library, home: Path) -> Probe:
    """Call every operation in every form."""
    with tempfile.TemporaryDirectory(prefix="rankbench-") as folder:
        bench = selftest.prepare_bench(library, RANKS, home, Path(folder))
        results = selftest.check_data(bench, sizes_bytes=[SIZE_BYTES])
    return Probe(
        answers=[
            Answer(operation=result.case.operation, form=result.case.form, status=result.status, reason=result.reason)
            for result in results
        ]
    )


def read_answer(place: Path) -> Probe | None:
    """Return the stored results, or None if there are none or they have another format."""
    try:
        return msgspec.json.decode(place.read_bytes(), type=Probe)
    except (OSError, msgspec.MsgspecError):
        return None


def write_answer(place: Path, answer: Probe) -> None:
    """Store the results atomically. If that fails, the library is probed again next time."""
    with contextlib.suppress(OSError):
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f"{FILE}.", delete=False) as file:
            file.write(msgspec.json.format(msgspec.json.encode(answer)))
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).rename(place)
