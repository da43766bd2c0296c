"""Comparisons at two levels of the reference, with known results."""

from __future__ import annotations

import msgspec

from rankbench.model import Comparison, Level


def make_level(base: Comparison, name: str, share: float, *, enough: bool = True) -> Level:
    """Return a level with the values of a comparison."""
    fields = ("blocks", "ratio", "low", "high", "p_value", "p_adjusted", "error", "degrees", "different", "alike")
    return Level(name=name, share=share, enough=enough, **{field: getattr(base, field) for field in fields})


def combine_levels(near: Comparison, far: Comparison, blocks: int = 0) -> Comparison:
    """Return a comparison of two levels, each of which has the blocks of its own comparison."""
    levels = [
        make_level(near, "near", 0.5, enough=near.blocks >= 3),
        make_level(far, "far", 0.5, enough=far.blocks >= 3),
    ]
    judged = [level for level in levels if level.enough]
    return msgspec.structs.replace(
        near,
        blocks=blocks or near.blocks + far.blocks,
        different=all(level.different for level in judged) and len({level.ratio > 1 for level in judged}) == 1,
        alike=all(level.alike for level in judged),
        levels=levels,
    )
