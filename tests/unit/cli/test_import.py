"""The command `import`: its report, the files that it takes, and its refusals in one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes import imports, tool_outputs
from wording import WORDING, find_lines

from rankbench import cli, store
from rankbench.cli.display import console
from rankbench.model import Campaign
from rankbench.report.meanings import page

if TYPE_CHECKING:
    Command = Callable[..., list[str]]
    Refused = Callable[..., str]

STUDY = tool_outputs.SAMPLES / "study"
LATENCY = imports.format_latencies((0, 1.5), (8, 2.5))


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "width", 1000)
    return tmp_path


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that imports: the lines that are printed."""

    def run_import(*arguments: object) -> list[str]:
        monkeypatch.setattr("sys.argv", ["rankbench", "import", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        assert (ended.value.code or 0, err) == (0, "")
        return out.splitlines()

    return run_import


@pytest.fixture
def refuse_import(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: Path) -> Refused:
    """Return a function whose import is refused: the one line on standard error. Nothing may be written."""

    def read_refusal(*arguments: object) -> str:
        monkeypatch.setattr("sys.argv", ["rankbench", "import", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        assert (ended.value.code, out, err.count("\n")) == (2, "", 1)
        assert not (place / "results" / "imported").exists()
        return err.rstrip("\n")

    return read_refusal


def drop_table(lines: list[str]) -> list[str]:
    """Return the lines of an import without its table."""
    begin = next(place for place, line in enumerate(lines) if line.startswith("label "))
    end = next(place for place, line in enumerate(lines) if re.match(r"\d+ files?: ", line))
    return lines[:begin] + lines[end:]


def write_file(name: str, text: str, folder: Path) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return name


def list_candidates(folder: str = "results/imported") -> list[str]:
    return [candidate.name for candidate in open_campaign(folder).candidates]


def open_campaign(folder: str) -> Campaign:
    return store.open(Path(folder)).campaign


def test_a_file_of_the_study_is_imported(command: Command) -> None:
    lines = drop_table(command("--labels", "MPICH,OpenMPI,IntelMPI", STUDY / "barrier.out"))
    assert lines == WORDING
    assert list_candidates() == ["MPICH", "OpenMPI", "IntelMPI"]


def test_the_contents_of_each_file_are_reported(command: Command) -> None:
    lines = drop_table(
        command(STUDY / "ibcast.out", STUDY / "cas_latency.out", "--name", "study", "--results", "elsewhere")
    )
    assert lines == WORDING
    assert list_candidates("elsewhere/study") == ["MPICH", "OpenMPI", "IntelMPI"]


def test_strict_errors_leaves_out_files_with_error_logs(command: Command) -> None:
    lines = drop_table(command(STUDY / "barrier.out", STUDY / "cas_latency.out", "--strict-errors"))
    assert lines[1:] == WORDING


def test_plain_files_can_have_a_label(command: Command, place: Path) -> None:
    first, second = write_file("a.txt", LATENCY, place), write_file("b.txt", LATENCY, place)
    assert command(f"MPICH={first}", f"Open MPI={second}") == WORDING
    assert list_candidates() == ["MPICH", "Open MPI"]


def test_a_folder_stands_for_its_files_except_logs_of_errors(command: Command, place: Path) -> None:
    for name in ("mpich/1/a.txt", "mpich/2/a.txt", "openmpi/a.txt"):
        write_file(name, LATENCY, place)
    write_file("mpich/1/a.err", "", place)
    assert drop_table(command("A=mpich", "openmpi"))[2:] == WORDING
    assert list_candidates() == ["A", "openmpi"]


def test_a_file_name_with_an_equals_sign_is_not_a_label(command: Command, place: Path) -> None:
    write_file("runs/n=2.txt", LATENCY, place)
    command("runs/n=2.txt")
    assert list_candidates() == ["runs"]


def test_the_number_of_ranks_can_be_set(command: Command, place: Path) -> None:
    command(write_file("a.txt", imports.format_osu(imports.BARRIER) + "  0.85\n", place), "--ranks", "8")
    assert [case.ranks for case in open_campaign("results/imported").cases] == [8]


def test_missing_and_repeated_labels_are_refused(refuse_import: Refused) -> None:
    for text in ("A,,B", "A,B,A", ","):
        assert refuse_import("--labels", text, STUDY / "barrier.out") == WORDING


def test_a_wrong_number_of_labels_is_refused(refuse_import: Refused) -> None:
    assert refuse_import("--labels", "A,B", STUDY / "barrier.out") == WORDING


def test_a_missing_file_is_refused(refuse_import: Refused) -> None:
    assert refuse_import("MPICH=a.txt") == WORDING


def test_an_empty_folder_is_refused(refuse_import: Refused, place: Path) -> None:
    (place / "empty").mkdir()
    write_file("empty/a.err", "", place)
    assert refuse_import("empty") == WORDING


def test_text_of_no_benchmark_is_refused(refuse_import: Refused, place: Path) -> None:
    assert refuse_import(write_file("a.txt", "hello\n", place)) == WORDING


def test_lines_left_out_are_counted_and_listed_with_verbose(command: Command, place: Path) -> None:
    write_file("good/a.txt", LATENCY, place)
    write_file("good/b.txt", LATENCY.replace("2.50", "-2.50"), place)
    write_file("good/meta.json", '{"nodes": 2}', place)
    write_file("good/plot.png", "\x89PNG\x1a\n\x00\x00", place)
    assert command("A=good/a.txt", "B=good/b.txt", "C=good/meta.json", "D=good/plot.png")[2] == WORDING
    lines = command("A=good/a.txt", "B=good/b.txt", "C=good/meta.json", "--name", "again", "-v")
    assert find_lines(lines, "good/b.txt: line") == WORDING
    assert find_lines(lines, "good/meta.json") == WORDING


def test_machines_of_a_pattern_are_campaigns(command: Command, place: Path) -> None:
    for machine in ("alpha", "beta"):
        for library in ("x", "y"):
            write_file(f"tree/{machine}/{library}/osu_latency.out", LATENCY, place)
    lines = command("--pattern", "{machine}/{library}/{benchmark}.out", "tree")
    assert find_lines(lines, "next: ") == WORDING
    assert list_candidates("results/imported-beta") == ["x", "y"]


def test_folders_that_may_be_machines_are_refused_with_the_pattern(refuse_import: Refused, place: Path) -> None:
    for machine in ("alpha", "beta"):
        for library in ("x", "y"):
            write_file(f"tree/{machine}/{library}/osu_latency.out", LATENCY, place)
    assert refuse_import("tree") == WORDING


def test_an_existing_campaign_is_not_changed(refuse_import: Refused, command: Command, place: Path) -> None:
    path = write_file("a.txt", LATENCY, place)
    command(path, "--name", "there")
    assert refuse_import(path, "--name", "there") == WORDING
    assert len(open_campaign("results/there").cases) == 2


def test_an_import_without_files_is_refused(refuse_import: Refused) -> None:
    assert refuse_import() == WORDING


def test_meanings_are_printed_as_markdown(command: Command, place: Path) -> None:
    assert "\n".join([*command("--meanings"), ""]) == page()
    assert list(place.iterdir()) == []
