from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rankbench import launch
from rankbench.launch import keeper
from rankbench.model import CommandLine, RankbenchError, Step


def step(tmp_path: Path, script: str, limit_s: float = 30.0, **environment: str) -> Step:
    """Return a step that runs a shell script; its processes carry the folder's name in their environment."""
    command = CommandLine(arguments=["bash", "-c", script], environment={"MARK": str(tmp_path), **environment})
    return Step(command=command, output=tmp_path / "output", watch=tmp_path / "watch", limit_s=limit_s)


def left(mark: Path) -> list[str]:
    """Return the processes that a step in this folder started and that still run."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"MARK={mark}\0".encode() in (folder / "environ").read_bytes():
                found.append(folder.name)
        except OSError:
            continue
    return found


def test_the_exit_code_and_the_output_come_back(tmp_path: Path) -> None:
    outcome = launch.run(step(tmp_path, "echo said; echo $COLOUR >&2; exit 3", COLOUR="blue"))
    assert (outcome.exit_code, outcome.hung) == (3, False)
    assert (tmp_path / "output").read_text() == "said\nblue\n"


def test_a_signal_is_a_negative_exit_code(tmp_path: Path) -> None:
    assert launch.run(step(tmp_path, "kill -SEGV $$")).exit_code == -signal.SIGSEGV


def test_texts_that_a_command_reads_are_written_beside_its_output(tmp_path: Path) -> None:
    command = CommandLine(arguments=["cat", "ranks.txt"], files={"ranks.txt": "rank 0=n1 slot=0\n"})
    launch.run(Step(command=command, output=tmp_path / "output", watch=tmp_path / "watch", limit_s=30.0))
    assert (tmp_path / "output").read_text() == (tmp_path / "ranks.txt").read_text() == "rank 0=n1 slot=0\n"


def test_a_program_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    missing = Step(
        command=CommandLine(arguments=["/nowhere/mpiexec"]),
        output=tmp_path / "output",
        watch=tmp_path / "watch",
        limit_s=1,
    )
    with pytest.raises(RankbenchError) as error:
        launch.run(missing)
    assert str(error.value) == "/nowhere/mpiexec: No such file or directory"


def test_a_setting_that_no_process_can_be_given_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RankbenchError) as error:
        launch.run(step(tmp_path, "true", 30.0, **{"A=B": "1"}))
    assert str(error.value) == "bash: cannot be given these arguments and settings (illegal environment variable name)"


def test_an_output_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "output").mkdir()
    with pytest.raises(RankbenchError) as error:
        launch.run(step(tmp_path, "true"))
    assert str(error.value) == f"{tmp_path / 'output'}: Is a directory"


def test_the_keeper_needs_no_pidfd(tmp_path: Path) -> None:
    program = f"import os, runpy; del os.pidfd_open; runpy.run_path({keeper.__file__!r}, run_name='__main__')"
    order = {
        "arguments": ["sh", "-c", "exit 7"],
        "environment": {},
        "output": str(tmp_path / "output"),
        "watch": str(tmp_path / "watch"),
        "limit_s": 30,
    }
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
    assert (answer["exit_code"], answer["hung"]) == (7, False)


def test_a_step_that_shows_no_sign_of_life_is_hung_and_ended(tmp_path: Path) -> None:
    outcome = launch.run(step(tmp_path, "trap '' TERM; sleep 1000 & setsid sleep 1000 & wait; sleep 1000", limit_s=0.2))
    assert (outcome.exit_code, outcome.hung) == (None, True)
    assert left(tmp_path) == []


def test_a_step_whose_watched_file_grows_is_not_hung(tmp_path: Path) -> None:
    script = "for i in 1 2 3 4 5 6 7 8; do echo x >>$MARK/watch; sleep 0.5; done"
    assert launch.run(step(tmp_path, script, limit_s=3)).hung is False


def test_orphans_that_left_the_session_are_ended_with_the_step(tmp_path: Path) -> None:
    outcome = launch.run(step(tmp_path, "(setsid bash -c 'trap \"\" TERM; sleep 1000; sleep 1000' &) ; exit 0"))
    assert outcome.exit_code == 0
    assert left(tmp_path) == []


def test_a_keyboard_interrupt_ends_the_step_first(tmp_path: Path) -> None:
    """As soon as it is under way."""
    waiting = threading.get_ident()

    def interrupt() -> None:
        while not (tmp_path / "up").exists():
            time.sleep(0.01)
        signal.pthread_kill(waiting, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        launch.run(step(tmp_path, "setsid sleep 1000 & touch $MARK/up; sleep 1000"))
    assert left(tmp_path) == []


def test_nothing_is_left_when_rankbench_itself_is_killed(tmp_path: Path) -> None:
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
    assert left(tmp_path) != []
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    while left(tmp_path):
        time.sleep(0.02)


def test_a_keeper_that_is_told_nothing_says_nothing() -> None:
    answer = subprocess.run(
        [sys.executable, keeper.__file__], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, b"", b"")
