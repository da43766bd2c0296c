"""Sentences in the reader's language."""

from __future__ import annotations

import pytest

from rankbench import language, quantities
from rankbench.language import Language, say, spoken
from rankbench.model import RankbenchError


@pytest.mark.parametrize(
    ("template", "fields", "told"),
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
def test_english_is_what_the_template_says(template: str, fields: dict[str, object], told: str) -> None:
    assert say(template, **fields) == told


def test_another_language_has_its_own_templates_marks_and_words(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {
        "and": "und",
        "{who:and} in {n:count case} by {r:ratio}": "{who:and} in {n:count Fall|Fällen} um {r:ratio}",
    }
    monkeypatch.setattr(language, "catalogue", lambda name: Language(name, ",", words))
    with spoken("de"):
        told = say("{who:and} in {n:count case} by {r:ratio}", who=["a", "b"], n=3, r=1.5)
        assert told == "a und b in 3 Fällen um 1,50×"
        assert say("not in the catalogue: {x:.2f}", x=1.25) == "not in the catalogue: 1,25"
        assert quantities.format_rate(12345.6) == "12.346"
    assert say("{who:and}", who=["a", "b"]) == "a and b"
    assert quantities.format_time(1234.5) == "1.23 µs"


def test_a_language_that_is_not_known_is_told_in_a_line() -> None:
    with pytest.raises(RankbenchError) as error, spoken("tlh"):
        pass
    assert str(error.value) == "language 'tlh': (allowed: de, en)"
