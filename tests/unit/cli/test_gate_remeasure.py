"""`gate --remeasure` measures the libraries of two campaigns again, side by side; stand-ins have planted speeds."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import msgspec
import pytest
from fakes.library import behave, make
from fakes.nights import rewrite
from typer.testing import CliRunner
from wording import WORDING, find_lines, refuses

from rankbench import cli, store
from rankbench.campaign import pinning, remeasuring
from rankbench.model import RankbenchError

PLAN = """
candidates = ["mpich==9.1"]
operations = ["allreduce", "bcast"]
sizes = "8,64"
samples = 20
control = false
[stop]
blocks = 4
until = "blocks"
"""


@pytest.fixture(scope="module")
def campaign_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two builds of one version, and a campaign of each in `kept`, which no test changes."""
    folder = tmp_path_factory.mktemp("builds")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("RANKBENCH_HOME", str(folder / "home"))
        patch.setattr(pinning, "CPU_FOLDER", folder / "no-cpus")  # As in each test.
        (folder / "plan.toml").write_text(PLAN)
        for name in ("old", "new"):
            make(folder / name, "9.1")
            assert run_command("run", "plan.toml", "--name", name, "--prefix", name, "--results", "kept")[0] == 0
    return folder


@pytest.fixture
def place(campaign_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder with two builds and a campaign of each, as before any test."""
    monkeypatch.chdir(campaign_folder)
    monkeypatch.setenv("RANKBENCH_HOME", str(campaign_folder / "home"))
    (campaign_folder / "plan.toml").write_text(PLAN)
    shutil.rmtree(campaign_folder / "results", ignore_errors=True)
    shutil.copytree(campaign_folder / "kept", campaign_folder / "results")
    for name in ("old", "new"):
        behave(campaign_folder / name)
    return campaign_folder


def run_command(*words: str) -> tuple[int, str]:
    """Return the exit code of a command and what it printed. Errors of the user are raised."""
    answer = CliRunner().invoke(cli.application(), words, env={"COLUMNS": "1000"})
    if isinstance(answer.exception, RankbenchError):
        raise answer.exception
    return answer.exit_code, answer.stdout


def gate(*words: str) -> tuple[int, str]:
    return run_command("gate", "results/new", "--against", "results/old", *words)


REMEASURE = ("--remeasure", "--prefix", "old", "--prefix", "new")


@pytest.mark.thorough
def test_a_slow_day_fails_only_until_both_libraries_are_measured_again(place: Path) -> None:
    """The newer campaign was measured on a day that is slower by half; its library is not slower."""
    behave(place / "new", factor=1.5)
    assert run_command("run", "plan.toml", "--name", "new", "--new", "--prefix", "new")[0] == 0
    behave(place / "new")
    code, text = run_command("gate", "results/new-2", "--against", "results/old")
    assert code == 1
    expected = ["rankbench", "gate", "results/new-2", "--against", "results/old"]
    prefixes = ["--prefix", str(place / "old"), "--prefix", str(place / "new")]
    command = text.splitlines()[-1].partition("exclude day-to-day variation: ")[2]
    assert shlex.split(command) == [*expected, *prefixes, "--remeasure"]
    code, text = run_command(*shlex.split(command)[1:], "--blocks", "6", "--threshold", "20%")
    assert code == 0
    assert text.splitlines()[-1] == WORDING


def test_a_slower_library_fails_side_by_side(place: Path) -> None:
    behave(place / "new", factor=1.5)
    code, text = gate(*REMEASURE)
    assert code == 1
    assert text.count("FAILED") == 4
    (slower,) = find_lines(text, "FAILED allreduce 8 B,")
    assert re.search(r"\(new\): takes 1\.[45]\d× \(", slower)
    assert "the time of mpich-9.1 (old)" in slower
    campaign = store.open(place / "results/new-against-old").campaign
    assert [candidate.name for candidate in campaign.candidates] == ["mpich-9.1 (old)", "mpich-9.1 (new)"]
    used = {library.name: library.prefix for library in campaign.libraries}
    assert [used[candidate.library] for candidate in campaign.candidates] == [str(place / "old"), str(place / "new")]


@pytest.mark.thorough
def test_the_same_command_continues_and_measures_nothing_twice(place: Path) -> None:
    gate(*REMEASURE, "--blocks", "2")
    folder = place / "results/new-against-old"
    assert len(store.open(folder).launches()) == 4
    gate(*REMEASURE)
    assert len(store.open(folder).launches()) == 8
    gate(*REMEASURE)
    assert len(store.open(folder).launches()) == 8


@pytest.mark.thorough
def test_the_remeasured_campaign_has_the_control_of_the_plan(place: Path) -> None:
    (place / "plan.toml").write_text(PLAN.replace("control = false", ""))
    run_command("run", "plan.toml", "--name", "new", "--new", "--prefix", "new")
    _, text = run_command("gate", "results/new-2", "--against", "results/old", *REMEASURE)
    assert find_lines(text, "Noise check") == WORDING


def test_another_build_at_the_old_prefix_is_refused(place: Path) -> None:
    folder = place / "results/old"
    record = store.open(folder).campaign
    rewrite(
        folder, msgspec.structs.replace(record, libraries=[msgspec.structs.replace(record.libraries[0], version="9.0")])
    )
    with refuses():
        gate(*REMEASURE)


def test_a_missing_library_is_refused(place: Path) -> None:
    with pytest.raises(RankbenchError) as error:
        gate("--remeasure", "--prefix", "new")
    assert str(error.value).replace(str(place), "PLACE") == WORDING


@pytest.mark.thorough
def test_campaigns_of_one_build_need_no_remeasurement(place: Path) -> None:
    run_command("run", "plan.toml", "--name", "old", "--new", "--prefix", "old")
    behave(place / "old", factor=1.5)
    run_command("run", "plan.toml", "--name", "old", "--new", "--prefix", "old")
    code, text = run_command("gate", "results/old-3", "--against", "results/old-2")
    assert code == 1
    assert "--remeasure" not in text
    assert find_lines(text, "both campaigns record") == WORDING
    with refuses():
        run_command("gate", "results/old-3", "--against", "results/old-2", "--remeasure", "--prefix", "old")


@pytest.mark.parametrize(
    "words", ["--history x --remeasure", "--against x --time 60s", "--against x --remeasure --time soon"]
)
def test_wrong_arguments_are_refused(words: str) -> None:
    with refuses():
        run_command("gate", "new", *words.split())


def test_time_and_blocks_limit_the_remeasurement() -> None:
    assert remeasuring.make_stop("", 0) is None
    of_time, of_both, of_blocks = (remeasuring.make_stop(*limits) for limits in (("60s", 0), ("60s", 2), ("", 7)))
    assert of_time
    assert of_both
    assert of_blocks
    assert (of_time.until, of_time.blocks_min) == ("time 60s", remeasuring.FEWEST)
    assert (of_both.until, of_both.blocks_min, of_both.blocks_max) == ("time 60s", 2, 2)
    assert (of_blocks.until, of_blocks.blocks_min, of_blocks.blocks_max) == ("blocks", 7, 7)
