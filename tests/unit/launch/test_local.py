from __future__ import annotations

import marshal
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest
from wording import WORDING, refuses

from rankbench import launch
from rankbench.launch import resources, supervisor
from rankbench.model import CommandLine, Outcome, RankbenchError, Step


def make_step(tmp_path: Path, script: str, limit_s: float = 30.0, **environment: str) -> Step:
    """Return a step that runs a shell script; its processes carry the folder's name in their environment."""
    command = CommandLine(arguments=["bash", "-c", script], environment={"MARK": str(tmp_path), **environment})
    return Step(command=command, output=tmp_path / "output", watch=tmp_path / "watch", limit_s=limit_s)


def list_processes(mark: Path) -> list[str]:
    """Return the processes that a step in this folder started and that still run."""
    numbers = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"MARK={mark}\0".encode() in (folder / "environ").read_bytes():
                numbers.append(folder.name)
        except OSError:
            continue
    return numbers


def test_exit_code_and_output_are_returned(tmp_path: Path) -> None:
    outcome = launch.run(make_step(tmp_path, "echo said; echo $COLOUR >&2; exit 3", COLOUR="blue"))
    assert (outcome.exit_code, outcome.hung) == (3, False)
    assert (tmp_path / "output").read_text() == "said\nblue\n"


def test_a_signal_is_a_negative_exit_code(tmp_path: Path) -> None:
    assert launch.run(make_step(tmp_path, "kill -SEGV $$")).exit_code == -signal.SIGSEGV


def test_input_files_of_a_command_are_written_beside_its_output(tmp_path: Path) -> None:
    command = CommandLine(arguments=["cat", "ranks.txt"], files={"ranks.txt": "rank 0=n1 slot=0\n"})
    launch.run(Step(command=command, output=tmp_path / "output", watch=tmp_path / "watch", limit_s=30.0))
    assert (tmp_path / "output").read_text() == (tmp_path / "ranks.txt").read_text() == "rank 0=n1 slot=0\n"


def test_beginning_and_end_of_long_output_are_stored(tmp_path: Path) -> None:
    """The omitted part is counted; the supervisor's own memory does not grow with it."""
    script = "echo first; head -c 100000000 /dev/zero >&2; echo last; grep VmHWM /proc/$PPID/status"
    outcome = launch.run(make_step(tmp_path, script))
    output = (tmp_path / "output").read_bytes()
    assert output.startswith(b"first\n")
    assert b"last\n" in output[-100:]
    size = supervisor.FIRST_BYTES + supervisor.LAST_BYTES
    (omitted,) = re.findall(rb"\n\[rankbench left out (\d+) bytes of output here\]\n", output)
    assert len(output) < size + 100 + supervisor.LAST_BYTES
    printed = int(omitted) + len(output) - len(supervisor.OMISSION % int(omitted))
    assert printed == 100_000_000 + len("first\nlast") + len(output.rpartition(b"last")[2]) == outcome.output_bytes
    assert int(output.split()[-2]) < 100_000


