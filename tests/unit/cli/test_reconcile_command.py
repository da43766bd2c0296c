"""The command `reconcile`: the benchmarks that it finds, its plan, and the report on the values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import fakes
import msgspec
import pytest
from fakes import campaigns, reconciliation
from fakes.reconciliation import CORE, OSU, Planted, make_case
from wording import WORDING, find_lines, refuses

from rankbench import cli, plan
from rankbench.campaign import foreign
from rankbench.campaign.foreign import Program
from rankbench.cli.commands import reconcile as command
from rankbench.cli.display import console
from rankbench.model import Library, Operation, RankbenchError, SuiteSpec

NO_PROGRAMS = ("imb-mpi1-bcast", "osu-barrier")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder to work in; no library is in reach, and all programs but two are found."""

    def find_program(
        spec: SuiteSpec | None, operation: Operation, library: Library, _reach: Sequence[Library], _home: Path
    ) -> Program:
        if operation.name in NO_PROGRAMS:
            raise RankbenchError(f"{operation.name}: none for {library.name}")
        return Program(Path(spec.path if spec else ""), {}, operation, [])

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(foreign, "find_program", find_program)
    monkeypatch.setattr(command, "choose_libraries", lambda *_: [campaigns.make_library("mpich")])
    monkeypatch.setattr(console, "width", 2000)
    return tmp_path


def find_benchmarks(wanted: Sequence[str], **places: tuple[str, str]) -> list[str]:
    """Return the benchmarks that are found for operations of the core."""
    return [operation.name for operation in command.there(campaigns.make_library("mpich"), wanted, places, (), ())]


def list_rows() -> list[Operation]:
    """Return OSU's rows of allreduce."""
    return [row for row in foreign.find_tools()["osu"].OPERATIONS if row.name == "osu-allreduce"]


# --- benchmarks -------------------------------------------------------------------------------------------------------


def test_the_first_benchmark_of_an_operation_is_taken_from_each_tool() -> None:
    assert find_benchmarks(["pingpong", "allreduce"]) == [
        *("imb-mpi1-pingpong", "imb-mpi1-allreduce"),
        *("mpbench-roundtrip", "mpbench-allreduce"),
        "mpiperf-allreduce",
        *("osu-latency", "osu-allreduce"),
        *("skampi-pingpong_send_recv", "skampi-allreduce"),
    ]


def test_missing_benchmarks_are_left_out_and_noted_for_named_tools(capsys: pytest.CaptureFixture[str]) -> None:
    others = ["mpbench-broadcast", "mpiperf-bcast", "mpiperf-barrier", "osu-bcast", "skampi-bcast", "skampi-barrier"]
    assert find_benchmarks(["bcast", "barrier"]) == ["imb-mpi1-barrier", *others]
    assert capsys.readouterr().out == ""
    assert find_benchmarks(["bcast", "barrier"], imb=("path", "")) == ["imb-mpi1-barrier"]
    assert capsys.readouterr().out == "note: imb-mpi1-bcast: none for mpich\n"


def test_an_operation_that_no_tool_measures_has_no_benchmark() -> None:
    assert find_benchmarks(["ring"]) == []


def test_a_tool_can_have_a_folder_or_a_tarball(place: Path) -> None:
    (place / "osu").mkdir()
    (place / "osu.tar.gz").touch()
    assert command.place("osu=osu") == ("osu", ("path", str(place / "osu")))
    assert command.place("osu=osu.tar.gz") == ("osu", ("source", str(place / "osu.tar.gz")))
    assert command.place("imb") == ("imb", ("path", ""))


@pytest.mark.parametrize("text", ["reprompi", "osu=nowhere"])
def test_an_unknown_tool_is_refused(text: str) -> None:
    with refuses():
        command.place(text)


