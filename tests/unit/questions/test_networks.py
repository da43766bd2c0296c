"""Network devices that carried data: sums over launches, and the finding on TCP despite a faster network."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import pytest
from fakes import verdicts
from wording import WORDING

from rankbench.analysis.claims.findings import network
from rankbench.analysis.questions import networks
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render
from rankbench.model import Launch, NetworkDevice, NodeNetwork, Usage
from rankbench.report import tables

PROBE_BYTES = 4 << 20
ALL = PROBE_BYTES + 15_000


def make_device(name: str, kind: str, sent_bytes: int, state: str = "active", rate: str = "") -> NetworkDevice:
    return NetworkDevice(
        name=name, kind=kind, state=state, rate=rate, driver="d", sent_bytes=sent_bytes, received_bytes=sent_bytes
    )


ETH0 = make_device("eth0", "Ethernet", ALL)
IDLE_ETH0 = make_device("eth0", "Ethernet", 900)
HDR = make_device("mlx5_0", "InfiniBand", 0, rate="200 Gb/sec (4X HDR)")
BUSY_HDR = make_device("mlx5_0", "InfiniBand", ALL)


def make_usage(*devices: NetworkDevice, others: tuple[NetworkDevice, ...] = (), **uses: str) -> Usage:
    """Return the result of a check on two nodes, of which the second may have other devices."""
    nodes = [
        NodeNetwork(host="n1", devices=list(devices), probe_bytes=PROBE_BYTES),
        NodeNetwork(host="n2", devices=list(others or devices), probe_bytes=PROBE_BYTES),
    ]
    return Usage(candidate="alpha", placement="nodes", uses=uses, nodes=nodes)


@pytest.fixture
def view(tmp_path: Path) -> CampaignView:
    return verdicts.evaluate(tmp_path, lambda _name, _case: 1.0, cases=verdicts.LINE, launches=2)


def replace_usage(view: CampaignView, *reports: Usage) -> CampaignView:
    return dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, usage=list(reports)))


@pytest.mark.parametrize(
    ("report", "faster"),
    [
        (make_usage(ETH0), ""),
        (make_usage(ETH0, HDR), "mlx5_0"),
        (make_usage(ETH0, make_device("mlx5_0", "RoCE", 0)), "mlx5_0"),
        (make_usage(ETH0, make_device("hfi1_0", "Omni-Path", 0)), "hfi1_0"),
        (make_usage(ETH0, make_device("rdmap0s6", "EFA", 0)), "rdmap0s6"),
        (make_usage(ETH0, make_device("mlx5_0", "InfiniBand", 0, "DOWN")), ""),
        (make_usage(IDLE_ETH0, BUSY_HDR), ""),
        # Other traffic used the interface meanwhile, on one node or on both.
        (make_usage(ETH0, BUSY_HDR), ""),
        (make_usage(ETH0, HDR, others=(IDLE_ETH0, HDR)), ""),
        # Four devices shared what was sent.
        (make_usage(ETH0, *(make_device(f"mlx5_{rail}", "InfiniBand", ALL // 4) for rail in range(4))), ""),
        # IP over InfiniBand: both count.
        (make_usage(make_device("ib0", "IP over InfiniBand", ALL), BUSY_HDR), "mlx5_0"),
        # IP over InfiniBand: both devices count.
        (make_usage(ETH0, make_device("mlx5_0", "RoCE", -1)), ""),
        (make_usage(ETH0, make_device("mlx5_0", "RoCE", -1), transports="inter-node rc_mlx5/mlx5_0:1"), ""),
        (
            make_usage(
                ETH0, make_device("mlx5_0", "RoCE", -1), transports="intra-node sysv/memory; inter-node tcp/eth0"
            ),
            "mlx5_0",
        ),
        (
            make_usage(
                make_device("hsn0", "Ethernet", ALL), make_device("cxi0", "Slingshot", ALL), provider="tcp;ofi_rxm"
            ),
            "cxi0",
        ),
        (make_usage(make_device("hsn0", "Ethernet", ALL), make_device("cxi0", "Slingshot", ALL), provider="cxi"), ""),
        # Within a node nothing is sent.
        (Usage(candidate="alpha", placement="socket", uses={"transports": "tcp"}), ""),
        (msgspec.structs.replace(make_usage(ETH0, HDR), nodes=[]), ""),
    ],
)
def test_tcp_despite_a_faster_device_needs_evidence(report: Usage, faster: str) -> None:
    bypass = networks.find_bypass(report)
    assert (bypass.idle.name if bypass else "") == faster


def test_the_finding_has_evidence_and_advice(view: CampaignView) -> None:
    placement = view.cases[0].placement
    report = msgspec.structs.replace(make_usage(ETH0, HDR, provider="tcp"), placement=placement)
    (finding,) = network.find(replace_usage(view, report))
    assert render(finding.title) == WORDING
    assert render(finding.text) == WORDING
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
def test_the_advice_is_specific_to_the_library(view: CampaignView, family: str, kind: str, words: str) -> None:
    libraries = [msgspec.structs.replace(library, family=family) for library in view.campaign.libraries]
    report = make_usage(ETH0, make_device("x0", kind, 0))
    view = replace_usage(view, report)
    view = dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, libraries=libraries))
    (finding,) = network.find(view)
    advice = render(finding.advice)
    assert f"with the settings {words}. If" in advice if words else advice.startswith("Its build may lack support")


def make_launch(view: CampaignView, together: int, *nodes: NodeNetwork) -> Launch:
    return msgspec.structs.replace(view.launches[0], together=together, nodes=list(nodes))


def test_traffic_is_summed_over_launches_and_equal_nodes(view: CampaignView) -> None:
    """Launches that run at the same time share the traffic that each of them counted."""
    first = NodeNetwork(host="n1", devices=[make_device("eth0", "Ethernet", 600), make_device("x0", "RoCE", -1)])
    second = NodeNetwork(host="n2", devices=[make_device("eth0", "Ethernet", 60)])
    launches = [make_launch(view, 2, first, second), make_launch(view, 2, first, second), make_launch(view, 1, first)]
    uses = networks.list_uses(launches)
    assert [(use.hosts, use.device.name, use.sent_bytes) for use in uses] == [
        (["n1", "n2"], "eth0", [300 + 300 + 600, 30 + 30]),
        (["n1"], "x0", [-1]),
    ]


def test_the_tables_list_devices_and_carriers(view: CampaignView) -> None:
    nodes = [
        NodeNetwork(host=host, devices=[make_device("eth0", "Ethernet", size), make_device("x0", "RoCE", -1)])
        for host, size in (("n1", 1 << 20), ("n2", 3 << 20))
    ]
    view = dataclasses.replace(replace_usage(view, make_usage(ETH0)), launches=[make_launch(view, 1, *nodes)])
    (shown,) = tables.devices(view)
    assert [[cell.text for cell in row] for row in shown.rows] == [
        ["n1, n2", "eth0", "Ethernet", "active", "–", "d", "1.00 MiB to 3.00 MiB", "1.00 MiB to 3.00 MiB"],
        ["n1, n2", "x0", "RoCE", "active", "–", "d", "not known", "not known"],
    ]
    (used,) = tables.usage(view)
    assert [[cell.text for cell in row][-2:] for row in used.rows] == WORDING


def test_many_nodes_are_counted_instead_of_named(view: CampaignView) -> None:
    nodes = [NodeNetwork(host=f"n{number}", devices=[ETH0], probe_bytes=PROBE_BYTES) for number in range(100)]
    view = replace_usage(view, Usage(candidate="alpha", placement="nodes", uses={}, nodes=nodes))
    (used,) = tables.usage(view)
    assert used.rows[0][-1].text == WORDING
