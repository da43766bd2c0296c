"""Forecast of a campaign, without launching candidates: `run --dry-run`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from rich.table import Table
from rich.text import Text

from rankbench import build, plan, store
from rankbench.campaign import CampaignRequest
from rankbench.campaign.expectation import Expectation, check_time, count_fitting, expect_block
from rankbench.campaign.preparation import describe_operations, expand_cases, find_candidates
from rankbench.cli.display import console, spread_lines
from rankbench.model import Candidate, Case, Description, Library, Plan, RankbenchError
from rankbench.plan import notation
from rankbench.quantities import format_memory, format_rough_time, format_size, spell_count
from rankbench.workflows.locations import is_campaign


def show_forecast(request: CampaignRequest, command: str, *, verbose: bool = False) -> None:
    """Print what a campaign would measure, how long it takes, and its command; `verbose`: also the plan."""
    candidates, used = find_candidates(request)
    description, absent = describe_operations(request, describe_core(used.values(), request), used, building=False)
    cases, notes = expand_cases(request.plan, description, request.machine)
    copies = len(candidates) + request.plan.control
    expected = expect_block(request.plan, cases, request.machine, copies, request.folder.parent)
    console.print(Text(f"{request.folder.name}: {request.plan.question}", "bold"), soft_wrap=True)
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, text in list_rows(request, candidates, cases, description, expected):
        table.add_row(name, Text(text))
    console.print(table)
    limit, fits = describe_limit(request, cases, expected)
    for note in dict.fromkeys(filter(None, [*request.plan.notes, *notes, *absent, limit])):
        spread_lines(f"note: {note}")
    if verbose:
        console.print()
        console.print(Text(request.plan.text.rstrip()), soft_wrap=True)
    spread_lines("Dry run: no candidate was launched or checked; `rankbench doctor` checks them.")
    if fits:
        spread_lines(f"next: {command}")


def describe_limit(request: CampaignRequest, cases: Sequence[Case], expected: Expectation) -> tuple[str, bool]:
    """Return how a limit of time shortens a new campaign, or why it would be refused; and whether it would be made."""
    if is_campaign(request.folder):
        return "", True
    try:
        return check_time(request.plan.stop, len(cases), expected), True
    except RankbenchError as error:
        return f"the run is refused: {error}", False


def describe_core(used: Iterable[Library], request: CampaignRequest) -> Description:
    """Return the core's description, built with the first library that can build it.

    Raises RankbenchError if none can.
    """
    reason = ""
    for library in used:
        try:
            with console.status(f"building the core with {library.name} …"):
                return build.describe(build.build(library, request.home))
        except RankbenchError as error:
            reason = reason or str(error)
    raise RankbenchError(reason)


def list_rows(
    request: CampaignRequest,
    candidates: Sequence[Candidate],
    cases: Sequence[Case],
    description: Description,
    expected: Expectation,
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
    yield "time", time_text(request, expected)
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
    if not math.isinf(notation.find_time_limit_s(planned.stop.until)):
        return f"{block} in each block"
    if low == high:
        return f"{low * block}: {spell_count(low, 'block')} of {block}"
    return f"{low * block} to {high * block}: {low} to {high} blocks of {block}"


def time_text(request: CampaignRequest, expected: Expectation) -> str:
    """Return the expected time: from this campaign's launches so far, else from similar cases, else its bounds."""
    stop = request.plan.stop
    if is_campaign(request.folder) and (stored := store.open(request.folder).launches()):
        blocks = len({launch.block for launch in stored})
        block_s = sum(launch.duration_s for launch in stored) / blocks
        expected = Expectation(block_s, block_s, 1)
        source = f"as the {spell_count(blocks, 'block')} that are stored"
    elif expected.campaigns:
        source = f"as similar cases in {spell_count(expected.campaigns, 'stored campaign')}"
    else:
        source = "no such case has been measured here"
    limit_s = notation.find_time_limit_s(stop.until)
    blocks_max = stop.blocks_max if math.isinf(limit_s) else stop.blocks_min
    least_s, most_s = expected.least_s * stop.blocks_min, expected.most_s * blocks_max
    least, most = format_rough_time(least_s), format_rough_time(most_s)
    if not math.isinf(limit_s):
        usual, fitting = (
            int(min(stop.blocks_max, count_fitting(stop, block_s))) for block_s in (expected.usual_s, expected.least_s)
        )
        words = f"about {usual}" if expected.campaigns else f"usually about {max(usual, 1)}, at most {fitting}"
        return f"{words} block{'s' * (fitting != 1)} in {format_rough_time(limit_s)} ({source})"
    if expected.campaigns:
        return f"about {least if least == most else f'{least} to {most}'} ({source})"
    return f"{least} to {most}, more if the machine is busy ({source})"
