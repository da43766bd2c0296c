"""A library drops a setting or a file of rules, so that the candidate is not what its settings say.

Why: Libraries drop a broken file, or a value that they cannot read, without a word or with one line.

What to do: Correct it where the finding says, or leave it out.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.dropped_settings import list_dropped_settings
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import list_parts, say
from rankbench.model import Finding

TITLE = "Ignored settings"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a finding for each candidate of which the library ignores something."""
    for candidate, clauses in list_dropped_settings(view.campaign).items():
        yield Finding(
            kind="ignored",
            title=say("{candidate}: settings are ignored", candidate=candidate),
            text=say("Of the settings of {candidate}, {clauses}.", candidate=candidate, clauses=list_parts(clauses)),
            advice=say("Correct it, or leave it out: the candidate is measured without."),
            cases=[],
            severity="warning",
        )
