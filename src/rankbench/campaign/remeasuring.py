"""One campaign with the libraries of two: the plan of the newer campaign, with the candidates of both.

Each library must be here as it was recorded: another build in its place would be compared under its name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import msgspec

from rankbench import libraries
from rankbench.campaign.preparation import EXECUTED
from rankbench.model import Campaign, CandidateSpec, Library, Plan, RankbenchError, Stop

COMPARED = (*EXECUTED, "version", "abi", "origin")
"""Recorded fields of a library that identify its build."""
FEWEST = 3
"""Least number of blocks of a campaign with a time limit."""
MOST = 1000


class JointPlan(NamedTuple):
    """The plan that measures both sides, and the names of its candidates."""

    plan: Plan
    pairs: list[tuple[str, str]]
    """Old and new, as the plan names them."""


def make_joint_plan(
    old: Campaign, new: Campaign, pairs: Sequence[tuple[str, str]], reach: list[Library], stop: Stop | None
) -> JointPlan:
    """Return the plan of the newer campaign with the candidates of both sides of the pairs.

    Args:
        old: the older campaign.
        new: the newer campaign.
        pairs: names of candidates, old and new, none of which has the same record in both campaigns.
        reach: the libraries found here; libraries that the plan names by their location are added.
        stop: the stop rule, if it is not that of the newer plan.
    """
    titles = _titles(pairs)
    sides = {
        **{titles[0][name]: (old, name) for name, _ in pairs},
        **{titles[1][name]: (new, name) for _, name in pairs},
    }
    specs = [_spec(campaign, name, title, reach) for title, (campaign, name) in sides.items()]
    planned = new.plan
    ends = msgspec.structs.replace(stop or planned.stop, past=[])
    listed = "".join(f"#   {title}: {name} of campaign {of.name}\n" for title, (of, name) in sides.items())
    head = (
        f"# The plan of campaign {new.name}, measured again with these candidates in place of its own:\n{listed}"
        f"# It ends by: {ends.until}, {ends.blocks_min} to {ends.blocks_max} blocks.\n"
    )
    plan = msgspec.structs.replace(planned, text=head + planned.text, candidates=specs, baseline="", stop=ends)
    return JointPlan(plan, [(titles[0][old_name], titles[1][new_name]) for old_name, new_name in pairs])


def make_stop(seconds: str, blocks: int) -> Stop | None:
    """Return the stop rule for a limit of time, of blocks, or of both; None without a limit.

    `seconds` has the notation of plans: "60s", "2m".
    """
    if seconds:
        most = blocks or MOST
        return Stop(blocks_min=min(FEWEST, most), blocks_max=most, until=f"time {seconds}")
    return Stop(blocks_min=blocks, blocks_max=blocks, until="blocks") if blocks else None


def is_recorded_same(old: Campaign, new: Campaign, pair: tuple[str, str]) -> bool:
    """Return whether two campaigns record the same build and the same settings of two candidates."""
    candidate, two = (campaign.get_candidate(name) for campaign, name in zip((old, new), pair, strict=True))
    builds = old.get_library(candidate), new.get_library(two)
    return candidate.settings == two.settings and not find_difference(*builds)


def _titles(pairs: Sequence[tuple[str, str]]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names of both sides' candidates in the plan: `NAME (old)` and `NAME (new)` if both have one."""
    old, new = {name for name, _ in pairs}, {name for _, name in pairs}
    return _apart(old, old & new, "old"), _apart(new, old & new, "new")


def _apart(names: Iterable[str], shared: Collection[str], side: str) -> dict[str, str]:
    return {name: f"{name} ({side})" if name in shared else name for name in names}


def _spec(campaign: Campaign, name: str, title: str, reach: list[Library]) -> CandidateSpec:
    """Return the plan's candidate whose library is the recorded one."""
    candidate = campaign.get_candidate(name)
    library = campaign.get_library(candidate)
    if same := next((other for other in reach if not find_difference(library, other)), None):
        return CandidateSpec(library=same.name, name=title, settings=candidate.settings)
    spec = dict(zip((candidate.name for candidate in campaign.candidates), campaign.plan.candidates, strict=False)).get(
        name
    )
    here = _derive(spec, reach) if spec else None
    if spec is None or here is None or find_difference(library, here):
        called = next((other for other in reach if other.name == library.name), None)
        raise RankbenchError(report_missing(campaign, library, here or called))
    return msgspec.structs.replace(spec, name=title, settings=candidate.settings)


def _derive(spec: CandidateSpec, reach: list[Library]) -> Library | None:
    """Return the derived library that a candidate names here, such as one with another compiler, if there is one."""
    try:
        return libraries.resolve_library(spec, reach)
    except RankbenchError:
        return None


def find_difference(recorded: Library, here: Library) -> str:
    """Return the first field in which the builds of two libraries differ; empty: they are the same."""
    return next((what for what in COMPARED if getattr(recorded, what) != getattr(here, what)), "")


def report_missing(campaign: Campaign, library: Library, here: Library | None) -> str:
    """Return a message that the measured build of a library is missing, and what to do."""
    get = f" or install it again: rankbench get {library.family}=={library.version}" if library.source == "pypi" else ""
    if here is None:
        return (
            f"{library.name} of campaign {campaign.name} is not found here (it was in {library.prefix}); "
            f"give its --prefix or --modules{get}"
        )
    what = find_difference(library, here)
    before, now = getattr(library, what) or "none", getattr(here, what) or "none"
    return (
        f"{library.name} of campaign {campaign.name} is another build here ({what} {before} then, {now} here); "
        f"give the --prefix or --modules used then{get}"
    )
