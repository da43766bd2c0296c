"""Evaluations that were computed before: of the same stored results, by the same code, as the plan or a command asks.

To evaluate is to look at every sample, which takes seconds; to see whether anything changed takes milliseconds.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import sys
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

import rankbench
from rankbench import caching
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.modes import Repeated
from rankbench.language import restore_texts
from rankbench.model import Campaign, Verdict
from rankbench.store import Store

KIND = "evaluations"
LIBRARIES = ("polars", "numpy", "scipy", "msgspec")


class CachedEvaluation(msgspec.Struct, frozen=True):
    """What of a view is computed from samples; the rest is read from the store."""

    verdict: Verdict
    launch_values: bytes
    """As Arrow's IPC has it, as the other frame."""
    last_ranks: bytes
    modes: list[tuple[tuple[str, ...], list[Repeated]]]


def name_evaluation(store: Store, campaign: Campaign) -> str:
    """Return the name of an evaluation: the same if it would be the same. None has it where a file cannot be read.

    Args:
        store: its record, its committed launches, and the results of these count by the content of their files.
        campaign: with the estimator, the confidence and the threshold that were asked for.
    """
    digest = hashlib.blake2b(digest_size=20)
    plan = campaign.plan
    digest.update(msgspec.msgpack.encode([code_state(), plan.estimator, plan.confidence, plan.threshold]))
    try:
        for path in store.list_files():
            with path.open("rb") as file:
                digest.update(path.name.encode() + hashlib.file_digest(file, "blake2b").digest())
    except OSError:
        return ""
    return digest.hexdigest()


@cache
def code_state() -> list[Any]:
    """Return what changes with the code: the state of all source files, and of the libraries that it computes with."""
    sources = Path(rankbench.__file__).parent.rglob("*.py")
    specs = [importlib.util.find_spec(name) for name in LIBRARIES]
    paths = [*sorted(sources), *(Path(spec.origin) for spec in specs if spec and spec.origin)]
    states = [(str(path), path.stat()) for path in paths]
    return [sys.version, *((name, state.st_mtime_ns, state.st_size) for name, state in states)]


def find_evaluation(name: str, campaign: Campaign) -> CachedEvaluation | None:
    """Return the evaluation with this name, or None. Its cases are those of the campaign, not only equal to them."""
    content = caching.find(KIND, name)
    try:
        evaluation = msgspec.msgpack.decode(content, type=CachedEvaluation) if content else None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    if evaluation is None:
        return None
    cases = {case.key: case for case in campaign.cases}
    for verdict in evaluation.verdict.cases:
        msgspec.structs.force_setattr(verdict, "case", cases[verdict.case.key])
    restore_texts(evaluation)
    return evaluation


def store_evaluation(name: str, view: CampaignView) -> None:
    """Store an evaluation under this name."""
    evaluation = CachedEvaluation(
        view.verdict, pack(view.launch_values), pack(view.last_ranks), list(view.modes.items())
    )
    caching.store(KIND, name, msgspec.msgpack.encode(evaluation))


def pack(frame: pl.DataFrame) -> bytes:
    """Return a frame as Arrow IPC bytes."""
    buffer = io.BytesIO()
    frame.write_ipc(buffer, compression="zstd")
    return buffer.getvalue()


def unpack(frame: bytes) -> pl.DataFrame:
    """Return the frame in Arrow IPC bytes."""
    return pl.read_ipc(io.BytesIO(frame))
