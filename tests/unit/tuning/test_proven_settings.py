"""Proven settings: stored below the home, found by library and machine, the newest first."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from wording import refuses

from rankbench.model import Library, ProvenSettings
from rankbench.tuning.handover import proven_settings

LIBRARY = Library(name="mpich-5.0.2", family="mpich", version="5.0.2", source="path", prefix="/p", wrapper="/p/mpicc",
                  launcher="/p/mpiexec")  # fmt: skip
PROVEN = ProvenSettings(
    library="mpich-5.0.2", created="2026-11-25T10:00:00+00:00", host="here", cpu="a CPU", ranks=[2], ratio=0.8,
    text="0.80x of the time", campaigns="results/tune", settings={"FILE": "{folder}/rules.json", "A": "1"},
)  # fmt: skip


def test_files_of_proven_settings_are_stored_with_them(tmp_path: Path) -> None:
    placed = proven_settings.store_proven(PROVEN, {"rules.json": "{}"}, tmp_path)
    assert placed.settings == {"FILE": f"{placed.folder}/rules.json", "A": "1"}
    assert Path(placed.settings["FILE"]).read_text() == "{}"
    assert proven_settings.find_proven(LIBRARY, tmp_path, "here") == placed


def test_the_newest_settings_of_this_machine_are_used(tmp_path: Path) -> None:
    for created, host in (("2026-11-26", "here"), ("2026-11-25", "here"), ("2026-11-27", "there")):
        proven_settings.store_proven(msgspec.structs.replace(PROVEN, created=created, host=host), {}, tmp_path)
    assert proven_settings.find_proven(LIBRARY, tmp_path, "here").created == "2026-11-26"
    assert proven_settings.find_proven(LIBRARY, tmp_path, "").created == "2026-11-27"


def test_without_proven_settings_the_error_names_the_command_that_tunes(tmp_path: Path) -> None:
    with refuses():
        proven_settings.find_proven(LIBRARY, tmp_path, "here")
    proven_settings.store_proven(msgspec.structs.replace(PROVEN, host="there"), {}, tmp_path)
    with refuses():
        proven_settings.find_proven(LIBRARY, tmp_path, "here")


@pytest.mark.parametrize(
    ("name", "expected"), [("mpich", ("mpich", False)), ("mpich==4.3.2 tuned", ("mpich==4.3.2", True))]
)
def test_a_plan_names_a_tuned_library_by_a_suffix(name: str, expected: tuple[str, bool]) -> None:
    assert proven_settings.split_name(name) == expected
