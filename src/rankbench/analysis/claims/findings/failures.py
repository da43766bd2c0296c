"""A candidate crashed, hung, delivered wrong data, refused a case, or lacks a call.

Why: A failed case has no time, and wrong data are a defect of the library.

What to do: Do not use the library for calls with wrong data, and report it to the vendor. For a crash, read the
launch's log, then try the newest version or another transport. `rankbench doctor` with the plan tries it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.questions.wording import shorten
from rankbench.campaign.exit_causes import signal_of
from rankbench.causes import explain
from rankbench.causes.telling_lines import choose_line
from rankbench.language import Text, say
from rankbench.model import NO_CPU, Finding, Launch, LaunchStatus
from rankbench.plan.programs import OPERATION

TITLE = "What failed"

KINDS = ("wrong-data", "crashed", "hung", "failed", "not-as-asked", "refused", "lacking")
MOST_TITLES = 3
OF_PROGRAM = (
    "Read the launch's log, and run the program with this library's launcher by hand. If its exit code means no fault, "
    "let a script run it that ends with 0."
)


class Report(NamedTuple):
    """The texts of a kind of failure, and what to do about it."""

    title: Text
    text: Text
    advice: Text


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield one finding per candidate and kind of failure."""
    for name in view.candidates:
        for status in KINDS:
            if cases := _list_cases(view, name, status):
                report = _make_report(status, name, _describe_cases(view, name, cases), _list_signals(view, name))
                yield Finding(
                    kind="failures",
                    title=report.title,
                    text=report.text,
                    advice=say(OF_PROGRAM) if is_program(view, cases) and status == "crashed" else report.advice,
                    cases=cases,
                    severity="note" if status == "lacking" else "failure",
                )
        yield from _find_refused(view, name)


def is_program(view: CampaignView, keys: list[str]) -> bool:
    """Return whether cases are of the user's program."""
    return all(view.case_of[key].suite == OPERATION for key in keys)


def _make_report(status: str, name: str, where: Text, signals: list[str]) -> Report:
    """Return the texts of a candidate's failure; `signals` ended its launches that crashed."""
    return {
        "wrong-data": Report(
            say("{name} delivered wrong data", name=name),
            say("{name} delivered wrong data in {where}.", name=name, where=where),
            say("Do not use this library for these calls; report it to its developers."),
        ),
        "crashed": Report(
            say("{name} crashed", name=name),
            say(
                "{name} crashed in {where}, by {signals:and}." if signals else "{name} crashed in {where}.",
                name=name,
                where=where,
                signals=signals,
            ),
            say("Read the launch's log. Try the newest version of the library or another transport."),
        ),
        "hung": Report(
            say("{name} made no progress", name=name),
            say("{name} made no progress in {where}.", name=name, where=where),
            say("Read the launch's log. If the case is just slow, raise launch_limit in the plan."),
        ),
        "failed": Report(
            say("{name} returned an error", name=name),
            say("{name} returned an error in {where}.", name=name, where=where),
            say("Read the reason below the tables of `rankbench show`."),
        ),
        "not-as-asked": Report(
            say("{name} {name:of was|were} not placed as planned", name=name),
            say("Ranks of {name} did not run where the placement says in {where}.", name=name, where=where),
            say(
                "Read the reason below the tables of `rankbench show`. Check whether a scheduler, a container or a "
                "setting binds ranks."
            ),
        ),
        "refused": Report(
            say("{name} could not run as requested", name=name),
            say("{name} could not run as requested in {where}.", name=name, where=where),
            say("Read the reason below the tables of `rankbench show`."),
        ),
        "lacking": Report(
            say("{name} {name:of does|do} not have the call", name=name),
            say("{name} does not have the call of {where}.", name=name, where=where),
            say("This is not an error: use another library or form where you need the call."),
        ),
    }[status]


def _list_cases(view: CampaignView, name: str, status: str) -> list[str]:
    """Return the cases with this status, without those refused with their whole launch, or only for late rounds."""
    has_launches = status in {"refused", "not-as-asked"}
    placements = {launch.placement for launch in _list_refused(view, name)} if has_launches else set()
    return [
        key
        for key, case in view.case_of.items()
        if (summary := view.summary_of.get((key, name)))
        and summary.failures.get(status, 0) > summary.all_late * (status == "refused")
        and case.placement not in placements
    ]


def _describe_cases(view: CampaignView, name: str, cases: list[str]) -> Text:
    """Name the cases, those with values of other launches separately."""
    partly = [key for key in cases if (summary := view.summary_of[key, name]).launches or summary.left_out]
    always = [key for key in cases if key not in partly]
    some_launches = say("some launches of {cases}", cases=_count_cases(view, partly))
    if not always:
        return some_launches
    where = _count_cases(view, always)
    return say("{where} and in {partly}", where=where, partly=some_launches) if partly else where


def _count_cases(view: CampaignView, cases: list[str]) -> Text:
    titles = list(dict.fromkeys(view.title(view.case_of[key]) for key in cases))
    return say("{n:count case} ({titles:and})", n=len(cases), titles=shorten(titles, MOST_TITLES))


def _list_signals(view: CampaignView, name: str) -> list[str]:
    """Return which signals ended the launches of a candidate that crashed."""
    crashed = [launch for launch in view.launches if launch.candidate == name and launch.status is LaunchStatus.CRASHED]
    return sorted(
        {signal_of(launch.exit_code, launch.log, launch.facts.ranks if launch.facts else 0) for launch in crashed}
        - {""}
    )


def _list_refused(view: CampaignView, name: str) -> list[Launch]:
    """Return the launches that did not start, or that ended before they reported anything."""
    launches = [launch for launch in view.launches if launch.candidate == name and NO_CPU not in launch.reason]
    failed = [launch for launch in launches if launch.status is not LaunchStatus.OK]
    programs = [] if view.campaign.imported else view.once("launches of programs", lambda: _list_programs(view))
    return [
        launch
        for launch in failed
        if launch.status is LaunchStatus.REFUSED or not (launch.facts or launch.number in programs)
    ]


def _list_programs(view: CampaignView) -> list[int]:
    """Return the launches of programs, which report nothing before their result."""
    keys = [case.key for case in view.campaign.cases if case.suite]
    return view.case_rows.filter(pl.col("case").is_in(keys))["launch"].unique().to_list() if keys else []


def _find_refused(view: CampaignView, name: str) -> Iterator[Finding]:
    tried = sum(launch.candidate == name for launch in view.launches)
    refused = _list_refused(view, name)
    logs = {launch.reason: launch.log for launch in reversed(refused)}
    for reason, count in Counter(launch.reason for launch in refused).items():
        line = choose_line(logs[reason]) if reason.startswith("did not start") and not explain(logs[reason]) else ""
        why = f"{reason}: {line}" if line else reason
        yield Finding(
            kind="failures",
            title=say(
                "{name} {name:of has|have} runs without results"
                if view.campaign.imported
                else "{name} did not always start"
                if count < tried
                else "{name} {name:of was|were} not measured",
                name=name,
            ),
            text=say(
                "{name} has no result of {n} of {all:count run}: {reason}"
                if view.campaign.imported
                else "{name} did not start in {n} of {all:count launch}: {reason}"
                if count < tried
                else "{name} was not measured: {reason}",
                name=name,
                n=count,
                all=tried,
                reason=why if why.endswith(".") else f"{why}.",
            ),
            advice=say(
                "Run that benchmark again, or leave its output out."
                if view.campaign.imported
                else "Run `rankbench doctor` with the plan: it tries the candidate again and says what to change."
            ),
            cases=[],
            severity="failure",
        )
