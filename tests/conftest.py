"""Its presence lets every test import `fakes`; and what holds for all: no example has a time limit, no store a disk."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

# Examples may take as long as the machine likes: one that was held up for a moment is no failure.
settings.register_profile("rankbench", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("rankbench")
# A shell that puts a suite into the background lets it ignore Ctrl-C, and programs under test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Programs under test are started by the hundred, and are not to be compiled anew by each, as they are for no user.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# pytest-xdist sets it in its processes, where tests that read what is printed expect none.
os.environ.pop("COLUMNS", None)


@pytest.fixture(autouse=True, scope="session")
def _files_need_not_outlive_the_machine() -> Iterator[None]:
    """Stores are written by the thousand, and whether a disk has them after a power failure no test could see."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _handle: None)
        yield
