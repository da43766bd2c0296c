"""The README agrees with the repository: links, make targets, and the answer of the demo."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rankbench.cli import display

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_linked_files_and_sections_exist() -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#([^)]*))?\)", README)
    assert len(links) > 10
    for name, section in links:
        assert (ROOT / name).exists()
        heads = re.findall(r"^#+ (.*)$", (ROOT / name).read_text(), re.MULTILINE) if section else []
        assert not section or section in [re.sub(r"[^a-z0-9 -]", "", head.lower()).replace(" ", "-") for head in heads]


def test_the_answer_is_that_of_the_recorded_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the one that is explained. After an intended change run tools/readme-answer."""
    tool = SimpleNamespace(**runpy.run_path(str(ROOT / "tools/readme-answer")))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(display.console, "width", tool.WIDTH)
    tool.unpack()
    answer = tool.make_answer()
    for page, rows in tool.PAGES.items():
        text = page.read_text()
        assert tool.insert_answer(text, tool.shorten_answer(answer, rows)) == text


def list_outputs(notebook: dict[str, Any]) -> list[list[str]]:
    """Return the texts and tables that a notebook shows; of a picture only that it is one."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return [output.get("text") or output["data"].get("text/html") or sorted(output["data"]) for output in outputs]


@pytest.mark.thorough
def test_the_notebook_shows_the_recorded_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes of a picture may differ. After an intended change run tools/readme-answer."""
    tool = SimpleNamespace(**runpy.run_path(str(ROOT / "tools/readme-answer")))
    monkeypatch.chdir(tmp_path)
    tool.unpack()
    stored = list_outputs(json.loads(tool.NOTEBOOK.read_text(encoding="utf-8")))
    current = list_outputs(tool.run_notebook())
    assert stored == current
    assert len(stored) == 7


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 140
    assert (ROOT / "docs/winner-map.png").stat().st_size < 220_000


def test_the_listed_make_targets_exist() -> None:
    targets = re.findall(r"^    make (\w+)", README, re.MULTILINE)
    assert targets == ["demo", "test"]
    assert all(re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE) for target in targets)


def test_the_demo_is_where_commands_look_for_campaigns() -> None:
    """So `rankbench show` works right after it, and its report is the named file."""
    recipe = (ROOT / "Makefile").read_text().partition("\ndemo:")[2].partition("\n\n")[0]
    assert "--results" not in recipe
    assert {"Makefile", "README.md"} == {
        path.name for path in ROOT.iterdir() if path.is_file() and "results/demo/report.html" in path.read_text()
    }
    assert "/results/" in (ROOT / ".gitignore").read_text().splitlines()
