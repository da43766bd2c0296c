"""A process of the library outlives the ranks and holds the launcher's output.

Why: A helper that a library starts, such as a monitor or a fork server, can keep the output open after MPI_Finalize.
The launcher then waits for it. All values were measured, and rankbench ended the launch; an application would wait.

What to do: Find out which part of the library starts the process, and switch it off; report it to its developers.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.view import CampaignView
from rankbench.campaign.exit_causes import is_leftover
from rankbench.language import say
from rankbench.model import Finding, LaunchStatus

TITLE = "Processes that outlive the ranks"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a note for each candidate whose launches were ended because of such a process."""
    for name in view.candidates:
        launches = [launch for launch in view.launches if launch.candidate == name]
        blocked = [launch for launch in launches if launch.status is LaunchStatus.OK and is_leftover(launch.reason)]
        if blocked:
            yield Finding(
                kind="leftovers",
                title=say("Processes of {name} outlive its ranks", name=name),
                text=say(
                    "In {n} of {all:count launch} of {name} the launcher did not end by itself: {reason}. Values were "
                    "measured before and count.",
                    n=len(blocked),
                    all=len(launches),
                    name=name,
                    reason=blocked[0].reason,
                ),
                advice=say("Find out which part of the library starts this process, and switch it off."),
                cases=[],
                severity="note",
            )
