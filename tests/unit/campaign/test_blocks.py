from __future__ import annotations

import errno
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import polars as pl
import pytest
from fakes import make_machine, mark_thorough
from fakes.library import behave, make
from wording import WORDING, find_lines, refuses

from rankbench import build, campaign, plan
from rankbench.campaign import CampaignRequest, Decision, PreparedCampaign, Progress, launching, loop
from rankbench.campaign.loop import LAUNCHES_A_TURN
from rankbench.campaign.preparation import Show
from rankbench.language import render
from rankbench.libraries import Search
from rankbench.model import CaseResult, CaseStatus, Launch, LaunchStatus, Look, Machine, RankbenchError, State
from rankbench.store import Store, lock
from rankbench.store import open as open_store

CONTINUE = Decision(stop=False, reason="more is wanted")
PLAN = """
candidates = ["mpich==9.1", "mpich==9.2"]
operations = ["allreduce", "bcast"]
sizes = "8,64"
samples = 5
case_limit = "100ms"
seed = 7
[stop]
blocks = 2
"""
ALONE = f"together = false{PLAN}"
UP_TO_FOUR = PLAN.replace("blocks = 2", "blocks = { min = 1, max = 4 }")
MOVED = "rank 1 from CPU 1 to CPU 0"


@pytest.fixture
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Return two libraries, the only ones in reach. Their stand-in compiler compiles one file."""

    def make_search(home: Path, prefixes: Sequence[Path], _modules: Sequence[str]) -> Search:
        return Search(home=home, prefixes=tuple(prefixes), system=())

    (tmp_path / "core").mkdir()
    (tmp_path / "core/main.c").write_text("int main(void) { return 0; }\n")
    monkeypatch.setattr(build, "find_sources", lambda: tmp_path / "core")
    monkeypatch.setattr("rankbench.libraries.make_search", make_search)
    return {version: make(tmp_path / version, version) for version in ("9.1", "9.2")}


def prepare(
    tmp_path: Path,
    text: str = PLAN,
    here: Machine | None = None,
    show: Show | None = None,
    *,
    seed: int = 0,
    more: int = 0,
) -> PreparedCampaign:
    """Prepare a campaign of the two stand-in libraries."""
    file = tmp_path / "plan.toml"
    file.write_text(text)
    prefixes = [tmp_path / "9.1", tmp_path / "9.2"]
    # Shorter than a plan may ask for, so that a hang is detected soon.
    planned = msgspec.structs.replace(plan.load_plan(file, make_machine()), launch_limit_s=3.0)
    request = CampaignRequest(
        planned, tmp_path / "results", here or make_machine(), tmp_path / "home", prefixes, (), seed, more
    )
    return campaign.prepare(request, show or (lambda _: None))


def continue_measuring(_: Store) -> Decision:
    return CONTINUE


def run(tmp_path: Path, text: str = PLAN) -> Store:
    """Run a campaign, or continue it."""
    prepared = prepare(tmp_path, text)
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    return prepared.store


def list_statuses(store: Store, candidate: str, case: str) -> list[str]:
    """Return how a case ended in each launch that has a row for it, in the order of launches."""
    rows = store.cases().sort("launch").select("candidate", "case", "status").iter_rows()
    return [status for name, key, status in rows if name == candidate and key.startswith(case)]


def assert_sound(store: Store, blocks: int) -> None:
    """Assert that nothing is lost or doubled: each block has one row per case and candidate, and its samples once."""
    rows = Counter(store.cases().select("block", "candidate", "case").iter_rows())
    names = [candidate.name for candidate in store.campaign.candidates]
    request = [
        (block, name, case.key) for block in range(1, blocks + 1) for name in names for case in store.campaign.cases
    ]
    assert rows == Counter(request)
    samples = Counter(store.samples().collect().select("block", "candidate", "case", "index").iter_rows())
    measured = store.cases().filter(status="ok").select("block", "candidate", "case").iter_rows()
    assert samples == Counter((*row, index) for row in measured for index in range(store.campaign.plan.sampling.good))


@pytest.mark.usefixtures("libraries")
def test_each_block_runs_each_case_once_per_candidate_and_twin(tmp_path: Path) -> None:
    store = run(tmp_path)
    assert_sound(store, blocks=2)
    launches = store.launches()
    assert [launch.number for launch in launches] == [1, 2, 3, 4, 5, 6]
    assert {launch.status for launch in launches} == {LaunchStatus.OK}
    for block in (1, 2):
        order = [launch.candidate for launch in launches if launch.block == block]
        assert order == plan.draw_block_order(7, block, ["mpich-9.1", "mpich-9.2", "mpich-9.1 (again)"])


class Clock:
    """A clock of which every launch takes a minute."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def slow_down(self, make: Callable[..., object]) -> Callable[..., object]:
        def make_slowly(*arguments: object) -> object:
            self.now_s += 60.0
            return make(*arguments)

        return make_slowly


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize(
    ("text", "limit", "launches"),
    [(ALONE, "100s", 2), mark_thorough(ALONE, "170s", 3), (PLAN, "50s", 3), mark_thorough(ALONE, "400s", 6)],
)
def test_no_launch_begins_when_the_plans_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, limit: str, launches: int
) -> None:
    clock = Clock()
    monkeypatch.setattr(loop, "time", clock)
    for name in ("make", "make_together"):
        monkeypatch.setattr(launching, name, clock.slow_down(getattr(launching, name)))
    prepared = prepare(tmp_path, text.replace("[stop]", f'[stop]\nuntil = "time {limit}"'))
    decision = campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    assert (len(prepared.store.launches()), render(decision.reason)) == (launches, WORDING)


