"""Groups: lines with similar curves, one of which is shown for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from rankbench.analysis.claims.lines import Line, describe_undecided, find_lines, name_sizes
from rankbench.analysis.questions.certainty import find_front
from rankbench.analysis.questions.spans import Run, describe_run, find_runs
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.questions.wording import describe_sizes
from rankbench.analysis.statistics import resemblance
from rankbench.analysis.statistics.resemblance import Profile
from rankbench.analysis.statistics.shapes import Curve, list_curves
from rankbench.language import Text, Words, clauses, end_sentence, say, sentences
from rankbench.model import Group

MOST_NAMED = 8
ALIKE = 1 + 1e-6
"""Of equal ratios, that of the smallest message is given."""


def find_groups(view: CampaignView) -> list[Group]:
    """Return the groups of all lines with three sizes or more, the largest first.

    The order of the plan makes no difference to who is in a group with whom. Lines that are alone because launches
    scatter too much, and lines of one value, have a group of their own at the end.
    """
    lines = sorted(find_lines(view, resemblance.FEWEST_SIZES), key=lambda line: line.key)
    known = [(line, profile) for line, profile in zip(lines, _find_profiles(view, lines), strict=True) if profile]
    far, noisy = resemblance.compare_lines([profile for _, profile in known], view.campaign.plan.threshold)
    places = resemblance.group_lines(far)
    apart = [group for group in places if len(group) == 1 and noisy[group[0]]]
    return [
        *(_make_group(view, [known[place][0] for place in group]) for group in places if group not in apart),
        *_group_noisy(view, [known[group[0]][0] for group in apart]),
        *_group_single(view),
    ]


def _group_noisy(view: CampaignView, noisy: list[Line]) -> Iterator[Group]:
    """Yield the group of lines whose launches scatter too much, if there are any."""
    if not noisy:
        return
    titles = [view.title(next(iter(line.cases.values()))) for line in noisy]
    why = say(
        "Launches of {titles:and} scatter so much that the shapes of {n:of its curve|their curves} cannot be compared.",
        titles=_shorten_names(titles),
        n=len(noisy),
    )
    clauses_ = [
        end_sentence(say("{title}: {line}", title=title, line=describe_line(line, find_runs(line.ranked))))
        for title, line in zip(titles, noisy, strict=True)
        if len(noisy) <= MOST_NAMED
    ]
    advice = say("Run more blocks, or on a quieter machine.")
    yield _make_other(
        "noisy", noisy, say("Too noisy to compare: {n:count curve}", n=len(noisy)), [why, *clauses_, advice]
    )


def _group_single(view: CampaignView) -> Iterator[Group]:
    """Yield the group of lines of one value each, such as a barrier's, if candidates can be compared in any."""
    lines = [
        line
        for line in sorted(find_lines(view, 1), key=lambda line: line.key)
        if len(line.verdicts) == 1 and len(next(iter(line.verdicts.values())).ranking) > 1
    ]
    if lines:
        title = say("Single values: {n:count operation}", n=len(lines))
        yield _make_other("single", lines, title, [_describe_single(view, line) for line in lines])


def _describe_single(view: CampaignView, line: Line) -> Text:
    """Return who is fastest in the only case of a line, and by how much."""
    (verdict,) = line.verdicts.values()
    names, several = verdict.winners, len(verdict.winners) > 1
    return say(
        "{title}: different while cores are near and far."
        if verdict.differs
        else "{title}: all are equivalent."
        if len(names) == len(verdict.ranking) and verdict.decided
        else "{title}: no clear winner."
        if len(names) == len(verdict.ranking) or not names
        else "{title}: {names:and} are the fastest, the next takes {margin:ratio} the time."
        if several
        else "{title}: {names:and} is fastest, the next takes {margin:ratio} the time.",
        title=view.title(verdict.case),
        names=names,
        margin=verdict.margin,
    )


def _make_other(kind: Literal["single", "noisy"], lines: list[Line], title: Text, texts: Sequence[Words]) -> Group:
    cases = [verdict.case.key for line in lines[:1] for verdict in line.verdicts.values()]
    return Group(lines=[line.key for line in lines], title=title, text=sentences(texts), cases=cases, kind=kind)


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
    if first == last:
        return say("at {size:size}", size=first)
    if last == sizes[-1]:
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
