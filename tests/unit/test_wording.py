"""Texts are compared with the entries of `tests/golden/wording`, and each entry is of a test."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import wording
from wording import Wording

from rankbench.language import say


def run(tests: Path, name: str, *values: object, renews: bool = False, names: tuple[str, ...] = ()) -> list[bool]:
    """Return whether each value is as the entry of a test has it; an entry with more is an error."""
    config = SimpleNamespace(getoption=lambda _: renews, args=["tests"])
    item: Any = SimpleNamespace(
        path=tests / "unit" / "test_it.py", name=name, config=config, funcargs={"tmp_path": "/tmp/a1"}
    )
    entry = Wording(tests)
    entry.base = "/tmp/base"
    entry.note_tests(SimpleNamespace(path=item.path, name=each) for each in (name, *names))  # type: ignore[misc]
    entry.begin(item)
    answers = [value == entry for value in values]
    if all(answers):
        entry.end()
    return answers


VALUES = [
    "one\n\n    two → three",
    ["a", ["b\nc", ""]],
    say("{n:count case|cases}", n=3),
    {"key": None},
    "",
    "/tmp/a1/x",
]


def test_a_text_is_compared_with_its_entry(tmp_path: Path) -> None:
    run(tmp_path, "test_a[x → 1]", *VALUES, renews=True)
    run(tmp_path, "test_a[y]", "[text", renews=True, names=("test_a[x → 1]",))
    assert run(tmp_path, "test_a[x → 1]", *VALUES, names=("test_a[y]",)) == [True] * len(VALUES)
    assert run(tmp_path, "test_a[y]", "[text", names=("test_a[x → 1]",)) == [True]
    for number, value in enumerate(VALUES):
        different = [*VALUES[:number], [value, "more"], *VALUES[number + 1 :]]
        assert run(tmp_path, "test_a[x → 1]", *different, names=("test_a[y]",)).count(False) >= 1
    assert run(tmp_path, "test_a[y]", "[texts", names=("test_a[x → 1]",)) == [False]
    assert run(tmp_path, "test_b", "text", names=("test_a[x → 1]", "test_a[y]")) == [False]


def test_an_entry_with_more_lines_or_of_no_test_fails(tmp_path: Path) -> None:
    run(tmp_path, "test_a", "one", "two", renews=True)
    with pytest.raises(AssertionError, match="more than the test compares"):
        run(tmp_path, "test_a", "one")
    with pytest.raises(AssertionError, match="entries of no test"):
        run(tmp_path, "test_b", names=("test_c",))
    run(tmp_path, "test_b", "text", renews=True)
    assert (tmp_path / "golden/wording/unit/test_it.txt").read_text() == "test_b → text\n"


def test_temporary_folders_and_the_repository_have_names(tmp_path: Path) -> None:
    run(tmp_path, "test_a", f"/tmp/a1/x /tmp/base/results12/y {tmp_path.parent}/z", renews=True)
    assert (tmp_path / "golden/wording/unit/test_it.txt").read_text() == "test_a → TMP/x TMP/results/y ROOT/z\n"


def test_every_entry_is_of_a_test() -> None:
    folder = wording.TESTS / wording.FOLDER
    for file in folder.rglob("*.txt"):
        test_file = (wording.TESTS / file.relative_to(folder)).with_suffix(".py")
        tree = ast.parse(test_file.read_text(encoding="utf-8"))
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        text = file.read_text(encoding="utf-8")
        names = {name.partition("[")[0] for name in wording.read_entries(text)}
        assert names, f"{file}: remove it, it has no entry"
        assert not names - functions, f"{file}: remove the entries of tests that are gone: {names - functions}"
        assert text == wording.format_entries(wording.read_entries(text)), f"{file}: write it with --renew-wording"
