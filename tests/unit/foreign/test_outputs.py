"""Output files of jobs: runs of one library, or of several libraries in turns."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import imports, tool_outputs
from hypothesis import given
from hypothesis import strategies as st

from rankbench.foreign import HEAD_LINES, Table, Text, outputs, printed_lines, recognition
from rankbench.foreign.outputs import Output, Run
from rankbench.model import RankbenchError

STUDY = tool_outputs.SAMPLES / "study"
LATENCY = imports.format_latencies((0, 1.5), (1, 2.5))
BARRIER = imports.format_osu(imports.BARRIER) + "             0.85\n"


def read_output(text: str) -> Output:
    return outputs.read_output("f", iter(tool_outputs.number_lines(text)))


def read_refused(text: str) -> str:
    with pytest.raises(RankbenchError) as error:
        read_output(text)
    return str(error.value)


def list_places(result: Output) -> list[tuple[str, int, int, int]]:
    """Return the label, position, round and first line of each run."""
    return [(run.label, run.position, run.round, run.line) for run in result.runs]


def list_values(run: Run) -> list[float]:
    (table,) = run.tables
    return [row.numbers[table.roles["value"]] for row in table.rows]


# --- one library ------------------------------------------------------------------------------------------------------


def test_a_plain_file_is_one_run() -> None:
    result = read_output(LATENCY + BARRIER)
    (run,) = result.runs
    assert not result.in_turns
    assert run == outputs.Run("", 0, 1, 1, run.tables, [], "", cut=False)
    assert [(table.operation.name, len(table.rows)) for table in run.tables] == [("osu-latency", 2), ("osu-barrier", 1)]


def test_a_plain_file_must_be_of_a_known_tool() -> None:
    assert read_refused("hello\n").startswith("f: not the output of a known benchmark (allowed: ")


def test_a_plain_file_longer_than_its_head_is_read_to_its_end() -> None:
    rows = [(size, 1.0) for size in range(1, 2 * HEAD_LINES)]
    (run,) = read_output(imports.format_latencies(*rows)).runs
    assert len(list_values(run)) == len(rows)


def test_the_first_turn_may_be_longer_than_the_head() -> None:
    rows = [(size, 1.0) for size in range(1, 2 * HEAD_LINES)]
    result = read_output(imports.format_turns([{"A": imports.format_latencies(*rows), "B": LATENCY}]))
    assert (result.in_turns, [len(list_values(run)) for run in result.runs]) == (True, [len(rows), 2])
    assert [(run.label, run.hosts, run.message) for run in result.runs] == [(name, ["n1", "n1"], "") for name in "AB"]


# --- libraries in turns -----------------------------------------------------------------------------------------------


def test_libraries_take_turns_round_after_round() -> None:
    result = read_output(imports.format_turns([{"A": LATENCY, "B": BARRIER}, {"A": BARRIER, "B": LATENCY}]))
    assert result.in_turns
    assert list_places(result) == [("A", 0, 1, 1), ("B", 1, 1, 12), ("A", 0, 2, 19), ("B", 1, 2, 26)]
    assert [list_values(run) for run in result.runs] == [[1.5, 2.5], [0.85], [0.85], [1.5, 2.5]]
    assert [run.hosts for run in result.runs] == [["n1", "n1"]] * 4
    assert [run.cut for run in result.runs] == [False] * 4
    assert [run.tables[0].line for run in result.runs] == [6, 15, 22, 29]


def test_one_library_may_have_several_turns() -> None:
    result = read_output(imports.format_turns([{"A": BARRIER}, {"A": BARRIER}]))
    assert list_places(result) == [("A", 0, 1, 1), ("A", 0, 2, 10)]


def test_names_and_hosts_are_optional() -> None:
    result = read_output(f"{BARRIER}---\n{BARRIER}done\n")
    assert list_places(result) == [("", 0, 1, 1), ("", 1, 1, 5)]
    assert [run.hosts for run in result.runs] == [[], []]


def test_hosts_are_reported_for_each_rank() -> None:
    result = read_output(imports.format_turns([{"A": BARRIER}, {"A": BARRIER}], hosts=["n1", "n2.cluster", "n1"]))
    assert result.runs[1].hosts == ["n1", "n2.cluster", "n1"]


def test_blanks_around_marks_are_ignored() -> None:
    spaced = (
        imports.format_turns([{"A": LATENCY, "B": LATENCY}]).replace("---", " --- \n\n").replace("done", "\n\n done ")
    )
    assert [(run.label, list_values(run), run.cut) for run in read_output(spaced).runs] == [
        ("A", [1.5, 2.5], False),
        ("B", [1.5, 2.5], False),
    ]


def test_a_run_without_results_has_its_first_line_as_message() -> None:
    result = read_output(imports.format_turns([{"A": LATENCY, "B": "", "C": "mpiexec: no such program\nbye\n"}]))
    assert [(run.label, len(run.tables), run.message) for run in result.runs] == [
        ("A", 1, ""),
        ("B", 0, ""),
        ("C", 0, "mpiexec: no such program"),
    ]


def test_a_run_that_ended_before_its_first_row_has_its_title_as_message() -> None:
    result = read_output(imports.format_turns([{"A": imports.LATENCY, "B": LATENCY}]))
    assert (result.runs[0].tables, result.runs[0].message) == ([], "# OSU MPI Latency Test v7.4")


def test_a_file_without_an_end_is_truncated_in_its_last_run() -> None:
    result = read_output(imports.format_turns([{"A": LATENCY, "B": LATENCY}], end=""))
    assert [run.cut for run in result.runs] == [False, True]


def test_marks_after_the_last_library_begin_no_further_run() -> None:
    result = read_output(f"A:\n{BARRIER}---\nB:\n{BARRIER}---\n===\nA:\n{BARRIER}---\nB:\n{BARRIER}---\n===\ndone\n")
    assert [(run.label, run.position, run.round) for run in result.runs] == [
        ("A", 0, 1),
        ("B", 1, 1),
        ("A", 0, 2),
        ("B", 1, 2),
    ]
    nameless = read_output(f"{BARRIER}---\n===\n{BARRIER}---\n{BARRIER}done\n")
    assert [(run.position, run.round, len(run.tables)) for run in nameless.runs] == [
        (0, 1, 1),
        (1, 1, 0),
        (0, 2, 1),
        (1, 2, 1),
    ]


def test_a_damaged_row_is_reported_with_its_line_in_the_file() -> None:
    text = imports.format_turns([{"A": LATENCY, "B": LATENCY.replace("2.50", "-2.50")}])
    line = next(number for number, splitline in enumerate(text.splitlines(), 1) if "-2.50" in splitline)
    assert read_refused(text).startswith(f"f:{line}: ")


# --- recorded files ---------------------------------------------------------------------------------------------------


def read_study(name: str) -> Output:
    path = STUDY / f"{name}.out"
    return outputs.read_output(str(path), printed_lines.read_file(path))


@pytest.mark.parametrize("path", sorted(STUDY.glob("*.out")), ids=lambda path: path.stem)
def test_every_file_of_the_study_is_three_rounds_of_three_libraries(path: Path) -> None:
    result = read_study(path.stem)
    expected = [(label, place, number) for number in (1, 2, 3) for place, label in enumerate(LABELS)]
    cut = path.stem == "ibcast"
    assert [(run.label, run.position, run.round) for run in result.runs] == expected[: 8 if cut else 9]
    assert [run.cut for run in result.runs] == [cut and run is result.runs[-1] for run in result.runs]
    assert all(run.hosts == ["west2", "west2"] for run in result.runs)


LABELS = ("MPICH", "OpenMPI", "IntelMPI")


def test_every_line_of_numbers_in_the_study_is_a_row() -> None:
    for path in sorted(STUDY.glob("*.out")):
        numbers = [
            line.split() for line in path.read_text().splitlines() if line.strip() and line.split()[0][0].isdigit()
        ]
        tables = [table for run in read_study(path.stem).runs for table in run.tables]
        assert sum(len(table.rows) for table in tables) == len(numbers), path.name


FILES = [path for tool in ("osu-5.3", "osu-7.4", "imb", "mpiperf", "skampi") for path in tool_outputs.list_files(tool)]


def remove_places(table: Table) -> tuple[object, ...]:
    """Return a table without its place in the file."""
    rows = [row._replace(line=0) for row in table.rows]
    return table._replace(line=0, rows=rows, noise=())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_output_in_turns_is_read_as_single_output(path: Path) -> None:
    text = path.read_text()
    tool = recognition.find_tool(tool_outputs.number_lines(text)[:HEAD_LINES])
    alone = (
        [remove_places(table) for table in tool.read(Text("f", iter(tool_outputs.number_lines(text))))] if tool else []
    )
    result = read_output(imports.format_turns([{"A": text, "B": text}]))
    assert [[remove_places(table) for table in run.tables] for run in result.runs] == [alone, alone]


SAMPLES = [
    imports.format_turns([{"A": LATENCY, "B": BARRIER}] * 2),
    imports.format_turns([{"A": "", "B": "x y\n"}], end=""),
]


@given(tool_outputs.draw_damage(SAMPLES))
def test_damaged_files_in_turns_are_read_or_refused_in_one_line(text: str) -> None:
    try:
        result = read_output(text)
    except RankbenchError as error:
        assert str(error).startswith("f:")
        assert "\n" not in str(error)
        return
    assert [run.round for run in result.runs] == sorted(run.round for run in result.runs)


@given(st.lists(st.lists(st.sampled_from([LATENCY, BARRIER, "", "no table\n"]), min_size=1, max_size=3), min_size=2))
def test_each_table_is_in_its_run(rounds: list[list[str]]) -> None:
    labelled = [{f"L{place}": text for place, text in enumerate(texts)} for texts in rounds]
    result = read_output(imports.format_turns(labelled))
    expected = [
        (f"L{place}", number, int(text in {LATENCY, BARRIER}))
        for number, texts in enumerate(rounds, 1)
        for place, text in enumerate(texts)
    ]
    assert [(run.label, run.round, len(run.tables)) for run in result.runs] == expected
