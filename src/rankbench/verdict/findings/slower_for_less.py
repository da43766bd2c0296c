"""A message takes longer than a larger one.

Why: A switch of algorithm between the two sizes comes too late.

What to do: Look for the setting that moves the switch. As a workaround send the larger message.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from rankbench.language import Text, say, sentences
from rankbench.model import Finding
from rankbench.statistics.contrasts import Claim, judged, within_launches
from rankbench.verdict.lines import Line, find_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankbench.statistics.contrasts import Contrast
    from rankbench.verdict.view import CampaignView

TITLE = "Slower for less"
FURTHEST = 2
"""A size is held against so many of those that follow it."""
MOST_SHOWN = 3


class Reversal(NamedTuple):
    """A size that takes a candidate longer than a larger one."""

    line: Line
    candidate: str
    smaller_bytes: int
    larger_bytes: int
    ratio: Contrast


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield one warning per line in which a candidate takes surely longer for less."""
    reversals = sorted(find_reversals(view), key=lambda reversal: reversal.line.key)
    for _, group in groupby(reversals, key=lambda reversal: reversal.line.key):
        yield _make_finding(view, list(group))


def find_reversals(view: CampaignView) -> Iterator[Reversal]:
    """Yield, for each size of a candidate that surely takes longer than a larger one, the worst such pair."""
    pairs = [
        (line, smaller, larger)
        for line in find_lines(view, 2)
        for number, smaller in enumerate(line.verdicts)
        for larger in list(line.verdicts)[number + 1 : number + 1 + FURTHEST]
    ]
    margin = 1 + view.campaign.plan.threshold
    claims = [
        Claim(line.verdicts[smaller].case.key, (line.verdicts[larger].case.key,), margin)
        for line, smaller, larger in pairs
    ]
    logs = within_launches(view.judged_figures, claims)
    worst: dict[tuple[str, str, int], Reversal] = {}
    for contrast in judged(logs, ["claim", "candidate"], view.campaign.plan.confidence):
        number, candidate = contrast.key
        line, smaller, larger = pairs[number]
        key = line.key, candidate, smaller
        if (
            contrast.sure
            and candidate in view.candidates
            and (key not in worst or worst[key].ratio.ratio < contrast.ratio)
        ):
            worst[key] = Reversal(line, candidate, smaller, larger, contrast)
    yield from worst.values()


def _make_finding(view: CampaignView, reversals: list[Reversal]) -> Finding:
    line = reversals[0].line
    title = view.title(next(iter(line.cases.values())))
    by_name = {name: [reversal for reversal in reversals if reversal.candidate == name] for name in view.candidates}
    texts = [_describe_reversals(name, group) for name, group in by_name.items() if group]
    sizes = sorted({size for reversal in reversals for size in (reversal.smaller_bytes, reversal.larger_bytes)})
    return Finding(
        kind="slower_for_less",
        title=say("{title}: smaller messages take longer than larger ones", title=title),
        text=sentences(texts),
        advice=say(
            "A switch of algorithm lies between the two sizes: try to have it made earlier. Until then a program does "
            "better to send the larger message."
        ),
        cases=[line.verdicts[size].case.key for size in sizes],
        severity="warning",
    )


def _describe_reversals(name: str, reversals: Sequence[Reversal]) -> Text:
    worst = sorted(reversals, key=lambda reversal: -reversal.ratio.ratio)
    pairs = [
        say(
            "for {smaller:size} {ratio:ratio} as long as for {larger:size} ({low:ratio} to {high:ratio})",
            smaller=reversal.smaller_bytes,
            ratio=reversal.ratio.ratio,
            larger=reversal.larger_bytes,
            low=reversal.ratio.low,
            high=reversal.ratio.high,
        )
        for reversal in worst[:MOST_SHOWN]
    ]
    return say(
        "{name} takes {pairs:and}; so it is at {n:count more size}."
        if len(reversals) > MOST_SHOWN
        else "{name} takes {pairs:and}.",
        name=name,
        pairs=pairs,
        n=len(reversals) - MOST_SHOWN,
    )
