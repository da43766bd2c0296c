"""The command `import`: what it says, which files it takes, and one line for what cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes import imports, printed

from rankbench import cli, store
from rankbench.cli.display import console
from rankbench.report.meanings import page

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankbench.model import Campaign

    Command = Callable[..., list[str]]
    Refused = Callable[..., str]

STUDY = printed.SAMPLES / "study"
LATENCY = imports.latencies((0, 1.5), (8, 2.5))
GUESS = (
    "note: The number of ranks of {} runs is a guess: each line with a host name before a run counts as a rank. If it "
    "is wrong, import again with --ranks N."
)
NOTE = (
    "note: These results were imported: rankbench did not measure them, and knows only what the files say about the "
    "runs."
)
APART = (
    "note: Not all libraries took turns: changes of the machine between their files count as differences between "
    "the libraries."
)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "width", 1000)
    return tmp_path


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return how to import: the lines that are printed."""

    def run_import(*arguments: object) -> list[str]:
        monkeypatch.setattr("sys.argv", ["rankbench", "import", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        assert (ended.value.code or 0, err) == (0, "")
        return out.splitlines()

    return run_import


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: Path) -> Refused:
    """Return how to import what cannot be: the one line on standard error. Nothing is left."""

    def read_refusal(*arguments: object) -> str:
        monkeypatch.setattr("sys.argv", ["rankbench", "import", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        assert (ended.value.code, out, err.count("\n")) == (2, "", 1)
        assert not (place / "results" / "imported").exists()
        return err.rstrip("\n")

    return read_refusal


def file(name: str, text: str, folder: Path) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return name


def candidates(folder: str = "results/imported") -> list[str]:
    return [candidate.name for candidate in open_campaign(folder).candidates]


def open_campaign(folder: str) -> Campaign:
    return store.open(Path(folder)).campaign


def test_a_file_of_the_study_is_imported(command: Command) -> None:
    assert command("--labels", "MPICH,OpenMPI,IntelMPI", STUDY / "barrier.out") == [
        NOTE,
        GUESS.format(9),
        "1 file: 9 runs of 1 benchmark with 3 libraries, 1 case",
        "next: rankbench report results/imported",
    ]
    assert candidates() == ["MPICH", "OpenMPI", "IntelMPI"]


def test_what_was_found_is_reported_file_by_file(command: Command) -> None:
    lines = command(STUDY / "ibcast.out", STUDY / "cas_latency.out", "--name", "study", "--results", "elsewhere")
    assert lines == [
        NOTE,
        "note: ibcast.out: ends without 'done', in round 3, with OpenMPI",
        "note: 1 file is complete although it has an error file: cas_latency.out: cas_latency.err beside it says: "
        "[vm:23335] /openmpi-5.0.11/ompi/mca/osc/ucx/osc_ucx_component.c:375  Error: OSC UCX component priority set "
        "inside component query failed (and 5 more lines)",
        GUESS.format(8),
        "2 files: 17 runs of 2 benchmarks with 3 libraries, 18 cases",
        "next: rankbench report elsewhere/study",
    ]
    assert candidates("elsewhere/study") == ["MPICH", "OpenMPI", "IntelMPI"]


def test_errors_can_be_taken_seriously(command: Command) -> None:
    lines = command(STUDY / "barrier.out", STUDY / "cas_latency.out", "--strict-errors")
    assert lines[1].startswith("note: cas_latency.out: left out; cas_latency.err beside it says: [vm:23335] ")
    assert lines[2:] == [
        GUESS.format(9),
        "2 files: 9 runs of 1 benchmark with 3 libraries, 1 case",
        "next: rankbench report results/imported",
    ]


def test_plain_files_can_have_their_library_s_name(command: Command, place: Path) -> None:
    first, second = file("a.txt", LATENCY, place), file("b.txt", LATENCY, place)
    assert command(f"MPICH={first}", f"Open MPI={second}") == [
        NOTE,
        APART,
        "2 files: 2 runs of 1 benchmark with 2 libraries, 2 cases",
        "next: rankbench report results/imported",
    ]
    assert candidates() == ["MPICH", "Open MPI"]


def test_a_folder_is_its_files_but_for_errors(command: Command, place: Path) -> None:
    for name in ("mpich/1/a.txt", "mpich/2/a.txt", "openmpi/a.txt"):
        file(name, LATENCY, place)
    file("mpich/1/a.err", "", place)
    assert command("A=mpich", "openmpi")[2:] == [
        "3 files: 3 runs of 1 benchmark with 2 libraries, 2 cases",
        "next: rankbench report results/imported",
    ]
    assert candidates() == ["A", "openmpi"]


def test_a_file_whose_name_has_an_equals_sign_is_that_file(command: Command, place: Path) -> None:
    file("runs/n=2.txt", LATENCY, place)
    command("runs/n=2.txt")
    assert candidates() == ["runs"]


def test_ranks_can_be_given(command: Command, place: Path) -> None:
    command(file("a.txt", imports.osu(imports.BARRIER) + "  0.85\n", place), "--ranks", "8")
    assert [case.ranks for case in open_campaign("results/imported").cases] == [8]


def test_names_that_are_missing_or_stand_twice(refused: Refused) -> None:
    for text in ("A,,B", "A,B,A", ","):
        assert refused("--labels", text, STUDY / "barrier.out") == (
            f"rankbench: --labels: found '{text}', expected names such as MPICH,OpenMPI, each once"
        )


def test_a_wrong_number_of_names(refused: Refused) -> None:
    path = STUDY / "barrier.out"
    assert refused("--labels", "A,B", path) == (
        f"rankbench: {path}: 3 libraries take turns in it, and --labels names 2: A, B"
    )


def test_a_file_that_is_not_there(refused: Refused) -> None:
    assert refused("MPICH=a.txt") == "rankbench: a.txt: cannot be read (No such file or directory)"


def test_an_empty_folder(refused: Refused, place: Path) -> None:
    (place / "empty").mkdir()
    file("empty/a.err", "", place)
    assert refused("empty") == "rankbench: empty: no file in it"


def test_text_of_no_benchmark(refused: Refused, place: Path) -> None:
    assert refused(file("a.txt", "hello\n", place)) == (
        "rankbench: a.txt: not the output of a known benchmark (allowed: Intel MPI Benchmarks, MPIPerf, NCCL "
        "tests, NetPIPE, OSU micro-benchmarks, ReproMPI, SKaMPI, MPBench)"
    )


def test_a_damaged_line_is_named_and_nothing_is_left(refused: Refused, place: Path) -> None:
    good, bad = file("good.txt", LATENCY, place), file("bad.txt", LATENCY.replace("2.50", "-2.50"), place)
    assert refused(good, bad) == "rankbench: bad.txt:5: Avg Latency(us) is '-2.50'; expected a number of 0 or more"


def test_a_campaign_that_is_there_stays(refused: Refused, command: Command, place: Path) -> None:
    path = file("a.txt", LATENCY, place)
    command(path, "--name", "there")
    assert refused(path, "--name", "there") == (
        "rankbench: results/there: holds a campaign already; choose another --name, or remove the folder"
    )
    assert len(open_campaign("results/there").cases) == 2


def test_nothing_named(refused: Refused) -> None:
    assert refused() == "rankbench: name files that benchmarks printed, or folders of them: [LABEL=]FILE..."


def test_what_numbers_mean_is_a_page(command: Command, place: Path) -> None:
    assert "\n".join([*command("--meanings"), ""]) == page()
    assert list(place.iterdir()) == []