@pytest.mark.usefixtures("libraries")
def test_more_blocks_than_fit_into_the_plans_time_are_measured_on_request(tmp_path: Path) -> None:
    timed = PLAN.replace("[stop]", '[stop]\nuntil = "time 1h"')
    prepared = prepare(tmp_path, timed)
    campaign.run(prepared, lambda _: Decision(stop=True, reason="enough"), Progress(prepared.store.campaign))
    assert campaign.blocks_done(prepared.store) == 1
    prepared.store.unlock()
    stop = prepare(tmp_path, timed, more=2).store.campaign.plan.stop
    assert (stop.blocks_min, stop.blocks_max, stop.until) == (3, 3, "blocks")


@pytest.mark.thorough
@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize(("recent_s", "measured"), [(60, 1), (0, 2)])
def test_the_state_after_a_launch_is_that_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recent_s: float, measured: int
) -> None:
    states: list[State] = []

    def measure_state(_: object) -> tuple[State, str]:
        states.append(State(load=float(len(states))))
        return states[-1], ""

    monkeypatch.setattr(launching, "measure_state", measure_state)
    monkeypatch.setattr(loop, "RECENT_S", recent_s)
    store = run(tmp_path)
    launches = store.launches()
    groups = len({launch.started for launch in [*launches, *store.alone.launches()]})
    assert len(states) == (groups + 1 if measured == 1 else 2 * groups)
    assert [launch.after for launch in launches[-1:]] == states[-1:]
    assert all(launch.before in states and launch.before != launch.after for launch in launches)


@pytest.mark.thorough
@pytest.mark.usefixtures("libraries")
def test_launches_of_a_block_share_one_random_order_of_cases(tmp_path: Path) -> None:
    store = run(tmp_path)
    for block in (1, 2):
        expected = [case.key for case in plan.draw_case_order(7, block, store.campaign.cases)]
        rows = store.cases().filter(block=block).select("launch", "case").iter_rows()
        orders: dict[int, list[str]] = {}
        for launch, case in rows:
            orders.setdefault(launch, []).append(case)
        assert list(orders.values()) == [expected] * 3


@pytest.mark.usefixtures("libraries")
def test_a_launch_record_has_command_environment_and_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UCX_TLS", "tcp")
    launch = run(tmp_path).launches()[0]
    assert launch.command[:5] == [launch.command[0], "-n", "2", "-bind-to", "user:0,1"]
    assert launch.environment["UCX_TLS"] == "tcp"
    assert launch.facts is not None
    assert (launch.facts.ranks, [rank.cpus for rank in launch.ranks]) == (2, ["0", "1"])
    assert (launch.exit_code, launch.reason) == (0, "")
    assert launch.duration_s > 0


def test_a_crashed_case_is_a_row_and_other_cases_are_measured(tmp_path: Path, libraries: dict[str, Path]) -> None:
    prepared = prepare(tmp_path)
    behave(libraries["9.2"], crash=["allreduce.8"])
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    assert_sound(prepared.store, blocks=2)
    assert list_statuses(prepared.store, "mpich-9.2", "allreduce.blocking.8.") == ["crashed", "crashed"]
    assert list_statuses(prepared.store, "mpich-9.2", "allreduce.blocking.64.") == ["ok", "ok"]
    crashed = [launch for launch in prepared.store.launches() if launch.status == LaunchStatus.CRASHED]
    assert sorted({launch.reason for launch in crashed}) == WORDING


@pytest.mark.thorough
def test_a_hung_case_is_a_row_and_other_cases_are_measured(tmp_path: Path, libraries: dict[str, Path]) -> None:
    prepared = prepare(tmp_path, PLAN.replace("blocks = 2", "blocks = 1"))
    behave(libraries["9.2"], hang=["bcast.64"])
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    assert_sound(prepared.store, blocks=1)
    assert list_statuses(prepared.store, "mpich-9.2", "bcast.blocking.64.") == ["hung"]
    hung = next(launch for launch in prepared.store.launches() if launch.status == LaunchStatus.HUNG)
    assert (hung.reason, hung.exit_code) == (WORDING, None)


@pytest.mark.thorough
def test_a_case_that_crashed_in_two_blocks_is_skipped_in_later_blocks(
    tmp_path: Path, libraries: dict[str, Path]
) -> None:
    prepared = prepare(tmp_path, PLAN.replace("blocks = 2", "blocks = 3"))
    behave(libraries["9.2"], crash=["allreduce.8"])
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    assert_sound(prepared.store, blocks=3)
    assert list_statuses(prepared.store, "mpich-9.2", "allreduce.blocking.8.") == ["crashed", "crashed", "not-run"]
    reasons = prepared.store.cases().filter(status="not-run")["reason"].to_list()
    assert reasons == WORDING


@pytest.mark.thorough
def test_an_incomplete_line_of_the_stream_is_a_crash_of_its_case(tmp_path: Path, libraries: dict[str, Path]) -> None:
    prepared = prepare(tmp_path)
    behave(libraries["9.1"], torn=["bcast.8"])
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    assert_sound(prepared.store, blocks=2)
    assert list_statuses(prepared.store, "mpich-9.1", "bcast.blocking.8.") == ["crashed", "crashed"]
    assert list_statuses(prepared.store, "mpich-9.1 (again)", "bcast.blocking.8.") == ["crashed", "crashed"]


