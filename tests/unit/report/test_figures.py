from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes import evaluations

from rankbench import plots, units
from rankbench.model import RankbenchError
from rankbench.report import write_figures

if TYPE_CHECKING:
    from pathlib import Path

BEGINNINGS = {".png": b"\x89PNG", ".svg": b"<svg", ".pdf": b"%PDF"}


def test_every_plot_is_written_in_every_format(tmp_path: Path) -> None:
    made = evaluations.evaluation(starts=("none",))
    files = write_figures(tmp_path / "figures", made, ["png", "svg", "pdf"])
    assert sorted(files) == sorted((tmp_path / "figures").iterdir())
    for file in files:
        assert file.read_bytes().startswith(BEGINNINGS[file.suffix]), file
    assert {file.name.split("-")[0] for file in files} == set(units.modules(plots))


def test_single_cases_are_drawn_where_they_are_evidence(tmp_path: Path) -> None:
    files = write_figures(tmp_path, evaluations.evaluation(), ["svg"])
    drawn = {file.stem for file in files if file.stem.startswith("distribution-")}
    assert drawn == {
        "distribution-pingpong.blocking.8.byte.socket.none",
        "distribution-pingpong.blocking.65536.byte.socket.none",
        "distribution-bandwidth.nonblocking.8.byte.socket.none",
        f"distribution-{evaluations.CRASHED}",
    }


def test_an_unknown_format_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(RankbenchError) as error:
        write_figures(tmp_path, evaluations.evaluation(), ["pgn"])
    assert str(error.value) == "figure format 'pgn': did you mean png? (allowed: png, svg, pdf)"
    assert list(tmp_path.iterdir()) == []
