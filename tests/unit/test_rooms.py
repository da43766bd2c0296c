"""Data goes one way: no room imports one to its right. The order is read from ARCHITECTURE.md."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "rankbench"
SHARED = {"model", "units", "quantities", "language", "staging", "files"}


def _order() -> list[str]:
    line = next(line for line in (ROOT / "ARCHITECTURE.md").read_text().splitlines() if line.startswith("plan ->"))
    return re.split(r"\s*->\s*", line.strip())


def _room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module == "rankbench":
            names = [f"rankbench.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        rooms |= {name.split(".")[1] for name in names if name.startswith("rankbench.")}
    return rooms - SHARED


def test_the_order_names_every_room_there_is() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms - SHARED == set(_order())


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_room_imports_one_to_its_right(path: Path) -> None:
    order = _order()
    room = _room(path)
    allowed = set(order[: order.index(room) + 1]) if room in order else {"cli"} if room == "__main__" else set()
    wrong = _imported_rooms(path) - allowed
    assert not wrong, (
        f"{path}: {room} may not import {', '.join(wrong)}; move the code left or hand the value in from cli"
    )


def test_no_command_waits_for_what_only_a_verdict_needs() -> None:
    """scipy.stats takes longer to load than most commands take to do their work; scipy loads its parts when named."""
    code = "import sys; from rankbench import cli; cli.application(); print('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
