"""A case caches its key, which changes nothing in storage, comparisons or derived cases."""

from __future__ import annotations

import msgspec

from rankbench.model import Case, Memory


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
