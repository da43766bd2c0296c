"""Network devices that are not available: folders of sysfs as in the kernel's documentation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

Tree: TypeAlias = "Mapping[str, Mapping[str, str]]"
"""By folder below /sys, its files with one line each."""

LOOPBACK = {
    "devices/virtual/net/lo": {
        "type": "772",
        "operstate": "unknown",
        "statistics/tx_bytes": "500",
        "statistics/rx_bytes": "500",
    },
}
ETHERNET = {
    "devices/pci/a0/net/eth0": {
        "type": "1",
        "operstate": "up",
        "speed": "25000",
        "statistics/tx_bytes": "1000",
        "statistics/rx_bytes": "2000",
    },
}
INFINIBAND = {
    "devices/pci/a1/infiniband/mlx5_0": {
        "ports/1/link_layer": "InfiniBand",
        "ports/1/state": "4: ACTIVE",
        "ports/1/rate": "200 Gb/sec (4X HDR)",
        "ports/1/counters/port_xmit_data": "1000",
        "ports/1/counters/port_rcv_data": "2000",
    },
    "devices/pci/a1/net/ib0": {
        "type": "32",
        "operstate": "up",
        "speed": "200000",
        "statistics/tx_bytes": "70",
        "statistics/rx_bytes": "80",
    },
}
TWO_PORTS = {
    "devices/pci/a2/infiniband/mlx4_0": {
        "ports/1/link_layer": "InfiniBand",
        "ports/1/state": "1: DOWN",
        "ports/1/rate": "10 Gb/sec (4X SDR)",
        "ports/1/counters/port_xmit_data": "0",
        "ports/1/counters/port_rcv_data": "4294967295",
        "ports/2/link_layer": "Ethernet",
        "ports/2/state": "4: ACTIVE",
        "ports/2/rate": "40 Gb/sec (4X QDR)",
    },
}
OMNI_PATH = {
    "devices/pci/a3/infiniband/hfi1_0": {
        "ports/1/link_layer": "InfiniBand",
        "ports/1/state": "4: ACTIVE",
        "ports/1/rate": "100 Gb/sec (4X EDR)",
        "ports/1/counters/port_xmit_data": "25",
        "ports/1/counters/port_rcv_data": "50",
    },
}
EFA = {
    "devices/pci/a4/infiniband/rdmap0s6": {
        "ports/1/link_layer": "Unspecified",
        "ports/1/state": "4: ACTIVE",
        "ports/1/rate": "100 Gb/sec (4X EDR)",
        "ports/1/hw_counters/tx_bytes": "300",
        "ports/1/hw_counters/rx_bytes": "400",
    },
}
SLINGSHOT = {
    "devices/pci/a5/cxi/cxi0": {},
    "devices/pci/a5": {
        "port/0/link/speed": "bs200G",
        "telemetry/hni_sts_tx_ok_octets": "123456@1700000000.123456789",
        "telemetry/hni_sts_rx_ok_octets": "654321@1700000000.123456789",
    },
    "devices/pci/a5/net/hsn0": {
        "type": "1",
        "operstate": "up",
        "speed": "200000",
        "statistics/tx_bytes": "11",
        "statistics/rx_bytes": "12",
    },
}
DRIVERS = {"a0": "ixgbe", "a1": "mlx5_core", "a2": "mlx4_core", "a3": "hfi1", "a4": "efa", "a5": "cxi_ss1"}
"""Drivers of the PCI devices."""


def write_sysfs(root: Path, *trees: Tree) -> Path:
    """Write folders of sysfs with the kernel's links: from classes to devices, and from devices to drivers."""
    sysfs = root / "sys"
    for folder, files in (entry for tree in trees for entry in tree.items()):
        place = sysfs / folder
        place.mkdir(parents=True, exist_ok=True)
        for name, line in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(f"{line}\n")
        if place.parent.name in {"net", "infiniband", "cxi"}:
            make_link(sysfs / "class" / place.parent.name / place.name, place)
            device = place.parent.parent
            if device.name in DRIVERS:
                make_link(place / "device", device)
                make_link(device / "driver", sysfs / "bus/pci/drivers" / DRIVERS[device.name])
    return root


def make_link(path: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_symlink():
        path.symlink_to(target)
