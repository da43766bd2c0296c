"""Signals that end a command, and exit codes."""

from __future__ import annotations

import signal

SIGNALLED = 128
"""Offset of a signal's number in an exit code."""


class Terminated(BaseException):
    """A signal ended this process. As after Ctrl-C, processes are ended and the lock is released."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def exit_code(stopped: BaseException) -> int:
    """Return the exit code of shells for a signal; KeyboardInterrupt is SIGINT."""
    return SIGNALLED + (stopped.number if isinstance(stopped, Terminated) else signal.SIGINT)


def catch_signals() -> None:
    """Make SIGTERM and SIGHUP raise Terminated, once, unless they are ignored by the parent process."""

    def stop(number: int, _: object) -> None:
        for signal_number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(signal_number, signal.SIG_IGN)
        raise Terminated(number)

    for signal_number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(signal_number) == signal.SIG_DFL:
            signal.signal(signal_number, stop)
