"""What holds for all unit tests: none depends on the machine it runs on."""

from __future__ import annotations

import pytest

from rankbench import caching
from rankbench.campaign import pinning


@pytest.fixture(autouse=True)
def _each_cpu_is_a_core(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """CPUs 0 and 1, which the stand-in core claims, are threads of one core on many machines."""
    monkeypatch.setattr(pinning, "CPU_FOLDER", tmp_path_factory.getbasetemp() / "no-cpus")


@pytest.fixture(autouse=True)
def _nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that calls the program's entrance makes no other find what was computed then."""
    monkeypatch.setattr(caching, "_folders", [])
