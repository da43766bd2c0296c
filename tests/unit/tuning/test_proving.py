"""The result of a proof agrees with every other report on the same campaign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from fakes import campaigns, mark_thorough
from wording import WORDING

from rankbench.analysis import evaluation
from rankbench.analysis.questions.overall import find_answer
from rankbench.analysis.statistics.looks import ONE_LOOK
from rankbench.cli.display import TerminalProgress
from rankbench.language import render
from rankbench.model import BROKEN, NO_CPU, Case, CaseStatus, Comparison, LaunchStatus, Variant
from rankbench.store import Store
from rankbench.tuning import DEFAULT, LEAST_CHECKED, TUNED, Task, proving, tuners
from rankbench.tuning.choosing import Point, SearchResult
from rankbench.workflows.tuning_steps import Session


def tune_large(name: str, case: Case) -> campaigns.Truth:
    """Tuned, large messages need 0.8 of the time, and small ones almost the same."""
    small = 0.985 if case.operation == "allreduce" else 1.0
    factor = 0.8 if case.size_bytes > 8 else small
    return campaigns.Truth(factor=factor if name == TUNED else 1.0, spread=0.02)


def probe(_candidate: str, block: int) -> tuple[float, float]:
    """Cores are near in every second block."""
    value = 44.0 if block % 2 else 160.0
    return value, value


@pytest.mark.thorough
@pytest.mark.parametrize("states", [(1.0,), (1.0, 1.4)])
def test_a_proof_counts_the_cases_as_the_report_does(tmp_path: Path, states: tuple[float, ...]) -> None:
    store = campaigns.make_campaign(
        tmp_path / "proof", tune_large, 12, candidates=(DEFAULT, TUNED), states=states, exchange_ns=probe
    )
    view = evaluation.evaluate(store)
    proof = proving.read_proof(store)
    outcomes = Counter(
        (comparison.different and (comparison.ratio > 1) - (comparison.ratio < 1), comparison.alike)
        for comparison in view.verdict.comparisons
        if (comparison.base, comparison.other) == (DEFAULT, TUNED)
    )
    faster, slower = outcomes[-1, False], outcomes[1, False]
    equivalent = outcomes[False, True]
    assert sum(outcomes.values()) == len(view.cases)
    assert faster >= len(view.cases) // 2 - 1
    counts = f"faster in {faster}, slower in {slower}, equivalent in {equivalent}, not distinguishable in "
    assert counts + str(outcomes[False, False]) in render(proof.text)
    assert len(proof.faster) == faster


def test_a_proof_has_the_overall_ratio_of_the_answer(tmp_path: Path) -> None:
    store = campaigns.make_campaign(
        tmp_path / "proof", tune_large, 12, candidates=(DEFAULT, TUNED), states=(1.0, 1.4), exchange_ns=probe
    )
    answer = find_answer(evaluation.evaluate(store), ONE_LOOK)
    proof = proving.read_proof(store)
    assert answer is not None
    assert answer.best == TUNED
    slower = answer.ratios[DEFAULT]
    assert proof.overall[:3] == pytest.approx((1 / slower.mean, 1 / slower.high, 1 / slower.low))
    assert proof.significant


def test_a_proof_with_too_few_blocks_has_counts_only(tmp_path: Path) -> None:
    store = campaigns.make_campaign(tmp_path / "proof", tune_large, 1, candidates=(DEFAULT, TUNED))
    proof = proving.read_proof(store)
    assert render(proof.text) == WORDING
    assert not proof.significant


def break_tuned(status: CaseStatus) -> Callable[[str, Case], campaigns.Truth]:
    """Return a truth in which one case of the tuned library ends badly in a third of its launches."""

    def truth(name: str, case: Case) -> campaigns.Truth:
        broken = name == TUNED and case == campaigns.make_cases("socket")[0]
        return campaigns.Truth(
            factor=0.8 if name == TUNED else 1.0, status=status if broken else CaseStatus.OK, status_share=0.3
        )

    return truth


@pytest.mark.parametrize("status", [BROKEN[0], *map(mark_thorough, BROKEN[1:])])
def test_a_fault_of_the_tuned_library_in_any_launch_is_in_the_proof(tmp_path: Path, status: CaseStatus) -> None:
    store = campaigns.make_campaign(tmp_path / "proof", break_tuned(status), 12, candidates=(DEFAULT, TUNED))
    proof = proving.read_proof(store)
    assert proof.significant
    ((case, fault, reason),) = proof.faults
    assert (case, fault) == (campaigns.make_cases("socket")[0], status)
    assert reason == campaigns.REASONS[status]


@pytest.mark.parametrize(
    "status", [CaseStatus.REFUSED, *map(mark_thorough, [CaseStatus.LACKING, CaseStatus.NOT_AS_ASKED])]
)
def test_a_cause_outside_of_the_library_is_no_fault(tmp_path: Path, status: CaseStatus) -> None:
    store = campaigns.make_campaign(tmp_path / "proof", break_tuned(status), 12, candidates=(DEFAULT, TUNED))
    assert not proving.read_proof(store).faults


def test_a_launch_that_had_no_cpu_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(campaigns.REASONS, CaseStatus.HUNG, f"{NO_CPU}: each rank waited")
    store = campaigns.make_campaign(tmp_path / "proof", break_tuned(CaseStatus.HUNG), 12, candidates=(DEFAULT, TUNED))
    assert not proving.read_proof(store).faults


def test_a_launch_that_failed_outside_of_its_cases_is_a_fault(tmp_path: Path) -> None:
    store = campaigns.make_campaign(tmp_path / "proof", tune_large, 3, candidates=(DEFAULT, TUNED))
    for number, name in ((101, DEFAULT), (102, TUNED)):
        launch = campaigns.make_launch(number, 4, 0, name, "socket")
        failed = msgspec.structs.replace(launch, status=LaunchStatus.REFUSED, reason="did not start: exit code 1")
        store.append(failed, [])
    (fault,) = proving.read_proof(store).faults
    assert fault == (None, LaunchStatus.REFUSED, WORDING)


def test_a_proof_counts_the_calls_that_were_checked(tmp_path: Path) -> None:
    store = campaigns.make_campaign(tmp_path / "proof", tune_large, 4, candidates=(DEFAULT, TUNED))
    counts = dict(proving.read_proof(store).checked)
    assert counts == dict.fromkeys(campaigns.make_cases("socket"), 400)


class Steps:
    """Stands for the campaigns of a tuning: a function of the step's name gives the result of each."""

    def __init__(self, folder: Path, truth: Callable[[str], Callable[[str, Case], campaigns.Truth]]) -> None:
        self.folder, self.truth, self.names = folder, truth, list[str]()
        self.progress = TerminalProgress()

    def __call__(self, name: str, _values: object, _rules: object, _examine: object) -> Store:
        self.names.append(name)
        truth = self.truth(name)
        return campaigns.make_campaign(
            self.folder / name, truth, 12, candidates=(DEFAULT, TUNED), cases=CASES, samples=LEAST_CHECKED
        )

    def is_over(self, _share: float = 1.0) -> bool:
        return False


