"""Units: each is complete and listed nowhere, a new file is enough, and no file is unused.

`tests/mpi/test_one_file.py` tests the same for a new operation, which needs a real library.
"""

from __future__ import annotations

import ast
import functools
import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fakes
import pytest
from fakes import campaigns, library, mark_thorough
from typer.main import get_command

from rankbench import plan
from rankbench.cli import application

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "rankbench"
CONTRACTS = {
    "libraries/sources": ("TITLE", "PRECEDENCE", "find"),
    "libraries/families": ("Family",),
    "tuning/tuners": (
        "FAMILIES",
        "HAS_OWN_CHOICE",
        "EAGER",
        "list_variants",
        "vary_parameters",
        "can_split",
        "make_handover",
    ),
    "launch/schedulers": ("Scheduler",),
    "profiles": ("NAME", "recognises", "read"),
    "foreign/tools": ("NAME", "TITLE", "OPERATIONS", "recognises", "read"),
    "analysis/claims/findings": ("TITLE", "find"),
    "plots/kinds": ("TITLE", "HELP", "SCOPE", "chart"),
    "report/tables": ("TITLE", "HELP", "FLAG", "ORDER", "tables", "frame"),
    "exports/formats": ("TITLE", "SUFFIX", "PLACE", "write"),
    "cli/commands": ("ORDER", "GROUP", "EXAMPLES"),
}


def list_unit_files(folder: str) -> list[Path]:
    return sorted(path for path in (PACKAGE / folder).glob("*.py") if not path.stem.startswith("_"))


UNITS = [(folder, path) for folder in CONTRACTS for path in list_unit_files(folder)]


def list_names_of(path: Path) -> set[str]:
    """Return a unit's name as its file and as users write it."""
    return {path.stem, path.stem.replace("_", "-")}


