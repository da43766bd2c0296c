"""The command `history`: the order of campaigns, their common candidates, changes and possible causes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from fakes import campaigns
from fakes.nights import CASES, Fate, make_night, make_slower, rewrite
from wording import WORDING, find_lines, refuses

from rankbench import store
from rankbench.across import trend
from rankbench.cli.commands.history import history
from rankbench.cli.display import console
from rankbench.model import Calls, Case, CaseStatus
from rankbench.report import history_charts
from rankbench.report import history_table as history_report
from rankbench.report.history_charts import Words

BARRIER = CASES[2:]


@pytest.fixture(autouse=True)
def use_a_thousand_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "width", 1000)


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return eight nights: from the fifth on alpha has another version, whose barrier is slower; then a new kernel."""
    folder = tmp_path_factory.mktemp("nights")
    for day in reversed(range(1, 9)):
        make_night(
            folder / f"night-{day}",
            make_slower("alpha", "barrier", 1.31 if day > 4 else 1.0),
            version="1.1" if day > 4 else "1.0",
            day=day,
            cases=BARRIER,
            machine={"kernel": "6.8" if day > 6 else "6.1"},
            control=False,
            launches=3,
        )
    return folder


def read_lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_a_change_is_reported_with_simultaneous_changes_of_the_setup(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    history([nights])
    assert read_lines(capsys) == WORDING


def plant_changes(folder: Path, calls: list[Calls]) -> Path:
    """Return nights in which from the fifth on alpha's small calls are twice as slow, large ones a bit."""
    for day in range(1, 9):
        make_night(
            folder / f"night-{day}",
            lambda name, case, day=day: 1.0 if name != "alpha" or day < 5 else factor(case),  # type: ignore[misc]
            day=day,
            control=False,
            launches=3,
            plan={"calls": calls},
        )
    return folder


def factor(case: Case) -> float:
    return 0.5 if case.operation == "barrier" else 2.0 if case.size_bytes == 8 else 1.2


@pytest.mark.parametrize(
    ("calls", "order"),
    [
        ([], ["allreduce 64 KiB", "allreduce 8 B", "barrier"]),
        (
            [Calls(operation="allreduce", form="", size_bytes=8, calls=1e6)],
            ["allreduce 8 B", "allreduce 64 KiB", "barrier"],
        ),
    ],
)
def test_regressions_come_first_ordered_by_their_cost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], calls: list[Calls], order: list[str]
) -> None:
    history([plant_changes(tmp_path, calls)])
    lines = [line for line in read_lines(capsys) if " since " in line]
    assert [line.partition(",")[0] for line in lines] == order
    history([tmp_path], format_="csv")
    rows = read_lines(capsys)
    assert rows[0] == "case,candidate,since,campaign,ratio,low,high,p_adjusted,cost_ns,share"
    assert [row.partition(".")[0] for row in rows[1:]] == [label.partition(" ")[0] for label in order]
    history([tmp_path], format_="json")
    changes = json.loads(capsys.readouterr().out)["changes"]
    assert [change["ratio"] > 1 for change in changes] == [True, True, False]
    assert [change["cost_ns"] > 0 for change in changes] == ([True, True, False] if not calls else [True, False, False])