def test_a_command_that_does_not_end_after_its_last_record_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its limit alone would allow an hour."""
    monkeypatch.setattr(supervisor, "END_S", 0.1)
    watched = tmp_path / "watch"
    child = subprocess.Popen(["sleep", "3600"])
    try:
        watched.write_text('{"record":"case"}\n{"record":"end","cases":1}\n')
        monkeypatch.setattr(supervisor, "POLL_S", 0.05)
        assert supervisor.is_complete(watched)
        with Path(os.devnull).open() as nothing, monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", nothing)
            patched.setattr("select.poll", Looks)
            assert supervisor.wait(child, watched, 3600)
    finally:
        child.kill()
        child.wait()
    watched.write_text('{"record":"end","cases":1}\n{"record":"case"}\n')
    assert not supervisor.is_complete(watched)
    assert not supervisor.is_complete(tmp_path / "none")


class Looks:
    """A poll object that only waits."""

    def register(self, *_: object) -> None:
        """Register nothing."""

    def poll(self, wait_ms: float) -> list[tuple[int, int]]:
        """Wait, and report nothing."""
        time.sleep(wait_ms / 1000)
        return []


def test_a_missing_program_is_reported_in_one_line(tmp_path: Path) -> None:
    missing = Step(
        command=CommandLine(arguments=["/nowhere/mpiexec"]),
        output=tmp_path / "output",
        watch=tmp_path / "watch",
        limit_s=1,
    )
    with refuses():
        launch.run(missing)


def test_an_invalid_environment_variable_is_reported_in_one_line(tmp_path: Path) -> None:
    with refuses():
        launch.run(make_step(tmp_path, "true", 30.0, **{"A=B": "1"}))


def test_an_output_that_cannot_be_written_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "output").mkdir()
    with pytest.raises(RankbenchError) as error:
        launch.run(make_step(tmp_path, "true"))
    assert str(error.value) == f"{tmp_path / 'output'}: Is a directory"


def test_the_supervisor_works_without_pidfd(tmp_path: Path) -> None:
    program = f"import os, runpy; del os.pidfd_open; runpy.run_path({supervisor.__file__!r}, run_name='__main__')"
    order = {
        "arguments": ["sh", "-c", "exit 7"],
        "environment": {},
        "output": str(tmp_path / "output"),
        "watch": str(tmp_path / "watch"),
        "limit_s": 30,
        "shared": [],
    }
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(marshal.dumps(order))
        process.stdin.flush()
        answer = marshal.load(process.stdout)
    assert (answer["exit_code"], answer["hung"]) == (7, False)


def test_a_step_without_a_sign_of_life_is_hung_and_killed(tmp_path: Path) -> None:
    outcome = launch.run(
        make_step(tmp_path, "trap '' TERM; sleep 1000 & setsid sleep 1000 & wait; sleep 1000", limit_s=0.2)
    )
    assert (outcome.exit_code, outcome.hung) == (None, True)
    assert list_processes(tmp_path) == []


@pytest.mark.thorough
def test_a_step_whose_number_changes_is_not_hung(tmp_path: Path) -> None:
    """The number is four bytes of a file that does not grow."""
    (tmp_path / "page").write_bytes(bytes(64))
    script = "for i in 1 2 3 4; do printf $i | dd of=$MARK/page bs=1 seek=35 conv=notrunc 2>/dev/null; sleep 0.5; done"
    watched = make_step(tmp_path, script, limit_s=1)
    assert launch.run(msgspec.structs.replace(watched, heartbeat=(tmp_path / "page", 32))).hung is False
    assert launch.run(msgspec.structs.replace(watched, heartbeat=(tmp_path / "page", 36))).hung is True


@pytest.mark.thorough
def test_a_step_stopped_with_its_supervisor_is_not_hung(tmp_path: Path) -> None:
    """A suspended job is stopped, here for longer than its limit, and shows life only some time after it continues."""
    script = """
    supervisor=$PPID
    ( sleep 1.2; kill -STOP $supervisor $$; sleep 4; kill -CONT $supervisor $$ ) &
    echo x >>$MARK/watch; sleep 5.7; echo x >>$MARK/watch
    """
    assert launch.run(make_step(tmp_path, script, limit_s=3)).hung is False


def test_a_step_whose_watched_file_grows_is_not_hung(tmp_path: Path) -> None:
    script = "for i in 1 2 3 4 5 6 7 8; do echo x >>$MARK/watch; sleep 0.5; done"
    assert launch.run(make_step(tmp_path, script, limit_s=3)).hung is False


def test_orphans_outside_the_session_are_killed_with_the_step(tmp_path: Path) -> None:
    outcome = launch.run(make_step(tmp_path, "(setsid bash -c 'trap \"\" TERM; sleep 1000; sleep 1000' &) ; exit 0"))
    assert outcome.exit_code == 0
    assert list_processes(tmp_path) == []


def test_a_keyboard_interrupt_ends_the_step_first(tmp_path: Path) -> None:
    """Sent as soon as the step runs."""
    waiting = threading.get_ident()

    def interrupt() -> None:
        while not (tmp_path / "up").exists():
            time.sleep(0.01)
        signal.pthread_kill(waiting, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        launch.run(make_step(tmp_path, "setsid sleep 1000 & touch $MARK/up; sleep 1000"))
    assert list_processes(tmp_path) == []


def test_no_process_survives_a_killed_rankbench(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from rankbench import launch; from rankbench.model import *\n"
        "folder = Path(sys.argv[1])\n"
        "command = CommandLine(arguments=['bash', '-c', 'touch $MARK/up; setsid sleep 1000 & sleep 1000'],"
        " environment={'MARK': str(folder)})\n"
        "launch.run(Step(command=command, output=folder / 'output', watch=folder / 'watch', limit_s=60))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], start_new_session=True)
    while not (tmp_path / "up").exists():
        time.sleep(0.02)
    assert list_processes(tmp_path) != []
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    while list_processes(tmp_path):
        time.sleep(0.02)


PROGRAM = """
import sys; from pathlib import Path; from rankbench import launch; from rankbench.model import *
folder = Path(sys.argv[1])
script = 'setsid sleep 1000 & echo $PPID >$MARK/part; mv $MARK/part $MARK/up; wait'
command = CommandLine(arguments=['bash', '-c', script], environment={'MARK': str(folder)})
launch.run(Step(command=command, output=folder / 'output', watch=folder / 'watch', limit_s=60))
"""
"""Runs a step that writes its supervisor's process number to `up`."""