def list_definitions(path: Path) -> set[str]:
    """Return the definitions at the top level of a module."""
    names: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {node.id for target in node.targets for node in ast.walk(target) if isinstance(node, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def test_the_documented_units_are_those_tested_here() -> None:
    table = (
        (ROOT / "docs/develop/architecture.md").read_text().partition("## One file per unit")[2].partition("\n## ")[0]
    )
    patterns = re.findall(r"\| `(\S+)/NAME\.(\w+)` \|", table)
    assert {folder for folder, suffix in patterns if suffix == "py"} == set(CONTRACTS)
    for folder, suffix in patterns:
        place = ROOT if suffix == "c" else PACKAGE
        assert list((place / folder).glob(f"*.{suffix}")), (
            f"docs/develop/architecture.md names {folder}, where no unit is"
        )


@pytest.mark.parametrize(("folder", "path"), UNITS, ids=lambda value: getattr(value, "stem", ""))
def test_a_unit_is_complete(folder: str, path: Path) -> None:
    wanted = {*CONTRACTS[folder], *([path.stem] if folder == "cli/commands" else [])}
    missing = wanted - list_definitions(path)
    assert not missing, (
        f"{path}: lacks {', '.join(sorted(missing))}; see the table of units in docs/develop/architecture.md"
    )
    assert ast.get_docstring(ast.parse(path.read_text())), f"{path}: say in a docstring what it is"


@functools.cache
def read_sources() -> dict[Path, tuple[list[str], list[tuple[int, set[object]]]]]:
    """Return for each source its imports, and the constants and line of each listing."""
    all_listings: dict[Path, tuple[list[str], list[tuple[int, set[object]]]]] = {}
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        listings = (node for node in ast.walk(tree) if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict))
        all_listings[path] = ([*list_imports(tree)], [])
        for listing in listings:
            constants: set[object] = {node.value for node in ast.walk(listing) if isinstance(node, ast.Constant)}
            all_listings[path][1].append((listing.lineno, constants))
    return all_listings


@pytest.mark.parametrize("folder", CONTRACTS)
def test_no_unit_is_listed_outside_its_folder(folder: str) -> None:
    units = {path.stem for path in list_unit_files(folder)}
    spelt = [list_names_of(path) for path in list_unit_files(folder)]
    for path, (imported, listings) in read_sources().items():
        assert not units & {name.rpartition(".")[2] for name in imported if folder in name.replace(".", "/")}
        for line, texts in listings:
            listed = len(spelt) > 1 and all(names & texts for names in spelt)
            assert not listed, f"{path}:{line}: lists all of {folder}; walk the folder"


@pytest.mark.parametrize("name", plan.list_presets())
def test_a_preset_is_a_plan_with_cases(name: str) -> None:
    planned = plan.load_plan(plan.find_preset(name), fakes.make_machine())
    cases, _ = plan.expand_plan(planned, fakes.read_description(), fakes.make_machine())
    assert planned.question
    assert cases


def test_each_command_and_each_of_its_parameters_has_help() -> None:
    commands = get_command(application()).commands  # type: ignore[attr-defined]
    assert set(commands) == {path.stem.rstrip("_") for path in list_unit_files("cli/commands")}
    for name, command in commands.items():
        assert command.help, name
        for parameter in command.params:
            assert parameter.help, f"{name}: {parameter.name}"


# --- one new file is enough -------------------------------------------------------------------------------------------

FAMILY = """
from rankbench.libraries import families
class Family(families.Family):
    name, title, packages, precedence = "lam", "LAM/MPI", (), 5
    versions = (r"^LAM (\\S+)/MPI",)
    def make_launch_line(self, library, placement, settings, program): ...
"""
CAUSE = """
pattern = 'no lamd running on (?P<host>[a-z0-9]+)'
cause = "no daemon of LAM runs on {host}"
remedy = "start it: lamboot"
libraries = ["lam"]
log = []
"""
SOURCE = """
from rankbench.libraries import sources
TITLE, PRECEDENCE = "the attic", 1
def find(search):
    return [sources.make_installation(wrapper, "attic") for wrapper in search.home.glob("attic/*/bin/mpicc")]
"""
FINDING = """
from rankbench.model import Finding
TITLE = "Added"
def find(view):
    text = f"{len(view.cases)} cases were looked at."
    yield Finding(kind="added", title=TITLE, text=text, advice="", cases=[], severity="note")
"""
PLOT = """
from rankbench.plots.chart import Chart
TITLE, HELP, SCOPE = "Added", "A plot of a test.", "placement"
def chart(view):
    return Chart({}, "added", "", {"rows": [{"cases": len(view.cases)}]})
"""
TABLE = """
import polars as pl
from rankbench.report.tables import Cell, Hint, Table
TITLE, HELP, FLAG, ORDER = "Added", "A table of a test.", "added-table", 1000
def tables(view):
    return [Table("Added table", ["cases"], [[Cell(str(len(view.cases)))]])]
def body(view):
    return [Hint("What was added.")]
def frame(view):
    return pl.DataFrame({"cases": [len(view.cases)]})
"""
SCHEDULER = """
from rankbench.launch import schedulers
class Scheduler(schedulers.Scheduler):
    name, title, submit, number, job_id = "oar", "OAR", ("oarsub", "-S"), "OAR_JOB_ID=(.*)", "$OAR_JOB_ID"
"""
COMMAND = '''
ORDER = 1
GROUP = "Check"
EXAMPLES = ""
def added():
    """Say hello."""
    print("hello")
'''
PRESET = 'question = "Added?"\ncandidates = ["mpich"]\noperations = ["allreduce"]\n'
ADDED = {
    "libraries/families/lam.py": (
        FAMILY,
        "from rankbench.libraries import families, recognise\n"
        "family, version = recognise('LAM 7.1.4/MPI 2 C++')\n"
        "print(family.title, version)",
        "LAM/MPI 7.1.4",
    ),
    "causes/lam-daemons.toml": (
        CAUSE,
        "from rankbench import causes\n"
        "print(causes.explain('no lamd running on n1', 'lam'), [causes.explain('no lamd running on n1', 'mpich')])",
        "no daemon of LAM runs on n1; start it: lamboot ['']",
    ),
    "libraries/sources/attic.py": (
        SOURCE,
        "from pathlib import Path\n"
        "from rankbench import libraries\n"
        "(found,) = libraries.find(libraries.Search(home=Path.cwd(), system=()))\n"
        "print(found.name, found.source)",
        "mpich-9.1 attic",
    ),
    "analysis/claims/findings/added.py": (
        FINDING,
        "from pathlib import Path\n"
        "from rankbench import store\n"
        "from rankbench.analysis.evaluation import evaluate\n"
        "found = evaluate(store.open(Path('made'))).verdict.findings\n"
        "print(*(one.text for one in found if one.kind == 'added'))",
        "9 cases were looked at.",
    ),
    "plots/kinds/added.py": (
        PLOT,
        "from pathlib import Path\n"
        "from rankbench import plots, store\n"
        "from rankbench.analysis.evaluation import evaluate\n"
        "found = plots.charts(evaluate(store.open(Path('made'))), only=[])\n"
        "print(*(chart.datasets for plot, _, chart in found if plot == 'added'))",
        "{'rows': [{'cases': 9}]}",
    ),
    "report/tables/added.py": (
        TABLE,
        "import sys\n"
        "from pathlib import Path\n"
        "from rankbench import report, store\n"
        "from rankbench.cli import main\n"
        "from rankbench.analysis.evaluation import evaluate\n"
        "found = evaluate(store.open(Path('made')))\n"
        "page = report.html(found)\n"
        "wanted = '<a href=\"#added-table\">Added</a>', 'What was added.', 'data-table=\"added\"'\n"
        "print(*(text in page for text in wanted))\n"
        "print('**Added table**' in report.markdown(found), 'caption{Added table}' in report.latex(found))\n"
        "sys.argv = ['rankbench', 'show', 'made', '--table', 'added-table', '--format', 'csv']\n"
        "main()",
        "True True True\nTrue True\ncases\n9",
    ),
    "launch/schedulers/oar.py": (
        SCHEDULER,
        "from rankbench.launch import schedulers\n"
        "found = schedulers.find_schedulers()\n"
        "print(found['oar'].title, len(found))",
        "OAR 7",
    ),
    "cli/commands/added.py": (COMMAND, "from rankbench.cli import main; main()", "hello"),
    "plan/presets/added.toml": (
        PRESET,
        "from rankbench import launch, plan\n"
        "print(plan.load_plan(plan.find_preset('added'), launch.machine()).question)",
        "Added?",
    ),
}


@pytest.mark.parametrize("file", [next(iter(ADDED)), *map(mark_thorough, list(ADDED)[1:])])
def test_one_new_file_is_found_and_used(file: str, tmp_path: Path) -> None:
    text, program, output = ADDED[file]
    shutil.copytree(PACKAGE, tmp_path / "copy" / "rankbench")  # With compiled parts, which takes seconds.
    (tmp_path / "copy" / "rankbench" / file).write_text(text)
    library.make(tmp_path / "attic" / "mpich", "9.1")
    campaigns.make_campaign(tmp_path / "made", launches=1)
    process = subprocess.run(
        [sys.executable, "-c", program, *(["added"] if file.startswith("cli/commands/") else [])],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "copy")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.stdout, process.stderr) == (output + "\n", "")


