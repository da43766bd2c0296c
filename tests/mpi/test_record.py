"""`rankbench record`: what programs call is counted exactly, whatever library, language and end they have."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import mark_thorough

from mpi.conftest import WHEELS, run_rankbench
from rankbench import build, libraries, profiles
from rankbench.campaign.recording import record_command
from rankbench.model import Library, RankbenchError
from rankbench.model.program_records import Kind, RunRecord, decode

PROGRAMS = Path(__file__).parents[1] / "fakes" / "recorded"
RANKBENCH = Path(sys.executable).with_name("rankbench")
SYSTEM = ("mpich", "openmpi")
ROUNDS, LATE_S = 10, 0.02
SECONDS = "120"


def compile_program(library: Library, name: str, folder: Path, *more: str) -> Path:
    """Compile a program with a library's wrapper."""
    program = folder / name
    command = [library.wrapper, "-O1", "-pthread", str(PROGRAMS / f"{name}.c"), *more, "-o", str(program)]
    build.run_checked([*command, f"-Wl,-rpath,{Path(library.prefix) / 'lib'}"], build.collect_environment(library))
    return program


def make_command(library: Library, ranks: int, *program: str) -> list[str]:
    """Return the command line of a user, with what root and few cores need."""
    many = ["--oversubscribe", "--allow-run-as-root"] if library.family == "openmpi" else []
    return [library.launcher, *many, "-n", str(ranks), *program]


def run(
    library: Library, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, *program: str, ranks: int = 2
) -> tuple[RunRecord, int]:
    """Record a program."""
    for name, value in library.environment.items():
        monkeypatch.setenv(name, value)
    got = record_command(make_command(library, ranks, *program), library, home, folder / "record.json")
    return got.run, got.code


def find(run: RunRecord, call: str, **features: object) -> Kind:
    """Return the only kind of a call with these features."""
    kinds = [
        kind
        for kind in run.kinds
        if kind.call == call and all(getattr(kind, name) == value for name, value in features.items())
    ]
    assert len(kinds) == 1, (call, features, [(kind.call, kind.bytes, kind.form, kind.root) for kind in run.kinds])
    return kinds[0]


@pytest.fixture(params=[WHEELS[0], *map(mark_thorough, WHEELS[1:])])
def library(request: pytest.FixtureRequest, reach: list[Library]) -> Library:
    return libraries.choose(request.param, [entry for entry in reach if entry.source == "pypi"])