def find_supervisor(folder: Path) -> int:
    """Wait until a step runs, and return its supervisor."""
    while not (folder / "up").exists():
        time.sleep(0.01)
    return int((folder / "up").read_text())


@pytest.mark.thorough
def test_a_killed_supervisor_ends_its_step_and_no_other(tmp_path: Path) -> None:
    """The second step continues until the first has no process left."""
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    mark = "echo $PPID >$MARK/part; mv $MARK/part $MARK/up"
    steps = [
        make_step(folders[0], f"(setsid bash -c 'trap \"\" TERM; sleep 1000; sleep 1000' &); {mark}; sleep 1000"),
        make_step(folders[1], f"while [ ! -e {tmp_path}/ended ]; do sleep 0.05; done; exit 7"),
    ]
    leftovers = []

    def record_end(place: int) -> None:
        if place == 0:
            leftovers.extend(list_processes(folders[0]))
            (tmp_path / "ended").touch()

    threading.Thread(target=lambda: os.kill(find_supervisor(folders[0]), signal.SIGKILL)).start()
    first, second = launch.run_together(steps, record_end)
    assert isinstance(first, launch.SupervisorKilledError)
    assert str(first) == WORDING
    assert isinstance(second, Outcome)
    assert second.exit_code == 7
    assert leftovers == list_processes(folders[0]) == []


def test_a_step_whose_supervisor_is_killed_is_repeated(tmp_path: Path) -> None:
    mark = "echo $PPID >$MARK/part; mv $MARK/part $MARK/up"
    threading.Thread(target=lambda: os.kill(find_supervisor(tmp_path), signal.SIGKILL)).start()
    outcome = launch.run(make_step(tmp_path, f"[ ! -e $MARK/up ] || exit 7; {mark}; sleep 1000"))
    assert outcome.exit_code == 7


def find_parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_no_process_survives_a_killed_supervisor_and_rankbench(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)], start_new_session=True)
    watcher = find_supervisor(tmp_path)
    os.kill(process.pid, signal.SIGSTOP)  # Rankbench would end the step's processes, too.
    os.kill(watcher, signal.SIGKILL)
    process.kill()
    process.wait()
    while list_processes(tmp_path):
        time.sleep(0.02)


def test_no_launcher_survives_both_processes_of_a_supervisor_and_rankbench(tmp_path: Path) -> None:
    program = PROGRAM.replace("setsid sleep 1000 & ", "").replace("wait'", "exec sleep 1000'")
    process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], start_new_session=True)
    watcher = find_supervisor(tmp_path)
    for pid in (process.pid, find_parent(watcher)):
        os.kill(pid, signal.SIGSTOP)
    for pid in (watcher, find_parent(watcher), process.pid):
        os.kill(pid, signal.SIGKILL)
    process.wait()
    while list_processes(tmp_path):
        time.sleep(0.02)


def test_a_supervisor_without_a_reader_prints_nothing(tmp_path: Path) -> None:
    """As when rankbench was killed: nothing is printed over the user's prompt."""
    errors = tmp_path / "errors"
    with errors.open("wb") as file:
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)], start_new_session=True, stderr=file)
    watcher = find_supervisor(tmp_path)
    process.kill()
    process.wait()
    while Path(f"/proc/{watcher}/cmdline").exists() and Path(f"/proc/{watcher}/cmdline").read_bytes():
        time.sleep(0.02)
    assert list_processes(tmp_path) == []
    assert errors.read_text() == ""


HOLD_MEMORY = """
import mmap, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for path in sys.argv[1:]:
    with open(path, "w+b") as file:
        file.truncate(4096)
        globals()[path] = mmap.mmap(file.fileno(), 4096)
print("up", flush=True)
time.sleep(1000)
"""
"""A stand-in for a rank with shared memory, killed before it can remove it."""


