"""Steps that a scheduler runs."""

from __future__ import annotations

from pathlib import Path

from rankbench.model.base import Record


class CommandLine(Record, frozen=True):
    """A program with its arguments and environment variables."""

    arguments: list[str]
    environment: dict[str, str] = {}
    files: dict[str, str] = {}
    """Contents of files that it reads, by the argument that each path replaces; they are written beside its output."""


class Step(Record, frozen=True):
    """A command line, where its output goes, and when it counts as hung."""

    command: CommandLine
    output: Path
    """File for standard output and error."""
    watch: Path
    """A file whose length or modification time changes while the step makes progress."""
    limit_s: float
    """Time without a change of `watch` or `heartbeat` after which the step is ended."""
    heartbeat: tuple[Path, int] | None = None
    """A file and the offset of a four-byte number that changes while the step lives."""


class Outcome(Record, frozen=True):
    """How a step ended. A negative exit code is a signal's number."""

    exit_code: int | None
    hung: bool
    duration_s: float
    output_bytes: int = 0
    """Bytes that it printed; 0: nothing, or unknown."""
    waiting: float = 0.0
    """Where it hung, the share of its life for which each of its ranks on this machine waited for a CPU, at least."""
    outlived: str = ""
    """Where it hung although all its ranks on this machine had ended: a process that they left, as `PID, NAME`."""
