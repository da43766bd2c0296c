"""What holds for all unit tests: none depends on the machine it runs on."""

from __future__ import annotations

import pytest

from rankbench.campaign import pinning


@pytest.fixture(autouse=True)
def _each_cpu_is_a_core(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """CPUs 0 and 1, which the stand-in core claims, are threads of one core on many machines."""
    monkeypatch.setattr(pinning, "CPU_FOLDER", tmp_path_factory.getbasetemp() / "no-cpus")
