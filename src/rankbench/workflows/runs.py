"""Runs the campaign of a plan, or continues an interrupted one."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from rankbench import extras, files, launch, libraries
from rankbench.language import render
from rankbench.launch import schedulers
from rankbench.libraries import ambient
from rankbench.model import Plan, RankbenchError
from rankbench.workflows import background
from rankbench.workflows.job_nodes import find_job_nodes
from rankbench.workflows.locations import campaign_folder, find_campaign, home, is_campaign, results_folder
from rankbench.workflows.requested_plans import MeasuringOptions, add_prefixes, make_plan
from rankbench.workflows.watching import SILENT, Progress

if TYPE_CHECKING:
    from rankbench.analysis.questions.view import CampaignView
    from rankbench.campaign import CampaignRequest, Decision
    from rankbench.store import Store

PLAN_FILE = "plan.toml"


class RunRequest(NamedTuple):
    """What is measured, where and for how long. Values are as on the command line; empty ones are not given."""

    words: Sequence[str] = ()
    """A plan (TOML file), or the libraries to compare; NAME=LIBRARY names one."""
    preset: str = ""
    operations: str = ""
    program: str = ""
    profile: Path | None = None
    """The calls of a program as what is measured: its record, or the report of a profiler."""
    ranks: int | None = None
    sizes: str = ""
    forms: str = ""
    placements: str = ""
    samples: int | None = None
    blocks: str = ""
    time: str = ""
    until: str = ""
    threshold: str = ""
    results: Path | None = None
    """Folder that holds one folder per campaign; None: RANKBENCH_RESULTS, else `results`."""
    name: str | None = None
    """Name of the campaign; None: the plan's."""
    prefixes: Sequence[Path] = ()
    modules: Sequence[str] = ()
    seed: int = 0
    """Of the random order; 0: the plan's, or random."""
    hosts: str = ""
    remote_shell: str = ""
    launcher: str = ""
    binding: str = ""
    one_machine: bool = False
    """The nodes are emulated and share this machine's cores."""
    is_in_job: bool = False
    """Whether ranks run on the nodes of the job in which this runs."""
    more: int = 0
    """Blocks to measure in addition to those stored."""
    continued: Path | None = None
    """The campaign to continue by its own plan."""
    starts_anew: bool = False
    """Whether a new campaign begins where one of the same name exists."""
    is_clean: bool = False
    """Whether what the shell and configuration files set for libraries is left out."""

    @property
    def measured(self) -> MeasuringOptions:
        """Return the options about what is measured."""
        return MeasuringOptions(**{name: getattr(self, name) for name in MeasuringOptions._fields})


class PlannedRun(NamedTuple):
    """A campaign that can be run."""

    request: CampaignRequest
    is_finished: bool
    """Whether exactly this campaign is stored and complete."""


class RunResult(NamedTuple):
    """A campaign that ended."""

    store: Store
    decision: Decision | None
    """Why it ended; None: it was complete, and nothing was measured."""

    @property
    def folder(self) -> Path:
        """Return the campaign's folder."""
        return self.store.folder

    @property
    def view(self) -> CampaignView:
        """Return the campaign's evaluation."""
        from rankbench.workflows.decisions import evaluate_latest

        return evaluate_latest(self.store)

    @property
    def conclusion(self) -> list[str]:
        """Return the sentences of the short answer."""
        return [render(claim.text) for claim in self.view.verdict.conclusion if claim.brief]


def run(request: RunRequest, progress: Progress = SILENT) -> RunResult:
    """Run the campaign of a request, or what is left of it.

    Raises RankbenchError for what the user can correct: the request, libraries, the machine, the stored campaign.
    """
    return measure(plan_run(request, progress), progress)


def resume(campaign: Path, progress: Progress = SILENT, *, more: int = 0) -> RunResult:
    """Continue a stored campaign by its own plan, or measure so many blocks more.

    Raises RankbenchError if there is no campaign, and like `run`.
    """
    return run(RunRequest(continued=campaign, more=more), progress)


