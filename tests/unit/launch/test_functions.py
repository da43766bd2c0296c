"""Functions of the job script that end launches, run by bash with real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankbench.launch import script
from rankbench.launch.script import FUNCTIONS
from rankbench.model import CommandLine

HOLD_MEMORY = """
import mmap, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(sys.argv[1], "w+b") as file:
    file.truncate(4096)
    memory = mmap.mmap(file.fileno(), 4096)
open(sys.argv[2], "w").close()
time.sleep(1000)
"""
"""A stand-in for a rank with shared memory, which only SIGKILL ends."""


@pytest.mark.thorough
def test_a_killed_launch_leaves_no_shared_memory(tmp_path: Path) -> None:
    """Its launcher gets SIGTERM first and records it; its rank ignores SIGTERM."""
    shared, other = (Path(f"/dev/shm/rankbench-test-{os.getpid()}-{name}") for name in ("launch", "other"))
    other.write_bytes(b"not of this launch")
    launcher = tmp_path / "launcher"
    launcher.write_text(
        f"#!/bin/bash\n{sys.executable} -c '{HOLD_MEMORY}' {shared} {tmp_path}/up &\n"
        f"trap 'echo TERM >>{tmp_path}/log' TERM\nwait; wait\n"
    )
    launcher.chmod(0o755)
    script = f"""
        campaign={tmp_path}
        . {FUNCTIONS}
        line() {{ {launcher}; }}
        set -m
        line &
        set +m
        while [ ! -e {tmp_path}/up ]; do sleep 0.05; done
        end_launcher $!
        wait
    """
    subprocess.run(["bash", "-c", script], check=False, capture_output=True, timeout=60)
    exist = [path.exists() for path in (shared, other)]
    for path in (shared, other):
        path.unlink(missing_ok=True)
    assert exist == [False, True]
    assert (tmp_path / "log").read_text().startswith("TERM\n")


def copy_output(folder: Path, command: str, output_bytes: int) -> str:
    """Return the stored output of a command, of which so many bytes of beginning and end are stored."""
    script = f"campaign={folder}; . {FUNCTIONS}; output_bytes={output_bytes}; {command} | copy_output {folder}"
    subprocess.run(["bash", "-c", script], check=True, timeout=60)
    return (folder / "output.log").read_text()


def test_short_output_of_a_launch_is_stored_unchanged(tmp_path: Path) -> None:
    assert copy_output(tmp_path, "printf 0123456789", 10) == "0123456789"
    assert copy_output(tmp_path, "printf 0123456789ABCDEFGHIJ", 10) == "0123456789ABCDEFGHIJ"
    assert copy_output(tmp_path, "{ printf 0123456789; sleep 0.2; printf ABC; }", 10) == "0123456789ABC"


def test_beginning_and_end_of_long_output_are_stored_and_all_of_it_is_counted(tmp_path: Path) -> None:
    text = copy_output(tmp_path, "{ printf first; seq 100000; printf last; }", 10000)
    beginning, omission, end = text.partition("\n[rankbench left out 568904 bytes of output here]\n")
    assert omission, text
    assert (len(beginning), len(end)) == (10000, 10000)
    assert beginning.startswith("first1\n2\n")
    assert end.endswith("\n99999\n100000\nlast")
    assert int((tmp_path / "output_bytes").read_text()) == 588904
    assert sorted(path.name for path in tmp_path.iterdir()) == ["output.log", "output_bytes"]


def test_output_that_cannot_be_stored_does_not_stop_a_launch(tmp_path: Path) -> None:
    copying = f"seq 1000000 | copy_output {tmp_path}/nowhere; echo ${{PIPESTATUS[0]}}"
    script = f"campaign={tmp_path}; . {FUNCTIONS}; {copying}"
    process = subprocess.run(["bash", "-c", script], check=True, timeout=60, capture_output=True, text=True)
    assert process.stdout == "0\n"


def test_the_core_is_started_behind_its_wrapping_command_to_measure_the_state(tmp_path: Path) -> None:
    line = script.Line("f", "t", ["nice", "-n", "0", f"{tmp_path}/a core"], 2, CommandLine(arguments=["mpiexec"]))
    row = next(text for text in script.render_function(line) if text.startswith("core["))
    core = tmp_path / "a core"
    core.write_text('#!/bin/sh\necho "$# $1 $(nice)"\n', encoding="utf-8")
    core.chmod(0o755)
    commands = f'declare -A core\n. {script.FUNCTIONS}\n{row}\nprobe_state "${{core[f]}}" {tmp_path}/state'
    subprocess.run(["bash", "-c", commands], check=True)
    assert (tmp_path / "state").read_text(encoding="utf-8").startswith("1 --state ")
