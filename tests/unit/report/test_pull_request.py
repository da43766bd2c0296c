"""A gate as Markdown: what failed first, the rest folded, of limited length, and no markup from outside."""

from __future__ import annotations

from typing import Any

from wording import WORDING, find_lines

from rankbench.across.gate import Check
from rankbench.language import say
from rankbench.report.pull_request import MOST_CHARACTERS, format_pull_request


def make_check(title: str, outcome: Any, ratio: float = 1.0) -> Check:
    text = say("takes {ratio:ratio} the time of base", ratio=ratio)
    return Check(case=title, title=title, candidate="dev", outcome=outcome, text=text, ratio=ratio)


def test_nothing_has_passed_where_all_is_undecided() -> None:
    text = format_pull_request([make_check("a", "skipped"), make_check("b", "skipped")], "dev against base", [])
    assert text == WORDING


def test_failures_come_first_and_worst_first() -> None:
    checks = [
        make_check("a", "passed"),
        make_check("b", "failed", 1.2),
        make_check("c", "skipped", 1.1),
        make_check("d", "failed", 1.5),
        make_check("e", "accepted", 1.4),
        make_check("f", "improved", 0.5),
    ]
    lines = format_pull_request(checks, "dev against base", ["Paired within 5 blocks."]).splitlines()
    assert lines[0] == WORDING
    assert lines[2:6] == WORDING
    folded = [line for line in lines if line.startswith("<details>")]
    assert folded == [
        f"<details><summary>1 {word}</summary>" for word in ("accepted", "undecided", "improved", "passed")
    ]
    assert lines[-1] == "- Paired within 5 blocks."


def test_a_gate_that_passed_has_no_open_table() -> None:
    text = format_pull_request([make_check("a", "passed")], "dev against base", [])
    assert text == WORDING


def test_thousands_of_checks_fit_a_comment() -> None:
    checks = [make_check(f"allreduce {number} B", "failed", 2.0) for number in range(5000)]
    checks += [make_check(f"bcast {number} B", "passed") for number in range(5000)]
    text = format_pull_request(checks, "dev against base", [])
    assert len(text) < MOST_CHARACTERS
    assert text.count("see --junit") == 2
    shown = text.count("| allreduce")
    assert f"| and {5000 - shown} more |" in text


def test_texts_are_no_markup() -> None:
    text = format_pull_request([make_check("a|b <b>`c`\n# d", "failed")], "*new*", ["[x](y)"])
    assert find_lines(text, "| a\\|b \\<b\\>\\`c\\` \\#") == WORDING
    assert r"\*new\*" in text
    assert r"- \[x\](y)" in text
