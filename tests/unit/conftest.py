"""Fixtures of all unit tests, which must not depend on the machine."""

from __future__ import annotations

import pytest
from fakes.unwritten import UnwrittenStore

from rankbench import caching, store
from rankbench.campaign import pinning
from rankbench.launch import resources

EVALUATED = {"claims", "questions", "report", "statistics"}
"""Folders of tests that evaluate campaigns and do not read them from a folder, except for those marked `written`."""


@pytest.fixture(autouse=True)
def _each_cpu_is_a_core(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """CPUs 0 and 1, which the stand-in core reports, are threads of one core on many machines."""
    monkeypatch.setattr(pinning, "CPU_FOLDER", tmp_path_factory.getbasetemp() / "no-cpus")


@pytest.fixture(autouse=True)
def _nothing_was_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ended programs left in the machine's shared memory is in no printed text."""
    monkeypatch.setattr(resources, "SEGMENTS", ())


@pytest.fixture(autouse=True)
def _evaluated_campaigns_stay_in_memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """To write them takes longer than to evaluate them."""
    if request.path.parent.name in EVALUATED and not request.node.get_closest_marker("written"):
        monkeypatch.setattr(store, "create", UnwrittenStore)


@pytest.fixture(autouse=True)
def _no_caching(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that calls the program's entry point must not leave cached results to later tests."""
    monkeypatch.setattr(caching, "_folders", [])
