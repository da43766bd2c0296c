"""Launches that were left out of a comparison took longer, or less, than those that count.

Why: Slow calls lose more rounds on a busy machine, so that a library that is slow in some launches looks better than it
is. The times of launches that are left out are known by the core's estimates.

What to do: Do not take the candidates for equivalent. Measure when the machine is idle, or raise `case_limit`.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import say
from rankbench.model import Finding

TITLE = "What was left out differs"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a warning for each candidate with such launches."""
    for name in (candidate.name for candidate in view.campaign.candidates):
        biased = [summary for summary in view.summaries if summary.candidate == name and summary.dropped]
        if not biased:
            continue
        worst = max(biased, key=lambda summary: abs(summary.dropped_ratio - 1))
        yield Finding(
            kind="dropping",
            title=say("Launches of {name} that were left out took another time", name=name),
            text=say(
                "{case}: {dropped:count launch} of {name} that {dropped:of does|do} not count took {ratio:ratio} as "
                "long as those that do, by the core's estimates. This is so in {n:count case}. What counts is a "
                "selection: such cases are never called equivalent.",
                case=view.full_title(view.case_of[worst.case]),
                dropped=worst.dropped,
                name=name,
                ratio=worst.dropped_ratio,
                n=len(biased),
            ),
            advice=say("Measure when the machine is idle, or allow more time for each case (case_limit)."),
            cases=[summary.case for summary in biased],
            severity="warning",
            plot="distribution",
        )
