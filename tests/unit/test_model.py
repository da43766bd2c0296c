"""Cases cache their keys, which changes nothing in storage, comparisons or derived cases; parts of placements."""

from __future__ import annotations

import msgspec

from rankbench.model import Case, Memory, Placement


def make_case() -> Case:
    return Case(
        operation="allreduce",
        form="blocking",
        size_bytes=8,
        datatype="float",
        placement="1x2",
        ranks=2,
        start="window",
        memory=Memory(cache="cold"),
        options={"arrival": "random"},
    )


def test_a_key_has_all_unusual_parts() -> None:
    assert make_case().key == "allreduce.blocking.8.float.1x2.window.cold.arrival=random"


def test_a_cached_key_does_not_change_a_case() -> None:
    first, fresh = make_case(), make_case()
    assert first.key
    assert first == fresh
    assert hash(first) == hash(fresh)
    assert repr(first) == repr(fresh)
    assert msgspec.json.encode(first) == msgspec.json.encode(fresh)
    assert msgspec.structs.asdict(first) == msgspec.structs.asdict(fresh)
    assert msgspec.json.decode(msgspec.json.encode(first), type=Case) == fresh


def test_a_changed_copy_of_a_case_has_its_own_key() -> None:
    first = make_case()
    assert first.key.startswith("allreduce.blocking.8.")
    assert msgspec.structs.replace(first, size_bytes=16).key.startswith("allreduce.blocking.16.")
    assert first.key.startswith("allreduce.blocking.8.")


def test_the_first_ranks_of_a_placement_are_on_its_first_cores_and_nodes() -> None:
    nodes = Placement(name="3x1", nodes=3, ranks_per_node=1, binding="core", cpus=[[0]], hosts=["a", "b", "c"])
    two = nodes.take_first(2)
    assert (two.name, two.nodes, two.ranks_per_node, two.cpus, two.hosts) == ("3x1", 2, 1, [[0]], ["a", "b"])
    node = Placement(
        name="2x3",
        nodes=2,
        ranks_per_node=3,
        binding="core",
        cpus=[[0], [2], [4]],
        ordinals=[0, 1, 2],
        hosts=["a", "b"],
    )
    two = node.take_first(2)
    assert (two.nodes, two.ranks_per_node, two.cpus, two.ordinals, two.hosts) == (1, 2, [[0], [2]], [0, 1], ["a"])
    assert (node.take_first(1).ranks, node.take_first(6)) == (1, node)
