"""The meanings of other tools' benchmarks name each of them, and the page of the tools in `docs` is current."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankbench import units
from rankbench.foreign import tools
from rankbench.foreign.tools import mpiperf, osu, reprompi
from rankbench.report import meanings

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "foreign.md"
TOOLS = units.modules(tools)


def test_the_page_in_docs_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == meanings.list_tools(), (
        "docs/reference/foreign.md is stale; make it again: .venv/bin/python tools/reference.py"
    )


def test_the_page_has_a_row_for_each_tool() -> None:
    text = meanings.list_tools()
    for tool in TOOLS.values():
        (row,) = [line for line in text.splitlines() if line.startswith(f"| {tool.TITLE} |")]
        assert row.split(" | ")[1:] == [str(len(tool.OPERATIONS)), f"{meanings.count_runnable(tool)} |"]
    assert f"| MPIPerf | {len(mpiperf.OPERATIONS)} | {len(mpiperf.RUNNABLE)} |" in text


def test_the_meanings_link_to_no_page() -> None:
    assert "](" not in meanings.page()


@pytest.mark.parametrize("name", TOOLS)
def test_each_benchmark_of_each_tool_is_listed_once_with_its_meaning(name: str) -> None:
    tool = TOOLS[name]
    text = meanings.section(tool)
    count = f"{len(tool.OPERATIONS)} benchmarks." if len(tool.OPERATIONS) > 1 else "One benchmark."
    assert text.startswith(f"## {tool.TITLE}\n\n{count} ")
    for operation in tool.OPERATIONS:
        (row,) = [line for line in text.splitlines() if f"`{operation.name}`" in line]
        assert operation.foreign.meaning.text.replace("|", r"\|").replace("  ", " ") in row
    assert {line.count(" | ") for line in text.splitlines() if line.startswith("| ")} == {2}


def test_tools_that_can_be_run_are_marked() -> None:
    assert f"Its benchmarks {meanings.RUN}" in meanings.section(osu)
    assert f"{len(mpiperf.RUNNABLE)} of them {meanings.RUN}" in meanings.section(mpiperf)
    assert meanings.READ in meanings.section(reprompi)


def test_a_row_has_names_and_peculiarities() -> None:
    operation = next(operation for operation in osu.OPERATIONS if operation.name == "osu-bibw")
    assert operation.foreign
    assert meanings.name_foreign(operation, operation.foreign) == "osu_bibw `osu-bibw` = `bandwidth-bidirectional`"
    assert list(meanings.short(operation.foreign.meaning)) == [
        "mean over calls",
        "one rank measures",
        "start: none",
        "bytes count 2 times",
        "1 MB = 10^6 B",
        "data not checked",
    ]
    latency = next(
        operation.foreign for operation in osu.OPERATIONS if operation.name == "osu-latency" and operation.foreign
    )
    assert "half a round trip" in meanings.short(latency.meaning)
