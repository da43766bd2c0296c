"""Results of other tools as campaigns: a whole study in turns, plain files, and refusals that leave nothing behind."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from fakes import imports, tool_outputs
from wording import WORDING, find_lines, refuses

from rankbench import imports as importer
from rankbench import store
from rankbench.analysis.evaluation import evaluate
from rankbench.foreign import Line, outputs
from rankbench.imports import ImportRequest, Part, Source
from rankbench.model import CaseStatus, Launch, LaunchStatus, Placement, RankbenchError, Summary
from rankbench.store import Store

STUDY = tool_outputs.SAMPLES / "study"
LABELS = ["MPICH", "OpenMPI", "IntelMPI"]
LATENCY = imports.format_latencies((0, 1.5), (8, 2.5))
NOTE = "These results were imported: rankbench did not measure them, and knows only what the files say about the runs."
NO_TURNS = (
    "The libraries were not measured in turns: changes of the machine between their files count as differences "
    "between the libraries."
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return the whole study."""
    folder: Path = tmp_path_factory.mktemp("study")
    return importer.import_files(
        ImportRequest([Source(path) for path in sorted(STUDY.glob("*.out"))], LABELS), folder / "made"
    )


def write_file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def import_paths(folder: Path, *paths: Path, **request: Any) -> Store:
    return importer.import_files(ImportRequest([Source(path) for path in paths], **request), folder / "made")


def read_refused(folder: Path, *sources: Path | Source, **request: Any) -> str:
    """Return why an import is refused; nothing may be left of it."""
    named = [source if isinstance(source, Source) else Source(source) for source in sources]
    with pytest.raises(RankbenchError) as error:
        importer.import_files(ImportRequest(named, **request), folder / "made")
    assert not (folder / "made").exists()
    return str(error.value)


def list_rows(campaign_store: Store, case: str) -> Iterator[tuple[str, int, str, str]]:
    """Yield candidate, block, status and reason of the launches of a case, which is named by its beginning."""
    for row in campaign_store.cases().sort("launch").iter_rows(named=True):
        if row["case"].startswith(case):
            yield row["candidate"], row["block"], row["status"], row["reason"]


def list_values(campaign_store: Store, case: str) -> dict[str, list[float]]:
    """Return the samples of a case by candidate, in the order of blocks."""
    values_by_name: dict[str, list[float]] = {}
    frame = campaign_store.samples().sort("block", "launch", "index").collect()
    for name, key, time_ns in frame.select("candidate", "case", "time_ns").iter_rows():
        if key.startswith(case):
            values_by_name.setdefault(name, []).append(round(time_ns, 6))
    return values_by_name


def list_launches(campaign_store: Store, operation: str) -> list[Launch]:
    """Return the launches that have rows of an operation."""
    numbers = set(campaign_store.cases().filter(operation=operation)["launch"])
    return [launch for launch in campaign_store.launches() if launch.number in numbers]


# --- the study --------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_study_is_a_campaign_of_three_candidates_in_three_blocks(study: Store) -> None:
    record = study.campaign
    assert [candidate.name for candidate in record.candidates] == LABELS
    assert [(library.name, library.family, library.source, library.prefix) for library in record.libraries] == [
        (name, name, "imported", "") for name in LABELS
    ]
    assert record.plan.placements == [Placement(name="1x2", nodes=1, ranks_per_node=2, binding="none")]
    assert (record.plan.stop.blocks_min, record.plan.stop.blocks_max, record.plan.control) == (3, 3, False)
    assert (record.machine.host, record.machine.cores, record.receipts) == ("", 0, [])
    assert {case.suite for case in record.cases} == {"osu"}
    assert {case.ranks for case in record.cases} == {2}
    assert len(record.operations) == 25


def test_every_run_of_the_study_is_a_launch_with_its_round_and_position(study: Store) -> None:
    """One of nine runs in one of 26 files is missing, since the file ends before it."""
    records = study.launches()
    assert [launch.number for launch in records] == [*range(1, 26 * 9)]
    assert {(launch.candidate, launch.position) for launch in records} == set(zip(LABELS, (0, 1, 2), strict=True))
    assert [sum(launch.block == block for launch in records) for block in (1, 2, 3)] == [78, 78, 77]
    assert {(launch.exit_code, launch.facts, launch.state_reason) for launch in records} == {(None, None, "imported")}


