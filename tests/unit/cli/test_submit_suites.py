"""Foreign programs in job scripts, on stand-in libraries and a stand-in scheduler: launches, output, failures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fakes import bench, sites
from fakes.sites import PREFIXES, Site, list_rows
from wording import WORDING

from rankbench import store

PLAN = """
candidates = ["mpich==9.1", "mpich==9.2"]
operations = ["allreduce", "osu-latency"]
sizes = "8:64:x2"
samples = 20
placements = ["1x2"]
control = false
[suites.osu]
path = "bench"
arguments = ["-x", "5"]
[stop]
blocks = 3
"""
REFUSAL = "This test requires exactly two processes"
OTHER, ONE = "osu-latency.blocking.{}.byte.1x2.none", "mpich-9.2"


def make_site(place: Path, plan: str = PLAN, *, lacking: bool = False, **settings: object) -> Site:
    """Make a site with an OSU benchmark, which takes 1.25 µs with the first library, and with the second as stated."""
    here = sites.make_site(place, "slurm", plan)
    bench.link(place / "9.1", time="1.25")
    if not lacking:
        bench.link(place / "9.2", **({"time": "2.50"} | settings))
    bench.make_program(place / "bench", place / "9.1")
    return Site(here.place, here.kind, here.environment | {"LD_LIBRARY_PATH": ""})


def list_latencies(here: Site, candidate: str = ONE) -> list[tuple[int, int, str]]:
    """Return block, size and status of a candidate's latencies."""
    frame = here.open_results().cases().filter(candidate=candidate, operation="osu-latency")
    return sorted(frame.select("block", "size_bytes", "status").rows())


@pytest.mark.parametrize("lacking", [False, True])
@pytest.mark.thorough
def test_a_job_gives_the_rows_of_a_local_run(tmp_path: Path, *, lacking: bool) -> None:
    """With programs for both libraries, and where one library has no program that it can load."""
    here = make_site(tmp_path, lacking=lacking)
    process = here.submit("--wait")
    assert process.exit_code == int(lacking), process.printed
    assert here.run("run", "plan.toml", *PREFIXES, "--results", "local").exit_code == int(lacking)
    local = store.open(tmp_path / "local/plan")
    assert list_rows(here.open_results()) == list_rows(local)
    assert len(here.open_results().launches()) == len(local.launches()) == (10 if lacking else 12)
    assert list_latencies(here) == (
        [(1, size, "refused") for size in (8, 16, 32, 64)]
        if lacking
        else [(block, size, "ok") for block in (1, 2, 3) for size in (8, 16, 32, 64)]
    )


@pytest.mark.thorough
def test_a_program_runs_with_its_candidate_s_library_and_its_values_are_read(tmp_path: Path) -> None:
    here = make_site(tmp_path)
    assert here.submit("--wait").exit_code == 0
    samples = here.open_results().samples().collect()
    theirs = samples.filter(samples["case"].str.starts_with("osu-latency")).select("candidate", "time_ns").unique()
    assert sorted(theirs.rows()) == [("mpich-9.1", 1250.0), ("mpich-9.2", 2500.0)]
    launches = [launch for launch in here.open_results().launches() if launch.facts is None]
    assert len(launches) == 6
    cores = {launch.candidate: launch.command for launch in here.open_results().launches() if launch.facts}
    texts = [f"{tmp_path}/bench/osu_latency", "-i", "20", "-m", "8:64", "-x", "5"]
    for launch in launches:
        path = tmp_path / launch.candidate.removeprefix("mpich-")
        assert launch.command == [*cores[launch.candidate][:-1], *texts]
        assert launch.environment.get("LD_LIBRARY_PATH") == (f"{path}/lib" if path.name == "9.2" else "")
        assert launch.log.startswith("# OSU MPI Latency Test")
        assert launch.before


@pytest.mark.thorough
def test_a_program_for_two_processes_runs_on_the_first_two_nodes_in_job_and_local_run(tmp_path: Path) -> None:
    """Its refusal of other numbers, as in the message of OSU 5.7, is no crash and has a row in each block."""
    plan = PLAN.replace('["1x2"]', '["3x1"]').replace("blocks = 3", "blocks = 1")
    here = make_site(tmp_path, plan, refuse=REFUSAL)
    assert here.submit("--wait").exit_code == 0
    results = here.open_results()
    assert {(case.operation, case.ranks) for case in results.campaign.cases} == {("allreduce", 3), ("osu-latency", 2)}
    lines = {
        operation: next(launch.command for launch in results.launches() if operation in " ".join(launch.command))
        for operation in ("osu_latency", "core")
    }
    ranks = {name: command[command.index("-n") + 1] for name, command in lines.items()}
    assert ranks == {"osu_latency": "2", "core": "3"}
    assert [status for _, _, status in list_latencies(here)] == ["refused"] * 4
    assert set(results.cases().filter(status="refused")["reason"]) == {REFUSAL}
    assert {launch.status for launch in results.launches()} == {"ok"}


