"""The table `[program]`: the user's program as what is measured."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from rankbench.model import ProgramSpec
from rankbench.plan import keys, notation
from rankbench.plan.document import Value

OPERATION = "program"
"""The operation's family, and what a plan without operations measures."""
FIELDS = ("mpicc", "mpicxx", "mpifort")
"""What braces of `build` may contain."""
TIMES_NS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9, "seconds": 1e9, "min": 60e9}
"""Units of time in nanoseconds."""
SHELL_WORD = re.compile(r"\d?[<>].*|\|\|?|&&?|;")
"""A redirection, or what stands between commands."""
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
RATE = re.compile(r"[A-Za-z]{1,12}/(s|sec|second)")
"""Units of a rate."""
MOST_COPIED_BYTES = 100 << 20
"""Largest folder of which each launch has a copy, if the plan does not say it."""
UNIT_HELP = "ns, us, ms, s, min, or a rate such as GFLOP/s"


def parse_program(value: Value, plan_file: Path) -> ProgramSpec:
    """Return the program of a plan."""
    fields = value.read_table(keys.PROGRAM)
    if "run" not in fields:
        raise value.make_error('has no `run`, such as run = "./solver -n 200"')
    folder = Path(fields["folder"].read_text("a folder") if "folder" in fields else ".").expanduser()
    folder = (plan_file.parent / folder).absolute()
    if not folder.is_dir() and not (plan_file.parent / "campaign.json").exists():  # A stored plan is elsewhere.
        raise fields.get("folder", value).make_error(f"{folder}: no such folder")
    for name, other in (("tolerance", "check"), ("unit", "value")):
        if name in fields and other not in fields:
            raise fields[name].make_error(f"has no effect without `{other}`")
    build = _parse_build(fields["build"]) if "build" in fields else ""
    copies = fields["copies"].read_switch() if "copies" in fields else bool(build) or is_small(folder)
    return ProgramSpec(
        run=parse_command(fields["run"]),
        folder=str(folder),
        copies=copies,
        record="record" in fields and fields["record"].read_switch(),
        build=build,
        value=parse_pattern(fields["value"]) if "value" in fields else "",
        unit=parse_unit(fields["unit"]) if "unit" in fields else "",
        check=parse_pattern(fields["check"]) if "check" in fields else "",
        tolerance=fields["tolerance"].parse_with(notation.parse_share, notation.SHARE_HELP)
        if "tolerance" in fields
        else 0.0,
        paths={name: entry.read_text("a command") for name, entry in fields["paths"].read_entries("a table").items()}
        if "paths" in fields
        else {},
    )


def is_small(folder: Path) -> bool:
    """Return whether a folder is quickly copied for each launch."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # It was removed meanwhile.
                total += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118 - there can be very many
            if total > MOST_COPIED_BYTES:
                return False
    return True


def parse_command(value: Value) -> list[str]:
    """Return the words of a command."""
    if isinstance(value.raw, list):
        return [word.read_text("a word") for word in value.read_items("the words of a command")]
    text = value.read_text("a command")
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise value.make_error(f"found {value.format_raw()}: {error}") from None
    if not words:
        raise value.make_error('found no word, expected a command such as "./solver -n 200"')
    if shell := find_shell_word(shlex.split(text, posix=False)):
        raise value.make_error(f'found "{shell}", which needs a shell: {shlex.join(["bash", "-c", text])}')
    if ASSIGNMENT.match(words[0]):
        raise value.make_error(f'found "{words[0]}" where the program is expected; write env {text}')
    return words


def find_shell_word(words: Sequence[str]) -> str:
    """Return the first word that only a shell understands; empty: there is none. Quoted ones are arguments."""
    return next((word for word in words if SHELL_WORD.fullmatch(word)), "")


def _parse_build(value: Value) -> str:
    text = value.read_text("a line for the shell")
    try:
        text.format(**dict.fromkeys(FIELDS, ""))
    except (LookupError, ValueError, AttributeError):
        names = ", ".join(f"{{{name}}}" for name in FIELDS)
        raise value.make_error(
            f"found {value.format_raw()}; braces may contain only {names}; double others: {{{{ }}}}"
        ) from None
    return text


def parse_pattern(value: Value) -> str:
    """Return a regular expression with one group."""
    text = value.read_text("a regular expression with one group")
    try:
        groups = re.compile(text).groups
    except re.error as error:
        raise value.make_error(f"found {value.format_raw()}: {error}") from None
    if groups != 1:
        raise value.make_error(
            f"found {value.format_raw()}, which has {groups} groups; put the value alone in parentheses"
        )
    return text


def parse_unit(value: Value) -> str:
    """Return a unit of time or of a rate."""
    unit = value.read_text(UNIT_HELP)
    if unit not in TIMES_NS and not RATE.fullmatch(unit):
        raise value.reject(UNIT_HELP)
    return unit
