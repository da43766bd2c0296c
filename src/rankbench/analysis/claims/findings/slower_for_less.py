"""A message takes longer than a larger one.

Why: Probably the library switches its algorithm or protocol at a size that does not suit this machine.

What to do: `rankbench tune` looks for the setting that moves the switch. As a workaround, send the larger message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from rankbench.analysis.claims.advice import advise_tuning
from rankbench.analysis.claims.lines import Line, find_lines
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.contrasts import Claim, Contrast, compare_within_launches, judge
from rankbench.language import Text, say, sentences
from rankbench.model import Case, Finding

TITLE = "Slower for less"
FURTHEST = 2
"""Number of larger sizes that a size is compared with."""
MOST_SHOWN = 3


class Reversal(NamedTuple):
    """A size at which a candidate is slower than at a larger one."""

    line: Line
    candidate: str
    smaller_bytes: int
    larger_bytes: int
    ratio: Contrast


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield one warning per line in which a candidate is significantly slower at a smaller size."""
    reversals = sorted(find_reversals(view), key=lambda reversal: reversal.line.key)
    for _, group in groupby(reversals, key=lambda reversal: reversal.line.key):
        yield _make_finding(view, list(group))


def find_reversals(view: CampaignView) -> Iterator[Reversal]:
    """Yield, for each size that is significantly slower than a larger one, the worst such pair."""
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
    logs = compare_within_launches(view.judged_values, claims)
    worst: dict[tuple[str, str, int], Reversal] = {}
    for contrast in judge(logs, ["claim", "candidate"], view.campaign.plan.confidence):
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
        advice=sentences(
            [
                say(
                    "The switch of algorithm between the two sizes comes too late. As a workaround, send the larger "
                    "one."
                ),
                *advise_tuning(view, {name: _list_cases(group) for name, group in by_name.items() if group}),
            ]
        ),
        cases=[line.verdicts[size].case.key for size in sizes],
        severity="warning",
    )


def _list_cases(reversals: Sequence[Reversal]) -> list[Case]:
    return [
        reversal.line.cases[size] for reversal in reversals for size in (reversal.smaller_bytes, reversal.larger_bytes)
    ]


def _describe_reversals(name: str, reversals: Sequence[Reversal]) -> Text:
    worst = sorted(reversals, key=lambda reversal: -reversal.ratio.ratio)
    pairs = [
        say(
            "{ratio:ratio} slower at {smaller:size} than at {larger:size} ({low:ratio} to {high:ratio})",
            smaller=reversal.smaller_bytes,
            ratio=reversal.ratio.ratio,
            larger=reversal.larger_bytes,
            low=reversal.ratio.low,
            high=reversal.ratio.high,
        )
        for reversal in worst[:MOST_SHOWN]
    ]
    return say(
        "{name} is {pairs:and}, and slower at {n:count more size}."
        if len(reversals) > MOST_SHOWN
        else "{name} is {pairs:and}.",
        name=name,
        pairs=pairs,
        n=len(reversals) - MOST_SHOWN,
    )
