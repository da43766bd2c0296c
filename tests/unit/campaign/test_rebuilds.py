"""A library that is rebuilt or configured anew is noticed before its launches are mixed with earlier ones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from fakes import mark_thorough, sites
from fakes.library import make
from wording import WORDING

from rankbench import cli, store
from rankbench.libraries import content
from rankbench.model import LaunchStatus

PLAN = """
operations = ["allreduce"]
sizes = 8
samples = 5
case_limit = "100ms"
control = false
{more}
[[candidate]]
name = "base"
library = "prefix:base"
[[candidate]]
name = "dev"
library = "prefix:dev"
[stop]
blocks = 2
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two builds and a plan."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RANKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    for name in ("base", "dev"):
        make(tmp_path / name, "9.1")
        (tmp_path / name / "lib/libmpi.so.12").write_text("build 1")
    (tmp_path / "plan.toml").write_text(PLAN.format(more=""))
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run the plan; return the line on standard error, empty if it succeeds."""
    monkeypatch.setattr("sys.argv", ["rankbench", "run", "plan.toml", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    line = capsys.readouterr().err.strip()
    assert ended.value.code == (2 if line else 0), line
    return line


def rebuild(place: Path, name: str = "dev", text: str = "build 2") -> None:
    """Install another build in the place of one, as `make install` does."""
    path = place / name / "lib/libmpi.so.12"
    path.unlink()
    path.write_text(text)


def configure(place: Path, name: str = "dev") -> None:
    (place / name / "etc").mkdir()
    (place / name / "etc/mpich.conf").write_text("x\n")


def test_a_campaign_does_not_continue_over_a_rebuild(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, capsys) == ""
    rebuild(place)
    line = run(monkeypatch, capsys, "--more", "2")
    assert line == WORDING
    configure(place)
    line = run(monkeypatch, capsys, "--more", "2")
    assert line == WORDING
    assert len(store.open(place / "results/plan").launches()) == 4
    assert store.open(place / "results/plan").campaign.plan.stop.blocks_max == 2
    shutil.rmtree(place / "dev/etc")
    rebuild(place, text="build 1")  # Installed again, with other times and inodes.
    assert run(monkeypatch, capsys, "--more", "2") == ""
    assert len(store.open(place / "results/plan").launches()) == 8


@pytest.mark.thorough
def test_a_change_of_the_user_s_configuration_concerns_all_candidates(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, capsys) == ""
    (place / "me").mkdir()
    (place / "me/.mpiexec.hydra.conf").write_text("x\n")
    line = run(monkeypatch, capsys, "--more", "1")
    assert line == WORDING


@pytest.mark.thorough
@pytest.mark.parametrize("together", [True, mark_thorough(False)])
def test_a_rebuild_while_a_campaign_runs_stops_it_before_anything_is_mixed(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], together: bool
) -> None:
    (place / "plan.toml").write_text(PLAN.format(more=f"together = {str(together).lower()}"))
    append = store.Store.append

    def append_and_rebuild(self: store.Store, launch: object, results: object) -> None:
        append(self, launch, results)  # type: ignore[arg-type]
        if len(self.launches()) == 2:
            rebuild(place)

    monkeypatch.setattr(store.Store, "append", append_and_rebuild)
    line = run(monkeypatch, capsys)
    assert line == WORDING
    stored = store.open(place / "results/plan").launches()
    assert [launch.block for launch in stored if launch.candidate == "dev"] == [1]
    monkeypatch.setattr(store.Store, "append", append)
    assert "dev was rebuilt since block 1" in run(monkeypatch, capsys)
    rebuild(place, text="build 1")
    assert run(monkeypatch, capsys) == ""
    assert {(launch.candidate, launch.block) for launch in store.open(place / "results/plan").launches()} == {
        (name, block) for name in ("base", "dev") for block in (1, 2)
    }


@pytest.mark.thorough
def test_launches_without_files_continue(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of campaigns from before files were stored."""
    assert run(monkeypatch, capsys) == ""
    for path in (place / "results/plan/launches").glob("*.json"):
        record = json.loads(path.read_text("utf-8"))
        del record["files"]
        path.write_text(json.dumps(record), "utf-8")
    rebuild(place)
    assert run(monkeypatch, capsys, "--more", "1") == ""
    rebuild(place, text="build 3")
    assert "dev was rebuilt since block 3" in run(monkeypatch, capsys, "--more", "1")


