"""Files of whole jobs: runs of one library, or of several that take turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes import imports, printed
from hypothesis import given
from hypothesis import strategies as st

from rankbench.foreign import HEAD_LINES, Text, lines, outputs, reading
from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from pathlib import Path

    from rankbench.foreign import Table
    from rankbench.foreign.outputs import Output, Run

STUDY = printed.SAMPLES / "study"
LATENCY = imports.latencies((0, 1.5), (1, 2.5))
BARRIER = imports.osu(imports.BARRIER) + "             0.85\n"


def output(text: str) -> Output:
    return outputs.read_output("f", iter(printed.lines(text)))


def read_refused(text: str) -> str:
    with pytest.raises(RankbenchError) as error:
        output(text)
    return str(error.value)


def places(result: Output) -> list[tuple[str, int, int, int]]:
    """Return the label, position, round and first line of each run."""
    return [(run.label, run.position, run.round, run.line) for run in result.runs]


def values(run: Run) -> list[float]:
    (table,) = run.tables
    return [row.numbers[table.roles["value"]] for row in table.rows]


# --- one library ------------------------------------------------------------------------------------------------------


def test_a_plain_file_is_one_run() -> None:
    result = output(LATENCY + BARRIER)
    (run,) = result.runs
    assert not result.in_turns
    assert run == outputs.Run("", 0, 1, 1, run.tables, [], "", cut=False)
    assert [(table.operation.name, len(table.rows)) for table in run.tables] == [("osu-latency", 2), ("osu-barrier", 1)]


def test_a_plain_file_must_be_a_tool_s() -> None:
    assert read_refused("hello\n").startswith("f: not the output of a known benchmark (allowed: ")


def test_a_plain_file_that_is_longer_than_its_head_is_read_to_its_end() -> None:
    rows = [(size, 1.0) for size in range(1, 2 * HEAD_LINES)]
    (run,) = output(imports.latencies(*rows)).runs
    assert len(values(run)) == len(rows)


def test_the_first_turn_may_be_longer_than_the_head() -> None:
    rows = [(size, 1.0) for size in range(1, 2 * HEAD_LINES)]
    result = output(imports.in_turns([{"A": imports.latencies(*rows), "B": LATENCY}]))
    assert (result.in_turns, [len(values(run)) for run in result.runs]) == (True, [len(rows), 2])
    assert [(run.label, run.hosts, run.message) for run in result.runs] == [(name, ["n1", "n1"], "") for name in "AB"]


# --- libraries in turns -----------------------------------------------------------------------------------------------


def test_libraries_take_turns_round_after_round() -> None:
    result = output(imports.in_turns([{"A": LATENCY, "B": BARRIER}, {"A": BARRIER, "B": LATENCY}]))
    assert result.in_turns
    assert places(result) == [("A", 0, 1, 1), ("B", 1, 1, 12), ("A", 0, 2, 19), ("B", 1, 2, 26)]
    assert [values(run) for run in result.runs] == [[1.5, 2.5], [0.85], [0.85], [1.5, 2.5]]
    assert [run.hosts for run in result.runs] == [["n1", "n1"]] * 4
    assert [run.cut for run in result.runs] == [False] * 4
    assert [run.tables[0].line for run in result.runs] == [6, 15, 22, 29]


def test_one_library_can_take_its_turn_again_and_again() -> None:
    result = output(imports.in_turns([{"A": BARRIER}, {"A": BARRIER}]))
    assert places(result) == [("A", 0, 1, 1), ("A", 0, 2, 10)]


def test_names_and_hosts_are_optional() -> None:
    result = output(f"{BARRIER}---\n{BARRIER}done\n")
    assert places(result) == [("", 0, 1, 1), ("", 1, 1, 5)]
    assert [run.hosts for run in result.runs] == [[], []]


def test_hosts_are_reported_for_each_rank() -> None:
    result = output(imports.in_turns([{"A": BARRIER}, {"A": BARRIER}], hosts=["n1", "n2.cluster", "n1"]))
    assert result.runs[1].hosts == ["n1", "n2.cluster", "n1"]


def test_blank_lines_and_blanks_around_marks_are_nothing() -> None:
    spaced = imports.in_turns([{"A": LATENCY, "B": LATENCY}]).replace("---", " --- \n\n").replace("done", "\n\n done ")
    assert [(run.label, values(run), run.cut) for run in output(spaced).runs] == [
        ("A", [1.5, 2.5], False),
        ("B", [1.5, 2.5], False),
    ]


def test_a_run_without_results_has_its_first_line_as_message() -> None:
    result = output(imports.in_turns([{"A": LATENCY, "B": "", "C": "mpiexec: no such program\nbye\n"}]))
    assert [(run.label, len(run.tables), run.message) for run in result.runs] == [
        ("A", 1, ""),
        ("B", 0, ""),
        ("C", 0, "mpiexec: no such program"),
    ]


def test_a_run_that_died_before_its_first_row_says_its_title() -> None:
    result = output(imports.in_turns([{"A": imports.LATENCY, "B": LATENCY}]))
    assert (result.runs[0].tables, result.runs[0].message) == ([], "# OSU MPI Latency Test v7.4")


def test_a_file_that_ends_without_saying_so_is_cut_in_its_last_run() -> None:
    result = output(imports.in_turns([{"A": LATENCY, "B": LATENCY}], end=""))
    assert [run.cut for run in result.runs] == [False, True]


def test_marks_behind_the_last_library_begin_no_further_one() -> None:
    result = output(f"A:\n{BARRIER}---\nB:\n{BARRIER}---\n===\nA:\n{BARRIER}---\nB:\n{BARRIER}---\n===\ndone\n")
    assert [(run.label, run.position, run.round) for run in result.runs] == [
        ("A", 0, 1),
        ("B", 1, 1),
        ("A", 0, 2),
        ("B", 1, 2),
    ]
    nameless = output(f"{BARRIER}---\n===\n{BARRIER}---\n{BARRIER}done\n")
    assert [(run.position, run.round, len(run.tables)) for run in nameless.runs] == [
        (0, 1, 1),
        (1, 1, 0),
        (0, 2, 1),
        (1, 2, 1),
    ]


def test_a_damaged_row_is_an_error_with_its_line_in_the_file() -> None:
    text = imports.in_turns([{"A": LATENCY, "B": LATENCY.replace("2.50", "-2.50")}])
    line = next(number for number, splitline in enumerate(text.splitlines(), 1) if "-2.50" in splitline)
    assert read_refused(text).startswith(f"f:{line}: ")


# --- recorded files ---------------------------------------------------------------------------------------------------


def study(name: str) -> Output:
    path = STUDY / f"{name}.out"
    return outputs.read_output(str(path), lines.read_file(path))


@pytest.mark.parametrize("path", sorted(STUDY.glob("*.out")), ids=lambda path: path.stem)
def test_every_file_of_the_study_is_three_rounds_of_three_libraries(path: Path) -> None:
    result = study(path.stem)
    expected = [(label, place, number) for number in (1, 2, 3) for place, label in enumerate(LABELS)]
    cut = path.stem == "ibcast"
    assert [(run.label, run.position, run.round) for run in result.runs] == expected[: 8 if cut else 9]
    assert [run.cut for run in result.runs] == [cut and run is result.runs[-1] for run in result.runs]
    assert all(run.hosts == ["west2", "west2"] for run in result.runs)


LABELS = ("MPICH", "OpenMPI", "IntelMPI")


def test_rows_of_the_study_are_those_that_a_search_for_lines_of_numbers_finds() -> None:
    for path in sorted(STUDY.glob("*.out")):
        numbers = [
            line.split() for line in path.read_text().splitlines() if line.strip() and line.split()[0][0].isdigit()
        ]
        tables = [table for run in study(path.stem).runs for table in run.tables]
        assert sum(len(table.rows) for table in tables) == len(numbers), path.name


FILES = [path for tool in ("osu-5.3", "osu-7.4", "imb", "mpiperf", "skampi") for path in printed.files(tool)]


def bare(table: Table) -> tuple[object, ...]:
    """Return a table without what depends on where it stands in its file."""
    rows = [row._replace(line=0) for row in table.rows]
    return table._replace(line=0, rows=rows, noise=())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_a_tool_prints_is_the_same_in_turns_as_alone(path: Path) -> None:
    text = path.read_text()
    tool = reading.find_tool(printed.lines(text)[:HEAD_LINES])
    alone = [bare(table) for table in tool.read(Text("f", iter(printed.lines(text))))] if tool else []
    result = output(imports.in_turns([{"A": text, "B": text}]))
    assert [[bare(table) for table in run.tables] for run in result.runs] == [alone, alone]


SAMPLES = [imports.in_turns([{"A": LATENCY, "B": BARRIER}] * 2), imports.in_turns([{"A": "", "B": "x y\n"}], end="")]


@given(printed.draw_damage(SAMPLES))
def test_whatever_a_file_in_turns_holds_is_read_or_refused_in_a_line(text: str) -> None:
    try:
        result = output(text)
    except RankbenchError as error:
        assert str(error).startswith("f:")
        assert "\n" not in str(error)
        return
    assert [run.round for run in result.runs] == sorted(run.round for run in result.runs)


@given(st.lists(st.lists(st.sampled_from([LATENCY, BARRIER, "", "no table\n"]), min_size=1, max_size=3), min_size=2))
def test_each_table_is_in_its_run(rounds: list[list[str]]) -> None:
    labelled = [{f"L{place}": text for place, text in enumerate(texts)} for texts in rounds]
    result = output(imports.in_turns(labelled))
    expected = [
        (f"L{place}", number, int(text in {LATENCY, BARRIER}))
        for number, texts in enumerate(rounds, 1)
        for place, text in enumerate(texts)
    ]
    assert [(run.label, run.round, len(run.tables)) for run in result.runs] == expected
