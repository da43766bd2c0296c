"""What libraries have and do right: every operation in every form called once, untimed, and the answer kept.

It lies beside the build of the core, whose name changes with the core and the library, so that it is asked once.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rankbench import build
from rankbench.campaign import selftest
from rankbench.model import CaseStatus, Form, Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankbench.model import Library

FILE = "probe.json"
RANKS = 2


class Answer(Record, frozen=True, omit_defaults=True):
    """What became of one operation in one form."""

    operation: str
    form: Form
    status: CaseStatus
    reason: str = ""


class Probe(Record, frozen=True):
    """All that a library answered."""

    answers: list[Answer]


def probe_library(library: Library, home: Path, show: Callable[[str], None]) -> Probe:
    """Return what a library has and does right; `show` hears of it where it must be asked, which takes a while.

    Raises RankbenchError where the core cannot be built with it, or does not start.
    """
    core = build.build(library, home)
    place = core.binary.with_name(FILE)
    if answer := read_answer(place):
        return answer
    show(f"asking {library.name} which operations it has, once for this build of the core …")
    fresh = ask(library, home)
    keep(place, fresh)
    return fresh


def ask(library: Library, home: Path) -> Probe:
    """Call every operation in every form."""
    with tempfile.TemporaryDirectory(prefix="rankbench-") as folder:
        results = selftest.probe_operations(selftest.prepare_bench(library, RANKS, home, Path(folder)))
    return Probe(
        answers=[
            Answer(operation=result.case.operation, form=result.case.form, status=result.status, reason=result.reason)
            for result in results
        ]
    )


def read_answer(place: Path) -> Probe | None:
    """Return the answer that is kept, nothing where there is none or another rankbench wrote it."""
    try:
        return msgspec.json.decode(place.read_bytes(), type=Probe)
    except (OSError, msgspec.MsgspecError):
        return None


def keep(place: Path, answer: Probe) -> None:
    """Write the answer beside its place and rename it. Where that cannot be written, it is asked again next time."""
    with contextlib.suppress(OSError):
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f"{FILE}.", delete=False) as file:
            file.write(msgspec.json.format(msgspec.json.encode(answer)))
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).rename(place)
