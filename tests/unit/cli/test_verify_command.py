"""The command `verify` over a stand-in library with known times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fakes
import pytest
from fakes import library as fake

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
    assert lines[0] == "mpich-9.9, 2 ranks on fake (CPUs 0 1)"
    assert "Data, in messages of 8 B, 1000 B and 64 KiB" in lines
    assert "allreduce right right right" in lines
    assert "pingpong right right right" in lines
    head = next(line for line in lines if line.startswith("time source"))
    assert head == "time source start empty 0 wait-null 0 wait-up 2000 discarded clocks ± launches"
    starts = [line.split()[1] for line in lines if line.startswith("tsc ")]
    assert starts == [start.name for start in fakes.read_description().starts]
    assert "MPI_Wtime cannot be used: it steps" in lines
    assert lines[-1] == "All data are correct, and all times are accurate."


def test_wrong_data_fail(run: Command) -> None:
    code, lines, _ = run(wrong=["allgather.8", "barrier.0"])
    assert code == 1
    assert "allgather WRONG WRONG WRONG" in lines
    assert "alltoall right right right" in lines
    advice = "Do not use these calls of these libraries, and report them to the vendors."
    assert lines.count(advice) == 1
    assert list_failures(lines) == [
        f"FAILED mpich-9.9: wrong-data, {form}, 3 calls: allgather, 8 B; allgather, in-place, 8 B; barrier. The first: "
        "byte 3 is 7, expected 9"
        for form in ("blocking", "nonblocking", "persistent")
    ]


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
    for form in ("blocking", "nonblocking", "persistent"):
        (line,) = (line for line in list_failures(lines) if f"wrong-data, {form}, " in line)
        assert "bcast, struct or vector, 8 B, 1000 B and 64 KiB" in line
        assert ("put, epoch=fence, 8 B, 1000 B and 64 KiB" in line) == (form != "persistent")


@pytest.mark.thorough
def test_a_crash_is_reported_and_later_calls_are_tested(run: Command) -> None:
    code, lines, _ = run(crash=["allreduce.8"])
    assert code == 1
    assert "allreduce crashed crashed crashed" in lines
    assert "alltoall right right right" in lines
    assert list_failures(lines)[0] == (
        "FAILED mpich-9.9: crashed, blocking, 2 calls: allreduce, 8 B; allreduce, in-place, 8 B. The first: ended "
        "before its last case: exit code -11 (SIGSEGV)"
    )


def load_machine(monkeypatch: pytest.MonkeyPatch, others: float) -> None:
    """Give other processes a share of the machine's CPU time."""
    monkeypatch.setattr("rankbench.launch.occupancy.measure_others_share", lambda _: others)


WRONG_TIME = "mpich-9.9: wait-up by tsc with start window: 2500 ns measured, 2000 ns are true, 200 ns off are allowed; "


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("others", "code", "line"),
    [
        (0.01, 1, f"FAILED {WRONG_TIME}other processes used 1% of the CPU time"),
        (
            0.4,
            0,
            f"cannot be verified here: {WRONG_TIME}other processes used 40% of the CPU time: test again without them",
        ),
    ],
)
def test_a_wrong_time_fails_after_three_launches_on_a_quiet_machine(
    run: Command, monkeypatch: pytest.MonkeyPatch, others: float, code: int, line: str
) -> None:
    monkeypatch.setattr("rankbench.launch.machine", fakes.make_machine)
    load_machine(monkeypatch, others)
    ended, lines, _ = run("--clock", "tsc", times_ns={"wait-up.window": 2500}, noise=0.0)
    assert ended == code
    assert "tsc window 20 (+20) 25 (+25) 2500 (+500) 0.1% 0 3" in lines
    assert "tsc barrier 20 (+20) 25 (+25) 2030 (+30) – 0 1" in lines
    assert line in lines


def test_discarded_rounds_are_no_failure(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """They show how often ranks are interrupted here, at any load."""
    monkeypatch.setattr("rankbench.launch.machine", fakes.make_machine)
    monkeypatch.setattr("rankbench.analysis.statistics.known_times.MOST_DISCARDED", 0.0001)
    load_machine(monkeypatch, 0.01)
    code, lines, _ = run("--clock", "tsc")
    assert code == 0
    assert lines[-2:] == [
        "cannot be verified here: mpich-9.9: by tsc with start window: 0.1% of the rounds were discarded, more than "
        "0%: ranks were interrupted; other processes used 1% of the CPU time",
        "All data are correct. 1 of the checks of times cannot be verified here.",
    ]


@pytest.mark.thorough
def test_wrong_times_of_more_ranks_than_cores_cannot_be_verified(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankbench.launch.machine", lambda: fakes.make_machine(cores=1))
    _, lines, _ = run(times_ns={"empty.none": 900}, noise=0.0)
    assert [line for line in lines if line.startswith("cannot be verified here")] == [
        "cannot be verified here: mpich-9.9: empty by tsc with start none: 900 ns measured, 0 ns are true, 200 ns off "
        "are allowed; 2 ranks share 1 cores: use fewer, --ranks 1"
    ]


@pytest.mark.thorough
def test_a_library_that_fails_is_a_failure(run: Command) -> None:
    code, lines, _ = run(dead=True)
    assert code == 1
    assert lines == ["FAILED mpich-9.9: exit code 1: fake core: set to be dead"]


def test_an_unknown_clock_is_an_error(run: Command) -> None:
    code, _, err = run("--clock", "tcs")
    assert (code, err) == (
        2,
        "rankbench: --clock tcs: no such time source; did you mean tsc? (allowed: tsc, MPI_Wtime, all)\n",
    )


def test_a_requested_clock_that_cannot_be_used_is_an_error(run: Command) -> None:
    code, _, err = run("--clock", "MPI_Wtime")
    assert (code, err) == (
        2,
        "rankbench: --clock MPI_Wtime: cannot be used here (it steps); name another, or none\n",
    )


@pytest.mark.thorough
def test_only_the_named_clocks_are_tested(run: Command) -> None:
    code, lines, _ = run("--clock", "tsc")
    assert code == 0
    assert not [line for line in lines if "MPI_Wtime" in line]


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
    on_each = "; ".join(f"allgather{how}, 8 B" for how in ("", ", in-place", ", 4 ranks", ", in-place, 4 ranks"))
    assert list_failures(lines) == [
        f"FAILED mpich-9.9: wrong-data, {form}, 4 calls: {on_each}. The first: byte 3 is 7, expected 9"
        for form in ("blocking", "nonblocking", "persistent")
    ]


def test_checks_after_the_time_limit_are_named(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    code, lines, _ = run("--time", "1ms")
    assert code == 0
    assert lines == [
        "not reached within 1ms: mpich-9.9; --time allows more",
        "What was checked is right.",
    ]
