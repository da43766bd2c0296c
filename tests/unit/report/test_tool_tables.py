"""Tools side by side: recorded values of MPIPerf and SKaMPI for the same calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import imports, tool_outputs
from wording import WORDING, find_lines

from rankbench import imports as importer
from rankbench import report
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.imports import ImportRequest, Source
from rankbench.plots.kinds import tools as plot
from rankbench.report.tables import Table
from rankbench.report.tables import tools as table_kind

OUTPUTS = {"A": "mpiperf/Bcast.txt", "B": "skampi/skampi_coll.txt"}


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> CampaignView:
    """Return the campaign of two tools, imported under two labels as if they were libraries."""
    sources = [Source(tool_outputs.SAMPLES / path, label) for label, path in OUTPUTS.items()]
    return evaluate(importer.import_files(ImportRequest(sources), tmp_path_factory.mktemp("tools") / "made"))


def read_texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_values_of_two_tools_for_a_call_are_in_one_table(view: CampaignView) -> None:
    values, meanings = table_kind.tables(view)
    assert values.caption == WORDING
    assert values.columns == ["message size", "mpiperf-bcast, A", "skampi-bcast, B"]
    rows = {row[0]: row[1:] for row in read_texts(values)}
    assert (rows["2 B"], rows["8 B"], rows["12 B"]) == (["120 ns", "–"], ["330 ns", "300 ns"], ["–", "300 ns"])
    assert {cell.case for row in values.rows for cell in row if cell.case} == {
        case.key for case in view.cases if case.operation in {"mpiperf-bcast", "skampi-bcast"}
    }
    assert [row[:2] for row in read_texts(meanings)] == [["mpiperf-bcast", "MPIPerf"], ["skampi-bcast", "SKaMPI"]]
    assert [row[2] for row in read_texts(meanings)] == [
        view.operations[name].foreign.meaning.text  # type: ignore[union-attr]
        for name in ("mpiperf-bcast", "skampi-bcast")
    ]


def test_the_frame_has_the_values_of_both_tools(view: CampaignView) -> None:
    frame = table_kind.frame(view)
    assert set(frame.select("call", "tool", "candidate").rows()) == {
        ("bcast", "mpiperf", "A"),
        ("bcast", "skampi", "B"),
    }
    at_8 = frame.filter(size_bytes=8).sort("tool")
    assert at_8["typical_ns"].to_list() == [330.0, 300.0]
    assert at_8["samples"].to_list() == [1, 1]


def test_one_chart_has_the_lines_of_both_tools(view: CampaignView) -> None:
    charts = [chart for _, part in view.parts("call") if (chart := plot.chart(part))]
    (chart,) = charts
    points = chart.datasets["points"]
    assert {row["candidate"] for row in points} == {"mpiperf-bcast, A", "skampi-bcast, B"}
    assert [row["value"] for row in points if row["size"] == "8 B"] == [330.0, 300.0]
    assert "not compared" in chart.subtitle


def test_the_report_has_the_tables(view: CampaignView) -> None:
    assert find_lines(report.markdown(view), "bcast on 2 ranks") == WORDING


def test_there_is_no_table_of_one_tool_or_of_calls_on_other_numbers_of_ranks(tmp_path: Path) -> None:
    alone = evaluate(imports.import_campaign(tmp_path, {"A": [imports.format_latencies((8, 1.5))]}))
    assert (table_kind.tables(alone), table_kind.body(alone), table_kind.frame(alone).height) == ([], [], 0)
    text = (tool_outputs.SAMPLES / OUTPUTS["A"]).read_text()
    four = text.replace("\n  2  ", "\n  4  ").replace("# 1:vm\n", "# 1:vm\n# 2:vm\n# 3:vm\n")
    outputs = {"A": [four], "B": [(tool_outputs.SAMPLES / OUTPUTS["B"]).read_text()]}
    assert table_kind.tables(evaluate(imports.import_campaign(tmp_path / "ranks", outputs))) == []
