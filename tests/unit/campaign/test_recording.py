"""What `record` does around the user's command."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from rankbench.campaign.recording import run_command

DIE_WITH_MEMORY = """
import mmap, os, signal, sys, time
with open(sys.argv[1], "w+b") as file:
    file.truncate(4096)
    memory = mmap.mmap(file.fileno(), 4096)
time.sleep(0.3)
os.kill(os.getpid(), signal.SIGSEGV)
"""
"""A stand-in for a rank that dies."""


def test_shared_memory_of_a_program_that_dies_is_removed() -> None:
    created, other = (Path(f"/dev/shm/rankbench-test-{os.getpid()}-{name}") for name in ("recorded", "beside"))
    script = f"echo beside >{other}; exec {sys.executable} -c '{DIE_WITH_MEMORY}' {created}"
    try:
        assert run_command(["sh", "-c", script]) == (-signal.SIGSEGV, None)
        assert (created.exists(), other.exists()) == (False, True)
    finally:
        other.unlink()
