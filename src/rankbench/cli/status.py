"""The command `status`: how far a campaign is, where its job stands, what went wrong, and what comes next."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from pathlib import Path  # noqa: TC003 - typer resolves the annotations at run time
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer
from rich.text import Text

from rankbench import store
from rankbench.campaign import Decision, Progress, returned, spending
from rankbench.campaign.progress import failures
from rankbench.cli import CampaignFolder, columns, console, named_campaign, results_folder
from rankbench.cli._output import TableOrJson, chosen_format, print_json, with_output
from rankbench.cli.run import FAILURES, conclude, counted, spell_blocks, spell_seconds, tell
from rankbench.language import render
from rankbench.launch import jobs, schedulers
from rankbench.launch.script import FOLDER, LOG
from rankbench.model import LaunchStatus, RankbenchError
from rankbench.verdict import evaluation
from rankbench.verdict.stopping import decide

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from rich.table import Table

    from rankbench.launch.jobs import Submitted
    from rankbench.launch.schedulers import JobState
    from rankbench.model import Launch
    from rankbench.store import Store

ORDER = 36
GROUP = "Measure"
EXAMPLES = """
rankbench status
rankbench status results/plan --wait
rankbench status plan --format json
"""
POLL_S = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0)
"""Between two looks at a job: often at its beginning, seldom later, since a scheduler serves many."""
SILENT_LOOKS = 10
"""Looks in a row at which the scheduler does not say where the job is, after which nobody waits any longer."""
FAILURES_SHOWN = 8
UNFINISHED = 1
"""Exit code where a job that was followed ended before the campaign did."""
MEANINGS = {
    "time": "ended for want of time",
    "disk": "ended because its folder could not be written: is the disk full, or a quota reached?",
}
"""What a script's last word means."""


@with_output
def status(
    folder: CampaignFolder = None,
    *,
    wait: Annotated[bool, typer.Option("--wait", help="Follow its job to the end.")] = False,
    spent: Annotated[bool, typer.Option("--time", help="Show what its launches spent their time on.")] = False,
    format_: TableOrJson = "table",
) -> None:
    """Show how far a campaign is, where its job is, and what failed.

    Results that a scheduler's job has brought are taken in first.
    """
    form = chosen_format(format_, "table", "json")
    if wait and form == "json":
        raise RankbenchError("--wait follows a job with lines for people; leave out --wait or --format json")
    opened = store.open(chosen_folder(folder))
    if spent:
        show_spending(opened, form)
    elif not (opened.folder / FOLDER).exists():
        show_json(opened, None) if form == "json" else told(opened)
    elif wait:
        follow(opened)
    else:
        decision = take_in(opened)
        if form == "json":
            show_json(opened, decision)
            return
        told(opened)
        tell_job(opened, decision)


def show_json(opened: Store, decision: Decision | None) -> None:
    """Print how far a campaign is as JSON."""
    record, launches = opened.campaign, opened.launches()
    flawed = wrong_cases(opened)
    job = last_job(opened.folder)
    where = asked(job) if job else None
    print_json(
        {
            "campaign": record.name,
            "folder": str(opened.folder),
            "running": store.is_running(opened.folder),
            "blocks": len({one.block for one in launches}),
            "blocks_min": record.plan.stop.blocks_min,
            "blocks_max": record.plan.stop.blocks_max,
            "launches": len(launches),
            "ok": sum(is_sound(one, flawed) for one in launches),
            "failures": list(wrong(opened)),
            "job": {"number": job.number, "phase": where.phase, "reason": where.reason} if job and where else None,
            "decision": {"stop": decision.stop, "reason": render(decision.reason)} if decision else None,
        }
    )


def chosen_folder(folder: Path | None) -> Path:
    """Return the folder of the campaign named by its folder or its name, without one of the newest."""
    return named_campaign(folder) if folder else store.newest(results_folder())


def current(folder: Path | None) -> Store:
    """Return a campaign, without a folder the newest below results, with what a job of it has brought meanwhile."""
    opened = store.open(chosen_folder(folder))
    if (opened.folder / FOLDER).exists():
        with contextlib.suppress(RankbenchError):  # Another one takes it in, or it cannot be written here.
            take_in(opened)
    return opened


# --- jobs -------------------------------------------------------------------------------------------------------------


def last_job(folder: Path) -> Submitted | None:
    """Return the job of a campaign that was submitted last."""
    return jobs.last(folder / FOLDER)


