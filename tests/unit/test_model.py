"""Cases cache their keys, which changes nothing in storage, comparisons or derived cases; parts of placements."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from rankbench import model
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


def test_a_case_is_identified_without_some_of_its_parts() -> None:
    case = msgspec.structs.replace(
        make_case(), placement="x.window", start="window", options={"from": "0", "settings": "a", "to": "1"}
    )
    assert case.without() == case.key == "allreduce.blocking.8.float.x.window.window.cold.from=0.settings=a.to=1"
    assert case.without("size") == "allreduce.blocking.float.x.window.window.cold.from=0.settings=a.to=1"
    assert case.without("start", "settings") == "allreduce.blocking.8.float.x.window.cold.from=0.to=1"
    assert case.without("from", "to") == "allreduce.blocking.8.float.x.window.window.cold.settings=a"
    assert msgspec.structs.replace(case, size_bytes=1024).without("size") == case.without("size")


def test_the_keys_of_a_line_differ_in_the_size() -> None:
    before, after = make_case().split_at_size()
    other = msgspec.structs.replace(make_case(), size_bytes=1024)
    assert f"{before}1024{after}" == other.key
    assert other.split_at_size() == (before, after)


TAKEN_APART = re.compile(r"\bcase\w*\.key\.\w+\(|key\[[^\]]*\]\.\w+\(|\bkey\.(?:split|partition|rsplit|slice|match)\(")
SOURCES = Path(model.__file__).parents[1]


def test_no_source_takes_a_key_apart() -> None:
    wrong = [
        f"{path.relative_to(SOURCES)}:{number} {line.strip()}"
        for path in sorted([*SOURCES.rglob("*.py"), *SOURCES.rglob("*.js")])
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if TAKEN_APART.search(line)
    ]
    assert wrong == [], "compare keys; for what is in them, read the case's fields, or Case.without"
