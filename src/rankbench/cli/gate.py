"""The command `gate`: for CI, an exit code that tells whether anything became slower or stopped working."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer resolves the annotations at run time
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.text import Text

from rankbench.cli import console
from rankbench.cli.show import asked as understood
from rankbench.cli.status import current
from rankbench.model import RankbenchError
from rankbench.plan import notation
from rankbench.report.junit import junit as spelt
from rankbench.report.then_and_now import circumstances
from rankbench.statistics.prediction import FEWEST_PAST, LAST
from rankbench.store.folders import campaigns_in
from rankbench.verdict import gating
from rankbench.verdict.circumstances import asked, resolved
from rankbench.verdict.evaluation import evaluate
from rankbench.verdict.evidence import counted
from rankbench.verdict.nightly import nightly
from rankbench.verdict.then_and_now import hold

if TYPE_CHECKING:
    from rankbench.model import Campaign
    from rankbench.verdict.gating import Check

ORDER = 52
REGRESSION = 1
"""Exit code where a check failed; 2 is that of what was asked wrongly."""

ONE_DAY = (
    "one campaign against one: day-to-day variation is not in the interval; "
    f"use --history with {FEWEST_PAST} or more campaigns"
)


class Report(NamedTuple):
    """What was checked."""

    campaign: Campaign
    against: str
    checks: list[Check]
    said: list[str]
    """What a reader must know."""


def gate(
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The campaign to be checked.")],
    against: Annotated[
        Path | None, typer.Option(metavar="OLD", help="The campaign that it must not be slower than.")
    ] = None,
    history: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER", help="Earlier campaigns, or folders that hold some; 8 or more in all. Repeatable."
        ),
    ] = None,
    last: Annotated[
        int, typer.Option(min=FEWEST_PAST, metavar="N", help="Of --history: how many campaigns before NEW count.")
    ] = LAST,
    reference: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="With --history: gate ratios to this candidate; else to the plan's baseline, if any."
        ),
    ] = "",
    candidate: Annotated[
        str, typer.Option(metavar="NAME", help="Within NEW: the candidate, or family, to be checked.")
    ] = "",
    against_candidate: Annotated[
        str, typer.Option(metavar="NAME", help="Within NEW: the candidate, or family, that it must not be slower than.")
    ] = "",
    threshold: Annotated[
        str,
        typer.Option(
            metavar="SHARE", help="How much slower is a regression; else as the plan says, with --against 5% at least."
        ),
    ] = "",
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write JUnit XML too: a test case per case and candidate.")
    ] = None,
    match: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", help="Which candidates of OLD and NEW belong together; repeatable."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="What cannot be told is a failure, too.")] = False,  # noqa: FBT002
) -> None:
    """Check for CI that nothing became slower or stopped working: exit code 0 if so, 1 if not, 2 for what is no gate.

    Against another campaign (--against) launches are unpaired, and the state of the machine between the two is not
    controlled. The better design is one campaign that measures both libraries, paired block by block
    (--candidate and --against-candidate). Night after night, --history tests NEW against the campaigns before it, with
    the variation from day to day in the interval; a pinned reference library in the plan makes that much narrower.
    """
    worth = understood("threshold", threshold, notation.share, notation.SHARE_HELP)
    designs = (bool(against), bool(history), bool(candidate and against_candidate))
    if sum(designs) != 1 or ((against or history) and (candidate or against_candidate)):
        raise RankbenchError(
            "gate NEW takes --against OLD, --history FOLDER, or both --candidate NAME and --against-candidate NAME"
        )
    if match and not against:
        raise RankbenchError("--match is for two campaigns; name the other by --against")
    if reference and not history:
        raise RankbenchError("--reference is for --history; name earlier campaigns by --history FOLDER")
    if against:
        found = campaigns(new, against, asked(match or []), worth)
    elif history:
        found = earlier(new, history, last, reference, worth)
    else:
        found = candidates(new, candidate, against_candidate, worth)
    tell(found)
    if junit:
        write(junit, found)
    numbers = gating.counts(found.checks)
    if numbers["failed"] or (strict and numbers["skipped"]):
        raise typer.Exit(REGRESSION)


def campaigns(new: Path, old: Path, match: dict[str, str], threshold: float | None) -> Report:
    """Check a campaign against an older one."""
    opened = current(new)
    least = max(opened.campaign.plan.threshold, gating.UNPAIRED)
    held = hold(current(old), opened, match, least if threshold is None else threshold)
    checks = gating.then_and_now(held)
    return Report(held.now.campaign, f"campaign {held.told.old}", checks, [ONE_DAY, *circumstances(held.told)])


def earlier(new: Path, folders: list[Path], last: int, reference: str, threshold: float | None) -> Report:
    """Check a campaign against those made before it."""
    opened = current(new)
    stores = [current(folder) for folder in campaigns_in(folders)]
    found = nightly(opened, stores, last, reference, threshold)
    said = [
        f"Ratios to {found.reference} in the same campaign." if found.reference else "Times, without a reference.",
        "Intervals are of one new campaign: they contain the variation from day to day.",
    ]
    return Report(opened.campaign, f"{found.past} earlier campaigns", found.checks, said)


def candidates(folder: Path, new: str, old: str, threshold: float | None) -> Report:
    """Check a candidate against another one of the same campaign."""
    evaluation = evaluate(current(folder), threshold=threshold)
    one, two = (resolved(evaluation.campaign, name) for name in (new, old))
    if one == two:
        raise RankbenchError(f"{new} and {old} are the same candidate; nothing to gate")
    checks = gating.within(evaluation, one, two)
    said = [f"Times of {one} and {two} are paired within {counted(evaluation.verdict.blocks, 'block')}."]
    return Report(evaluation.campaign, two, checks, said)


def tell(found: Report) -> None:
    """Print what failed and what cannot be told, with what to do, and at last the numbers."""
    for line in found.said:
        console.print(Text(line))
    console.print()
    for outcome, colour in (("failed", "red"), ("skipped", "yellow")):
        for check in (one for one in found.checks if one.outcome == outcome):
            told = f"{outcome.upper()} {check.title}, {check.candidate}: {check.text}."
            console.print(Text.assemble((told, colour), f" {check.advice}".rstrip()))
    console.print(Text(totals(found), "bold"))


def totals(found: Report) -> str:
    """Return how many checks came out how."""
    numbers = gating.counts(found.checks)
    return (
        f"{found.campaign.name} against {found.against}: {counted(len(found.checks), 'check')}, "
        f"{numbers['failed']} failed, {numbers['passed']} passed, {numbers['skipped']} cannot be told"
    )


def write(path: Path, found: Report) -> None:
    """Write the checks as JUnit XML."""
    text = spelt(found.checks, f"{found.campaign.name} against {found.against}", found.campaign.created, found.said)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RankbenchError(f"{path}: cannot be written ({error.strerror}); name another --junit FILE") from None
    console.print(f"wrote {path}", markup=False, soft_wrap=True)
