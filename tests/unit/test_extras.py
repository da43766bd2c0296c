"""Installation without extras: the base imports none of their libraries, and errors name the command that adds them."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from fakes import sites
from wording import WORDING, find_lines

import rankbench
from rankbench import cli, extras
from rankbench.model import RankbenchError

ROOT = Path(__file__).parents[2]
BASE = (
    "doctor",
    "find",
    "fleet",
    "get",
    "import",
    "lab",
    "operations",
    "record",
    "plan",
    "settings",
    "status",
    "submit",
)
"""Commands that need no extra on a login node; `import` needs one when it stores."""
MODULES = [name for names in extras.LIBRARIES.values() for name in names]
HIDE_EXTRAS = f"import sys; sys.modules |= dict.fromkeys({MODULES}); "
"""Python code after which no library of an extra can be imported."""
PLAN = """
question = "Which of two stand-ins?"
candidates = ["mpich==9.1", "mpich==9.2"]
operations = ["allreduce"]
sizes = "8"
samples = 20
placements = ["1x2"]
[stop]
blocks = 1
"""


def test_extras_have_the_documented_libraries() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    packages = metadata.packages_distributions()
    for extra, names in extras.LIBRARIES.items():
        listed = {text.partition(">=")[0] for text in project["optional-dependencies"][extra]} - {"rankbench[run]"}
        assert listed == {package.lower() for name in names for package in packages[name]}
    assert "rankbench[run]" in project["optional-dependencies"]["report"]


def test_the_base_imports_no_library_of_an_extra() -> None:
    """Its dependencies bring all other imported packages."""
    code = f"{HIDE_EXTRAS}from rankbench import cli; [cli.application(name) for name in {BASE}]"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (0, "")


@pytest.mark.costly
@pytest.mark.parametrize("name", sorted({*cli.command_modules()} - {*BASE}))
def test_an_error_names_the_extra_that_a_command_needs(name: str) -> None:
    process = subprocess.run(
        [sys.executable, "-c", f"{HIDE_EXTRAS}from rankbench.cli import main; main()", name],
        capture_output=True,
        text=True,
    )
    extra = "report" if name == "report" else "run"
    line = (
        f"rankbench: `rankbench {name}` needs polars, which is not installed; install it by: {extras.command(extra)}\n"
    )
    assert (process.returncode, process.stdout, process.stderr) == (2, "", line)


def test_reports_and_figures_need_the_chart_library(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    for words in (["report"], ["history", ".", "--figures", "svg"]):
        assert cli.call(words) == 2
        feature = "`rankbench report`" if words == ["report"] else "--figures"
        assert capsys.readouterr().err == (
            f"rankbench: {feature} needs vl-convert, which is not installed; "
            f"install it by: {extras.command('report')}\n"
        )


def test_reading_from_python_needs_polars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(RankbenchError, match=r"^rankbench\.read needs polars, .* -m pip install .*\[run\]'?$"):
        rankbench.read(tmp_path)


@pytest.mark.parametrize(
    ("receipt", "command"),
    [
        ("", f"{sys.executable} -m pip install '/a b/clone[run]'"),
        ("pipx_metadata.json", "pipx install --force '/a b/clone[run]'"),
        ("uv-receipt.toml", "uv tool install --force '/a b/clone[run]'"),
    ],
)
def test_an_extra_is_installed_from_the_source_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, receipt: str, command: str
) -> None:
    (tmp_path / (receipt or "none")).touch()
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    text = '{"dir_info": {}, "url": "file:///a%20b/clone"}'
    monkeypatch.setattr(metadata.Distribution, "read_text", lambda *_: text)
    monkeypatch.setattr(metadata.PathDistribution, "read_text", lambda *_: text)
    assert extras.command("run") == command


@pytest.mark.thorough
def test_a_job_is_submitted_without_polars_and_collected_with_polars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = sites.make_site(tmp_path, "slurm", PLAN)
    with monkeypatch.context() as patched:
        patched.setattr(sites, "MAIN", HIDE_EXTRAS + sites.MAIN)
        refused = here.submit("--wait")
        assert "--wait needs polars" in refused.printed
        assert not here.campaign.exists()
        outcome = here.submit()
        assert outcome.exit_code == 0, outcome.printed
        text = here.wait_for_end()
        line = f"new launches of its job are not collected here; to collect them, install: {extras.command('run')}"
        assert " ".join(text.splitlines()).endswith(line)
        assert here.open_results().launches() == []
    assert find_lines(here.run("status", "results/plan").printed, "done: the plan's 1") == WORDING
    assert len(here.open_results().launches()) == 3
