"""The job script of a campaign, which makes the launches where rankbench does not run.

The turns are those of the loop, in the same recorded order; `collect_results.py` stores their launches.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import msgspec

from rankbench import files, libraries, plan, samples
from rankbench.campaign import launching, preflight
from rankbench.campaign.foreign import Program
from rankbench.campaign.history import Turn
from rankbench.campaign.launching import MPI_VARIABLES, LaunchRequest
from rankbench.campaign.loop import can_interleave, launch_groups, placement_of
from rankbench.campaign.preparation import PreparedCampaign
from rankbench.launch import script
from rankbench.model import Campaign, Candidate, Case, CommandLine, Placement, RankbenchError, Record
from rankbench.quantities import spell_count

ENOUGH = "enough"
"""A file that stops the script before its next block."""
PROGRAMS = "programs"
"""Subfolder of the script's, with the launch line of each foreign program."""
FILES = "files"
"""Subfolder of the script's, with the list of the files of each launch line's library."""
CHECKING = ""
"""The launch group of the core whose check also decides about foreign programs."""


class ForeignLaunch(Record, frozen=True):
    """How a launch line starts a foreign program, or why it does not."""

    command: CommandLine | None = None
    reason: str = ""


class Place(NamedTuple):
    """One turn of the whole campaign."""

    turn: Turn
    position: int
    name: str
    line: str
    cases_file: str
    cases: list[Case]


def list_places(campaign: Campaign) -> Iterator[Place]:
    """Yield every possible turn of the campaign, in its recorded order."""
    names = [candidate.name for candidate in campaign.candidates]
    lines = name_launch_functions(campaign)
    for block in range(1, campaign.plan.stop.blocks_max + 1):
        for position, name in enumerate(plan.draw_block_order(campaign.seed, block, names)):
            for placement in campaign.plan.placements:
                own_cases = [case for case in campaign.cases if case.placement == placement.name]
                for group, cases in groupby(
                    plan.draw_case_order(campaign.seed, block, own_cases), lambda case: case.launch_group
                ):
                    turn = Turn(block, name, placement.name, group)
                    where = "-".join(filter(None, [f"{block:03}", placement.name, *group.split()]))
                    line = lines[name, placement.name, group]
                    yield Place(turn, position, f"{block:03}-{line}", line, f"{where}.txt", list(cases))


def name_launch_functions(campaign: Campaign) -> dict[tuple[str, str, str], str]:
    """Return a unique name of the bash function for each candidate, placement and group."""
    names: dict[tuple[str, str, str], str] = {}
    for candidate in campaign.candidates:
        for placement in campaign.plan.placements:
            cases = [case for case in campaign.cases if case.placement == placement.name]
            for group in sorted({case.launch_group for case in cases} | {CHECKING for case in cases if case.suite}):
                words = filter(None, [candidate.name, "on", placement.name, group])
                name = re.sub(r"\W+", "_", " ".join(words))
                number = sum(re.fullmatch(rf"{name}(_v\d+)?", other) is not None for other in names.values())
                names[candidate.name, placement.name, group] = f"{name}_v{number + 1}" if number else name
    return names


def make_command(campaign: Campaign, candidate: Candidate, placement: Placement, program: list[str]) -> CommandLine:
    """Return the command line of a candidate in a placement."""
    library = campaign.get_library(candidate)
    return libraries.find_family(library).make_launch_line(library, placement, candidate.settings, program)


def make_script(prepared: PreparedCampaign, folder: Path | None = None) -> script.Script:
    """Return the description of a campaign's job script, as in this folder; None: as in its own."""
    folder = (folder or prepared.store.folder).absolute()
    campaign, command_lines = prepared.store.campaign, list(list_launch_lines(prepared, folder))
    names = {line.name for line in command_lines}
    blocks = groupby((place for place in list_places(campaign) if place.line in names), lambda place: place.turn.block)
    return script.Script(
        campaign=folder,
        question=campaign.plan.question,
        job=campaign.plan.job,
        lines=command_lines,
        blocks=[
            [
                script.Turn(
                    turn.name, turn.line, turn.cases_file, must_run_alone(prepared, turn), name_group(campaign, turn)
                )
                for turn in turns
            ]
            for _, turns in blocks
        ],
        remote_shell=campaign.plan.placements[0].remote_shell,
        silence_s=campaign.plan.launch_limit_s,
        threshold=campaign.plan.threshold,
        mpi_variables=MPI_VARIABLES,
        sums=[line for line in list_sum_lines(campaign).values() if line in names],
    )


def list_sum_lines(campaign: Campaign) -> dict[tuple[str, str], str]:
    """Return the launch lines that compare the bits of sums, by candidate and placement: none, unless the plan does."""
    with_ranks = {placement.name for placement in campaign.plan.placements if placement.ranks > 1}
    controls = {candidate.name for candidate in campaign.candidates if candidate.control_of}
    return {
        (name, where): line
        for (name, where, group), line in name_launch_functions(campaign).items()
        if campaign.plan.sums and group == CHECKING and where in with_ranks and name not in controls
    }


def must_run_alone(prepared: PreparedCampaign, place: Place) -> bool:
    """Return whether a turn's launches must run alone."""
    campaign, turn = prepared.store.campaign, place.turn
    candidate = campaign.get_candidate(turn.candidate)
    placement = campaign.get_placement(turn.placement)
    return not can_interleave(campaign, candidate, placement, place.cases, {*prepared.programs, *prepared.without})