@pytest.mark.thorough
def test_a_turn_ends_after_a_few_launches_if_every_case_crashes(tmp_path: Path, libraries: dict[str, Path]) -> None:
    text = PLAN.replace('"8,64"', '"8,64,512,4K"').replace("blocks = 2", "blocks = 1")
    prepared = prepare(tmp_path, text)
    cases = [f"{operation}.{size}" for operation in ("allreduce", "bcast") for size in (8, 64, 512, 4096)]
    behave(libraries["9.2"], crash=cases)
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    assert_sound(prepared.store, blocks=1)
    ended = Counter(list_statuses(prepared.store, "mpich-9.2", ""))
    assert ended == {"crashed": LAUNCHES_A_TURN, "not-run": len(cases) - LAUNCHES_A_TURN}


def test_wrong_data_is_a_row_and_the_launch_succeeds(tmp_path: Path, libraries: dict[str, Path]) -> None:
    prepared = prepare(tmp_path)
    behave(libraries["9.2"], wrong=["allreduce.64"])
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    assert_sound(prepared.store, blocks=2)
    assert list_statuses(prepared.store, "mpich-9.2", "allreduce.blocking.64.") == ["wrong-data", "wrong-data"]
    assert {launch.status for launch in prepared.store.launches()} == {LaunchStatus.OK}


def test_a_row_names_the_file_with_the_bytes_received_instead_of_right_ones(
    tmp_path: Path, libraries: dict[str, Path]
) -> None:
    prepared = prepare(tmp_path)
    behave(libraries["9.2"], wrong=["allreduce.64"], evidence=True)
    watch = Progress(prepared.store.campaign)
    campaign.run(prepared, continue_measuring, watch)
    rows = prepared.store.cases().filter(status="wrong-data").select("launch", "case", "reason").rows()
    assert len(rows) == len(watch.failures) == 2
    assert sorted(path.name for path in (prepared.store.folder / "evidence").iterdir()) == [
        reason.rpartition("/")[2] for *_, reason in rows
    ]
    for (launch, case, reason), line in zip(rows, watch.failures, strict=True):
        before, _, name = reason.partition("; the bytes are in ")
        assert (before, line.endswith(reason)) == (WORDING, True)
        assert name.startswith(f"evidence/{launch:06}-")
        evidence = json.loads((prepared.store.folder / name).read_text())
        assert (evidence["case"], evidence["candidate"], evidence["reason"]) == (case, "mpich-9.2", before)
        assert (evidence["received"], evidence["expected"], evidence["first_wrong"]) == ("00010207", "00010209", 3)


@pytest.mark.thorough
def test_a_candidate_that_fails_to_start_in_two_blocks_is_skipped_in_later_blocks(
    tmp_path: Path, libraries: dict[str, Path]
) -> None:
    prepared = prepare(tmp_path, PLAN.replace("blocks = 2", "blocks = 4"))
    behave(libraries["9.2"], dead=True)
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    refused = [launch for launch in prepared.store.launches() if launch.candidate == "mpich-9.2"]
    assert [(launch.block, launch.together) for launch in refused] == [(1, 3), (1, 1), (2, 3), (2, 1)]
    assert {launch.reason for launch in refused} == {"did not start: exit code 1"}
    assert refused[0].log == WORDING
    assert list_statuses(prepared.store, "mpich-9.2", "bcast.blocking.8.") == ["not-run", "not-run"]
    assert list_statuses(prepared.store, "mpich-9.1", "bcast.blocking.8.") == ["ok"] * 4


def test_a_launch_of_singletons_is_refused_by_the_check_and_other_candidates_continue(
    tmp_path: Path, libraries: dict[str, Path]
) -> None:
    (libraries["9.2"] / "worlds").touch()
    store = run(tmp_path)
    refused = [launch for launch in store.launches() if launch.candidate == "mpich-9.2"]
    assert [launch.status for launch in refused] == [LaunchStatus.REFUSED]
    assert find_lines(refused[0].reason, "worlds of 1 instead") == WORDING
    assert list_statuses(store, "mpich-9.2", "") == ["refused"] * 4
    assert list_statuses(store, "mpich-9.1", "bcast.blocking.8.") == ["ok", "ok"]
    assert store.campaign.notes == WORDING


@pytest.mark.thorough
def test_a_launch_of_singletons_in_mid_campaign_has_no_samples(tmp_path: Path, libraries: dict[str, Path]) -> None:
    prepared = prepare(tmp_path)
    (libraries["9.2"] / "worlds").touch()
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    assert_sound(prepared.store, blocks=2)
    assert set(list_statuses(prepared.store, "mpich-9.2", "")) == {"not-run"}


WRONG_CPUS = "not as asked: rank 0 may run on CPUs 1, CPU 0 was asked for"


def test_ranks_on_wrong_cpus_in_mid_campaign_have_no_samples(tmp_path: Path, libraries: dict[str, Path]) -> None:
    prepared = prepare(tmp_path)
    behave(libraries["9.2"], cpus=["1", "0"])
    watch = Progress(prepared.store.campaign)
    campaign.run(prepared, continue_measuring, watch)
    assert_sound(prepared.store, blocks=2)
    assert list_statuses(prepared.store, "mpich-9.2", "") == ["not-as-asked"] * 8
    rows = prepared.store.cases().filter(candidate="mpich-9.2")
    assert (set(rows["reason"]), rows["taken"].sum()) == ({WRONG_CPUS}, 0)
    assert {launch.status for launch in prepared.store.launches()} == {LaunchStatus.OK}
    assert watch.failures == [f"block {block}, mpich-9.2 on socket: {WRONG_CPUS}: 4 cases" for block in (1, 2)]


