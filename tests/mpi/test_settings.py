"""Settings within a launch, and tuning, with real libraries; preloads make one algorithm slow, or its results wrong."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import fakes
import polars as pl
import pytest

from mpi.conftest import rankbench
from mpi.test_core import ONE_LIBRARY, Core, core
from rankbench import libraries
from rankbench.campaign.variables import variables
from rankbench.libraries import tuners

if TYPE_CHECKING:
    from rankbench.model import Library

__all__ = ["core"]

OFF = "MPIR_CVAR_DEVICE_COLLECTIVES=none"
ALGORITHM = "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"
RING, RING_NUMBER = f"{OFF};{ALGORITHM}=ring", "8"


@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel-mpi"])
def test_every_library_lists_its_variables_and_algorithms(name: str, reach: list[Library], home: Path) -> None:
    library = libraries.choose(name, reach)
    listed = variables(library, home)
    assert len(listed) > 300
    for operation in ("allreduce", "bcast", "alltoall", "reduce"):
        assert (
            len({list_variant.name for list_variant in tuners.find_tuner(library).list_variants(operation, listed)})
            >= 3
        )


@pytest.fixture(scope="module")
def algorithm(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("algorithm") / "algorithm.so"
    source = Path(fakes.__file__).with_name("algorithm.c")
    command = [core.library.wrapper, "-O2", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True, env={**os.environ, **core.library.environment})
    return library


@ONE_LIBRARY
def test_a_setting_holds_for_its_case_alone(core: Core, algorithm: Path, tmp_path: Path) -> None:
    plain = {"operation": "allreduce", "bytes": 8, "samples": 20}
    cases = [plain, plain | {"settings": RING}, plain, plain | {"settings": ";"}]
    before = ("env", f"LD_PRELOAD={algorithm}", f"ALGORITHM={RING_NUMBER}", "ALGORITHM_HOW=wrong")
    records = core.job(tmp_path, 2, cases, before=before)
    assert [record["status"] for record in records] == ["ok", "wrong-data", "ok", "ok"]


@ONE_LIBRARY
@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("NO_SUCH=1", "NO_SUCH is no variable of this library"),
        (f"{ALGORITHM}=rnig", f"{ALGORITHM} has no value rnig in this library"),
    ],
)
def test_what_the_library_does_not_have_is_lacking(core: Core, settings: str, reason: str, tmp_path: Path) -> None:
    case = {"operation": "allreduce", "bytes": 8, "samples": 20, "settings": settings}
    (record,) = core.job(tmp_path, 2, [case])
    assert (record["status"], record["reason"]) == ("lacking", reason)


PLAN = """
candidates = ["openmpi"]
operations = ["allreduce"]
sizes = "64K"
control = false
options = { settings = ["default", "linear", "ring"] }
stop = { blocks = 1 }

[settings]
linear = { coll_tuned_use_dynamic_rules = 1, coll_tuned_allreduce_algorithm = "basic_linear" }
ring = { coll_tuned_use_dynamic_rules = 1, coll_tuned_allreduce_algorithm = "ring" }
"""


def test_all_settings_are_measured_in_one_launch(tmp_path: Path, home: Path) -> None:
    (tmp_path / "p.toml").write_text(PLAN)
    process = rankbench("run", str(tmp_path / "p.toml"), "--results", str(tmp_path), home=home)
    assert process.returncode == 0, process.stderr
    (launch,) = (tmp_path / "p" / "launches").iterdir()
    rows = pl.read_parquet(tmp_path / "p" / "cases" / f"{launch.stem}.parquet")
    assert rows["status"].to_list() == ["ok"] * 3
    assert {case.rpartition("settings=")[2] for case in rows["case"] if "settings" in case} == {"linear", "ring"}


@pytest.mark.thorough
def test_a_library_is_tuned_and_the_result_proven(tmp_path: Path, home: Path) -> None:
    """Whether anything is faster here is the machine's; in either case every step is there and says so."""
    options = ("--operations", "allreduce", "--sizes", "8,64K", "--blocks", "3", "--results", str(tmp_path))
    process = rankbench("tune", "openmpi", *options, home=home)
    assert process.returncode == 0, process.stderr
    folder = next(tmp_path.glob("tune-openmpi-*"))
    assert (folder / "screening" / "campaign.json").exists()
    if "no file is written" not in process.stdout:
        script = (folder / "settings.sh").read_text()
        assert "export OMPI_MCA_coll_tuned_dynamic_rules_filename=" in script
        assert json.loads((folder / "proof-1" / "campaign.json").read_text())["plan"]["seed"] == 1
