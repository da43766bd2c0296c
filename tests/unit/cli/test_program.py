"""Printed commands work when they are pasted into the same shell."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import mark_thorough

from rankbench.cli.display import console, print_text, spread_lines
from rankbench.cli.program import adapt_commands

PROGRAM = Path(sys.executable).with_name("rankbench")


def run(command: str, place: Path, path: str) -> subprocess.CompletedProcess[str]:
    """Return how a command line ends in a shell, with this search path before the system's."""
    variables = {**os.environ, "PATH": f"{path}:/usr/bin:/bin", "RANKBENCH_HOME": str(place / "home")}
    return subprocess.run(["sh", "-c", command], cwd=place, env=variables, text=True, capture_output=True, check=False)


@pytest.mark.parametrize(
    ("program", "on_path"),
    [
        mark_thorough("bin/rankbench", False),
        mark_thorough(shlex.quote(str(PROGRAM)), False),
        mark_thorough("rankbench", True),
        mark_thorough(f"{shlex.quote(sys.executable)} -m rankbench", False),
        pytest.param("bin/rankbench", "other", id="another-is-on-path"),
    ],
)
def test_a_printed_next_step_can_be_pasted(tmp_path: Path, program: str, on_path: bool | str) -> None:
    (tmp_path / "bin").symlink_to(PROGRAM.parent)
    other = tmp_path / "other/rankbench"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    path = {True: str(PROGRAM.parent), False: str(tmp_path / "none"), "other": str(other.parent)}[on_path]
    wrote = run(f"{program} plan new", tmp_path, path)
    assert wrote.stdout == f"wrote plan.toml\nnext: {program} run plan.toml --dry-run\n", wrote.stderr
    missing = run(f"{program} show", tmp_path, path)
    assert f" make one: {program} run PLAN" in missing.stderr
    called = wrote.stdout.partition("next: ")[2].partition(" run ")[0]
    pasted = run(f"{called} plan show plan.toml", tmp_path, path)
    assert pasted.returncode == 0, pasted.stderr
    assert pasted.stdout == (tmp_path / "plan.toml").read_text()


def test_only_commands_get_the_path_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["a b/rankbench"])
    text = "rankbench finds `rankbench find`; see rankbench -h, /opt/rankbench run and rankbench runs"
    assert adapt_commands(text) == (
        "rankbench finds `'a b/rankbench' find`; see 'a b/rankbench' -h, /opt/rankbench run and rankbench runs"
    )


@pytest.mark.parametrize("called", [["/usr/bin/python3", "-m", "rankbench"], ["a b/rankbench"]])
def test_a_command_is_adapted_once(monkeypatch: pytest.MonkeyPatch, called: list[str]) -> None:
    monkeypatch.setattr("sys.orig_argv", called)
    monkeypatch.setattr("sys.argv", called if len(called) == 1 else ["/lib/rankbench/__main__.py"])
    once = adapt_commands("next: rankbench run PLAN")
    assert once == f"next: {shlex.quote(called[0])} {'-m rankbench ' if called[1:] else ''}run PLAN"
    assert adapt_commands(once) == once


def test_a_command_at_the_end_of_a_line_is_never_wrapped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "width", 40)
    command = "rankbench run mpich --operations allreduce --sizes 8:64K"
    print_text(f"another minute would decide about 1 of 6 open cases: {command}")
    print_text("next: rankbench report results/plan")
    print_text("x" * 30 + ": rankbench show")
    assert capsys.readouterr().out.splitlines() == [
        "another minute would decide about 1 of 6",
        "open cases:",
        command,
        "next: rankbench report results/plan",
        "x" * 30 + ":",
        "rankbench show",
    ]


@pytest.mark.parametrize("width", [40, 44, 48, 52])
def test_no_line_ends_within_the_program_s_name(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name would be replaced again on the next line."""
    monkeypatch.setattr("sys.argv", ["/somewhere/rankbench/__main__.py"])
    monkeypatch.setattr("sys.orig_argv", ["python3", "-m", "rankbench"])
    monkeypatch.setattr(console, "width", width)
    spread_lines("UCX_TLS=tcp is set here: not at default settings; `rankbench run --clean` leaves it out")
    printed = capsys.readouterr().out
    assert printed.count("python3 -m rankbench run") == printed.count("python3") == 1
    assert all(len(line) <= width for line in printed.splitlines())
