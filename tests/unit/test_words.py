"""Plain words: names and texts use the field's terms, and the lists below only grow."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
THIS = Path(__file__).relative_to(ROOT).as_posix()
PLACES = ("src", "core", "tests", "tools", "docs", "*.md", "Makefile")
NO_TEXT = ("tests/recorded/", "tests/golden/")
"""Output of other programs, and recorded output of this one."""

NAMES = {
    *("told", "said", "found", "made", "one", "mine", "own", "whole", "asked", "held", "some", "those", "these"),
    *("given", "taken", "kept", "left", "seen", "gone", "met", "done", "meant"),
}
"""Not names of variables, parameters, fields or functions: a name says what its value is."""
PARTICIPLE = re.compile(
    r"^_?(?:[a-z]+ed|told|said|found|made|held|kept|sent|given|taken|drawn|known|met|written|begun|shown|seen|left|"
    r"lost|gone|done|worn|laid|chosen|spent|thrown|meant|bound|built)(?:_|$)"
)
"""Not names of functions, which are verbs, unless they return a bool or are properties or fixtures."""
ACTION = re.compile(
    r"^_?(?:get|iter|read|list|find|make|compute|build|render|format|describe|print|show|write|choose|select|check|count|"
    r"explain|parse|return|spell|judge)_"
)
"""Not names of properties, fields and loop variables, which are values."""
FIELDS = {"build_environment", "compute_ns", "read_bytes", "read_free"}
"""Fields that begin with a noun or an adjective which looks like a verb."""
DONE_WITH = re.compile(r"^(?:judge|hand_over|note|spelt|understood|room|[a-z_]+ing)$")
"""Not aliases of imports, beside the names above: an alias says what it is, as any name."""
VERBS = {"read", "feed", "need", "seed", "embed", "speed", "exceed", "proceed"}
NO_CODE = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
"""Comments and strings of C."""
C_FUNCTION = re.compile(r"^(?:static |inline |const |struct |enum )*(?!bool\b)\w+ \*?(\w+)\([^;{]*\) \{", re.MULTILINE)
"""A function of C that does not return a bool."""
TEXTS = re.compile(
    r"\b(?:told|tells?(?!\(\))|mend(?:s|ed|ing)?|dear|takes least|asked of|what is far off|like states?|of today|"
    r"worlds of one|in vain|befalls?|untold|begins? anew|holds? against|looked into|(?:is|are) caught|is spoken|"
    r"put right|as ever|in company|taken seriously|"
    r"keepers?|hopeless|stillborn)\b",
    re.IGNORECASE,
)
"""Not in comments, messages, documentation and names of tests."""
RIDDLES = re.compile(r"_(?:what|who|whom|nobody|somebody|said|spoken|asked|anew|astray|nought|spoilt)(?:_|$)")
"""Not in names of tests, which state a behaviour of something that they name."""


def list_files(*suffixes: str) -> list[str]:
    """Return the tracked files with a suffix; those without one are programs."""
    answer = subprocess.run(["git", "ls-files", *PLACES], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for path in answer.splitlines() if Path(path).suffix in suffixes and path != THIS]


def is_checked(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether the name of a function must be a verb."""
    decorators = " ".join(map(ast.unparse, function.decorator_list))
    returned = ast.unparse(function.returns) if function.returns else ""
    return returned != "bool" and not re.search("property|fixture", decorators)


def list_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of definitions in a file with a banned name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            name = node.name.lstrip("_")
            participle = PARTICIPLE.match(node.name) and name.split("_")[0] not in VERBS and is_checked(node)
            is_test = name.startswith("test_")
            if name in NAMES or (RIDDLES.search(name) if is_test else participle):
                yield node.lineno, node.name
            if is_property(node) and ACTION.match(node.name):
                yield node.lineno, node.name
        elif isinstance(node, ast.arg) and node.arg in NAMES:
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id.lstrip("_") in NAMES:
            yield node.lineno, node.id
        elif isinstance(node, ast.alias) and node.asname and is_banned_alias(node.asname):
            yield node.lineno, node.asname
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            targets = [part for part in ast.walk(node.target) if isinstance(part, ast.Name)]
            yield from ((part.lineno, part.id) for part in targets if ACTION.match(part.id))
        elif isinstance(node, ast.ClassDef):
            yield from list_field_names(node)


