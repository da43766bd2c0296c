"""What other starts change in the same cases, in sentences that only report values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from rankbench.analysis.questions.starts import StartEffect
from rankbench.analysis.questions.wording import describe_share
from rankbench.language import Text, say, sentences
from rankbench.model import Campaign, Claim, Summary

LEAST_DISCARDS = 0.01
"""Share of samples discarded from which on it is reported."""


def claim_start_effects(
    campaign: Campaign, effects: Sequence[StartEffect], summaries: Sequence[Summary]
) -> Iterator[Claim]:
    """Yield a claim for each start that was measured beside the usual one."""
    by_case = {(summary.case, summary.candidate): summary for summary in summaries}
    for usual, start in dict.fromkeys((effect.ratio.base, effect.ratio.other) for effect in effects):
        start_effects = [effect for effect in effects if (effect.ratio.base, effect.ratio.other) == (usual, start)]
        with_start = [by_case[effect.case, effect.candidate] for effect in start_effects]
        with_usual = [by_case[effect.usual, effect.candidate] for effect in start_effects]
        texts = [
            _describe_time(start, usual, start_effects),
            *_describe_skew(campaign, start, usual, with_start, with_usual),
            *_describe_discards(with_start, with_usual, usual),
        ]
        yield Claim(text=sentences(texts), cases=[effect.case for effect in start_effects])


def _describe_time(start: str, usual: str, effects: Sequence[StartEffect]) -> Text:
    ratios = [effect.ratio.ratio for effect in effects]
    differ = sum(effect.ratio.different for effect in effects)
    if not differ:
        return say(
            "{start} is not distinguishable from {usual} in any of {n:count value}.",
            start=start,
            usual=usual,
            n=len(effects),
        )
    return say(
        "With {start} times are {ratio:ratio} those of {usual} (median of {all} values, {low:ratio} to "
        "{high:ratio}; {n} {n:of differs|differ} significantly)."
        if len(ratios) > 1
        else "With {start} the time is {ratio:ratio} that of {usual}.",
        start=start,
        ratio=float(np.median(ratios)),
        usual=usual,
        all=len(ratios),
        low=min(ratios),
        high=max(ratios),
        n=differ,
    )


def _describe_skew(
    campaign: Campaign, start: str, usual: str, summaries: Sequence[Summary], theirs: Sequence[Summary]
) -> Iterator[Text]:
    """Say whether a start sets a common time, and how far apart ranks began, where that is known for both."""
    pairs = [(summary.skew_ns, usual_skew_ns.skew_ns) for summary, usual_skew_ns in zip(summaries, theirs, strict=True)]
    known = [pair for pair in pairs if all(map(math.isfinite, pair))]
    scheduled = {start.name: start.scheduled for start in campaign.starts}
    loose = scheduled.get(usual) and not scheduled.get(start, True)
    if known:
        skew_ns, usual_skew_ns = np.median(np.array(known), axis=0)
        yield say(
            "It sets no common start time: ranks began {skew:time} apart, {usual_skew:time} with {usual} (medians)."
            if loose
            else "Ranks began {skew:time} apart, {usual_skew:time} with {usual} (medians).",
            skew=skew_ns,
            usual_skew=usual_skew_ns,
            usual=usual,
        )
    elif loose:
        yield say("It sets no common start time.")


def _describe_discards(summaries: Sequence[Summary], theirs: Sequence[Summary], usual: str) -> Iterator[Text]:
    share, usual_share = find_discard_share(summaries), find_discard_share(theirs)
    if max(share, usual_share) >= LEAST_DISCARDS:
        yield say(
            "It discards {share} of its samples, {usual} {usual_share}.",
            share=describe_share(share),
            usual=usual,
            usual_share=describe_share(usual_share),
        )


def find_discard_share(summaries: Sequence[Summary]) -> float:
    """Return the share of samples that were not used."""
    dropped, used = sum(summary.discarded for summary in summaries), sum(summary.samples for summary in summaries)
    return dropped / (dropped + used) if dropped else 0.0
