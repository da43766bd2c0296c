"""Launch lines by a command that the plan states, in the place of a library's own launcher."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from rankbench.libraries import srun
from rankbench.model import CommandLine, Library, Placement
from rankbench.plan.launchers import PROGRAM

HERE = "localhost"
"""What a launcher gets as hosts where a placement names none."""


def make_launch_line(
    library: Library, placement: Placement, environment: Mapping[str, str], program: list[str]
) -> CommandLine:
    """Return the stated command line with its placeholders filled in. Raises RankbenchError if hosts are missing.

    Whether ranks are bound is up to the launcher; reports of the ranks show it.
    """
    srun.require_hosts(placement)
    values = {
        "ranks": str(placement.ranks),
        "nodes": str(placement.nodes),
        "per_node": str(placement.ranks_per_node),
        "hosts": ",".join(placement.hosts or [HERE]),
    }
    first, *rest = library.launch
    words = [part for word in rest for part in (program if word == PROGRAM else [word.format(**values)])]
    return CommandLine(
        arguments=[find_launcher(library, first), *words], environment={**library.environment, **environment}
    )


def find_launcher(library: Library, word: str) -> str:
    """Return the program of a launcher's first word: that of the library's own folder, else the one on PATH."""
    launcher = Path(library.launcher)
    if "/" in word or not library.launcher:
        return word
    if word in {launcher.name, launcher.name.partition(".")[0]}:
        return library.launcher
    beside = launcher.with_name(word)
    return str(beside) if os.access(beside, os.X_OK) and beside.is_file() else word


def describe_launcher(library: Library) -> str:
    """Return the program that starts a library's ranks, for messages."""
    return find_launcher(library, library.launch[0]) if library.launch else library.launcher