BY_HAND = {
    "osu-latency.blocking.0.": ([73530, 820, 810], [370, 100, 100], [210, 170, 360]),
    "osu-latency.blocking.8.": ([840, 820, 800], [1180, 10120, 1040], [140, 120, 330]),
    "osu-latency.blocking.4194304.": ([383460, 297490, 331050], [300150, 314830, 286960], [109140, 108570, 171420]),
    "osu-barrier.blocking.0.": ([850, 870, 320], [580, 230, 220], [380, 200, 200]),
    "osu-allreduce.blocking.1024.": ([350, 400, 390], [370, 620, 340], [490, 490, 370]),
    "osu-cas_latency.blocking.8.": ([70, 100, 40], [30, 30, 30], [100, 80, 70]),
}
"""The three rounds of each library, in nanoseconds; its files have microseconds."""


@pytest.mark.parametrize("case", BY_HAND)
def test_times_are_those_of_the_files(study: Store, case: str) -> None:
    assert list_values(study, case) == dict(zip(LABELS, BY_HAND[case], strict=True))


def list_summaries(campaign_store: Store, case: str) -> dict[str, Summary]:
    return {
        summary.candidate: summary
        for summary in evaluate(campaign_store).verdict.summaries
        if summary.case.startswith(case)
    }


@pytest.mark.thorough
def test_mean_minimum_and_maximum_are_those_of_the_study(study: Store) -> None:
    by_name = list_summaries(study, "osu-latency.blocking.8.")
    numbers = {
        name: (summary.launches, summary.mean_ns, summary.min_ns, summary.max_ns, summary.typical_ns)
        for name, summary in by_name.items()
    }
    assert numbers["MPICH"] == pytest.approx((3, 820, 800, 840, 820))
    assert numbers["OpenMPI"] == pytest.approx((3, 12340 / 3, 1040, 10120, 1180))
    assert numbers["IntelMPI"] == pytest.approx((3, 590 / 3, 120, 330, 140))


def test_bandwidths_are_those_of_the_file(study: Store) -> None:
    """The bandwidth of messages of n bytes is n
    time, in 10^6 bytes per second.
    """
    for size, mpich, openmpi, intel in (
        (8, (15.38, 15.95, 4.07), (76.67, 192.67, 185.82), (42.13, 1.89, 53.73)),
        (1048576, (15182.88, 14453.33, 5081.57), (10698.65, 15125.38, 1862.10), (22616.71, 1160.67, 54306.40)),
    ):
        by_name = list_values(study, f"osu-bw.nonblocking.{size}.")
        rates = {name: [1e3 * size / time_ns for time_ns in numbers] for name, numbers in by_name.items()}
        assert rates["MPICH"] == pytest.approx(mpich)
        assert rates["OpenMPI"] == pytest.approx(openmpi)
        assert rates["IntelMPI"] == pytest.approx(intel)


def test_columns_of_an_overlap_are_stored_and_its_parts_are_reported(study: Store) -> None:
    frame = study.cases().filter(operation="osu-ibcast", size_bytes=16384, candidate="IntelMPI", block=1)
    (row,) = frame.iter_rows(named=True)
    assert row["case"] == "osu-ibcast.nonblocking.16384.byte.1x2.library-barrier.quantity=overlap"
    assert (row["pure_ns"], row["compute_ns"]) == pytest.approx((1620, 1980))
    assert json.loads(row["printed"]) == {
        "Overall(us)": 2.65,
        "Compute(us)": 1.98,
        "Pure Comm.(us)": 1.62,
        "Overlap(%)": 58.37,
    }
    assert list_values(study, row["case"])["IntelMPI"] == pytest.approx([2650, 2580])


def test_other_columns_of_a_row_are_stored(study: Store) -> None:
    frame = study.cases().filter(operation="osu-mbw_mr", size_bytes=8, candidate="MPICH", block=1)
    assert [json.loads(text) for text in frame["printed"]] == [{"MB/s": 15.8, "Messages/s": 1974959.37}]


def test_a_file_without_results_gives_launches_without_output(study: Store) -> None:
    nothing = [launch for launch in study.launches() if launch.reason == "printed nothing"]
    assert [(launch.candidate, launch.block, launch.status) for launch in nothing] == [
        (name, block, LaunchStatus.CRASHED) for block in (1, 2, 3) for name in LABELS
    ]
    assert {launch.log.partition(":")[0] for launch in nothing} == {str(STUDY / "iallreduce.out")}
    assert all(case.operation != "osu-iallreduce" for case in study.campaign.cases)


