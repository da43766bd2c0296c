"""The plans of a tuning, as values: a search among variants, and the proof of what was chosen. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence

from rankbench.model import Variant
from rankbench.tuning import DEFAULT, FEWEST_BLOCKS, LEAST_CHECKED, TUNED, Task

GRANULE_BYTES = 8
"""Intermediate sizes are multiples of this, so that every datatype fits."""
PROOF_SAMPLES = -(-LEAST_CHECKED // FEWEST_BLOCKS)
PROOF_LIMIT = "4s"
"""Longest time for a case in one launch of a proof; only calls of more than 10 ms need it."""


def make_search(task: Task, blocks: int) -> dict[str, object]:
    """Return the plan that measures the task's variants beside the library's own choice."""
    question = f"Which settings make {task.library} faster?"
    operations = [name for name in task.operations if task.variants.get(name)]
    head = _list_head(task, question, operations, task.sizes_bytes, task.placements, blocks)
    return head | (_list_settings(task) if task.in_launch else _list_candidates(task))


def make_proof(
    task: Task,
    settings: Mapping[str, str],
    operations: Sequence[str],
    placements: Collection[str],
    blocks: int,
    seed: int,
) -> dict[str, object]:
    """Return the plan that compares the default library with the tuned one, at more sizes."""
    question = f"Is {task.library} faster with these settings?"
    head = _list_head(task, question, operations, add_middles(task.sizes_bytes), placements, blocks)
    samples = {"good": PROOF_SAMPLES, "fill": "15ms"}
    measured = {"samples": samples, "case_limit": PROOF_LIMIT, "control": True, "sums": task.reproducible}
    return {"seed": seed} | head | measured | _list_pair(task, settings)


def make_check(
    task: Task, settings: Mapping[str, str], operation: str, size_bytes: int, placement: str, blocks: int
) -> dict[str, object]:
    """Return the plan that shows whether settings are in effect: they should make one case slower, or faster."""
    question = f"Does {task.library} read its tuning file?"
    head = _list_head(task, question, [operation], [size_bytes], [placement], blocks)
    return head | _list_pair(task, settings)


def add_middles(sizes_bytes: Sequence[int]) -> list[int]:
    """Return sizes and, between neighbours, one near their geometric mean."""
    middles = (
        round((low * high) ** 0.5 / GRANULE_BYTES) * GRANULE_BYTES for low, high in itertools.pairwise(sizes_bytes)
    )
    return sorted({*sizes_bytes, *(middle for middle in middles if middle)})


def make_label(operation: str, variant: Variant) -> str:
    """Return the name of a setting in a plan: variables differ from operation to operation."""
    return f"{operation}-{variant.name}"


def merge_settings(task: Task) -> dict[str, dict[str, str]]:
    """Return the settings of all operations by the name of a variant."""
    settings: dict[str, dict[str, str]] = {}
    for name in task.operations:
        for variant in task.variants.get(name, ()):
            settings.setdefault(variant.name, {}).update(variant.settings)
    return settings


def _list_head(
    task: Task,
    question: str,
    operations: Sequence[str],
    sizes_bytes: Sequence[int],
    placements: Collection[str],
    blocks: int,
) -> dict[str, object]:
    return {
        "question": question,
        "operations": list(operations),
        "sizes": ",".join(map(str, sizes_bytes)),
        "placements": list(placements),
        "threshold": task.threshold,
        "options": dict(task.options),
        **task.reach,
        "control": False,
        "stop": {"blocks": blocks},
    }


def _list_settings(task: Task) -> dict[str, object]:
    """Return the only candidate, and the tables with the settings of cases."""
    options = {
        f"{name}.settings": [DEFAULT, *(make_label(name, variant) for variant in task.variants[name])]
        for name in task.operations
        if task.variants.get(name)
    }
    settings = {
        make_label(name, variant): dict(variant.settings)
        for name in task.operations
        for variant in task.variants.get(name, ())
    }
    return {"candidates": [task.library], "options": dict(task.options) | options, "settings": settings}


def _list_candidates(task: Task) -> dict[str, object]:
    """Return a candidate for each name of a variant, with its settings of all operations."""
    tables = [_make_candidate(task.library, name, variables) for name, variables in merge_settings(task).items()]
    return {"candidate": [_make_candidate(task.library, DEFAULT, {}), *tables]}


def _list_pair(task: Task, settings: Mapping[str, str]) -> dict[str, object]:
    """Return the default library and the tuned one."""
    return {"candidate": [_make_candidate(task.library, DEFAULT, {}), _make_candidate(task.library, TUNED, settings)]}


def _make_candidate(library: str, name: str, settings: Mapping[str, str]) -> dict[str, object]:
    return {"library": library, "name": name, **({"settings": dict(settings)} if settings else {})}
