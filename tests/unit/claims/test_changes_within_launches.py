"""Findings on what changes within launches: times that drift, and memory that grows."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
from fakes import campaigns
from wording import WORDING, find_lines

from rankbench import store
from rankbench.analysis import evaluation
from rankbench.language import render
from rankbench.model import CaseResult, Finding, Visit
from rankbench.store import Store

CASES = [case for case in campaigns.make_cases("socket") if case.operation == "allreduce" and case.form == "blocking"]
PASSES = 5


def make_campaign(folder: Path, change: Callable[[str, CaseResult], CaseResult], blocks: int = 8) -> Store:
    """Return a campaign of equal candidates, of which each result is changed."""
    record = campaigns.make_record(folder.name, CASES, ("alpha", "beta"), control=False)
    plan = msgspec.structs.replace(record.plan, sampling=msgspec.structs.replace(record.plan.sampling, passes=PASSES))
    campaign = store.create(folder, msgspec.structs.replace(record, plan=plan))
    draws = campaigns.Draw(campaigns.make_equal_truth, np.random.default_rng(4), (1.0,), 100)
    numbers = itertools.count(1)
    for block, position, name, place in campaigns.list_turns(record, blocks):
        results = [change(name, result) for result in draws.draw_results(block, name, CASES)]
        campaign.append(campaigns.make_launch(next(numbers), block, position, name, place), results)
    return campaign


def make_slower(*names: str, factor: float = 1.2) -> Callable[[str, CaseResult], CaseResult]:
    """Return a change: the times of these candidates grow evenly from the first visit to the last."""

    def change(name: str, result: CaseResult) -> CaseResult:
        (column,) = result.series
        each = len(column.time_ns) // PASSES
        growth_ns = [
            factor ** (index // each / (PASSES - 1)) if name in names else 1.0 for index in range(each * PASSES)
        ]
        times = [time_ns * grown for time_ns, grown in zip(column.time_ns, growth_ns, strict=True)]
        visits = [Visit(each)] * PASSES
        return msgspec.structs.replace(result, series=[msgspec.structs.replace(column, time_ns=times, visits=visits)])

    return change


def make_leaking(bytes_: int) -> Callable[[str, CaseResult], CaseResult]:
    """Return a change: the memory of beta grows in every visit of the larger size."""

    def change(name: str, result: CaseResult) -> CaseResult:
        leaks = name == "beta" and result.case.size_bytes > 8
        return msgspec.structs.replace(result, leaked_bytes=bytes_ if leaks else 4096)

    return change


def find(kind: str, campaign: Store) -> list[Finding]:
    return [finding for finding in evaluation.evaluate(campaign).verdict.findings if finding.kind == kind]


def test_a_library_that_becomes_slower_within_a_launch_is_found(tmp_path: Path) -> None:
    (finding,) = find("drift", make_campaign(tmp_path / "c", make_slower("beta")))
    text = render(finding.text)
    assert "beta come to take 1.2" in text
    assert text == WORDING
    assert finding.severity == "warning"
    assert sorted(finding.cases) == sorted(case.key for case in CASES)


def test_a_machine_that_becomes_slower_is_named_as_such(tmp_path: Path) -> None:
    first, second = find("drift", make_campaign(tmp_path / "c", make_slower("alpha", "beta")))
    for finding in (first, second):
        assert render(finding.text) == WORDING
        assert finding.severity == "note"


@pytest.mark.parametrize("change", [make_slower(), make_slower("beta", factor=1.01)])
def test_steady_times_are_no_finding(tmp_path: Path, change: Callable[[str, CaseResult], CaseResult]) -> None:
    assert find("drift", make_campaign(tmp_path / "c", change)) == []


def test_a_library_that_leaks_is_found(tmp_path: Path) -> None:
    (finding,) = find("growth", make_campaign(tmp_path / "c", make_leaking(20 << 16)))
    text = render(finding.text)
    assert find_lines(text, "grew in every visit of") == WORDING
    assert find_lines(text, "64.0 KiB per call") == WORDING
    assert finding.cases == [CASES[1].key]


def test_a_page_now_and_then_is_no_leak(tmp_path: Path) -> None:
    assert find("growth", make_campaign(tmp_path / "c", make_leaking(8192))) == []