def test_missing_results_of_a_truncated_file_are_reported(study: Store) -> None:
    """The eighth run of nine is complete, and the ninth is missing."""
    result_rows = list(list_rows(study, "osu-ibcast.nonblocking.65536."))
    assert [(name, block) for name, block, *_ in result_rows] == [
        (name, block) for block in (1, 2, 3) for name in LABELS if (block, name) != (3, "IntelMPI")
    ]
    assert {(status, reason) for *_, status, reason in result_rows} == {("ok", "")}


def test_a_run_that_ended_early_has_rows_for_missing_cases(study: Store) -> None:
    lacks = "the output ends before it"
    assert list(list_rows(study, "osu-latency_mt.blocking.8.")) == [
        ("MPICH", 1, "ok", ""),
        ("OpenMPI", 1, "ok", ""),
        ("IntelMPI", 1, "not-run", lacks),
        ("MPICH", 2, "ok", ""),
        ("OpenMPI", 2, "not-run", lacks),
        ("IntelMPI", 2, "ok", ""),
        ("MPICH", 3, "ok", ""),
        ("OpenMPI", 3, "not-run", lacks),
        ("IntelMPI", 3, "ok", ""),
    ]
    launch_rows = [
        (launch.candidate, launch.block, launch.status, launch.reason)
        for launch in list_launches(study, "osu-latency_mt")
    ]
    assert [launch_row for launch_row in launch_rows if launch_row[2] != LaunchStatus.OK] == [
        ("IntelMPI", 1, LaunchStatus.CRASHED, "printed nothing after 2 B"),
        ("OpenMPI", 2, LaunchStatus.CRASHED, "printed nothing after 0 B"),
        ("IntelMPI", 2, LaunchStatus.CRASHED, "printed nothing after 32 B"),
        ("OpenMPI", 3, LaunchStatus.CRASHED, "printed nothing after 2 B"),
        ("IntelMPI", 3, LaunchStatus.CRASHED, "printed nothing after 8 B"),
    ]


def test_unrecognised_lines_are_in_the_launch_s_log(study: Store) -> None:
    log = next(launch.log for launch in list_launches(study, "osu-latency_mt") if launch.candidate == "IntelMPI")
    assert log.splitlines()[:3] == [
        f"{STUDY / 'latency_mt.out'}:66",
        "===================================================================================",
        "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
    ]


BAD = "'BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES' (and 5 more lines)"


def test_notes_list_the_problems_of_files(study: Store) -> None:
    first, nothing, cut, threads, harmless, guess = study.campaign.notes
    assert first == NOTE
    assert nothing == WORDING
    assert cut == WORDING
    assert threads == "latency_mt.out: " + "; ".join(
        [
            "line 66: IntelMPI printed nothing after 2 B in round 1",
            f"line 73: among the results of IntelMPI: {BAD}",
            "line 117: OpenMPI printed nothing after 0 B in round 2",
            "line 124: IntelMPI printed nothing after 32 B in round 2",
            f"line 135: among the results of IntelMPI: {BAD}",
            "line 179: OpenMPI printed nothing after 2 B in round 3",
            "line 188: IntelMPI printed nothing after 8 B in round 3",
            f"line 197: among the results of IntelMPI: {BAD}",
        ]
    )
    assert re.match(r"The number of ranks of \d+ runs is a guess: ", guess)
    assert harmless == WORDING


def test_each_file_is_reported_with_its_digest_and_tool(study: Store) -> None:
    records = {record.file: record for record in study.campaign.imported}
    assert list(records) == [str(path) for path in sorted(STUDY.glob("*.out"))]
    path = STUDY / "latency.out"
    import_record = records[str(path)]
    assert (import_record.sha256, import_record.tools, import_record.remarks) == (
        hashlib.sha256(path.read_bytes()).hexdigest(),
        ["OSU micro-benchmarks 5.3"],
        [],
    )
    assert records[str(STUDY / "iallreduce.out")].tools == []


def test_an_imported_campaign_can_be_opened_again(study: Store) -> None:
    assert store.open(study.folder).campaign == study.campaign


def test_strict_errors_leaves_out_files_with_error_logs(tmp_path: Path) -> None:
    for name in ("cas_latency", "barrier"):
        shutil.copy(STUDY / f"{name}.out", tmp_path)
        shutil.copy(STUDY / f"{name}.err", tmp_path)
    campaign_store = import_paths(
        tmp_path, tmp_path / "cas_latency.out", tmp_path / "barrier.out", labels=LABELS, strict_errors=True
    )
    assert [case.operation for case in campaign_store.campaign.cases] == ["osu-barrier"]
    assert len(campaign_store.launches()) == 9
    (left_out,) = [record for record in campaign_store.campaign.imported if record.remarks]
    assert left_out.remarks[0] == "left out"
    assert left_out.remarks[1].startswith("cas_latency.err beside it says: [vm:")
    assert campaign_store.campaign.notes[1] == WORDING


