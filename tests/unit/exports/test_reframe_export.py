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

CASES = campaigns.cases_of(lines=[("barrier", "blocking"), ("bandwidth", "nonblocking")])
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
    """Return a campaign in which beta takes so often what it takes elsewhere, or ends so in barriers."""

    def truth(candidate: str, case: Case) -> Truth:
        ends = status if (candidate, case.operation) == ("beta", "barrier") else CaseStatus.OK
        return Truth(factor=factor if candidate == "beta" else 1.0, spread=0.001, status=ends)

    return EvaluatedCampaign(campaigns.make_campaign(folder, truth, 6, samples=20, cases=CASES))


class Run(NamedTuple):
    """The output of ReFrame, and how it ended."""

    code: int
    output: str


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory) -> EvaluatedCampaign:
    """Return the campaign that later ones are held against."""
    return make_measured(tmp_path_factory.mktemp("first") / "nightly run-7")


def run(reframe_folder: Path, first: EvaluatedCampaign, again: EvaluatedCampaign, folder: Path, *options: str) -> Run:
    """Let ReFrame run the test of a campaign where the plan, run again, gives another one."""
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
def test_reframe_knows_the_test(reframe: Path, first: EvaluatedCampaign, tmp_path: Path) -> None:
    result = run(reframe, first, first, tmp_path, "--list-detailed")
    assert result.code == 0, result.output
    assert re.search(r"^- RankbenchNightlyRun7 /\w+$", result.output, re.MULTILINE), result.output
    assert (
        "rankbench: Is alpha faster than beta? (campaign nightly run-7 of 2026-11-21T00:00:00+00:00)" in result.output
    )
    assert "Found 1 check(s)" in result.output


@pytest.mark.thorough
def test_what_is_as_it_was_passes(reframe: Path, first: EvaluatedCampaign, tmp_path: Path) -> None:
    result = run(reframe, first, make_measured(tmp_path / "again", 1.01), tmp_path, "--run", "--performance-report")
    assert result.code == 0, result.output
    assert (
        "Ran 1/1 test case(s) from 1 check(s) (0 failure(s), 0 expected failure(s), 0 skipped, 0 aborted)"
        in result.output
    )
    for name, unit in VARIABLES.items():
        assert re.search(rf"{re.escape(name)}\W+[\d.]+\W+{unit}", result.output), name
    output = tmp_path / "out" / "output" / "generic" / "default" / "builtin" / "RankbenchNightlyRun7"
    assert {path.name for path in output.iterdir()} >= {"campaign.json", "plan.toml", "campaign"}


def failures(result: Run) -> set[str]:
    """Return the variables that did not meet their references."""
    assert result.code == 1, result.output
    return set(re.findall(r"^\s*(\S+ \S+)=[\d.]+ \S+, expected [\d.]+ \(l=", result.output, re.MULTILINE))


@pytest.mark.thorough
def test_what_is_slower_fails(reframe: Path, first: EvaluatedCampaign, tmp_path: Path) -> None:
    result = run(reframe, first, make_measured(tmp_path / "again", 1.2), tmp_path, "--run")
    assert failures(result) == {name for name in VARIABLES if name.endswith("beta")}


@pytest.mark.thorough
def test_how_much_slower_can_be_said(reframe: Path, first: EvaluatedCampaign, tmp_path: Path) -> None:
    result = run(reframe, first, make_measured(tmp_path / "again", 1.2), tmp_path, "--run", "-S", "slack=0.25")
    assert result.code == 0, result.output


@pytest.mark.thorough
def test_what_is_faster_fails_only_where_asked(reframe: Path, first: EvaluatedCampaign, tmp_path: Path) -> None:
    again = make_measured(tmp_path / "again", 0.8)
    (tmp_path / "usual").mkdir()
    usual = run(reframe, first, again, tmp_path / "usual", "--run")
    assert usual.code == 0, usual.output
    (tmp_path / "both").mkdir()
    option = ["-S", "RankbenchNightlyRun7.two_sided=1"]
    result = run(reframe, first, again, tmp_path / "both", "--run", *option)
    assert failures(result) == {name for name in VARIABLES if name.endswith("beta")}


@pytest.mark.thorough
def test_what_works_no_more_fails(reframe: Path, first: EvaluatedCampaign, tmp_path: Path) -> None:
    result = run(reframe, first, make_measured(tmp_path / "again", status=CaseStatus.CRASHED), tmp_path, "--run")
    assert result.code == 1
    assert "no value of barrier.blocking.0.byte.socket.window beta" in result.output


# --- without ReFrame --------------------------------------------------------------------------------------------------


def value(**changes: object) -> Value:
    fields = {"case": "a.b", "candidate": "alpha", "unit": "ns", "value": 100.0, "low": 90.0, "high": 110.0}
    return msgspec.convert({**fields, **changes}, Value)


def test_references(first: EvaluatedCampaign) -> None:
    values = [
        value(),
        value(candidate="alpha (again)"),
        value(candidate="be:ta", low=None, high=None, value=1 / 3),
        value(value=None),
        value(candidate="it's", unit="MB/s"),
    ]
    assert list(reframe.list_references(first.store.campaign, values)) == [
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
def test_names_of_classes(name: str, text: str) -> None:
    assert reframe.class_name(name) == text


def test_texts_of_a_plan_cannot_break_the_file(first: EvaluatedCampaign, tmp_path: Path) -> None:
    """Stand-ins for ReFrame's names let it be run here; what the plan holds comes out as it went in."""
    text = 'question = """a \\"quoted\\" $line\n\'\'\' {x} \\n of µs"""\n'
    campaign = first.store.campaign
    planned = msgspec.structs.replace(campaign.plan, text=text, question="$x 'a' \"b\" \\ \n c")
    (tmp_path / "c").mkdir()
    for name in ("launches", "cases", "samples"):
        (tmp_path / "c" / name).symlink_to(first.store.folder / name)
    rewrite(tmp_path / "c", msgspec.structs.replace(campaign, plan=planned))
    (path,) = reframe.write(EvaluatedCampaign(store.open(tmp_path / "c")), tmp_path / "x.py")
    source, head, _ = path.read_text(encoding="utf-8").partition("@rfm.simple_test")
    (tmp_path / "head.py").write_text(re.sub(r"^(?:import|from) reframe.*$", "", source, flags=re.MULTILINE))
    assert head
    assert runpy.run_path(str(tmp_path / "head.py"))["PLAN"] == text
    compile(path.read_text(encoding="utf-8"), "x.py", "exec")


@pytest.mark.parametrize("change", ["imported", "text"])
def test_what_was_imported_has_no_plan_to_run(first: EvaluatedCampaign, change: str) -> None:
    campaign = first.store.campaign
    if change == "imported":
        record = msgspec.structs.replace(campaign, imported=[ImportRecord(file="x", sha256="", tools=[])])
    else:
        record = msgspec.structs.replace(campaign, plan=msgspec.structs.replace(campaign.plan, text=""))
    with pytest.raises(RankbenchError) as error:
        reframe.test(_Told(record))  # type: ignore[arg-type]
    assert str(error.value) == (
        "campaign nightly run-7 was imported; without a plan there is nothing for ReFrame to run"
    )


class _Told(NamedTuple):
    """Of an evaluation, the campaign."""

    campaign: object
