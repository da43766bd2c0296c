"""The program's name in this shell, so that printed commands work when they are pasted."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from functools import cache
from pathlib import Path

from rankbench import units
from rankbench.cli import commands

NAME = "rankbench"


def find_program() -> str:
    """Return how to call this program: its name if that is on PATH, else the way in which it was called."""
    path = Path(sys.argv[0])
    if path.name == "__main__.py" and path.parent.name == NAME:
        return f"{shlex.quote(sys.orig_argv[0])} -m {NAME}"
    on_path = shutil.which(NAME)
    if path.name != NAME or sys.argv[0] == NAME or (on_path and Path(on_path).absolute() == path.absolute()):
        return NAME
    return shlex.quote(sys.argv[0])


def adapt_commands(text: str) -> str:
    """Return a text whose rankbench commands have this program's name."""
    if NAME not in text:
        return text
    program = find_program()
    return text if program == NAME else command_pattern().sub(lambda _: program, text)


def split_command(text: str) -> tuple[str, str]:
    """Return a text without the command that ends it after a colon, and this command."""
    match = re.search(rf": ({re.escape(find_program())} (?:{name_commands()})(?![\w-])[^`]*)$", text)
    return (text[: match.start() + 1], match[1]) if match else (text, "")


@cache
def command_pattern() -> re.Pattern[str]:
    """Return what matches the program's name where one of its commands, or `-h`, follows, and that is not adapted yet:
    texts pass here more than once.
    """
    return re.compile(rf"(?<!-m )(?<![\w./-]){NAME}(?= (?:(?:{name_commands()})(?![\w-])|-h))")


def name_commands() -> str:
    """Return the names of all commands as alternatives of a pattern."""
    return "|".join(name.rstrip("_") for name in units.list_names(commands))
