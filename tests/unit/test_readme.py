"""What README and guide show is true: plans load, commands have their options, files and the answer are there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import fakes
import pytest
from typer.testing import CliRunner

from rankbench import cli, plan

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
GUIDE = (ROOT / "docs/guide.md").read_text()
TEXTS = README + GUIDE
MACHINE = fakes.machine(cores=8, sockets=2)


@pytest.mark.parametrize("text", re.findall(r"```toml\n(.*?)```", TEXTS, re.DOTALL))
def test_its_plans_load(text: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text if "operations" in text else 'operations = ["allreduce"]\n' + text)
    assert plan.load(path, MACHINE, job={} if "[job]" in text else None).candidates


def _commands() -> set[tuple[str, str]]:
    """Return each command shown with each option shown for it; what the lab runs is a command of its own."""
    shown = re.sub(r"^(    rankbench lab.*) -- (.*)$", r"\1\n    \2", TEXTS, flags=re.MULTILINE)
    lines = re.findall(r"^    rankbench (\w+)(.*)$", shown, re.MULTILINE)
    return {(name, option) for name, rest in lines for option in ["--help", *re.findall(r"--\w+", rest)]}


@pytest.mark.parametrize(("name", "option"), sorted(_commands()))
def test_its_commands_have_the_options_shown(name: str, option: str) -> None:
    answer = CliRunner().invoke(cli.application(), [name, "--help"], env={"COLUMNS": "200"})
    assert answer.exit_code == 0
    assert option in answer.stdout


def test_no_text_describes_comparisons_by_state() -> None:
    """Launches were once compared where the machine was in the same state only."""
    folders = [ROOT / name for name in ("src", "docs", "core", "tools")]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in {".py", ".md", ".html", ".js"}]
    texts = {path: path.read_text() for path in [*ROOT.glob("*.md"), *files]}
    assert len(texts) > 100
    phrase = re.compile(r"like\s+state", re.IGNORECASE)
    assert [path.name for path, text in texts.items() if phrase.search(text)] == []


@pytest.mark.parametrize("page", ["README.md", "docs/guide.md"])
def test_the_files_it_names_are_there(page: str) -> None:
    text, place = (ROOT / page).read_text(), (ROOT / page).parent
    named = re.findall(r"`((?:[\w-]+/)*[\w-]+\.md)`", text)
    linked = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    assert linked
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert [name for name in linked if not (place / name).exists()] == []


@pytest.mark.parametrize("page", ["README.md", "docs/guide.md"])
def test_its_links_lead_to_sections(page: str) -> None:
    text, place = (ROOT / page).read_text(), (ROOT / page).parent
    for name, section in re.findall(r"\]\(([^)#]*)#([^)]+)\)", text):
        heads = re.findall(r"^#+ (.*)$", (place / name).read_text() if name else text, re.MULTILINE)
        assert section in [re.sub(r"[^a-z0-9 -]", "", head.lower()).replace(" ", "-") for head in heads]


def test_its_answer_is_that_of_the_recorded_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the answer changed for a good reason: tools/readme-answer."""
    tool = SimpleNamespace(**runpy.run_path(str(ROOT / "tools/readme-answer")))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli.console, "width", tool.WIDTH)
    tool.unpack()
    assert tool.with_answer(README, tool.answer()) == README


def test_the_readme_is_one_to_read_at_once() -> None:
    assert len(README.splitlines()) <= 140
    assert (ROOT / "docs/winner-map.png").stat().st_size < 200_000


def test_make_has_the_targets_it_promises() -> None:
    targets = re.findall(r"^    make (\w+)", README, re.MULTILINE)
    assert targets == ["demo", "test"]
    assert all(re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE) for target in targets)


def test_the_demo_is_where_commands_look_for_campaigns() -> None:
    """So `rankbench show` works right after it, and its report is the file that is named."""
    recipe = (ROOT / "Makefile").read_text().partition("\ndemo:")[2].partition("\n\n")[0]
    assert "--results" not in recipe
    assert {"Makefile", "README.md"} == {
        path.name for path in ROOT.iterdir() if path.is_file() and "results/demo/report.html" in path.read_text()
    }
    assert "/results/" in (ROOT / ".gitignore").read_text().splitlines()


def test_each_claim_that_the_method_has_checked_by_a_proof_has_one() -> None:
    """And each proof is the check of a claim, or stands for what the lab and the operations promise."""
    named = set(re.findall(r"`make prove CLAIM=([a-z-]+)`", (ROOT / "METHOD.md").read_text()))
    proofs = {path.stem.removeprefix("test_").replace("_", "-") for path in (ROOT / "tests/proofs").glob("test_*.py")}
    assert named == proofs
