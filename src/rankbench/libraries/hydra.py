"""Hydra, the launcher that MPICH and the libraries made from it share: its launch line and what its failures mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.libraries import families
from rankbench.model import CommandLine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankbench.model import Library, Placement

FAILURES = (
    (r"execvp error on file (?s:.*)No such file", "the launcher cannot find the program; build it again"),
    (
        r"execvp error on file (?s:.*)Permission denied",
        "the program may not be executed; is its folder mounted noexec?",
    ),
    (r"unable to get host address|gethostbyname failed", "this host's name does not resolve; add it to /etc/hosts"),
    (
        r"unsupported PMI version|not compatible with PMI1|PMI2?_Init returned",
        "the launcher speaks another process interface: it belongs to another library; use the library's own mpiexec",
    ),
    (
        r"EXIT STRING: Killed \(signal 9\)",
        "a rank was killed from outside, most often for want of memory; use fewer ranks or smaller sizes",
    ),
)


def launch_line(
    library: Library, placement: Placement, environment: Mapping[str, str], program: list[str]
) -> CommandLine:
    """Return a Hydra command line; ranks are bound one to a core in rank order, or not at all."""
    launcher = families.local_launcher(library, placement)
    return CommandLine(
        arguments=[launcher, "-n", str(placement.ranks), "-bind-to", placement.binding, *program],
        environment={**library.environment, **environment},
    )