CASES = [case for case in campaigns.make_cases("socket") if case.operation == "allreduce" and case.form == "blocking"]
RING = Variant(name="ring", settings={"A": "ring"}, algorithm="4")
SEARCH_TASK = Task("openmpi", ["allreduce"], sorted(campaigns.SIZES), {"socket": 2}, 0.03, {"allreduce": [RING]})


def make_ratio(value: float) -> Comparison:
    """Return a significant ratio."""
    return Comparison(
        case="", base=DEFAULT, other="ring", blocks=8, ratio=value, low=value - 0.01, high=value + 0.01,
        p_value=0.0, p_adjusted=0.0, different=True, alike=False,
    )  # fmt: skip


def tune(
    tmp_path: Path, truth: Callable[[str], Callable[[str, Case], campaigns.Truth]], monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], list[object]]:
    """Return the steps of a tuning with one fast variant, and what it hands over."""
    handover: list[object] = []
    library = msgspec.structs.replace(campaigns.make_library("openmpi"), name="openmpi-5.0.11", version="5.0.11")
    steps = Steps(tmp_path, truth)
    session = Session(library, tuners.find_tuner(library), tuners.Target("", {}, "5.0.11"), steps, 8)  # type: ignore[arg-type]
    points = {Point("socket", "allreduce", size, "ring"): make_ratio(0.8) for size in campaigns.SIZES}
    monkeypatch.setattr(Session, "search", lambda _session, task: (task, SearchResult(points)))
    monkeypatch.setattr(Session, "hand_over", lambda _session, *arguments: handover.extend(arguments))
    session.conclude(SEARCH_TASK)
    return steps.names, handover


def make_faster(_step: str) -> Callable[[str, Case], campaigns.Truth]:
    return lambda name, _case: campaigns.Truth(factor=0.8 if name == TUNED else 1.0)


def test_the_effect_of_settings_is_checked_where_no_variant_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, handover = tune(tmp_path, make_faster, monkeypatch)
    assert names == ["check", "proof-1"]
    assert handover


def test_settings_without_effect_are_not_proven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, handover = tune(tmp_path, lambda _: campaigns.make_equal_truth, monkeypatch)
    assert (names, handover) == (["check"], [])


@pytest.mark.thorough
@pytest.mark.parametrize("step", ["check", "proof-1"])
@pytest.mark.parametrize("status", [BROKEN[0], *map(mark_thorough, BROKEN[1:])])
def test_a_fault_in_any_step_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], step: str, status: CaseStatus
) -> None:
    def truth(name: str) -> Callable[[str, Case], campaigns.Truth]:
        faulty = campaigns.Truth(factor=0.8, status=status, status_share=0.2)
        usual = make_faster(name)
        return lambda candidate, case: faulty if name == step and candidate == TUNED else usual(candidate, case)

    names, handover = tune(tmp_path, truth, monkeypatch)
    assert (names[-1], handover) == (step, [])
    assert "ring cannot be used" in " ".join(capsys.readouterr().out.split())