@pytest.mark.each_library
@pytest.mark.parametrize("library", WHEELS, indirect=True)
def test_numbers_bytes_and_partners_are_exact(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile_program(library, "counts", tmp_path)
    got, code = run(library, home, tmp_path, monkeypatch, str(program), ranks=4)
    assert (code, got.ranks, got.finalised) == (0, 4, [True] * 4)
    expected = {
        ("MPI_Allreduce", 8, 4): 100,
        ("MPI_Bcast", 1024, 4): 50,
        ("MPI_Barrier", 0, 2): 7,
        ("MPI_Gather", 40, 4): 11,
        ("MPI_Alltoallv", 24, 4): 13,
        ("MPI_Isend", 128, 4): 20,
        ("MPI_Irecv", 128, 4): 20,
        ("MPI_Waitall", 0, 0): 20,
        ("MPI_Sendrecv", 80, 4): 9,
        ("MPI_Recv", 128, 4): 5,
        ("MPI_Put", 32, 4): 6,
        ("MPI_Win_fence", 0, 4): 7,
        ("MPI_Comm_split", 0, 4): 1,
        ("MPI_Pack", 80, 0): 8,
        ("MPI_Unpack", 80, 0): 8,
    }
    assert {key: find(got, key[0], bytes=key[1], ranks=key[2]).calls for key in expected} == {
        key: [count] * 4 for key, count in expected.items()
    }
    assert find(got, "MPI_Bcast").root == 1
    assert [kind.gaps for kind in (find(got, "MPI_Sendrecv"), find(got, "MPI_Isend"))] == [True, False]
    assert [find(got, f"MPI_{name}").datatype for name in ("Allreduce", "Isend", "Barrier")] == ["double", "int", ""]
    started = find(got, "MPI_Send_init", form="persistent")
    assert (started.calls, started.bytes, started.completed) == ([5] * 4, 128, [5] * 4)
    assert find(got, "MPI_Send_init", form="blocking").calls == [1] * 4
    assert find(got, "MPI_Isend").completed == find(got, "MPI_Irecv").completed == [20] * 4
    assert [(entry.distance, entry.calls) for entry in find(got, "MPI_Isend").partners] == [(1, 80)]
    assert find(got, "MPI_Allreduce").matched == [100] * 4
    assert sum(entry.calls for entry in find(got, "MPI_Allreduce").distribution) == 400
    assert got.dropped.merged_kinds == got.dropped.requests == got.dropped.communicators == 0


def test_waiting_for_a_late_rank_is_no_transfer(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got, _ = run(library, home, tmp_path, monkeypatch, str(compile_program(library, "late", tmp_path)))
    kind = find(got, "MPI_Allreduce")
    assert kind.between_s[1] > ROUNDS * LATE_S * 0.9
    assert kind.between_s[0] < kind.between_s[1] / 2
    first, late = kind.waiting_s
    assert first > ROUNDS * LATE_S / 2
    assert late < first / 2
    assert kind.late_ns[0][1] == 0
    assert kind.late_ns[1][1] > LATE_S * 1e9 / 2


def sum_waiting(run: RunRecord, rank: int) -> float:
    """Return what a rank waited for others outside MPI_Barrier."""
    return sum(kind.waiting_s[rank] for kind in run.kinds if kind.waiting_s and kind.call != "MPI_Barrier")


@pytest.mark.parametrize(
    "how",
    [
        *("recv", "waitall", "persistent", "nobody", "any", "mixed", "cancelled-any", "waits-in-probe"),
        *map(mark_thorough, ("sendrecv", "ssend", "both", "later", "restarted", "behind", "turned", "listening")),
    ],
)
def test_waiting_for_a_late_partner_is_no_transfer(
    how: str, library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got, _ = run(library, home, tmp_path, monkeypatch, str(compile_program(library, "partners", tmp_path)), how)
    assert sum_waiting(got, 0) > ROUNDS * LATE_S * 0.9
    assert sum_waiting(got, 1) < sum_waiting(got, 0) / 2
    assert got.dropped.messages == 0
    completing = [kind for kind in got.kinds if kind.call.startswith(("MPI_Wait", "MPI_Test"))]
    waited = [sum(kind.waited_s) for kind in got.kinds if kind.waited_s and kind not in completing]
    assert sum(waited) == pytest.approx(sum(sum(kind.seconds) for kind in completing), rel=0.01)


def test_probes_that_find_nothing_wait_for_a_message(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is between them is no time in MPI."""
    got, _ = run(library, home, tmp_path, monkeypatch, str(compile_program(library, "partners", tmp_path)), "polls")
    kind = find(got, "MPI_Iprobe")
    assert kind.waiting_s[0] > 0.9 * kind.seconds[0] > ROUNDS * LATE_S / 4


def test_a_partner_that_transfers_is_not_waited_for(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a ping-pong each rank waits for the other, for no longer than the library takes to transfer."""
    got, _ = run(library, home, tmp_path, monkeypatch, str(compile_program(library, "chain", tmp_path)), "pingpong")
    assert sum(sum(kind.waiting_s) for kind in got.kinds) < 0.2 * sum(sum(kind.seconds) for kind in got.kinds)


def test_waiting_is_passed_on(library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The third rank waits for the second one, which only waits for the first."""
    program = str(compile_program(library, "chain", tmp_path))
    got, _ = run(library, home, tmp_path, monkeypatch, program, "pass", ranks=3)
    assert sum_waiting(got, 0) < ROUNDS * LATE_S / 2
    assert min(sum_waiting(got, 1), sum_waiting(got, 2)) > ROUNDS * LATE_S * 0.8


def test_waiting_is_known_on_a_busy_machine(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a rank loses its CPU between its readings of two clocks."""
    program = compile_program(library, "partners", tmp_path, "-rdynamic", str(PROGRAMS.parent / "busy_clock.c"))
    got, _ = run(library, home, tmp_path, monkeypatch, str(program), "recv")
    assert sum_waiting(got, 0) > ROUNDS * LATE_S * 0.9


@pytest.mark.parametrize("how", ["eager", "crowd", "cancelled", "probed"])
def test_no_waiting_is_claimed_where_it_is_unknown(
    how: str, library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got, _ = run(library, home, tmp_path, monkeypatch, str(compile_program(library, "partners", tmp_path)), how)
    assert sum_waiting(got, 0) < ROUNDS * LATE_S / 2
    assert (got.dropped.messages > 0) == (how != "eager")


def test_of_many_messages_a_share_is_kept_at_both_ends(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got, _ = run(library, home, tmp_path, monkeypatch, str(compile_program(library, "partners", tmp_path)), "many")
    assert got.dropped.messages_kept == 0.5
    sent, received = find(got, "MPI_Send"), find(got, "MPI_Recv")
    assert sent.matched[1] == received.matched[0] > 0.45 * sum(sent.calls)
    assert sum(received.waiting_s) <= sum(received.seconds)


@pytest.mark.parametrize("how", ["exit", "_exit", "abort", "kill", "segv"])
def test_a_program_that_ends_early_leaves_its_calls(
    how: str, library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got, code = run(library, home, tmp_path, monkeypatch, str(compile_program(library, "ends", tmp_path)), how)
    assert got.finalised == [False, False]
    assert max(find(got, "MPI_Barrier").calls) == 30
    if how in {"abort", "kill", "segv"}:
        assert code


@pytest.mark.parametrize("number", [signal.SIGTERM, mark_thorough(signal.SIGINT)])
def test_a_command_that_is_stopped_leaves_its_calls(
    number: signal.Signals, library: Library, home: Path, tmp_path: Path
) -> None:
    """A signal that only rankbench gets: its command would go on for good."""
    program, output = compile_program(library, "ends", tmp_path), tmp_path / "record.json"
    words = [str(RANKBENCH), "record", "--output", str(output), "--", *make_command(library, 2, str(program), "hang")]
    environment = {**os.environ, **library.environment, "RANKBENCH_HOME": str(home)}
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "hangs\n"
        process.send_signal(number)
        printed = process.stdout.read()
        assert process.wait() == 128 + number
    assert "2 of 2 ranks ended without MPI_Finalize" in printed
    assert sorted(find(decode(output.read_bytes(), ""), "MPI_Barrier").calls) == [30, 30]


@pytest.mark.each_library
@pytest.mark.parametrize("library", [WHEELS[0], *map(mark_thorough, WHEELS[1:])], indirect=True)
def test_a_call_that_fails_changes_nothing(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The results of such a call were never set, and its arguments may be wrong."""
    got, code = run(library, home, tmp_path, monkeypatch, str(compile_program(library, "errors", tmp_path)))
    assert (code, got.finalised) == (0, [True] * 2)
    assert find(got, "MPI_Allreduce").calls == [20, 20]


@pytest.mark.each_library
@pytest.mark.parametrize("library", [WHEELS[0], *map(mark_thorough, WHEELS[1:])], indirect=True)
def test_requests_of_many_kinds_are_completed(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MPICH gives one handle to all sends that are complete at once."""
    program = str(compile_program(library, "requests", tmp_path))
    got, _ = run(library, home, tmp_path, monkeypatch, program, str(tmp_path / "data"))
    assert got.dropped.requests == 0
    assert find(got, "MPI_File_iwrite_at", bytes=100).completed == find(got, "MPI_Comm_idup").completed == [50, 50]
    sends = [kind for kind in got.kinds if kind.call == "MPI_Isend"]
    assert {kind.bytes: kind.completed for kind in sends} == {size: [50, 50] for size in range(1, 41)}
    started = find(got, "MPI_Send_init", form="persistent")
    assert (started.calls, started.completed) == ([200, 200], [200, 200])
    computing = sum(kind.between_s[0] for kind in got.kinds)
    within = sum(kind.seconds[0] for kind in got.kinds)
    assert computing + within <= got.seconds[0] * 1.001


def test_collectives_between_two_groups_are_counted(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their arrays have an element for each rank of the other group."""
    got, _ = run(library, home, tmp_path, monkeypatch, str(compile_program(library, "requests", tmp_path)), ranks=3)
    kinds = [kind for kind in got.kinds if kind.call in {"MPI_Alltoallv", "MPI_Alltoallw"}]
    assert {kind.bytes for kind in kinds} == {8}
    assert sum(sum(kind.calls) for kind in kinds) == 6
    assert {kind.bytes for kind in got.kinds if kind.call == "MPI_Gather"} == {0, 8}


def test_a_program_that_starts_others_is_recorded_alone(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ranks that it starts have a world of their own, and numbers that the first ones have, too."""
    monkeypatch.setenv("I_MPI_SPAWN", "on")  # Without it, MPI_Comm_spawn of Intel MPI ends with a signal.
    got, code = run(library, home, tmp_path, monkeypatch, str(compile_program(library, "spawn", tmp_path)))
    assert (code, got.ranks, got.finalised) == (0, 2, [True] * 2)
    assert find(got, "MPI_Comm_spawn", ranks=2).calls == [1, 1]
    assert find(got, "MPI_Comm_spawn").seconds[0] > 0
    assert find(got, "MPI_Allreduce").calls == [10, 10]
    assert not [kind for kind in got.kinds if kind.call == "MPI_Bcast"]


def test_a_rank_without_a_file_does_not_stop_the_others(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A disk can be full on one node only."""
    program = compile_program(library, "ends", tmp_path)
    script = tmp_path / "elsewhere"
    first = '[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 ]'
    script.write_text(f"#!/bin/sh\n{first} || export RANKBENCH_RECORD=/nowhere\nexec {program}\n")
    script.chmod(0o755)
    with pytest.raises(RankbenchError, match="1 of 2 ranks left no record, the first is rank 1"):
        run(library, home, tmp_path, monkeypatch, str(script))
    assert "cannot be written; calls of rank 1 are not recorded" in capfd.readouterr().err


def test_waiting_in_tests_and_calls_that_create_are_counted(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loop of MPI_Test waits as MPI_Wait does. Windows, grids and files take time, too."""
    got, _ = run(library, home, tmp_path, monkeypatch, str(compile_program(library, "tests", tmp_path)))
    received = find(got, "MPI_Irecv")
    assert received.waiting_s[0] > 0.8 * received.waited_s[0] > 0.2 * ROUNDS * LATE_S
    probes = find(got, "MPI_Probe")
    assert [(entry.distance, entry.calls) for entry in probes.partners] == [(-2, ROUNDS)]
    for call in ("MPI_Win_allocate", "MPI_Cart_create", "MPI_Comm_split_type", "MPI_File_open", "MPI_File_close"):
        assert find(got, call).calls == [3, 3]
    assert find(got, "MPI_File_write_at_all", bytes=64).calls == [3, 3]


def test_calls_of_threads_are_counted_each(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got, _ = run(library, home, tmp_path, monkeypatch, str(compile_program(library, "threads", tmp_path)))
    assert [sum(find(got, call).calls) for call in ("MPI_Isend", "MPI_Recv", "MPI_Wait")] == [4000] * 3


@pytest.mark.parametrize("interface", ["mpifh", "mpi", "mpi_f08"])
@pytest.mark.parametrize("family", SYSTEM)
def test_each_interface_of_fortran_is_counted_once(
    family: str, interface: str, reach: list[Library], home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = shutil.which(f"mpif90.{family}")
    installed = [entry for entry in reach if entry.source == "system" and entry.family == family]
    if not wrapper or not installed:
        pytest.skip(f"no Fortran of a system's {family} here")
    program = tmp_path / "program"
    compiled = subprocess.run(
        [wrapper, "-fallow-argument-mismatch", str(PROGRAMS / f"{interface}.f90"), "-o", str(program)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert compiled.returncode == 0, compiled.stderr
    got, code = run(installed[0], home, tmp_path, monkeypatch, str(program))
    expected = {
        ("MPI_Allreduce", 8): 40,
        ("MPI_Irecv", 32): 12,
        ("MPI_Isend", 32): 12,
        ("MPI_Waitall", 0): 12,
        ("MPI_Barrier", 0): 6,
        ("MPI_Allgather", 16): 1,
    }
    assert code == 0
    assert {(kind.call, kind.bytes): kind.calls for kind in got.kinds} == {
        key: [count] * 2 for key, count in expected.items()
    }
    assert find(got, "MPI_Isend").completed == [12, 12]


def test_the_command_writes_a_record_that_other_commands_read(library: Library, home: Path, tmp_path: Path) -> None:
    program = compile_program(library, "late", tmp_path)
    output = tmp_path / "record.json"
    command = make_command(library, 2, str(program))
    answer = run_rankbench(
        "record", "--output", str(output), "--", *command, home=home, environment=library.environment
    )
    assert answer.returncode == 0, answer.stderr
    assert "Most of the time in MPI: MPI_Allreduce of 8 B" in answer.stdout
    calls = profiles.read(output).calls
    assert ("allreduce", 8, 10.0) in [(entry.operation, entry.size_bytes, entry.calls) for entry in calls]


@pytest.mark.parametrize(("flags", "reason"), [(["-static"], "linked statically"), ([], "no rank called MPI_Init")])
def test_an_unrecordable_program_is_refused_in_one_line(
    flags: list[str], reason: str, library: Library, home: Path, tmp_path: Path
) -> None:
    source = tmp_path / "plain.c"
    source.write_text("int main(void) { return 0; }\n")
    program = tmp_path / "plain"
    subprocess.run(["cc", *flags, str(source), "-o", str(program)], check=True)
    command = make_command(library, 1, str(program))
    output = tmp_path / "record.json"
    answer = run_rankbench(
        "record", "--output", str(output), "--", *command, home=home, environment=library.environment
    )
    assert answer.returncode
    assert reason in answer.stderr
    assert len(answer.stderr.strip().splitlines()) == 1
    assert not output.exists()


@pytest.mark.parametrize(("name", "other"), [("mpich", "openmpi"), ("openmpi", "mpich")])
def test_a_program_that_loads_another_library_is_refused_in_one_line(
    name: str, other: str, reach: list[Library], home: Path, tmp_path: Path
) -> None:
    """Without a launcher, since some libraries do not start below that of another one."""
    wheels = [entry for entry in reach if entry.source == "pypi"]
    library, loaded = libraries.choose(name, wheels), libraries.choose(other, wheels)
    program = tmp_path / "loads"
    subprocess.run(["cc", str(PROGRAMS / "loads.c"), "-ldl", "-o", str(program)], check=True)
    file = str(next(Path(loaded.prefix, "lib").glob("libmpi.so.*")))
    with pytest.raises(RankbenchError, match=f"the program used .*, not {library.name}: let it load"):
        record_command([str(program), file], library, home, tmp_path / "record.json")


def test_python_loads_the_library_for_itself_only(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mpi4py", reason="not part of the environment: pip install mpi4py")
    program = tmp_path / "program.py"
    program.write_text(
        "from array import array\nfrom mpi4py import MPI\nmine, total = array('d', [1]), array('d', [0])\n"
        "for _ in range(25):\n    MPI.COMM_WORLD.Allreduce(mine, total)\n"
    )
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{library.prefix}/lib")
    got, code = run(library, home, tmp_path, monkeypatch, sys.executable, str(program))
    assert (code, find(got, "MPI_Allreduce", bytes=8).calls) == (0, [25, 25])
