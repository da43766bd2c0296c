"""Traffic through the interfaces of nodes, also if libraries leave a faster device idle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from fakes.devices import INFINIBAND, write_sysfs

from cluster.nodes import Lab, run_launch, start_nodes
from rankbench.analysis.questions import networks
from rankbench.model import NodeNetwork, Usage

if TYPE_CHECKING:
    from cluster.study import Core

pytestmark = pytest.mark.needs("namespaces", "ip")

PROBE_BYTES = 4 << 20


@pytest.fixture(scope="module")
def pair(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_nodes(tmp_path_factory.mktemp("pair") / "nodes", (0, 0), shared=[home]) as nodes:
        yield nodes


def launch_networks(nodes: Lab, core: Core, ranks: int, options: Sequence[str]) -> list[NodeNetwork]:
    """Launch the core, and return the counters of each node."""
    path = nodes.folder / "stream"
    process = run_launch(nodes, core.library, ranks, [str(core.binary), *options, "--stream", str(path)])
    assert process.exit_code == 0, process.printed
    records = map(msgspec.json.decode, path.read_bytes().splitlines())
    nodes_read = [record for record in records if record.pop("record") == "node"]
    return msgspec.convert(nodes_read, list[NodeNetwork])


def test_a_check_counts_the_traffic_between_its_nodes(core: Core, pair: Lab) -> None:
    """A few percent more than the data: headers, acknowledgements and the launcher."""
    counted = launch_networks(pair, core, 4, ["--check"])
    assert [(node.host, node.probe_bytes) for node in counted] == [("n1", PROBE_BYTES), ("n2", PROBE_BYTES)]
    for node in counted:
        passed = {device.name: device for device in node.devices}
        assert {name: device.kind for name, device in passed.items()} == {"eth0": "Ethernet", "lo": "loopback"}
        for count in (passed["eth0"].sent_bytes, passed["eth0"].received_bytes):
            assert PROBE_BYTES <= count < 1.1 * PROBE_BYTES
        assert passed["lo"].sent_bytes < 0.1 * PROBE_BYTES


def test_a_launch_counts_its_traffic_from_begin_to_end(core: Core, pair: Lab) -> None:
    """It is a part of the interface's own counters, read before and after."""
    before = [pair.bytes_sent(node) for node in pair.nodes]
    options = ["--op", "bandwidth", "--sizes", "65536", "--samples", "5", "--limit", "30", "--quiet"]
    counted = launch_networks(pair, core, 2, options)
    outside = [pair.bytes_sent(node) - count for node, count in zip(pair.nodes, before, strict=True)]
    counts = [device.sent_bytes for node in counted for device in node.devices if device.name == "eth0"]
    assert [node.probe_bytes for node in counted] == [0, 0]
    assert counts[0] > 5 * 65536
    assert all(0 < count <= most for count, most in zip(counts, outside, strict=True))


def test_tcp_despite_an_idle_infiniband_device_is_found(core: Core, pair: Lab) -> None:
    """The interfaces are those of the nodes; the device is a folder with constant counters."""
    root = write_sysfs(
        pair.folder / "root", {name: files for name, files in INFINIBAND.items() if "infiniband" in name}
    )
    if not (root / "sys/class/net").is_symlink():
        (root / "sys/class/net").symlink_to("/sys/class/net")
    nodes = launch_networks(pair, core, 2, ["--check", "--sysfs", str(root / "sys")])
    assert [[device.name for device in node.devices] for node in nodes] == [["mlx5_0", "eth0", "lo"]] * 2
    bypass = networks.find_bypass(Usage(candidate="x", placement="2x1", uses={}, nodes=nodes))
    assert bypass
    assert (bypass.node.host, bypass.carrier.name, bypass.idle.name) == ("n1", "eth0", "mlx5_0")
    assert (bypass.carrier.sent_bytes >= PROBE_BYTES, bypass.idle.sent_bytes) == (True, 0)
    slow = [msgspec.structs.replace(node, devices=node.devices[1:]) for node in nodes]
    assert networks.find_bypass(Usage(candidate="x", placement="2x1", uses={}, nodes=slow)) is None
