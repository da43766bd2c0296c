"""The real command `fleet` on emulated nodes: what it measures and leaves. `make prove CLAIM=slow-nodes` judges it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import mark_thorough

from cluster.sweeps import slow_node, sweep_nodes

pytestmark = pytest.mark.needs("namespaces", "ip")


@pytest.mark.parametrize("library", ["mpich", *map(mark_thorough, ["openmpi", "intel-mpi"])])
def test_each_node_is_measured(library: str, home: Path, tmp_path: Path) -> None:
    code, sweep = sweep_nodes(tmp_path, home, library, slow_node("n2", 100), rounds="1")
    assert code == bool(sweep.findings)
    assert {node.host for node in sweep.nodes} == {"n1", "n2", "n3", "n4"}
    assert all(node.values.keys() == {"latency", "sending", "receiving", "cpu"} for node in sweep.nodes)
    assert all(value > 0 for node in sweep.nodes for value in node.values.values())
    assert {finding.nodes[0] for finding in sweep.findings} <= {node.host for node in sweep.nodes}
    assert list(tmp_path.glob(".fleet-*")) == []
    assert (tmp_path / "fleet.svg").read_text().count("<svg") == 1
