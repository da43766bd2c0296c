"""The command `compare`: two candidates case by case, and how often the method called equal things different."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.text import Text

from rankbench import plots, store
from rankbench.cli import console
from rankbench.cli.show import by_case_and_candidate, missing, plain_table, spread
from rankbench.model import Comparison, RankbenchError
from rankbench.quantities import format_ratio
from rankbench.report import tables
from rankbench.units import suggestion
from rankbench.verdict.evaluation import evaluate
from rankbench.verdict.evidence import counted

if TYPE_CHECKING:
    from rich.table import Table

    from rankbench.model import Campaign, CaseVerdict, Summary
    from rankbench.plots import Picture

ORDER = 50
SAME = "~"
SMALLEST_P = 0.001


def compare(
    base: Annotated[str, typer.Argument(metavar="BASE", help="A candidate or family; else the first.")] = "",
    other: Annotated[str, typer.Argument(metavar="OTHER", help="A candidate or family; else the next.")] = "",
    folder: Annotated[Path | None, typer.Option(help="The campaign; without it the newest below results.")] = None,
) -> None:
    """Compare two candidates in every case: ratio of times, its interval, `~` where no difference can be told."""
    opened = store.open(folder or store.newest(Path("results")))
    one, two = pair(opened.campaign, base, other)
    whole = plots.picture(evaluate(opened))
    found = comparisons(whole, one, two)
    percent = whole.campaign.plan.threshold * 100
    console.print(Text(f"{two} over {one}: times paired within {counted(whole.verdict.blocks, 'block')}", "bold"))
    console.print(
        Text(f"A ratio above 1 means that {two} is slower; ~: no difference above {percent:g} % can be told.")
    )
    console.print()
    console.print(table(whole, one, two, found), markup=False)
    console.print()
    for line in (counts(two, found), control(whole.verdict.control)):
        console.print(Text(line))


def pair(campaign: Campaign, base: str, other: str) -> tuple[str, str]:
    """Return the names of the two candidates that are meant."""
    names = [candidate.name for candidate in campaign.candidates if not candidate.control_of]
    one = resolved(campaign, base) if base else names[0]
    two = resolved(campaign, other) if other else next((name for name in names if name != one), "")
    if not two:
        raise RankbenchError(f"campaign {campaign.name} has one candidate only, {one}; nothing to compare it with")
    if one == two:
        raise RankbenchError(f"{base} and {other} are the same candidate; name two {suggestion('', names)}")
    return one, two


def resolved(campaign: Campaign, wanted: str) -> str:
    """Return the candidate of that name, or the only one of that library or family."""
    libraries = {library.name: library for library in campaign.libraries}
    names = [candidate.name for candidate in campaign.candidates]
    fitting = [
        candidate.name
        for candidate in campaign.candidates
        if wanted in {candidate.library, libraries[candidate.library].family} and not candidate.control_of
    ]
    if wanted in names or len(fitting) == 1:
        return wanted if wanted in names else fitting[0]
    if fitting:
        raise RankbenchError(f"{wanted} fits several candidates: {', '.join(fitting)}; name one of them")
    raise RankbenchError(f"no candidate {wanted} in campaign {campaign.name}; {suggestion(wanted, names)}")


def comparisons(whole: Picture, base: str, other: str) -> dict[str, Comparison]:
    """Return the comparisons of two candidates by case, turned where they were made the other way round."""
    found = {}
    for one in (*whole.verdict.comparisons, *whole.verdict.control):
        if (one.base, one.other) == (base, other):
            found[one.case] = one
        elif (one.base, one.other) == (other, base):
            found[one.case] = turned(one)
    return found


def turned(one: Comparison) -> Comparison:
    """Return the same comparison with base and other exchanged."""
    return msgspec.structs.replace(
        one, base=one.other, other=one.base, ratio=1 / one.ratio, low=1 / one.high, high=1 / one.low
    )


def table(whole: Picture, base: str, other: str, found: dict[str, Comparison]) -> Table:
    """Return one row per case, and the geometric mean of all ratios at the end."""
    names, summaries = tables.case_names(whole), by_case_and_candidate(whole)
    rows = plain_table("case", base, other, "ratio", "interval", "p")
    for verdict in whole.verdict.cases:
        figures = (figure(whole, verdict, summaries.get((verdict.case.key, name))) for name in (base, other))
        rows.add_row(Text(names[verdict.case.key]), *figures, *judged(found.get(verdict.case.key)))
    if found:
        mean = math.exp(sum(math.log(one.ratio) for one in found.values()) / len(found))
        rows.add_section()
        rows.add_row("geometric mean", "", "", format_ratio(mean), "", "")
    return rows


def figure(whole: Picture, verdict: CaseVerdict, summary: Summary | None) -> Text:
    """Return the typical value of one candidate, or why there is none."""
    if summary is None or not summary.launches:
        return missing(whole, verdict, summary)
    operation = whole.operation(verdict.case)
    unit = " MB/s" if operation.metric == "bandwidth" else ""
    value = tables.quantity(verdict.case, operation, summary.typical_ns)
    return Text(value + unit + spread(summary, whole.campaign.plan.estimator))


def judged(one: Comparison | None) -> tuple[Text, str, str]:
    """Return ratio, interval and adjusted p-value; one block alone gives no interval."""
    if one is None:
        return Text(""), "", ""
    colour = "green" if one.ratio < 1 else "red"
    ratio = Text(format_ratio(one.ratio), colour) if one.different else Text(SAME)
    if math.isinf(one.high):
        return ratio, "", ""
    p = f"{one.p_adjusted:.3f}" if one.p_adjusted >= SMALLEST_P else f"<{SMALLEST_P:g}"
    return ratio, f"{format_ratio(one.low)[:-1]}–{format_ratio(one.high)}", p


def counts(other: str, found: dict[str, Comparison]) -> str:
    """Say in how many cases the second candidate is slower, faster, or neither."""
    if not found:
        return "No case has figures of both."
    slower = sum(one.different and one.ratio > 1 for one in found.values())
    faster = sum(one.different and one.ratio < 1 for one in found.values())
    return (
        f"{other} is slower in {slower}, faster in {faster}, not distinguishable in {len(found) - slower - faster} "
        f"of {counted(len(found), 'case')}; p is adjusted over all cases and pairs of the campaign."
    )


def control(found: list[Comparison]) -> str:
    """Say how often equal things were called different."""
    if not found:
        return "A/A control: none in this campaign; `control = true` in the plan shows how far to trust the ratios."
    wrong = sum(one.different for one in found)
    times = f"{wrong} of {counted(len(found), 'case')}"
    return f"A/A control: {found[0].base}, measured twice, was called different from itself in {times}."
