"""A library drops a setting or a file of rules, so that the candidate is not what its settings say.

Why: Libraries drop a broken file, or a value that they cannot read, without a word or with one line.

What to do: Correct it where the finding says, or leave it out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import list_parts, say
from rankbench.model import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.model import Campaign
    from rankbench.verdict.view import CampaignView

TITLE = "Ignored settings"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a finding for each candidate of which the library ignores something."""
    for candidate, clauses in list_ignored_settings(view.campaign).items():
        yield Finding(
            kind="ignored",
            title=say("{candidate}: settings are ignored", candidate=candidate),
            text=say("Of the settings of {candidate}, {clauses}.", candidate=candidate, clauses=list_parts(clauses)),
            advice=say("Correct it, or leave it out: the candidate is measured without."),
            cases=[],
            severity="warning",
        )


def list_ignored_settings(campaign: Campaign) -> dict[str, list[str]]:
    """Return a clause on each setting that a library ignores, by candidate."""
    clauses: dict[str, dict[str, None]] = {}
    for usage in campaign.usage:
        if usage.ignored:
            clauses.setdefault(usage.candidate, {}).update(dict.fromkeys(usage.ignored))
    return {candidate: list(of) for candidate, of in sorted(clauses.items())}