def in_the_queue(folder: Path) -> str:
    """Return a line on a campaign's job that has not ended, nothing where there is none."""
    job = last_job(folder)
    where = state(job) if job else None
    return f"job {job.number} is {where.phase} ({where.reason})" if job and where and where.phase != "ended" else ""


def state(job: Submitted) -> JobState:
    """Return where a job stands."""
    return jobs.state(schedulers.known()[job.scheduler], job.number)


def take_in(opened: Store) -> Decision | None:
    """Take in what a job brought and end it where that is enough; return what was decided, if it could be looked at."""
    opened.lock()
    try:
        returned.take_in(opened, Quiet(opened.campaign))
        if enough := returned.said_enough(opened):  # What it was sent after that does not undo it.
            return Decision(stop=True, reason=enough)
        stop, blocks = opened.campaign.plan.stop, returned.blocks_done(opened)
        if blocks < stop.blocks_min:
            return None
        decision = decided(opened, blocks)
        if decision.stop:
            returned.end(opened, render(decision.reason))
        return decision
    finally:
        opened.unlock()


def decided(opened: Store, blocks: int) -> Decision:
    """Return whether so many blocks are enough."""
    seconds = [0.0] * blocks
    for launch in opened.launches():
        if launch.block <= blocks:
            seconds[launch.block - 1] += launch.duration_s
    decision = decide(opened.campaign.plan, lambda: evaluation.evaluate(opened), seconds)
    most = opened.campaign.plan.stop.blocks_max
    return decision._replace(stop=True, reason=f"the plan's {most} blocks are done") if blocks >= most else decision


class Quiet(Progress):
    """Progress that nobody watches."""


