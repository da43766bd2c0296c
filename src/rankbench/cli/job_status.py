"""The state of a campaign's job, and the progress of the campaign."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from rankbench.campaign import Decision, Progress, collect_results
from rankbench.campaign.progress import list_failures
from rankbench.campaign.spending import total_duration_s
from rankbench.cli.display import columns, console, describe_block, name_block, print_text, spell_blocks
from rankbench.language import render
from rankbench.launch import job_commands, schedulers
from rankbench.launch.job_commands import Submitted
from rankbench.launch.schedulers import Ending, JobState
from rankbench.launch.script import FOLDER, LOG, SCHEDULER_LOG
from rankbench.model import BROKEN, Launch, LaunchStatus, RankbenchError
from rankbench.quantities import format_clock, spell_count
from rankbench.store import Store
from rankbench.workflows.opening import collect_job

POLL_S = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0)
"""Times between two queries of a job: short at its beginning, longer later, to spare the scheduler."""
SILENT_LOOKS = 10
"""Number of consecutive queries without an answer after which waiting ends."""
FAILURES_SHOWN = 8
UNFINISHED = 1
"""Exit code if a job ended before its campaign did."""
MEANINGS = {
    "time": "ended because of the time limit",
    "disk": "ended because its folder could not be written: is the disk full, or a quota reached?",
}
"""Meanings of the last word of a script."""
ENDINGS: dict[Ending, str] = {
    "cancelled": "was cancelled",
    "time": "reached its time limit",
    "node": "lost a node",
    "memory": "reached its memory limit",
    "preempted": "was preempted",
}
"""What a scheduler's word says about the end of a job."""


class News(NamedTuple):
    """What was printed last of a job that is followed."""

    state: str = ""
    """The state of the job."""
    block: int = 0
    """The last block that was complete."""
    launches: int = 0
    """How many launches the campaign had."""


def find_last_job(folder: Path) -> Submitted | None:
    """Return the last submitted job of a campaign."""
    return job_commands.read_last(folder / FOLDER)


def describe_queued_job(folder: Path) -> str:
    """Return a line on a campaign's queued or running job; empty: there is none."""
    job = find_last_job(folder)
    where = query_state(job) if job else None
    return f"job {job.number} is {where.phase} ({where.reason})" if job and where and where.phase != "ended" else ""


def query_state(job: Submitted) -> JobState:
    """Return the state of a job."""
    return job_commands.query_state(schedulers.find_schedulers()[job.scheduler], job.number)


