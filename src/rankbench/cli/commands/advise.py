"""The command `advise`: which candidate suits an application, by its calls."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from rankbench import profiles
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions import mix
from rankbench.analysis.questions.mix import Mix
from rankbench.cli.display import console, plain_table, split_name, spread_lines
from rankbench.cli.formats import TableOrJson, add_output_option, check_format, print_json
from rankbench.cli.shared_options import CampaignFolder
from rankbench.language import Text as Sentence
from rankbench.language import join_words, render, say
from rankbench.model import Calls, RankbenchError
from rankbench.plan import notation
from rankbench.profiles import Profile
from rankbench.quantities import format_ratio, format_time, spell_count
from rankbench.store import Store
from rankbench.workflows.opening import open_current
from rankbench.workflows.option_values import parse_calls

ORDER = 55
GROUP = "Read"
EXAMPLES = """
rankbench advise --calls "allreduce 8: 1000, bcast 1M: 2"
rankbench advise results/plan --profile app.mpiP
"""
PARTS_SHOWN = 20
SIMILAR = 0.85
"""Similarity of names from which on one may be a misspelling of the other."""


@add_output_option
def advise(
    folder: CampaignFolder = None,
    calls: Annotated[
        str,
        typer.Option(
            metavar="CALLS",
            help="The calls and how often each is made, or its share of their time: 'allreduce 8: 1000, bcast 1M: 2', "
            "'allreduce 8-64: 70%'.",
        ),
    ] = "",
    profile: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The record of a program, the report of a profiler (mpiP, IPM), or a table of calls."
        ),
    ] = None,
    measured_with: Annotated[
        str,
        typer.Option(
            "--calls-measured-with",
            metavar="CANDIDATE",
            help="The candidate with which shares of time were measured; without it they are shares of the mean time.",
        ),
    ] = "",
    format_: TableOrJson = "table",
) -> None:
    """Show which candidate suits an application, by its calls.

    The calls are those given, those of a profile, or those of the plan's table [calls].
    """
    form = check_format(format_, "table", "json")
    if calls and profile:
        raise RankbenchError("--calls and --profile both say what is called; name one of them")
    opened = open_current(folder)
    usage = choose_calls(calls, profile, opened.campaign.plan.calls)
    sized = notation.list_sized(opened.campaign.operations, opened.campaign.cases)
    if calls and (fault := notation.find_unsized(usage.calls, sized)):
        raise RankbenchError(f"--calls: {fault}")
    if calls or profile or measured_with:
        set_source(opened, measured_with)
    print_answer(opened, usage, form)


def set_source(opened: Store, named: str) -> None:
    """Set the candidate with which shares of time were measured; empty: none. Raises RankbenchError."""
    source = opened.campaign.find_candidate(named)
    if named and not source:
        names = [candidate.name for candidate in opened.campaign.candidates]
        raise RankbenchError(
            f'--calls-measured-with: found "{named}", expected one of the candidates: {", ".join(names)}'
        )
    plan = msgspec.structs.replace(opened.campaign.plan, calls_measured_with=source)
    opened.campaign = msgspec.structs.replace(opened.campaign, plan=plan)


def print_answer(opened: Store, profile: Profile, form: str) -> None:
    """Print the answer for every placement. Raises RankbenchError if none of the calls was measured."""
    view = evaluate(opened)
    mixes = list(mix.sum_mixes(view, profile.calls))
    if not mixes:
        raise RankbenchError(
            f"campaign {opened.campaign.name} measured none of "
            f"{join_words(list(map(mix.name_call, profile.calls[:PARTS_SHOWN])), 'and')}; "
            f"measured: {join_words(sorted({case.operation for case in opened.campaign.cases}), 'and')}"
        )
    similar = list(suggest_operations(mixes, {case.operation for case in opened.campaign.cases}))
    if form == "json":
        print_json(
            {
                "placements": [record(placement_mix, mix.describe_mix(view, placement_mix)) for placement_mix in mixes],
                "notes": [*similar, *notes(profile)],
            }
        )
        return
    for line in similar:
        spread_lines(line)
    for placement_mix in mixes:
        console.print(
            Text(
                f"{placement_mix.placement}: {spell_count(len(placement_mix.parts), 'call')}",
                "bold",
            )
        )
        if placement_mix.standings:
            console.print(table(placement_mix), markup=False)
        for sentence in mix.describe_mix(view, placement_mix):
            spread_lines(render(sentence))
        console.print()
    for note in notes(profile):
        spread_lines(note)


def record(placement_mix: Mix, sentences: Iterable[Sentence]) -> dict[str, object]:
    """Return the answer for a placement as JSON."""
    calls = [
        {"call": name, "calls": part.calls.calls, "how": render(part.how)}
        for part, name in zip(placement_mix.parts, placement_mix.names, strict=True)
    ]
    return {
        "placement": placement_mix.placement,
        "calls": calls,
        "candidates": [standing._asdict() for standing in placement_mix.standings],
        "answer": [render(sentence) for sentence in sentences],
    }


def suggest_operations(mixes: Iterable[Mix], measured: set[str]) -> Iterator[str]:
    """Yield a line for each operation of the calls that was not measured and has a name like a measured one."""
    for name in dict.fromkeys(call.operation for placement_mix in mixes for call in placement_mix.missing):
        if near := difflib.get_close_matches(name, measured - {name}, n=1, cutoff=SIMILAR):
            yield f"{name} was not measured; did you mean {near[0]}?"


def choose_calls(calls: str, profile: Path | None, planned: list[Calls]) -> Profile:
    """Return the calls that the options name. Raises RankbenchError if there are none."""
    if profile:
        return profiles.read(profile)
    if not calls and not planned:
        raise RankbenchError(
            'no calls given; use --calls "allreduce 8: 1000", --profile FILE, or a table [calls] in the plan'
        )
    return profiles.Profile("calls", parse_calls(calls) if calls else planned, [])


def notes(profile: Profile) -> list[str]:
    """Return remarks on the origin of the calls."""
    return [
        *(f"{note}." for note in profile.notes),
        *(
            [f"Not counted, since no operation corresponds to them: {join_words(profile.ignored, 'and')}."]
            if profile.ignored
            else []
        ),
        "This is undisturbed communication: the times that ranks wait for each other are not included.",
    ]


def table(placement_mix: Mix) -> Table:
    """Return a row for each call, the longest times first, and the sum."""
    names = [standing.candidate for standing in placement_mix.standings]
    often = "share" if any(part.calls.share for part in placement_mix.parts) else "how often"
    shown = plain_table("call", often, "value", *map(split_name, names))
    best = names[0] if names else ""
    order = sorted(range(len(placement_mix.parts)), key=lambda place: -placement_mix.shares.get((best, place), 0.0))
    for place in order[:PARTS_SHOWN]:
        part = placement_mix.parts[place]
        times = (
            placement_mix.shares[name, place] * standing.time_ns
            for name, standing in zip(names, placement_mix.standings, strict=True)
        )
        often = f"{100 * part.calls.share:.3g}%" if part.calls.share else f"{part.calls.calls:,g}"
        shown.add_row(Text(placement_mix.names[place]), often, render(part.how), *map(format_time, times))
    if len(order) > PARTS_SHOWN:
        shown.add_row(f"and {len(order) - PARTS_SHOWN} more", "", "")
    shown.add_section()
    shown.add_row("in all", "", "", *(format_time(standing.time_ns) for standing in placement_mix.standings))
    if not mix.explain_guess(placement_mix):
        shown.add_row("time / lowest", "", "", *(against(standing) for standing in placement_mix.standings))
    return shown


def against(standing: mix.MixResult) -> str:
    """Return the ratio to the best with its interval; `~`: not distinguishable."""
    if standing.ratio == standing.low == standing.high == 1:
        return format_ratio(1)
    if standing.overall.is_wide or not standing.low:
        return "slower" if standing.outcome == "behind" else "~"
    ratio = format_ratio(standing.ratio) if standing.outcome in {"slower", "behind"} else "~"
    return render(say("{ratio}\n({low:bare}–{high:ratio})", ratio=ratio, low=standing.low, high=standing.high))