def test_shared_memory_of_a_killed_step_is_removed_unless_others_use_it(tmp_path: Path) -> None:
    private, shared, other = (
        Path(f"/dev/shm/rankbench-test-{os.getpid()}-{name}") for name in ("own", "shared", "other")
    )
    other.write_bytes(b"not of this step")
    with subprocess.Popen([sys.executable, "-c", HOLD_MEMORY, str(shared)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        holder.stdout.readline()
        script = f"{sys.executable} -c '{HOLD_MEMORY}' {private} {shared}"
        outcome = launch.run(make_step(tmp_path, script.replace("w+b", "a+b"), limit_s=1.5))
        exist = [path.exists() for path in (private, shared, other)]
        holder.kill()
    for path in (shared, other):
        path.unlink()
    assert outcome.hung
    assert (tmp_path / "output").read_text() == "up\n"
    assert exist == [False, True, True]


DIE_WITH_MEMORY = """
import mmap, os, signal, sys, time
for path in sys.argv[2:]:
    with open(path, "a+b") as file:
        file.truncate(4096)
        globals()[path] = mmap.mmap(file.fileno(), 4096)
time.sleep(float(sys.argv[1]))
os.kill(os.getpid(), signal.SIGSEGV)
"""
"""A stand-in for a rank that dies with shared memory of its own."""


@pytest.mark.parametrize(("first", "lives_s"), [("true", 0.2), ("echo up >$MARK/watch; sleep 1.5", 2.5)])
def test_shared_memory_of_a_step_that_dies_is_removed(first: str, lives_s: float, tmp_path: Path) -> None:
    """Soon after its start, and with memory of a later case. What was there before stays, and new files of others."""
    created, older, other = (
        Path(f"/dev/shm/rankbench-test-{os.getpid()}-{name}") for name in ("own", "older", "other")
    )
    older.write_bytes(b"there before")
    script = f"echo new >{other}; {first}; {sys.executable} -c '{DIE_WITH_MEMORY}' {lives_s} {created} {older}"
    outcome = launch.run(make_step(tmp_path, script))
    exist = [path.exists() for path in (created, older, other)]
    for path in (older, other):
        path.unlink()
    assert outcome.exit_code == -signal.SIGSEGV
    assert exist == [False, True, True]


def test_shared_memory_of_a_step_that_dies_at_once_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can see it map its files: their names, and that they are new, have to do."""
    older, created, other = (
        Path(f"/dev/shm/rankbench-test-{os.getpid()}-{name}") for name in ("rank-0", "rank-1", "data")
    )
    monkeypatch.setattr(resources, "SEGMENTS", (f"rankbench-test-{os.getpid()}-rank-*",))
    older.write_bytes(b"there before")
    outcome = launch.run(make_step(tmp_path, f"echo new >{other}; echo new >{created}; exit 3"))
    exist = [path.exists() for path in (created, older, other)]
    for path in (older, other):
        path.unlink()
    assert outcome.exit_code == 3
    assert exist == [False, True, True]


@pytest.mark.parametrize("name", ["ompi.PID", "ompi.host.0/pid.PID", "prte.host.0/dvm.PID"])
def test_folders_of_a_killed_launcher_are_removed(name: str, tmp_path: Path) -> None:
    """Those of other launchers stay."""
    other = tmp_path / "ompi.1"
    other.mkdir()
    script = f"mkdir -p $TMPDIR/{name.replace('PID', '$$')}/1; echo up; kill -9 $$"
    launch.run(make_step(tmp_path, script, TMPDIR=str(tmp_path)))
    assert {path.name for path in tmp_path.rglob("*") if path.is_dir()} == {"ompi.1", *Path(name).parts[:-1]}


def test_the_launcher_can_clean_up_before_its_ranks_are_killed(tmp_path: Path) -> None:
    """The launcher ends a child by SIGUSR1, which the child records."""
    rank = "trap 'echo USR1 >>$MARK/signals; exit' USR1; trap 'echo TERM >>$MARK/signals; exit' TERM"
    rank += "; while :; do sleep 0.05; done"
    script = f"({rank}) & rank=$!; trap 'kill -USR1 $rank; wait; exit 3' TERM; wait"
    assert launch.run(make_step(tmp_path, script, limit_s=1.0)).hung
    assert (tmp_path / "signals").read_text() == "USR1\n"


def test_a_supervisor_without_input_prints_nothing() -> None:
    answer = subprocess.run(
        [sys.executable, supervisor.__file__], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, b"", b"")
