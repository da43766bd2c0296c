"""The command `gate`: exit codes, failed and skipped checks, and the JUnit XML."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import numpy as np
import polars as pl
import pytest
from fakes.nights import CASES, Fate, make_night, make_slower
from typer.testing import CliRunner
from wording import WORDING, find_lines, refuses

from rankbench import cli
from rankbench.across import gate as gate_checks
from rankbench.across.gate import Check
from rankbench.across.two_campaigns import hold
from rankbench.analysis import statistics
from rankbench.cli.display import console
from rankbench.language import say
from rankbench.model import Case, CaseStatus, RankbenchError, StoredTable
from rankbench.report.junit import junit, remove_controls
from rankbench.store import Store

BARRIER = make_slower("beta", "barrier", 1.3)


@pytest.fixture(autouse=True)
def use_a_thousand_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "width", 1000)


def gate(*arguments: object) -> tuple[int, list[str]]:
    """Return the exit code and the lines from the checks on. Errors of the user are raised."""
    answer = CliRunner().invoke(cli.application(), ["gate", *map(str, arguments)])
    if isinstance(answer.exception, RankbenchError):
        raise answer.exception
    lines = answer.stdout.splitlines()
    return answer.exit_code, lines[lines.index("") + 1 :]


def test_equal_campaigns_pass(tmp_path: Path) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", make_slower("beta", "barrier", 0.7), version="1.1", day=2)
    assert gate(tmp_path / "new", "--against", tmp_path / "old") == (0, WORDING)


def test_improvements_fail_if_the_reference_has_to_be_renewed(tmp_path: Path) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", make_slower("beta", "barrier", 0.7), day=2)
    code, lines = gate(tmp_path / "new", "--against", tmp_path / "old", "--strict-improvements")
    assert (code, lines[0]) == (1, WORDING)


def test_an_accepted_regression_passes_with_its_reason(tmp_path: Path) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", BARRIER, day=2)
    command = (tmp_path / "new", "--against", tmp_path / "old", "--accept", tmp_path / "accepted.toml")
    entry = '[[accepted]]\ncase = "barrier"\nlimit = {}\nreason = "safer"\nuntil = 9999-12-31\n'
    (tmp_path / "accepted.toml").write_text(entry.format(1.4))
    code, lines = gate(*command, "--junit", tmp_path / "gate.xml")
    assert (code, lines[:2]) == (0, WORDING)
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    (tmp_path / "accepted.toml").write_text(entry.format(1.2))
    code, lines = gate(*command)
    assert (code, lines[0]) == (1, WORDING)


def test_an_unneeded_entry_fails_only_with_strict_improvements(tmp_path: Path) -> None:
    make_night(tmp_path / "one")
    path = tmp_path / "accepted.toml"
    path.write_text('[[accepted]]\ncase = "barrier"\nlimit = 1.4\nreason = "safer"\nuntil = 9999-12-31\n')
    command = ("gate", tmp_path / "one", "--candidate", "beta", "--against-candidate", "alpha", "--accept", path)
    answer, strict = (
        CliRunner().invoke(cli.application(), [*map(str, command), *more]) for more in ((), ("--strict-improvements",))
    )
    assert (answer.exit_code, strict.exit_code) == (0, 1)
    assert find_lines(answer.stdout, "accepted.toml") == WORDING
    assert find_lines(strict.stdout, "accepted.toml") == WORDING


@pytest.mark.parametrize("content", [None, b"\xff", b"[accepted]\n"], ids=["missing", "no text", "a table"])
def test_a_wrong_file_of_accepted_regressions_is_one_line(tmp_path: Path, content: bytes | None) -> None:
    make_night(tmp_path / "one")
    path = tmp_path / "accepted.toml"
    if content is not None:
        path.write_bytes(content)
    with refuses():
        gate(tmp_path / "one", "--candidate", "beta", "--against-candidate", "alpha", "--accept", path)


def test_markdown_is_for_a_pull_request(tmp_path: Path) -> None:
    make_night(tmp_path / "one", BARRIER)
    command = ["gate", str(tmp_path / "one"), "--candidate", "beta", "--against-candidate", "alpha"]
    command += ["--format", "markdown", "--output", str(tmp_path / "gate.md")]
    answer = CliRunner().invoke(cli.application(), command)
    lines = (tmp_path / "gate.md").read_text().splitlines()
    assert answer.exit_code == 1
    assert lines[:7] == WORDING


def test_json_has_every_check_with_its_numbers(tmp_path: Path) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", BARRIER, day=2)
    command = ["gate", str(tmp_path / "new"), "--against", str(tmp_path / "old"), "--format", "json"]
    answer = CliRunner().invoke(cli.application(), [*command, "--junit", str(tmp_path / "gate.xml")])
    document = json.loads(answer.stdout)
    assert answer.exit_code == 1
    assert (document["campaign"], document["against"]) == ("new", "campaign old")
    assert document["counts"] == {"passed": 5, "improved": 0, "failed": 1, "skipped": 0, "accepted": 0}
    (failed,) = (check for check in document["checks"] if check["outcome"] == "failed")
    assert (failed["candidate"], failed["title"], failed["relation"]) == ("beta", "barrier", "slower")
    assert failed["ratio"] == pytest.approx(1.3, rel=0.01)
    assert failed["low"] <= failed["ratio"] <= failed["high"]
    assert failed["p_adjusted"] < 0.05
    assert failed["fields"]["threshold"] == pytest.approx(5)
    assert document["remarks"][0].startswith("one campaign against one")


def test_outcomes_are_counted_in_the_words_of_the_tables(tmp_path: Path) -> None:
    make_night(tmp_path / "one", BARRIER)
    answer = CliRunner().invoke(
        cli.application(), ["gate", str(tmp_path / "one"), "--candidate", "beta", "--against-candidate", "alpha"]
    )
    assert find_lines(answer.stdout, "New times") == WORDING


def test_a_slower_case_fails(tmp_path: Path) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", BARRIER, day=2)
    code, lines = gate(tmp_path / "new", "--against", tmp_path / "old")
    assert (code, lines) == (1, WORDING)


@pytest.mark.parametrize(("threshold", "code"), [("29%", 1), ("31%", 0), ("0.2", 1)])
def test_the_threshold_of_a_regression_can_be_set(tmp_path: Path, threshold: str, code: int) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", BARRIER)
    assert gate(tmp_path / "new", "--against", tmp_path / "old", "--threshold", threshold)[0] == code


def make_failing(status: CaseStatus) -> Callable[[str, Case], Fate]:
    return make_slower("beta", "barrier", status)


@pytest.mark.costly
@pytest.mark.parametrize("status", [CaseStatus.CRASHED, CaseStatus.WRONG_DATA, CaseStatus.LACKING, CaseStatus.HUNG])
def test_a_case_that_fails_only_in_the_new_campaign_fails(tmp_path: Path, status: CaseStatus) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", make_failing(status))
    code, lines = gate(tmp_path / "new", "--against", tmp_path / "old")
    assert (code, lines[0]) == (1, WORDING)


def test_a_case_that_failed_in_both_campaigns_is_no_regression(tmp_path: Path) -> None:
    make_night(tmp_path / "old", make_failing(CaseStatus.CRASHED))
    make_night(tmp_path / "new", make_failing(CaseStatus.CRASHED))
    assert gate(tmp_path / "new", "--against", tmp_path / "old") == (0, WORDING)


def test_cases_and_candidates_missing_in_the_new_campaign_fail(tmp_path: Path) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", candidates=("alpha",), cases=CASES[:1])
    code, lines = gate(tmp_path / "new", "--against", tmp_path / "old")
    assert (code, lines) == (1, WORDING)


def test_an_undecided_case_is_skipped(tmp_path: Path) -> None:
    make_night(tmp_path / "old", launches=2)
    make_night(tmp_path / "new", BARRIER, launches=2)
    arguments = (tmp_path / "new", "--against", tmp_path / "old")
    code, lines = gate(*arguments)
    assert (code, lines) == (0, WORDING)
    assert gate(*arguments, "--strict") == (1, lines)


def test_a_difference_that_the_machine_explains_is_skipped(tmp_path: Path) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", BARRIER, exchange_ns=70)
    code, lines = gate(tmp_path / "new", "--against", tmp_path / "old")
    assert (code, lines[0]) == (0, WORDING)


def test_candidates_of_one_campaign_are_paired(tmp_path: Path) -> None:
    make_night(tmp_path / "one", BARRIER)
    code, lines = gate(tmp_path / "one", "--candidate", "beta", "--against-candidate", "alpha")
    assert (code, lines) == (1, WORDING)
    assert gate(tmp_path / "one", "--candidate", "alpha", "--against-candidate", "beta")[0] == 0


@pytest.mark.parametrize(("threshold", "code"), [("1%", 1), ("25%", 1), ("40%", 0)])
def test_the_threshold_holds_within_one_campaign(tmp_path: Path, threshold: str, code: int) -> None:
    make_night(tmp_path / "one", BARRIER)
    between = ("--candidate", "beta", "--against-candidate", "alpha")
    assert gate(tmp_path / "one", *between, "--threshold", threshold)[0] == code


@pytest.mark.parametrize(("low", "outcome"), [(1.46, "skipped"), (1.51, "failed")])
def test_an_interval_that_reaches_below_the_threshold_does_not_fail(low: float, outcome: str) -> None:
    ratio = gate_checks.Ratio(2.19, low, 3.3, 0.003, enough=True, memory=False)
    assert gate_checks.rule(ratio, 0.5, say("takes 2.19×")).outcome == outcome


def test_within_one_campaign_a_case_that_only_the_other_candidate_completes_fails(tmp_path: Path) -> None:
    make_night(tmp_path / "one", make_failing(CaseStatus.WRONG_DATA))
    code, lines = gate(tmp_path / "one", "--candidate", "beta", "--against-candidate", "alpha")
    assert (code, lines[0]) == (1, WORDING)


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--candidate beta",
        "--candidate beta --against-candidate beta",
        "--candidate gamma --against-candidate beta",
        "--candidate beta --against-candidate alpha --match=a=b",
        "--against old --reference beta",
        "--candidate beta --against-candidate alpha --threshold=many",
    ],
)
def test_wrong_arguments_are_refused(tmp_path: Path, options: str) -> None:
    make_night(tmp_path / "old")
    with refuses():
        gate(tmp_path / "old", *options.split())


def test_campaigns_without_common_cases_are_refused(tmp_path: Path) -> None:
    make_night(tmp_path / "old", candidates=("alpha",), cases=CASES[:1])
    make_night(tmp_path / "cases", candidates=("alpha",), cases=CASES[1:])
    make_night(tmp_path / "names", candidates=("beta",), cases=CASES[:1])
    for name in ("cases", "names"):
        with refuses():
            gate(tmp_path / name, "--against", tmp_path / "old")


# --- near and far -----------------------------------------------------------------------------------------------------


def plant_levels(
    monkeypatch: pytest.MonkeyPatch, shares: list[float], ratios: tuple[float, float] = (1.0, 1.0)
) -> None:
    """Give campaigns, in the order of their evaluation, visits of which these shares of ten are far.

    Far visits take three times as long. In the last campaign `barrier` of beta has these ratios, near and far.
    """
    original, calls = statistics.compute_launch_values, iter(enumerate(shares, 1))

    def add_visits(*arguments: object) -> pl.DataFrame:
        number, share = next(calls)
        far = [visit < 10 * share for visit in range(10)]
        changed = (
            (pl.col("case").str.starts_with("barrier")) & (pl.col("candidate") == "beta") & (number == len(shares))
        )
        plain = [300.0 if is_far else 100.0 for is_far in far]
        slow = [300.0 * ratios[1] if is_far else 100.0 * ratios[0] for is_far in far]
        return original(*arguments).with_columns(  # type: ignore[arg-type]
            figure_ns=pl.when(changed).then(float(np.median(slow))).otherwise(float(np.median(plain))),
            visit=pl.lit(list(range(10))),
            visit_hop_ns=pl.lit([200.0 if is_far else 50.0 for is_far in far]),
            visit_ns=pl.when(changed).then(pl.lit(slow)).otherwise(pl.lit(plain)),
        )

    monkeypatch.setattr(statistics, "compute_launch_values", add_visits)


def test_another_mix_of_near_and_far_visits_does_not_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same library has 20% of its visits far in one campaign and 80% in the other: values are tripled."""
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", day=2)
    plant_levels(monkeypatch, [0.2, 0.8])
    code, lines = gate(tmp_path / "new", "--against", tmp_path / "old")
    assert (code, lines) == (0, WORDING)


