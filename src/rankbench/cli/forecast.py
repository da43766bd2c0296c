"""Forecast of a campaign, without launching candidates: `run --dry-run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from rankbench import build, plan, store
from rankbench.campaign.preparation import describe_operations, find_candidates
from rankbench.cli.display import console, spell_count, spread_lines
from rankbench.cli.folders import is_campaign
from rankbench.model import RankbenchError
from rankbench.plan import notation
from rankbench.quantities import format_memory, format_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rankbench.campaign import CampaignRequest
    from rankbench.model import Candidate, Case, Description, Library, Plan

MINUTE_S, HOUR_S = 60, 3600


def show_forecast(request: CampaignRequest, command: str, *, verbose: bool = False) -> None:
    """Print what a campaign would measure, how long it takes, and its command; `verbose`: also the plan."""
    candidates, used = find_candidates(request)
    description, absent = describe_operations(request, describe_core(used.values(), request), used, building=False)
    cases, notes = plan.expand_plan(request.plan, description, request.machine)
    console.print(Text(f"{request.folder.name}: {request.plan.question}", "bold"), soft_wrap=True)
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, text in list_rows(request, candidates, cases, description):
        table.add_row(name, Text(text))
    console.print(table)
    for note in [*request.plan.notes, *notes, *absent]:
        spread_lines(f"note: {note}")
    if verbose:
        console.print()
        console.print(Text(request.plan.text.rstrip()), soft_wrap=True)
    spread_lines("Dry run: no candidate was launched or checked; `rankbench doctor` checks them.")
    spread_lines(f"next: {command}")


def describe_core(used: Iterable[Library], request: CampaignRequest) -> Description:
    """Return the core's description, built with the first library that can build it."""
    reason = ""
    for library in used:
        try:
            with console.status(f"building the core with {library.name} …"):
                return build.describe(build.build(library, request.home))
        except RankbenchError as error:
            reason = reason or str(error)
    raise RankbenchError(reason)


def list_rows(
    request: CampaignRequest, candidates: Sequence[Candidate], cases: Sequence[Case], description: Description
) -> Iterator[tuple[str, str]]:
    """Yield the lines of a forecast, each with its name."""
    planned = request.plan
    control = f", and {candidates[0].name} again as control" if planned.control else ""
    yield "candidates", ", ".join(candidate.name for candidate in candidates) + control
    yield (
        "placements",
        ", ".join(f"{placement.name} ({spell_count(placement.ranks, 'rank')})" for placement in planned.placements),
    )
    yield "cases", f"{len(cases)}: {', '.join(list_operations(cases))}"
    block = (len(candidates) + planned.control) * len({(case.placement, case.launch_group) for case in cases})
    yield "launches", launches(planned, block)
    yield "time", time_text(request, len(cases), len(candidates) + planned.control)
    size = plan.estimate_footprint(planned, cases, description.operations)
    yield "memory", f"up to {format_memory(size.memory_bytes)} for rankbench, besides the ranks"
    low, high = (format_memory(number) for number in size.stored_bytes)
    yield "disk", f"about {low if low == high else f'{low} to {high}'}"
    yield (
        "folder",
        f"{request.folder}{' (holds a campaign, which would be continued)' if is_campaign(request.folder) else ''}",
    )


def list_operations(cases: Sequence[Case]) -> Iterator[str]:
    """Yield each operation with its sizes."""
    for name in dict.fromkeys(case.operation for case in cases):
        sizes = sorted({case.size_bytes for case in cases if case.operation == name})
        ends = [format_size(size) for size in dict.fromkeys([sizes[0], sizes[-1]])]
        yield f"{name} {' to '.join(ends)}" if sizes != [0] else name


def launches(planned: Plan, block: int) -> str:
    """Return how many launches there are."""
    low, high = planned.stop.blocks_min, planned.stop.blocks_max
    if low == high:
        return f"{low * block}: {spell_count(low, 'block')} of {block}"
    return f"{low * block} to {high * block}: {low} to {high} blocks of {block}"


def time_text(request: CampaignRequest, cases: int, candidates: int) -> str:
    """Return the expected time: from this campaign's launches so far, else an upper bound."""
    planned = request.plan
    low, high = planned.stop.blocks_min, planned.stop.blocks_max
    until = notation.parse_until(planned.stop.until)
    stored = store.open(request.folder).launches() if is_campaign(request.folder) else []
    if stored:
        block_s = sum(launch.duration_s for launch in stored) / len({launch.block for launch in stored})
        words = "about", f"as the {spell_count(len({launch.block for launch in stored}), 'block')} that are stored"
    else:
        block_s = cases * candidates * planned.case_limit_s
        words = "at most about", f"case_limit of {planned.case_limit_s:g} s for each case; usually much less"
    least, most = (spell_seconds(block_s * blocks) for blocks in (low, high))
    ends = least if least == most else f"{least} to {most}"
    limit = f"; ends after {spell_seconds(until.amount)}" if until.rule == "time" else ""
    return f"{words[0]} {ends} ({words[1]}){limit}"


def spell_seconds(seconds: float) -> str:
    """Return a time as text: `45 s`, `12 min`, `3.5 h`."""
    if seconds < 2 * MINUTE_S:
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / MINUTE_S:.0f} min" if seconds < 2 * HOUR_S else f"{seconds / HOUR_S:.1f} h"
