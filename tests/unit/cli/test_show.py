"""The command `show` on a stored campaign of known truth."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import polars as pl
import pytest
from fakes import mark_thorough
from fakes.campaigns import Truth, make_campaign
from fakes.nights import rewrite
from wording import WORDING, find_lines, refuses

from rankbench.analysis.evaluation import evaluate
from rankbench.cli import main
from rankbench.cli.cases import format_half_width
from rankbench.cli.commands.show import show
from rankbench.cli.display import console
from rankbench.model import Case, CaseStatus, Summary
from rankbench.quantities import format_time
from rankbench.store import Store, lock

GOLDEN = Path(__file__).parents[2] / "golden"


def make_truth(candidate: str, case: Case) -> Truth:
    """Beta is slow with small messages and crashes in a large one, gamma is fast with large ones, lacks and hangs."""
    if (candidate, case.operation, case.form) == ("gamma", "allreduce", "nonblocking"):
        return Truth(status=CaseStatus.LACKING)
    if (candidate, case.form, case.operation, case.size_bytes) == ("beta", "nonblocking", "allreduce", 65536):
        return Truth(status=CaseStatus.CRASHED)
    if (candidate, case.operation) == ("gamma", "barrier"):
        return Truth(status=CaseStatus.HUNG, status_share=0.4)
    if (candidate, case.operation) == ("beta", "barrier"):
        return Truth(status=CaseStatus.WRONG_DATA)
    small, large = case.size_bytes < 1024, case.size_bytes >= 1024
    return Truth(factor=2 if candidate == "beta" and small else 0.8 if candidate == "gamma" and large else 1)


@pytest.fixture(scope="module")
def campaign_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("results") / "three"
    return make_campaign(folder, make_truth, launches=6, candidates=("alpha", "beta", "gamma"))


@pytest.fixture(autouse=True)
def use_a_hundred_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "width", 100)


def read_lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the printed lines without trailing blanks."""
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_answer_values_and_failures_are_printed(
    campaign_store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(campaign_store.folder.parent)
    show(folder=Path(campaign_store.folder.name))
    assert read_lines(capsys) == (GOLDEN / "show.txt").read_text().splitlines()


def test_options_select_operations_and_forms(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    show(folder=campaign_store.folder, operations="allreduce,barrier", forms="blocking")
    heads = [line.split(":")[0] for line in read_lines(capsys) if "launches each" in line]
    assert heads == ["barrier", "allreduce"]


def test_no_cell_is_wrapped_with_three_candidates(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    show(folder=campaign_store.folder)
    sizes = [
        line.split("  ")[0] for line in read_lines(capsys) if line[:1] in "86–" and ("±" in line or "crashed  " in line)
    ]
    assert sizes == ["8 B", "64 KiB"] * 2 + ["–"] + ["8 B", "64 KiB"] * 2


@pytest.mark.parametrize("launches", [1, 2])
def test_two_launches_have_no_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str], launches: int) -> None:
    store = make_campaign(tmp_path / "c", launches=launches)
    show(folder=store.folder)
    lines = [line for line in read_lines(capsys) if line.startswith("64 KiB")]
    assert len(lines) == 4
    assert not any("±" in line for line in lines)
    assert all(line.endswith("~") for line in lines)


def test_csv_has_a_row_for_each_case_and_candidate(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    show(folder=campaign_store.folder, format_="csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["case"], row["candidate"]) for row in rows] == [
        (case.key, name) for case in campaign_store.campaign.cases for name in ("alpha", "beta", "gamma")
    ]
    by_name = {row["candidate"]: row for row in rows if row["operation"] == "pingpong" and row["size_bytes"] == "8"}
    assert 990 < float(by_name["beta"]["typical_ns"]) < 1010
    assert (by_name["beta"]["fastest"], by_name["beta"]["launches"], by_name["beta"]["samples"]) == (
        "false",
        "6",
        "600",
    )
    assert rows[-1]["failures"] == "lacking in 6"


def test_csv_and_details_have_the_range_of_launches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Least and largest of the medians of launches, not of samples."""
    store = make_campaign(tmp_path / "c", launches=6)
    case = next(case for case in store.campaign.cases if case.operation == "barrier")
    launch_values = evaluate(store).launch_values.filter(pl.col("case") == case.key, pl.col("candidate") == "alpha")[
        "figure_ns"
    ]
    show(folder=store.folder, operations="barrier", format_="csv")
    row = next(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    ends = [float(row[f"launches_{name}_ns"]) for name in ("min", "mean", "max")]
    assert ends == pytest.approx([launch_values.min(), launch_values.mean(), launch_values.max()])
    assert float(row["min_ns"]) < ends[0] < ends[2] < float(row["max_ns"])
    show(folder=store.folder, operations="barrier", table="details")
    text = " ".join(" ".join(read_lines(capsys)).split())
    between = f"{format_time(ends[0])} to {format_time(ends[2])}"
    # The interval of six launches is their range.
    assert (between in text, f"launches {between}" in text) == (True, False)


def test_markup_in_names_is_not_interpreted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show(folder=make_campaign(tmp_path / "c", launches=1, candidates=("al[red]pha", "be[/]ta")).folder)
    assert ["size", "al[red]pha", "be[/]ta", "fastest"] in [line.split()[:4] for line in read_lines(capsys)]


def test_a_campaign_without_launches_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show(folder=make_campaign(tmp_path / "c", launches=0).folder)
    rows = [line.split("  ") for line in read_lines(capsys) if line.startswith("64 KiB")]
    assert rows == [["64 KiB", "not run", "not run", "–"]] * 4


@pytest.mark.parametrize(
    ("until", "most", "running", "is_stated"),
    [
        mark_thorough("blocks", 8, False, True),
        ("blocks", 6, False, False),
        mark_thorough("time 1h", 60, False, True),
        ("time 1h", 60, True, True),
        ("decided", 60, True, False),
    ],
)
def test_an_interim_state_is_marked(
    until: str, most: int, running: bool, is_stated: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = make_campaign(tmp_path / "c", launches=6)
    stop = msgspec.structs.replace(store.campaign.plan.stop, blocks_min=5, blocks_max=most, until=until)
    record = msgspec.structs.replace(store.campaign, plan=msgspec.structs.replace(store.campaign.plan, stop=stop))
    rewrite(store.folder, record)
    with lock(store.folder) if running else contextlib.nullcontext():
        show(folder=store.folder)
    text = " ".join(read_lines(capsys))
    assert ("Not finished: 6 blocks so" in text) == is_stated


def run_piped(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own whose output is no terminal."""
    command = [sys.executable, "-c", "from rankbench.cli import main; main()", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, check=False)


def test_a_pipe_gets_neither_colours_nor_wrapped_lines(campaign_store: Store) -> None:
    process = run_piped("show", str(campaign_store.folder))
    unfolded = [line for line in process.stdout.splitlines() if line.startswith("Use gamma: ")]
    assert unfolded[0].endswith("(operations weigh equally).")
    assert "\x1b" not in process.stdout
    assert (process.returncode, process.stderr) == (0, "")


def test_an_error_is_one_line_with_exit_code_2(tmp_path: Path) -> None:
    process = run_piped("show", str(tmp_path))
    assert (process.returncode, process.stdout, process.stderr) == (2, "", WORDING)


def test_the_newest_campaign_is_shown_by_default(
    campaign_store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = campaign_store.folder.parent
    monkeypatch.chdir(results.parent)
    (results.parent / "results").symlink_to(results)
    show(operations="barrier")
    assert read_lines(capsys)[0] == "Is alpha faster than beta?"


@pytest.mark.parametrize(
    "filters",
    [{"operations": "allredce"}, {"forms": "persistent"}, {"operations": "barrier", "forms": "nonblocking"}],
    ids=["operation", "form", "both"],
)
def test_unknown_operations_sizes_and_placements_are_refused_in_one_line(
    campaign_store: Store, filters: dict[str, str]
) -> None:
    with refuses():
        show(folder=campaign_store.folder, **filters)


# --- estimators, uncertain starts, single ranks -----------------------------------------------------------------------


def read_csv(capsys: pytest.CaptureFixture[str], **options: str) -> dict[tuple[str, str], dict[str, str]]:
    """Return the rows of the CSV by case and candidate."""
    show(format_="csv", folder=Path(options.pop("folder")), **options)
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    return {(row["case"], row["candidate"]): row for row in rows}


@pytest.mark.thorough
def test_a_stored_campaign_can_be_evaluated_with_another_estimator(
    campaign_store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    key = ("pingpong.blocking.8.byte.socket.none", "alpha")
    typical = {
        name: float(read_csv(capsys, folder=str(campaign_store.folder), estimator=name)[key]["typical_ns"])
        for name in ("min", "p10", "median", "trimmed-mean", "p90")
    }
    assert list(typical) == sorted(typical, key=lambda name: typical[name])
    assert typical["p90"] == pytest.approx(502 * 1.026, rel=0.01)
    show(folder=campaign_store.folder, operations="pingpong", estimator="p90", confidence="90%")
    assert find_lines(read_lines(capsys), "pingpong: latency") == WORDING


def test_a_larger_threshold_makes_more_cases_equivalent(
    campaign_store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """Gamma takes 0.8 of the others' time for large messages: 1 / 1.25."""
    rows = {}
    for threshold in ("", "30%"):
        show(folder=campaign_store.folder, operations="pingpong", sizes="64K", threshold=threshold)
        rows[threshold] = next(line for line in read_lines(capsys) if line.startswith("64 KiB"))
    assert (rows[""].split()[-2:], rows["30%"].split()[-1]) == (["1.25×", "±2.8%"], "=")


@pytest.mark.thorough
def test_confidence_widens_intervals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(make_campaign(tmp_path / "c", launches=20).folder)
    key = ("pingpong.blocking.8.byte.socket.none", "alpha")
    rows = [read_csv(capsys, folder=folder, confidence=level)[key] for level in ("90%", "", "99%")]
    widths = [float(row["high_ns"]) - float(row["low_ns"]) for row in rows]
    assert widths == sorted(widths)
    assert [float(row["coverage"]) >= level for row, level in zip(rows, (0.9, 0.95, 0.99), strict=True)] == [True] * 3


def test_csv_has_every_estimator_and_all_parts_of_a_case(
    campaign_store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    row = next(iter(read_csv(capsys, folder=str(campaign_store.folder)).values()))
    columns = ("min_ns", "p10_ns", "trimmed_mean_ns", "mean_ns", "p90_ns", "p99_ns", "max_ns")
    assert all(float(row[name]) > 0 for name in columns)
    assert (row["memory"], row["cache"], row["buffers"], row["root"]) == ("", "warm", "separate", "0")
    assert (row["trimmed_low_ns"], row["doubt"], row["uncertain"]) == ("NaN", "", "0")


def test_a_single_launch_has_the_interval_of_its_samples_and_a_caveat(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_campaign(tmp_path / "c", launches=1).folder
    show(folder=folder, operations="barrier", estimator="trimmed-mean", confidence="99%")
    lines = read_lines(capsys)
    assert lines[lines.index("") :][:3] == WORDING
    assert "±0.2%" in " ".join(lines)
    row = read_csv(capsys, folder=str(folder))["barrier.blocking.0.byte.socket.window", "alpha"]
    assert float(row["trimmed_low_ns"]) < float(row["trimmed_mean_ns"]) < float(row["trimmed_high_ns"])


def test_an_uncertain_start_is_shown_with_a_question_mark_and_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def make_uncertain(candidate: str, case: Case) -> Truth:
        apart = candidate == "beta" and case.operation == "barrier"
        return Truth(noise=0, spread=0, bound_ns=900.0 * apart, error_ns=200.0 * apart)

    show(folder=make_campaign(tmp_path / "c", make_uncertain, launches=6).folder, operations="barrier")
    lines = read_lines(capsys)
    assert [line.split() for line in lines if line.startswith("–")] == [
        ["–", "500", "ns", "±0.0%", "500", "ns", "?", "only", "alpha"]
    ]
    assert lines[-2:] == WORDING


def test_single_ranks_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_campaign(tmp_path / "c", lambda _candidate, _case: Truth(noise=0, spread=0, rank_ends=(0.5, 1.0)))
    show(folder=store.folder, operations="barrier", table="ranks")
    assert read_lines(capsys) == WORDING
    show(folder=store.folder, operations="barrier", table="ranks", format_="csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["candidate"], row["rank"], row["median_ns"]) for row in rows] == [
        ("alpha", "0", "250.0"),
        ("alpha", "1", "500.0"),
        ("beta", "0", "250.0"),
        ("beta", "1", "500.0"),
    ]


@pytest.mark.parametrize("option", ["estimator=avg", "estimator=p100", "confidence=97%", "threshold=3"])
def test_wrong_options_are_refused_in_one_line(campaign_store: Store, option: str) -> None:
    name, _, value = option.partition("=")
    with refuses():
        show(folder=campaign_store.folder, **{name: value})


def test_ranks_of_operations_timed_by_one_rank_are_refused_in_one_line(campaign_store: Store) -> None:
    with refuses():
        show(folder=campaign_store.folder, operations="pingpong", table="ranks")


def test_ranks_of_a_campaign_without_launches_are_refused_in_one_line(tmp_path: Path) -> None:
    store = make_campaign(tmp_path / "none", make_truth, launches=0, candidates=("alpha", "beta"))
    with refuses():
        show(folder=store.folder, table="ranks")


@pytest.mark.parametrize(
    ("low", "high", "per_second", "text"),
    [
        (98.0, 104.0, False, " ±3.0%"),
        (60.0, 145.0, False, " ± 42%"),
        (60.0, 342.0, False, " -40/+242%"),
        (50.0, 400.0, True, " -75/+100%"),
        (90.0, 890.0, False, " -10/+790%"),
        (90.0, 910.0, False, ""),
        (0.0, 150.0, False, ""),
    ],
)
def test_a_wide_interval_has_both_ends(low: float, high: float, per_second: bool, text: str) -> None:
    summary = Summary("c", "alpha", 6, 60, 0, 0, typical_ns=100.0, low_ns=low, high_ns=high, coverage=0.95)
    assert format_half_width(summary, "median", per_second=per_second) == text


def test_several_tables_print_and_export_the_same_tables_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = make_campaign(tmp_path / "c", lambda _candidate, _case: Truth(noise=0, spread=0, rank_ends=(0.5, 1.0)))
    show(folder=store.folder, operations="barrier", table="ranks,details")
    heads = [line.partition(":")[2][:13] for line in read_lines(capsys) if line.startswith("barrier:")]
    assert heads == [" time, 2 rank", " single ranks"]
    show(folder=store.folder, operations="barrier", table="ranks,details", format_="csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(dict.fromkeys(row["table"] for row in rows)) == ["details", "ranks"]
    assert [row["rank"] for row in rows if row["table"] == "ranks"] == ["0", "1", "0", "1"]


def test_the_tables_that_a_campaign_has_are_listed(
    campaign_store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in (["--table"], ["--table", "--operations", "barrier"]):
        monkeypatch.setattr("sys.argv", ["rankbench", "show", str(campaign_store.folder), *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
        listed = [line.split()[0] for line in read_lines(capsys)[2:-1]]
        assert listed[0] == "details"
        assert {"matrix", "rings", "tools"}.isdisjoint(listed)


def test_a_misspelt_table_is_refused_with_the_nearest(campaign_store: Store) -> None:
    with refuses():
        show(folder=campaign_store.folder, table="details,ring")
