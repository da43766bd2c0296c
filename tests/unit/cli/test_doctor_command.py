"""The command `doctor` over stand-in libraries: its report on each candidate and placement, and on the machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import fakes
import pytest
import typer
from fakes import library as fake
from wording import WORDING, find_lines, refuses

from rankbench import launch, libraries
from rankbench.cli.commands import doctor as command
from rankbench.cli.commands.doctor import doctor
from rankbench.cli.display import console
from rankbench.launch.machine_checks import Hindrance

QUIET = "nothing on this machine disturbs measurements"
FULL_DISK = ('*" -c "*) exit 0', '*" -c "*) echo "no room" >&2; exit 1')
"""What a stand-in compiler does, and does without space."""
PLAN = """
candidates = ["mpich==9.1", "mpich==9.2"]
operations = ["bcast"]
placements = ["1x2", "1x4"]
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a plan and two libraries, the only ones in reach, on a machine without hindrances."""

    def make_search(home: Path, prefixes: Sequence[Path] = (), _modules: Sequence[str] = ()) -> libraries.Search:
        return libraries.Search(home=home, prefixes=tuple(prefixes), system=())

    monkeypatch.setenv("RANKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(libraries, "make_search", make_search)
    monkeypatch.setattr(launch, "machine", lambda: fakes.make_machine(cores=4))
    monkeypatch.setattr(command, "check_machine", list)
    monkeypatch.setattr(console, "width", 200)
    (tmp_path / "plan.toml").write_text(PLAN)
    for version in ("9.1", "9.2"):
        fake.make(tmp_path / version, version)
    return tmp_path


def read_words(capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """Return the printed lines, divided into words where columns are."""
    lines = capsys.readouterr().out.splitlines()
    return [[word.strip() for word in line.split("  ") if word.strip()] for line in lines if line.strip(" ─")]


def read_table(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the printed lines without trailing blanks."""
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def list_prefixes(place: Path) -> list[Path]:
    return [place / "9.1", place / "9.2"]


def test_without_a_plan_the_stated_launcher_starts_the_ranks(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        doctor(["mpich==9.1"], prefix=list_prefixes(place), launcher="no-such-launcher -n {ranks} {program}")
    assert read_table(capsys) == WORDING


def test_without_a_plan_every_library_is_checked_on_two_cores_and_on_all(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    doctor(prefix=list_prefixes(place))
    assert read_words(capsys) == [
        ["candidate", "placement", "ranks", "found"],
        ["mpich-9.1", "1x2", "2", "works"],
        ["mpich-9.1", "1x4", "4", "works"],
        ["mpich-9.2", "1x2", "2", "works"],
        ["mpich-9.2", "1x4", "4", "works"],
        [QUIET],
    ]


def test_a_library_that_fails_is_reported_in_its_row_and_in_the_exit_code(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.behave(place / "9.2", dead=True)
    with pytest.raises(typer.Exit) as ended:
        doctor(["mpich==9.2", "mpich-9.1"], prefix=list_prefixes(place))
    assert ended.value.exit_code == 1
    assert read_table(capsys) == WORDING


def test_candidates_of_a_plan_are_checked_with_its_placements(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    doctor([str(place / "plan.toml"), "mpich-9.2"], prefix=list_prefixes(place))
    assert read_words(capsys) == [
        ["candidate", "placement", "ranks", "found"],
        ["mpich-9.2", "1x2", "2", "works"],
        ["mpich-9.2", "1x4", "4", "works"],
        [QUIET],
    ]


def test_hindrances_follow_the_table_and_are_no_failure(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "check_machine", lambda: [Hindrance("turbo is on", "cores differ", "switch it off")])
    fake.behave(place / "9.1", cpus=["0-1"] * 4)
    (place / "crowd.toml").write_text(PLAN.replace('"1x2", ', ""))
    doctor([str(place / "crowd.toml"), "mpich-9.1"], prefix=list_prefixes(place), binding="none")
    assert read_table(capsys) == WORDING


def test_hosts_without_an_address_are_reported(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        doctor(["mpich-9.1"], prefix=list_prefixes(place), hosts="a.invalid,b.invalid")
    assert find_lines(read_table(capsys), "nodes") == WORDING


def test_a_core_that_cannot_be_built_is_a_row(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrapper = place / "9.1/bin/mpicc"
    wrapper.write_text(wrapper.read_text().replace(*FULL_DISK))
    with pytest.raises(typer.Exit):
        doctor(prefix=list_prefixes(place))
    rows = read_words(capsys)
    (log,) = (place / "home/builds").glob("*.log")
    assert [row.replace(str(log), "LOG") for row in rows[1]] == WORDING
    assert rows[2] == ["mpich-9.2", "1x2", "2", "works"]


@pytest.mark.parametrize("words", [["plan.toml", "openmpi"], ["plan.toml", "other.toml"], ["mpich==9.3"]], ids=" ".join)
def test_unknown_arguments_are_refused_in_one_line(
    words: list[str], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    with refuses():
        doctor(words, prefix=list_prefixes(place))


def test_variables_of_a_job_elsewhere_are_refused_before_a_launch(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SLURM_JOB_ID", "4242"), ("SLURM_JOB_NODELIST", "n[1-2].invalid")):
        monkeypatch.setenv(name, value)
    for version in ("9.1", "9.2"):
        (place / version / "bin/mpiexec").unlink()
    with refuses():
        doctor(prefix=list_prefixes(place))