@pytest.mark.thorough
def test_ranks_on_wrong_cpus_from_the_start_are_rows_and_other_candidates_continue(
    tmp_path: Path, libraries: dict[str, Path]
) -> None:
    behave(libraries["9.2"], cpus=["1", "0"])
    store = run(tmp_path)
    refused = [launch for launch in store.launches() if launch.candidate == "mpich-9.2"]
    assert [(launch.status, launch.reason) for launch in refused] == [(LaunchStatus.REFUSED, WORDING)]
    assert list_statuses(store, "mpich-9.2", "") == ["not-as-asked"] * 4
    assert list_statuses(store, "mpich-9.1", "") == ["ok"] * 8
    assert store.campaign.notes == WORDING


@pytest.mark.thorough
def test_cases_measured_after_a_rank_left_its_core_have_no_samples(tmp_path: Path, libraries: dict[str, Path]) -> None:
    prepared = prepare(tmp_path)
    behave(libraries["9.2"], moved={"bcast.64": MOVED})
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    assert_sound(prepared.store, blocks=2)
    for block in (1, 2):
        rows = prepared.store.cases().filter(candidate="mpich-9.2", block=block).select("case", "status", "reason")
        order = [case.key for case in plan.draw_case_order(7, block, prepared.store.campaign.cases)]
        end = next(place for place, key in enumerate(order) if key.startswith("bcast.blocking.64."))
        while_measured = (order[end], "not-as-asked", f"not as asked: {MOVED} while it was measured")
        after = [(key, "not-as-asked", f"not as asked: {MOVED} in an earlier case") for key in order[end + 1 :]]
        assert list(rows.iter_rows()) == [*((key, "ok", "") for key in order[:end]), while_measured, *after]


@pytest.mark.usefixtures("libraries")
def test_a_campaign_cannot_continue_on_other_cpus(tmp_path: Path) -> None:
    run(tmp_path)
    there = msgspec.structs.replace(make_machine(), cpus=make_machine(4).cpus[2:])
    planned = plan.load_plan(tmp_path / "plan.toml", there)
    request = CampaignRequest(planned, tmp_path / "results", make_machine(), tmp_path / "home", [tmp_path / "9.1"])
    with refuses():
        campaign.prepare(request, lambda _: None)


@pytest.mark.thorough
def test_the_twin_copies_the_first_candidate_that_works(tmp_path: Path, libraries: dict[str, Path]) -> None:
    behave(libraries["9.1"], dead=True)
    twins = [candidate for candidate in run(tmp_path).campaign.candidates if candidate.control_of]
    assert [(twin.name, twin.control_of) for twin in twins] == [("mpich-9.2 (again)", "mpich-9.2")]


def test_a_campaign_without_a_working_candidate_is_refused_in_one_line(
    tmp_path: Path, libraries: dict[str, Path]
) -> None:
    for prefix in libraries.values():
        behave(prefix, dead=True)
    with refuses():
        run(tmp_path)


