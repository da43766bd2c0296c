"""What the command `fleet` prints and writes; `tests/cluster/test_fleet.py` runs it on nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from fakes import library as fake
from fakes import mark_thorough
from wording import WORDING, find_lines

from rankbench import cli
from rankbench.fleet.sweep_records import Finding, LinkSpeed, NodeSpeed, Sweep
from rankbench.workflows import fleets

Command = Callable[..., tuple[int, str]]
SLURM = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-4]"}


def make_finding(of: str, nodes: list[str], trait: str, **others: object) -> Finding:
    values = {"ratio": 1.434, "low": 1.38, "high": 1.47, "slower": 5, "launches": 5, "chance": 1e-5, **others}
    return msgspec.convert({"of": of, "nodes": nodes, "trait": trait, **values}, Finding)


def make_sweep(*findings: Finding, slower: float = 1.0, nodes: int = 4) -> Sweep:
    """Return a sweep of nodes whose memory takes so many times as long."""
    return Sweep(
        format=1,
        version="1",
        began="2026-11-27T08:00:00+00:00",
        seconds=31.5,
        library="mpich-9.9",
        library_version="MPICH Version: 9.9",
        ranks_per_node=2,
        seed=1,
        rounds=2,
        launches=6,
        threshold=0.05,
        alarm=0.01,
        suspects=3,
        left_out=0,
        nodes=[
            NodeSpeed(
                host=f"n{node}",
                values={"memory": 1e10 / slower, "latency": 1500.0},
                ratios={"memory": 1.0, "latency": 1 + node / 100},
            )
            for node in range(1, nodes + 1)
        ],
        links=[LinkSpeed(nodes=("n1", "n2"), trait="sending", ratio=1.2, rounds=3)],
        findings=list(findings),
    )


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs the command over a sweep: exit code, and lines with single blanks."""
    monkeypatch.setenv("RANKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "100")
    prefix = fake.make(tmp_path / "library", "9.9")

    def run_command(sweep: Sweep, *arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(fleets, "sweep_fleet", lambda *_: sweep)
        monkeypatch.setattr("sys.argv", ["rankbench", "fleet", "mpich==9.9", "--prefix", str(prefix), *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), "\n".join(" ".join(line.split()) for line in (out + err).splitlines())

    return run_command


def test_a_slow_node_is_shown_with_the_command_that_drains_it(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SLURM.items():
        monkeypatch.setenv(name, value)
    code, text = run(make_sweep(make_finding("node", ["n3"], "sending")))
    assert code == 1
    assert find_lines(text, "n3 sends") == WORDING
    assert find_lines(text, "NodeName=n3") == WORDING


@pytest.mark.parametrize(("waits", "nodes"), [([1.0, 3.0, 2.9, 3.0], 4), ([2.0, 1.9], 2), ([1.0] + [1.5] * 8, 9)])
def test_nodes_that_wait_for_cpus_are_named(run: Command, waits: list[float], nodes: int) -> None:
    sweep = make_sweep(nodes=nodes)
    for node, wait in zip(sweep.nodes, waits, strict=True):
        node.values["cpu"] = wait
    code, text = run(sweep)
    assert code == 0
    assert find_lines(text, "waiting for CPUs") == WORDING


@pytest.mark.parametrize(
    "finding",
    [
        make_finding("core", ["n2"], "compute", rank=9, cpu=33),
        make_finding("link", ["n2", "n4"], "sending"),
        make_finding("link", ["n2", "n4"], "latency"),
        make_finding("node", ["n2"], "cpu"),
    ],
    ids=["core", "direction", "link", "waiting"],
)
def test_cores_and_links_are_named(finding: Finding, run: Command) -> None:
    code, text = run(make_sweep(finding))
    assert code == 1
    assert find_lines(text, "1.43×") == WORDING
    assert "nothing was executed" not in text  # Not in a job, there is nobody to ask.


def test_equal_nodes_have_their_values_and_exit_code_0(run: Command) -> None:
    code, text = run(make_sweep())
    assert code == 0
    assert find_lines(text, "Nothing is slower") == WORDING
    assert "median 10 GB/s 1.50 µs" in text


def test_of_many_nodes_the_slowest_are_shown(run: Command) -> None:
    _, text = run(make_sweep(nodes=40))
    assert find_lines(text, "12 slowest") == WORDING
    assert "n40 1.00 1.40" in text
    assert "\nn28 " not in text


def test_a_fleet_that_became_slower_as_a_whole_is_reported(run: Command, tmp_path: Path) -> None:
    code, _ = run(make_sweep(), "--format", "json", "--output", str(tmp_path / "monday.json"))
    assert code == 0
    code, text = run(make_sweep(slower=1.2), "--against", str(tmp_path / "monday.json"))
    assert code == 1
    assert "memory 1.20 4 of 4" in text
    code, text = run(make_sweep(slower=1.01, nodes=5), "--against", str(tmp_path / "monday.json"))
    assert code == 0
    assert find_lines(text, "not the same: ") == WORDING


@pytest.mark.parametrize("suffix", ["svg", *map(mark_thorough, ["png", "pdf", "html"])])
def test_a_picture_is_drawn(suffix: str, run: Command, tmp_path: Path) -> None:
    run(make_sweep(), "--picture", str(tmp_path / f"fleet.{suffix}"))
    assert (tmp_path / f"fleet.{suffix}").stat().st_size > 1000


@pytest.mark.parametrize(
    "arguments",
    [
        ["--picture", "fleet.gif"],
        ["--rounds", "none"],
        ["--threshold", "120%"],
        ["--alarm", "often"],
        ["--against", "none.json"],
        ["--against", "{other}"],
    ],
    ids=" ".join,
)
def test_wrong_input_has_one_line(arguments: list[str], run: Command, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"format": "x"}')
    code, text = run(make_sweep(), *(part.replace("{other}", str(tmp_path / "other.json")) for part in arguments))
    assert code == 2
    assert text.partition(": Expected `int`")[0] == WORDING  # The rest is the parser's.
    assert len(text.splitlines()) == 1
