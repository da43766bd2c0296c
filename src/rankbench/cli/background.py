"""What a command does while it waits for other programs: most of its start is waiting for compilers and launchers."""

from __future__ import annotations

import importlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def start_thread(act: Callable[[], T]) -> Callable[[], T]:
    """Begin an act in a thread; return what waits for its end and returns its result, or raises what it raised.

    The process does not end before the act has, so that no program which it has started is left behind.
    """
    pool = ThreadPoolExecutor(1)
    result = pool.submit(act)
    pool.shutdown(wait=False)
    return result.result


def load(*names: str) -> Callable[[], object]:
    """Begin to load modules in a thread; return what waits until they are there."""
    return start_thread(lambda: [importlib.import_module(name) for name in names])
