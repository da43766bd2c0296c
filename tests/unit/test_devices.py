"""Network devices and their counters, core/sync/devices.c, on folders as the kernel's documentation describes sysfs."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

CORE = Path(__file__).parents[2] / "core"
MOST_DEVICES, DEVICE_BYTES = 32, 48


class Device(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_char * DEVICE_BYTES) for name in ("name", "kind", "state", "rate", "driver")),
        ("sent_bytes", ctypes.c_int64),
        ("received_bytes", ctypes.c_int64),
    )


class Devices(ctypes.Structure):
    _fields_ = (("count", ctypes.c_int), ("device", Device * MOST_DEVICES))


class Row(NamedTuple):
    name: str
    kind: str
    state: str
    rate: str
    driver: str
    sent_bytes: int
    received_bytes: int


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
"""Of the PCI devices."""

ETH0 = Row("eth0", "Ethernet", "active", "25 Gb/s", "ixgbe", 1000, 2000)
LO = Row("lo", "loopback", "active", "", "", 500, 500)


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("devices") / "devices.so"
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{CORE}", "-o", str(path)]
    subprocess.run([*command, str(CORE / "sync/devices.c")], check=True)
    library = ctypes.CDLL(str(path))
    library.have_sent.restype = ctypes.c_bool
    library.have_sent.argtypes = [ctypes.POINTER(Devices), ctypes.c_int64]
    return library


def record(root: Path, *trees: Mapping[str, Mapping[str, str]]) -> Path:
    """Write folders of sysfs with the links that the kernel has: of classes to devices, and of these to drivers."""
    sysfs = root / "sys"
    for folder, files in (entry for tree in trees for entry in tree.items()):
        place = sysfs / folder
        place.mkdir(parents=True, exist_ok=True)
        for name, line in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(f"{line}\n")
        if place.parent.name in {"net", "infiniband", "cxi"}:
            link(sysfs / "class" / place.parent.name / place.name, place)
            device = place.parent.parent
            if device.name in DRIVERS:
                link(place / "device", device)
                link(device / "driver", sysfs / "bus/pci/drivers" / DRIVERS[device.name])
    return root


def link(path: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_symlink():
        path.symlink_to(target)


def read(core: ctypes.CDLL, root: Path) -> Devices:
    devices = Devices()
    core.read_devices(str(root).encode(), ctypes.byref(devices))
    return devices


def rows(devices: Devices) -> list[Row]:
    texts = ("name", "kind", "state", "rate", "driver")
    return [
        Row._make([*(getattr(device, text).decode() for text in texts), device.sent_bytes, device.received_bytes])
        for device in devices.device[: devices.count]
    ]


@pytest.mark.parametrize(
    ("trees", "expected"),
    [
        ([], []),
        ([LOOPBACK, ETHERNET], [ETH0, LO]),
        (
            [LOOPBACK, ETHERNET, INFINIBAND],
            [
                Row("mlx5_0", "InfiniBand", "active", "200 Gb/sec (4X HDR)", "mlx5_core", 4000, 8000),
                ETH0,
                Row("ib0", "IP over InfiniBand", "active", "200 Gb/s", "mlx5_core", 70, 80),
                LO,
            ],
        ),
        (
            [TWO_PORTS],
            [
                Row("mlx4_0", "InfiniBand", "DOWN", "10 Gb/sec (4X SDR)", "mlx4_core", 0, -1),
                Row("mlx4_0:2", "RoCE", "active", "40 Gb/sec (4X QDR)", "mlx4_core", -1, -1),
            ],
        ),
        ([OMNI_PATH], [Row("hfi1_0", "Omni-Path", "active", "100 Gb/sec (4X EDR)", "hfi1", 100, 200)]),
        ([EFA], [Row("rdmap0s6", "EFA", "active", "100 Gb/sec (4X EDR)", "efa", 300, 400)]),
        (
            [SLINGSHOT],
            [
                Row("cxi0", "Slingshot", "active", "bs200G", "cxi_ss1", 123456, 654321),
                Row("hsn0", "Ethernet", "active", "200 Gb/s", "cxi_ss1", 11, 12),
            ],
        ),
    ],
    ids=["none", "ethernet", "infiniband", "two-ports", "omni-path", "efa", "slingshot"],
)
def test_devices_are_read_with_kind_state_rate_driver_and_counters(
    core: ctypes.CDLL, tmp_path: Path, trees: list[Mapping[str, Mapping[str, str]]], expected: list[Row]
) -> None:
    assert rows(read(core, record(tmp_path, *trees))) == expected


def test_virtual_interfaces_come_last_and_only_while_they_are_up(core: ctypes.CDLL, tmp_path: Path) -> None:
    state = {"type": "1", "operstate": "up", "statistics/tx_bytes": "1", "statistics/rx_bytes": "2"}
    pairs = {f"devices/virtual/net/a{number}": state for number in range(40)}
    down = {"devices/virtual/net/a0": {**state, "operstate": "down"}}
    names = [row.name for row in rows(read(core, record(tmp_path, pairs, down, ETHERNET)))]
    assert names == ["eth0", *(f"a{number}" for number in range(1, MOST_DEVICES))]


def test_this_machine_has_a_loopback(core: ctypes.CDLL) -> None:
    assert [row.kind for row in rows(read(core, Path("/"))) if row.name == "lo"] == ["loopback"]


def test_what_passed_is_the_difference_of_counters(core: ctypes.CDLL, tmp_path: Path) -> None:
    """Not known of a device that is new or does not count, nor after a counter that began again."""
    before = read(core, record(tmp_path / "before", ETHERNET, INFINIBAND, TWO_PORTS))
    later = {
        "devices/pci/a1/infiniband/mlx5_0": {"ports/1/counters/port_xmit_data": "1500"},
        "devices/pci/a0/net/eth0": {"statistics/tx_bytes": "900", "statistics/rx_bytes": "2001"},
    }
    after = read(core, record(tmp_path / "after", ETHERNET, INFINIBAND, TWO_PORTS, EFA, later))
    core.subtract_devices(ctypes.byref(after), ctypes.byref(before))
    assert {row.name: row[-2:] for row in rows(after)} == {
        "mlx4_0": (0, -1),
        "mlx4_0:2": (-1, -1),
        "mlx5_0": (2000, 0),
        "rdmap0s6": (-1, -1),
        "eth0": (-1, 1),
        "ib0": (0, 0),
    }
    assert core.have_sent(after, 2000)
    assert not core.have_sent(after, 2001)