@pytest.mark.thorough
def test_a_program_that_crashes_is_launched_once_in_each_block(tmp_path: Path) -> None:
    """The sizes printed before the crash count; it cannot skip the size at which it crashes."""
    here = make_site(tmp_path, crash=32)
    assert here.submit("--wait").exit_code == 1
    assert list_latencies(here) == [
        (block, *row)
        for block in (1, 2, 3)
        for row in ((8, "ok"), (16, "ok"), (32, "crashed"), (64, "not-run"))
    ]  # fmt: skip
    (reason,) = {row[4] for row in list_rows(here.open_results()) if row[1:4] == (ONE, OTHER.format(64), "not-run")}
    assert reason == WORDING


@pytest.mark.thorough
def test_an_exit_code_that_the_core_uses_for_a_full_disk_is_the_program_s_own(tmp_path: Path) -> None:
    here = make_site(tmp_path, PLAN.replace("blocks = 3", "blocks = 1"), code=4)
    assert here.submit("--wait").exit_code == 0
    assert here.run("run", "plan.toml", *PREFIXES, "--results", "local").exit_code == 0
    for results in (here.open_results(), store.open(tmp_path / "local/plan")):
        failures = [
            (launch.status, launch.reason)
            for launch in results.launches()
            if (launch.candidate, launch.facts) == (ONE, None)
        ]
        assert failures == [("crashed", "exit code 4")]
        assert set(results.cases()["status"]) == {"ok"}


@pytest.mark.thorough
def test_a_program_that_hung_in_two_blocks_is_not_launched_again(tmp_path: Path) -> None:
    limits = 'samples = 20\ncase_limit = "10ms"\nlaunch_limit = "11s"'
    here = make_site(tmp_path, PLAN.replace("samples = 20", limits), hang=16)
    assert here.submit("--write-only").exit_code == 0
    script = here.campaign / "job/job.sh"
    script.write_text(script.read_text().replace("silence_s=11", "silence_s=2"))
    assert here.submit("--wait").exit_code == 1
    assert list_latencies(here) == [
        (block, *row)
        for block in (1, 2)
        for row in ((8, "ok"), (16, "hung"), (32, "not-run"), (64, "not-run"))
    ]  # fmt: skip
    assert {row[3] for row in list_rows(here.open_results()) if "allreduce" in str(row[2])} == {"ok"}


@pytest.mark.thorough
def test_the_next_job_measures_cases_lost_with_a_node(tmp_path: Path) -> None:
    """The program begins again with its first size, and sizes measured before are not stored twice."""
    here = make_site(tmp_path, PLAN.replace('["1x2"]', '["2x1"]').replace("blocks = 3", "blocks = 1"), crash=32)
    (tmp_path / "scheduler/lost").write_text("a2")
    assert here.submit("--wait").exit_code == 1
    (tmp_path / "scheduler/lost").unlink()
    bench.behave(tmp_path / "9.2", time="3.00")
    assert here.submit("--wait").exit_code == 0
    assert list_latencies(here) == [(1, 8, "ok"), (1, 16, "ok"), (1, 32, "crashed"), (1, 64, "ok")]
    died, again = [
        launch for launch in here.open_results().launches() if (launch.candidate, launch.facts) == (ONE, None)
    ]
    assert (died.status, died.reason) == ("crashed", WORDING)
    assert again.status == "ok"
    times = here.open_results().samples().filter(candidate=ONE).collect()
    theirs = times.filter(times["case"].str.starts_with("osu-latency"))
    assert sorted(theirs["time_ns"]) == [2500.0, 2500.0, 3000.0]


@pytest.mark.thorough
def test_files_that_a_program_reads_are_written_by_the_script(tmp_path: Path) -> None:
    here = make_site(tmp_path, PLAN.replace("osu-latency", "imb-mpi1-pingpong").replace("osu", "imb"))
    bench.make_program(tmp_path / "bench", tmp_path / "9.1", "IMB-MPI1")
    printed = here.run("submit", "plan.toml", "--print", "--scheduler", "slurm", *PREFIXES)
    assert printed.exit_code == 0, printed.printed
    (function,) = re.findall(r"(?m)^mpich_9_1_on_1x2_imb\w+\(\) \{\n(?:.*\n)+?\}$", printed.printed)
    assert '() {\n    cat >"$out/sizes.txt" <<END\n8\n16\n32\n64\nEND\n' in function
    assert " ".join(function.replace("\\\n", "").split()).rpartition(f" {tmp_path}/bench/")[2] == WORDING
    assert "checked[mpich_9_1_on_1x2_imb_mpi1_pingpong_blocking]=mpich_9_1_on_1x2  #" in printed.printed


@pytest.mark.thorough
def test_a_plan_of_a_foreign_tool_alone_is_checked_by_the_core(tmp_path: Path) -> None:
    here = make_site(tmp_path, PLAN.replace('"allreduce", ', ""))
    (tmp_path / "9.2/worlds").touch()
    process = here.submit("--wait")
    assert process.exit_code == 1, process.printed
    assert {(status, block) for block, _, status in list_latencies(here)} == {("refused", 1)}
    (wrong,) = [launch for launch in here.open_results().launches() if launch.status != "ok"]
    assert wrong.reason == WORDING
    assert len(list_latencies(here, "mpich-9.1")) == 12
