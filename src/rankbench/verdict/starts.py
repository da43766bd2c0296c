"""What the measured starts do to the same cases, read out in sentences that hold nothing but figures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rankbench.language import Text, say, sentences
from rankbench.model import Claim

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankbench.model import Campaign, Summary
    from rankbench.statistics.starts import StartEffect

WORTH_TELLING = 0.01
"""Share of samples discarded from which on it is reported."""


def claim_start_effects(
    campaign: Campaign, effects: Sequence[StartEffect], summaries: Sequence[Summary]
) -> Iterator[Claim]:
    """Yield a sentence for each start that was measured beside the usual one."""
    figures = {(summary.case, summary.candidate): summary for summary in summaries}
    for usual, start in dict.fromkeys((effect.ratio.base, effect.ratio.other) for effect in effects):
        start_effects = [effect for effect in effects if (effect.ratio.base, effect.ratio.other) == (usual, start)]
        own = [figures[effect.case, effect.candidate] for effect in start_effects]
        theirs = [figures[effect.usual, effect.candidate] for effect in start_effects]
        texts = [
            _time(start, usual, start_effects),
            *_apart(campaign, start, usual, own, theirs),
            *_discards(own, theirs, usual),
        ]
        yield Claim(text=sentences(texts), cases=[effect.case for effect in start_effects])


def _time(start: str, usual: str, effects: Sequence[StartEffect]) -> Text:
    ratios = [effect.ratio.ratio for effect in effects]
    differ = sum(effect.ratio.different for effect in effects)
    if not differ:
        return say(
            "{start} cannot be distinguished from {usual} in any of {n:count figure}.",
            start=start,
            usual=usual,
            n=len(effects),
        )
    return say(
        "{start} reads {ratio:ratio} of {usual} (median of {all} figures, {low:ratio} to {high:ratio}; {n} "
        "{n:of differs|differ})."
        if len(ratios) > 1
        else "{start} reads {ratio:ratio} of {usual} ({n} {n:of differs|differ}).",
        start=start,
        ratio=float(np.median(ratios)),
        usual=usual,
        all=len(ratios),
        low=min(ratios),
        high=max(ratios),
        n=differ,
    )


def _apart(
    campaign: Campaign, start: str, usual: str, summaries: Sequence[Summary], theirs: Sequence[Summary]
) -> Iterator[Text]:
    """Say whether a start agrees on a time, and how far apart ranks began, where that is known of both."""
    pairs = [(summary.skew_ns, two.skew_ns) for summary, two in zip(summaries, theirs, strict=True)]
    known = [pair for pair in pairs if all(map(math.isfinite, pair))]
    scheduled = {start.name: start.scheduled for start in campaign.starts}
    loose = scheduled.get(usual) and not scheduled.get(start, True)
    if known:
        one, two = np.median(np.array(known), axis=0)
        yield say(
            "It agrees on no time at which all ranks begin: they began {own:time} apart, against {theirs:time} with "
            "{usual} (medians)."
            if loose
            else "Its ranks began {own:time} apart, against {theirs:time} with {usual} (medians).",
            own=one,
            theirs=two,
            usual=usual,
        )
    elif loose:
        yield say("It agrees on no time at which all ranks begin.")


def _discards(summaries: Sequence[Summary], theirs: Sequence[Summary], usual: str) -> Iterator[Text]:
    value, two = find_discard_share(summaries), find_discard_share(theirs)
    if max(value, two) >= WORTH_TELLING:
        yield say("It discards {own:.1%} of its samples, {usual} {theirs:.1%}.", own=value, usual=usual, theirs=two)


def find_discard_share(summaries: Sequence[Summary]) -> float:
    """Return the share of samples that were not used."""
    dropped, used = sum(summary.discarded for summary in summaries), sum(summary.samples for summary in summaries)
    return dropped / (dropped + used) if dropped else 0.0
