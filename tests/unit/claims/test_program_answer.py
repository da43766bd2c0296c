"""What the calls of a recorded program mean for the program, and whether what was measured agrees."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import polars as pl
import pytest
from fakes import campaigns, recorded_programs, verdicts
from wording import WORDING, find_lines

from rankbench.analysis.claims import program_answer
from rankbench.analysis.claims.findings import thread_level
from rankbench.analysis.claims.program_answer import ProgramAnswer
from rankbench.analysis.questions import thread_levels
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render
from rankbench.model import Calls, Case, Recorded, Uncovered

LINE = campaigns.make_cases(lines=[("allreduce", "blocking")], sizes=(8,))
(BARRIER,) = campaigns.make_cases(lines=[("barrier", "blocking")])
PROGRAM = msgspec.structs.replace(BARRIER, suite="program")
"""It stands for a program that was measured, too."""
CALL_S = (500 + 8 / 4) * 1e-9
"""The time of an allreduce of alpha, of which there are a million in a program of two seconds."""
MILLION = 1e6


def make_view(folder: Path, beta: float, program: float = 0.0, **changes: object) -> CampaignView:
    """Return the view of a campaign in which beta needs a multiple of alpha's time for a call, and for the program."""

    def find_factor(candidate: str, case: Case) -> float:
        return {"allreduce": beta, "barrier": program}[case.operation] if candidate == "beta" else 1.0

    cases = [*LINE, *([PROGRAM] if program else [])]
    view = verdicts.evaluate(folder, find_factor, candidates=("alpha", "beta"), cases=cases)
    seconds = MILLION * CALL_S
    recorded = Recorded(
        file="/record.json", library=view.campaign.candidates[0].library, ranks=2, seconds=2.0, mpi_s=seconds
    )
    calls = [Calls("allreduce", 8, MILLION, "blocking", ranks=2, seconds=seconds)]
    plan = msgspec.structs.replace(
        view.campaign.plan, calls=calls, profile=msgspec.structs.replace(recorded, **changes)
    )
    return dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, plan=plan))


def answer(view: CampaignView) -> ProgramAnswer:
    result = program_answer.find_answer(view)
    assert result
    return result


def describe(view: CampaignView) -> str:
    texts = [*program_answer.describe_answer(view, answer(view)), *program_answer.describe_truth(view, answer(view))]
    return " ".join(map(render, texts))


def test_without_a_record_there_is_no_prediction(tmp_path: Path) -> None:
    view = verdicts.evaluate(tmp_path, lambda _candidate, _case: 1.0, cases=LINE)
    assert program_answer.find_answer(view) is None


def test_only_the_time_of_calls_depends_on_the_library(tmp_path: Path) -> None:
    view = make_view(tmp_path, 2.0)
    alpha, beta = answer(view).predictions
    assert (alpha.candidate, beta.candidate) == ("alpha", "beta")
    assert beta.ratio
    assert beta.ratio.value == pytest.approx((2 + MILLION * CALL_S) / 2, rel=1e-3)
    assert alpha.mpi_s.value == pytest.approx(MILLION * CALL_S, rel=1e-3)
    assert beta.measured is None
    assert find_lines(describe(view), "Predicted run time against") == WORDING
    assert "rankbench tune alpha --profile /record.json" in describe(view)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 3.0), (1.5, 3.0), (1.0, 1.01)])
def test_the_cost_of_threads_that_a_program_does_not_use_is_named(tmp_path: Path, alpha: float, beta: float) -> None:
    """It is found by calls that were measured with MPI_THREAD_MULTIPLE and without, and only where it is sure."""
    with_threads = [msgspec.structs.replace(case, options={"thread_level": "multiple"}) for case in LINE]
    view = verdicts.evaluate(
        tmp_path,
        lambda name, case: {"alpha": alpha, "beta": beta}[name] if case.options else 1.0,
        candidates=("alpha", "beta"),
        cases=[*LINE, *with_threads],
    )
    texts = " ".join(map(render, program_answer.describe_thread_level(view)))
    reports = list(thread_level.find(view))
    slower = [name for name, ratio in (("alpha", alpha), ("beta", beta)) if ratio > 1 + view.campaign.plan.threshold]
    assert [finding.title.fields["name"].fields["name"] for finding in reports] == slower
    assert texts == WORDING
    assert [render(finding.text) for finding in reports] == WORDING


