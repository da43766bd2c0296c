"""Values of options, from the texts that a user writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rankbench.model import Calls, RankbenchError
from rankbench.plan import notation

Kind = TypeVar("Kind")


def parse_option(option: str, text: str, parse: Callable[[object], Kind], allowed: str) -> Kind | None:
    """Return the parsed value of an option; None: it is not given. Raises RankbenchError for an invalid value."""
    try:
        return parse(text) if text else None
    except notation.UnlikelyError as error:
        message = f"--{option} {text}: expected {allowed.replace(chr(34), '')}; {error.hint.replace(chr(34), '')}"
        raise RankbenchError(f"--{option}: {error.hint}" if error.alone else message) from None
    except ValueError:
        raise RankbenchError(f"--{option} {text}: expected {allowed.replace(chr(34), '')}") from None


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