def follow(opened: Store) -> None:
    """Follow a campaign's job to its end and print changes; then print the conclusion.

    Raises RankbenchError if there is no job, or the scheduler does not answer.
    """
    job = find_last_job(opened.folder)
    if not job:
        raise RankbenchError(f"{opened.folder}: --wait: it has no job; `rankbench submit` makes one")
    news, silent = News(block=max((launch.block for launch in opened.launches()), default=0)), 0
    for look in range(10**9):
        where = query_job(job)
        silent = 0 if where else silent + 1
        decision = collect_job(opened)
        state = f"job {job.number}: {where.reason}" if where else news.state
        news = print_news(opened, state, news, ended=bool(where and where.phase == "ended"))
        if where and where.phase == "ended":
            break
        if silent == SILENT_LOOKS:
            raise RankbenchError(
                f"{opened.folder}: asked {silent} times in a row, the scheduler did not report the state of job "
                f"{job.number}; the job may still run; query again by: rankbench status {opened.folder}"
            )
        time.sleep(POLL_S[min(max(look // 5, silent), len(POLL_S) - 1)])
    collect_results.record_refusals(opened, Progress(opened.campaign))
    if (
        decision
        and decision.stop
        and any(launch.facts or launch.status == LaunchStatus.OK for launch in opened.launches())
    ):
        from rankbench.cli.campaign_end import conclude  # Evaluating is not part of waiting for the job.

        if conclude(opened, decision):
            raise typer.Exit(1)
        return
    show_status(opened)
    print_job(opened, decision)
    raise typer.Exit(UNFINISHED)


def query_job(job: Submitted) -> JobState | None:
    """Return the state of a job; None: the scheduler does not answer now."""
    try:
        return query_state(job)
    except RankbenchError as error:
        print_text(str(error))
        return None


def print_news(opened: Store, state: str, before: News, *, ended: bool) -> News:
    """Print changes of the job's state, a line for each block that is complete, and how far the next one is.

    Args:
        opened: the campaign.
        state: of its job now.
        before: what was printed before.
        ended: whether the job has ended, so that its last block is complete, too.
    """
    if state != before.state:
        print_text(state)
    launches = opened.launches()
    if len(launches) == before.launches and not ended:
        return before._replace(state=state)
    current = max((launch.block for launch in launches), default=0)
    last = current - (not ended)
    complete = [launch for launch in launches if before.block < launch.block <= last]
    flawed = count_failed_cases(opened)
    cases = Counter(block for block, _ in set(opened.cases().select("block", "case").iter_rows())) if complete else {}
    for block, group in groupby(sorted(complete, key=lambda launch: launch.block), lambda launch: launch.block):
        of_block = list(group)
        took_s = sum(launch.duration_s for launch in of_block)
        failures = list_ends(of_block, flawed)
        print_text(describe_block(opened.campaign, of_block, cases[block], took_s, failures))
    fresh = [launch for launch in launches[before.launches :] if last < launch.block]
    turns, turns_done = collect_results.count_turns_of(opened, current) if fresh else (0, 0)
    if turns_done < turns:  # Else its own line follows soon.
        standing = f"{name_block(opened.campaign, current)}: {turns_done} of {spell_count(turns, 'turn')} done"
        print_text("; ".join([standing, *dict.fromkeys(list_ends(fresh, flawed))]))
    return News(state, max(before.block, last), len(launches))


def list_ends(launches: Sequence[Launch], flawed: Mapping[int, list[str]]) -> list[str]:
    """Return how launches failed, or their cases, each with its candidate."""
    return [f"{launch.candidate}: {end}" for launch in launches if (end := describe_end(launch, flawed))]


def describe_end(launch: Launch, flawed: Mapping[int, list[str]]) -> str:
    """Return how a launch failed, or its cases; empty: all is well."""
    if launch.status != LaunchStatus.OK:
        return f"{launch.status}: {launch.reason}"
    return ", ".join(flawed.get(launch.number, []))


def print_job(opened: Store, decision: Decision | None) -> None:
    """Print the state of the campaign's job, and what to do next."""
    job, folder = find_last_job(opened.folder), opened.folder
    where = query_job(job) if job else None
    if decision and decision.stop:
        print_text(f"done: {render(decision.reason)}")
        print_text(f"next: rankbench report {folder}")
    elif job and where and where.phase != "ended":
        print_text(f"job {job.number} of {schedulers.find_schedulers()[job.scheduler].title}: {where.reason}")
        print_text(f"next: rankbench status {folder} --wait")
    else:
        print_text(f"{explain_end(opened, where)}; log: {find_log(folder / FOLDER)}")
        print_text("next: submit it again; it continues where it stopped")


def find_log(folder: Path) -> Path:
    """Return the log of a job, or what its scheduler stored where its script wrote none."""
    return next((path for name in (LOG, SCHEDULER_LOG) if (path := folder / name).exists()), folder / LOG)


def explain_end(opened: Store, where: JobState | None) -> str:
    """Return why a job ended before its campaign did: by its script's last word, else by that of the scheduler.

    Where the script knows only the signal that ended it, the scheduler may know why it was sent.
    """
    folder = opened.folder / FOLDER
    path, begun = folder / job_commands.STOPPED, job_commands.has_begun(folder)
    word = path.read_text(encoding="utf-8").strip() if begun and path.exists() else ""
    kind, _, what = word.partition(" ")
    endings = MEANINGS | {"signal": f"ended by {what}", "lost": f"ended because there is no answer from {what}"}
    of_scheduler = ENDINGS.get((where and where.ending) or read_message(folder), "")
    text = (kind == "signal" and of_scheduler) or endings.get(kind, "") or of_scheduler
    if not begun:
        text = f"{text} before it began" if text else "did not begin"
    scheduler = f" ({where.reason})" if where else ""
    return f"its job {text or 'ended without a message, as after the loss of a node'}{scheduler}"


def read_message(folder: Path) -> Ending:
    """Return what the scheduler wrote into its output of a campaign's last job about the job's end; empty: nothing."""
    job, path = job_commands.read_last(folder), folder / SCHEDULER_LOG
    if not job or not path.exists():
        return ""
    text = path.read_text(encoding="utf-8", errors="replace")
    messages = schedulers.find_schedulers()[job.scheduler].messages
    return next((ending for pattern, ending in messages if re.search(pattern, text)), "")


def show_status(opened: Store) -> None:
    """Print the progress of a campaign and its failures."""
    record, launches = opened.campaign, opened.launches()
    console.print(Text(f"{record.name}: {record.plan.question}", style="bold"), soft_wrap=True)
    print_text(
        f"{spell_count(len(launches), 'launch')} in {spell_count(len({launch.block for launch in launches}), 'block')} "
        f"({spell_blocks(record)} planned); they took {format_clock(total_duration_s(opened.list_all_launches()))}"
    )
    console.print()
    console.print(make_table(opened), markup=False)
    console.print()
    lines = list(list_failed_launches(opened))
    for line in lines[-FAILURES_SHOWN:]:
        print_text(line)
    if len(lines) > FAILURES_SHOWN:
        print_text(f"and {len(lines) - FAILURES_SHOWN} failures before these; the report shows all")


def make_table(opened: Store) -> Table:
    """Return the number of launches by candidate, placement and status."""
    flawed = count_failed_cases(opened)
    ends = Counter((launch.candidate, launch.placement, launch.status) for launch in opened.launches())
    sound = Counter((launch.candidate, launch.placement) for launch in opened.launches() if is_sound(launch, flawed))
    scheduled = (opened.folder / FOLDER).exists()
    standings = collect_results.count_turns(opened) if scheduled else {}
    rows = columns(
        "candidate", "placement", "launches", "ok", "failed", *(["turns left"] if scheduled else []), text_columns=2
    )
    for candidate in opened.campaign.candidates:
        for placement in opened.campaign.plan.placements:
            key = candidate.name, placement.name
            counts = {status: ends[*key, status] for status in LaunchStatus}
            failed = sum(counts.values()) - sound[key]
            more = [f"{standings[key].turns - standings[key].turns_done}"] if key in standings else []
            values = map(str, [sum(counts.values()), sound[key], failed])
            rows.add_row(Text(candidate.name), placement.name, *values, *more)
    return rows


def list_failed_launches(opened: Store) -> Iterator[str]:
    """Yield a line for each launch with a failure."""
    flawed = count_failed_cases(opened)
    for launch in opened.launches():
        if launch.status != LaunchStatus.OK:
            yield from list_failures(launch, ())
        elif launch.number in flawed:
            where = f"block {launch.block}, {launch.candidate} on {launch.placement}"
            yield f"{where}: {', '.join(flawed[launch.number])}"


def is_sound(launch: Launch, flawed: Container[int]) -> bool:
    """Return whether a launch and all its cases succeeded."""
    return launch.status == LaunchStatus.OK and launch.number not in flawed


def count_failed_cases(opened: Store) -> dict[int, list[str]]:
    """Return, by the number of a launch, the failures of its cases: `2 wrong data`."""
    if not opened.launches():
        return {}
    rows = opened.cases().select("launch", "status").iter_rows()
    counts = Counter((launch, status) for launch, status in rows if status in BROKEN)
    problems: dict[int, list[str]] = {}
    for (launch, status), count in sorted(counts.items()):
        problems.setdefault(launch, []).append(f"{count} {status.replace('-', ' ')}")
    return problems
