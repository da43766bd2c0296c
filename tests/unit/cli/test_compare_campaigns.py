"""The command `compare` on two campaigns: matched candidates, reported ratios and warnings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes.nights import CASES, make_night, make_slower
from wording import WORDING, find_lines, refuses

from rankbench.cli.commands.compare import compare
from rankbench.cli.commands.report import report
from rankbench.cli.display import console


@pytest.fixture(autouse=True)
def use_a_thousand_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "width", 1000)


def read_lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_another_version_of_a_library_is_compared_with_the_older_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_night(tmp_path / "old", version="1.0", scatter=0.0)
    make_night(tmp_path / "new", make_slower("alpha", "allreduce", 1.31, below=1024), version="1.1", day=9)
    compare(str(tmp_path / "old"), str(tmp_path / "new"))
    assert read_lines(capsys) == WORDING


@pytest.mark.thorough
def test_a_report_shows_the_changes_since_an_older_campaign(tmp_path: Path) -> None:
    make_night(tmp_path / "old", version="1.0", scatter=0.0)
    make_night(tmp_path / "new", make_slower("alpha", "allreduce", 1.31, below=1024), version="1.1", day=9)
    report(tmp_path / "new")
    assert 'id="changes"' not in (tmp_path / "new/report.html").read_text()
    report(tmp_path / "new", against=tmp_path / "old")
    page = (tmp_path / "new/report.html").read_text()
    section = page[page.index('<section id="changes"') : page.index('<section id="case"')]
    assert '<th scope="col">fastest then</th>' in section
    table = section[section.index("<table") :]
    row = table[table.index("allreduce 8 B") :].split("</tr>")[0]
    assert [value in row for value in ("502 ns", "658 ns", "1.31×")] == [True] * 3
    assert "slower, new winner" in row
    assert "between two campaigns is not" in section


def test_every_difference_that_can_mislead_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_night(tmp_path / "old", control=False, launches=2)
    make_night(
        tmp_path / "new",
        make_slower("beta", "barrier", 1.3),
        day=2,
        machine={"host": "n2", "cpu": "Example 9001", "cores": 4, "kernel": "6.8"},
        plan={"synchronisation": "ring", "estimator": "min"},
        rankbench="0.2.0",
        exchange_ns=70,
        copy=1.1,
    )
    compare(str(tmp_path / "old"), str(tmp_path / "new"))
    lines = read_lines(capsys)
    assert lines[lines.index("") + 1 :][10:20] == WORDING


def test_a_change_that_the_raw_probes_show_too_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", make_slower("beta", "barrier", 1.1), exchange_ns=56)
    compare(str(tmp_path / "old"), str(tmp_path / "new"))
    lines = read_lines(capsys)
    assert find_lines(lines, "°") == WORDING
    assert find_lines(lines, "1 of 6 values") == WORDING
    assert not any(line.startswith("Slowed down") for line in lines)


def test_a_slower_machine_does_not_explain_a_faster_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", make_slower("beta", "barrier", 0.9), exchange_ns=56)
    compare(str(tmp_path / "old"), str(tmp_path / "new"))
    assert find_lines(read_lines(capsys), "Sped up") == WORDING


def test_candidates_and_cases_without_a_counterpart_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_night(tmp_path / "old", candidates=("alpha", "beta"))
    make_night(tmp_path / "new", candidates=("alpha", "gamma"), cases=CASES[:2])
    compare(str(tmp_path / "old"), str(tmp_path / "new"))
    lines = read_lines(capsys)
    assert [*find_lines(lines, "counterpart"), lines[-2]] == WORDING


def test_the_user_can_match_candidates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_night(tmp_path / "old", candidates=("alpha", "beta"))
    make_night(tmp_path / "new", candidates=("alpha", "gamma"))
    compare(str(tmp_path / "old"), str(tmp_path / "new"), match=["beta=gamma"])
    assert find_lines(read_lines(capsys), "Matched: ") == WORDING


def test_campaigns_without_common_cases_are_reported(tmp_path: Path) -> None:
    make_night(tmp_path / "old", candidates=("alpha",))
    make_night(tmp_path / "new", candidates=("beta",))
    with refuses():
        compare(str(tmp_path / "old"), str(tmp_path / "new"))


def test_json_has_the_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_night(tmp_path / "old", launches=1)
    make_night(tmp_path / "new", make_slower("beta", "barrier", 2.0))
    compare(str(tmp_path / "old"), str(tmp_path / "new"), format_="json")
    document = json.loads(capsys.readouterr().out)
    last = document["changes"][-1]
    assert (last["title"], last["old"], last["new"], last["old_launches"]) == ("barrier", "beta", "beta", 1)
    assert last["ratio"] == pytest.approx(2)
    assert "high" not in last, "one launch bounds nothing"
    assert document["matches"][0] == {"old": "alpha-1.0", "new": "alpha-1.0", "by": "name"}
    assert [remark["kind"] for remark in document["remarks"]] == ["launches", "control", "uncontrolled"]


def test_markdown_has_the_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", make_slower("beta", "barrier", 2.0))
    compare(str(tmp_path / "old"), str(tmp_path / "new"), format_="markdown")
    lines = read_lines(capsys)
    assert [lines[0], *find_lines(lines, "2.00–2.00×"), *find_lines(lines, "1 of 6 values")] == WORDING


@pytest.mark.parametrize(
    "arguments", [("old", "none"), ("old", "mpich"), ("", "none")], ids=["no campaign", "no candidate", "neither"]
)
def test_arguments_that_are_neither_two_campaigns_nor_two_candidates_are_refused(
    tmp_path: Path, arguments: tuple[str, str]
) -> None:
    make_night(tmp_path / "old")
    first, second = arguments
    with refuses():
        compare(str(tmp_path / first), "mpich" if second == "mpich" else str(tmp_path / second))


@pytest.mark.parametrize("match", ["beta", "beta=gamma"])
def test_unknown_matches_are_refused(tmp_path: Path, match: str) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new")
    with refuses():
        compare(str(tmp_path / "old"), str(tmp_path / "new"), match=[match])


def test_a_candidate_s_name_precedes_a_folder_of_that_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_night(tmp_path / "old", launches=2)
    (tmp_path / "beta").mkdir()
    monkeypatch.chdir(tmp_path)
    compare(str(tmp_path / "old"), "alpha", "beta")
    assert read_lines(capsys)[0] == WORDING


def test_campaigns_and_candidates_are_named_by_folder_and_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_night(tmp_path / "old", launches=2)
    monkeypatch.setenv("RANKBENCH_RESULTS", str(tmp_path))
    for words in ((str(tmp_path / "old"),), ("old",), ("old", "alpha"), ("old", "alpha", "beta"), ("alpha", "beta")):
        compare(*words)
        assert read_lines(capsys)[0] == WORDING


def test_two_candidates_can_be_compared_in_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_night(tmp_path / "old")
    compare(str(tmp_path / "old"), "alpha", "beta", format_="csv")
    assert read_lines(capsys)[:2] == WORDING
    compare(str(tmp_path / "old"), "alpha", "beta", format_="markdown", output=tmp_path / "table.md")
    assert read_lines(capsys) == [f"wrote {tmp_path}/table.md"]
    assert (tmp_path / "table.md").read_text().splitlines()[1:3] == WORDING
    with refuses():
        compare(str(tmp_path / "old"), "alpha", "beta", format_="xml")


def test_match_is_refused_for_candidates_of_one_campaign(tmp_path: Path) -> None:
    make_night(tmp_path / "old")
    with refuses():
        compare(str(tmp_path / "old"), "alpha", "beta", match=["a=b"])