def follow(opened: Store) -> None:
    """Follow a campaign's job to its end, telling what changes; then say what the campaign found."""
    job = last_job(opened.folder)
    if not job:
        raise RankbenchError(f"{opened.folder}: no job of it was submitted from here; look without --wait")
    seen, said, silent = len(opened.launches()), "", 0
    for look in range(10**9):
        where = asked(job)
        silent = 0 if where else silent + 1
        decision = take_in(opened)
        said, seen = news(opened, f"job {job.number}: {where.reason}" if where else said, said, seen)
        if where and where.phase == "ended":
            break
        if silent == SILENT_LOOKS:
            raise RankbenchError(
                f"{opened.folder}: asked {silent} times in a row, the scheduler did not say where job {job.number} is; "
                f"the job may still run; look again by: rankbench status {opened.folder}"
            )
        time.sleep(POLL_S[min(max(look // 5, silent), len(POLL_S) - 1)])
    returned.record_refusals(opened, Quiet(opened.campaign))
    if decision and decision.stop and any(one.facts or one.status == LaunchStatus.OK for one in opened.launches()):
        conclude(opened, decision)
        return
    told(opened)
    tell_job(opened, decision)
    raise typer.Exit(UNFINISHED)


def asked(job: Submitted) -> JobState | None:
    """Return where a job stands, nothing where the scheduler does not answer: it may answer again."""
    try:
        return state(job)
    except RankbenchError as error:
        tell(str(error))
        return None


def news(opened: Store, state: str, said: str, seen: int) -> tuple[str, int]:
    """Print where the job stands and what launches came back, as far as that is new."""
    if state != said:
        tell(state)
    launches, flawed = opened.launches(), wrong_cases(opened)
    for launch in launches[seen:]:
        end = ", ".join(flawed.get(launch.number, [])) if launch.status == LaunchStatus.OK else ""
        end = end or launch.status if launch.status == LaunchStatus.OK else f"{launch.status}: {launch.reason}"
        tell(
            f"block {launch.block} of {spell_blocks(opened.campaign)}: {launch.candidate} on {launch.placement}: {end}"
        )
    return state, len(launches)


def tell_job(opened: Store, decision: Decision | None) -> None:
    """Print where the campaign's job stands, and what to do next."""
    job, folder = last_job(opened.folder), opened.folder
    where = asked(job) if job else None
    if decision and decision.stop:
        tell(f"done: {render(decision.reason)}")
        tell(f"next: rankbench report {folder}")
    elif job and where and where.phase != "ended":
        tell(f"job {job.number} of {schedulers.known()[job.scheduler].title}: {where.reason}")
        tell(f"next: rankbench status {folder} --wait")
    else:
        tell(f"{ended(opened, where)}; log: {folder / FOLDER / LOG}")
        tell("next: submit it again, which goes on where it was")


def ended(opened: Store, where: JobState | None) -> str:
    """Return why a job ended before its campaign did."""
    path = opened.folder / FOLDER / returned.STOPPED
    word = path.read_text(encoding="utf-8").strip() if path.exists() else ""
    kind, _, what = word.partition(" ")
    endings = MEANINGS | {"signal": f"ended by {what}", "lost": f"ended because there is no answer from {what}"}
    told = endings.get(kind, "")
    scheduler = f" ({where.reason})" if where else ""
    return f"its job {told or 'ended without a word, as it does when a node is lost'}{scheduler}"


# --- the campaign -----------------------------------------------------------------------------------------------------


def told(opened: Store) -> None:
    """Print how far a campaign is and what went wrong."""
    record, launches = opened.campaign, opened.launches()
    console.print(Text(f"{record.name}: {record.plan.question}", style="bold"), soft_wrap=True)
    tell(
        f"{counted(len(launches), 'launch')} in {counted(len({one.block for one in launches}), 'block')} "
        f"of {spell_blocks(record)}, "
        f"{spell_seconds(sum(one.duration_s for one in launches))} min"
    )
    console.print()
    console.print(table(opened), markup=False)
    console.print()
    lines = list(wrong(opened))
    for line in lines[-FAILURES_SHOWN:]:
        tell(line)
    if len(lines) > FAILURES_SHOWN:
        tell(f"and {len(lines) - FAILURES_SHOWN} failures before these; the report tells all")


def show_spending(opened: Store, form: str) -> None:
    """Print what the time of a campaign was spent on."""
    launches = opened.launches()
    parts = spending.spending(launches)
    if not parts:
        raise RankbenchError(f"{opened.folder}: no launch says what its time was spent on; measure again with --new")
    if form == "json":
        print_json([one._asdict() for one in parts])
        return
    rows = columns("time spent on", "seconds", "share", left=1)
    for one in parts:
        rows.add_row(spending.PARTS[one.part], f"{one.seconds:.2f}", f"{one.share:.1%}")
    rows.add_row("all of it", f"{sum(one.seconds for one in parts):.2f}", "100.0%")
    console.print(rows, markup=False)
    tell(f"rank 0 of {counted(len(launches), 'launch')}; what precedes the first launch is not included")


def table(opened: Store) -> Table:
    """Return launches by candidate and placement, and how they ended."""
    flawed = wrong_cases(opened)
    ends = Counter((one.candidate, one.placement, one.status) for one in opened.launches())
    sound = Counter((one.candidate, one.placement) for one in opened.launches() if is_sound(one, flawed))
    scheduled = (opened.folder / FOLDER).exists()
    left = returned.standing(opened) if scheduled else {}
    rows = columns("candidate", "placement", "launches", "ok", "failed", *(["turns left"] if scheduled else []), left=2)
    for candidate in opened.campaign.candidates:
        for placement in opened.campaign.plan.placements:
            key = candidate.name, placement.name
            mine = {status: ends[*key, status] for status in LaunchStatus}
            failed = sum(mine.values()) - sound[key]
            more = [f"{left[key].turns - left[key].done}"] if key in left else []
            figures = map(str, [sum(mine.values()), sound[key], failed])
            rows.add_row(Text(candidate.name), placement.name, *figures, *more)
    return rows


def wrong(opened: Store) -> Iterator[str]:
    """Yield a line for each launch that did not end well."""
    flawed = wrong_cases(opened)
    for launch in opened.launches():
        if launch.status != LaunchStatus.OK:
            yield from failures(launch, ())
        elif launch.number in flawed:
            where = f"block {launch.block}, {launch.candidate} on {launch.placement}"
            yield f"{where}: {', '.join(flawed[launch.number])}"


def is_sound(launch: Launch, flawed: Container[int]) -> bool:
    """Return whether a launch ended well and all its cases were measured right."""
    return launch.status == LaunchStatus.OK and launch.number not in flawed


def wrong_cases(opened: Store) -> dict[int, list[str]]:
    """Return, by the number of a launch, what is wrong with how many of its cases: `2 wrong data`."""
    rows = opened.cases().filter(pl.col("status").is_in(FAILURES))
    found: dict[int, list[str]] = {}
    for launch, status, count in rows.group_by("launch", "status").len().sort("launch", "status").iter_rows():
        found.setdefault(launch, []).append(f"{count} {status.replace('-', ' ')}")
    return found