def plan_run(request: RunRequest, progress: Progress = SILENT) -> PlannedRun:
    """Return the campaign of a request; nothing is written or launched. Raises RankbenchError like `run`."""
    extras.require("run", "`rankbench run`")  # Before anything is written; what needs it is loaded later.
    if request.continued:
        request = name_stored_plan(request, request.continued)
    if request.is_clean:
        place = home()
        os.environ["RANKBENCH_HOME"] = str(place)
        ambient.clean(os.environ, files.make_folder(place / "empty"))
    machine = launch.machine()
    if request.is_in_job:
        request = request._replace(**find_job_nodes()._asdict())
    place_options = {
        "hosts": request.hosts.split(",") if request.hosts else "",
        "remote_shell": request.remote_shell,
        "launcher": request.launcher,
        "binding": request.binding,
        "one_machine": request.one_machine,
    }
    search = libraries.make_search(home(), request.prefixes, request.modules)
    words = add_prefixes(request.words, request.preset, search)
    planned, own_name = make_plan(
        words, request.preset, request.measured, {key: value for key, value in place_options.items() if value}, machine
    )
    if request.continued and planned.program:
        planned = keep_program(planned, find_campaign(request.continued))
    if planned.job.scheduler:
        schedulers.find_scheduler(planned.job)
    folder = choose_new_folder(request, own_name)
    if len(planned.candidates) == 1:
        progress.show_line("only one candidate: values, no comparison")
    known = is_campaign(folder)
    reach = None if known else background.start_thread(lambda: libraries.find(search))
    # Loading Polars takes as long as finding libraries.
    from rankbench import campaign
    from rankbench.workflows.decisions import is_finished

    wanted = campaign.CampaignRequest(
        planned, folder, machine, home(), search.prefixes, search.modules, request.seed, request.more, reach=reach
    )
    return PlannedRun(wanted, known and is_finished(wanted))


def measure(planned: PlannedRun, progress: Progress = SILENT) -> RunResult:
    """Run a planned campaign until its rule ends it. Raises RankbenchError if it cannot be run, or not as planned."""
    from rankbench import campaign, store
    from rankbench.campaign import recording, sum_launches
    from rankbench.workflows.decisions import stopping

    if planned.is_finished:
        return RunResult(store.open(planned.request.folder), None)
    # What shows the result is loaded meanwhile; nothing of it runs beside a launch that measures.
    loaded = background.load(*progress.modules, "scipy.special")
    prepared = campaign.prepare(planned.request, progress.show_line)
    before = len(prepared.store.launches())
    loaded()
    recorder = recording.ProgramRecorder(prepared, progress.show_line)
    with progress.watch(prepared.store.campaign) as watch:
        decision = campaign.run(prepared, stopping(prepared.store), watch, recorder.record_between)
    recorder.record_rest()
    sum_launches.study_candidates(prepared, planned.request.home, progress.show_line)
    prepared.store.unlock()
    return RunResult(prepared.store, decision if len(prepared.store.launches()) > before else None)


def name_stored_plan(request: RunRequest, campaign: Path) -> RunRequest:
    """Return the request with the stored plan of a campaign, its name and the folder that it is in.

    Raises RankbenchError if there is no campaign, or another plan is named.
    """
    if request.words or request.preset or request.name is not None:
        raise RankbenchError("--continue names the plan and the campaign; leave out other plans, candidates and --name")
    folder = find_campaign(campaign)
    if not is_campaign(folder):
        raise RankbenchError(
            f"--continue {campaign}: no campaign; `rankbench status` shows those in `{results_folder()}`"
        )
    return request._replace(words=[str(folder / PLAN_FILE)], results=folder.parent, name=folder.resolve().name)


def keep_program(planned: Plan, folder: Path) -> Plan:
    """Return a stored plan with the program as it was recorded: its folder was relative to the plan that was given."""
    from rankbench import store

    return msgspec.structs.replace(planned, program=store.open(folder).campaign.plan.program)


def choose_new_folder(request: RunRequest, name: str) -> Path:
    """Return the folder of the campaign: a new one if it starts anew, a stored one if more is measured.

    Raises RankbenchError if there is no campaign to measure more of. `name`: that of the plan.
    """
    results, name = request.results or results_folder(), name if request.name is None else request.name
    folder = campaign_folder(results, name)
    if request.starts_anew and request.more:
        raise RankbenchError("--new starts a campaign, --more continues one; leave one of them out")
    if request.more and not is_campaign(folder):
        raise RankbenchError(
            f"--more {request.more}: no campaign in {folder}; leave --more out, or name one: --name NAME"
        )
    if not request.starts_anew:
        return folder
    numbered = (campaign_folder(results, f"{name}-{number}") for number in itertools.count(2))
    return next(path for path in itertools.chain([folder], numbered) if not is_campaign(path))
