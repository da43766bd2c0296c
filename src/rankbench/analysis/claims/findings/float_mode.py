"""A library leaves the processor in another mode for floating-point numbers.

Why: Programs begin with rounding to nearest and with denormal numbers. A call must keep this mode; otherwise the
results of the whole program change.

What to do: Set the mode again after MPI_Init, and report it to the library's developers.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import say
from rankbench.model import Finding

TITLE = "Mode for floating-point numbers"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a finding for each candidate and mode that is not that of every program."""
    modes = {
        (launch.candidate, launch.facts.float_mode): None
        for launch in view.launches
        if launch.facts and launch.facts.float_mode
    }
    for name, mode in modes:
        yield Finding(
            kind="float_mode",
            title=say("{name} changes how the program computes", name=name),
            text=say("With {name} the processor is not in the mode of every program: {mode}.", name=name, mode=mode),
            advice=say("Set the mode again after MPI_Init (fesetenv), and report it to the library's developers."),
            cases=[],
            severity="warning",
        )
