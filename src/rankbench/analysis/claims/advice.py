"""The command that searches for better settings of a library, where it has a tuner. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.questions.wording import format_plan_sizes
from rankbench.language import Text, say
from rankbench.model import Case
from rankbench.tuning import tuners

FOUND_BY_NAME = ("pypi", "system", "path")
"""Sources whose libraries `tune` finds by their names alone."""
USUAL_PLACEMENT = "socket"
"""The placement of `tune` unless another is given."""


def advise_tuning(view: CampaignView, cases: Mapping[str, Iterable[Case]]) -> Iterator[Text]:
    """Yield a sentence with the command for each candidate and its slow cases, if the command can help."""
    for name, slow in cases.items():
        if command := format_tune_command(view, name, slow):
            yield say("To search for faster settings, run `{command}`.", command=command)


def format_tune_command(view: CampaignView, name: str, cases: Iterable[Case]) -> str:
    """Return `rankbench tune LIBRARY ...` for a candidate's cases; empty where they cannot be tuned.

    Rules are of blocking calls on one node at one placement. Of cases at several placements the first counts.
    """
    library = view.campaign.get_library(view.campaign.get_candidate(name))
    tunable = [case for case in cases if is_tunable(view, case)]
    if not tunable or library.family not in tuners.list_tuners() or library.source not in FOUND_BY_NAME:
        return ""
    place = tunable[0].placement
    tunable = [case for case in tunable if case.placement == place]
    words = [
        *("rankbench", "tune", library.name),
        *("--operations", ",".join(dict.fromkeys(case.operation for case in tunable))),
        *("--sizes", ",".join(format_plan_sizes(case.size_bytes for case in tunable))),
        *(() if place == USUAL_PLACEMENT else ("--placements", place)),
    ]
    return shlex.join(words)


def is_tunable(view: CampaignView, case: Case) -> bool:
    """Return whether a library may have several algorithms, or an eager limit, for a case."""
    operation = view.operation(case)
    placement = view.campaign.get_placement(case.placement)
    kind = operation.kind == "collective" or case.operation in tuners.POINT_TO_POINT
    return kind and case.size_bytes > 0 and case.form == "blocking" and placement.nodes == 1 and not case.suite
