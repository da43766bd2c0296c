"""The real probe of the state of the machine. Tests use ratios and its end, never its times."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from rankbench import build, launch
from rankbench.model import CommandLine, Library, State

CPUS = sorted(os.sched_getaffinity(0))


@pytest.fixture(scope="module")
def probe(reach: list[Library], home: Path) -> list[str]:
    """Return the command that prints the state, as built with the first library in reach."""
    return [str(build.build(reach[0], home).binary), "--state"]


@contextlib.contextmanager
def occupy_cpu(cpu: int) -> Iterator[None]:
    """Keep a CPU busy with another process that is pinned to it."""
    code = f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nprint(flush=True)\nwhile True: pass"
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert other.stdout
        other.stdout.readline()
        yield
    finally:
        other.kill()
        other.communicate()


def run_probe(probe: list[str], *arguments: str) -> State:
    answer = subprocess.run([*probe, *arguments], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")
    return msgspec.json.decode(answer.stdout, type=State)


def count_pairs(cpus: list[int]) -> int:
    return len(cpus) * (len(cpus) - 1) // 2


def test_the_core_of_every_library_prints_the_state_without_mpi(reach: list[Library], home: Path) -> None:
    for library in reach:
        binary = build.build(library, home).binary
        state = launch.state(CommandLine(arguments=[str(binary), "--state"], environment=library.environment))
        assert state.cpus == CPUS, library.name
        assert len(state.frequency_hz) == len(CPUS)
        assert state.copy_bytes_per_s is not None
        assert state.copy_bytes_per_s > 0
        assert (state.stolen_s >= 0, state.running >= 0, state.load >= 0) == (True, True, True)


def test_a_single_cpu_has_no_exchange(probe: list[str]) -> None:
    state = run_probe(probe, "--cpus", str(CPUS[0]))
    assert (state.cpus, state.exchange) == (CPUS[:1], [])
    assert state.copy_bytes_per_s is not None


def test_the_probe_ends_although_a_cpu_is_busy(probe: list[str]) -> None:
    with occupy_cpu(CPUS[0]):
        state = run_probe(probe, "--cpus", ",".join(map(str, CPUS[:2])))
    assert state.cpus == CPUS[:2]
    assert all(pair.min_ns > 0 for pair in state.exchange)
    assert state.running >= 1


def test_the_probe_ends_although_all_its_cpus_are_busy(probe: list[str]) -> None:
    with contextlib.ExitStack() as others:
        for cpu in CPUS[:2]:
            others.enter_context(occupy_cpu(cpu))
        state = run_probe(probe, "--cpus", ",".join(map(str, CPUS[:2])))
    assert state.copy_bytes_per_s is None or state.copy_bytes_per_s > 0


def test_the_probe_leaves_no_process(probe: list[str]) -> None:
    process = subprocess.Popen(probe, stdout=subprocess.DEVNULL, start_new_session=True)
    assert process.wait() == 0
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.parametrize(
    ("cpus", "sentence"),
    [
        ("x", "--cpus 'x' is no list of CPUs such as 0,2-5"),
        ("1-0", "--cpus '1-0' is no list of CPUs such as 0,2-5"),
        ("0,,1", "--cpus '0,,1' is no list of CPUs such as 0,2-5"),
        ("1023", "--cpus '1023': this process may not run on CPU 1023"),
    ],
)
def test_a_wrong_list_of_cpus_is_refused_in_one_line(probe: list[str], cpus: str, sentence: str) -> None:
    answer = subprocess.run([*probe, "--cpus", cpus], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout, answer.stderr) == (2, "", f"rankbench-core: {sentence}\n")
