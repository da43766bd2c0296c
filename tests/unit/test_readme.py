"""The README agrees with the repository: links, make targets, and the answer of the demo."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

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
