"""Comparisons with a chosen ratio."""

from __future__ import annotations

from rankbench.model import Comparison


def make_ratio(value: float, *, sure: bool = True) -> Comparison:
    """Return a ratio to the default that is significant, or not."""
    half = 0.01 if sure else 0.5
    return Comparison(
        case="", base="default", other="", blocks=8, ratio=value, low=value - half, high=value + half,
        p_value=0.0, p_adjusted=0.0, different=sure and abs(value - 1) > 0.04, alike=False,
    )  # fmt: skip