def test_a_change_of_the_machine_is_no_cost_of_threads(tmp_path: Path) -> None:
    """The two are measured one after the other, so that cores may be near for one and far for the other."""
    with_threads = [msgspec.structs.replace(case, options={"thread_level": "multiple"}) for case in LINE]
    view = verdicts.evaluate(tmp_path, lambda _name, _case: 1.0, cases=[*LINE, *with_threads], launches=8)
    is_far = pl.col("case").str.contains("multiple") & (pl.col("block") > 2)
    values = view.launch_values.with_columns(
        figure_ns=pl.when(is_far).then(pl.col("figure_ns") * 3).otherwise("figure_ns"),
        visit_hop_ns=pl.concat_list(pl.when(is_far).then(160.0).otherwise(40.0)),
    )
    costs = thread_levels.compare_levels(dataclasses.replace(view, launch_values=values))
    assert costs == []
    costs = thread_levels.compare_levels(dataclasses.replace(view, launch_values=values.drop("visit_hop_ns")))
    assert [cost.ratio.blocks for cost in costs] == [8, 8, 8]


def test_a_short_run_is_named_as_such(tmp_path: Path) -> None:
    """What happens once in a run is no call of the record."""
    text = describe(make_view(tmp_path, 1.25, 1.9, seconds=0.6))
    assert find_lines(text.replace(". ", ".\n"), "only 600 ms") == WORDING
    assert "Likely: connecting and first calls, in so short a run" in text
    assert "only" not in describe(make_view(tmp_path / "long", 1.25, 1.9, seconds=1.5))


def test_nothing_is_predicted_where_times_of_threads_are_added_up(tmp_path: Path) -> None:
    """More time in MPI than the run took says nothing of how long the run would take."""
    view = make_view(tmp_path, 1.25, 1.9, mpi_s=2.5)
    assert [entry.ratio for entry in answer(view).predictions] == [None, None]
    assert find_lines(describe(view).replace(". ", ".\n"), "times of threads") == WORDING


def test_nothing_is_predicted_for_ranks_that_share_cores(tmp_path: Path) -> None:
    """Waiting for the system's turns is most of a call then, and another part of it in a program."""
    view = make_view(tmp_path, 1.25, 1.9, seconds=1.5)
    machine = msgspec.structs.replace(view.campaign.machine, cores=1)
    text = describe(dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, machine=machine)))
    assert find_lines(text.replace(". ", ".\n"), "share cores") == WORDING
    assert "Predicted run time" not in text
    assert "The prediction misses" not in text


@pytest.mark.parametrize(("rooted", "share"), [(True, 0.8), (False, 1.0)])
def test_a_run_adds_up_the_mean_calls_of_the_mean_rank(tmp_path: Path, share: float, *, rooted: bool) -> None:
    """A fifth of alpha's calls take six times as long: the mean is twice the median.

    A rank that leaves early is out of MPI earlier only where it need not wait for the others in the next call.
    """
    view = make_view(tmp_path, 2.0)
    rows = view.case_rows.with_columns(rank_share=pl.lit(0.8))
    is_slow = (pl.col("candidate") == "alpha") & (pl.int_range(pl.len()).over("case", "candidate", "launch") % 5 == 0)
    time_ns = pl.when(is_slow).then(6 * pl.col("time_ns")).otherwise(pl.col("time_ns"))
    operations = [msgspec.structs.replace(operation, rooted=rooted) for operation in view.campaign.operations]
    campaign = msgspec.structs.replace(view.campaign, operations=operations)
    samples = view.samples.with_columns(time_ns=time_ns)
    slow = dataclasses.replace(view, campaign=campaign, case_rows=rows, samples=samples)
    alpha, beta = answer(slow).predictions
    assert alpha.mpi_s.value == pytest.approx(share * 2 * MILLION * CALL_S, rel=1e-3)
    assert beta.mpi_s.value == pytest.approx(share * 2 * MILLION * CALL_S, rel=1e-3)
    assert beta.ratio
    assert beta.ratio.value == pytest.approx(1.0, rel=1e-3)