class Interrupting(Progress):
    """A watch that interrupts the campaign after a number of stored launches."""

    remaining = 0

    def on_end(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        super().on_end(launch, results)
        self.remaining -= 1
        if self.remaining == 0:
            raise KeyboardInterrupt


def interrupt(tmp_path: Path, launches: int, behaviour: Path) -> list[Launch]:
    """Interrupt a campaign after some launches, with a library that crashes; return the stored launches."""
    prepared = prepare(tmp_path)
    behave(behaviour, crash=["allreduce.8"])
    watch = Interrupting(prepared.store.campaign)
    watch.remaining = launches
    with pytest.raises(KeyboardInterrupt):
        campaign.run(prepared, continue_measuring, watch)
    behave(behaviour)
    return prepared.store.launches()


@pytest.mark.parametrize("launches", [mark_thorough(1), 2, *map(mark_thorough, (3, 4, 5))])
def test_an_interrupted_campaign_continues_where_it_stopped(
    tmp_path: Path, libraries: dict[str, Path], launches: int
) -> None:
    before = interrupt(tmp_path, launches, libraries["9.2"])
    store = run(tmp_path)
    assert len(before) == launches
    assert store.launches()[:launches] == before
    assert_sound(store, blocks=2)


@pytest.mark.usefixtures("libraries")
def test_a_campaign_cannot_run_twice_at_the_same_time(tmp_path: Path) -> None:
    _running = prepare(tmp_path)
    with pytest.raises(RankbenchError) as error:
        run(tmp_path)
    assert str(error.value) == WORDING


@pytest.mark.usefixtures("libraries")
def test_a_finished_campaign_run_again_launches_nothing(tmp_path: Path) -> None:
    before = run(tmp_path).launches()
    assert run(tmp_path).launches() == before


@pytest.mark.usefixtures("libraries")
def test_blocks_continue_until_the_decision(tmp_path: Path) -> None:
    prepared = prepare(tmp_path, UP_TO_FOUR)
    looks: list[int] = []

    def decide(store: Store) -> Decision:
        looks.append(max(launch.block for launch in store.launches()))
        return Decision(stop=len(looks) == 2, reason="said so")

    decision = campaign.run(prepared, decide, Progress(prepared.store.campaign))
    assert (looks, decision) == ([1, 2], Decision(stop=True, reason="said so"))
    assert_sound(prepared.store, blocks=2)


def leave_open(store: Store, block: int, *open_for: str) -> Decision:
    """Return a decision at a look that leaves the first case open for some candidates."""
    case = store.campaign.cases[0].key
    look = Look(block=block, decided=[], given_up=[], open={case: list(open_for)}, until=3, winners={})
    return Decision(stop=False, reason="", look=look)


PLAN_WITH_LOOKS = PLAN.replace("blocks = 2", "blocks = { min = 1, max = 3 }")


@pytest.mark.usefixtures("libraries")
def test_blocks_after_a_look_measure_open_cases(tmp_path: Path) -> None:
    """Only for candidates for which the case is open; the control's twin runs wherever its original does."""
    prepared = prepare(tmp_path, PLAN_WITH_LOOKS)
    choices = iter(
        [leave_open(prepared.store, 1, "mpich-9.1", "mpich-9.2"), leave_open(prepared.store, 2, "mpich-9.1")]
    )
    campaign.run(prepared, lambda _: next(choices), Progress(prepared.store.campaign))
    case = prepared.store.campaign.cases[0].key
    rows = prepared.store.cases().filter(pl.col("block") > 1).select("block", "candidate", "case").iter_rows()
    names = ["mpich-9.1", "mpich-9.1 (again)", "mpich-9.2"]
    assert sorted(rows) == [*((2, name, case) for name in names), *((3, name, case) for name in names[:2])]
    assert len(prepared.store.launches()) == 3 + 3 + 2
    assert [look.block for look in prepared.store.looks()] == [1, 2]


@pytest.mark.usefixtures("libraries")
@pytest.mark.thorough
def test_a_campaign_interrupted_after_a_look_continues_with_open_cases(tmp_path: Path) -> None:
    prepared = prepare(tmp_path, PLAN_WITH_LOOKS.replace("max = 3", "max = 2"))
    watch = Interrupting(prepared.store.campaign)
    watch.remaining = 4
    with pytest.raises(KeyboardInterrupt):
        campaign.run(prepared, lambda store: leave_open(store, 1, "mpich-9.1", "mpich-9.2"), watch)
    prepared.store.unlock()
    prepared = prepare(tmp_path, PLAN_WITH_LOOKS.replace("max = 3", "max = 2"))
    progress = Progress(prepared.store.campaign)
    campaign.run(prepared, continue_measuring, progress)
    assert progress.look == prepared.store.looks()[0]
    case = prepared.store.campaign.cases[0].key
    rows = prepared.store.cases().filter(block=2).select("candidate", "case").iter_rows()
    assert sorted(rows) == [(name, case) for name in ("mpich-9.1", "mpich-9.1 (again)", "mpich-9.2")]


@pytest.mark.usefixtures("libraries")
def test_another_plan_for_an_existing_campaign_is_refused_in_one_line(tmp_path: Path) -> None:
    run(tmp_path)
    with refuses():
        run(tmp_path, PLAN.replace("samples = 5", "samples = 6"))


@pytest.mark.thorough
@pytest.mark.usefixtures("libraries")
def test_measured_calls_may_become_more_but_not_others(tmp_path: Path) -> None:
    text = re.sub(r"operations = .*\nsizes = .*\n", "", PLAN) + "[calls]\n'allreduce 8' = 3\n"
    assert [case.size_bytes for case in run(tmp_path, text).campaign.cases] == [8]
    assert run(tmp_path, text.replace("= 3", "= 5")).campaign.plan.calls[0].calls == 5
    with refuses():
        run(tmp_path, text.replace("'allreduce 8'", "'allreduce 16'"))


@pytest.mark.thorough
@pytest.mark.usefixtures("libraries")
def test_another_seed_for_an_existing_campaign_is_refused_in_one_line(tmp_path: Path) -> None:
    run(tmp_path).unlock()
    with refuses():
        prepare(tmp_path, seed=8)


ANALYSIS_CHANGES = [
    mark_thorough("blocks = 2", "blocks = 3", ["stop"]),
    ("[stop]", "[calls]\n'allreduce 8' = 3\n[job]\nnodes = 1\n[stop]", ["calls", "job"]),
    mark_thorough("seed = 7", 'seed = 7\nquestion = "Which?"\nthreshold = "5%"', ["question", "threshold"]),
    mark_thorough("seed = 7", 'seed = 7\nconfidence = "99%"\nestimator = "min"', ["estimator", "confidence"]),
    mark_thorough("seed = 7", 'seed = 7\nbaseline = "mpich-9.1"', ["baseline"]),
    ("seed = 7", "seed = 7  # drawn", []),
]


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize(("old", "new", "keys"), ANALYSIS_CHANGES)
def test_a_plan_that_measures_the_same_replaces_the_stored_plan(
    tmp_path: Path, old: str, new: str, keys: list[str]
) -> None:
    run(tmp_path).unlock()
    before = {path: path.read_bytes() for path in (tmp_path / "results").glob("*/*.*")}
    text = PLAN.replace(old, new)
    record = prepare(tmp_path, text).store.campaign
    assert before == {path: path.read_bytes() for path in before}
    assert open_store(tmp_path / "results").campaign == record
    assert (record.plan.text, (tmp_path / "results/plan.toml").read_text()) == (text, text)
    assert [note.endswith(f": {', '.join(keys)}") for note in record.notes] == [True] * bool(keys)
    assert record.notes == WORDING
    assert record.plan.stop.past == ([2] if "stop" in keys else [])


@pytest.mark.usefixtures("libraries")
def test_a_plan_that_measures_otherwise_is_refused_with_the_changed_keys(tmp_path: Path) -> None:
    run(tmp_path).unlock()
    text = PLAN.replace('"8,64"', '"8,32"').replace(', "bcast"', "").replace("blocks = 2", "blocks = 9")
    with refuses():
        prepare(tmp_path, text)


@pytest.mark.usefixtures("libraries")
def test_a_plan_whose_baseline_is_not_a_candidate_is_refused(tmp_path: Path) -> None:
    run(tmp_path).unlock()
    with pytest.raises(RankbenchError, match='baseline: found "mpich-9'):
        prepare(tmp_path, PLAN.replace("seed = 7", 'seed = 7\nbaseline = "mpich-9.7"'))


@pytest.mark.thorough
@pytest.mark.usefixtures("libraries")
def test_an_extended_campaign_measures_the_cases_that_the_last_look_left_out(tmp_path: Path) -> None:
    prepared = prepare(tmp_path, PLAN_WITH_LOOKS)
    campaign.run(
        prepared, lambda store: leave_open(store, 1, "mpich-9.1", "mpich-9.2"), Progress(prepared.store.campaign)
    )
    prepared.store.unlock()
    before = Counter(prepared.store.cases()["block"])
    prepared = prepare(tmp_path, PLAN_WITH_LOOKS, more=2)
    assert prepared.store.campaign.plan.stop.past[-1] == max(before)
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    rows, cases = Counter(prepared.store.cases()["block"]), len(prepared.store.campaign.cases)
    assert before == {block: count for block, count in rows.items() if block <= max(before)}
    assert [rows[block] for block in sorted(rows) if block > max(before)] == [3 * cases] * 2


@pytest.mark.parametrize("program", [mark_thorough("wrapper"), "launcher"])
def test_programs_named_only_by_the_campaign_record_are_not_run(
    tmp_path: Path, libraries: dict[str, Path], program: str
) -> None:
    run(tmp_path)
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/PWNED\n")
    evil.chmod(0o755)
    record = tmp_path / "results/campaign.json"
    name = {"wrapper": "mpicc", "launcher": "mpiexec"}[program]
    record.write_text(record.read_text().replace(f'"{libraries["9.2"]}/bin/{name}"', f'"{evil}"'))
    with refuses():
        run(tmp_path)
    assert not (tmp_path / "PWNED").exists()


@pytest.mark.thorough
@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize("field", ["libraries", "candidates"])
def test_variables_named_only_by_the_campaign_record_are_not_set(tmp_path: Path, field: str) -> None:
    run(tmp_path)
    path = tmp_path / "results/campaign.json"
    record = msgspec.json.decode(path.read_bytes())
    record[field][0]["environment" if field == "libraries" else "settings"] = {"LD_PRELOAD": "evil.so"}
    path.write_bytes(msgspec.json.encode(record))
    with pytest.raises(RankbenchError) as error:
        run(tmp_path)
    assert str(error.value) == WORDING


@pytest.mark.usefixtures("libraries")
def test_leftovers_of_killed_runs_are_removed(tmp_path: Path) -> None:
    (tmp_path / "results/.check-x").mkdir(parents=True)
    run(tmp_path)
    assert not list((tmp_path / "results").glob(".*"))


@pytest.mark.usefixtures("libraries")
def test_a_run_refused_by_the_lock_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    lines: list[str] = []
    with lock(tmp_path / "results"), pytest.raises(RankbenchError, match="another rankbench is running"):
        prepare(tmp_path, show=lines.append)
    assert (lines, [path.name for path in (tmp_path / "results").iterdir()]) == ([], ["lock"])


def test_a_library_changed_since_the_last_run_is_refused_in_one_line(
    tmp_path: Path, libraries: dict[str, Path]
) -> None:
    run(tmp_path)
    wrapper = libraries["9.2"] / "bin/mpicc"
    wrapper.write_text(wrapper.read_text().replace("fake cc 1.0", "fake cc 2.0"))
    with refuses():
        run(tmp_path)


@pytest.mark.usefixtures("libraries")
def test_a_campaign_cannot_continue_on_another_machine(tmp_path: Path) -> None:
    run(tmp_path)
    machine = make_machine()
    for changes in ({"host": "elsewhere"}, {"cpu": "Abacus"}, {"cores": 64}):
        with refuses():
            prepare(tmp_path, here=msgspec.structs.replace(machine, **changes))


def test_a_failed_check_of_a_continued_campaign_is_reported_once(tmp_path: Path, libraries: dict[str, Path]) -> None:
    text = UP_TO_FOUR
    prepared = prepare(tmp_path, text)
    campaign.run(prepared, lambda _: Decision(stop=True, reason="enough"), Progress(prepared.store.campaign))
    del prepared
    behave(libraries["9.2"], dead=True)
    for _ in range(2):
        prepared = prepare(tmp_path, text)
        watch = Progress(prepared.store.campaign)
        campaign.run(prepared, continue_measuring, watch)
        assert watch.failures == WORDING
        store = prepared.store
        del prepared, watch
        refused = [launch for launch in store.launches() if launch.status == LaunchStatus.REFUSED]
        assert [(launch.block, launch.candidate, launch.reason) for launch in refused] == [(2, "mpich-9.2", WORDING)]
        del store
    behave(libraries["9.2"])
    store = run(tmp_path, text)
    assert list_statuses(store, "mpich-9.2", "bcast.blocking.8.") == ["ok", "refused", "ok", "ok"]


@pytest.mark.thorough
def test_a_failed_check_of_a_continued_campaign_is_reported_immediately(
    tmp_path: Path, libraries: dict[str, Path]
) -> None:
    run(tmp_path)
    behave(libraries["9.2"], dead=True)
    lines: list[str] = []
    prepare(tmp_path, show=lines.append)
    assert lines[-1] == WORDING


@pytest.mark.usefixtures("libraries")
def test_a_full_disk_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = prepare(tmp_path)
    enough = os.open

    def raise_full(path: Path, *arguments: int) -> int:
        if Path(path).name.startswith("job.txt"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return enough(path, *arguments)

    monkeypatch.setattr(os, "open", raise_full)
    with refuses():
        campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))


