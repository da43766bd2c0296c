"""The finding on the state of the machine: exact words if it changed, and none otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from fakes import campaigns, verdicts
from fakes.words import render_texts
from wording import WORDING

from rankbench.analysis import evaluation
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text, render
from rankbench.model import Finding, Launch, State, Verdict

ADVICE = (
    "Run more blocks, at a quieter time or on a dedicated machine: on shared hardware, the host moves virtual CPUs."
)


def evaluate_states(
    folder: Path, exchange_ns: Callable[[str, int], tuple[float, float]], launches: int = 6
) -> CampaignView:
    """Evaluate a campaign of two candidates with these states of the machine; beta takes twice as long."""
    store = campaigns.make_campaign(
        folder / "made",
        campaigns.make_slower_beta(2.0),
        launches,
        cases=verdicts.LINE,
        control=False,
        samples=10,
        exchange_ns=exchange_ns,
    )
    return evaluation.evaluate(store)


def list_findings(verdict: Verdict) -> list[Finding]:
    return [finding for finding in verdict.findings if finding.kind == "state"]


def judge_launches(evaluated: CampaignView, change: Callable[[Launch], Launch]) -> list[Finding]:
    """Judge the same values with changed launches."""
    launches = [change(launch) for launch in evaluated.launches]
    return list_findings(verdicts.judge_again(evaluated, control=evaluated.control, launches=launches))


@pytest.fixture(scope="module")
def quiet_view(tmp_path_factory: pytest.TempPathFactory) -> CampaignView:
    return evaluate_states(tmp_path_factory.mktemp("quiet"), lambda _candidate, block: (50.0 + block, 51.0 + block))


def test_one_state_with_little_scatter_is_no_finding(quiet_view: CampaignView) -> None:
    assert list_findings(quiet_view.verdict) == []


def test_blocks_in_another_state_are_reported_and_compared(tmp_path: Path) -> None:
    verdict = evaluate_states(tmp_path, lambda _, block: (210.0, 210.0) if block > 4 else (50.0, 50.0)).verdict
    assert [render_texts(finding) for finding in list_findings(verdict)] == [
        Finding(kind="state", title=Text(WORDING), text=Text(WORDING), advice=Text(ADVICE), cases=[], severity="note")
    ]
    assert {(comparison.blocks, comparison.different) for comparison in verdict.comparisons} == {(6, True)}


def test_a_change_during_a_launch_is_reported_and_the_launch_counts(tmp_path: Path) -> None:
    def choose_exchange_ns(candidate: str, block: int) -> tuple[float, float]:
        return (50.0, 210.0) if (candidate, block) == ("beta", 3) else (50.0, 50.0)

    verdict = evaluate_states(tmp_path, choose_exchange_ns).verdict
    assert [(render(finding.text), finding.severity) for finding in list_findings(verdict)] == WORDING
    assert {(comparison.blocks, comparison.different) for comparison in verdict.comparisons} == {(6, True)}


def test_a_candidate_that_always_had_a_better_machine_is_reported(tmp_path: Path) -> None:
    verdict = evaluate_states(
        tmp_path, lambda candidate, _: (50.0, 50.0) if candidate == "beta" else (210.0, 210.0)
    ).verdict
    favoured, unlike = list_findings(verdict)
    assert (favoured.severity, unlike.severity) == ("warning", "note")
    assert render(favoured.text) == WORDING


# --- stolen time ------------------------------------------------------------------------------------------------------


def test_stolen_time_is_reported_relative_to_the_used_cpus(quiet_view: CampaignView) -> None:
    """A launch of the stand-in lasts 2.5 s on two CPUs: 0.1 s are 2% of that."""

    def change(launch: Launch) -> Launch:
        return msgspec.structs.replace(launch, stolen_s={2: 0.1, 3: 0.11, 7: 0.5}.get(launch.number, 0.0))

    worst = next(launch for launch in quiet_view.launches if launch.number == 7)
    assert [render_texts(finding) for finding in judge_launches(quiet_view, change)] == [
        Finding(
            kind="state",
            title=Text("The hypervisor took CPU time"),
            text=(
                Text(
                    "In 2 of 12 launches the hypervisor took more than 2% of the ranks' CPU time, at most 10.0% "
                    f"(launch 7, {worst.candidate})."
                )
            ),
            advice=Text("Other guests compete for the same CPUs: measure at a quieter time or on a dedicated machine."),
            cases=[],
            severity="warning",
        )
    ]


def test_a_launch_that_did_not_start_has_no_stolen_time(quiet_view: CampaignView) -> None:
    assert (
        judge_launches(
            quiet_view, lambda launch: msgspec.structs.replace(launch, ranks=[], duration_s=0.0, stolen_s=1.0)
        )
        == []
    )


# --- unknown states ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "reason"), [(None, "core --state: reports no state: killed"), (None, ""), (State(cpus=[0, 1]), "")]
)
def test_unknown_states_are_reported_with_the_reason(
    quiet_view: CampaignView, state: State | None, reason: str
) -> None:
    def change(launch: Launch) -> Launch:
        known = launch.number > 4
        return launch if known else msgspec.structs.replace(launch, before=state, after=state, state_reason=reason)

    assert [render_texts(finding) for finding in judge_launches(quiet_view, change)] == [
        Finding(
            kind="state", title=Text(WORDING), text=(Text(WORDING)), advice=Text(WORDING), cases=[], severity="note"
        )
    ]


def test_launches_of_an_older_rankbench_have_no_state(quiet_view: CampaignView) -> None:
    def change(launch: Launch) -> Launch:
        record = msgspec.to_builtins(msgspec.structs.replace(launch, ranks=list(launch.ranks), rank_table=""))
        older = {key: value for key, value in record.items() if key not in {"before", "after", "state_reason"}}
        return msgspec.convert(older, type(launch))

    (finding,) = judge_launches(quiet_view, change)
    assert render(finding.text) == WORDING


def test_a_single_cpu_has_no_exchange(quiet_view: CampaignView) -> None:
    alone = State(cpus=[0])
    assert judge_launches(quiet_view, lambda launch: msgspec.structs.replace(launch, before=alone, after=alone)) == []
