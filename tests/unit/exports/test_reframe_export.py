"""The ReFrame test: a real ReFrame runs it, with a stand-in for `rankbench run` and the real `rankbench export`."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from fakes import campaigns
from fakes.campaigns import Truth
from fakes.nights import rewrite

from rankbench import store
from rankbench.exports import EvaluatedCampaign
from rankbench.exports.formats import reframe
from rankbench.exports.values import Value
from rankbench.model import Case, CaseStatus, ImportRecord, RankbenchError

CASES = campaigns.make_cases(lines=[("barrier", "blocking"), ("bandwidth", "nonblocking")])
STAND_IN = """#!/bin/sh
[ "$1" = run ] || exec {rankbench} "$@"
[ "$*" = "run plan.toml --results . --name campaign" ] && cmp plan.toml {again}/plan.toml && cp -r {again} campaign
"""
VARIABLES = {
    "barrier.blocking.0.byte.socket.window alpha": "ns",
    "barrier.blocking.0.byte.socket.window beta": "ns",
    "bandwidth.nonblocking.8.byte.socket.none alpha": "MB/s",
    "bandwidth.nonblocking.8.byte.socket.none beta": "MB/s",
    "bandwidth.nonblocking.65536.byte.socket.none alpha": "MB/s",
    "bandwidth.nonblocking.65536.byte.socket.none beta": "MB/s",
}


def make_measured(folder: Path, factor: float = 1.0, status: CaseStatus = CaseStatus.OK) -> EvaluatedCampaign:
    """Return a campaign in which beta's times have a factor, or its barriers end with this status."""

    def make_truth(candidate: str, case: Case) -> Truth:
        ends = status if (candidate, case.operation) == ("beta", "barrier") else CaseStatus.OK
        return Truth(factor=factor if candidate == "beta" else 1.0, spread=0.001, status=ends)

    return EvaluatedCampaign(campaigns.make_campaign(folder, make_truth, 6, samples=20, cases=CASES))


class Run(NamedTuple):
    """The output of ReFrame, and how it ended."""

    code: int
    output: str


@pytest.fixture(scope="session")
def first_campaign(tmp_path_factory: pytest.TempPathFactory) -> EvaluatedCampaign:
    """Return the campaign that is the reference of later ones."""
    return make_measured(tmp_path_factory.mktemp("first") / "nightly run-7")


def run_reframe(
    reframe_folder: Path, first: EvaluatedCampaign, again: EvaluatedCampaign, folder: Path, *options: str
) -> Run:
    """Run the exported test with ReFrame, where the plan, run again, gives another campaign."""
    (folder / "bin").mkdir()
    stand_in = folder / "bin" / "rankbench"
    real = Path(sys.executable).with_name("rankbench")
    stand_in.write_text(STAND_IN.format(rankbench=real, again=again.store.folder))
    stand_in.chmod(0o755)
    (test,) = reframe.write(first, folder / "nightly.py")
    environment = {
        **os.environ,
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "PATH": f"{stand_in.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(reframe_folder),
    }
    program = [sys.executable, str(reframe_folder / "bin" / "reframe")]
    command = [*program, "--prefix", str(folder / "out"), "-c", str(test), *options]
    process = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return Run(process.returncode, re.sub(r"\x1b\[[\d;]*m", "", process.stdout + process.stderr))


@pytest.mark.thorough
def test_reframe_lists_the_test(reframe: Path, first_campaign: EvaluatedCampaign, tmp_path: Path) -> None:
    result = run_reframe(reframe, first_campaign, first_campaign, tmp_path, "--list-detailed")
    assert result.code == 0, result.output
    assert re.search(r"^- RankbenchNightlyRun7 /\w+$", result.output, re.MULTILINE), result.output
    assert (
        "rankbench: Is alpha faster than beta? (campaign nightly run-7 of 2026-11-21T00:00:00+00:00)" in result.output
    )
    assert "Found 1 check(s)" in result.output


@pytest.mark.thorough
def test_an_unchanged_campaign_passes(reframe: Path, first_campaign: EvaluatedCampaign, tmp_path: Path) -> None:
    result = run_reframe(
        reframe, first_campaign, make_measured(tmp_path / "again", 1.01), tmp_path, "--run", "--performance-report"
    )
    assert result.code == 0, result.output
    assert (
        "Ran 1/1 test case(s) from 1 check(s) (0 failure(s), 0 expected failure(s), 0 skipped, 0 aborted)"
        in result.output
    )
    for name, unit in VARIABLES.items():
        assert re.search(rf"{re.escape(name)}\W+[\d.]+\W+{unit}", result.output), name
    output = tmp_path / "out" / "output" / "generic" / "default" / "builtin" / "RankbenchNightlyRun7"
    assert {path.name for path in output.iterdir()} >= {"campaign.json", "plan.toml", "campaign"}


def list_failures(result: Run) -> set[str]:
    """Return the variables that did not meet their references."""
    assert result.code == 1, result.output
    return set(re.findall(r"^\s*(\S+ \S+)=[\d.]+ \S+, expected [\d.]+ \(l=", result.output, re.MULTILINE))