@pytest.mark.usefixtures("libraries")
def test_two_candidates_with_the_same_name_are_refused_in_one_line(tmp_path: Path) -> None:
    with refuses():
        prepare(tmp_path, PLAN.replace('"mpich==9.1", "mpich==9.2"', '"mpich-9.1", "mpich==9.1"'))


def test_stored_samples_are_those_of_the_core(tmp_path: Path, libraries: dict[str, Path]) -> None:
    behave(libraries["9.2"], factor=2.0)
    store = run(tmp_path)
    medians = {
        name: store.samples().collect().filter(candidate=name, operation="bcast", size_bytes=64)["time_ns"].median()
        for name in ("mpich-9.1", "mpich-9.2")
    }
    assert isinstance(medians["mpich-9.1"], float)
    assert medians["mpich-9.2"] == pytest.approx(2 * medians["mpich-9.1"], rel=0.1)


def list_exchanges(state: State | None) -> list[float]:
    return [pair.median_ns for pair in state.exchange] if state else []


def test_the_machine_state_is_stored_with_each_launch(
    tmp_path: Path, libraries: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "RECENT_S", 0)
    behave(libraries["9.2"], exchange_ns=210.0)
    times = {
        launch.candidate: (list_exchanges(launch.before), list_exchanges(launch.after), launch.state_reason)
        for launch in run(tmp_path, ALONE).launches()
    }
    assert times == {
        "mpich-9.1": ([50.0], [50.0], ""),
        "mpich-9.1 (again)": ([50.0], [50.0], ""),
        "mpich-9.2": ([210.0], [210.0], ""),
    }


