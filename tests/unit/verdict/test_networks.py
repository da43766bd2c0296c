"""Which network devices carried data: sums over launches, and the finding on TCP beside a faster network."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import msgspec
import pytest
from fakes import verdicts

from rankbench.language import render
from rankbench.model import NetworkDevice, NodeNetwork, Usage
from rankbench.report import tables
from rankbench.verdict import networks
from rankbench.verdict.findings import network

if TYPE_CHECKING:
    from pathlib import Path

    from rankbench.model import Launch
    from rankbench.verdict.view import CampaignView

PROBE_BYTES = 4 << 20
ALL = PROBE_BYTES + 15_000


def device(name: str, kind: str, sent_bytes: int, state: str = "active", rate: str = "") -> NetworkDevice:
    return NetworkDevice(
        name=name, kind=kind, state=state, rate=rate, driver="d", sent_bytes=sent_bytes, received_bytes=sent_bytes
    )


ETH0 = device("eth0", "Ethernet", ALL)
IDLE_ETH0 = device("eth0", "Ethernet", 900)
HDR = device("mlx5_0", "InfiniBand", 0, rate="200 Gb/sec (4X HDR)")
BUSY_HDR = device("mlx5_0", "InfiniBand", ALL)


def usage(*devices: NetworkDevice, others: tuple[NetworkDevice, ...] = (), **uses: str) -> Usage:
    """Return what a check on two nodes found, whose second has other devices if some are given."""
    nodes = [
        NodeNetwork(host="n1", devices=list(devices), probe_bytes=PROBE_BYTES),
        NodeNetwork(host="n2", devices=list(others or devices), probe_bytes=PROBE_BYTES),
    ]
    return Usage(candidate="alpha", placement="nodes", uses=uses, nodes=nodes)


@pytest.fixture
def view(tmp_path: Path) -> CampaignView:
    return verdicts.evaluate(tmp_path, lambda _name, _case: 1.0, cases=verdicts.LINE, launches=2)


def with_usage(view: CampaignView, *reports: Usage) -> CampaignView:
    return dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, usage=list(reports)))


@pytest.mark.parametrize(
    ("report", "faster"),
    [
        (usage(ETH0), ""),
        (usage(ETH0, HDR), "mlx5_0"),
        (usage(ETH0, device("mlx5_0", "RoCE", 0)), "mlx5_0"),
        (usage(ETH0, device("hfi1_0", "Omni-Path", 0)), "hfi1_0"),
        (usage(ETH0, device("rdmap0s6", "EFA", 0)), "rdmap0s6"),
        (usage(ETH0, device("mlx5_0", "InfiniBand", 0, "DOWN")), ""),
        (usage(IDLE_ETH0, BUSY_HDR), ""),
        # Somebody else used the interface meanwhile, on one node or on both.
        (usage(ETH0, BUSY_HDR), ""),
        (usage(ETH0, HDR, others=(IDLE_ETH0, HDR)), ""),
        # Four devices shared what was sent.
        (usage(ETH0, *(device(f"mlx5_{rail}", "InfiniBand", ALL // 4) for rail in range(4))), ""),
        # IP over InfiniBand: both count.
        (usage(device("ib0", "IP over InfiniBand", ALL), BUSY_HDR), "mlx5_0"),
        # A device that does not count: the library must name TCP.
        (usage(ETH0, device("mlx5_0", "RoCE", -1)), ""),
        (usage(ETH0, device("mlx5_0", "RoCE", -1), transports="inter-node rc_mlx5/mlx5_0:1"), ""),
        (usage(ETH0, device("mlx5_0", "RoCE", -1), transports="intra-node sysv/memory; inter-node tcp/eth0"), "mlx5_0"),
        (usage(device("hsn0", "Ethernet", ALL), device("cxi0", "Slingshot", ALL), provider="tcp;ofi_rxm"), "cxi0"),
        (usage(device("hsn0", "Ethernet", ALL), device("cxi0", "Slingshot", ALL), provider="cxi"), ""),
        # Within a node nothing is sent.
        (Usage(candidate="alpha", placement="socket", uses={"transports": "tcp"}), ""),
        (msgspec.structs.replace(usage(ETH0, HDR), nodes=[]), ""),
    ],
)
def test_tcp_beside_a_faster_device_needs_evidence(report: Usage, faster: str) -> None:
    bypass = networks.find_bypass(report)
    assert (bypass.idle.name if bypass else "") == faster


def test_the_finding_has_the_evidence_and_the_next_step(view: CampaignView) -> None:
    placement = view.cases[0].placement
    report = msgspec.structs.replace(usage(ETH0, HDR, provider="tcp"), placement=placement)
    (finding,) = network.find(with_usage(view, report))
    assert render(finding.title) == "alpha used TCP although nodes have InfiniBand (mlx5_0)"
    assert render(finding.text) == (
        f"In the check on {placement}, n1 sent 4.00 MiB to another node: 4.01 MiB passed through eth0 (Ethernet), "
        "0 B through mlx5_0 (InfiniBand, active, 200 Gb/sec (4X HDR)). It reports: provider tcp."
    )
    assert finding.cases == [case.key for case in view.cases if case.placement == placement]
    assert list(network.find(view)) == []


@pytest.mark.parametrize(
    ("family", "kind", "words"),
    [
        ("mpich", "InfiniBand", "MPIR_CVAR_CH4_NETMOD=ucx"),
        ("openmpi", "InfiniBand", "pml=ucx"),
        ("intel-mpi", "EFA", "I_MPI_OFI_PROVIDER=efa"),
        ("openmpi", "Slingshot", "pml=cm mtl=ofi FI_PROVIDER=cxi"),
        ("mvapich", "InfiniBand", ""),
    ],
)
def test_the_next_step_is_the_library_s_own(view: CampaignView, family: str, kind: str, words: str) -> None:
    libraries = [msgspec.structs.replace(library, family=family) for library in view.campaign.libraries]
    report = usage(ETH0, device("x0", kind, 0))
    view = with_usage(view, report)
    view = dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, libraries=libraries))
    (finding,) = network.find(view)
    advice = render(finding.advice)
    assert f"with the settings {words}. If" in advice if words else advice.startswith("Its build may lack support")


def make_launch(view: CampaignView, together: int, *nodes: NodeNetwork) -> Launch:
    return msgspec.structs.replace(view.launches[0], together=together, nodes=list(nodes))


def test_uses_are_added_up_over_launches_and_nodes_alike(view: CampaignView) -> None:
    """Launches at the same time have each its share of what they all counted."""
    first = NodeNetwork(host="n1", devices=[device("eth0", "Ethernet", 600), device("x0", "RoCE", -1)])
    second = NodeNetwork(host="n2", devices=[device("eth0", "Ethernet", 60)])
    launches = [make_launch(view, 2, first, second), make_launch(view, 2, first, second), make_launch(view, 1, first)]
    uses = networks.list_uses(launches)
    assert [(use.hosts, use.device.name, use.sent_bytes) for use in uses] == [
        (["n1", "n2"], "eth0", [300 + 300 + 600, 30 + 30]),
        (["n1"], "x0", [-1]),
    ]


def test_the_tables_show_devices_and_carriers(view: CampaignView) -> None:
    nodes = [
        NodeNetwork(host=host, devices=[device("eth0", "Ethernet", size), device("x0", "RoCE", -1)])
        for host, size in (("n1", 1 << 20), ("n2", 3 << 20))
    ]
    view = dataclasses.replace(with_usage(view, usage(ETH0)), launches=[make_launch(view, 1, *nodes)])
    (shown,) = tables.devices(view)
    assert [[cell.text for cell in row] for row in shown.rows] == [
        ["n1, n2", "eth0", "Ethernet", "active", "–", "d", "1.00 MiB to 3.00 MiB", "1.00 MiB to 3.00 MiB"],
        ["n1, n2", "x0", "RoCE", "active", "–", "d", "not known", "not known"],
    ]
    (used,) = tables.usage(view)
    assert [[cell.text for cell in row][-2:] for row in used.rows] == [
        ["what carried 4.00 MiB between nodes", "eth0 (Ethernet) on n1, n2"]
    ]


def test_many_nodes_are_counted_instead_of_named(view: CampaignView) -> None:
    nodes = [NodeNetwork(host=f"n{number}", devices=[ETH0], probe_bytes=PROBE_BYTES) for number in range(100)]
    view = with_usage(view, Usage(candidate="alpha", placement="nodes", uses={}, nodes=nodes))
    (used,) = tables.usage(view)
    assert used.rows[0][-1].text == "eth0 (Ethernet) on n0, n1, n2, n3, n4, n5, n6, n7 and 92 more"
