"""Errors that no part of the program expects have one line, and a file for who corrects them."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from rankbench import cli
from rankbench.cli import unexpected

WORDS = ["show", "results/a b"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RANKBENCH_HOME", str(tmp_path))
    return tmp_path


def fail_with(error: Exception, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a command that ends with an error."""

    def run(*_: object) -> int:
        raise error

    monkeypatch.setattr(cli, "run_application", run)
    return cli.call(WORDS)


def test_an_error_of_the_program_is_one_line_and_a_file(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fail_with(KeyError("no such\nkey"), monkeypatch) == 70
    (path,) = (home / "errors").glob("rankbench-*.txt")
    text = path.read_text()
    assert "rankbench show 'results/a b'" in text
    assert "Traceback (most recent call last)" in text
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("rankbench: an error of rankbench itself: KeyError: 'no such\\nkey' (__init__.py:")
    assert line.endswith(f"please report it with {path}")


def test_a_refusal_of_the_system_names_its_file(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fail_with(PermissionError(errno.EACCES, "Permission denied", "/closed/file"), monkeypatch) == 2
    assert capsys.readouterr().err == "rankbench: /closed/file: Permission denied\n"
    assert not (home / "errors").exists()


def test_without_a_folder_to_write_into_there_is_still_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(blocked))
    line = unexpected.explain_error(OSError(errno.EIO, "Input/output error"), WORDS, blocked)
    assert line.startswith("an error of rankbench itself: OSError: [Errno 5] Input/output error (no place is known)")
    assert line.endswith("; please report it")
