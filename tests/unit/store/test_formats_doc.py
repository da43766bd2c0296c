"""`docs/reference/formats.md`: its examples run on a campaign and agree with rankbench; no column or key is missing."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import polars as pl
import pytest
from fakes import add_columns, campaigns
from fakes.campaigns import Truth, make_campaign

from rankbench import samples
from rankbench.across import trend
from rankbench.across.conditions import Match, Probes
from rankbench.across.gate import Check
from rankbench.across.trend import Point, Turn
from rankbench.across.two_campaigns import CampaignComparison, Change, LevelChange, Remark
from rankbench.analysis.evaluation import evaluate
from rankbench.cli.commands.gate import Gate
from rankbench.model import (
    ALL_RANKS,
    ROTATING,
    Amount,
    Campaign,
    Candidate,
    Case,
    CaseResult,
    CaseStatus,
    Comparison,
    Evidence,
    Exchange,
    Launch,
    LaunchFacts,
    Library,
    Machine,
    Memory,
    Operation,
    Option,
    RankFact,
    Receipt,
    ReceiveStatus,
    Sampling,
    Series,
    SourceFact,
    Start,
    State,
    StatusPair,
    Summary,
    Verdict,
    list_columns,
)
from rankbench.store import Store, tables

ROOT = Path(__file__).parents[3]
DOC = (ROOT / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
COLUMNS = (ROOT / "docs" / "reference" / "columns.md").read_text(encoding="utf-8")


CLOCK_STEP = 0.005
"""Relative to the times here; within a step of the clock rankbench interpolates, the examples do not."""


def list_code_blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOC, re.DOTALL | re.MULTILINE)


def read_section(title: str) -> str:
    return DOC.split(f"\n## {title}\n")[1].split("\n## ")[0]


@pytest.fixture
def campaign_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A campaign with a crash, late samples, samples of single ranks and the leftovers of a killed launch.

    Its folder is the current one.
    """

    def make_truth(candidate: str, case: Case) -> Truth:
        crashed = candidate == "beta" and case.operation == "barrier"
        return Truth(late_share=0.2, status=CaseStatus.CRASHED if crashed else CaseStatus.OK)

    campaign_store = make_campaign(tmp_path / "c", make_truth, launches=3, samples=20)
    monkeypatch.chdir(campaign_store.folder)
    number = len(campaign_store.launches()) + 1
    views = [Series(rank=rank, time_ns=[1e12] * 1000, last_rank=[], late=[], overrun=[]) for rank in (0, 1)]
    column = Series(rank=ALL_RANKS, time_ns=[501.0] * 20, last_rank=[], late=[], overrun=[])
    case = next(case for case in campaign_store.campaign.cases if case.operation == "barrier")
    for added, series in enumerate(([column, *views], views)):
        result = CaseResult(case=case, status=CaseStatus.OK, series=series)
        campaign_store.append(campaigns.make_launch(number + added, 3, 0, "alpha", "socket"), [result])
    (campaign_store.folder / f"launches/{number + 1:06}.json").unlink()
    return campaign_store


def test_the_example_agrees_with_rankbench(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, pl.DataFrame] = {}
    exec(list_code_blocks("python")[0], names)
    typical = {(case, name): (time_ns, launches) for case, name, time_ns, launches in names["typical"].iter_rows()}
    summaries = {
        (summary.case, summary.candidate): (pytest.approx(summary.typical_ns, rel=CLOCK_STEP), summary.launches)
        for summary in evaluate(campaign_store).verdict.summaries
        if summary.launches
    }
    assert len(summaries) == 26
    assert typical == summaries
    assert "typical_ns" in capsys.readouterr().out


def test_every_file_of_a_campaign_is_described(campaign_store: Store) -> None:
    campaign_store.lock()
    text = read_section("The folder")
    for path in campaign_store.folder.iterdir():
        assert f"`{path.name}" in text, path.name


def test_columns_are_listed() -> None:
    of_cases, of_samples = (
        re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) for text in (COLUMNS, read_section("Columns of `samples`"))
    )
    assert of_cases == list(tables.CASE_COLUMNS)
    assert [*of_cases[:13], *of_samples] == list(tables.SAMPLE_COLUMNS)


