"""A foreign tool and the core report opposite candidates as faster.

Why: They do not measure the same: calls start otherwise, a mean counts rare calls, a first size counts setup.

What to do: Run `rankbench reconcile`: it measures how much each of these contributes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

from rankbench.analysis.questions import reconciling
from rankbench.analysis.questions.reconciling import Pair
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import say, sentences
from rankbench.model import Finding

TITLE = "Tools that contradict the core"


class Contradiction(NamedTuple):
    """Two candidates of which the tool reports one as faster, and the core the other."""

    pair: Pair
    base: str
    """Faster by the core."""
    other: str
    """Faster by the tool."""
    core: float
    """Time of `other` over that of `base`, above 1."""
    tool: float
    """The same by the tool, below 1."""

    @property
    def least_ratio(self) -> float:
        """The smaller of the factors that core and tool report."""
        return min(self.core, 1 / self.tool)


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a warning per tool that contradicts the core about two candidates, each significantly."""
    ordered = sorted(reconciling.find_pairs(view.campaign), key=lambda pair: pair.theirs.suite)
    for suite, group in itertools.groupby(ordered, key=lambda pair: pair.theirs.suite):
        pairs = list(group)
        contradictions = [contradiction for pair in pairs for contradiction in find_contradictions(view, pair)]
        if contradictions:
            yield _make_finding(view, suite, contradictions, len(pairs))


def find_contradictions(view: CampaignView, pair: Pair) -> Iterator[Contradiction]:
    """Yield the pairs of candidates that tool and core order differently."""
    pairs = view.comparisons
    for base, other in itertools.permutations(view.candidates, 2):
        if pairs.slower(pair.core.key, base, other) and pairs.slower(pair.theirs.key, other, base):
            core, tool = (pairs.ratio(case.key, base, other) or math.nan for case in (pair.core, pair.theirs))
            yield Contradiction(pair, base, other, core, tool)


WHY = say(
    "They do not measure the same: calls begin differently, a mean includes rare slow calls, and a tool's first size "
    "includes setup. `rankbench reconcile` measures how much each of these contributes."
)


def _make_finding(view: CampaignView, suite: str, contradictions: list[Contradiction], tested: int) -> Finding:
    worst = max(contradictions, key=lambda contradiction: contradiction.least_ratio)
    kinds = (worst.pair.theirs.datatype, worst.pair.core.datatype)
    numbers = []
    if kinds[0] != kinds[1]:
        numbers.append(
            say(
                "{tool} reduces values of type {tool_type} there, the core {core_type}.",
                tool=suite,
                tool_type=kinds[0],
                core_type=kinds[1],
            )
        )
    keys = list(
        dict.fromkeys(
            key
            for contradiction in [worst, *contradictions]
            for key in (contradiction.pair.core.key, contradiction.pair.theirs.key)
        )
    )
    return Finding(
        kind="tools_disagree",
        title=say("{tool} {tool:of contradicts|contradict} the core", tool=suite),
        text=say(
            "In {n} of {all:count case} that both measured, {tool} reports the candidate as faster that the core "
            "reports as slower. The largest contradiction is in {case}: {other} needs {core:ratio} the time of "
            "{base} by the core, and {theirs:ratio} by {tool}.",
            n=len({contradiction.pair.core.key for contradiction in contradictions}),
            all=tested,
            tool=suite,
            case=view.full_title(worst.pair.core),
            other=worst.other,
            base=worst.base,
            core=worst.core,
            theirs=worst.tool,
        ),
        advice=sentences([*numbers, WHY]),
        cases=keys,
        severity="warning",
    )
