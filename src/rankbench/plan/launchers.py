"""Command lines that plans name: a launcher with placeholders, and a command before every program of a candidate."""

from __future__ import annotations

import shlex
import string
from pathlib import Path

from rankbench.plan.document import Value

PROGRAM = "{program}"
FIELDS = ("ranks", "nodes", "per_node", "hosts", "program")
"""What braces of a launcher may contain."""
EXAMPLE = '"mpiexec -n {ranks} --ppn {per_node} {program}"'
LAUNCHER_HELP = f"a command line such as {EXAMPLE}"
WRAP_HELP = 'a command such as "apptainer exec image.sif"'


def parse_launcher(value: Value, what: str = LAUNCHER_HELP) -> list[str]:
    """Return the words of a launcher, with their placeholders. `what` is expected where the text has none at all."""
    text = value.read_text(what)
    if "{" not in text:
        raise value.reject(what)
    words = split_words(value, text)
    try:
        named = {
            (name, text, conversion)
            for word in words
            for _, name, text, conversion in string.Formatter().parse(word)
            if name is not None
        }
    except ValueError:  # Single braces.
        named = {("", "", None)}
    if not named <= {(name, "", None) for name in FIELDS}:
        names = ", ".join(f"{{{name}}}" for name in FIELDS)
        raise value.make_error(f"found {value.format_raw()}; braces may contain only {names}; double others: {{{{ }}}}")
    if words.count(PROGRAM) != 1 or words[0] == PROGRAM or sum(word.count(PROGRAM) for word in words) != 1:
        raise value.make_error(
            f"found {value.format_raw()}, expected {PROGRAM} once, as a word of its own behind the launcher"
        )
    return words


def parse_wrap(value: Value) -> list[str]:
    """Return the words of a command, with absolute paths of the files that are named relative to the plan's folder.

    Launches have other working directories.
    """
    folder = Path(value.file).parent

    def find_file(word: str) -> str:
        is_relative = not word.startswith(("-", "/")) and ("/" in word or "." in word)
        return str((folder / word).absolute()) if is_relative and (folder / word).exists() else word

    return [find_file(word) for word in split_words(value, value.read_text(WRAP_HELP))]


def split_words(value: Value, text: str) -> list[str]:
    """Return the words of a command line, as a shell splits them."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise value.make_error(f"found {value.format_raw()}: {error}") from None
