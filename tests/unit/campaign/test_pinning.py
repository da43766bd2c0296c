"""Results of ranks that did not run where their placement says, or left their CPUs."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from fakes import campaigns
from wording import WORDING

from rankbench.campaign import pinning
from rankbench.model import Case, CaseResult, CaseStatus, Placement, RankFact

PAIR = Placement(name="1x2", nodes=1, ranks_per_node=2, binding="core", cpus=[[0, 8], [1, 9]], ordinals=[0, 1])
FILLED_NODES = msgspec.structs.replace(PAIR, cpus=[], ordinals=[])
UNBOUND = msgspec.structs.replace(FILLED_NODES, binding="none")
THREADS = msgspec.structs.replace(PAIR, name="same-core", binding="thread", cpus=[[0], [8]])
NODES = Placement(name="2x2", nodes=2, ranks_per_node=2, binding="core", cpus=[[0], [1]], hosts=["n1", "n2"])


@pytest.fixture(autouse=True)
def eight_cores_of_two_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for cpu in range(16):
        siblings = tmp_path / f"cpu{cpu}/topology/thread_siblings_list"
        siblings.parent.mkdir(parents=True)
        siblings.write_text(f"{cpu % 8},{cpu % 8 + 8}\n", "ascii")
    monkeypatch.setattr(pinning, "CPU_FOLDER", tmp_path)


def make_facts(*cpus: str, hosts: Sequence[str] = (), sockets: Sequence[int] = ()) -> list[RankFact]:
    """Return the reports of ranks, of one host unless they have several."""
    return [
        RankFact(rank=rank, host=hosts[rank] if hosts else platform.node(), cpu=0, cpus=text, clock="", libmpi="",
                 socket=sockets[rank] if sockets else -1)
        for rank, text in enumerate(cpus)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("placement", "cpus", "fits"),
    [
        (PAIR, ["0,8", "1,9"], True),
        (PAIR, ["0", "9"], True),
        (PAIR, ["1", "0"], False),
        (PAIR, ["0", "0-3"], False),
        (PAIR, ["0", ""], False),
        (THREADS, ["0", "8"], True),
        (THREADS, ["0", "0,8"], False),
        (FILLED_NODES, ["0", "1"], True),
        (FILLED_NODES, ["0,8", "1,9"], True),
        (FILLED_NODES, ["0", "0-3"], False),
        (FILLED_NODES, [""], False),
        (FILLED_NODES, ["0,1", "2"], False),
        (FILLED_NODES, ["0", "1", "8"], False),
        (UNBOUND, ["0-7", "0-7"], True),
        (msgspec.structs.replace(PAIR, binding="none"), ["0-7", "0-7"], True),
    ],
)
def test_reported_cpus_are_compared_with_those_of_the_placement(
    placement: Placement, cpus: list[str], *, fits: bool
) -> None:
    crowd = msgspec.structs.replace(placement, ranks_per_node=len(cpus))
    reason = pinning.check_placement(crowd, make_facts(*cpus))
    assert (reason == "", reason) == (fits, WORDING)


@pytest.mark.parametrize(
    ("name", "sockets", "fits"),
    [
        ("sockets", [0, 1], True),
        ("sockets", [0, 0], False),
        ("two-sockets", [1, 1], False),
        ("sockets:2", [1, 1], False),
        ("socket", [0, 0], True),
        ("socket:2", [0, 1], False),
        ("sockets", [-1, -1], True),
        ("1x2", [0, 0], True),
    ],
)
def test_ranks_must_run_on_the_sockets_of_the_placement(name: str, sockets: list[int], *, fits: bool) -> None:
    placement = msgspec.structs.replace(PAIR, name=name)
    reason = pinning.check_placement(placement, make_facts("0", "1", sockets=sockets))
    assert (reason == "", reason) == (fits, WORDING)


@pytest.mark.parametrize(
    ("cpus", "cores", "fits"),
    [
        (["0,64", "1,65"], [0, 1], True),
        (["0", "8"], [0, 8], True),  # One core on this host, two there.
        (["0-127", "0-127"], [0, 1], False),
        (["0,1", "0,1"], [0, 1], False),
        (["0,64", "0,64"], [0, 0], False),
    ],
)
def test_cores_of_other_hosts_are_counted_there(cpus: list[str], cores: list[int], *, fits: bool) -> None:
    ranks = [
        msgspec.structs.replace(rank, cpu=core, core=core, socket=0)
        for rank, core in zip(make_facts(*cpus, hosts=["elsewhere"] * 2), cores, strict=True)
    ]
    reason = pinning.check_placement(FILLED_NODES, ranks)
    assert (reason == "", reason) == (fits, WORDING)


@pytest.mark.parametrize(("to", "moved"), [(64, False), (8, True)])
def test_a_rank_of_another_host_keeps_to_its_own_cpus(to: int, *, moved: bool) -> None:
    ranks = make_facts("0,64", "1,65", hosts=["elsewhere"] * 2)
    assert pinning.has_moved(FILLED_NODES, ranks, f"rank 0 from CPU 0 to CPU {to}") == moved


def test_sockets_are_checked_before_cpus_and_hosts_before_both() -> None:
    sockets = msgspec.structs.replace(PAIR, name="sockets")
    assert pinning.check_placement(sockets, make_facts("0", "0", sockets=[0, 0])) == WORDING
    assert pinning.check_placement(sockets, make_facts("0", "0", sockets=[0, 0], hosts=["n1", "n2"])) == WORDING


@pytest.mark.parametrize("binding", ["core", "none"])
@pytest.mark.parametrize(
    ("hosts", "fits"),
    [
        (["n1", "n1", "n2", "n2"], True),
        (["n2", "n2", "n1", "n1"], True),
        (["n1", "n1", "n1", "n1"], False),
        (["n1", "n2", "n1", "n2"], False),
    ],
)
def test_ranks_fill_node_after_node(hosts: list[str], binding: str, *, fits: bool) -> None:
    placement = msgspec.structs.replace(NODES, binding=binding)
    reason = pinning.check_placement(placement, make_facts("0", "1", "0", "1", hosts=hosts))
    assert (reason == "", reason) == (fits, WORDING)


def test_cpus_of_a_placement_are_those_of_each_node() -> None:
    hosts = ["n1", "n1", "n2", "n2"]
    assert pinning.check_placement(NODES, make_facts("0", "1", "1", "0", hosts=hosts)) == WORDING


# --- rows -------------------------------------------------------------------------------------------------------------


def make_results(*moved: str) -> list[CaseResult]:
    """Return a case for each text on a moved rank, and one that the library lacks."""
    cases = campaigns.make_cases(sizes=[8 * number for number in range(1, 9)], lines=[("allreduce", "blocking")])
    draws = campaigns.Draw(campaigns.make_equal_truth, np.random.default_rng(1), (1.0,), 5)
    ok = [draws.draw_result(case, campaigns.Truth(), 1.0) for case in cases[: len(moved)]]
    case_results = [msgspec.structs.replace(result, moved=text) for result, text in zip(ok, moved, strict=True)]
    return [*case_results, CaseResult(case=cases[-1], status=CaseStatus.LACKING, reason="not in this library")]


def make_refused_result(case: Case, reason: str) -> CaseResult:
    return CaseResult(case=case, status=CaseStatus.NOT_AS_ASKED, reason=reason)


def test_ranks_on_the_requested_cpus_keep_their_results() -> None:
    rows = make_results("", "")
    assert list(pinning.drop_moved(PAIR, make_facts("0", "1"), rows)) == rows


def test_a_launch_of_ranks_on_wrong_cpus_has_no_samples() -> None:
    rows = make_results("", "rank 1 from CPU 3 to CPU 2")
    reason = "not as asked: rank 1 may run on CPUs 2, CPUs 1,9 were asked for"
    assert list(pinning.drop_moved(PAIR, make_facts("0", "2"), rows)) == [
        make_refused_result(rows[0].case, reason),
        make_refused_result(rows[1].case, reason),
        rows[2],
    ]


@pytest.mark.parametrize("placement", [PAIR, FILLED_NODES])
def test_results_after_a_rank_left_its_core_are_dropped(placement: Placement) -> None:
    rows = make_results("", "rank 1 from CPU 1 to CPU 0", "")
    assert list(pinning.drop_moved(placement, make_facts("0", "1"), rows)) == [
        rows[0],
        make_refused_result(rows[1].case, "not as asked: rank 1 from CPU 1 to CPU 0 while it was measured"),
        make_refused_result(rows[2].case, "not as asked: rank 1 from CPU 1 to CPU 0 in an earlier case"),
        rows[3],
    ]


@pytest.mark.parametrize("placement", [PAIR, FILLED_NODES])
def test_a_rank_may_change_threads_within_its_core(placement: Placement) -> None:
    rows = make_results("rank 1 from CPU 1 to CPU 9")
    assert list(pinning.drop_moved(placement, make_facts("0", "1,9"), rows)) == rows


def test_a_rank_of_another_node_is_checked_against_that_node_s_cpus() -> None:
    rows = make_results("rank 3 from CPU 1 to CPU 0")
    hosts = ["n1", "n1", "n2", "n2"]
    (row, _) = pinning.drop_moved(NODES, make_facts("0", "1", "0", "1", hosts=hosts), rows)
    assert row == make_refused_result(rows[0].case, "not as asked: rank 3 from CPU 1 to CPU 0 while it was measured")


def test_unbound_ranks_may_move() -> None:
    rows = make_results("rank 1 from CPU 1 to CPU 0")
    assert list(pinning.drop_moved(UNBOUND, make_facts("0-7", "0-7"), rows)) == rows