@pytest.mark.thorough
def test_a_slower_candidate_fails(reframe: Path, first_campaign: EvaluatedCampaign, tmp_path: Path) -> None:
    result = run_reframe(reframe, first_campaign, make_measured(tmp_path / "again", 1.2), tmp_path, "--run")
    assert list_failures(result) == {name for name in VARIABLES if name.endswith("beta")}


@pytest.mark.thorough
def test_the_tolerance_can_be_set(reframe: Path, first_campaign: EvaluatedCampaign, tmp_path: Path) -> None:
    result = run_reframe(
        reframe, first_campaign, make_measured(tmp_path / "again", 1.2), tmp_path, "--run", "-S", "slack=0.25"
    )
    assert result.code == 0, result.output


@pytest.mark.thorough
def test_a_faster_candidate_fails_only_in_a_two_sided_test(
    reframe: Path, first_campaign: EvaluatedCampaign, tmp_path: Path
) -> None:
    again = make_measured(tmp_path / "again", 0.8)
    (tmp_path / "usual").mkdir()
    usual = run_reframe(reframe, first_campaign, again, tmp_path / "usual", "--run")
    assert usual.code == 0, usual.output
    (tmp_path / "both").mkdir()
    option = ["-S", "RankbenchNightlyRun7.two_sided=1"]
    result = run_reframe(reframe, first_campaign, again, tmp_path / "both", "--run", *option)
    assert list_failures(result) == {name for name in VARIABLES if name.endswith("beta")}


@pytest.mark.thorough
def test_a_case_that_fails_in_the_new_campaign_fails(
    reframe: Path, first_campaign: EvaluatedCampaign, tmp_path: Path
) -> None:
    result = run_reframe(
        reframe, first_campaign, make_measured(tmp_path / "again", status=CaseStatus.CRASHED), tmp_path, "--run"
    )
    assert result.code == 1
    assert "no value of barrier.blocking.0.byte.socket.window beta" in result.output


# --- without ReFrame --------------------------------------------------------------------------------------------------


def make_value(**changes: object) -> Value:
    fields = {"case": "a.b", "candidate": "alpha", "unit": "ns", "value": 100.0, "low": 90.0, "high": 110.0}
    return msgspec.convert({**fields, **changes}, Value)


def test_references_are_values_with_relative_tolerances(first_campaign: EvaluatedCampaign) -> None:
    values = [
        make_value(),
        make_value(candidate="alpha (again)"),
        make_value(candidate="be:ta", low=None, high=None, value=1 / 3),
        make_value(value=None),
        make_value(candidate="it's", unit="MB/s"),
    ]
    assert list(reframe.list_references(first_campaign.store.campaign, values)) == [
        "'a.b alpha': (100.0, 90.0, 110.0, 'ns'),",
        "'a.b be_ta': (0.3333333, 0.3333333, 0.3333333, 'ns'),",
        "\"a.b it's\": (100.0, 90.0, 110.0, 'MB/s'),",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nightly run-7", "RankbenchNightlyRun7"),
        ("7", "Rankbench7"),
        ("größer", "RankbenchGrEr"),
        ("x_y", "RankbenchXY"),
    ],
)
def test_class_names_are_valid_identifiers(name: str, text: str) -> None:
    assert reframe.class_name(name) == text


def test_plan_texts_are_quoted_in_the_written_test(first_campaign: EvaluatedCampaign, tmp_path: Path) -> None:
    """Stand-ins for ReFrame's names let the test run here; the texts of the plan are read back unchanged."""
    text = 'question = """a \\"quoted\\" $line\n\'\'\' {x} \\n of µs"""\n'
    campaign = first_campaign.store.campaign
    planned = msgspec.structs.replace(campaign.plan, text=text, question="$x 'a' \"b\" \\ \n c")
    (tmp_path / "c").mkdir()
    for name in ("launches", "cases", "samples"):
        (tmp_path / "c" / name).symlink_to(first_campaign.store.folder / name)
    rewrite(tmp_path / "c", msgspec.structs.replace(campaign, plan=planned))
    (path,) = reframe.write(EvaluatedCampaign(store.open(tmp_path / "c")), tmp_path / "x.py")
    source, head, _ = path.read_text(encoding="utf-8").partition("@rfm.simple_test")
    (tmp_path / "head.py").write_text(re.sub(r"^(?:import|from) reframe.*$", "", source, flags=re.MULTILINE))
    assert head
    assert runpy.run_path(str(tmp_path / "head.py"))["PLAN"] == text
    compile(path.read_text(encoding="utf-8"), "x.py", "exec")


@pytest.mark.parametrize("change", ["imported", "text"])
def test_an_imported_campaign_has_no_plan_to_run(first_campaign: EvaluatedCampaign, change: str) -> None:
    campaign = first_campaign.store.campaign
    if change == "imported":
        record = msgspec.structs.replace(campaign, imported=[ImportRecord(file="x", sha256="", tools=[])])
    else:
        record = msgspec.structs.replace(campaign, plan=msgspec.structs.replace(campaign.plan, text=""))
    with pytest.raises(RankbenchError) as error:
        reframe.test(_Evaluation(record))  # type: ignore[arg-type]
    assert str(error.value) == (
        "campaign nightly run-7 was imported; without a plan there is nothing for ReFrame to run"
    )


class _Evaluation(NamedTuple):
    """The part of an evaluation that the test needs."""

    campaign: object