# --- libraries in turns -----------------------------------------------------------------------------------------------


def test_names_in_a_file_are_used_by_default(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.out", imports.format_turns([{"A": LATENCY, "B": LATENCY}]))
    assert [candidate.name for candidate in import_paths(tmp_path, path).campaign.candidates] == ["A", "B"]


def test_names_of_the_user_replace_those_in_the_file(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.out", imports.format_turns([{"A": LATENCY, "B": LATENCY}]))
    assert [candidate.name for candidate in import_paths(tmp_path, path, labels=["C", "D"]).campaign.candidates] == [
        "C",
        "D",
    ]


def test_another_number_of_labels_than_libraries_is_refused(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.out", imports.format_turns([{"A": LATENCY, "B": LATENCY}]))
    assert read_refused(tmp_path, path, labels=LABELS) == WORDING


def test_labels_in_another_order_than_in_the_file_are_refused(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.out", imports.format_turns([{"A": LATENCY, "B": LATENCY}]))
    assert read_refused(tmp_path, path, labels=["B", "A"]) == WORDING


def test_a_file_without_library_names_needs_labels(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.out", f"{LATENCY}---\n{LATENCY}done\n")
    assert read_refused(tmp_path, path) == WORDING
    assert [candidate.name for candidate in import_paths(tmp_path, path, labels=["A", "B"]).campaign.candidates] == [
        "A",
        "B",
    ]


def test_one_label_for_libraries_in_turns_is_refused(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.out", imports.format_turns([{"A": LATENCY, "B": LATENCY}]))
    assert read_refused(tmp_path, Source(path, "C")) == WORDING


def test_rounds_of_one_library_can_have_a_label(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.out", f"{LATENCY}===\n{LATENCY}done\n")
    campaign_store = importer.import_files(ImportRequest([Source(path, "C")]), tmp_path / "made")
    assert list_values(campaign_store, "osu-latency.blocking.8.") == {"C": [2500, 2500]}


def test_a_run_that_printed_only_an_error_is_a_crash(tmp_path: Path) -> None:
    text = imports.format_turns([{"A": LATENCY, "B": "mpiexec: command not found\n"}, {"A": LATENCY, "B": LATENCY}])
    campaign_store = import_paths(tmp_path, write_file(tmp_path, "a.out", text))
    assert list(list_rows(campaign_store, "osu-latency.blocking.8.")) == [
        ("A", 1, "ok", ""),
        ("B", 1, "crashed", "printed 'mpiexec: command not found'"),
        ("A", 2, "ok", ""),
        ("B", 2, "ok", ""),
    ]
    (crashed,) = [launch for launch in campaign_store.launches() if launch.status == LaunchStatus.CRASHED]
    assert crashed.reason == WORDING
    assert campaign_store.campaign.notes[1:] == WORDING


def test_a_run_of_two_benchmarks_of_which_one_is_missing_lacks_only_that_one(tmp_path: Path) -> None:
    barrier = imports.format_osu(imports.BARRIER) + "             0.85\n"
    complete, cut = LATENCY + barrier, imports.format_latencies((0, 1.5)) + barrier
    campaign_store = import_paths(
        tmp_path, write_file(tmp_path, "a.out", imports.format_turns([{"A": complete, "B": cut}]))
    )
    assert [status for *_, status, _ in list_rows(campaign_store, "osu-barrier")] == ["ok", "ok"]
    assert [status for *_, status, _ in list_rows(campaign_store, "osu-latency.blocking.8.")] == ["ok", "not-run"]
    assert campaign_store.cases().height == 6


def test_host_names_are_the_hosts_of_ranks(tmp_path: Path) -> None:
    text = imports.format_turns([{"A": LATENCY}, {"A": LATENCY}], hosts=["n1", "n2"])
    campaign_store = import_paths(tmp_path, write_file(tmp_path, "a.out", text))
    assert campaign_store.campaign.plan.placements == [Placement(name="2x1", nodes=2, ranks_per_node=1, binding="none")]


def test_more_host_names_than_ranks_are_ignored(tmp_path: Path) -> None:
    text = imports.format_turns([{"A": LATENCY}, {"A": LATENCY}], hosts=["n1", "n2", "n3"])
    campaign_store = import_paths(tmp_path, write_file(tmp_path, "a.out", text))
    assert [placement.name for placement in campaign_store.campaign.plan.placements] == ["ranks-2"]


# --- plain files ------------------------------------------------------------------------------------------------------


def test_a_plain_file_belongs_to_the_library_named_by_its_folder(tmp_path: Path) -> None:
    campaign_store = import_paths(tmp_path, write_file(tmp_path, "mpich/latency.txt", LATENCY))
    assert [candidate.name for candidate in campaign_store.campaign.candidates] == ["mpich"]
    assert campaign_store.campaign.notes == [NOTE]


def test_a_plain_file_belongs_to_the_named_library(tmp_path: Path) -> None:
    campaign_store = imports.import_campaign(tmp_path, {"A": [LATENCY], "B": [LATENCY]})
    assert [candidate.name for candidate in campaign_store.campaign.candidates] == ["A", "B"]
    assert campaign_store.campaign.notes == [NOTE, NO_TURNS]


def test_files_of_the_same_benchmark_are_blocks(tmp_path: Path) -> None:
    campaign_store = imports.import_campaign(
        tmp_path,
        {name: [imports.format_latencies((8, 1 + shift), (16, 2)) for shift in shifts] for name, shifts in SHIFTS},
    )
    assert list_values(campaign_store, "osu-latency.blocking.8.") == {"A": [1000, 1500, 1250], "B": [1750, 2000]}
    assert [(launch.candidate, launch.block) for launch in campaign_store.launches()] == [
        ("A", 1),
        ("A", 2),
        ("A", 3),
        ("B", 1),
        ("B", 2),
    ]
    assert campaign_store.campaign.plan.stop.blocks_max == 3


SHIFTS = (("A", (0.0, 0.5, 0.25)), ("B", (0.75, 1.0)))


def test_two_benchmarks_in_one_file_are_in_one_block(tmp_path: Path) -> None:
    campaign_store = imports.import_campaign(
        tmp_path, {"A": [LATENCY + imports.format_osu(imports.BANDWIDTH, (8, 4.0))]}
    )
    assert [(launch.block, launch.position) for launch in campaign_store.launches()] == [(1, 0), (1, 0)]
    assert list_values(campaign_store, "osu-bw.nonblocking.8.") == {"A": [2000]}


def test_labels_of_turns_are_refused_for_a_plain_file(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.txt", LATENCY)
    assert read_refused(tmp_path, path, labels=["A"]) == WORDING


def test_a_file_named_twice_is_refused(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.txt", LATENCY)
    assert read_refused(tmp_path, path, Source(tmp_path / "." / "a.txt", "B")) == WORDING


def test_rows_that_do_not_continue_a_table_are_left_out(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.txt", imports.format_latencies((8, 1.0), (16, 1.0), (8, 3.0), (32, 1.0)))
    campaign_store = import_paths(tmp_path, path)
    assert list_values(campaign_store, "osu-latency.") == {tmp_path.name: [1000, 1000]}
    assert campaign_store.campaign.notes[1] == WORDING


def test_errors_beside_a_complete_file_are_reported(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.txt", LATENCY)
    write_file(tmp_path, "a.stderr", "\n---\nwarning: no fast network\n")
    write_file(tmp_path, "a.err", "\n")
    campaign_store = import_paths(tmp_path, path)
    assert campaign_store.campaign.imported[0].remarks == WORDING
    assert campaign_store.campaign.notes[1:] == WORDING


def test_a_printed_zero_is_a_row_without_a_value(tmp_path: Path) -> None:
    campaign_store = imports.import_campaign(tmp_path, {"A": [imports.format_latencies((0, 0.0), (8, 1.5))]})
    assert list(list_rows(campaign_store, "osu-latency.blocking.0.")) == [
        ("A", 1, "below-the-last-digit-printed", WORDING)
    ]
    assert list_values(campaign_store, "osu-latency.blocking.0.") == {}
    assert list(list_rows(campaign_store, "osu-latency.blocking.8.")) == [("A", 1, "ok", "")]


def test_the_user_s_number_of_ranks_counts_if_no_file_has_one(tmp_path: Path) -> None:
    barrier = imports.format_osu(imports.BARRIER) + "             0.85\n"
    text = {"A": [barrier]}
    assert imports.import_campaign(tmp_path, text).campaign.plan.placements == [
        Placement(name="not-reported", nodes=1, ranks_per_node=0, binding="none")
    ]
    shutil.rmtree(tmp_path / "made")
    campaign_store = imports.import_campaign(tmp_path, text, ranks=48)
    assert campaign_store.campaign.plan.placements == [
        Placement(name="ranks-48", nodes=1, ranks_per_node=48, binding="none")
    ]
    assert [case.ranks for case in campaign_store.campaign.cases] == [48]


@pytest.mark.parametrize(("first", "second"), [("a1", "a2"), ("monday", "tuesday")])
def test_files_that_the_user_gives_one_label_are_repeats(first: str, second: str, tmp_path: Path) -> None:
    text = (DEFAULT / "osu_latency.default.rep0.txt").read_text()
    for name in (first, second, "b"):
        (tmp_path / f"{name}.out").write_text(text)
    sources = [Source(tmp_path / f"{first}.out", "A"), Source(tmp_path / f"{second}.out", "A")]
    named = [source._replace(is_named=True) for source in [*sources, Source(tmp_path / "b.out", "B")]]
    store = importer.import_files(ImportRequest(named), tmp_path / "made")
    assert [launch.candidate for launch in store.launches()] == ["A", "A", "B"]


def test_numbers_of_labelled_files_are_not_taken_for_repeats(tmp_path: Path) -> None:
    text = (DEFAULT / "osu_latency.default.rep0.txt").read_text()
    for name in ("n2", "n4"):
        (tmp_path / f"{name}.out").write_text(text)
    named = [Source(tmp_path / f"{name}.out", "A", is_named=True) for name in ("n2", "n4")]
    with refuses():
        importer.import_files(ImportRequest(named), tmp_path / "made")


# --- several tools ----------------------------------------------------------------------------------------------------


def test_files_of_two_tools_are_one_campaign(tmp_path: Path) -> None:
    """IMB's ping-pong of 8 bytes takes 0.84 µs in its file; OSU's default files have it in three repetitions."""
    pingpong = Source(tool_outputs.SAMPLES / "imb" / "IMB-MPI1.PingPong.txt", "mpich")
    osu = [Source(DEFAULT / f"osu_latency.default.rep{number}.txt", "mpich") for number in range(3)]
    campaign_store = importer.import_files(ImportRequest([pingpong, *osu]), tmp_path / "made")
    assert [operation.foreign.suite for operation in campaign_store.campaign.operations if operation.foreign] == [
        "imb",
        "osu",
    ]
    assert list_values(campaign_store, "imb-mpi1-pingpong.blocking.8.") == {"mpich": [840]}
    assert list_values(campaign_store, "osu-latency.blocking.8.") == {"mpich": EIGHT_BYTES}
    assert campaign_store.campaign.imported[0].tools == ["Intel MPI Benchmarks 2021.11"]
    assert {(case.suite, case.placement, case.ranks) for case in campaign_store.campaign.cases} == {
        ("imb", "ranks-2", 2),
        ("osu", "ranks-2", 2),
    }
    facts = campaign_store.campaign.imported[0].facts
    assert facts["command"] == "/opt/bench/IMB-MPI1 PingPong -msglog 16 -iter 200 -time 1"
    assert campaign_store.launches()[0].command == facts["command"].split()


DEFAULT = tool_outputs.SAMPLES / "osu-7.4" / "default"
EIGHT_BYTES = [
    1000 * float(line.split()[1])
    for number in range(3)
    for line in (DEFAULT / f"osu_latency.default.rep{number}.txt").read_text().splitlines()
    if line.split()[:1] == ["8"]
]


def test_options_belong_to_the_case_also_those_of_all_runs(tmp_path: Path) -> None:
    """Another import may have others: its cases are not the same."""
    head = "# OSU MPI_Put Latency Test v5.3\n# Window creation: MPI_Win_allocate\n# Synchronization: {}\n"
    head += "# Size          Latency (us)\n"
    texts = [
        imports.format_osu(head.format(synchronisation), (8, 1.5))
        for synchronisation in ("MPI_Win_flush", "MPI_Win_fence")
    ]
    campaign_store = imports.import_campaign(tmp_path, {"A": texts})
    assert [case.options for case in campaign_store.campaign.cases] == [
        {"allocation": "MPI_Win_allocate", "synchronisation": synchronisation}
        for synchronisation in ("MPI_Win_flush", "MPI_Win_fence")
    ]
    assert [launch.block for launch in campaign_store.launches()] == [1, 1]


def test_starts_of_cases_are_explained(tmp_path: Path) -> None:
    campaign_store = imports.import_campaign(tmp_path, {"A": [LATENCY]})
    assert [(start.name, start.help) for start in campaign_store.campaign.starts] == WORDING


NO_TABLES = r"empty|not the output of a known benchmark \(allowed: .*\)|[\w -]+: no table in it"
RECORDED = {
    "osu-5.3": 700,
    "osu-7.4": 1400,
    "imb": 2100,
    "mpbench": 380,
    "mpiperf": 1280,
    "reprompi": 600,
    "skampi": 1200,
}
"""Least number of cases, by tool."""


@pytest.mark.parametrize("tool", RECORDED)
def test_every_recorded_file_has_rows_or_no_table(tool: str) -> None:
    """No case of a file occurs twice in a block, and each has a value or a reason."""
    count = 0
    for path in tool_outputs.list_files(tool):
        request = ImportRequest([Source(path, "A")])
        content = importer.read_source(request, request.sources[0])
        if not content.parts:
            assert re.fullmatch(f"has no results: (?:{NO_TABLES})", content.record.remarks[0])
            continue
        (labelled,) = importer.label_parts(request, importer.explain_paths(request, [content]))
        parts = importer.assign_blocks(labelled.parts)
        operations = importer.collect_operations([part.table for part in parts if part.table])
        results = [(part.block, row) for part in parts for row in importer.make_results(part, operations)]
        keys = [(block, row.case.key) for block, row in results]
        assert len(set(keys)) == len(keys)
        assert all(bool(row.series) == (row.reason == "") for _, row in results)
        count += len(results)
    assert count >= RECORDED[tool]


# --- no incomplete import ---------------------------------------------------------------------------------------------


def test_a_damaged_line_stops_neither_its_file_nor_others(tmp_path: Path) -> None:
    good = [write_file(tmp_path, f"{number}.txt", LATENCY) for number in range(2)]
    bad = write_file(tmp_path, "2.txt", LATENCY.replace("2.50", "nan"))
    record = import_paths(tmp_path, *good, bad).campaign
    assert record.imported[2].remarks == WORDING
    assert record.notes[1:] == WORDING


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    assert read_refused(tmp_path, path) == WORDING


def test_files_without_results_are_refused(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.out", imports.format_turns([{"A": "", "B": ""}]))
    assert read_refused(tmp_path, path) == f"{path}: has no results"
    other = write_file(tmp_path, "b.txt", "")
    assert read_refused(tmp_path, other) == f"{other}: empty"
    assert read_refused(tmp_path, other, path) == WORDING


def test_files_without_results_are_reported_in_one_line(tmp_path: Path) -> None:
    """A folder of outputs has files that a job never wrote, and files of other programs."""
    paths = [
        write_file(tmp_path, "a.txt", LATENCY),
        write_file(tmp_path, "b.txt", ""),
        write_file(tmp_path, "c.txt", "Hello\n"),
    ]
    campaign_store = import_paths(tmp_path, *paths)
    assert [record.remarks for record in campaign_store.campaign.imported][:2] == [[], ["has no results: empty"]]
    assert campaign_store.campaign.notes[1:] == [
        "Not imported: 2 files not output of a benchmark (b.txt, c.txt). `rankbench import -v` lists all, with reasons."
    ]
    assert (
        campaign_store.campaign.imported[2].remarks[0].startswith("has no results: not the output of a known benchmark")
    )


def test_an_error_while_storing_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_full(self: Store, launch: Launch, _results: object) -> None:
        if launch.number == 2:
            raise RankbenchError("no space left")

    monkeypatch.setattr(store.Store, "append", raise_full)
    paths = [write_file(tmp_path, f"{number}.txt", LATENCY) for number in range(3)]
    assert read_refused(tmp_path, *paths) == "no space left"


def test_an_existing_campaign_is_not_changed(tmp_path: Path) -> None:
    campaign_store = import_paths(tmp_path, write_file(tmp_path, "a.txt", LATENCY))
    before = {path: path.read_bytes() for path in campaign_store.folder.rglob("*") if path.is_file()}
    with refuses():
        import_paths(tmp_path, write_file(tmp_path, "b.txt", LATENCY))
    assert {path: path.read_bytes() for path in campaign_store.folder.rglob("*") if path.is_file()} == before


def test_no_run_of_the_study_is_lost_or_doubled(study: Store) -> None:
    """Each successful row has its sample, and no case has two rows of one candidate in a block."""
    frame = study.cases()
    keys = frame.select("block", "candidate", "case")
    assert keys.n_unique() == keys.height
    well = frame.filter(status=CaseStatus.OK)
    assert study.samples().collect().height == well.height == well["valid"].sum()


# --- how many ranks ---------------------------------------------------------------------------------------------------

BARRIERS = imports.format_osu(imports.BARRIER) + "  0.85\n"


def import_with_hosts(folder: Path, hosts: Sequence[str], **request: int) -> Store:
    """Import two rounds of a collective, with the names of hosts before each run."""
    text = imports.format_turns([{"A": BARRIERS}, {"A": BARRIERS}], hosts=hosts)
    return importer.import_files(ImportRequest([Source(write_file(folder, "a.out", text))], **request), folder / "made")  # type: ignore[arg-type]


def test_a_single_host_name_is_questioned(tmp_path: Path) -> None:
    record = import_with_hosts(tmp_path, ["n1"]).campaign
    assert [case.ranks for case in record.cases] == [1]
    assert record.notes[-1] == WORDING


def test_the_user_s_number_of_ranks_replaces_that_of_host_names(tmp_path: Path) -> None:
    record = import_with_hosts(tmp_path, ["n1"], ranks=8).campaign
    assert [(case.ranks, case.placement) for case in record.cases] == [(8, "ranks-8")]
    assert len(record.notes) == 1


def test_host_names_that_agree_with_the_user_s_number_of_ranks_are_hosts(tmp_path: Path) -> None:
    record = import_with_hosts(tmp_path, ["n1", "n2"], ranks=2).campaign
    assert [case.placement for case in record.cases] == ["2x1"]


def test_a_guessed_number_of_ranks_is_reported_as_a_guess(tmp_path: Path) -> None:
    assert import_with_hosts(tmp_path, ["n1", "n2"]).campaign.notes[-1] == WORDING


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_turns", [True, False])
def test_a_damaged_row_and_an_absurd_value_are_left_out(tmp_path: Path, *, in_turns: bool) -> None:
    for row, words in (("O24  0.55\n", "'O24' is not a number"), ("32  1e308\n", "is 1e+308, expected a time below")):
        text = imports.format_latencies((8, 1.5), (16, 1.6)) + row
        text = imports.format_turns([{"A": text}] * 2) if in_turns else text
        campaign_store = import_paths(tmp_path, write_file(tmp_path, "a.txt", text))
        remarks = campaign_store.campaign.imported[0].remarks
        assert sum(words in remark for remark in remarks) == (2 if in_turns else 1)
        assert {case.size_bytes for case in campaign_store.campaign.cases} == {8, 16}
        shutil.rmtree(tmp_path / "made")


def test_a_digit_in_noise_is_reported(tmp_path: Path) -> None:
    text = imports.format_latencies((8, 1.5)) + "?? 16  1.7\n" + "32  1.60\n"
    record = import_paths(tmp_path, write_file(tmp_path, "a.txt", text)).campaign
    assert any("'?? 16  1.7'" in remark for remark in record.imported[0].remarks)
    assert find_lines(record.notes[1], "1 line among the") == WORDING


def test_an_unknown_synchronisation_of_reprompi_is_not_reported(tmp_path: Path) -> None:
    sample = next(
        path for path in sorted((tool_outputs.SAMPLES / "reprompi").rglob("*")) if "#@procsync=" in read_text(path)
    )
    text = re.sub(r"(?m)^#@procsync=.*$", "#@procsync=quantum", read_text(sample))
    campaign_store = import_paths(tmp_path, write_file(tmp_path, "a.txt", text))
    assert {case.start for case in campaign_store.campaign.cases} == {"not-reported"}


def read_text(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


def test_repeated_tables_get_their_blocks_in_few_steps() -> None:
    """Counts look-ups of used blocks: for 2000 tables there were once two million."""
    looked_up = 0

    class Label(str):
        __slots__ = ()

        def __hash__(self) -> int:
            nonlocal looked_up
            looked_up += 1
            return super().__hash__()

    run = outputs.read_output(
        "x", iter([Line(number, splitline) for number, splitline in enumerate(LATENCY.splitlines(), 1)])
    ).runs[0]
    parts = [Part(Label("A"), 1, Path("x"), run, run.tables[0])] * 2000
    assert [part.block for part in importer.assign_blocks(parts)] == list(range(1, 2001))
    assert looked_up < 20 * 2000
