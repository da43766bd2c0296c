"""Every language has every sentence, and no other."""

from __future__ import annotations

import ast
import functools
import re
import string
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes import verdicts

import rankbench
from rankbench import language

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(rankbench.__file__).parent
SOURCES = [path for path in PACKAGE.rglob("*.py") if "languages" not in path.parts]
PAGE = [path for path in PACKAGE.rglob("*") if path.suffix in {".js", ".html"}]
CORE = list((Path(__file__).parents[2] / "core").rglob("*.[ch]"))
OTHERS = [name for name in language.known() if name != language.ENGLISH]
JOINING = {"and", "or"}
"""Words that fields of lists are joined with."""


@functools.cache
def nodes() -> list[ast.AST]:
    return list(chain.from_iterable(ast.walk(ast.parse(path.read_text())) for path in SOURCES))


def templates() -> set[str]:
    """Return what is given to `say` to be said: literals, of which a condition may choose one."""
    calls = (node for node in nodes() if isinstance(node, ast.Call) and called(node) == "say" and node.args)
    pages = (re.findall(r"""\bsay\(\s*(["'])(.+?)\1[,)]""", path.read_text()) for path in PAGE)
    said = ([text for _, text in found] for found in pages)
    return set(chain.from_iterable([*(literals(call.args[0]) for call in calls), *said]))


def texts() -> set[str]:
    """Return what else may be said word for word: what stands in the package, and what the core says of itself."""
    constants = {one.value for one in nodes() if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    return constants.union(*(re.findall(r'"((?:[^"\\]|\\.)+)"', path.read_text()) for path in (*PAGE, *CORE)))


def called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def literals(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


@pytest.mark.parametrize("name", OTHERS)
def test_every_template_has_its_translation_and_every_translation_is_used(name: str) -> None:
    words = language.catalogue(name).words
    assert sorted(templates() - words.keys()) == []
    assert sorted(words.keys() - templates() - texts() - JOINING) == []


@pytest.mark.parametrize("name", OTHERS)
def test_translations_have_the_fields_of_their_templates(name: str) -> None:
    words = language.catalogue(name).words
    assert {one: fields(told) for one, told in words.items()} == {one: fields(one) for one in words}


@pytest.mark.parametrize("name", OTHERS)
def test_translations_give_both_numbers_of_a_word(name: str) -> None:
    """A lone word has its English plural, which is none of the language's."""
    specs = [
        spec
        for told in language.catalogue(name).words.values()
        for _, _, spec, _ in string.Formatter().parse(told)
        if spec and spec.startswith(("count ", "of ")) and "|" not in spec
    ]
    assert specs == []


def test_a_conclusion_in_german_word_for_word(tmp_path: Path) -> None:
    factors = verdicts.constant({"alpha": 1.5, "beta": 1.0, "gamma": 3.0})
    with language.spoken("de"):
        made = verdicts.evaluate(tmp_path, factors, control=True)
    assert [sentence.text for sentence in made.verdict.conclusion] == [
        "beta ist die beste Wahl: allein am schnellsten in 9 von 9 Fällen.",
        "alpha braucht 1,50× so lange wie beta (1,50× bis 1,50×; geometrisches Mittel über 9 Fälle), "
        "schlimmstenfalls 1,50× (pingpong, 8 B).",
        "gamma braucht 3,00× so lange wie beta (3,00× bis 3,00×; geometrisches Mittel über 9 Fälle), "
        "schlimmstenfalls 3,00× (pingpong, 8 B).",
        "Zur Kontrolle wurde ein Kandidat unter zwei Namen doppelt gemessen: Nach der Regel, die über die anderen "
        "entschied, wären die beiden in 0 von 9 Fällen verschieden (mit 95 % Sicherheit in 0% bis 34% solcher Fälle).",
        "Das gilt auf dieser Maschine (Example 9000, 2 Kerne), für alpha 1.0, beta 1.0 und gamma 1.0, mit "
        "Standardeinstellungen, aus je 6 Läufen.",
    ]
