"""Groups: lines with similar curves, one of which is shown for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import Text, Words, clauses, end_sentence, say, sentences
from rankbench.model import Group
from rankbench.statistics import resemblance
from rankbench.statistics.shapes import list_curves
from rankbench.verdict.certainty import find_front
from rankbench.verdict.lines import Line, describe_undecided, find_lines, name_sizes
from rankbench.verdict.spans import describe_run, find_runs
from rankbench.verdict.wording import describe_sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankbench.statistics.resemblance import Profile
    from rankbench.statistics.shapes import Curve
    from rankbench.verdict.spans import Run
    from rankbench.verdict.view import CampaignView

MOST_NAMED = 8
ALIKE = 1 + 1e-6
"""Of equal ratios, that of the smallest message is given."""


def find_groups(view: CampaignView) -> list[Group]:
    """Return the groups of all lines with three sizes or more, the largest first.

    The order of the plan makes no difference to who is in a group with whom.
    """
    lines = sorted(find_lines(view, resemblance.FEWEST_SIZES), key=lambda line: line.key)
    known = [(line, profile) for line, profile in zip(lines, _find_profiles(view, lines), strict=True) if profile]
    far = resemblance.compute_distances([profile for _, profile in known], view.campaign.plan.threshold)
    return [_make_group(view, [known[place][0] for place in group]) for group in resemblance.group_lines(far)]


def _find_profiles(view: CampaignView, lines: list[Line]) -> list[Profile | None]:
    by_line: list[dict[str, Curve]] = [{} for _ in lines]
    for curve in list_curves(view.judged_values, [line.keys for line in lines]):
        if curve.candidate in view.candidates:
            by_line[curve.line][curve.candidate] = curve
    winners = [
        {size: find_front(view, verdict) for size, verdict in line.verdicts.items() if verdict.ranking}
        for line in lines
    ]
    return [resemblance.make_profile(line_curves, front) for line_curves, front in zip(by_line, winners, strict=True)]


def _make_group(view: CampaignView, together: list[Line]) -> Group:
    titles = [view.title(next(iter(line.cases.values()))) for line in together]
    first, others = together[0], titles[1:]
    runs = find_runs(first.ranked)
    likeness = (
        [
            say(
                "The curves of {titles:and} are similar, but single sizes may have another winner.",
                titles=_shorten_names(others),
            )
        ]
        if others
        else []
    )
    return Group(
        lines=[line.key for line in together],
        title=say("{title} and {n} similar" if others else "{title}", title=titles[0], n=len(others)),
        text=sentences([end_sentence(describe_line(first, runs)), *_describe_worst(view, first), *likeness]),
        cases=[verdict.case.key for verdict in first.verdicts.values()],
        spans=[run.record for run in runs],
    )


def _shorten_names(titles: list[str]) -> list[Words]:
    more = len(titles) - MOST_NAMED
    return [*titles[:MOST_NAMED], say("{n} more", n=more)] if more > 0 else [*titles]


def describe_line(line: Line, runs: Sequence[Run]) -> Text:
    """Describe who is fastest at which sizes, and where no candidate is."""
    sizes = [size for size, _ in line.ranked]
    texts = [describe_run(run, _describe_span(run, sizes), name_sizes) for run in runs]
    rest = describe_undecided(line.ranked, runs)
    return clauses([*(texts or [say("No winner at any size")]), *rest])


def _describe_span(run: Run, sizes: list[int]) -> Text:
    """Return the sizes of a span: at all, from the smallest or to the largest one, or between two others."""
    first, last = run.cases[0][0], run.cases[-1][0]
    if (first, last) == (sizes[0], sizes[-1]):
        return say("at all sizes")
    if first == sizes[0] < last:
        return say("up to {last:size}", last=last)
    if first < last == sizes[-1]:
        return say("from {first:size}", first=first)
    return describe_sizes([verdict.case for _, verdict in run.cases])


def _describe_worst(view: CampaignView, line: Line) -> Iterator[Text]:
    """Return by how much each candidate is slower than the fastest at worst."""
    worst: dict[str, tuple[float, int]] = {}
    for size, verdict in line.verdicts.items():
        for name in verdict.ranking:
            ratio = view.ratio(verdict.case.key, verdict.ranking[0], name)
            if (
                view.comparisons.slower(verdict.case.key, verdict.ranking[0], name)
                and ratio > ALIKE * worst.get(name, (1.0, 0))[0]
            ):
                worst[name] = ratio, size
    if worst:
        texts = [
            say("{name} {ratio:ratio} at {size:size}", name=name, ratio=worst[name][0], size=worst[name][1])
            for name in view.candidates
            if name in worst
        ]
        yield say("Largest slowdown against the fastest: {slowdowns:and}.", slowdowns=texts)
