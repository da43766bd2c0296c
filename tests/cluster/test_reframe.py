"""The library class for ReFrame, run by real ReFrame through a real Slurm on two emulated nodes.

ReFrame is no part of the environment: its versions of libraries contradict those of rankbench.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankbench import lab
from rankbench.lab import Cores, Lab, LabRequest

pytestmark = pytest.mark.needs("reframe", "namespaces", "ip", "slurmctld", "munged")

SOURCES = Path(__file__).parents[2] / "src"
SETTINGS = """
site_configuration = {
    "systems": [{
        "name": "lab", "hostnames": [".*"], "partitions": [{
            "name": "compute", "scheduler": "squeue", "launcher": "srun", "environs": ["builtin"],
            "access": ["--mem=0", "--time=10"],
        }],
    }],
    "environments": [{"name": "builtin", "cc": "cc", "cxx": "", "ftn": ""}],
}
"""
CHECK = """
import reframe as rfm
from rankbench.reframe_checks import CampaignCheck

@rfm.simple_test
class Libraries(CampaignCheck):
    plan = "{folder}/plan.toml"
    num_nodes = 2
    options = "--blocks 1"
    executable = "{rankbench}"
    valid_systems = ["lab:compute"]
    valid_prog_environs = ["builtin"]
"""
PLAN = """
candidates = ["mpich", "openmpi"]
operations = ["pingpong"]
sizes = "8"
samples = 10
placements = ["2x1"]
control = false
"""


@pytest.fixture(scope="module")
def nodes(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("reframe") / "lab"
    with lab.up(LabRequest(nodes=2, slurm=Cores(1, 2), shared=(home,)), folder, limit_s=600) as running:
        yield running


def test_a_campaign_is_a_check_of_reframe(nodes: Lab, home: Path) -> None:
    """Each value is in the performance log."""
    folder = nodes.folder
    for name, text in (("settings.py", SETTINGS), ("plan.toml", PLAN)):
        (folder / name).write_text(text)
    rankbench = Path(sys.executable).with_name("rankbench")
    (folder / "check.py").write_text(CHECK.format(folder=folder, rankbench=rankbench))
    paths: list[str | Path] = ["-C", folder / "settings.py", "-c", folder / "check.py", "--prefix", folder / "stage"]
    variables = {"RANKBENCH_HOME": str(home), "HOME": str(folder), "PYTHONPATH": str(SOURCES)}
    ended = nodes.run([shutil.which("reframe") or "", *paths, "-r"], variables)
    assert ended.exit_code == 0, ended.printed
    assert "PASSED" in ended.printed
    (log,) = (folder / "stage/perflogs").rglob("*.log")
    text = log.read_text()
    assert text.count("pingpong.blocking.8.byte.2x1") >= 2