# --- a clone is enough ------------------------------------------------------------------------------------------------


def find_outside_paths(file: Path, text: str) -> list[str]:
    """Return the expressions of a program that name a place outside the repository, as far as they need no run."""
    known: dict[str, Path] = {}

    def resolve(node: ast.expr) -> Path | None:
        match node:
            case ast.Name(name):
                return known.get(name)
            case ast.Call(ast.Name("Path"), [ast.Name("__file__")]):
                return file
            case ast.Call(ast.Attribute(value, "resolve" | "absolute"), []):
                return resolve(value)
            case ast.Attribute(value, "parent") if place := resolve(value):
                return place.parent
            case ast.Subscript(ast.Attribute(value, "parents"), ast.Constant(int(count))) if place := resolve(value):
                return place.parents[count]
            case ast.BinOp(left, ast.Div(), ast.Constant(str(name))) if place := resolve(left):
                return Path(os.path.normpath(place / name))
        return None

    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and (place := resolve(node.value)):
            known[node.targets[0].id] = place
    return [
        f"{file.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.expr) and (place := resolve(node)) and not place.is_relative_to(ROOT)
    ]


def test_no_program_reads_beside_the_repository() -> None:
    listed = subprocess.run(["git", "ls-files", "-z", "*.py", "tools"], cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.split("\0") if listed.returncode == 0 else map(str, ROOT.glob("*/**/*.py"))
    files = {ROOT / name for name in names if name}
    python = [file for file in files if file.suffix == ".py" or "python" in file.read_text().partition("\n")[0]]
    assert len(python) > 300
    assert [place for file in sorted(python) for place in find_outside_paths(file, file.read_text())] == []


def test_a_path_beside_the_repository_is_found() -> None:
    place = ROOT / "tests" / "example.py"
    names = ["ROOT.parent / 'data'", "Path(__file__).parents[2]", "ROOT / '..' / 'data'", "ROOT / 'data'"]
    text = "ROOT = Path(__file__).resolve().parents[1]\n" + "\n".join(names)
    assert [line.partition(": ")[2] for line in find_outside_paths(place, text)] == [
        "ROOT.parent / 'data'",
        "Path(__file__).parents[2]",
        "ROOT / '..' / 'data'",
        "ROOT.parent",
        "ROOT / '..'",
    ]


# --- no file is unused ------------------------------------------------------------------------------------------------


def list_imports(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that a module may import: modules, and names in packages that may be modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def name_module(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def test_every_module_is_imported_by_the_command_line_or_a_unit() -> None:
    modules = {name_module(path): path for path in PACKAGE.rglob("*.py")}
    waiting = ["rankbench.__main__", "rankbench.reframe_checks", *(name_module(path) for _, path in UNITS)]
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in modules and name not in reached:
            reached.add(name)
            waiting += [name.rpartition(".")[0], *list_imports(ast.parse(modules[name].read_text()))]
    unused = modules.keys() - reached
    assert not unused, f"nobody imports {', '.join(sorted(unused))}; delete it"


def test_every_other_file_is_named_by_its_reader() -> None:
    readers = "".join(path.read_text() for path in (*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.html")))
    files = {path for path in PACKAGE.rglob("*.*") if path.suffix not in {".py", ".pyc", ".toml"}}
    assert [path for path in files if path.name not in readers] == []


def test_every_tool_is_used_or_documented() -> None:
    texts = [ROOT / "Makefile", ROOT / ".ci" / "run", *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    references = "".join(path.read_text() for path in texts)
    assert [path for path in (ROOT / "tools").iterdir() if f"tools/{path.name}" not in references] == []


def test_every_header_of_the_core_is_included() -> None:
    core = ROOT / "core"
    included = {name for path in core.rglob("*.[ch]") for name in re.findall(r'#include "(.+)"', path.read_text())}
    assert {path.relative_to(core).as_posix() for path in core.rglob("*.h")} == included - {"missing.h"}


@pytest.mark.parametrize(
    "path", [path for path in sorted(PACKAGE.rglob("*.py")) if "\n__all__" in path.read_text()], ids=str
)
def test_every_exported_name_exists(path: Path) -> None:
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    module = importlib.import_module(name)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
