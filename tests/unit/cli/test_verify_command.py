"""The command `verify` over a stand-in library with known times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fakes
import pytest
from fakes import library as fake
from wording import WORDING, find_lines

from rankbench import cli
from rankbench.analysis.statistics import known_times

if TYPE_CHECKING:
    Command = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs the command: exit code, lines with single blanks, and errors."""
    monkeypatch.setenv("RANKBENCH_HOME", str(tmp_path / "home"))
    prefix = fake.make(tmp_path / "library", "9.9")

    def run_command(*arguments: str, **behaviour: Any) -> tuple[int, list[str], str]:
        fake.behave(prefix, **behaviour)
        ranks = [] if "--time" in arguments else ["--ranks", "2"]
        words = ["rankbench", "verify", "mpich==9.9", "--prefix", str(prefix), *ranks, *arguments]
        monkeypatch.setattr("sys.argv", words)
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), [" ".join(line.split()) for line in out.splitlines()], err

    return run_command


def list_failures(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("FAILED")]


def test_every_self_test_of_the_core_has_a_known_time() -> None:
    tests = {operation.name for operation in fakes.read_description().operations if operation.kind == "self-test"}
    assert tests == set(known_times.TRUTHS_NS)


def test_a_correct_library_passes(run: Command) -> None:
    code, lines, _ = run()
    assert code == 0
    assert lines[0] == WORDING
    for part in ("Data, in", "allreduce right", "pingpong right", "time source ", "cannot be used"):
        assert find_lines(lines, part) == WORDING
    starts = [line.split()[1] for line in lines if line.startswith("tsc ")]
    assert starts == [start.name for start in fakes.read_description().starts]
    assert lines[-1] == WORDING


def test_wrong_data_fail(run: Command) -> None:
    code, lines, _ = run(wrong=["allgather.8", "barrier.0"])
    assert code == 1
    assert "allgather WRONG WRONG WRONG" in lines
    assert "alltoall right right right" in lines
    assert find_lines(lines, "report them") == WORDING
    assert list_failures(lines) == WORDING


@pytest.mark.thorough
def test_every_form_is_called_and_missing_ones_are_named(run: Command) -> None:
    lacking = {"scan.persistent": "MPI_Scan_init", "pingpong-partitioned.persistent": "MPI_Psend_init"}
    code, lines, _ = run(lacking=lacking)
    assert code == 0
    assert "scan right right lacking" in lines
    assert "pingpong-partitioned lacking" in lines
    texts = {line.split()[0].rstrip(",") for line in lines[6:] if line.endswith(("right", "lacking"))}
    assert texts >= {
        operation.name for operation in fakes.read_description().operations if operation.kind != "self-test"
    }


@pytest.mark.thorough
def test_datatypes_and_options_are_tested_on_request(run: Command) -> None:
    broken = ["bcast.vector", "bcast.struct", "put.epoch=fence", "gather.8"]
    code, lines, _ = run("--thorough", "--clock", "tsc", wrong=broken)
    assert code == 1
    rows = {line.split()[0]: line for line in lines if line}
    assert [name for name in ("vector", "epoch=fence", "mode=ready", "threads=2") if name not in rows] == []
    assert rows["mode=ready"].endswith("right")
    assert "WRONG" in rows["vector"]
    assert find_lines(list_failures(lines), "wrong-data") == WORDING


@pytest.mark.thorough
def test_a_crash_is_reported_and_later_calls_are_tested(run: Command) -> None:
    code, lines, _ = run(crash=["allreduce.8"])
    assert code == 1
    assert "allreduce crashed crashed crashed" in lines
    assert "alltoall right right right" in lines
    assert list_failures(lines)[0] == WORDING


def load_machine(monkeypatch: pytest.MonkeyPatch, others: float) -> None:
    """Give other processes a share of the machine's CPU time."""
    monkeypatch.setattr("rankbench.launch.occupancy.measure_others_share", lambda _: others)


@pytest.mark.thorough
@pytest.mark.parametrize(("others", "code"), [(0.01, 1), (0.4, 0)])
def test_a_wrong_time_fails_after_three_launches_on_a_quiet_machine(
    run: Command, monkeypatch: pytest.MonkeyPatch, others: float, code: int
) -> None:
    monkeypatch.setattr("rankbench.launch.machine", fakes.make_machine)
    load_machine(monkeypatch, others)
    ended, lines, _ = run("--clock", "tsc", times_ns={"wait-up.window": 2500}, noise=0.0)
    assert ended == code
    for part in ("tsc window ", "tsc barrier ", "2500 ns measured"):
        assert find_lines(lines, part) == WORDING


def test_discarded_rounds_are_no_failure(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """They show how often ranks are interrupted here, at any load."""
    monkeypatch.setattr("rankbench.launch.machine", fakes.make_machine)
    monkeypatch.setattr("rankbench.analysis.statistics.known_times.MOST_DISCARDED", 0.0001)
    load_machine(monkeypatch, 0.01)
    code, lines, _ = run("--clock", "tsc")
    assert code == 0
    assert lines[-2:] == WORDING


@pytest.mark.thorough
def test_wrong_times_of_more_ranks_than_cores_cannot_be_verified(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankbench.launch.machine", lambda: fakes.make_machine(cores=1))
    _, lines, _ = run(times_ns={"empty.none": 900}, noise=0.0)
    assert [line for line in lines if line.startswith("cannot be verified here")] == WORDING


@pytest.mark.thorough
def test_a_library_that_fails_is_a_failure(run: Command) -> None:
    code, lines, _ = run(dead=True)
    assert code == 1
    assert lines == WORDING


def test_an_unknown_clock_is_an_error(run: Command) -> None:
    code, _, err = run("--clock", "tcs")
    assert (code, err) == (2, WORDING)


def test_a_requested_clock_that_cannot_be_used_is_an_error(run: Command) -> None:
    code, _, err = run("--clock", "MPI_Wtime")
    assert (code, err) == (2, WORDING)


@pytest.mark.thorough
def test_only_the_named_clocks_are_tested(run: Command) -> None:
    code, lines, _ = run("--clock", "tsc")
    assert code == 0
    assert not [line for line in lines if "MPI_Wtime" in line]


@pytest.mark.thorough
def test_data_are_checked_on_few_ranks_however_many_cores_there_are(
    run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankbench.launch.machine", lambda: fakes.make_machine(cores=3))
    code, lines, _ = run("--time", "30m", "--clock", "tsc", wrong=["allgather.8"])
    assert code == 1
    assert lines[0].startswith("mpich-9.9, 3 ranks on fake")
    (on_four,) = (line for line in lines if line.startswith("data on "))
    assert on_four.startswith("data on 4 ranks: ")
    assert " right, 6 WRONG (" in on_four
    assert list_failures(lines) == WORDING


def test_checks_after_the_time_limit_are_named(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    code, lines, _ = run("--time", "1ms")
    assert code == 0
    assert lines == WORDING


@pytest.mark.parametrize(
    "options",
    ["--clocks --sums", "--clocks --time 1m", "--sums --clock tsc", "--sums --runs 3", "--wait 9"],
)
def test_options_of_another_test_are_refused(run: Command, options: str) -> None:
    code, _, errors = run(*options.split())
    assert (code, errors) == (2, WORDING)
