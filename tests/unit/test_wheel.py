"""Files of an installation besides modules: the core's sources, the manual page, and the extras' dependencies."""

from __future__ import annotations

import subprocess
import sys
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a prefix into which pip has installed a wheel of this tree."""
    place = tmp_path_factory.mktemp("prefix")
    options = ["--no-deps", "--no-build-isolation", "--no-compile", "--disable-pip-version-check", "--ignore-installed"]
    process = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--prefix", str(place), str(ROOT)],
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    return place


def test_the_manual_page_is_installed_for_man(prefix: Path) -> None:
    page = prefix / "share/man/man1/rankbench.1"
    assert page.read_bytes() == (ROOT / "docs/reference/rankbench.1").read_bytes()


def test_the_causes_of_failures_are_installed(prefix: Path) -> None:
    (folder,) = prefix.glob("lib*/python*/site-packages/rankbench/causes")
    sources = {path.name: path.read_bytes() for path in (ROOT / "src/rankbench/causes").glob("*.toml")}
    assert {path.name: path.read_bytes() for path in folder.glob("*.toml")} == sources


def test_the_core_is_installed_as_source(prefix: Path) -> None:
    (core,) = prefix.glob("lib*/python*/site-packages/rankbench/core")
    names = [path.relative_to(ROOT / "core") for path in (ROOT / "core").rglob("*.[ch]")]
    assert len(names) > 100
    assert all((core / name).read_bytes() == (ROOT / "core" / name).read_bytes() for name in names)


def test_the_base_needs_no_library_of_an_extra(prefix: Path) -> None:
    (record,) = prefix.glob("lib*/python*/site-packages/rankbench-*.dist-info/METADATA")
    needed = Parser().parsestr(record.read_text(encoding="utf-8")).get_all("Requires-Dist") or []
    base = sorted(text.partition(">")[0] for text in needed if "extra ==" not in text)
    assert base == ["msgspec", "numpy", "pip", "rich", "typer"]
