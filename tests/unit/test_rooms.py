"""Data goes one way: no room imports a room to its right. The order is read from docs/develop/architecture.md."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rankbench.language import say

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "rankbench"
ENTRANCES = {"__main__": {"cli"}, "__init__": {"exports", "workflows"}}
"""Modules outside of rooms that import some: the command, and the functions for Python."""
SHARED = {"model", "units", "quantities", "language", "staging", "files", "locking", "caching", "extras", "processes"}


@functools.cache
def _read_order() -> list[str]:
    line = next(
        line for line in (ROOT / "docs/develop/architecture.md").read_text().splitlines() if line.startswith("plan ->")
    )
    return re.split(r"\s*->\s*", line.strip())


def _choose_room(name: str) -> str:
    """Return the room of a module: a floor of its package where the order names floors."""
    parts = name.split(".")
    floor = ".".join(parts[1:3])
    return floor if floor in _read_order() else parts[1] if len(parts) > 1 else ""


def _find_room(path: Path) -> str:
    return _choose_room(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))


def _list_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        rooms |= {_choose_room(name) for name in names if name.startswith("rankbench.")}
    return rooms - SHARED


def test_the_documented_order_names_every_room() -> None:
    rooms = {_find_room(path) for path in PACKAGE.glob("*/*.py")} | {
        _find_room(path) for path in PACKAGE.glob("*/*/*.py")
    }
    assert rooms - SHARED - {"analysis"} == set(_read_order())


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_room_imports_a_room_to_its_right(path: Path) -> None:
    order = _read_order()
    room = _find_room(path)
    allowed = set(order[: order.index(room) + 1]) if room in order else ENTRANCES.get(room, set())
    wrong = _list_rooms(path) - allowed
    assert not wrong, (
        f"{path}: {room} may not import {', '.join(wrong)}; move the code left or hand the value in from cli"
    )


OUTPUT_ROOMS = {"plots", "report", "exports", "lab", "workflows", "cli"}
"""Rooms that convert texts to strings."""
RENDERERS = {"render", "as_data"}


def _find_rendering(path: Path) -> set[str]:
    """Return the names by which a file converts texts to strings: functions of `language`, or the module itself."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "rankbench.language":
            names |= {alias.name for alias in node.names} & RENDERERS
        if isinstance(node, ast.Import) and any(alias.name == "rankbench.language" for alias in node.names):
            names.add("import rankbench.language")
        if isinstance(node, ast.ImportFrom) and node.module == "rankbench":
            names |= {alias.name for alias in node.names} & {"language"}
    return names


@pytest.mark.parametrize(
    "path",
    sorted(
        path for path in PACKAGE.rglob("*.py") if path.name != "language.py" and _find_room(path) not in OUTPUT_ROOMS
    ),
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_only_rooms_of_output_render_texts(path: Path) -> None:
    wrong = _find_rendering(path)
    assert not wrong, (
        f"{path}: {', '.join(sorted(wrong))}; keep the text, and let plots, report, exports or cli render it"
    )


@pytest.mark.parametrize("spell", [str, "{}".format, lambda text: f"{text}", "%s".__mod__, "{:>9}".format])
def test_a_text_is_never_rendered_by_accident(spell: Callable[[object], str]) -> None:
    with pytest.raises(TypeError, match="render the text"):
        spell(say("{n:count case}", n=3))


def test_no_command_imports_scipy_before_a_verdict() -> None:
    """SciPy's parts take longer to load than most commands take in total."""
    parts = "{'scipy.special', 'scipy.stats'}"
    code = f"import sys; from rankbench import cli; cli.application(); print({parts} & {{*sys.modules}})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


def test_a_campaign_begins_before_polars_is_loaded() -> None:
    """It is loaded while libraries are inspected."""
    code = "import sys; from rankbench import cli; cli.application('run'); print('polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
