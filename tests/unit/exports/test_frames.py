"""`rankbench.read`: a campaign as data frames, and the example of its page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import rankbench
from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from rankbench.exports import Measured

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "python.md"


def test_each_frame_has_its_rows(plain: Measured) -> None:
    read = rankbench.read(plain.store.folder)
    verdict = plain.view.verdict
    assert read.campaign == plain.store.campaign
    assert read.samples.height == plain.store.samples().collect().height
    assert read.launches.height == plain.view.figures.height
    assert read.summary.height == len(verdict.summaries)
    assert read.comparisons.height == len(verdict.comparisons) + len(verdict.control)
    assert read.verdict["winners"].to_list() == [case.winners for case in verdict.cases]
    assert read.verdict["outcome"].to_list() == [case.outcome for case in verdict.cases]
    assert read.conclusion


def test_the_documented_columns_are_there(plain: Measured) -> None:
    read = rankbench.read(str(plain.store.folder))
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name, _ in rows] == ["samples", "launches", "summary", "comparisons", "verdict"]
    for name, columns in rows:
        frame = getattr(read, name)
        assert isinstance(frame, pl.DataFrame)
        assert {column for column in re.findall(r"`(\w+)`", columns) if column not in frame.columns} == set()


def test_the_example_runs(plain: Measured, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "small").symlink_to(plain.store.folder)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    ran = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "alpha" in ran.stdout


def test_importing_the_package_waits_for_nothing() -> None:
    code = "import sys, rankbench; print({'polars', 'numpy', 'typer'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


def test_a_folder_without_a_campaign_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RankbenchError, match="not a campaign"):
        rankbench.read(tmp_path)
