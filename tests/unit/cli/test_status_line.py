"""The line on standard error that names work in progress."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import sys
import time
from collections.abc import Iterator

import pytest

from rankbench.cli.display import StatusLine

PATIENCE_S = 10.0


@contextlib.contextmanager
def open_terminal() -> Iterator[int]:
    """Yield the other end of a terminal that is standard error; a fixture would be set up before pytest's own."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as stream, contextlib.redirect_stderr(stream):
        yield ours
    os.close(ours)


def read_until(terminal: int, wanted: str) -> str:
    """Return the terminal's output up to this text."""
    text, begin_s = "", time.monotonic()
    while wanted not in text and time.monotonic() - begin_s < PATIENCE_S:
        if select.select([terminal], [], [], 0.1)[0]:
            text += os.read(terminal, 1000).decode()
    return text


def test_long_work_is_shown_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StatusLine, "DELAY_S", 0.01)
    with open_terminal() as terminal:
        check_shown_work(terminal)


def check_shown_work(terminal: int) -> None:
    with StatusLine("evaluating …") as working:
        assert "evaluating …" in read_until(terminal, "evaluating …")
        working.update("drawing: 3 …")
        assert "drawing: 3 …" in read_until(terminal, "drawing: 3 …")
    assert read_until(terminal, "\x1b[K").endswith("\r\x1b[K")


def test_short_work_is_not_shown() -> None:
    with open_terminal() as terminal:
        with StatusLine("evaluating …") as working:
            working.update("drawing …")
        os.write(sys.stderr.fileno(), b"end")
        assert read_until(terminal, "end") == "end"


def test_nothing_is_shown_in_a_file(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StatusLine, "DELAY_S", 0.0)
    with StatusLine("evaluating …"):
        time.sleep(0.05)
    assert capsys.readouterr() == ("", "")