def name_group(campaign: Campaign, place: Place) -> str:
    """Return the name of the group of turns that run at the same time; empty: all turns of the block."""
    groups = launch_groups(campaign, place.turn.block)
    return f"group{groups[place.turn.candidate] + 1}" if any(groups.values()) else ""


def list_launch_lines(prepared: PreparedCampaign, folder: Path) -> Iterator[script.Line]:
    """Yield the launch line of each candidate and placement that has a program, with files in a campaign's folder."""
    campaign = prepared.store.campaign
    called = name_launch_functions(campaign)
    for (name, where, group), line in called.items():
        candidate, cases = campaign.get_candidate(name), foreign_cases(campaign, where, group)
        library, core = campaign.get_library(candidate), prepared.binaries[candidate.library]
        placement = placement_of(Turn(1, name, where, group), campaign.get_placement(where), cases)
        words = [*library.wrap, str(core)]
        title = f"{name} on {where}: {spell_count(placement.ranks, 'rank')}" + f", {group}" * bool(group)
        if not cases:
            flags = [*launching.list_core_flags(group), *launching.list_file_flags(name_file_list(folder, line))]
            started = make_command(campaign, candidate, placement, [str(core), *flags])
            family = libraries.find_family(library)
            reports = family.encode_settings(family.report_settings)
            yield script.Line(line, title, words, placement.ranks, started, reports=reports)
        elif program := prepared.programs.get((candidate.library, cases[0].operation)):
            started = make_foreign_command(campaign, candidate, placement, program, cases)
            yield script.Line(line, title, words, placement.ranks, started, called[name, where, CHECKING])


def name_file_list(folder: Path, line: str) -> Path:
    """Return the path of the list of the files of a launch line's library, in a campaign's folder."""
    return folder / script.FOLDER / FILES / f"{line}.txt"


def write_file_lists(prepared: PreparedCampaign) -> None:
    """Write the list of each launch line; the core adds the hashes that it computes in the job."""
    campaign = prepared.store.campaign
    for (name, _, _), line in name_launch_functions(campaign).items():
        candidate, path = campaign.get_candidate(name), name_file_list(prepared.store.folder, line)
        preflight.write_file_list(path, candidate, campaign.get_library(candidate))


def foreign_cases(campaign: Campaign, placement: str, group: str) -> list[Case]:
    """Return the cases of a group in a placement if a foreign program measures them."""
    own_cases = (case for case in campaign.cases if case.placement == placement and case.launch_group == group)
    return [case for case in own_cases if case.suite]


def make_foreign_command(
    campaign: Campaign, candidate: Candidate, placement: Placement, program: Program, cases: list[Case]
) -> CommandLine:
    """Return the command line of a foreign program, with its arguments and the files that it reads."""
    library = campaign.get_library(candidate)
    turn = Turn(1, candidate.name, placement.name, cases[0].launch_group)
    request = LaunchRequest(0, turn, 0, candidate, library, placement, campaign.plan, program.path, cases, program)
    with tempfile.TemporaryDirectory(prefix="rankbench-") as folder:
        line = launching.make_launch_line(request, [], Path(folder))
        files = {str(path): path for path in Path(folder).absolute().iterdir()}
        texts = {path.name: path.read_text(encoding="utf-8") for path in files.values()}
    words = [files[word].name if word in files else word for word in line.arguments]
    return msgspec.structs.replace(line, arguments=words, files=line.files | texts)


def list_programs(prepared: PreparedCampaign) -> Iterator[tuple[str, ForeignLaunch]]:
    """Yield, by launch line, how it starts a foreign program, or why it does not."""
    campaign = prepared.store.campaign
    command_lines = {line.name: line.command for line in list_launch_lines(prepared, prepared.store.folder)}
    for (name, where, group), line in name_launch_functions(campaign).items():
        if cases := foreign_cases(campaign, where, group):
            reason = prepared.without.get((campaign.get_candidate(name).library, cases[0].operation), "")
            yield line, ForeignLaunch(command=command_lines.get(line), reason=reason)


def write(prepared: PreparedCampaign, text: str) -> tuple[Path, bool]:
    """Write the script and its lists of cases into the campaign's folder; return the script's path.

    An edited script is not replaced; the second value is then true.

    Raises RankbenchError if the folder cannot be written.
    """
    store = prepared.store
    folder = store.folder / script.FOLDER
    path, copy = folder / script.SCRIPT, folder / f".{script.SCRIPT}.written"
    try:
        files.refuse_links(folder.rglob("*"))
        for name in ("cases", PROGRAMS, FILES):
            files.make_folder(folder / name)
        (folder / ENOUGH).unlink(missing_ok=True)
        case_files = {place.cases_file: place.cases for place in list_places(store.campaign)}
        for name, cases in case_files.items():
            samples.write_job(folder / "cases" / name, cases, store.campaign.plan, store.campaign.once_operations)
        for name, program in list_programs(prepared):
            files.write(folder / PROGRAMS / f"{name}.json", msgspec.json.encode(program))
        write_file_lists(prepared)
        is_edited = differs(path, copy)
        if not is_edited:
            for place in (path, copy):
                files.write(place, text)
        path.chmod(0o755)
    except OSError as error:
        raise RankbenchError(f"{folder}: cannot be written ({error.strerror}); correct that and submit again") from None
    return path, is_edited


def differs(path: Path, copy: Path) -> bool:
    """Return whether a script differs from its copy as written."""
    return path.exists() and copy.exists() and path.read_bytes() != copy.read_bytes()
