"""Performance logs of ReFrame. The recorded checks print known numbers."""

from __future__ import annotations

from pathlib import Path

from fakes import tool_outputs
from wording import WORDING

from rankbench.foreign import Problem, Table, Text
from rankbench.foreign.tools import columns, reframe

LOGS = Path(__file__).parents[2] / "recorded/outputs/reframe"
LATENCY, COLLECTIVES = (LOGS / f"{name}.txt" for name in ("osu_latency", "collectives"))


def read_lenient(text: str) -> tuple[list[Table], list[Problem]]:
    problems: list[Problem] = []
    return list(reframe.read(Text("f", iter(tool_outputs.number_lines(text)), problems=problems))), problems


def test_variables_with_sizes_in_their_names_are_one_table() -> None:
    tables = tool_outputs.read_sample(reframe, LATENCY)
    assert [table.operation.name for table in tables] == ["reframe-osu_latency"] * 2
    assert [table.context for table in tables] == [
        {"library": "openmpi", "ranks": "2"},
        {"library": "mpich", "ranks": "2"},
    ]
    for table in tables:
        assert [(row.size_bytes, row.numbers, row.decimals) for row in table.rows] == [
            (8, (1.53,), 2),
            (1024, (2.25,), 2),
        ]
        assert (table.scale, table.operation.metric, table.ranks) == (1e3, "time", 2)
        assert table.facts["system"] == "generic"


def test_a_parameter_is_the_size() -> None:
    tables, problems = read_lenient(COLLECTIVES.read_text())
    assert len(tables) == 16  # Two runs of two libraries and two sizes, two quantities.
    by_metric = {(table.operation.name, table.scale, table.rows[0].numbers) for table in tables}
    assert by_metric == {
        ("reframe-collectives-allreduce", 1e3, (5.25,)),
        ("reframe-collectives-bandwidth", 1e6, (1234.5,)),
    }
    assert {(table.context["library"], table.rows[0].size_bytes) for table in tables} == {
        (library, size) for library in ("openmpi", "mpich") for size in (8, 65536)
    }
    assert all(
        table.context == {"library": table.context["library"], "ranks": "4", "ranks per node": "2", "nodes": "2"}
        for table in tables
    )
    assert {problem.reason for problem in problems} == {"flops is in 'Gflop/s', expected a time or a bandwidth"}
    assert len(problems) == 8


def test_runs_that_differ_in_a_column_are_not_pooled() -> None:
    text = LATENCY.read_text().replace("||{}|builtin", '||{"UCX_TLS": "tcp"}|gnu', 1)
    tables = tool_outputs.read_tables(reframe, text.replace("%lib=", "%transport="))
    assert [table.context.get("env_vars", "") for table in tables] == ['{"UCX_TLS": "tcp"}', ""]
    assert [table.context["transport"] for table in tables] == ["openmpi", "mpich"]


def test_the_programming_environment_is_the_library_where_nothing_else_names_it() -> None:
    text = LATENCY.read_text().replace("|lib|", "|x|").replace("builtin", "gnu-mpich").replace("%lib=", "%x=")
    assert {table.context["library"] for table in tool_outputs.read_tables(reframe, text)} == {"gnu-mpich"}


def test_a_run_that_failed_has_no_value() -> None:
    text = LATENCY.read_text().replace("|1.53|", "|null|", 1)
    first, second = tool_outputs.read_tables(reframe, text)
    assert [row.size_bytes for row in first.rows] == [1024]
    assert [row.size_bytes for row in second.rows] == [8, 1024]


def test_new_names_in_the_same_file_hold_from_there_on() -> None:
    tables = tool_outputs.read_tables(reframe, COLLECTIVES.read_text().replace("Gflop/s", "us") + LATENCY.read_text())
    assert tables[-1].operation.name == "reframe-osu_latency"


def test_wrong_lines_are_refused_with_file_and_line() -> None:
    lines = LATENCY.read_text().splitlines()
    assert tool_outputs.read_refusal(reframe, f"{lines[0]}\n{lines[1]}|x\n") == WORDING
    assert tool_outputs.read_refusal(reframe, f"{lines[0]}\n{lines[1].replace('|1.53|', '|fast|')}\n") == WORDING
    assert not reframe.recognises(tool_outputs.number_lines("library|size|time_us\nmpich|8|1.5\n"))
    assert columns.recognises(tool_outputs.number_lines("library|size|time_us\nmpich|8|1.5\n"))
