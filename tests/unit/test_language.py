"""Sentences from templates."""

from __future__ import annotations

import pytest

from rankbench.language import say


@pytest.mark.parametrize(
    ("template", "fields", "text"),
    [
        ("{n:count case}", {"n": 1}, "1 case"),
        ("{n:count case}", {"n": 3}, "3 cases"),
        ("{n:count launch}", {"n": 0}, "0 launches"),
        ("{n:of is|are} here", {"n": 2}, "are here"),
        ("{names:and}", {"names": ["a", "b", "c"]}, "a, b and c"),
        ("{names:or}", {"names": ["a", "b"]}, "a or b"),
        ("{names:and}", {"names": ["a"]}, "a"),
        ("{r:ratio}, {t:time}, {b:size}", {"r": 1.7345, "t": 4720, "b": 65536}, "1.73×, 4.72 µs, 64 KiB"),
        ("{p:.1%}", {"p": 0.1234}, "12.3%"),
        ("{name!r}: {n}", {"name": "x", "n": 7}, "'x': 7"),
    ],
)  # fmt: skip
def test_fields_are_filled(template: str, fields: dict[str, object], text: str) -> None:
    assert say(template, **fields) == text