def test_a_failed_probe_of_the_machine_state_costs_no_launch(
    tmp_path: Path, libraries: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "RECENT_S", 0)
    behave(libraries["9.2"], exchange_ns=0)
    prepared = prepare(tmp_path, ALONE)
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    assert_sound(prepared.store, blocks=2)
    launches = [launch for launch in prepared.store.launches() if launch.candidate == "mpich-9.2"]
    assert {(launch.before, launch.after) for launch in launches} == {(None, None)}
    reasons = {launch.state_reason for launch in launches}
    assert [reason.replace(str(prepared.binaries["mpich-9.2"]), "CORE") for reason in reasons] == WORDING


@pytest.mark.thorough
def test_a_process_that_outlives_its_launch_is_killed(tmp_path: Path, libraries: dict[str, Path]) -> None:
    behave(libraries["9.2"], linger=True)
    store = run(tmp_path, PLAN.replace("blocks = 2", "blocks = 1"))
    assert list_statuses(store, "mpich-9.2", "bcast.blocking.8.") == [CaseStatus.OK]


def test_a_damaged_stream_is_reported_by_file_and_line(tmp_path: Path, libraries: dict[str, Path]) -> None:
    prepared = prepare(tmp_path, ALONE)
    stream = tmp_path / "results/work/stream.jsonl"
    launcher = libraries["9.2"] / "bin/mpiexec"
    launcher.write_text(f"#!/bin/sh\necho '{{{{' > {stream}\n")
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    (first, _) = [launch for launch in prepared.store.launches() if launch.candidate == "mpich-9.2"]
    assert (first.status, first.reason) == (LaunchStatus.CRASHED, WORDING)


PLAN_OF_MEASUREMENT = """
candidates = ["mpich==9.1"]
operations = ["reduce"]
sizes = 8
samples = { good = 5, tried = 20 }
start = ["window", "window-mpiperf"]
every_rank = true
control = false
[memory]
cache = ["warm", "cold"]
root = "rotating"
[stop]
blocks = 1
"""


@pytest.mark.usefixtures("libraries")
def test_keys_of_measurement_reach_core_and_store(tmp_path: Path) -> None:
    store = run(tmp_path, PLAN_OF_MEASUREMENT)
    assert_sound(store, blocks=1)
    job = (store.folder / "work" / "job.txt").read_text().splitlines()
    assert job[1] == "set ranks=all patience=2.25"
    assert sorted(job[2:]) == WORDING
    assert {start.name: start.discards_overruns for start in store.campaign.starts} == {
        "window": False,
        "window-mpiperf": True,
    }
    assert store.cases()["memory"].unique().sort().to_list() == ["cold, rotating root", "rotating root"]
    assert store.samples().collect()["series"].unique().to_list() == [-1]
    views = Counter(store.rank_samples().select("case", "series").collect().iter_rows())
    assert views == {(case.key, rank): 5 for case in store.campaign.cases for rank in (0, 1)}


PLAN_WITH_GROUPS = """
candidates = ["mpich==9.1", "mpich==9.2"]
operations = ["allreduce"]
sizes = "8,64"
samples = 5
case_limit = "100ms"
control = false
together = false
seed = 7
[stop]
blocks = 1
[options]
threads = [1, 2]
quantity = ["time", "memory"]
"""
THREADS = {"name": "threads", "help": "", "usual": "1", "least": 1, "most": 64}
QUANTITY = {"name": "quantity", "help": "", "usual": "time", "values": ["time", "memory"]}
LEVEL = {"name": "thread_level", "help": "", "usual": "single", "values": ["single", "multiple"]}
OPTIONS = {"allreduce": [THREADS, QUANTITY]}
GROUPS = ("", "memory", "threads")


def offer(libraries: dict[str, Path], **behaviour: object) -> None:
    """Let every library offer threads and memory of one operation."""
    for prefix in libraries.values():
        behave(prefix, options=OPTIONS, **behaviour)


