"""Signals that end a command, and exit codes."""

from __future__ import annotations

import signal

SIGNALLED = 128
"""What shells add to a signal's number for an exit code."""


class Terminated(BaseException):
    """A signal asked this process to end. It ends as after Ctrl-C: processes first, and the lock."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def exit_code(stopped: BaseException) -> int:
    """Return the exit code after a signal, as shells have it; KeyboardInterrupt is SIGINT."""
    return SIGNALLED + (stopped.number if isinstance(stopped, Terminated) else signal.SIGINT)


def catch_signals() -> None:
    """Let SIGTERM and SIGHUP raise Terminated, once, unless whoever started this process has them ignored."""

    def stop(number: int, _: object) -> None:
        for signal_number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(signal_number, signal.SIG_IGN)
        raise Terminated(number)

    for signal_number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(signal_number) == signal.SIG_DFL:
            signal.signal(signal_number, stop)