@pytest.mark.parametrize(("shares", "remark"), [([0.2, 0.8], True), ([0.4, 0.4], False)])
def test_other_shares_of_far_visits_are_remarked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shares: list[float], remark: bool
) -> None:
    stores = [make_night(tmp_path / name, day=day) for day, name in enumerate(("old", "new"), 1)]
    plant_levels(monkeypatch, shares)
    old, new = stores
    remarks = [remark for remark in hold(old, new).comparison.remarks if remark.kind == "shares"]
    assert [(remark.text.fields["then"], remark.text.fields["now"]) for remark in remarks] == (
        [(0.2, 0.8)] if remark else []
    )


@pytest.mark.parametrize(("ratios", "code"), [((1.0, 1.4), 1), ((1.4, 1.4), 1), ((1.4, 0.7), 0)])
def test_a_slower_level_fails_whatever_the_mix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ratios: tuple[float, float], code: int
) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", day=2)
    plant_levels(monkeypatch, [0.8, 0.2], ratios)
    exit_code, lines = gate(tmp_path / "new", "--against", tmp_path / "old")
    assert (exit_code, lines) == (code, WORDING)


# --- against many earlier campaigns -----------------------------------------------------------------------------------

DAYS = (1.0, 1.06, 0.95, 1.04, 0.97, 1.05, 0.94, 1.02)
"""The factor on all times of a day."""


