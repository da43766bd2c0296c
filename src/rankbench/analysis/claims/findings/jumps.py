"""A step along the sizes is much steeper or flatter than its neighbours.

Why: Probably a switch of protocol or algorithm, or a cache that is full. Where all candidates have it, it is
the machine.

What to do: Find the setting that moves the switch, and try other values; `rankbench tune` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from rankbench.analysis.claims.advice import advise_tuning
from rankbench.analysis.claims.lines import Line, find_lines
from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics import shapes
from rankbench.analysis.statistics.contrasts import Contrast
from rankbench.analysis.statistics.shapes import Step
from rankbench.language import NOTHING, Text, end_sentence, list_parts, say, sentences
from rankbench.model import Case, Finding

TITLE = "Jumps along the sizes"


class Limit(NamedTuple):
    """A setting of a library for the largest size of a protocol, and its default."""

    family: str
    version: str
    """The beginning of the versions whose default is known."""
    setting: str
    size_bytes: int
    inside: bool
    """Whether it is for messages within a node, or across nodes."""


LIMITS = (
    Limit("openmpi", "5.0", "btl_sm_eager_limit", 4096, inside=True),
    Limit("openmpi", "4.1", "btl_vader_eager_limit", 4096, inside=True),
    Limit("openmpi", "5.0", "btl_tcp_eager_limit", 65536, inside=False),
    Limit("openmpi", "4.1", "btl_tcp_eager_limit", 65536, inside=False),
    Limit("mpich", "5.0", "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD", 8192, inside=True),
    Limit("mpich", "5.0", "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE", 8192, inside=True),
    Limit("mpich", "4.3", "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD", 16384, inside=True),
    Limit("mpich", "4.3", "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE", 16384, inside=True),
)
"""As these libraries show them by MPI_T. Whether a protocol is used depends on the build."""


class Jump(NamedTuple):
    """Steps in a row in the same direction."""

    candidate: str
    smaller_bytes: int
    larger_bytes: int
    up: bool
    factor: float
    excess: Contrast
    """The largest of them."""

    def meets(self, other: Jump) -> bool:
        """Return whether the two are at the same sizes and in the same direction."""
        overlap = self.smaller_bytes < other.larger_bytes and other.smaller_bytes < self.larger_bytes
        return overlap and self.up == other.up


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield one note per line in which the time of a candidate jumps or drops."""
    candidate_lines = find_lines(view, 3)
    names = set(view.candidates)
    curves = [
        curve
        for curve in shapes.list_curves(view.judged_values, [line.keys for line in candidate_lines])
        if curve.candidate in names
    ]
    planned = view.campaign.plan
    steps = shapes.find_steps(curves, planned.threshold, planned.confidence)
    for number, line_steps in groupby(sorted(steps, key=lambda step: step.line), key=lambda step: step.line):
        measured = {curve.candidate for curve in curves if curve.line == number}
        yield _make_finding(view, candidate_lines[number], join_steps(list(line_steps)), measured)


def join_steps(steps: Sequence[Step]) -> list[Jump]:
    """Return the steps with those joined that follow each other, the largest first."""
    jumps: list[Jump] = []
    for step in sorted(steps, key=lambda step: (step.candidate, step.up, step.smaller_bytes)):
        last = jumps[-1] if jumps else None
        jump = Jump(step.candidate, step.smaller_bytes, step.larger_bytes, step.up, step.factor, step.excess)
        if last and last.candidate == jump.candidate and last.up == jump.up and last.larger_bytes == jump.smaller_bytes:
            excess = max(last.excess, jump.excess, key=lambda excess: excess.ratio)
            jumps[-1] = Jump(
                jump.candidate, last.smaller_bytes, jump.larger_bytes, jump.up, last.factor * jump.factor, excess
            )
        else:
            jumps.append(jump)
    return sorted(jumps, key=lambda jump: -jump.excess.ratio)


def _make_finding(view: CampaignView, line: Line, jumps: list[Jump], measured: set[str]) -> Finding:
    title = view.title(next(iter(line.cases.values())))
    texts = [text for together in group_jumps(jumps) for text in _describe_jumps(view, line, together, jumps, measured)]
    sizes = sorted({size for jump in jumps for size in (jump.smaller_bytes, jump.larger_bytes)})
    by_name: dict[str, list[Case]] = {}
    for jump in (jump for jump in jumps if jump.up):
        inside = [case for size, case in line.cases.items() if jump.smaller_bytes <= size <= jump.larger_bytes]
        by_name.setdefault(jump.candidate, []).extend(inside)
    return Finding(
        kind="jumps",
        title=say("{title}: jumps along the sizes", title=title),
        text=sentences(texts),
        advice=sentences([*dict.fromkeys(_advise(jump) for jump in jumps), *advise_tuning(view, by_name)]),
        cases=[line.verdicts[size].case.key for size in sizes],
        severity="note",
    )


def group_jumps(jumps: Sequence[Jump]) -> list[list[Jump]]:
    """Group the jumps of a line by the sizes at which candidates have them."""
    groups: list[list[Jump]] = []
    for jump in jumps:
        group = next((group for group in groups if all(jump.meets(other) for other in group)), None)
        if group and all(jump.candidate != other.candidate for other in group):
            group.append(jump)
        else:
            groups.append([jump])
    return groups