def test_campaigns_can_be_named_one_by_one(nights: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history([nights / f"night-{day}" for day in (8, 2, 1)])
    lines = read_lines(capsys)
    assert [lines[0], lines[-1]] == WORDING


def test_a_history_without_changes_is_reported(nights: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history([nights / f"night-{day}" for day in (1, 2, 3, 4)] + [repeat_night(nights)])
    assert find_lines(read_lines(capsys), "No change") == WORDING


def repeat_night(nights: Path) -> Path:
    """Return a fifth night like the four before."""
    place = nights.parent / "more" / "night-again"
    return make_night(place, day=9, cases=BARRIER, control=False, launches=3).folder


@pytest.mark.thorough
def test_a_changed_case_is_drawn_with_the_change_marked(
    nights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    history([nights], figures="svg,html", output=tmp_path / "drawn")
    name = "history-barrier.blocking.0.byte.socket.window"
    assert read_lines(capsys)[-1] == f"wrote 2 files to {tmp_path / 'drawn'}, such as {name}.svg"
    words = re.findall(r">([^<>]+)<", (tmp_path / "drawn" / f"{name}.svg").read_text())
    assert find_lines(words, "barrier: ") == WORDING
    for word in ("alpha 1.31× slower", "alpha 1.0 → 1.1", "2026-03-05"):
        assert word in words
    page = (tmp_path / "drawn" / f"{name}.html").read_text()
    assert "alpha 1.31" in page
    assert not re.search(r"<(script|link)[^>]+(src|href)=.?https?:", page)


def test_every_case_is_drawn_if_nothing_changed(tmp_path: Path) -> None:
    for day in (1, 2):
        make_night(tmp_path / f"n{day}", day=day, control=False, launches=2)
    summary = trend.make_history([store.open(tmp_path / f"n{day}") for day in (1, 2)])
    assert [key for key, _ in history_charts.charts(summary)] == [case.key for case in CASES]


def test_a_chart_has_points_levels_and_the_mark(nights: Path) -> None:
    summary = trend.make_history([store.open(nights / f"night-{day}") for day in range(1, 9)])
    ((key, chart),) = history_charts.charts(summary)
    assert key == BARRIER[0].key
    assert chart.subtitle == WORDING
    assert [(row["candidate"], row["position"], row["end"], row["value"]) for row in chart.datasets["levels"]] == [
        ("alpha", 0.5, 4.5, 500.0),
        ("alpha", 4.5, 8.5, 655.0),
    ]
    assert chart.datasets["changes"] == [
        {"position": 4.5, "words": "alpha 1.0 → 1.1", "side": "right", "line": 0, "first": True},
        {"position": 4.5, "words": "alpha 1.31× slower", "side": "right", "line": 1, "first": False},
    ]
    first = chart.datasets["points"][0]
    assert (first["campaign"], first["made of"], first["typical"], first["position"]) == (
        "night-1",
        "alpha-1.0",
        "500 ns",
        1,
    )


def test_labels_of_neighbouring_marks_do_not_overlap() -> None:
    marks = [Words(4, ("gamma 1.58× slower",), 15), Words(8, ("gamma 1.57× faster",), 15), Words(14, ("alpha",), 15)]
    assert [(row["words"], row["side"], row["line"]) for row in history_charts.stack_marks(marks)] == [
        ("gamma 1.58× slower", "right", 0),
        ("gamma 1.57× faster", "left", 1),
        ("alpha", "left", 0),
    ]
    assert history_charts.stack_marks([]) == []


def test_json_has_the_history(nights: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history([nights], format_="json")
    document = json.loads(capsys.readouterr().out)
    assert [past["name"] for past in document["campaigns"]] == [f"night-{day}" for day in range(1, 9)]
    (turn,) = document["series"][0]["turns"]
    assert (turn["campaign"], turn["name"], turn["since"]) == (4, "night-5", "2026-03-05")
    (reason,) = turn["reasons"]
    assert reason == {
        "template": "{then} → {now}",
        "fields": {"then": "alpha 1.0", "now": "1.1"},
        "text": "alpha 1.0 → 1.1",
    }
    assert turn["ratio"] == pytest.approx(1.31)


def make_changing(day: int) -> Callable[[str, Case], Fate]:
    """Return the truth that beta's barrier crashes in the second night and is slower from the fourth on."""
    return make_slower("beta", "barrier", CaseStatus.CRASHED if day == 2 else 1.2 if day > 3 else 1.0)


def test_changes_of_the_machine_are_reported_and_nights_without_figures_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for day in range(1, 8):
        make_night(
            tmp_path / f"n{day}",
            make_changing(day),
            day=day,
            cases=BARRIER,
            control=False,
            launches=3,
            exchange_ns=65 if day > 3 else 50,
            machine={"kernel": "6.8" if day > 3 else "6.1"},
        )
    history([tmp_path])
    lines = read_lines(capsys)
    for part in ("barrier  beta ", " since 2026-03-04", f"{history_report.MARK}: "):
        assert find_lines(lines, part) == WORDING


def test_campaigns_with_equal_names_are_named_by_their_folders(tmp_path: Path) -> None:
    for day in (1, 2):
        campaign_store = make_night(tmp_path / f"n{day}", day=day, control=False, launches=2)
        rewrite(campaign_store.folder, msgspec.structs.replace(campaign_store.campaign, name="nightly"))
    summary = trend.make_history([store.open(tmp_path / f"n{day}") for day in (2, 1)])
    assert [past.name for past in summary.pasts] == [str(tmp_path / "n1"), str(tmp_path / "n2")]


def test_candidates_continue_over_a_gap_and_new_ones_start_a_series(tmp_path: Path) -> None:
    stores = [
        make_night(tmp_path / f"n{day}", day=day, version=version, candidates=names, control=False, launches=2)
        for day, version, names in (
            (1, "1.0", ("alpha", "beta")),
            (2, "1.0", ("beta",)),
            (3, "1.1", ("alpha", "beta", "gamma")),
        )
    ]
    summary = trend.make_history(stores)
    tracks = {(track.title): track.names for track in trend.follow_candidates(summary.pasts)}
    assert tracks == {
        "alpha": {0: "alpha-1.0", 2: "alpha-1.1"},
        "beta": {0: "beta", 1: "beta", 2: "beta"},
        "gamma": {2: "gamma"},
    }


@pytest.mark.parametrize("arguments", [{"figures": "png,gif"}, {"operations": "bcast"}], ids=["figures", "operations"])
def test_wrong_options_are_refused(nights: Path, tmp_path: Path, arguments: dict[str, object]) -> None:
    with refuses():
        history([nights], output=tmp_path, **arguments)  # type: ignore[arg-type]


def test_folders_without_a_history_are_refused(tmp_path: Path) -> None:
    campaign_store = make_night(tmp_path / "one", launches=2)
    for folder in (tmp_path / "none", campaign_store.folder):
        with refuses():
            history([folder])


def test_a_change_that_all_cases_share_is_the_machine_s(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From the fifth night on everything is 1.2 times slower, from the sixth on alpha's barrier 1.3 times more."""
    for day in range(1, 11):

        def make_fate(name: str, case: Case, day: int = day) -> Fate:
            factor = 1.3 if (name, case.operation) == ("alpha", "barrier") and day > 5 else 1.0
            return factor * (1.2 if day > 4 else 1.0)

        make_night(tmp_path / f"night-{day}", make_fate, day=day, control=False, launches=3)
    history([tmp_path])
    assert [line for line in read_lines(capsys) if " since " in line] == WORDING
    history([tmp_path], format_="json")
    (step,) = json.loads(capsys.readouterr().out)["machine"]
    assert (step["campaign"], step["since"], step["name"]) == (4, "2026-03-05", "night-5")
    assert step["ratio"] == pytest.approx(1.2, rel=0.01)
    assert step["low"] <= step["ratio"] <= step["high"]


def test_campaigns_without_a_common_value_have_no_history(tmp_path: Path) -> None:
    campaigns.make_campaign(tmp_path / "one", launches=2, candidates=("alpha", "beta"))
    campaigns.make_campaign(tmp_path / "two", launches=2, candidates=("gamma", "delta"))
    with refuses():
        history([tmp_path])


def test_without_a_folder_the_results_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        campaigns.make_campaign(tmp_path / "results" / name, launches=2)
    monkeypatch.chdir(tmp_path)
    history()
    assert capsys.readouterr().out.startswith("2 campaigns, one ")
