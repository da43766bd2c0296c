"""What passed through the network devices of nodes: added up over launches, and found in the check of a candidate."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from rankbench.model import Launch, NetworkDevice, NodeNetwork, Record, Usage

FAST = ("InfiniBand", "RoCE", "Omni-Path", "EFA", "Slingshot")
"""Kinds of devices through which libraries send without TCP."""
CARRIED = 0.5
"""Of what a check sent, the share from which on a device carried it. Two devices may carry half of it each."""
TCP = re.compile(r"\b(?:tcp|sockets)\b")


class DeviceUse(Record, frozen=True):
    """A network device that nodes have alike, and what passed through that of each node; -1: not known."""

    hosts: list[str]
    device: NetworkDevice
    """Without what passed through it."""
    sent_bytes: list[int]
    received_bytes: list[int]


class Bypass(NamedTuple):
    """That data went over TCP on a node that has a faster device."""

    node: NodeNetwork
    carrier: NetworkDevice
    idle: NetworkDevice


def list_uses(launches: Iterable[Launch]) -> list[DeviceUse]:
    """Return the devices of all nodes, and what passed through them in all launches.

    Launches that ran at the same time count the same bytes, each its share.
    """
    alike: dict[NetworkDevice, dict[str, tuple[float, float]]] = {}
    for launch in launches:
        for node in launch.nodes:
            for counted in node.devices:
                totals = alike.setdefault(msgspec.structs.replace(counted, sent_bytes=-1, received_bytes=-1), {})
                sent, received = totals.get(node.host, (0.0, 0.0))
                totals[node.host] = (
                    _add(sent, counted.sent_bytes, launch.together),
                    _add(received, counted.received_bytes, launch.together),
                )
    return [
        DeviceUse(
            hosts=list(totals),
            device=device,
            sent_bytes=[round(sent) for sent, _ in totals.values()],
            received_bytes=[round(received) for _, received in totals.values()],
        )
        for device, totals in alike.items()
    ]


def _add(total: float, passed: int, together: int) -> float:
    """Return a sum with a launch's share of what passed; of what is not known it stays so."""
    return -1.0 if min(total, passed) < 0 else total + passed / together


def list_carriers(node: NodeNetwork) -> list[NetworkDevice]:
    """Return the devices through which a node sent half or more of what its check sent to another node."""
    if not node.probe_bytes:
        return []
    least = CARRIED * node.probe_bytes
    return [device for device in node.devices if device.kind != "loopback" and device.sent_bytes >= least]


def find_bypass(usage: Usage) -> Bypass | None:
    """Return where a library sent over TCP beside an active faster device, by counters and by what it reports.

    On every node an interface must have counted the data, since others may use one of them meanwhile. It is evidence
    where the faster devices counted less than half of the data together, or where it is IP over one of them. Where a
    faster device does not count, the library must name TCP itself.
    """
    names_tcp = any(TCP.search(text) for name, text in usage.uses.items() if name in {"provider", "transports"})
    interfaces = [[device for device in list_carriers(node) if device.kind not in FAST] for node in usage.nodes]
    if not all(interfaces):
        return None
    for node, (carrier, *_) in zip(usage.nodes, interfaces, strict=True):
        fast = [device for device in node.devices if device.kind in FAST and device.state == "active"]
        if fast and (names_tcp or carrier.kind == "IP over InfiniBand" or _are_idle(fast, node.probe_bytes)):
            return Bypass(node, carrier, fast[0])
    return None


def _are_idle(devices: list[NetworkDevice], probe_bytes: int) -> bool:
    """Return whether devices are known to have sent too little of a check's data."""
    sent = [device.sent_bytes for device in devices]
    return min(sent) >= 0 and sum(sent) < CARRIED * probe_bytes
