"""`rankbench.read`: a campaign as data frames, and the example on its page."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import altair as alt
import polars as pl
import pytest

import rankbench
from rankbench.exports import EvaluatedCampaign
from rankbench.model import RankbenchError

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "python.md"
NOTEBOOK = json.loads(PAGE.with_suffix(".ipynb").read_text(encoding="utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def test_each_frame_has_its_rows(plain: EvaluatedCampaign) -> None:
    read = rankbench.read(plain.store.folder)
    verdict = plain.view.verdict
    assert read.campaign == plain.store.campaign
    assert read.samples.height == plain.store.samples().collect().height
    assert read.launches.height == plain.view.launch_values.height
    assert read.summary.height == len(verdict.summaries)
    assert read.comparisons.height == len(verdict.comparisons) + len(verdict.control)
    assert read.verdict["winners"].to_list() == [case.winners for case in verdict.cases]
    assert read.verdict["outcome"].to_list() == [case.outcome for case in verdict.cases]
    assert read.conclusion


def test_frames_of_several_campaigns_are_below_each_other(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    copy = shutil.copytree(plain.store.folder, tmp_path / "copy")
    single, both = rankbench.read(copy), rankbench.read_all(plain.store.folder, copy)
    for name in ("samples", "launches", "summary", "comparisons", "verdict"):
        frame = getattr(both, name)
        assert frame.columns == ["campaign", *getattr(single, name).columns]
        assert frame.filter(campaign=str(copy)).drop("campaign").equals(getattr(single, name))
        assert frame["campaign"].unique(maintain_order=True).to_list() == [str(plain.store.folder), str(copy)]
    assert list(both.campaigns) == [str(plain.store.folder), str(copy)]
    with pytest.raises(RankbenchError, match="name the folders"):
        rankbench.read_all()


def test_the_documented_columns_exist(plain: EvaluatedCampaign) -> None:
    read = rankbench.read(str(plain.store.folder))
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name, _ in rows] == ["samples", "launches", "summary", "comparisons", "verdict"]
    for name, columns in rows:
        frame = getattr(read, name)
        assert isinstance(frame, pl.DataFrame)
        assert {column for column in re.findall(r"`(\w+)`", columns) if column not in frame.columns} == set()


def test_the_example_runs(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "quick").symlink_to(plain.store.folder)
    _, example = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    ran = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "alpha" in ran.stdout


def test_importing_the_package_imports_no_large_library() -> None:
    code = "import sys, rankbench; print({'polars', 'numpy', 'typer'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


def test_a_folder_without_a_campaign_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(RankbenchError, match="not a campaign"):
        rankbench.read(tmp_path)


def test_the_notebook_runs_cell_by_cell(
    plain: EvaluatedCampaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell that ends with a value shows it: a frame with rows, or a chart that can be drawn."""
    shutil.copytree(plain.store.folder, tmp_path / "results" / "demo")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    shown = [value for value in (run_cell(text, names) for text in CODE) if value is not None]
    frames = [value for value in shown if isinstance(value, pl.DataFrame)]
    (chart,) = (value.to_dict() for value in shown if isinstance(value, alt.TopLevelMixin))
    assert len(frames) == len(shown) - 1 == 4
    assert all(frame.height for frame in frames)
    assert [layer["mark"]["type"] for layer in chart["layer"]] == ["area", "line", "point"]


def run_cell(text: str, names: dict[str, object]) -> object:
    """Run a cell as a notebook does, and return the value of its last expression."""
    tree = ast.parse(text)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if isinstance(last, ast.Expr) else None


def test_the_notebook_is_linked() -> None:
    assert f"]({PAGE.with_suffix('.ipynb').name})" in PAGE.read_text(encoding="utf-8")


def test_two_candidates_are_compared_in_every_case(plain: EvaluatedCampaign) -> None:
    frames = rankbench.read(plain.store.folder)
    names = plain.view.candidates
    over, back = (frames.compare(*pair) for pair in (names[:2], names[1::-1]))
    assert over["case"].to_list() == back["case"].to_list()
    assert set(over["case"]) <= frames.cases.keys()
    assert (over["ratio"] * back["ratio"]).to_list() == pytest.approx([1.0] * over.height)
    with pytest.raises(RankbenchError, match="no candidate nobody"):
        frames.compare("nobody", names[0])


def test_charts_of_the_report_are_drawn(plain: EvaluatedCampaign) -> None:
    frames = rankbench.read(plain.store.folder)
    operation = frames.summary["operation"][0]
    assert "layer" in frames.plot("overall").to_dict()
    chart = frames.plot("curves", operation).to_dict()
    assert operation in json.dumps(chart)
    for kind, of in (("curve", operation), ("curves", "nothing")):
        with pytest.raises(RankbenchError):
            frames.plot(kind, of)