def test_a_column_is_defined_in_the_core_s_stream_and_at_its_field_only() -> None:
    """The last column shows the files of a new one: its measurement, the stream, the field, the row."""
    naming = {
        path.relative_to(ROOT).as_posix()
        for folder, pattern in (("core", "*.[ch]"), ("src/rankbench", "*.py"))
        for path in (ROOT / folder).rglob(pattern)
        if re.search(r"measurement->tolerance_ns|into->tolerance_ns|^    tolerance_ns:", path.read_text(), re.MULTILINE)
    }
    assert naming == {"core/timing/steering.c", "core/output/stream.c", "src/rankbench/model/launches.py"}


def test_the_core_streams_every_column_marked_as_streamed() -> None:
    writer = (ROOT / "core" / "output/stream.c").read_text(encoding="utf-8")
    streamed = {field: column.column for field, column in list_columns(CaseResult).items() if column.column.streamed}
    names = [column.stream_name or field for field, column in streamed.items()]
    assert [name for name in names if f'\\"{name}\\"' not in writer and f'"{name}"' not in writer] == []


def test_every_status_is_described() -> None:
    for status in CaseStatus:
        assert f"`{status}`" in COLUMNS


@pytest.mark.parametrize(
    ("title", "record"),
    [
        *(
            ("`campaign.json`", kind)
            for kind in (
                *(Campaign, Machine, Library, Receipt, Candidate, Case, Memory),
                *(Operation, Amount, Option, Start),
            )
        ),
        *(("`launches/NUMBER.json`", kind) for kind in (Launch, LaunchFacts, RankFact, SourceFact, State, Exchange)),
        ("`evidence/NUMBER-ROW.json`", Evidence),
        ("`evidence/NUMBER-ROW.json`", ReceiveStatus),
        ("`evidence/NUMBER-ROW.json`", StatusPair),
        *(("Derived files", kind) for kind in (Summary, Comparison, Verdict)),
        *(
            ("JSON of commands", kind)
            for kind in (
                Gate,
                Check,
                trend.Series,
                Point,
                Turn,
                CampaignComparison,
                Change,
                LevelChange,
                Match,
                Probes,
                Remark,
            )
        ),
    ],
)
def test_every_key_is_described(title: str, record: type[msgspec.Struct]) -> None:
    assert [name for name in record.__struct_encode_fields__ if f"`{name}`" not in read_section(title)] == []


CASE = next(case for case in campaigns.make_cases() if case.operation == "allreduce" and case.size_bytes == 8)


def test_the_job_of_the_examples_is_that_of_rankbench(tmp_path: Path) -> None:
    """The first example is of a usual plan, the second has every key."""
    usual = campaigns.make_plan(["alpha"], ["socket"], control=False, seed=1, samples=100)
    usual = msgspec.structs.replace(usual, case_limit_s=0.5, launch_limit_s=60)
    case = next(case for case in campaigns.make_cases(lines=[("reduce", "blocking")]) if case.size_bytes == 65536)
    memory = Memory(cache="cold", buffers="in-place", pages="huge", alignment=64, root=ROTATING)
    every = msgspec.structs.replace(
        usual,
        clock="tsc",
        synchronisation="ring",
        every_rank=True,
        each_call=True,
        sampling=Sampling(good=30, tries=100, rse=0.05, interval=0.02, least=12, fill_s=0.01),
    )
    options = {"arrival": "random", "reduction": "max", "spread_us": "50"}
    jobs = [(usual, CASE), (every, msgspec.structs.replace(case, memory=memory, options=options))]
    for (plan, wanted), block in zip(jobs, list_code_blocks("job"), strict=True):
        samples.write_job(tmp_path / "job.txt", [wanted], plan)
        assert block == (tmp_path / "job.txt").read_text()


def test_the_stream_of_the_examples_is_read_by_rankbench(tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    lines = list_code_blocks("stream")[0].splitlines()
    path.write_text("".join(f"{add_columns(line)}\n" for line in lines))
    stream = samples.read(path, [CASE])
    assert stream.complete
    assert [rank.rank for rank in stream.ranks] == [0, 1]
    (result,) = stream.results
    series = result.own_series
    assert series is not None
    assert (result.sample_count, result.valid, result.late, result.overrun) == (
        3,
        2,
        len(series.late),
        len(series.overrun),
    )
    assert [len(column.time_ns) for column in result.series] == [len(series.skew_ns)] * 3
    assert {column.rank for column in result.series} == {-1, 0, 1}
