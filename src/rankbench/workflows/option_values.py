"""Values of options, from the texts that a user writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rankbench.model import RankbenchError
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
