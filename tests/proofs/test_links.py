"""Links of the lab have the set rate and delay."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cluster.nodes import Delay, Lab, measure_one_way_ns, start_nodes

from proofs.judging import repeat
from rankbench import lab
from rankbench.lab import LabRequest


def measure_way_ns(folder: Path, delay: Delay | None) -> tuple[int, int]:
    """Return the shortest times from n1 to n2 and back, on nodes with a common clock."""
    with start_nodes(folder, (0, 0), delay=delay) as pair:
        return measure_one_way_ns(pair)


def test_a_link_delays_each_direction_as_stated(tmp_path: Path) -> None:
    delay = Delay(forward_ns=100_000, backward_ns=5_000_000)
    there_ns, back_ns = measure_way_ns(tmp_path / "asymmetric", delay)
    assert there_ns >= delay.forward_ns
    assert back_ns >= delay.backward_ns
    assert back_ns - there_ns > (delay.backward_ns - delay.forward_ns) / 2


def test_without_delay_a_link_is_faster(tmp_path: Path) -> None:
    direct_ns = sum(measure_way_ns(tmp_path / "bridge", None))
    assert direct_ns < sum(measure_way_ns(tmp_path / "switch", Delay(1_000_000, 1_000_000)))


SINK = """
import socket, time
listener = socket.create_server(("", 7))
print("ready", flush=True)
link, _ = listener.accept()
got = 0
while data := link.recv(1 << 20):
    got += len(data)
    print(time.monotonic(), got)
"""


SOURCE = """
import socket, sys
link = socket.create_connection(("n2", 7))
link.sendall(bytes(int(sys.argv[1])))
"""


FRAME_OVERHEAD = 1514 / 1448


def measure_rate_bit_s(nodes: Lab, rate_bit_s: int) -> float:
    """Return the rate of a stream between nodes, headers included; it takes half a second at the set rate."""
    sent_bytes = rate_bit_s // 16
    sink = nodes.start([sys.executable, "-c", SINK], "n2")
    assert sink.stdout
    assert sink.stdout.readline() == "ready\n"
    before = nodes.bytes_sent("n1")
    nodes.on("n1", [sys.executable, "-c", SOURCE, str(sent_bytes)])
    text, _ = sink.communicate()
    assert nodes.bytes_sent("n1") - before > sent_bytes
    arrivals = [tuple(map(float, line.split())) for line in text.splitlines()]
    return 8 * FRAME_OVERHEAD * estimate_rate(arrivals, expected=rate_bit_s / 8 / FRAME_OVERHEAD)


def estimate_rate(arrivals: list[tuple[float, ...]], expected: float) -> float:
    """Return the rate between the first and the last quarter of arrivals, from the earliest of each relative to the
    stream.

    A stalled sink sees bytes late and then many at once: from there on the stream would seem faster.
    """
    fourth = len(arrivals) // 4
    (began_s, before), (ended_s, after) = (
        min(part, key=lambda values: values[0] - values[1] / expected)
        for part in (arrivals[:fourth], arrivals[-fourth:])
    )
    return (after - before) / (ended_s - began_s)


def measure_fastest(rate_bit_s: int, delay: Delay | None) -> float:
    """Return the fastest rate of a few streams, and of more if none has come near the set rate.

    Other work of the machine only slows them: a bucket that is served too late has lost tokens.
    """
    with lab.up(LabRequest(nodes=2, rate_bit_s=rate_bit_s, delay=delay)) as nodes:
        fastest = max(measure_rate_bit_s(nodes, rate_bit_s) for _ in range(3))
        for _ in range(40):
            if fastest < 0.97 * rate_bit_s:
                fastest = max(fastest, measure_rate_bit_s(nodes, rate_bit_s))
        return fastest


@pytest.mark.parametrize("delay", [None, Delay(300_000, 300_000)], ids=["at once", "delayed"])
@repeat
def test_a_link_keeps_its_rate(delay: Delay | None) -> None:
    """With a delay too, and at a quarter of the rate.

    A timer of the kernel may be 20 us late if the processor sleeps: little compared with a frame's 1.2 ms at 10
    Mbit/s.
    """
    slow, fast = (measure_fastest(rate, delay) for rate in (2_500_000, 10_000_000))
    assert slow == pytest.approx(2_500_000, rel=0.05)
    assert fast / slow == pytest.approx(4, rel=0.05)


@repeat
def test_a_delay_adds_to_the_time_of_a_link() -> None:
    """By the kernel if it can, otherwise by the switch.

    Both are so long that processors sleep meanwhile: some of them take 0.2 ms to wake up.
    """
    ways_ns = []
    for delay_ns in (5_000_000, 25_000_000):
        with lab.up(LabRequest(nodes=2, delay=Delay(delay_ns, delay_ns))) as nodes:
            there_ns, back_ns = measure_one_way_ns(nodes)
        assert min(there_ns, back_ns) >= delay_ns
        ways_ns.append((there_ns + back_ns) / 2)
    assert ways_ns[1] - ways_ns[0] == pytest.approx(20_000_000, rel=0.05)
