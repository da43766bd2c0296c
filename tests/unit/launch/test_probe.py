"""Reading the core's `--state`, and every failure of it in one line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from wording import WORDING

from rankbench import launch
from rankbench.launch import probe
from rankbench.model import CommandLine, Exchange, RankbenchError, State

STATE_OUTPUT = (
    '{"cpus":[0,3],"exchange":[{"cpus":[0,3],"median_ns":60.5,"min_ns":43.8}],"copy_bytes_per_s":62443422990,'
    '"frequency_hz":[2299998000,null],"stolen_s":0.14,"load":0.03,"running":3}'
)


def write_program(folder: Path, code: str) -> CommandLine:
    """Return a stand-in for the core that runs some Python."""
    path = folder / "core"
    path.write_text(f"#!{sys.executable}\nimport os, sys, time\n{code}\n")
    path.chmod(0o755)
    return CommandLine(arguments=[str(path), "--state"], environment={"REPORTED": STATE_OUTPUT})


def read_refusal(command: CommandLine) -> str:
    with pytest.raises(RankbenchError) as error:
        launch.state(command)
    return str(error.value)


def test_a_state_is_read_in_the_given_environment(tmp_path: Path) -> None:
    assert launch.state(write_program(tmp_path, "print(os.environ['REPORTED'])")) == State(
        cpus=[0, 3],
        exchange=[Exchange(cpus=(0, 3), median_ns=60.5, min_ns=43.8)],
        copy_bytes_per_s=62443422990,
        frequency_hz=[2299998000, None],
        stolen_s=0.14,
        load=0.03,
        running=3,
    )


def test_an_error_of_the_core_is_reported(tmp_path: Path) -> None:
    command = write_program(tmp_path, "sys.exit('rankbench-core: option --state is not known')")
    assert read_refusal(command) == WORDING


def test_an_output_that_is_no_state_is_reported(tmp_path: Path) -> None:
    assert read_refusal(write_program(tmp_path, "print('[]')")) == WORDING


def test_a_program_that_cannot_run_is_reported(tmp_path: Path) -> None:
    command = CommandLine(arguments=[f"{tmp_path}/missing", "--state"])
    assert read_refusal(command) == WORDING


def test_a_program_that_does_not_answer_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "LONGEST_S", 0.2)
    assert read_refusal(write_program(tmp_path, "time.sleep(1000)")) == WORDING