def make_history(folder: Path, count: int = len(DAYS), **changes: Any) -> Path:
    """Make campaigns whose days differ by a common factor."""
    for number, factor in enumerate(DAYS[:count], 1):
        make_night(folder / f"night-{number}", make_day(factor), day=number, **changes)
    return folder


def make_day(factor: float, beta: float = 1.0) -> Callable[[str, Case], Fate]:
    return lambda name, case: factor * (beta if (name, case.operation) == ("beta", "barrier") else 1.0)


def test_a_gate_against_one_campaign_says_that_variation_between_days_is_missing(tmp_path: Path) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new")
    answer = CliRunner().invoke(cli.application(), ["gate", str(tmp_path / "new"), "--against", str(tmp_path / "old")])
    assert answer.exit_code == 0
    assert answer.stdout.splitlines()[0] == WORDING


@pytest.mark.thorough
def test_a_slow_day_fails_against_one_campaign_but_not_against_many(tmp_path: Path) -> None:
    history = make_history(tmp_path / "history")
    make_night(tmp_path / "new", make_day(1.07), day=20)
    assert gate(tmp_path / "new", "--against", history / "night-1")[0] == 1
    assert gate(tmp_path / "new", "--history", history)[0] == 0


@pytest.mark.thorough
def test_a_much_slower_case_fails_against_many_campaigns(tmp_path: Path) -> None:
    history = make_history(tmp_path / "history")
    make_night(tmp_path / "new", make_day(1.0, beta=1.5), day=20)
    code, lines = gate(tmp_path / "new", "--history", history)
    assert code == 1
    (line,) = (line for line in lines if line.startswith("FAILED"))
    assert line == WORDING


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", [("--reference", "alpha"), ()])
def test_a_reference_removes_the_variation_between_days(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """The plan's baseline is the reference unless another is named; 8% are found in days that differ by as much."""
    plan = {} if arguments else {"baseline": "alpha-1.0"}
    history = make_history(tmp_path / "history")
    make_night(tmp_path / "new", make_day(1.07, beta=1.08), day=20, plan=plan)
    code, lines = gate(tmp_path / "new", "--history", history, *arguments)
    assert code == 1
    assert [line for line in lines if line.startswith(("FAILED", "UNDECIDED"))] == WORDING


def test_another_version_of_the_reference_is_no_reference(tmp_path: Path) -> None:
    history = make_history(tmp_path / "history")
    make_night(tmp_path / "new", make_day(1.0, beta=1.08), day=20, version="1.1")
    code, lines = gate(tmp_path / "new", "--history", history, "--reference", "alpha")
    assert code == 0
    assert find_lines(lines, "fewer than 8") == WORDING


def test_a_case_that_fails_only_in_the_new_campaign_fails_against_many_campaigns(tmp_path: Path) -> None:
    history = make_history(tmp_path / "history")
    make_night(tmp_path / "new", make_failing(CaseStatus.CRASHED), day=20)
    code, lines = gate(tmp_path / "new", "--history", history)
    assert (code, lines[0]) == (1, WORDING)


def test_a_campaign_is_not_part_of_its_own_history(tmp_path: Path) -> None:
    history = make_history(tmp_path / "history")
    with refuses():
        gate(history / "night-8", "--history", history)


# --- JUnit ------------------------------------------------------------------------------------------------------------


def test_junit_has_a_test_case_for_each_case_and_candidate(tmp_path: Path) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", BARRIER, day=2)
    code, lines = gate(tmp_path / "new", "--against", tmp_path / "old", "--junit", tmp_path / "gate.xml")
    assert (code, lines[-1]) == (1, f"wrote {tmp_path / 'gate.xml'}")
    root = ElementTree.parse(tmp_path / "gate.xml").getroot()
    (suite,) = root
    totals = {"tests": "6", "failures": "1", "errors": "0", "skipped": "0", "name": "new against campaign old"}
    for element in (root, suite):
        assert totals.items() <= element.attrib.items()
    assert suite.attrib["timestamp"] == "2026-03-02T01:00:00"
    cases = suite.findall("testcase")
    assert [(case.get("classname"), case.get("name")) for case in cases] == [
        (candidate, title)
        for title in ("allreduce 8 B", "allreduce 64 KiB", "barrier")
        for candidate in ("alpha-1.0", "beta")
    ]
    assert sum(float(case.get("time", "")) for case in cases) == pytest.approx(float(suite.get("time", "")), abs=1e-5)
    assert cases[0].get("time") == "0.000030"
    assert [len(case) for case in cases] == [0, 0, 0, 0, 0, 1]
    (failure,) = cases[-1]
    assert failure.attrib == {"message": WORDING, "type": "regression"}
    assert failure.text == WORDING
    assert "Matched: by name: alpha-1.0" in (suite.findtext("system-out") or "")


def make_check(**changes: str) -> Check:
    texts = {"text": "left open", "advice": "Measure more launches."} | changes
    fields = {name: say("{text}", text=text) if name in {"text", "advice"} else text for name, text in texts.items()}
    plain = {"case": "x", "title": "barrier", "candidate": "beta", "outcome": "skipped"}
    return Check(**{**plain, **fields})  # type: ignore[arg-type]


def test_a_skipped_test_case_has_its_reason() -> None:
    root = ElementTree.fromstring(junit([make_check()], "new against old", "2026-03-02T01:00:00+00:00", []))
    assert root.get("skipped") == "1"
    assert root[0][0][0].attrib == {"message": "left open. Measure more launches."}


def test_characters_that_xml_cannot_hold_are_replaced() -> None:
    text = junit([make_check(text="\x1b[31m<red>\x00 & \ud800", outcome="failed")], "a < b", "2026", ["\x07"])
    failure = ElementTree.fromstring(text)[0][0][0]
    assert failure.get("message") == "\ufffd[31m<red>\ufffd & \ufffd"
    assert remove_controls("µs × –\n") == "µs × –\n"


def test_a_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new")
    with refuses():
        gate(tmp_path / "new", "--against", tmp_path / "old", "--junit", tmp_path / "none" / "gate.xml")


UNLIKE = [
    ({"machine": {"host": "n2"}}, "--across-machines"),
    ({"machine": {"cpu": "Example 9001"}}, "--across-machines"),
    ({"plan": {"synchronisation": "ring"}}, "--across-methods"),
    ({"plan": {"case_limit_s": 3.0}}, "--across-methods"),
]


@pytest.mark.costly
@pytest.mark.parametrize(("changes", "option"), UNLIKE)
def test_campaigns_that_were_not_measured_alike_are_not_compared_unless_allowed(
    tmp_path: Path, changes: dict[str, Any], option: str
) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", day=2, **changes)
    command = (tmp_path / "new", "--against", tmp_path / "old", "--junit", tmp_path / "gate.xml")
    with pytest.raises(RankbenchError) as error:
        gate(*command)
    message = str(error.value)
    assert message == WORDING
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert (suite.get("tests"), suite.get("errors"), suite.get("failures")) == ("1", "1", "0")
    (problem,) = suite.iter("error")
    assert (problem.get("message"), problem.get("type")) == (message, "conditions")
    with pytest.raises(RankbenchError):
        gate(*command, {"--across-machines": "--across-methods", "--across-methods": "--across-machines"}[option])
    assert gate(*command, option)[0] == 0


def test_another_clock_is_another_method(tmp_path: Path) -> None:
    make_night(tmp_path / "old")
    night = make_night(tmp_path / "new", day=2)
    for record in night.launches():
        assert record.facts
        changed = msgspec.structs.replace(record, facts=msgspec.structs.replace(record.facts, source="tsc"), ranks=[])
        (night.folder / "launches" / f"{record.number:06}.json").write_bytes(msgspec.json.encode(changed))
    with refuses():
        gate(tmp_path / "new", "--against", tmp_path / "old")


@pytest.mark.parametrize("changes", [{"machine": {"kernel": "6.8"}}, {"machine": {"host": ""}}])
def test_a_new_kernel_or_an_unknown_host_is_no_other_machine(tmp_path: Path, changes: dict[str, Any]) -> None:
    make_night(tmp_path / "old")
    make_night(tmp_path / "new", day=2, **changes)
    assert gate(tmp_path / "new", "--against", tmp_path / "old")[0] == 0


@pytest.mark.thorough
def test_one_of_the_earlier_campaigns_on_another_machine_is_enough(tmp_path: Path) -> None:
    for day in range(1, 10):
        make_night(tmp_path / f"night{day}", day=day, machine={"host": "n2"} if day == 3 else None)
    command = (tmp_path / "night9", "--history", *(tmp_path / f"night{day}" for day in range(1, 9)))
    words = [word for folder in command[2:] for word in ("--history", folder)]
    with refuses():
        gate(tmp_path / "night9", *words)
    assert gate(tmp_path / "night9", *words, "--across-machines")[0] == 0


def test_options_for_unlike_campaigns_need_two(tmp_path: Path) -> None:
    make_night(tmp_path / "one")
    with refuses():
        gate(tmp_path / "one", "--candidate", "beta", "--against-candidate", "alpha", "--across-machines")


def halve_samples(night: Store, candidate: str) -> None:
    """Halve a candidate's stored times, and write the digests of the new files, as a forger would."""
    for record in night.launches():
        path = night.folder / "samples" / f"{record.number:06}.parquet"
        frame = pl.read_parquet(path)
        factor = 0.5 if record.candidate.startswith(candidate) else 1.0
        frame.with_columns(pl.col("time_ns") * factor).write_parquet(path)
        content = path.read_bytes()
        table = StoredTable(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
        changed = msgspec.structs.replace(record, tables=record.tables | {"samples": table}, ranks=[])
        (night.folder / "launches" / f"{record.number:06}.json").write_bytes(msgspec.json.encode(changed))


def test_changed_samples_are_not_gated(tmp_path: Path) -> None:
    make_night(tmp_path / "old")
    halve_samples(make_night(tmp_path / "new", day=2, launches=8), "beta")
    for command in (("--against", tmp_path / "old"), ("--candidate", "beta", "--against-candidate", "alpha")):
        with refuses():
            gate(tmp_path / "new", *command)
    answer = CliRunner().invoke(cli.application(), ["compare", str(tmp_path / "old"), str(tmp_path / "new")])
    assert find_lines(answer.stdout, "medians of beta's samples") == WORDING
    shown = CliRunner().invoke(cli.application(), ["show", "-v", str(tmp_path / "new")])
    assert find_lines(shown.stdout, "medians of beta's samples") == WORDING


def test_damaged_samples_are_reported(tmp_path: Path) -> None:
    make_night(tmp_path / "old")
    night = make_night(tmp_path / "new", day=2)
    path = night.folder / "samples" / "000003.parquet"
    frame = pl.read_parquet(path)
    frame.with_columns(pl.col("time_ns") / 2).write_parquet(path)
    for command in (["gate", "--against"], ["compare"]):
        words = [command[0], str(tmp_path / "new"), *command[1:], str(tmp_path / "old")]
        answer = CliRunner().invoke(cli.application(), words)
        assert str(answer.exception) == WORDING
    answer = CliRunner().invoke(cli.application(), ["show", str(tmp_path / "new")])
    assert str(answer.exception) == WORDING
