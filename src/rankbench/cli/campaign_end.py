"""Prints the conclusion of a campaign that has ended."""

from __future__ import annotations

import math
import shlex
from collections import Counter

import polars as pl

from rankbench.analysis.statistics import deciding
from rankbench.campaign import Decision
from rankbench.campaign.plan_changes import list_past_looks
from rankbench.campaign.spending import total_duration_s
from rankbench.cli.display import (
    answer,
    console,
    count_findings,
    print_findings,
    print_text,
    show_command,
    show_overview,
)
from rankbench.language import render
from rankbench.model import BROKEN, NODE_LOST, LaunchStatus, Verdict
from rankbench.quantities import format_clock, spell_count
from rankbench.report.overview import ROWS, overview
from rankbench.store import Store
from rankbench.workflows.decisions import LAST, evaluate_latest

MORE_S = 60.0
"""The conclusion says what this much more time would decide."""
FEWEST_ROWS, OTHER_LINES = 4, 20
"""Least rows of cases, and lines of other output, so that the answer stays visible on the terminal."""


def conclude(store: Store, decision: Decision, command: str = "", *, verbose: bool = False) -> bool:
    """Print why the campaign ended, its answer, its values and the next commands; return whether candidates failed.

    `command` runs the campaign; without it more cannot be measured from here.
    """
    view = evaluate_latest(store)
    LAST.clear()  # It holds the store, and with it the lock.
    verdict, launches = view.verdict, store.launches()
    spent_s = total_duration_s(store.list_all_launches())
    alone = len(store.alone.launches())
    amount = f"{spell_count(verdict.blocks, 'block')}, {spell_count(len(launches), 'launch')}"
    amount += f" and {alone} alone" if alone else ""
    runs = [run for candidate in store.campaign.candidates for run in store.program_runs(candidate.name)]
    amount += f", {spell_count(len(runs), 'recorded run')}" if runs else ""
    spent_s += sum(max(run.seconds, default=0.0) for run in runs)
    print_text(f"{store.folder.name}: done in {format_clock(spent_s)} ({amount}; {render(decision.reason)})")
    if counts := count_without(store):
        print_text(f"without values: {counts}; the report lists them")
    failures = list_failures(store)
    for failure in failures:
        print_text(failure)
    print_text("")
    for line in answer(verdict, verbose=verbose):
        print_text(line)
    if verbose:
        print_findings(verdict)
    print_text("")
    rows = max(FEWEST_ROWS, min(ROWS, console.height - OTHER_LINES)) if console.is_terminal else ROWS
    show_overview(overview(view, rows, show_command(store.folder)))
    print_text("")
    if more := forecast_decisions(store, verdict, command):
        print_text(more)
    if verbose and (saved := describe_saving(store)):
        print_text(saved)
    if counted := count_findings(verdict, store.folder):
        print_text(f"findings: {counted}")
    print_text(f"next: rankbench report {shlex.quote(str(store.folder))}")
    return bool(failures)


def forecast_decisions(store: Store, verdict: Verdict, command: str) -> str:
    """Return what another minute would probably decide, and the command that measures it."""
    planned = store.campaign.plan
    spent_s = total_duration_s(store.list_all_launches())
    blocks = max(1, round(MORE_S * verdict.blocks / spent_s)) if spent_s else 1
    past_looks = list_past_looks(planned.stop, verdict.blocks)
    design = deciding.SequentialDesign(
        planned.threshold, [*past_looks, verdict.blocks + blocks], planned.confidence, store.campaign.baseline
    )
    undecided, likely = deciding.predict_decisions(verdict.comparisons, design)
    if not undecided:
        return ""
    open_ = "1 open case" if undecided == 1 else f"{undecided} open cases"
    if math.isnan(likely):
        after = f"{open_} after {spell_count(verdict.blocks, 'block')}"
        return f"{after}{f'; measure more: {command} --more {blocks}' if command else ''}"
    took = "another minute" if spent_s <= MORE_S * verdict.blocks else f"another {spent_s / verdict.blocks:.0f} s"
    more = f"{took} ({spell_count(blocks, 'block')}) would"
    if round(likely) == 0:
        return f"{more} probably decide none of {open_}"
    return f"{more} decide about {likely:.0f} of {open_}{f': {command} --more {blocks}' if command else ''}"


def count_without(store: Store) -> str:
    """Return for how many cases a candidate lacks values, by the reason; a case counts once for all its launches.

    Faults of candidates have lines of their own (`list_failures`).
    """
    rows = store.cases().filter(pl.col("status") != "ok").sort(pl.col("status") == "not-run", "launch")
    first = rows.unique(["candidate", "case"], keep="first", maintain_order=True)
    counts = Counter(first.filter(~pl.col("status").is_in(BROKEN))["status"])
    return ", ".join(f"{spell_count(count, 'case')} {status.replace('-', ' ')}" for status, count in counts.items())


def list_failures(store: Store) -> list[str]:
    """Return a line for each candidate that could not be measured, crashed, hung, failed or delivered wrong data.

    Candidates are not responsible for lost nodes.
    """
    launches = [launch for launch in store.launches() if NODE_LOST not in launch.reason]
    rows = store.cases().filter(pl.col("launch").is_in([launch.number for launch in launches]))
    with_rows = set(rows["launch"])  # Others were repeated alone.
    rows = rows.filter(pl.col("status").is_in(BROKEN))
    counts = (  # A case that fails in several launches is one case.
        rows.group_by("candidate", "status").agg(pl.col("case").n_unique()).sort("candidate", "status").iter_rows()
    )
    refused = {
        f"{launch.candidate}: could not be measured on {launch.placement}": launch.reason
        for launch in launches
        if launch.status == LaunchStatus.REFUSED and launch.number in with_rows
    }
    return [
        *(f"{what}: {reason}" for what, reason in refused.items()),
        *(
            f"{candidate}: {spell_count(count, 'case')} {status.replace('-', ' ')}"
            for candidate, status, count in counts
        ),
    ]


def describe_saving(store: Store) -> str:
    """Return which share of the measurements was saved by ending decided cases early."""
    if not store.looks():
        return ""
    row_count = store.cases().select("block", "candidate", "case").n_unique()
    every = len(store.campaign.cases) * len(store.campaign.candidates) * store.campaign.plan.stop.blocks_max
    return f"saved {1 - row_count / every:.0%} of the measurements by ending decided cases early"
