"""A library prints a lot, or prints during timed calls.

Why: Times of calls that print include the printing.

What to do: Switch the output off, by the library's setting for verbosity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import NOTHING, Text, say
from rankbench.model import Finding, Launch, Summary

TITLE = "Output of libraries"

MUCH_BYTES = 10 << 20
"""Of a launch."""
LINE_CHARACTERS = 200
"""Of the line that is shown."""
NUMBER = re.compile(r"\d+")


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a finding for each candidate that printed in timed calls, and for each with launches that print a lot."""
    for name in view.candidates:
        printing = [summary for summary in view.summaries if summary.candidate == name and summary.printed_bytes]
        if printing:
            yield _find_timed(view, name, printing)
        much = [launch for launch in view.launches if launch.candidate == name and launch.output_bytes > MUCH_BYTES]
        if much:
            yield _find_much(name, much)


def _find_timed(view: CampaignView, name: str, printing: list[Summary]) -> Finding:
    most = max(printing, key=lambda summary: summary.printed_bytes)
    return Finding(
        kind="output",
        title=say("{name} printed during timed calls", name=name),
        text=say(
            "A rank of {name} printed {size:count byte} or more during timed calls of {case}, and less in "
            "{n:count other case}: the time includes the printing."
            if len(printing) > 1
            else "A rank of {name} printed {size:count byte} or more during timed calls of {case}: the time includes "
            "the printing.",
            name=name,
            size=most.printed_bytes,
            case=view.full_title(view.case_of[most.case]),
            n=len(printing) - 1,
        ),
        advice=say("Read the launch's log, fix what the library warns about or silence it, and measure again."),
        cases=[summary.case for summary in printing],
        severity="warning",
    )


def _find_much(name: str, launches: list[Launch]) -> Finding:
    most = max(launches, key=lambda launch: launch.output_bytes)
    line = find_repeated(most.log)
    return Finding(
        kind="output",
        title=say("Launches of {name} print a lot", name=name),
        text=say(
            "{n:count launch} of {name} printed more than {much:size} each, launch {number} {size:size}{line}.",
            n=len(launches),
            name=name,
            much=MUCH_BYTES,
            number=most.number,
            size=most.output_bytes,
            line=_quote_line(line) if line else NOTHING,
        ),
        advice=say("Fix what the library warns about, or silence it: printing takes time."),
        cases=[],
        severity="warning",
    )


def _quote_line(line: str) -> Text:
    return say("; the first line that repeats: {line}", line=line)


def find_repeated(log: str) -> str:
    """Return the first complete line of a log that repeats, ignoring numbers; empty if none does.

    The log may begin in the middle of a line.
    """
    lines = [line.strip() for line in log.splitlines()[1:]]
    kinds = [NUMBER.sub("0", line) for line in lines]
    again = (line for line, kind in zip(lines, kinds, strict=True) if line and kinds.count(kind) > 1)
    return next(again, "")[:LINE_CHARACTERS]
