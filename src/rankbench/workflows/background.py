"""Work in threads while a command waits for compilers and launchers, which take most of its start."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def start_thread(act: Callable[[], T]) -> Callable[[], T]:
    """Start a function in a thread; return a function that waits for its result, or raises its exception.

    The process does not end before the thread does, so that no program that it started remains.
    """
    pool = ThreadPoolExecutor(1)
    result = pool.submit(act)
    pool.shutdown(wait=False)
    return result.result


def load(*names: str) -> Callable[[], object]:
    """Start loading modules in a thread; return a function that waits until they are loaded."""
    return start_thread(lambda: [importlib.import_module(name) for name in names])
