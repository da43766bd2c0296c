"""A case remembers its key: whether it was asked for changes nothing of what is stored, compared or derived of it."""

from __future__ import annotations

import msgspec

from rankbench.model import Case, Memory


def case() -> Case:
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


def test_a_key_shows_all_that_differs() -> None:
    assert case().key == "allreduce.blocking.8.float.1x2.window.cold.arrival=random"


def test_a_case_whose_key_was_asked_for_is_the_same_as_one_whose_was_not() -> None:
    first, fresh = case(), case()
    assert first.key
    assert first == fresh
    assert hash(first) == hash(fresh)
    assert repr(first) == repr(fresh)
    assert msgspec.json.encode(first) == msgspec.json.encode(fresh)
    assert msgspec.structs.asdict(first) == msgspec.structs.asdict(fresh)
    assert msgspec.json.decode(msgspec.json.encode(first), type=Case) == fresh


def test_a_case_made_of_another_has_a_key_of_its_own() -> None:
    first = case()
    assert first.key.startswith("allreduce.blocking.8.")
    assert msgspec.structs.replace(first, size_bytes=16).key.startswith("allreduce.blocking.16.")
    assert first.key.startswith("allreduce.blocking.8.")
