"""Text in OSU's format: equal to OSU's own except for the numbers, and readable by the reader of OSU's output."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
import polars as pl
import pytest
from fakes import campaigns, kinds, tool_outputs
from msgspec.structs import replace
from typer.testing import CliRunner

from rankbench import cli, store, units
from rankbench.evaluation import evaluate
from rankbench.exports import EvaluatedCampaign
from rankbench.exports import values as exports_values
from rankbench.exports.formats import osu
from rankbench.foreign import reading, tools
from rankbench.foreign.comparing import describe_core_value
from rankbench.foreign.tools import osu as reader
from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from pathlib import Path

    from rankbench.foreign import Table

SAMPLES = tool_outputs.SAMPLES / "osu-7.4"


def write_files(measured: EvaluatedCampaign, folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in osu.write(measured, folder / "osu")}


def test_a_file_explains_its_numbers(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    texts = write_files(plain, tmp_path)
    lines = texts["allreduce.blocking.float.socket.window.beta.txt"].splitlines()
    assert lines[:6] == [
        "# OSU MPI Allreduce Latency Test v7.4",
        "# Measured by: rankbench 0.1.0, not OSU; Avg is the median over launches of each launch's median, "
        "Min and Max the least and the greatest of these",
        "# Campaign: plain, candidate beta",
        "# Case: allreduce, 2 ranks (socket), start: window, 6 launches each, 95% intervals",
        '# Meaning: {"over_calls":"median","over_ranks":"span","start":"window","text":"median over launches of each '
        "launch's median; a sample is the time from the common start of one call until the last rank has finished; by "
        'rankbench; Min and Max are the least and the greatest launch, Iterations the samples of all launches",'
        '"trip":"call","counted":1.0,"megabyte":0,"data":"checked"}',
        "# Datatype: MPI_FLOAT.",
    ]
    assert len(lines) == 9
    (summary,) = (
        summary
        for summary in plain.view.verdict.summaries
        if (summary.case, summary.candidate) == ("allreduce.blocking.8.float.socket.window", "beta")
    )
    launch_values = plain.view.launch_values.filter(pl.col("case") == summary.case, pl.col("candidate") == "beta")
    ends = [launch_values["figure_ns"].min(), launch_values["figure_ns"].max()]
    numbers = [f"{time_ns / 1e3:.4f}" for time_ns in (summary.typical_ns, *ends)]  # type: ignore[operator]
    assert lines[7].split() == ["8", *numbers, str(summary.samples)]


def test_there_is_a_file_for_each_candidate_and_operation_with_values(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    assert sorted(write_files(plain, tmp_path)) == [
        "allreduce.blocking.float.socket.window.alpha.txt",
        "allreduce.blocking.float.socket.window.beta.txt",
        "allreduce.nonblocking.float.socket.window.alpha.txt",
        "allreduce.nonblocking.float.socket.window.beta.txt",
        "bandwidth.nonblocking.byte.socket.none.alpha.txt",
        "bandwidth.nonblocking.byte.socket.none.beta.txt",
        "barrier.blocking.byte.socket.window.alpha.txt",
        "pingpong.blocking.byte.socket.none.alpha.txt",
        "pingpong.blocking.byte.socket.none.beta.txt",
    ]


def read_heads(path: Path) -> tuple[str, str]:
    """Return the title and the headings of a file of OSU."""
    lines = [line for line in path.read_text().splitlines() if line.startswith("#")]
    return lines[0], lines[-1]


@pytest.mark.parametrize(
    ("name", "sample"),
    [
        ("allreduce.blocking.float.socket.window.alpha.txt", "osu_allreduce.full.txt"),
        ("barrier.blocking.byte.socket.window.alpha.txt", "default/osu_barrier.default.txt"),
        ("bandwidth.nonblocking.byte.socket.none.alpha.txt", "osu_bw.txt"),
        ("allreduce.nonblocking.float.1x4.window.quantity=overlap.alpha.txt", "osu_iallreduce.txt"),
    ],
)
def test_titles_headings_and_columns_are_those_of_osu(
    plain: EvaluatedCampaign, every_kind: EvaluatedCampaign, tmp_path: Path, name: str, sample: str
) -> None:
    lines = (write_files(plain, tmp_path) | write_files(every_kind, tmp_path))[name].splitlines()
    if sample == "osu_allreduce.full.txt":  # This sample has percentiles after them.
        title, headings = read_heads(SAMPLES / "default" / "osu_allreduce.full_tail.rep0.txt")
        headings = headings.partition("  P50")[0]
    else:
        title, headings = read_heads(SAMPLES / sample)
    comments = [line for line in lines if line.startswith("#")]
    assert (comments[0], comments[-1]) == (title, headings)
    ends = [match.end() for match in re.finditer(r"[^\s#](?: ?\S)*(?=\s\s|$)", headings.removeprefix("# Size"))]
    shift = len(headings) - len(headings.removeprefix("# Size"))
    for row in (line for line in lines if not line.startswith("#")):
        cells = [match.end() - shift for match in re.finditer(r"\S+", row)]
        assert cells[-len(ends) :] == ends


def read_back(measured: EvaluatedCampaign, folder: Path) -> dict[str, Table]:
    tables = {}
    for path in osu.write(measured, folder / measured.store.folder.name):
        (tables[path.stem],) = reading.read_file(path)
    return tables


def test_the_reader_of_osu_s_output_reads_exported_files(
    plain: EvaluatedCampaign, every_kind: EvaluatedCampaign, tmp_path: Path
) -> None:
    for measured in (plain, every_kind):
        values = {
            (exports_value.case, exports_value.candidate): exports_value
            for exports_value in exports_values.list_values(measured.view)
        }
        rows = 0
        for name, table in read_back(measured, tmp_path).items():
            candidate = name.rpartition(".")[2]
            assert table.facts["campaign"] == f"{measured.store.folder.name}, candidate {candidate}"
            assert table.facts["measured by"].startswith("rankbench 0.1.0, not OSU; ")
            assert (table.version, table.noise) == ("7.4", ())
            for row in table.rows:
                line = name.removesuffix(f".{candidate}").split(".", 2)
                original = values[".".join([*line[:2], str(row.size_bytes), line[2]]), candidate]
                value = row.numbers[table.roles["value"]] * table.scale
                if original.unit == "messages/s":
                    value = row.numbers[table.roles["rate"]] * 1e6
                assert original.value is not None
                assert value / (1 if original.unit == "ns" else 1e6) == pytest.approx(original.value, rel=1e-3)
                rows += 1
        without = [value for value in values.values() if value.unit == "bytes" or value.value is None]
        assert rows + len(without) == len([value for value in values.values() if "again" not in value.candidate])


def test_meanings_survive_the_round_trip(
    plain: EvaluatedCampaign, every_kind: EvaluatedCampaign, tmp_path: Path
) -> None:
    for measured in (plain, every_kind):
        cases = {case.key: case for case in measured.view.campaign.cases}
        operations = {operation.name: operation for operation in measured.view.campaign.operations}
        for name, table in read_back(measured, tmp_path).items():
            line = name.rpartition(".")[0].split(".", 2)
            case = cases[".".join([*line[:2], str(table.rows[0].size_bytes), line[2]])]
            meaning, foreign = describe_core_value(operations[case.operation], case.start), table.operation.foreign
            assert foreign is not None
            assert foreign.benchmark.endswith(" of rankbench")
            assert foreign.meaning.text.startswith(f"{meaning.text}; by rankbench")
            assert replace(foreign.meaning, text="", megabyte=0) == replace(meaning, text="")
            assert foreign.meaning.megabyte == (0 if table.operation.metric in {"time", "latency"} else 10**6)
            assert table.operation.start == foreign.meaning.start


def test_no_meaning_is_too_long_for_the_reader() -> None:
    meanings = [benchmark.foreign.meaning for tool in units.modules(tools).values() for benchmark in tool.OPERATIONS]
    longest = max(len(f"# Meaning: {msgspec.json.encode(meaning).decode()}") for meaning in meanings)
    added = len("median over launches of each launch's trimmed-mean of what nccl_tests reported: ") + len(osu.BESIDE)
    assert longest + added <= reader.MAX_TITLE


def test_the_estimator_survives_the_round_trip(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    estimators = {}
    for estimator in ("min", "mean", "trimmed-mean", "p90"):
        _, part = next(evaluate(plain.store, estimator).parts("line"))
        estimators[estimator] = osu.describe_meaning(part, osu.LATENCY).over_calls
    assert estimators == {"min": "minimum", "mean": "mean", "trimmed-mean": "trimmed mean", "p90": "single"}


@pytest.mark.parametrize(
    ("meaning", "wrong"),
    [
        ("{}", "a line Meaning that is not from rankbench: Object missing required field `over_calls`"),
        ("{,}", "a line Meaning that is not from rankbench: JSON is malformed: object keys must be strings (byte 1)"),
        (
            '{"over_calls":"mean","over_ranks":"one","start":"none","text":"","counted":0}',
            "a line Meaning with a count of bytes that rankbench does not write",
        ),
    ],
)
def test_a_damaged_meaning_is_reported_with_its_line(meaning: str, wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "osu.txt"
    path.write_text(f"# OSU MPI Latency Test v7.4\n# Meaning: {meaning}\n# Size          Latency (us)\n8    1.0\n")
    with pytest.raises(RankbenchError) as error:
        list(reading.read_file(path))
    assert str(error.value) == f"{path}:2: {wrong}"


def test_titles_are_those_of_osu_s_program_for_the_same_call(tmp_path: Path) -> None:
    """Each operation for which OSU has a program, as read by the reader of OSU's output, has that program's title."""
    known = {
        (benchmark.foreign.counterpart, benchmark.forms[0])
        for benchmark in units.modules(tools)["osu"].OPERATIONS
        if benchmark.foreign.counterpart and benchmark.forms[0] != "nonblocking"
    }
    of_collectives = {(name, form) for name in osu.COLLECTIVES for form in ("blocking", "persistent")}
    of_others = {tuple(name.split()) for name in osu.OTHERS}
    another_table = {(name, "blocking") for name in ("init", "compare_and_swap", "fetch_and_op")}
    not_there = {("reduce_scatter_block", "persistent")}
    assert known - another_table <= of_collectives | of_others
    lines = [(name, form) for name, form in sorted({*of_collectives, *of_others} - not_there)]
    cases = campaigns.make_cases(lines=lines, sizes=(8,))  # type: ignore[arg-type]
    measured = EvaluatedCampaign(
        campaigns.make_campaign(tmp_path / "c", launches=1, samples=5, candidates=("a",), cases=cases)
    )
    for name, table in read_back(measured, tmp_path).items():
        operation, form, *_ = name.split(".")
        assert table.operation.foreign is not None
        assert (operation in osu.WHOLE_VECTOR) or table.operation.foreign.counterpart == operation, name
        assert table.form == form, name
        assert [row.size_bytes for row in table.rows] == [
            0 if operation == "barrier" else 16 if operation in osu.WHOLE_VECTOR else 8
        ]


def test_operations_without_an_osu_program_have_a_title_of_the_same_form(
    every_kind: EvaluatedCampaign, tmp_path: Path
) -> None:
    lines = write_files(every_kind, tmp_path)["message-rate.blocking.byte.1x4.window.alpha.txt"].splitlines()
    assert lines[0] == "# OSU MPI message-rate blocking Message Rate Test v7.4"


def test_a_campaign_of_memory_alone_is_refused(tmp_path: Path) -> None:
    measured = EvaluatedCampaign(kinds.make_store(tmp_path / "memory", kinds.MEMORY))
    with pytest.raises(RankbenchError) as error:
        list(osu.write(measured, tmp_path / "osu"))
    assert str(error.value) == f"{tmp_path / 'memory'}: no case has a time that OSU's text could hold"
    assert not (tmp_path / "osu").exists()


def test_candidate_names_become_valid_file_names(tmp_path: Path) -> None:
    measured = EvaluatedCampaign(
        campaigns.make_campaign(tmp_path / "c", launches=1, samples=5, candidates=("open/mpi: 5",), control=False)
    )
    assert "barrier.blocking.byte.socket.window.open-mpi-5.txt" in write_files(measured, tmp_path)


def test_the_estimator_is_named(plain: EvaluatedCampaign) -> None:
    view = evaluate(plain.store, "min")
    _, part = next(view.parts("line"))
    assert osu.comment_lines(part, "alpha", osu.BANDWIDTH)[0] == (
        "Measured by: rankbench 0.1.0, not OSU; "
        "each number follows from the median over launches of each launch's min time"
    )


@pytest.mark.parametrize("sample", ["osu_allgather.txt", "osu_iallreduce.txt", "osu_bw.txt", "osu_barrier.txt"])
def test_imported_osu_results_are_exported_unchanged(sample: str, tmp_path: Path) -> None:
    (table,) = reading.read_file(SAMPLES / sample)
    arguments = ["import", f"mpich={SAMPLES / sample}", "--ranks", "2", "--results", str(tmp_path), "--name", "c"]
    assert CliRunner().invoke(cli.application("import"), arguments).exit_code == 0
    (path,) = osu.write(EvaluatedCampaign(store.open(tmp_path / "c")), tmp_path / "osu")
    (again,) = reading.read_file(path)
    assert (again.operation.name, again.form) == (f"{table.operation.name}-of-rankbench", table.form)
    meanings = [part.operation.foreign.meaning for part in (table, again) if part.operation.foreign]
    assert replace(meanings[1], text="") == replace(meanings[0], text="")
    assert meanings[1].text.startswith(
        f"median over launches of each launch's median of what osu reported: {meanings[0].text}"
    )
    assert again.facts["measured by"].startswith(
        f"osu (osu_{sample.removeprefix('osu_').removesuffix('.txt')}), handed over by rankbench 0.1.0; "
    )
    before, after = ({row.size_bytes: row.numbers[part.roles["value"]] for row in part.rows} for part in (table, again))
    assert after == pytest.approx(before, rel=1e-4)
