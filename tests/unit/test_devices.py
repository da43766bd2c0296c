"""Network devices and their counters, core/sync/devices.c, on folders like the kernel's documented sysfs."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from fakes.devices import EFA, ETHERNET, INFINIBAND, LOOPBACK, OMNI_PATH, SLINGSHOT, TWO_PORTS, Tree, write_sysfs

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


ETH0 = Row("eth0", "Ethernet", "active", "25 Gb/s", "ixgbe", 1000, 2000)
LO = Row("lo", "loopback", "active", "", "", 500, 500)


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("devices") / "devices.so"
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{CORE}", "-o", str(path)]
    subprocess.run([*command, str(CORE / "sync/devices.c"), str(CORE / "base/scan.c")], check=True)
    library = ctypes.CDLL(str(path))
    library.have_sent.restype = ctypes.c_bool
    library.have_sent.argtypes = [ctypes.POINTER(Devices), ctypes.c_int64]
    return library


def read_devices(core: ctypes.CDLL, root: Path) -> Devices:
    devices = Devices()
    core.read_devices(str(root / "sys").encode(), ctypes.byref(devices))
    return devices


def list_rows(devices: Devices) -> list[Row]:
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
    core: ctypes.CDLL, tmp_path: Path, trees: list[Tree], expected: list[Row]
) -> None:
    assert list_rows(read_devices(core, write_sysfs(tmp_path, *trees))) == expected


def test_virtual_interfaces_come_last_and_only_if_they_are_up(core: ctypes.CDLL, tmp_path: Path) -> None:
    state = {"type": "1", "operstate": "up", "statistics/tx_bytes": "1", "statistics/rx_bytes": "2"}
    pairs = {f"devices/virtual/net/a{number}": state for number in range(40)}
    down = {"devices/virtual/net/a0": {**state, "operstate": "down"}}
    names = [row.name for row in list_rows(read_devices(core, write_sysfs(tmp_path, pairs, down, ETHERNET)))]
    assert names == ["eth0", *(f"a{number}" for number in range(1, MOST_DEVICES))]


def test_this_machine_has_a_loopback(core: ctypes.CDLL) -> None:
    assert [row.kind for row in list_rows(read_devices(core, Path("/"))) if row.name == "lo"] == ["loopback"]


def test_traffic_is_the_difference_of_counters(core: ctypes.CDLL, tmp_path: Path) -> None:
    """It is unknown for a device that is new or does not count, and after a counter was reset."""
    before = read_devices(core, write_sysfs(tmp_path / "before", ETHERNET, INFINIBAND, TWO_PORTS))
    later = {
        "devices/pci/a1/infiniband/mlx5_0": {"ports/1/counters/port_xmit_data": "1500"},
        "devices/pci/a0/net/eth0": {"statistics/tx_bytes": "900", "statistics/rx_bytes": "2001"},
    }
    after = read_devices(core, write_sysfs(tmp_path / "after", ETHERNET, INFINIBAND, TWO_PORTS, EFA, later))
    core.subtract_devices(ctypes.byref(after), ctypes.byref(before))
    assert {row.name: row[-2:] for row in list_rows(after)} == {
        "mlx4_0": (0, -1),
        "mlx4_0:2": (-1, -1),
        "mlx5_0": (2000, 0),
        "rdmap0s6": (-1, -1),
        "eth0": (-1, 1),
        "ib0": (0, 0),
    }
    assert core.have_sent(after, 2000)
    assert not core.have_sent(after, 2001)
