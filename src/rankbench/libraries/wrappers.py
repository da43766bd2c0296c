"""What compiler wrappers print: they may print lines of their own before it, and not all can show their command."""

from __future__ import annotations

import re
import shlex

OPTION = re.compile(r"-(?:[ILl]\S|Wl,|isystem|pthread\b)")
"""An option that a wrapper adds to the compiler's."""
NO_COMMAND = re.compile(r"\berror\b|\bwarning\b|:$", re.IGNORECASE)


def find_command(output: str) -> str:
    """Return the compiler's command in the output of `mpicc -show`; empty: there is none."""
    lines = (line.strip() for line in reversed(output.splitlines()))
    return next((line for line in lines if is_command(line)), "")


def is_command(line: str) -> bool:
    """Return whether a line is a command that compiles or links."""
    try:
        words = shlex.split(line)
    except ValueError:
        return False
    return len(words) > 1 and not NO_COMMAND.search(words[0]) and any(map(OPTION.match, words[1:]))


def drop_banner(output: str, other: str) -> str:
    """Return the lines of an output without those that another call of the same wrapper printed, too.

    A compiler that prints its version whatever it is asked has no banner.
    """
    banner = set(other.splitlines()) - {""}
    return "\n".join(line for line in output.splitlines() if line not in banner).strip() or output.strip()


def drop_before_source(text: str) -> str:
    """Return preprocessed text from the first line of the preprocessor on."""
    match = re.search(r"^#", text, re.MULTILINE)
    return text[match.start() :] if match else text
