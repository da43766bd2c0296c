"""How intervals of ratios and differences between campaigns are written."""

from __future__ import annotations

from collections.abc import Iterable

from rankbench.across.conditions import Difference
from rankbench.language import Text, clauses, say

LEAST, MOST = 0.01, 999
"""Ends of intervals of ratios that are spelt."""


def format_interval(low: float, high: float) -> Text:
    """Return an interval of ratios, `0.98–1.03×`; of one that says nothing no digits: `<0.01–>999×`."""
    return say(
        f"{'<{least:g}' if low < LEAST else '{low:bare}'}–{'>{most}×' if high > MOST else '{high:ratio}'}",
        low=low, high=high, least=LEAST, most=MOST,
    )  # fmt: skip


def join_differences(differences: Iterable[Difference]) -> Text:
    """Return the differences in one line."""
    return clauses(difference.text for difference in differences)
