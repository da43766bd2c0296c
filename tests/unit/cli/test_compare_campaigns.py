"""The command `compare` on two campaigns: matched candidates, reported ratios and warnings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes.nights import CASES, make_night, make_slower

from rankbench.cli.commands.compare import compare
from rankbench.cli.commands.report import report
from rankbench.cli.display import console
from rankbench.model import RankbenchError

CONTROL = "Noise check, one candidate measured twice and called different from itself: "
UNCONTROLLED = "The state of the machine between two campaigns is not controlled, and no interval includes it. "
BETTER = " Measuring both libraries in one campaign, paired block by block, is the better design."
QUIET = (
    f"{UNCONTROLLED}Without MPI, handing a cache line to another CPU takes 1.00× and copying takes 1.00× the "
    f"earlier time.{BETTER}"
)


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
    assert read_lines(capsys) == [
        "new (2026-03-09 01:00) over old (2026-03-01 01:00): times of unpaired launches",
        "A ratio above 1: slower now; ~: no change above 3% can be shown.",
        "",
        "case              candidate     then      now  ratio    interval       p",
        "─" * 72,
        "allreduce 8 B     alpha-1.1   502 ns   658 ns  1.31×  1.31–1.31×  <0.001",
        "allreduce 8 B     beta        502 ns   502 ns      ~  1.00–1.00×   1.000",
        "allreduce 64 KiB  alpha-1.1  16.9 µs  16.9 µs      ~  1.00–1.00×   1.000",
        "allreduce 64 KiB  beta       16.9 µs  16.9 µs      ~  1.00–1.00×   1.000",
        "barrier           alpha-1.1   500 ns   500 ns      ~  1.00–1.00×   1.000",
        "barrier           beta        500 ns   500 ns      ~  1.00–1.00×   1.000",
        "",
        "Matched: alpha-1.1 against alpha-1.0 (the same family); by name: beta.",
        "alpha-1.1 differs from alpha-1.0: library alpha 1.0 then, alpha 1.1 now.",
        f"{CONTROL}in 0 of 3 cases then and in 0 of 3 cases now.",
        QUIET,
        "1 of 6 values is slower now, 0 faster; for 5, no change above 3% can be shown.",
        "alpha-1.1 takes 1.09× the time of alpha-1.0: geometric mean over 3 cases.",
        "beta takes 1.00× its earlier time: geometric mean over 3 cases; no case is known to have changed.",
        "Slowed down most: allreduce 8 B of alpha-1.1 (1.31×: 1.31–1.31×, corrected for the choice).",
    ]


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
    assert UNCONTROLLED.strip() in section


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
    assert lines[lines.index("") + 1 :][10:20] == [
        "The plans differ in estimator or confidence (median, intervals of 95% then, min, intervals of 95% now); "
        "both are evaluated as the newer plan says.",
        "The machine is not the same: host fake then, n2 now; CPU Example 9000 then, Example 9001 now; "
        "cores 2 then, 4 now; kernel 6.1 then, 6.8 now. "
        "To separate libraries from machines, measure both in one campaign on one machine.",
        "rankbench is not the same: rankbench 0.1.0 then, 0.2.0 now. "
        "Measure the older library again with this rankbench.",
        "The method is not the same: synchronisation of clocks tree then, ring now. "
        "Run the older plan again with the newer library.",
        "The machine was in another state: without MPI, handing a cache line from one CPU to another takes 1.40× "
        "the earlier time. This affects small messages of every library; "
        "measure again when the machine is as it was.",
        "There are few launches, 2 then and 6 now in the case with the fewest: only large changes can "
        "be detected, and none with fewer than 3. Run more blocks.",
        f"{CONTROL}no check then and in 0 of 3 cases now. `control = true` in the plan shows how far to trust a "
        "campaign.",
        f"{UNCONTROLLED}Without MPI, handing a cache line to another CPU takes 1.40× and copying takes 1.10× the "
        f"earlier time.{BETTER}",
        "0 of 6 values are slower now, 0 faster; for 6, no change above 3% can be shown.",
        "alpha-1.0 takes 1.00× its earlier time: geometric mean over 3 cases; no case is known to have changed.",
    ]


def test_a_change_that_the_raw_probes_show_too_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", make_slower("beta", "barrier", 1.1), exchange_ns=56)
    compare(str(tmp_path / "old"), str(tmp_path / "new"))
    lines = read_lines(capsys)
    assert "barrier           beta        500 ns   550 ns  1.10×°  1.10–1.10×  <0.001" in lines
    assert (
        f"{UNCONTROLLED}Without MPI, handing a cache line to another CPU takes 1.12× and copying takes 1.00× the "
        f"earlier time; 1 ratio (°) is no larger than that.{BETTER}"
    ) in lines
    assert (
        "1 of 6 values is slower now, 0 faster; for 5, no change above 3% can be shown; "
        "1 of these 1 is no larger than the change of the raw probes."
    ) in lines
    assert not any(line.startswith("Slowed down") for line in lines)


def test_a_slower_machine_does_not_explain_a_faster_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", make_slower("beta", "barrier", 0.9), exchange_ns=56)
    compare(str(tmp_path / "old"), str(tmp_path / "new"))
    assert "Sped up most: barrier of beta (0.90×: 0.90–0.90×, corrected for the choice)." in read_lines(capsys)


def test_candidates_and_cases_without_a_counterpart_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_night(tmp_path / "old", candidates=("alpha", "beta"))
    make_night(tmp_path / "new", candidates=("alpha", "gamma"), cases=CASES[:2])
    compare(str(tmp_path / "old"), str(tmp_path / "new"))
    lines = read_lines(capsys)
    assert "No counterpart was found for beta (then only) and gamma (now only). " in "\n".join(lines)
    assert "1 case of old and 0 of new have no counterpart. Run the same plan to compare all cases." in lines
    assert lines[-2] == "0 of 2 values are slower now, 0 faster; for 2, no change above 3% can be shown."


def test_the_user_can_match_candidates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_night(tmp_path / "old", candidates=("alpha", "beta"))
    make_night(tmp_path / "new", candidates=("alpha", "gamma"))
    compare(str(tmp_path / "old"), str(tmp_path / "new"), match=["beta=gamma"])
    assert "Matched: gamma against beta (as requested); by name: alpha-1.0." in read_lines(capsys)


def test_campaigns_without_common_cases_are_reported(tmp_path: Path) -> None:
    make_night(tmp_path / "old", candidates=("alpha",))
    make_night(tmp_path / "new", candidates=("beta",))
    with pytest.raises(RankbenchError, match="have no case of the same candidate with values in both"):
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
    assert lines[0] == "**new (2026-03-01 01:00) over old (2026-03-01 01:00): times of unpaired launches**"
    assert "| barrier | beta | 500 ns | 1.00 µs | 2.00× | 2.00–2.00× | <0.001 |" in lines
    assert "1 of 6 values is slower now, 0 faster; for 5, no change above 3% can be shown." in lines


USAGE = (
    "compare takes two campaigns (OLD NEW), or two candidates, after the campaign that has them or of the newest one "
    "(CAMPAIGN mpich openmpi)"
)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("{0}/old", "{0}/none"), "{0}/old is a campaign; {0}/none is no campaign (no such folder): " + USAGE),
        (("{0}/old", "mpich"), "no candidate mpich in campaign old (allowed: alpha-1.0, beta)"),
        (("{0}", "{0}/none"), "{0} is no campaign (it has no campaign.json); {0}/none is no campaign "
         "(no such folder): " + USAGE),
    ],
)  # fmt: skip
def test_arguments_that_are_neither_two_campaigns_nor_two_candidates_are_refused(
    tmp_path: Path, arguments: tuple[str, str], text: str
) -> None:
    make_night(tmp_path / "old")
    with pytest.raises(RankbenchError) as error:
        compare(arguments[0].format(tmp_path), arguments[1].format(tmp_path))
    assert str(error.value) == text.format(tmp_path)


@pytest.mark.parametrize(
    ("match", "text"),
    [
        ("beta", "--match beta: expected OLD=NEW, a candidate of either campaign"),
        ("beta=gamma", "no candidate gamma in campaign new (allowed: alpha-1.0, beta)"),
    ],
)
def test_unknown_matches_are_refused(tmp_path: Path, match: str, text: str) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new")
    with pytest.raises(RankbenchError) as error:
        compare(str(tmp_path / "old"), str(tmp_path / "new"), match=[match])
    assert str(error.value) == text


def test_a_candidate_s_name_precedes_a_folder_of_that_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_night(tmp_path / "old", launches=2)
    (tmp_path / "beta").mkdir()
    monkeypatch.chdir(tmp_path)
    compare(str(tmp_path / "old"), "alpha", "beta")
    assert read_lines(capsys)[0] == "beta over alpha-1.0: times paired within 2 blocks"


def test_campaigns_and_candidates_are_named_by_folder_and_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_night(tmp_path / "old", launches=2)
    monkeypatch.setenv("RANKBENCH_RESULTS", str(tmp_path))
    for words in ((str(tmp_path / "old"),), ("old",), ("old", "alpha"), ("old", "alpha", "beta"), ("alpha", "beta")):
        compare(*words)
        assert read_lines(capsys)[0] == "beta over alpha-1.0: times paired within 2 blocks"


def test_two_candidates_can_be_compared_in_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_night(tmp_path / "old")
    compare(str(tmp_path / "old"), "alpha", "beta", format_="csv")
    assert read_lines(capsys)[:2] == [
        "case,alpha-1.0,beta,ratio,interval,p",
        "allreduce 8 B,502 ns ±0.0%,502 ns ±0.0%,~,1.00–1.00×,1.000",
    ]
    compare(str(tmp_path / "old"), "alpha", "beta", format_="markdown", output=tmp_path / "table.md")
    assert read_lines(capsys) == [f"wrote {tmp_path}/table.md"]
    assert (tmp_path / "table.md").read_text().splitlines()[1:3] == [
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        r"| allreduce 8 B | 502 ns ±0.0% | 502 ns ±0.0% | \~ | 1.00–1.00× | 1.000 |",
    ]
    with pytest.raises(RankbenchError) as error:
        compare(str(tmp_path / "old"), "alpha", "beta", format_="xml")
    assert str(error.value) == ("--format xml: not a format of this command (allowed: table, json, csv, markdown)")


def test_match_is_refused_for_candidates_of_one_campaign(tmp_path: Path) -> None:
    make_night(tmp_path / "old")
    with pytest.raises(RankbenchError) as error:
        compare(str(tmp_path / "old"), "alpha", "beta", match=["a=b"])
    assert str(error.value) == "--match is for two campaigns; name their folders, the older one first"
