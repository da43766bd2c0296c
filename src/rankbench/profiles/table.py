"""Reads a table of your own: a line for each call, such as `allreduce 8 B: 1000`. Comments begin with #."""

from __future__ import annotations

import re

from rankbench.model import RankbenchError
from rankbench.plan import notation
from rankbench.profiles import Profile

NAME = "a table of lines such as `allreduce 8: 1000`"
LINE = re.compile(r"\s*(?P<call>[a-z][\w.]*(?:[ \t]+\d[\w ]*?)?)[ \t]*[:=,][ \t]*(?P<calls>[^#]*?)\s*(?:#.*)?$")


def recognises(text: str) -> bool:
    """Return whether the first entry is a call with a number."""
    return any(LINE.match(line) for line in list_entries(text)[:1])


def list_entries(text: str) -> list[str]:
    """Return the lines that are neither blank nor comments."""
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def read(text: str, file: str) -> Profile:
    """Return the calls. Raises RankbenchError for a line of another form."""
    calls = []
    for number, line in enumerate(text.splitlines(), 1):
        if line not in list_entries(line):
            continue
        match = LINE.match(line)
        try:
            calls.append(
                notation.parse_calls(match["call"], match["calls"]) if match else notation.parse_calls(line, "")
            )
        except ValueError:
            raise RankbenchError(f"{file}:{number}: found {line.strip()!r}, expected {notation.CALLS_HELP}") from None
    return Profile("table", calls, [])
