"""Steps that a scheduler runs."""

from __future__ import annotations

from pathlib import Path

from rankbench.model.base import Record


class CommandLine(Record, frozen=True):
    """A program with its arguments and what must be set in its environment."""

    arguments: list[str]
    environment: dict[str, str] = {}
    files: dict[str, str] = {}
    """Texts that it reads, by the argument in place of each; they are written beside its output."""


class Step(Record, frozen=True):
    """A command line, where its output goes, and when it counts as hung."""

    command: CommandLine
    output: Path
    """Takes standard output and error."""
    watch: Path
    """A file that changes, in length or by its time of change, while the step makes progress."""
    limit_s: float
    """Longest time without a change of `watch`, or of its sign of life, before the step is ended."""
    sign: tuple[Path, int] | None = None
    """A file and the place in it of a number of four bytes that changes as well while the step lives."""


class Outcome(Record, frozen=True):
    """How a step ended. A negative exit code is a signal's number."""

    exit_code: int | None
    hung: bool
    duration_s: float
    output_bytes: int = 0
    """How much it printed; 0: nothing, or not known."""