def test_the_hash_of_a_file_is_computed_once(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, capsys) == ""
    text = (place / "results/plan/work/files-1.txt").read_text("utf-8")
    facts = (place / "dev/lib/libmpi.so.12").stat()
    (launch,) = [
        launch
        for launch in store.open(place / "results/plan").launches()
        if launch.candidate == "dev" and launch.block == 2
    ]
    (file,) = launch.files
    assert (file.path, file.bytes, file.modified_ns, file.inode) == (
        str(place / "dev/lib/libmpi.so.12"),
        7,
        facts.st_mtime_ns,
        facts.st_ino,
    )
    assert f"known {file.sha256} 7 {facts.st_mtime_ns} {facts.st_ino} {file.path}" in text.splitlines()


def print_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[list[str], str]:
    """Run a command; return the lines that it printed, and its error line."""
    monkeypatch.setattr("sys.argv", ["rankbench", *words])
    with pytest.raises(SystemExit):
        cli.main()
    printed = capsys.readouterr()
    return printed.out.splitlines(), printed.err.strip()


@pytest.mark.thorough
def test_two_campaigns_of_a_rebuilt_library_are_compared_as_two_builds(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, capsys) == ""
    assert run(monkeypatch, capsys, "--new") == ""
    same = "both campaigns record the same libraries and settings; a difference comes from the machine or the day"
    lines, _ = print_lines(monkeypatch, capsys, "gate", "results/plan-2", "--against", "results/plan")
    assert same in lines
    rebuild(place)
    assert run(monkeypatch, capsys, "--new") == ""
    hashes = [
        content.describe_build(
            content.collect(store.open(place / "results" / name).launches(), "dev"), str(place / "dev")
        )
        for name in ("plan", "plan-3")
    ]
    difference = f"build (libmpi.so.12) {hashes[0]} then, {hashes[1]} now"
    lines, _ = print_lines(monkeypatch, capsys, "compare", "results/plan", "results/plan-3")
    assert any(f"dev differs from dev: {difference}." in line for line in lines)
    assert not any("base differs" in line for line in lines)
    lines, _ = print_lines(monkeypatch, capsys, "gate", "results/plan-3", "--against", "results/plan")
    assert any(difference in line for line in lines)
    assert not any(same in line for line in lines)
    _, error = print_lines(monkeypatch, capsys, "gate", "results/plan-3", "--against", "results/plan", "--remeasure")
    assert error == (
        "rankbench: results/plan-3: nothing to measure again: the older build was replaced "
        f"(dev: {difference}); install builds into prefixes of their own"
    )
    lines, _ = print_lines(monkeypatch, capsys, "show", "results/plan-3", "-v")
    assert any(line.startswith("dev ") and hashes[1] in line for line in lines)


JOB_PLAN = """
candidates = ["mpich==9.1", "mpich==9.2"]
operations = ["allreduce"]
sizes = 8
samples = 5
placements = ["2x1"]
control = false
together = false
[stop]
blocks = {blocks}
"""


@pytest.mark.thorough
def test_launches_of_a_job_after_a_rebuild_are_rows_without_values(tmp_path: Path) -> None:
    here = sites.make_site(tmp_path, "slurm", JOB_PLAN.format(blocks=1))
    for name in ("9.1", "9.2"):
        (tmp_path / name / "lib/libmpi.so.12").write_text("build 1")
    assert here.submit("--wait").exit_code == 0
    rebuild(tmp_path, "9.2")
    (tmp_path / "plan.toml").write_text(JOB_PLAN.format(blocks=2))
    assert here.submit("--wait").exit_code == 1
    reason = "mpich-9.2 was rebuilt since block 1 (libmpi.so.12)"
    results = here.open_results()
    assert [(launch.block, launch.reason) for launch in results.launches() if launch.status != LaunchStatus.OK] == [
        (2, reason)
    ]
    case = "allreduce.blocking.8.float.2x1.window"
    assert sites.list_rows(results) == [
        (1, "mpich-9.1", case, "ok", ""),
        (1, "mpich-9.2", case, "ok", ""),
        (2, "mpich-9.1", case, "ok", ""),
        (2, "mpich-9.2", case, "refused", reason),
    ]
    assert results.samples().filter(candidate="mpich-9.2", block=2).collect().is_empty()
