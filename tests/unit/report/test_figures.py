from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes import evaluations, large, recorded_programs, scales, tool_outputs
from wording import refuses

from rankbench import imports, plots, units
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions import case_labels
from rankbench.analysis.questions.view import CampaignView
from rankbench.imports import ImportRequest, Source
from rankbench.model import RankbenchError
from rankbench.plots.chart import Chart
from rankbench.report import figures, pictures, write_figures

BEGINNINGS = {".png": b"\x89PNG", ".svg": b"<svg", ".pdf": b"%PDF"}


def draw(folder: Path, view: CampaignView, formats: list[str]) -> list[Path]:
    """Return every written chart, without the index."""
    *paths, index = write_figures(folder, view, formats, ["all"])
    assert index == folder / "index.html"
    return paths


def test_main_plots_are_drawn_by_default_and_other_kinds_on_request(tmp_path: Path) -> None:
    counts: list[int] = []
    paths = write_figures(tmp_path / "usual", evaluations.make_evaluation(), ["svg"], watch=counts.append)
    kinds = {path.name.split("-")[0] for path in paths[:-1]}
    assert {"winner_map", "curves", "ratios"} <= kinds <= {*pictures.USUAL}
    assert counts == [*range(1, len(paths))]
    page = paths[-1].read_text()
    assert all(f'src="{path.name}"' in page for path in paths[:-1])
    *paths, _ = write_figures(tmp_path / "ranks", evaluations.make_evaluation(), ["svg"], ["distribution"])
    assert {path.name.split("-")[0] for path in paths} == {"distribution"}
    with pytest.raises(RankbenchError, match="no figure kind 'curve'; did you mean curves"):
        write_figures(tmp_path / "none", evaluations.make_evaluation(), ["svg"], ["curve"])
    assert not (tmp_path / "none").exists()


@pytest.mark.thorough
def test_every_plot_is_written_in_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All charts in one format; one chart of each plot in the others, which are slower and get the same charts."""
    view = evaluations.make_evaluation(("socket", "nodes"), starts=("none",), pairs=True)
    files = draw(tmp_path / "figures", view, ["svg"])
    first = {file.name.split("-")[0]: file.stem for file in reversed(files)}
    every_chart = plots.charts

    def choose_first_charts(*arguments: Any, **less: Any) -> Iterable[tuple[str, str, Chart]]:
        return (
            (plot, key, chart)
            for plot, key, chart in every_chart(*arguments, **less)
            if first.get(plot) == f"{plot}-{key}"
        )

    with monkeypatch.context() as patch:
        patch.setattr(plots, "charts", choose_first_charts)
        files += draw(tmp_path / "figures", view, ["png", "pdf"])
    assert sorted(files) == sorted(set((tmp_path / "figures").iterdir()) - {tmp_path / "figures" / "index.html"})
    for file in files:
        assert file.read_bytes().startswith(BEGINNINGS[file.suffix]), file
    drawn = {file.name.split("-")[0] for file in files}
    assert {(file.name.split("-")[0], file.suffix) for file in files} == set(itertools.product(drawn, BEGINNINGS))
    scaled = evaluate(scales.make_store(tmp_path / "made", lambda *_: 1000.0, nodes=(1, 2), ranks=(1,), launches=2))
    files += draw(tmp_path / "more", scaled, ["svg"])
    barriers = [tool_outputs.SAMPLES / name for name in ("osu-7.4/osu_barrier.txt", "imb/IMB-MPI1.Barrier.txt")]
    request = ImportRequest([Source(path, "MPICH") for path in barriers], ranks=2)
    read = imports.import_files(request, tmp_path / "imported")
    files += draw(tmp_path / "others", evaluate(read), ["svg"])
    files += draw(tmp_path / "program", recorded_programs.make_recorded(tmp_path / "recorded"), ["svg"])
    assert {file.name.split("-")[0] for file in files} == set(units.modules(plots.kinds))


@pytest.mark.thorough
def test_single_cases_are_drawn_if_they_are_evidence(tmp_path: Path) -> None:
    files = draw(tmp_path, evaluations.make_evaluation(), ["svg"])
    drawn = {file.stem for file in files if file.stem.startswith("distribution-")}
    assert drawn == {
        "distribution-pingpong.blocking.8.byte.socket.none",
        "distribution-pingpong.blocking.65536.byte.socket.none",
        "distribution-bandwidth.nonblocking.8.byte.socket.none",
        f"distribution-{evaluations.CRASHED}",
    }


def test_charts_of_few_values_are_not_drawn(tmp_path: Path) -> None:
    """Of imported results a launch is one value: a histogram of three says no more than the table."""
    barrier = [Source(tool_outputs.SAMPLES / "study" / "barrier.out")]
    read = imports.import_files(ImportRequest(barrier, ["MPICH", "OpenMPI", "IntelMPI"]), tmp_path / "imported")
    kinds = {file.name.split("-")[0] for file in draw(tmp_path / "figures", evaluate(read), ["svg"])}
    assert {"bars", "extremes"} <= kinds
    assert not kinds & {"histogram", "distribution"}


@pytest.mark.thorough
def test_pairs_of_ranks_are_drawn_as_a_matrix_only(tmp_path: Path) -> None:
    files = draw(tmp_path, evaluations.make_evaluation(pairs=True), ["svg"])
    matrix = "pingpong.blocking.8.byte.socket.none"
    drawn = {file.name for file in files}
    assert f"matrix-{matrix}.svg" in drawn
    assert not {f"distribution-{matrix}.svg", f"distribution-{matrix}.from_1.to_0.svg"} & drawn
    assert "curves-pingpong.blocking.byte.socket.none.from_1.to_0.svg" not in drawn


def test_an_unknown_format_is_refused_in_one_line(tmp_path: Path) -> None:
    with refuses():
        write_figures(tmp_path, evaluations.make_evaluation(), ["pgn"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_of_very_many_lines_only_those_with_findings_are_drawn(tmp_path: Path) -> None:
    evidence = large.Large(lines=45, sizes=2, blocks=1, samples=4)
    assert evidence.lines * len(evidence.placements) > figures.MOST_LINES
    evaluation = evidence.make_evaluation()
    first_finding = [*evidence.make_findings()[:1]]
    verdict = msgspec.structs.replace(evaluation.verdict, conclusion=[], findings=first_finding, groups=[])
    files = draw(tmp_path, dataclasses.replace(evaluation, verdict=verdict), ["svg"])
    names = {file.name for file in files}
    line = case_labels.make_line_key(next(case for case in evidence.cases if case.key == first_finding[0].cases[0]))
    assert {name for name in names if name.startswith("curves-")} == {f"curves-{line}.svg"}
    assert {name for name in names if name.startswith("distribution-")} == {
        f"distribution-{first_finding[0].cases[0]}.svg"
    }
    assert {name for name in names if name.startswith("winner_map-")} == {
        f"winner_map-{place}.svg" for place in evidence.placements
    }
