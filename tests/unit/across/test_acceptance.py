"""Accepted regressions: what an entry accepts, until when, and what is reported about entries."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from wording import WORDING, refuses

from rankbench.across.acceptance import Acceptance, accept, demand_renewal, parse_acceptances
from rankbench.across.gate import Check
from rankbench.language import render, say

TODAY = date(2027, 3, 31)
ENTRY = 'case = "allreduce*"\nlimit = 1.9\nreason = "needs less memory"\nuntil = 2027-03-31\n'


def make_check(title: str = "allreduce 8 B", candidate: str = "dev", **changes: Any) -> Check:
    """Return a check of a case that is 1.5 times slower."""
    fields: dict[str, Any] = {"outcome": "failed", "ratio": 1.5, "least": 1.4, "text": say("slower")}
    return Check(case=title.replace(" ", "."), title=title, candidate=candidate, **(fields | changes))


def make_entry(**changes: Any) -> Acceptance:
    entry = Acceptance("accepted.toml, entry 1 (allreduce*, *)", "allreduce*", "*", 1.9, "needs less memory", TODAY)
    return entry._replace(**changes)


def test_a_file_is_read() -> None:
    (entry, other) = parse_acceptances(f'[[accepted]]\n{ENTRY}[[accepted]]\n{ENTRY}candidate = "dev"\n', "ci/a.toml")
    assert entry == make_entry(label="a.toml, entry 1 (allreduce*, *)")
    assert (other.candidate, other.label) == ("dev", "a.toml, entry 2 (allreduce*, dev)")
    assert parse_acceptances("", "a.toml") == []


@pytest.mark.parametrize(
    "text",
    [
        "[[accept]]\n",
        f"[[accepted]]\n{ENTRY}limits = 2\n",
        '[[accepted]]\ncase = "x"\n',
        f"[[accepted]]\n{ENTRY}".replace("1.9", "0.9"),
        f"[[accepted]]\n{ENTRY}".replace("1.9", '"90%"'),
        f"[[accepted]]\n{ENTRY}".replace("2027-03-31", '"2027-03-31"'),
        f"[[accepted]]\n{ENTRY}".replace("needs less memory", " "),
        "accepted = 3\n",
        "[[accepted]\n",
    ],
)
def test_anything_else_is_one_line(text: str) -> None:
    with refuses():
        parse_acceptances(text, "a.toml")


def test_a_regression_up_to_the_limit_is_accepted_with_its_reason() -> None:
    accepted = accept([make_check(), make_check("barrier")], [make_entry()], TODAY)
    assert [check.outcome for check in accepted.checks] == ["accepted", "failed"]
    assert render(accepted.checks[0].text) == WORDING
    assert accepted.remarks == []


def test_it_fails_once_it_is_certainly_above_the_limit() -> None:
    (within, above) = (make_check(ratio=2.0, least=least) for least in (1.89, 1.91))
    accepted = accept([within, above], [make_entry()], TODAY)
    assert [check.outcome for check in accepted.checks] == ["accepted", "failed"]
    assert render(accepted.checks[1].text) == WORDING


def test_failures_of_a_call_are_not_accepted() -> None:
    (check,) = accept([make_check(ratio=None, least=None, text=say("crashed"))], [make_entry()], TODAY).checks
    assert (check.outcome, render(check.text)) == ("failed", "crashed")


@pytest.mark.parametrize(
    ("changes", "covers"),
    [
        ({"case": "allreduce 8 B"}, True),
        ({"case": "ALLREDUCE ? b"}, True),
        ({"case": "allreduce.8.B"}, True),
        ({"case": "allreduce"}, False),
        ({"candidate": "d*"}, True),
        ({"candidate": "base"}, False),
    ],
)
def test_entries_match_by_title_or_key_and_by_candidate(changes: dict[str, Any], covers: bool) -> None:
    assert make_entry(**changes).covers(make_check()) == covers


def test_an_expired_entry_accepts_nothing() -> None:
    accepted = accept([make_check()], [make_entry(until=date(2027, 3, 30))], TODAY)
    assert accepted.checks == [make_check()]
    assert accepted.remarks == WORDING


def test_entries_that_match_nothing_or_are_not_needed_are_reported() -> None:
    label = "accepted.toml, entry 1 (allreduce*, *)"
    assert accept([make_check("barrier")], [make_entry()], TODAY).remarks == [
        f"{label} matches no check; correct its case or candidate."
    ]
    accepted = accept([make_check(outcome="passed")], [make_entry()], TODAY)
    assert accepted.remarks == [f"{label} is not needed any more: nothing that it matches is slower. Remove it."]
    assert accepted.unneeded == [make_entry()]
    assert accept([make_check(outcome="skipped")], [make_entry()], TODAY).remarks == []


def test_renewal_is_demanded_of_improvements_and_of_entries_that_are_gone() -> None:
    checks = [make_check(outcome="improved", ratio=0.5, text=say("faster")), make_check("barrier", outcome="passed")]
    improved, passed, unneeded = demand_renewal(accept(checks, [make_entry()], TODAY))
    assert (improved.outcome, render(improved.text)) == ("failed", "faster")
    assert render(improved.advice) == WORDING
    assert passed.outcome == "passed"
    assert (unneeded.outcome, unneeded.title, unneeded.candidate) == ("failed", "allreduce*", "*")
