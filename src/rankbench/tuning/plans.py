"""The plans of a tuning, as TOML: a search among variants, and the proof of what was chosen. Pure."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

from rankbench.tuning import DEFAULT, TUNED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankbench.model import Variant
    from rankbench.tuning import Task

GRANULE_BYTES = 8
"""Sizes between others are multiples of it, so that every datatype fits."""


def write_search(task: Task, variants: Mapping[str, Sequence[Variant]], blocks: int) -> str:
    """Return the plan that measures variants beside the library's own choice."""
    question = f"Which settings make {task.library} faster?"
    head = _format_head(
        task, question, [name for name in task.operations if variants.get(name)], task.sizes_bytes, blocks
    )
    return head + (_format_cases(task, variants) if task.in_launch else _format_candidates(task, variants))


def write_proof(task: Task, settings: Mapping[str, str], operations: Sequence[str], blocks: int, seed: int) -> str:
    """Return the plan that compares the library by default with the library as it was tuned, at more sizes."""
    question = f"Is {task.library} faster with these settings?"
    text = _format_head(task, question, operations, add_middles(task.sizes_bytes), blocks, control=True)
    tables = (_format_candidate(task.library, DEFAULT, {}), _format_candidate(task.library, TUNED, settings))
    return f"seed = {seed}\n{text}{''.join(tables)}"


def add_middles(sizes_bytes: Sequence[int]) -> list[int]:
    """Return sizes and, between neighbours, one near their geometric mean."""
    middles = (
        round((low * high) ** 0.5 / GRANULE_BYTES) * GRANULE_BYTES for low, high in itertools.pairwise(sizes_bytes)
    )
    return sorted({*sizes_bytes, *(middle for middle in middles if middle)})


def make_label(operation: str, variant: Variant) -> str:
    """Return the name of a setting in a plan: variables differ from operation to operation."""
    return f"{operation}-{variant.name}"


def _format_head(
    task: Task,
    question: str,
    operations: Sequence[str],
    sizes_bytes: Sequence[int],
    blocks: int,
    *,
    control: bool = False,
) -> str:
    candidates = "" if control or not task.in_launch else f"candidates = {_format_toml([task.library])}\n"
    return (
        f"question = {_format_toml(question)}\n{candidates}"
        f"operations = {_format_toml(list(operations))}\nsizes = {_format_toml(','.join(map(str, sizes_bytes)))}\n"
        f"placements = {_format_toml([task.placement])}\nthreshold = {task.threshold:g}\n"
        f"control = {_format_toml(control)}\n"
        f"stop = {{ blocks = {blocks} }}\n"
    )


def _format_cases(task: Task, variants: Mapping[str, Sequence[Variant]]) -> str:
    """Return the tables by which cases carry settings."""
    named = {
        make_label(name, variant): variant.settings for name in task.operations for variant in variants.get(name, ())
    }
    options = "".join(
        f'"{name}.settings" = {_format_toml([DEFAULT, *(make_label(name, variant) for variant in variants[name])])}\n'
        for name in task.operations
        if variants.get(name)
    )
    return (
        "\n[options]\n"
        + options
        + "\n[settings]\n"
        + "".join(f"{key} = {_format_table(own)}\n" for key, own in named.items())
    )


def _format_candidates(task: Task, variants: Mapping[str, Sequence[Variant]]) -> str:
    """Return a candidate for the n-th variant of every operation, as operations do not heed each other's settings."""
    tables = [_format_candidate(task.library, DEFAULT, {})]
    names = dict.fromkeys(variant.name for name in task.operations for variant in variants.get(name, ()))
    for name in names:
        own = [
            variant for operation in task.operations for variant in variants.get(operation, ()) if variant.name == name
        ]
        tables.append(
            _format_candidate(
                task.library, name, {key: value for variant in own for key, value in variant.settings.items()}
            )
        )
    return "".join(tables)


def _format_candidate(library: str, name: str, settings: Mapping[str, str]) -> str:
    lines = f"settings = {_format_table(settings)}\n" if settings else ""
    return f"\n[[candidate]]\nlibrary = {_format_toml(library)}\nname = {_format_toml(name)}\n{lines}"


def _format_table(values: Mapping[str, str]) -> str:
    return "{ " + ", ".join(f"{_format_toml(name)} = {_format_toml(value)}" for name, value in values.items()) + " }"


def _format_toml(value: object) -> str:
    """Return a value as TOML has it, which for texts, truth values and lists of texts is as JSON has it."""
    return json.dumps(value)
