"""Pages agree with the program: plans load, commands have their options, links work, references are current."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import fakes
import msgspec
import pytest
from typer.testing import CliRunner

from rankbench import cli, plan
from rankbench.model import Plan
from rankbench.plan import jobs, keys

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *PAGES]}
REFERENCE = SimpleNamespace(**runpy.run_path(str(ROOT / "tools/reference.py")))
MACHINE = fakes.make_machine(cores=8, sockets=2)
COMMANDS = "|".join(cli.command_modules())
HEADERS = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "core").rglob("*.h"))
MOST_WORDS = 38_960
"""Of README and docs together, but generated pages, which grow with each unit.

Only to be lowered: what is new replaces what is longer."""
REQUIRED = {"candidates": '["mpich", "openmpi"]', "operations": '["allreduce"]'}


def _list_plans() -> list[tuple[str, str]]:
    blocks = [(page, text) for page in TEXTS for text in re.findall(r"```toml\n(.*?)```", TEXTS[page], re.DOTALL)]
    return [(f"{page}-{number}", text) for number, (page, text) in enumerate(blocks)]


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in _list_plans()])
def test_plans_load(text: str) -> None:
    assert plan.parse_plan(text, "plan.toml", MACHINE, job={} if "[job]" in text else None).candidates


def test_pages_have_plans_and_commands() -> None:
    assert len(_list_plans()) > 10
    assert {name for name, _ in _list_commands()} == set(cli.command_modules())


def _list_commands() -> set[tuple[str, str]]:
    """Return each command shown with each of its options; a command within `rankbench lab` is a command of its own."""
    shown = re.sub(r"^(    rankbench lab.*) -- (.*)$", r"\1\n    \2", "\n".join(TEXTS.values()), flags=re.MULTILINE)
    lines = re.findall(r"^    rankbench ([a-z-]+)(.*)$", shown, re.MULTILINE)
    return {(name, option) for name, rest in lines for option in ["--help", *re.findall(r"--[a-z][\w-]*", rest)]}


@pytest.mark.parametrize("name", sorted({name for name, _ in _list_commands()}))
def test_commands_have_the_options_shown(name: str) -> None:
    answer = CliRunner().invoke(cli.application(name), [name, "--help"], env={"COLUMNS": "200"})
    assert answer.exit_code == 0
    assert {option for command, option in _list_commands() if command == name and option not in answer.stdout} == set()


@pytest.mark.parametrize("page", TEXTS)
def test_blocks_of_commands_are_indented(page: str) -> None:
    assert re.findall(rf"^rankbench (?:{COMMANDS}) .*(?:  #|plan\.toml|--).*$", TEXTS[page], re.MULTILINE) == []


@pytest.mark.parametrize("page", [page for page in TEXTS if page.count("/") > 1])
def test_a_page_begins_with_a_title_and_a_text(page: str) -> None:
    text = re.sub(r"\A---\n.*?\n---\n|<!--.*?-->", "", TEXTS[page], flags=re.DOTALL).strip()
    assert text.startswith("# ")
    assert not re.match(r"# .*\n+#", text)


def test_the_documents_are_short() -> None:
    """Words as `wc -w` counts them."""
    generated = {f"docs/reference/{name}" for name in REFERENCE.PAGES}
    words = {page: len(text.split()) for page, text in TEXTS.items() if page not in generated}
    longest = sorted(words, key=words.__getitem__)[-5:]
    assert sum(words.values()) <= MOST_WORDS, f"make them shorter; the longest: {longest}"


def test_every_page_is_in_the_navigation_once() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"([\w/-]+\.md)$", navigation, re.MULTILINE)
    assert sorted(f"docs/{page}" for page in listed) == sorted(TEXTS.keys() - {"README.md"})


# --- reference --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REFERENCE.PAGES)
def test_generated_pages_are_current(name: str) -> None:
    stale = f"docs/reference/{name} is stale; make it again: .venv/bin/python tools/reference.py"
    assert TEXTS[f"docs/reference/{name}"] == REFERENCE.render_page(name), stale


def test_the_manual_page_is_current() -> None:
    stale = "docs/reference/rankbench.1 is stale; make it again: .venv/bin/python tools/reference.py"
    assert REFERENCE.MANUAL.read_text(encoding="utf-8") == REFERENCE.render_manual(), stale


NEEDED = {"unit": {"value": "'(1)'"}, "tolerance": {"check": "'(1)'"}}
"""What keys have no effect without."""


def _make_plan(table: str, key: str = "", value: str = "", *, placed: bool = True, shaped: bool = False) -> Plan:
    """Return the smallest plan with a key; unbound ranks fit no socket of several."""
    setting = {key: value} if key else {}
    where = {"placements": '["1x2"]'} if placed else {}
    root = {**REQUIRED, **where, **({} if table else setting)}
    head = {"candidate": "[[candidate]]", "": ""}.get(table, f"[{table.replace('TOOL', 'osu')}]")
    shape = {"sockets": "2", "cores_per_socket": "24"} if table == "job" and (shaped or key in jobs.SHAPE) else {}
    others = {"candidate": {"library": '"mpich==4.3.2"'}, "program": {"run": '"./solver"'}}.get(table, shape)
    if key in NEEDED:
        others |= NEEDED[key]
    lines = [*(f"{name} = {text}" for name, text in root.items()), head]
    lines += [f"{name} = {text}" for name, text in (others | setting).items()] if table else []
    job: dict[str, object] | None = {} if placed and key != "placements" else None
    return msgspec.structs.replace(plan.parse_plan("\n".join(lines), "plan.toml", MACHINE, job=job), text="")


KEYS = [(table, key) for table, entries in keys.TABLES.items() for key in entries]


@pytest.mark.parametrize(("table", "key"), KEYS)
def test_the_example_of_a_key_loads(table: str, key: str) -> None:
    assert _make_plan(table, key, keys.TABLES[table][key].example)


@pytest.mark.parametrize(("table", "key"), [(table, key) for table, key in KEYS if keys.TABLES[table][key].default])
def test_the_documented_default_equals_the_default(table: str, key: str) -> None:
    placed = key != "placements"
    shaped = key in jobs.SHAPE
    default = _make_plan(table, key, keys.TABLES[table][key].default, placed=placed)
    assert default == _make_plan(table, placed=placed, shaped=shaped)


def test_exit_codes_are_those_of_the_core_and_the_commands() -> None:
    text = TEXTS["docs/reference/exit-codes.md"]
    (line,) = re.findall(r"enum \{ (EXIT_.*?), LINE", HEADERS)
    assert re.findall(r"^\| (\d) \| (EXIT_\w+) \|", text, re.MULTILINE) == [
        (number, name) for name, _, number in (word.partition(" = ") for word in line.split(", "))
    ]
    epilog = str(cli.without_commands().info.epilog)
    commands = text.partition("\n## Of `rankbench`\n")[2].partition("\n## ")[0]
    for code, meaning in re.findall(r"(\d) (.+?)[;.]", epilog.removeprefix("Exit codes: ")):
        assert f"\n| {code} | {meaning}" in commands


def test_the_core_version_in_examples_is_current() -> None:
    assert set(re.findall(r'"core":"([\d.]+)"', "\n".join(TEXTS.values()))) == {version("rankbench")}


def test_explained_phrases_occur_in_the_answer() -> None:
    """If the answer of the README changes, its explanation must follow."""
    (answer,) = re.findall(r"<!-- answer(.*)end of answer", TEXTS["README.md"], re.DOTALL)
    lines = re.sub(r"\d[\d.]*", "N", " ".join(answer.split()))
    explained = TEXTS["docs/explanation/reading-an-answer.md"].partition("## Line by line")[2].partition("\n## ")[0]
    phrases = re.findall(r"^\| `([^`]+)` \|", explained, re.MULTILINE)
    assert len(phrases) > 5
    assert [phrase for phrase in phrases if phrase not in lines] == []


# --- evidence ---------------------------------------------------------------------------------------------------------


def test_each_proof_has_a_page_and_each_claim_a_proof() -> None:
    proofs = {path.stem.removeprefix("test_").replace("_", "-") for path in (ROOT / "tests/proofs").glob("test_*.py")}
    named = {page: re.findall(r"`make prove CLAIM=([a-z-]+)`", text) for page, text in TEXTS.items()}
    assert {claim for claims in named.values() for claim in claims} == proofs
    for claim in proofs:
        assert claim in named[f"docs/evidence/{claim}.md"]


def test_a_page_of_evidence_has_claim_command_machine_and_date() -> None:
    others = {"docs/evidence/index.md", "docs/evidence/library-bugs.md"}
    for page in {page for page in TEXTS if page.startswith("docs/evidence/")} - others:
        heads = re.findall(r"^\*\*(\w+):\*\* ", TEXTS[page].partition("\n\n\n")[0], re.MULTILINE)
        assert heads[:4] == ["Claim", "Command", "Machine", "Date"], page


def test_tests_and_tools_named_in_pages_exist() -> None:
    tests = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    functions = set(re.findall(r"def (test_\w+)\(", "".join(p.read_text() for p in (ROOT / "tests").rglob("*.py"))))
    for page, text in TEXTS.items():
        assert [name for name in re.findall(r"\btest_\w+\.py\b", text) if name not in tests] == [], page
        assert [name for name in re.findall(r"\b(test_\w+)(?![\w.])", text) if name not in functions] == [], page
        assert [name for name in re.findall(r"`(tools/[\w.-]+)", text) if not (ROOT / name).exists()] == [], page


# --- the site ---------------------------------------------------------------------------------------------------------


def test_the_site_is_built_without_broken_links_and_loads_nothing_from_the_network(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    built = subprocess.run(command, cwd=ROOT, env={**os.environ}, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    pages = {path: path.read_text(encoding="utf-8") for path in (tmp_path / "site").rglob("*.html")}
    assert len(pages) > len(PAGES)
    loads = re.compile(r"<(?:link|script|img|iframe)\b[^>]*\b(?:href|src)=[\"']?(?:https?:)?//", re.IGNORECASE)
    assert [path.name for path, text in pages.items() if loads.search(text)] == []


def test_pages_named_in_sources_exist() -> None:
    folders = [ROOT / name for name in ("src", "core", "tools", "tests")]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in {".py", ".c", ".h", ".html"}]
    tools = [path for path in (ROOT / "tools").iterdir() if path.is_file()]
    for path in {*files, *tools, *PAGES, *ROOT.glob("*.md")} - {ROOT / "CHANGELOG.md"}:
        named = re.findall(r"\b(?:docs/[\w/.-]+\.(?:md|json|png)|[A-Z]{5,}\.md)\b", path.read_text(encoding="utf-8"))
        assert [name for name in named if not (ROOT / name).exists()] == [], path
