"""The plans of a tuning, as TOML: a search among variants, and the proof of what was chosen. Pure."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

from rankbench.tuning import DEFAULT, TUNED

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rankbench.model import Variant
    from rankbench.tuning import Task

GRANULE_BYTES = 8
"""Intermediate sizes are multiples of this, so that every datatype fits."""


def write_search(task: Task, blocks: int) -> str:
    """Return the plan that measures the task's variants beside the library's own choice."""
    question = f"Which settings make {task.library} faster?"
    operations = [name for name in task.operations if task.variants.get(name)]
    head = _format_head(task, question, operations, task.sizes_bytes, task.placements, blocks)
    return head + (_format_settings(task) if task.in_launch else _format_candidates(task))


def write_proof(
    task: Task,
    settings: Mapping[str, str],
    operations: Sequence[str],
    placements: Collection[str],
    blocks: int,
    seed: int,
) -> str:
    """Return the plan that compares the default library with the tuned one, at more sizes."""
    question = f"Is {task.library} faster with these settings?"
    text = _format_head(task, question, operations, add_middles(task.sizes_bytes), placements, blocks, control=True)
    tables = (_format_candidate(task.library, DEFAULT, {}), _format_candidate(task.library, TUNED, settings))
    return f"seed = {seed}\n{text}{''.join(tables)}"


def write_check(task: Task, settings: Mapping[str, str], operation: str, size_bytes: int, placement: str) -> str:
    """Return the plan that shows whether a file is in effect: it should make one case slower."""
    question = f"Does {task.library} read its tuning file?"
    text = _format_head(task, question, [operation], [size_bytes], [placement], 3)
    return f"{text}{_format_candidate(task.library, DEFAULT, {})}{_format_candidate(task.library, TUNED, settings)}"


def add_middles(sizes_bytes: Sequence[int]) -> list[int]:
    """Return sizes and, between neighbours, one near their geometric mean."""
    middles = (
        round((low * high) ** 0.5 / GRANULE_BYTES) * GRANULE_BYTES for low, high in itertools.pairwise(sizes_bytes)
    )
    return sorted({*sizes_bytes, *(middle for middle in middles if middle)})


def write_keys(values: Mapping[str, object]) -> str:
    """Return keys of a plan, a line each."""
    return "".join(f"{key} = {_format_toml(value)}\n" for key, value in values.items())


def make_label(operation: str, variant: Variant) -> str:
    """Return the name of a setting in a plan: variables differ from operation to operation."""
    return f"{operation}-{variant.name}"


def _format_head(
    task: Task,
    question: str,
    operations: Sequence[str],
    sizes_bytes: Sequence[int],
    placements: Collection[str],
    blocks: int,
    *,
    control: bool = False,
) -> str:
    return (
        f"question = {_format_toml(question)}\n"
        f"operations = {_format_toml(list(operations))}\nsizes = {_format_toml(','.join(map(str, sizes_bytes)))}\n"
        f"placements = {_format_toml(list(placements))}\nthreshold = {task.threshold:g}\n{write_keys(task.reach)}"
        f"control = {_format_toml(control)}\nstop = {{ blocks = {blocks} }}\n"
    )


def _format_settings(task: Task) -> str:
    """Return the only candidate, and the tables with the settings of cases."""
    labels = {name: [make_label(name, variant) for variant in variants] for name, variants in task.variants.items()}
    options = "".join(
        f'"{name}.settings" = {_format_toml([DEFAULT, *labels[name]])}\n'
        for name in task.operations
        if labels.get(name)
    )
    settings = "".join(
        f"{make_label(name, variant)} = {_format_table(variant.settings)}\n"
        for name in task.operations
        for variant in task.variants.get(name, ())
    )
    return f"candidates = {_format_toml([task.library])}\n\n[options]\n{options}\n[settings]\n{settings}"


def _format_candidates(task: Task) -> str:
    """Return a candidate for each name of a variant, with its settings of all operations."""
    settings: dict[str, dict[str, str]] = {}
    for name in task.operations:
        for variant in task.variants.get(name, ()):
            settings.setdefault(variant.name, {}).update(variant.settings)
    tables = [_format_candidate(task.library, name, variables) for name, variables in settings.items()]
    return "".join([_format_candidate(task.library, DEFAULT, {}), *tables])


def _format_candidate(library: str, name: str, settings: Mapping[str, str]) -> str:
    lines = f"settings = {_format_table(settings)}\n" if settings else ""
    return f"\n[[candidate]]\nlibrary = {_format_toml(library)}\nname = {_format_toml(name)}\n{lines}"


def _format_table(values: Mapping[str, str]) -> str:
    return "{ " + ", ".join(f"{_format_toml(name)} = {_format_toml(value)}" for name, value in values.items()) + " }"


def _format_toml(value: object) -> str:
    """Return a value in TOML; texts, booleans and lists of texts are written as in JSON."""
    return json.dumps(value)
