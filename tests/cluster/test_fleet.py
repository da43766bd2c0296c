"""The real command `fleet` on emulated nodes: one that sends at half the rate, and equal ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from fakes import mark_thorough

from rankbench.fleet.sweep_records import Sweep

pytestmark = pytest.mark.needs("namespaces", "ip")

RANKBENCH = str(Path(sys.executable).with_name("rankbench"))
HALVE = 'ssh n2 "tc qdisc replace dev eth0 root tbf rate 100mbit burst 8k latency 50ms"'
SWEEP = (
    "$RANKBENCH fleet {library} --threshold 30% --alarm 10% --seed 1 --picture fleet.svg --format json --output s.json"
)


def sweep_nodes(folder: Path, home: Path, library: str, before: str) -> tuple[int, Sweep]:
    """Return the exit code of a sweep over four nodes, and the sweep."""
    process = subprocess.run(
        [
            RANKBENCH,
            "lab",
            "--nodes",
            "4",
            "--rate",
            "200mbit",
            "--",
            "bash",
            "-c",
            f"{before}\n{SWEEP.format(library=library)}",
        ],
        cwd=folder,
        env={**os.environ, "RANKBENCH_HOME": str(home), "RANKBENCH": RANKBENCH},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode in {0, 1}, process.stdout + process.stderr
    assert list(folder.glob(".fleet-*")) == []
    assert (folder / "fleet.svg").read_text().count("<svg") == 1
    return process.returncode, msgspec.json.decode((folder / "s.json").read_bytes(), type=Sweep)


@pytest.mark.parametrize("library", ["mpich", *map(mark_thorough, ["openmpi", "intel-mpi"])])
def test_a_node_that_sends_at_half_the_rate_is_found(library: str, home: Path, tmp_path: Path) -> None:
    code, sweep = sweep_nodes(tmp_path, home, library, HALVE)
    assert code == 1
    sending = [finding for finding in sweep.findings if finding.trait == "sending"]
    assert [(finding.of, finding.nodes) for finding in sending] == [("node", ["n2"])]
    assert sending[0].slower == sending[0].launches
    assert 1.4 < sending[0].ratio < 2.5
    assert not [finding for finding in sweep.findings if finding.trait == "receiving"]
    assert {node.host for node in sweep.nodes} == {"n1", "n2", "n3", "n4"}
