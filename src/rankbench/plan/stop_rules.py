"""Stop rules: what ends a campaign before its last block, a row each. Results come with the progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from rankbench.language import Words, join_words, say
from rankbench.model import Look


class Decision(NamedTuple):
    """Whether to stop, and why; or what is still undecided."""

    stop: bool
    reason: Words
    look: Look | None = None
    """The interim analysis that selects the cases of the next blocks, if cases end one by one."""


class Answer(Protocol):
    """Who has the lowest time over all cases, and against whom that is certain."""

    @property
    def best(self) -> str:
        """The candidate with the lowest time."""

    @property
    def cases(self) -> Sequence[str]:
        """Keys of the cases of which all have values."""

    @property
    def settled(self) -> Sequence[str]:
        """Rivals that are compared with certainty."""

    @property
    def open(self) -> Sequence[str]:
        """The other rivals."""


class Progress(Protocol):
    """A campaign after a block. Results are computed when they are first used, since that takes time."""

    @property
    def block_s(self) -> Sequence[float]:
        """Duration of each block so far."""

    @property
    def blocks_min(self) -> int:
        """Least number of blocks."""

    def look(self) -> Look:
        """Return which cases are decided, given up and open."""

    def answer(self) -> Answer | None:
        """Return who has the lowest time over all cases; None: no two candidates share a case."""

    def half_widths(self) -> list[float]:
        """Return half the width of each interval, relative to its typical value."""


def _decide_decided(progress: Progress, _: float) -> Decision:
    """Stop if no case is open."""
    look = progress.look()
    cases = len(look.decided) + len(look.given_up) + len(look.open)
    parts = [say("{n} of {all} cases are decided", n=len(look.decided), all=cases)]
    if look.given_up:
        parts.append(say("{n} would need more blocks than the plan has", n=len(look.given_up)))
    if look.open:
        parts.append(say("{n} {n:of goes|go} on, probably to block {block}", n=len(look.open), block=look.until))
    return Decision(not look.open, say("{parts:,}", parts=parts), look)


def _decide_answered(progress: Progress, _: float) -> Decision:
    """Stop if the best candidate is certainly better than all others."""
    answer = progress.answer()
    if not answer:
        return Decision(stop=True, reason=say("no two candidates have values for the same cases"))
    reason = say(
        "over {n:count case} {best} is fastest; against {settled} of {all:count other candidate} that is decided",
        n=len(answer.cases),
        best=answer.best,
        settled=len(answer.settled),
        all=len(answer.settled) + len(answer.open),
    )
    return Decision(stop=not answer.open, reason=reason)


def _decide_blocks(_progress: Progress, _: float) -> Decision:
    """Continue."""
    return Decision(stop=False, reason=say("every block of the plan is measured"))


def _decide_precision(progress: Progress, amount: float) -> Decision:
    """Continue while intervals are too wide."""
    widths = progress.half_widths()
    wide = sum(width > amount for width in widths)
    reason = say(
        "{n} of {all} intervals are within ±{amount:.2%}" if wide else "all {all} intervals are within ±{amount:.2%}",
        n=len(widths) - wide,
        all=len(widths),
        amount=float(amount),
    )
    return Decision(stop=not wide, reason=reason)


def decide_time(progress: Progress, amount: float) -> Decision:
    """Stop if a block as long as the longest one so far would end too late, even before the least number of blocks."""
    block_s = progress.block_s
    fields = {"spent": sum(block_s), "amount": amount, "blocks": len(block_s), "least": progress.blocks_min}
    if sum(block_s) + max(block_s, default=0.0) <= amount:
        return Decision(stop=False, reason=say("{spent:clock} of the plan's {amount:clock} have passed", **fields))
    if len(block_s) < progress.blocks_min:
        reason = say("{blocks} of at least {least} blocks fit into the plan's {amount:clock}", **fields)
        return Decision(stop=True, reason=reason)
    return Decision(stop=True, reason=say("another block would not fit into the plan's {amount:clock}", **fields))


class Rule(NamedTuple):
    """A row of the table."""

    name: str
    """Its word in a plan."""
    help: str
    """Its words in a list of all."""
    decide: Callable[[Progress, float], Decision]
    """From the progress and the amount to whether the campaign ends, and why."""
    amount: str = ""
    """What follows the word in a plan: a `share`, `seconds`, or nothing."""
    looks: bool = False
    """Whether it depends on results, which are evaluated after few blocks only."""
    costs_error: bool = False
    """Whether these interim analyses need a correction."""
    by_case: bool = False
    """Whether cases end one by one, and `drop` is allowed."""
    baseline: bool = True
    """Whether a plan may name a baseline."""
    most_blocks: int | None = None
    """The bound where a plan names none; None: the usual one."""


RULES = (
    Rule("decided", '"decided"', _decide_decided, looks=True, costs_error=True, by_case=True),
    Rule("answered", '"answered"', _decide_answered, looks=True, costs_error=True, baseline=False),
    Rule("blocks", '"blocks"', _decide_blocks),
    Rule("precision", '"precision 2%"', _decide_precision, "share", looks=True),
    Rule("time", '"time 30m"', decide_time, "seconds", most_blocks=1000),
)


def find_rule(name: str) -> Rule:
    """Return the rule with this name. Raises ValueError if there is none."""
    for row in RULES:
        if row.name == name:
            return row
    raise ValueError(name)


def format_help() -> str:
    """Return the notation of all rules, in words."""
    return join_words([row.help for row in RULES], "or") + ', also "decided or time 30m"'
