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
"""Share of samples discarded from which on it is told."""


def read_out(campaign: Campaign, effects: Sequence[StartEffect], summaries: Sequence[Summary]) -> Iterator[Claim]:
    """Yield a sentence for each start that was measured beside the usual one."""
    figures = {(one.case, one.candidate): one for one in summaries}
    for usual, start in dict.fromkeys((one.ratio.base, one.ratio.other) for one in effects):
        found = [one for one in effects if (one.ratio.base, one.ratio.other) == (usual, start)]
        own = [figures[one.case, one.candidate] for one in found]
        theirs = [figures[one.usual, one.candidate] for one in found]
        said = [
            _time(start, usual, found),
            *_apart(campaign, start, usual, own, theirs),
            *_discards(own, theirs, usual),
        ]
        yield Claim(text=sentences(said), cases=[one.case for one in found])


def _time(start: str, usual: str, found: Sequence[StartEffect]) -> Text:
    ratios = [one.ratio.ratio for one in found]
    differ = sum(one.ratio.different for one in found)
    if not differ:
        return say(
            "{start} cannot be told from {usual} in any of {n:count figure}.", start=start, usual=usual, n=len(found)
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
    campaign: Campaign, start: str, usual: str, own: Sequence[Summary], theirs: Sequence[Summary]
) -> Iterator[Text]:
    """Say whether a start agrees on a time, and how far apart ranks began, where that is known of both."""
    pairs = [(one.skew_ns, two.skew_ns) for one, two in zip(own, theirs, strict=True)]
    known = [pair for pair in pairs if all(map(math.isfinite, pair))]
    scheduled = {one.name: one.scheduled for one in campaign.starts}
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


def _discards(own: Sequence[Summary], theirs: Sequence[Summary], usual: str) -> Iterator[Text]:
    one, two = discarded(own), discarded(theirs)
    if max(one, two) >= WORTH_TELLING:
        yield say("It discards {own:.1%} of its samples, {usual} {theirs:.1%}.", own=one, usual=usual, theirs=two)


def discarded(summaries: Sequence[Summary]) -> float:
    """Return the share of samples that were not used."""
    dropped, used = sum(one.discarded for one in summaries), sum(one.samples for one in summaries)
    return dropped / (dropped + used) if dropped else 0.0