def test_waiting_is_no_fault_of_a_library(tmp_path: Path) -> None:
    mpi_s = MILLION * CALL_S
    view = make_view(tmp_path, 1.05, mpi_s=mpi_s + 1, waiting_s=1.0)
    text = describe(view)
    assert "67% of that was waiting" in text
    assert "Mostly waiting" in text
    assert find_lines(text, "less than 3% between") == WORDING


def test_uncovered_calls_are_named_with_their_share(tmp_path: Path) -> None:
    view = make_view(tmp_path, 2.0, uncovered=[Uncovered("MPI_Comm_split: nothing corresponds to it", 0.2)])
    assert find_lines(describe(view), "stand for 80% of") == WORDING


@pytest.mark.parametrize(("program", "misses"), [(1.25, False), (1.02, True), (1.9, True)])
def test_a_miss_is_reported_with_its_likely_reason(program: float, tmp_path: Path, *, misses: bool) -> None:
    text = describe(make_view(tmp_path, 2.0, program))
    assert text == WORDING
    assert ("Likely: " in text) == misses


def test_a_recorded_time_that_is_far_off_is_a_miss(tmp_path: Path) -> None:
    view = make_view(tmp_path, 2.0, mpi_s=1.9)
    assert find_lines(describe(view), "The time in MPI") == WORDING


def test_recorded_runs_that_differ_are_no_miss_where_one_is_as_predicted(tmp_path: Path) -> None:
    """Of the same program with the same library: the machine changes from minute to minute."""
    view = make_view(tmp_path, 2.0)
    run = recorded_programs.make_run(recorded_programs.make_kind("MPI_Allreduce", seconds=[1.9, 1.9]))
    for runs_s, misses in (([], True), ([0.4, 1.9, 2.5], False), ([1.8, 1.9, 2.5], True)):
        recorded = dataclasses.replace(view, records={"alpha": msgspec.structs.replace(run, runs_mpi_s=runs_s)})
        alpha = answer(recorded).predictions[0]
        assert alpha.recorded == (1.9, min(runs_s, default=1.9), max(runs_s, default=1.9))
        assert alpha.time_misses == misses
        assert ("The time in MPI" in describe(recorded)) == misses
    assert find_lines(describe(recorded).replace(". ", ".\n"), "The time in MPI") == WORDING


def test_the_program_s_data_are_a_reason_where_it_computes_between_calls(tmp_path: Path) -> None:
    view = make_view(tmp_path, 2.0, mpi_s=1.9)
    assert "caches: " not in describe(view)
    plan = view.campaign.plan
    calls = [msgspec.structs.replace(call, options={"gap_us": "25"}, seconds=1.9) for call in plan.calls]
    changed = msgspec.structs.replace(view.campaign, plan=msgspec.structs.replace(plan, calls=calls))
    assert "Likely: caches: the program's data" in describe(dataclasses.replace(view, campaign=changed))


def test_a_call_of_other_ranks_than_any_placement_is_uncovered(tmp_path: Path) -> None:
    view = make_view(tmp_path, 2.0)
    plan = view.campaign.plan
    alone = Calls("allreduce", 8, MILLION, "blocking", ranks=1, seconds=MILLION * CALL_S / 4)
    changed = msgspec.structs.replace(plan, calls=[*plan.calls, alone])
    view = dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, plan=changed))
    assert find_lines(describe(view), "stand for 75% of") == WORDING


def test_the_calls_in_which_candidates_differ_are_named(tmp_path: Path) -> None:
    def find_factor(candidate: str, case: Case) -> float:
        return 2.0 if candidate == "beta" and case.size_bytes == 64 else 1.0

    cases = campaigns.make_cases(lines=[("allreduce", "blocking")], sizes=(8, 64))
    view = verdicts.evaluate(tmp_path, find_factor, candidates=("alpha", "beta"), cases=cases)
    calls = [Calls("allreduce", size, MILLION, "blocking", ranks=2, seconds=0.5) for size in (8, 64)]
    recorded = Recorded(file="/record.json", library="other", ranks=2, seconds=2.0, mpi_s=1.0)
    plan = msgspec.structs.replace(view.campaign.plan, calls=calls, profile=recorded)
    view = dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, plan=plan))
    assert find_lines(describe(view), "Candidates differ most in") == WORDING
    assert "Candidates differ most" not in describe(make_view(tmp_path / "one", 2.0))
