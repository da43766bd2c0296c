"""The option `--calls`: the calls of an application, and how often it makes them."""

from __future__ import annotations

from rankbench.model import Calls, RankbenchError
from rankbench.plan import notation


def parse_calls(text: str) -> list[Calls]:
    """Return the calls of `allreduce 8: 1000, bcast 1M: 2`. Raises RankbenchError for an invalid one."""
    calls = []
    for part in text.split(","):
        name, _, count = part.partition(":")
        try:
            calls.append(notation.parse_calls(name, count or "1"))
        except ValueError:
            raise RankbenchError(f"--calls: found {part.strip()!r}, expected {notation.CALLS_HELP}") from None
    if fault := notation.find_calls_fault(calls):
        raise RankbenchError(f"--calls: {fault}")
    return calls