def test_a_machine_without_benchmarks_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["rankbench", "reconcile", "mpich", "--operations", "ring"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == WORDING


def test_the_plan_has_operation_benchmark_and_the_starts_of_both() -> None:
    planned = command.make_plan("mpich==5.0.2", list_rows(), {"osu": ("path", "/opt/osu")}, ("8,1K", "1x2", 50, 4), "")
    described = foreign.add_operations(fakes.read_description(), planned)
    cases, notes = plan.expand_plan(planned, described, fakes.make_machine())
    assert {(case.operation, case.start) for case in cases} == {
        ("allreduce", "window"),
        ("allreduce", "library-barrier"),
        ("osu-allreduce", "library-barrier"),
    }
    assert notes == []
    assert (planned.stop.blocks_min, planned.stop.blocks_max, planned.stop.until) == (4, 4, "blocks")
    assert [(suite.name, suite.path) for suite in planned.suites] == [("osu", "/opt/osu")]


@pytest.mark.parametrize("text", ["8'", '8"', '8"\ncontrol = true\n#'])
def test_an_option_is_a_value_and_never_part_of_the_plan(text: str) -> None:
    with pytest.raises(RankbenchError, match=r"^--sizes: found "):
        command.make_plan("mpich", list_rows(), {}, (text, "1x2", 50, 4), "plan.toml")
    with pytest.raises(RankbenchError, match=r"^--placement\[0\]: found "):
        command.make_plan("mpich", list_rows(), {}, ("8", text, 50, 4), "plan.toml")


# --- report -----------------------------------------------------------------------------------------------------------


def read_lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the printed lines, with single blanks, without rules."""
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    return [line for line in lines if line.strip(" ─")]


def test_the_ratio_is_reported_with_its_parts_and_with_differences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = reconciliation.make_store(tmp_path, reconciliation.plant_allreduce())
    command.explain(store)
    lines = read_lines(capsys)
    assert lines[:3] == WORDING
    assert find_lines(lines, "- osu_allreduce (osu) is") == WORDING
    foreign_of = OSU["osu-allreduce"].foreign
    assert foreign_of
    assert lines[-2:] == [f"The tool's number: {foreign_of.meaning.text}.", f"next: rankbench report {store.folder}"]


def test_bandwidths_are_reported_as_bandwidths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planted = [
        Planted(make_case(CORE["bandwidth"], 1000), [64000.0] * 3, 64000, 64),
        Planted(make_case(OSU["osu-bw"], 1000), [1e9 * 1000 / 500e6], 1000),
    ]
    command.explain(reconciliation.make_store(tmp_path, planted))
    # The middle of the machine's states is 1.05: of 1000 and of 500 MB/s.
    assert read_lines(capsys)[1:3] == WORDING


def test_benchmarks_that_cannot_be_compared_are_reported_with_an_alternative(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Calls of a broadcast that follow each other overlap; the core can make them so, too."""
    theirs = OSU["osu-bcast"]
    assert theirs.foreign
    meaning = msgspec.structs.replace(theirs.foreign.meaning, start="none")
    loop = msgspec.structs.replace(
        theirs, start="none", foreign=msgspec.structs.replace(theirs.foreign, meaning=meaning)
    )
    planted = [
        Planted(make_case(CORE["bcast"]), [1000.0] * 3),
        Planted(make_case(CORE["bcast"], start="none"), [400.0] * 3),
        Planted(make_case(loop), [380.0]),
    ]
    store = reconciliation.make_store(tmp_path, planted)
    store.campaign = msgspec.structs.replace(store.campaign, operations=[*CORE.values(), loop])
    command.explain(store)
    assert read_lines(capsys)[2:5] == WORDING


def test_values_of_other_datatypes_name_them_in_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planted = reconciliation.plant_allreduce()
    planted[2] = planted[2]._replace(case=make_case(OSU["osu-allreduce"], datatype="char"))
    command.explain(reconciliation.make_store(tmp_path, planted))
    assert read_lines(capsys)[2] == WORDING
