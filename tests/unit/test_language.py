"""Sentences from templates with fields."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from wording import refuses

from rankbench import language
from rankbench.language import (
    NOTHING,
    Text,
    as_data,
    capital,
    clauses,
    end_sentence,
    list_parts,
    render,
    say,
    sentences,
)
from rankbench.model import CaseStatus, Claim, Finding


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
        ("{low:bare}–{high:ratio}", {"low": 0.981, "high": 12.3}, "0.98–12.3×"),
        ("every {n:ordinal} sample", {"n": 22}, "every 22nd sample"),
        ("{parts:;}, {parts:,}, {parts: }", {"parts": ["a", "b"]}, "a; b, a, b, a b"),
        ("{n:,}", {"n": 1234567}, "1,234,567"),
        ("{text:capital}.", {"text": say("{n} of {all}", n="one", all=2)}, "One of 2."),
        ("{names:and}", {"names": [say("{r:ratio}", r=2), "b"]}, "2.00× and b"),
        ("{text:>5}", {"text": say("{n}", n=7)}, "    7"),
        ("{p:.1%}", {"p": 0.1234}, "12.3%"),
        ("{name!r}: {n}", {"name": "x", "n": 7}, "'x': 7"),
    ],
)
def test_fields_are_filled(template: str, fields: dict[str, object], text: str) -> None:
    assert render(say(template, **fields)) == text


EMPTY = [
    say("Valid on {hosts:and}, here", hosts=[""]),
    say("Valid on {hosts:and}, here", hosts=[]),
    say("Valid on {host}, here", host=""),
    say("{parts:;}.", parts=["a", NOTHING]),
    say("{a}{why}", a="a", why=NOTHING),
    say("{a: }", a=[say("{b}", b="")]),
]


@pytest.mark.parametrize("text", EMPTY)
def test_a_sentence_with_an_empty_field_is_an_error_in_tests(text: Text) -> None:
    with refuses(language.EmptyFieldError):
        render(text)


def test_a_user_sees_a_dash_instead_of_an_empty_field(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "refuses_empty", False)
    assert render(EMPTY[2]) == "Valid on –, here"


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        (sentences([]), ""),
        (sentences([say("One.")]), "One."),
        (sentences(say("{n}.", n=n) for n in (1, 2)), "1. 2."),
        (end_sentence(clauses(["a", say("b {n}", n=2)])), "a; b 2."),
        (end_sentence(capital(list_parts(["a", "b", "c"]))), "A, b and c."),
        (NOTHING, ""),
    ],
)
def test_texts_are_joined(text: Text, rendered: str) -> None:
    assert render(text) == rendered
    assert bool(text) == bool(rendered)


def test_fields_become_plain_values() -> None:
    """Values of NumPy, enumerations and generators are written as JSON."""
    text = say("{a} {b} {c}", a=np.float64(1.5), b=CaseStatus.HUNG, c=(n for n in np.arange(2)))
    assert text.fields == {"a": 1.5, "b": "hung", "c": [0, 1]}
    assert msgspec.json.encode(text.fields) == b'{"a":1.5,"b":"hung","c":[0,1]}'


def test_data_have_text_template_and_fields() -> None:
    inner = say("{name} needs {ratio:ratio}", name="a", ratio=1.5)
    claim = Claim(text=say("In all: {parts:;}.", parts=[inner, "b"]), cases=["k"], outcome="faster")
    needs = {"template": "{name} needs {ratio:ratio}", "fields": {"name": "a", "ratio": 1.5}, "text": "a needs 1.50×"}
    assert as_data([claim]) == [
        {
            "text": "In all: a needs 1.50×; b.",
            "template": "In all: {parts:;}.",
            "fields": {"parts": [needs, "b"]},
            "cases": ["k"],
            "brief": False,
            "outcome": "faster",
            "warns": False,
        }
    ]


def test_a_title_is_an_object_and_a_field_named_text_stays_one() -> None:
    inner = say("{n:count case}", n=2)
    finding = Finding(
        kind="x", title=inner, text=say("{text}, all", text=inner), advice=NOTHING, cases=[], severity="note"
    )
    fields = as_data(finding)
    cases = {"template": "{n:count case}", "fields": {"n": 2}, "text": "2 cases"}
    assert fields["title"] == cases
    assert (fields["text"], fields["template"], fields["fields"]) == ("2 cases, all", "{text}, all", {"text": cases})
    assert fields["advice"] == {"template": "", "fields": {}, "text": ""}