def _describe_jumps(
    view: CampaignView, line: Line, together: list[Jump], jumps: Sequence[Jump], measured: set[str]
) -> Iterator[Text]:
    yield end_sentence(list_parts(_describe_jump(view, line, jump, jumps) for jump in together))
    cache = _describe_cache(view, line, together)
    shared = len(together) > 1
    if shared and len(together) == len(measured):
        text = say("All candidates do this, so the machine is the likely cause")
        yield end_sentence(say("{text} {cache}", text=text, cache=cache) if cache else text)
    elif cache:
        yield say("The machine may be the cause {cache}.", cache=cache)
    elif shared:
        yield say("Several candidates do this, so the machine may be the cause.")
    else:
        hints = list(_list_limits(view, line, together[0]))
        yield say(
            "Probably a switch of protocol or algorithm; {hints:and}."
            if hints
            else "Probably a switch of protocol or algorithm.",
            hints=hints,
        )


def _describe_jump(view: CampaignView, line: Line, jump: Jump, jumps: Iterable[Jump]) -> Text:
    """Return a jump as the reader of the curve sees it: of a bandwidth or a rate, what this does."""
    first, last = (view.measure(line.cases[size]) for size in (jump.smaller_bytes, jump.larger_bytes))
    factor = last.grow(first, jump.factor, jump.larger_bytes / jump.smaller_bytes)
    back = any(
        jump.up and not other.up and other.candidate == jump.candidate and other.smaller_bytes == jump.larger_bytes
        for other in jumps
    )
    excess = jump.excess
    more = jump.up != first.per_second
    beyond = say(
        "{ratio:ratio} more than a smooth curve, {low:ratio} to {high:ratio}"
        if more
        else "{ratio:ratio} less than a smooth curve, {low:ratio} to {high:ratio}",
        ratio=excess.ratio,
        low=excess.low,
        high=excess.high,
    )
    text = say(
        _choose_template(first, more=more, factor=factor),
        name=jump.candidate,
        what=first.name,
        smaller=jump.smaller_bytes,
        larger=jump.larger_bytes,
        factor=factor,
        beyond=beyond,
    )
    if not back:
        return text
    again = (
        "{text}, and recovers above {larger:size}" if first.per_second else "{text}, and returns above {larger:size}"
    )
    return say(again, text=text, larger=jump.larger_bytes)


def _choose_template(measure: Measure, *, more: bool, factor: float) -> str:
    """Return the template for a value that is more, or less, than a smooth curve allows and changes by a factor."""
    if measure.per_second:
        verb = "rises by" if more and factor >= 1 else "falls only to" if more else "rises by only"
        verb = "drops to" if not more and factor < 1 else verb
        return f"{{name}}'s {{what}} {verb} {{factor:ratio}} from {{smaller:size}} to {{larger:size}} ({{beyond}})"
    verb = "jumps by" if more else "drops to" if factor < 1 else "grows by only"
    return f"{{name}} {verb} {{factor:ratio}} from {{smaller:size}} to {{larger:size}} ({{beyond}})"


def _describe_cache(view: CampaignView, line: Line, together: Iterable[Jump]) -> Text:
    """Return the sizes of buffers and cache if the last-level cache is full there."""
    facts = [launch.facts for launch in view.launches if launch.facts]
    cache_bytes = max((fact.last_level_cache_bytes for fact in facts), default=0)
    smaller = min(jump.smaller_bytes for jump in together)
    larger = max(jump.larger_bytes for jump in together)
    first, last = (_count_bytes(view, line.verdicts[size].case) for size in (smaller, larger))
    if not cache_bytes or not first / 2 <= cache_bytes <= 2 * last:
        return NOTHING
    return say(
        "(the ranks of a node use {first:memory} to {last:memory} of buffers there; the last-level cache has "
        "{cache:memory})",
        first=first,
        last=last,
        cache=cache_bytes,
    )


def _count_bytes(view: CampaignView, case: Case) -> int:
    """Return the bytes that the ranks of one node send and receive."""
    operation = view.operations[case.operation]
    messages = max(operation.messages, 1)
    each = sum(amount.bytes(case.size_bytes, case.ranks, messages) for amount in (operation.send, operation.receive))
    placement = view.campaign.get_placement(case.placement)
    return each * placement.ranks_per_node


def _list_limits(view: CampaignView, line: Line, jump: Jump) -> Iterator[Text]:
    """Yield the settings of the library whose limit is there, for messages from one rank to another."""
    case = line.verdicts[jump.smaller_bytes].case
    candidate = view.campaign.get_candidate(jump.candidate)
    library = view.campaign.get_library(candidate)
    placement = view.campaign.get_placement(case.placement)
    if view.operations[case.operation].kind != "point-to-point":
        return
    for limit in LIMITS:
        text = candidate.settings.get(limit.setting, str(limit.size_bytes))
        known = library.family == limit.family and library.version.startswith(limit.version) and text.isdecimal()
        if known and limit.inside == (placement.nodes == 1) and jump.smaller_bytes <= int(text) <= jump.larger_bytes:
            yield say(
                "{setting} is {size:size}"
                if limit.setting in candidate.settings
                else "{setting} is {size:size} by default",
                setting=limit.setting,
                size=int(text),
            )


def _advise(jump: Jump) -> Text:
    if jump.up:
        return say("Find the setting that moves the jump, and try other values.")
    return say("The algorithm above such a step may be faster below it too: try to switch to it earlier.")
