"""The settings that libraries drop, so that a candidate is not what its settings say. Pure."""

from __future__ import annotations

from rankbench.model import Campaign


def list_dropped_settings(campaign: Campaign) -> dict[str, list[str]]:
    """Return a clause on each setting that a library ignores, by candidate."""
    clauses: dict[str, dict[str, None]] = {}
    for usage in campaign.usage:
        if usage.ignored:
            clauses.setdefault(usage.candidate, {}).update(dict.fromkeys(usage.ignored))
    return {candidate: list(of) for candidate, of in sorted(clauses.items())}
