"""A public function that raises RankbenchError itself says so in its docstring."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "rankbench"


def list_raised(function: ast.FunctionDef) -> Iterator[str]:
    """Yield what a function raises itself, not functions inside."""
    nodes: list[ast.AST] = [*function.body]
    while nodes:
        node = nodes.pop()
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield ast.unparse(node.exc.func)


def list_silent(tree: ast.Module, command: str = "") -> list[str]:
    """Return the public functions without the error in their docstring; a command's docstring is its help."""
    return [
        f"{node.lineno} {node.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node.name != command
        if "RankbenchError" in list_raised(node) and "RankbenchError" not in (ast.get_docstring(node) or "")
    ]


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_function_names_the_error_that_it_raises(path: Path) -> None:
    command = path.stem if path.parent.name == "commands" else ""
    assert list_silent(ast.parse(path.read_text(encoding="utf-8")), command) == [], "when does it raise RankbenchError?"


def test_a_function_that_does_not_say_so_is_reported() -> None:
    text = '''
def read(path):
    """Return what a file says."""
    if not path:
        raise RankbenchError("no file")

def write(path):
    """Write a file. Raises RankbenchError if it cannot be written."""
    raise RankbenchError("no file")

def _check(path):
    raise RankbenchError("no file")
'''
    assert list_silent(ast.parse(text)) == ["2 read"]
    assert list_silent(ast.parse(text), "read") == []