def list_turns(store: Store) -> dict[tuple[int, str], list[tuple[str, list[str]]]]:
    """Return the launch groups of each turn and their cases, by block and candidate."""
    cases = {case.key: case for case in store.campaign.cases}
    sequences: dict[tuple[int, str], list[tuple[str, list[str]]]] = {}
    rows = store.cases().sort("launch", maintain_order=True).group_by("launch", maintain_order=True)
    for _, frame in rows:
        keys = frame["case"].to_list()
        (group,) = {cases[key].launch_group for key in keys}
        sequences.setdefault(frame.select("block", "candidate").row(0), []).append((group, keys))
    return sequences


@pytest.mark.thorough
def test_launch_groups_never_share_a_launch(tmp_path: Path, libraries: dict[str, Path]) -> None:
    offer(libraries)
    store = run(tmp_path, PLAN_WITH_GROUPS)
    assert_sound(store, blocks=1)
    assert [group for groups in list_turns(store).values() for group, _ in groups] == [*GROUPS] * 2
    ordered = [case.key for case in store.campaign.cases if case.launch_group == "memory"]
    assert ordered == [f"allreduce.blocking.{size}.float.socket.window.quantity=memory" for size in (8, 64)]
    assert all(dict(groups)["memory"] == ordered for groups in list_turns(store).values())
    first = dict(list_turns(store)[1, "mpich-9.1"])
    assert first["threads"] == [
        case.key for case in plan.draw_case_order(7, 1, store.campaign.cases) if case.launch_group == "threads"
    ]


def test_ranks_with_several_threads_are_not_bound(tmp_path: Path, libraries: dict[str, Path]) -> None:
    offer(libraries)
    bound = [launch.command[3:5] for launch in run(tmp_path, PLAN_WITH_GROUPS).launches()[:3]]
    assert bound == [["-bind-to", "user:0,1"], ["-bind-to", "user:0,1"], ["-bind-to", "none"]]


def test_a_thread_can_have_mpi_for_several_and_is_bound(tmp_path: Path, libraries: dict[str, Path]) -> None:
    for prefix in libraries.values():
        behave(prefix, options={"allreduce": [LEVEL]})
    text = PLAN_WITH_GROUPS.replace('threads = [1, 2]\nquantity = ["time", "memory"]', 'thread_level = "multiple"')
    store = run(tmp_path, text.replace("together = false\n", ""))
    commands = [launch.command for launch in store.launches()]
    assert len(commands) == len(store.alone.launches()) == 2
    assert all("--threads" in command and command[3:5] == ["-bind-to", "user:0,1"] for command in commands)


def test_options_reach_core_and_store(tmp_path: Path, libraries: dict[str, Path]) -> None:
    offer(libraries)
    store = run(tmp_path, PLAN_WITH_GROUPS)
    job = (store.folder / "work" / "job.txt").read_text().splitlines()
    assert job[1] == "set patience=2.25"
    assert sorted(job[2:]) == WORDING
    assert store.cases()["options"].unique().sort().to_list() == ["", "quantity=memory", "threads=2"]


@pytest.mark.thorough
def test_each_launch_group_repeats_its_own_launches_after_a_crash(tmp_path: Path, libraries: dict[str, Path]) -> None:
    sizes = [8, 64, 512, 4096, 8192, 16384]
    offer(libraries)
    text = PLAN_WITH_GROUPS.replace('"8,64"', f"{sizes}")
    prepared = prepare(tmp_path, text)
    behave(libraries["9.2"], options=OPTIONS, crash=[f"allreduce.{size}" for size in sizes])
    campaign.run(prepared, continue_measuring, Progress(prepared.store.campaign))
    assert_sound(prepared.store, blocks=1)
    groups = [group for group, _ in list_turns(prepared.store)[1, "mpich-9.2"]]
    assert groups == [group for group in GROUPS for _ in range(LAUNCHES_A_TURN)]
    ended = Counter(list_statuses(prepared.store, "mpich-9.2", ""))
    assert ended == {"crashed": 3 * LAUNCHES_A_TURN, "not-run": 3 * (len(sizes) - LAUNCHES_A_TURN)}


@pytest.mark.thorough
@pytest.mark.parametrize("launches", [1, 2, 5])
def test_a_campaign_interrupted_between_launch_groups_continues(
    tmp_path: Path, libraries: dict[str, Path], launches: int
) -> None:
    offer(libraries)
    prepared = prepare(tmp_path, PLAN_WITH_GROUPS)
    watch = Interrupting(prepared.store.campaign)
    watch.remaining = launches
    with pytest.raises(KeyboardInterrupt):
        campaign.run(prepared, continue_measuring, watch)
    before = prepared.store.launches()
    del prepared, watch
    store = run(tmp_path, PLAN_WITH_GROUPS)
    assert len(before) == launches
    assert store.launches()[:launches] == before
    assert_sound(store, blocks=1)
    assert [group for groups in list_turns(store).values() for group, _ in groups] == [*GROUPS] * 2


@pytest.mark.thorough
def test_a_candidate_that_fails_its_check_is_refused_in_all_launch_groups_at_once(
    tmp_path: Path, libraries: dict[str, Path]
) -> None:
    offer(libraries)
    behave(libraries["9.2"], options=OPTIONS, dead=True)
    store = run(tmp_path, PLAN_WITH_GROUPS)
    assert [launch.block for launch in store.launches() if launch.candidate == "mpich-9.2"] == [1]
    assert list_statuses(store, "mpich-9.2", "") == ["refused"] * 6