def is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function is read without a call."""
    return "property" in " ".join(map(ast.unparse, function.decorator_list))


def is_banned_alias(name: str) -> bool:
    """Return whether an alias does not say what it stands for."""
    return name in NAMES or bool(PARTICIPLE.match(name) or DONE_WITH.match(name))


def list_field_names(record: ast.ClassDef) -> Iterator[tuple[int, str]]:
    """Yield line and name of fields that are named like functions and are none."""
    for node in record.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name, is_function = node.target.id, "Callable" in ast.unparse(node.annotation)
            if ACTION.match(name) and not is_function and name not in FIELDS:
                yield node.lineno, name


def list_c_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of variables, parameters and functions of C with a banned name."""
    names = "|".join(NAMES)
    code = NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for match in re.finditer(rf"(?<![.\w>])(?:(?!return\b|else\b)\w+[ *]+|, *\**)({names})\b(?= *[;,=()\[])", code):
        yield code.count("\n", 0, match.start(1)) + 1, match[1]
    for match in C_FUNCTION.finditer(code):
        if PARTICIPLE.match(match[1]) and match[1].split("_")[0] not in VERBS:
            yield code.count("\n", 0, match.start(1)) + 1, match[1]


def test_names_of_values_that_are_verbs_are_found() -> None:
    text = """
import statistics as judge
from rankbench.imports import read as imported
import polars as pl

class Recipe:
    find_median_ns: float
    choose: Callable[[int], int]
    compute_ns: int

    @cached_property
    def list_missing_calls(self) -> list[str]:
        return [get_param for get_param in self.calls]

    def list_calls(self) -> None:
        for read_item, size in self.items:
            pass
"""
    names = [name for _, name in sorted(list_names(ast.parse(text)))]
    assert names == ["judge", "imported", "find_median_ns", "list_missing_calls", "get_param", "read_item"]


@pytest.mark.parametrize("folder", ["src", "core", "tests", "tools"])
def test_names_are_nouns_or_verbs(folder: str) -> None:
    wrong = []
    for path in list_files(".py", ".c", ".h", ""):
        text = (ROOT / path).read_text(encoding="utf-8") if path.startswith(f"{folder}/") else ""
        if text and (Path(path).suffix or "python" in text.split("\n", 1)[0]):
            names = list_c_names(text) if path.endswith((".c", ".h")) else list_names(ast.parse(text))
            wrong += [f"{path}:{line} {name}" for line, name in sorted(set(names))]
    assert not wrong, "use the noun or the verb that says what it is:\n" + "\n".join(wrong)


@pytest.mark.parametrize("folder", ["src/", "core/", "tests/", "tools/", "docs/", ""])
def test_texts_use_plain_words(folder: str) -> None:
    wrong = []
    for path in list_files(".py", ".c", ".h", ".md", ".html", ".js", ".sh", ".toml", ""):
        if path.startswith(folder) and (folder or "/" not in path) and not path.startswith(NO_TEXT):
            lines = (ROOT / path).read_text(encoding="utf-8", errors="replace").splitlines()
            # In names words are separated by underscores, which are part of words in regular expressions.
            wrong += [
                f"{path}:{number} {match[0]}"
                for number, line in enumerate(lines, 1)
                if (match := TEXTS.search(line.replace("_", " ") if "def test_" in line else line))
            ]
    assert not wrong, "say it plainly (reported, shown, fix, costly, fastest):\n" + "\n".join(wrong)


def test_a_percent_sign_follows_its_number_directly() -> None:
    wrong = [
        f"{path}:{number} {line.strip()}"
        for path in list_files(".md", ".html")
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"\d %(?!})", line)
    ]
    assert not wrong, "one notation for all: 67%\n" + "\n".join(wrong)
