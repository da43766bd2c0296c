"""Concurrent launches are limited by the resources of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.campaign.test_blocks import PLAN, assert_sound, libraries, prepare
from wording import WORDING, find_lines

from rankbench.analysis import evaluation
from rankbench.campaign import Progress, history, loop
from rankbench.campaign.sharing import Sharing
from rankbench.language import render
from rankbench.launch.resources import MEMORY, SHM, Amounts

__all__ = ["libraries"]

MIB, GIB = 1 << 20, 1 << 30
FIRST, SECOND = "mpich-9.1", "mpich-9.2"


def make_uses(*amounts: int) -> dict[tuple[str, str], Amounts]:
    """Return how much of /dev/shm launches of a, b, ... use."""
    return {(name, "2x1"): {SHM: amount} for name, amount in zip("abcd", amounts, strict=False)}


def test_launches_that_fit_are_one_group() -> None:
    assert Sharing(make_uses(30, 30, 30)).divide("2x1", "abc", {SHM: 100}) == ([[0, 1, 2]], "")


def test_launches_that_do_not_fit_are_divided_in_their_order() -> None:
    groups, why = Sharing(make_uses(30 * MIB, 50 * MIB, 40 * MIB)).divide("2x1", "abc", {SHM: 100 * MIB})
    assert groups == [[0, 1], [2]]
    assert why == WORDING


def test_message_buffers_of_launches_in_turns_fit_into_memory() -> None:
    groups, why = Sharing({}).divide("2x1", "abc", {MEMORY: 20 * GIB}, [8 * GIB, 16 * GIB, 8 * GIB])
    assert groups == [[0, 2], [1]]
    assert why == WORDING


def test_use_measured_in_turns_corrects_the_estimated_use() -> None:
    sharing = Sharing(make_uses(10, 10, 10))
    sharing.learn("2x1", "abc", {SHM: 95})
    assert sharing.divide("2x1", "abc", {SHM: 100})[0] == [[0, 1], [2]]
    sharing.learn("2x1", "ab", {SHM: 20})
    assert sharing.divide("2x1", "abc", {SHM: 100})[0] == [[0, 1], [2]]


def test_use_unknown_from_checks_is_learned_from_launches_in_turns() -> None:
    sharing = Sharing({})
    sharing.learn("2x1", "ab", {SHM: 95})
    assert sharing.divide("2x1", "ab", {SHM: 100})[0] == [[0], [1]]


def run_with(folder: Path, used: dict[str, int], free: int) -> tuple[loop.Loop, Progress]:
    """Run a campaign on a machine with so much free /dev/shm, of which each launch uses so much."""
    prepared = prepare(folder, PLAN)
    campaign = prepared.store.campaign
    progress = Progress(campaign)
    (placement,) = campaign.plan.placements
    known = {(name, placement.name): {SHM: amount} for name, amount in used.items()}
    runner = loop.Loop(
        prepared.store,
        campaign,
        prepared.binaries,
        progress,
        history.History(campaign.plan.threshold),
        {},
        sharing=Sharing(known),
        read_free=lambda: {SHM: free},
    )
    for block in (1, 2):
        runner.run_block(block)
    return runner, progress


@pytest.mark.usefixtures("libraries")
def test_launches_run_alone_if_the_machine_has_resources_for_one_only(tmp_path: Path) -> None:
    runner, progress = run_with(tmp_path, {FIRST: 60 * MIB, SECOND: 60 * MIB}, 100 * MIB)
    assert_sound(runner.store, blocks=2)
    launches = runner.store.launches()
    why = "3 launches need 180 MiB of /dev/shm and 100 MiB of /dev/shm is free"
    assert {(launch.together, launch.alone) for launch in launches} == {(1, why)}
    assert len(progress.notes) == 2  # Orders of blocks differ.
    assert progress.notes[0].endswith(f"because {why}")
    findings = [render(finding.text) for finding in evaluation.evaluate(runner.store).verdict.findings]
    assert find_lines(findings, "was measured alone from") == WORDING


@pytest.mark.usefixtures("libraries")
def test_launches_take_turns_in_smaller_groups_if_the_machine_has_resources_for_these(tmp_path: Path) -> None:
    runner, _ = run_with(tmp_path, {FIRST: 40 * MIB, SECOND: 40 * MIB}, 100 * MIB)
    assert_sound(runner.store, blocks=2)
    assert sorted(launch.together for launch in runner.store.launches()) == [1, 1, 2, 2, 2, 2]
    findings = [render(finding.text) for finding in evaluation.evaluate(runner.store).verdict.findings]
    assert find_lines(findings, "On socket not all") == WORDING
