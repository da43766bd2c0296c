"""Candidates that fail from some number of nodes or ranks on: found in exact words where planted, and nowhere else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from fakes import campaigns, verdicts
from fakes.campaigns import Truth
from fakes.words import render_texts
from wording import WORDING

from rankbench.analysis import evaluation
from rankbench.language import Text, render
from rankbench.model import Case, CaseStatus, Finding, Form, Launch, LaunchStatus, Placement

NODES = {f"{nodes}x2": (nodes, 2) for nodes in (1, 2, 4, 8, 12)}
MATRIX = {f"{nodes}x{ranks}": (nodes, ranks) for nodes in (1, 2, 4) for ranks in (1, 2, 4)}
LINES: list[tuple[str, Form]] = [("allreduce", "blocking"), ("bcast", "blocking")]
LOG = "[n1:1] *** Process received signal ***\nnothing else"


def find_limits(
    folder: Path,
    places: dict[str, tuple[int, int]],
    fails: Callable[[str, Case, int, int], CaseStatus | None],
    change: Callable[[Launch], Launch] = lambda launch: launch,
) -> list[Finding]:
    """Return the findings of a campaign of three blocks; `fails` gets candidate, case, nodes and ranks per node."""

    def make_truth(candidate: str, case: Case) -> Truth:
        return Truth(status=fails(candidate, case, *places[case.placement]) or CaseStatus.OK)

    cases = [case for place in places for case in campaigns.make_cases(place, LINES, sizes=(8,))]
    store = campaigns.make_campaign(
        folder / "made", make_truth, 3, cases=cases, placements=list(places), control=False, samples=5
    )
    evaluated = evaluation.evaluate(store)
    placements = [
        Placement(name=name, nodes=nodes, ranks_per_node=ranks, binding="core")
        for name, (nodes, ranks) in places.items()
    ]
    plan = msgspec.structs.replace(evaluated.campaign.plan, placements=placements)
    launches = list(map(change, evaluated.launches))
    finding = verdicts.judge_again(evaluated, launches=launches, plan=plan).findings
    return [limit for limit in finding if limit.kind == "limits"]


def list_keys(places: Sequence[str], operations: Sequence[str]) -> list[str]:
    return [
        case.key
        for place in places
        for case in campaigns.make_cases(place, LINES, sizes=(8,))
        if case.operation in operations
    ]


def test_a_crash_from_some_number_of_nodes_on_is_found(tmp_path: Path) -> None:
    def crash(candidate: str, case: Case, nodes: int, _: int) -> CaseStatus | None:
        return CaseStatus.CRASHED if candidate == "beta" and case.operation == "bcast" and nodes >= 8 else None

    def add_log(launch: Launch) -> Launch:
        crashed = launch.status is LaunchStatus.CRASHED
        return msgspec.structs.replace(launch, log=LOG) if crashed else launch

    (finding,) = find_limits(tmp_path, NODES, crash, add_log)
    assert render_texts(finding) == Finding(
        kind="limits",
        title=Text(WORDING),
        text=Text(WORDING),
        advice=Text(WORDING),
        cases=list_keys(["8x2", "12x2"], ["bcast"]),
        severity="failure",
    )


def make_crashing(always: int, first_launch_on: Sequence[int]) -> Callable[[str, Case, int, int], CaseStatus | None]:
    """Return the truth that beta's bcast always crashes from so many nodes on, and sometimes at some others."""
    launches: Counter[int] = Counter()

    def crash(candidate: str, case: Case, nodes: int, _: int) -> CaseStatus | None:
        if candidate != "beta" or case.operation != "bcast":
            return None
        launches[nodes] += 1
        first = nodes in first_launch_on and launches[nodes] == 1
        return CaseStatus.CRASHED if nodes >= always or first else None

    return crash


def test_numbers_of_nodes_with_occasional_failures_are_distinguished(tmp_path: Path) -> None:
    (finding,) = find_limits(tmp_path, NODES, make_crashing(8, [4]))
    assert render(finding.title) == WORDING
    assert render(finding.text) == WORDING
    assert {key.split(".")[4] for key in finding.cases} == {"4x2", "8x2", "12x2"}


def test_occasional_failures_are_reported_as_such(tmp_path: Path) -> None:
    (finding,) = find_limits(tmp_path, NODES, make_crashing(99, [8, 12]))
    assert render(finding.title) == WORDING
    assert render(finding.text) == WORDING


def test_the_quoted_line_is_the_signal_and_not_an_error_of_the_launcher(tmp_path: Path) -> None:
    hydra = "[proxy:0@n1] HYD_pmcd_pmip_control_cmd_cb (proxy/pmip_cb.c:480): assert (!closed) failed"
    log = f"{hydra}\nsome error\nKILLED BY SIGNAL: 11 (Segmentation fault)"
    (finding,) = find_limits(
        tmp_path, NODES, make_crashing(8, []), lambda launch: msgspec.structs.replace(launch, log=log)
    )
    assert render(finding.text) == WORDING


def test_a_limit_may_be_the_total_number_of_ranks(tmp_path: Path) -> None:
    def hang(candidate: str, _: Case, nodes: int, ranks: int) -> CaseStatus | None:
        return CaseStatus.HUNG if candidate == "alpha" and nodes * ranks >= 8 else None

    (finding,) = find_limits(tmp_path, MATRIX, hang)
    assert render(finding.title) == WORDING
    assert render(finding.text) == WORDING
    assert finding.cases == list_keys(["2x4", "4x2", "4x4"], ["allreduce", "bcast"])


def test_a_limit_may_be_the_number_of_ranks_per_node(tmp_path: Path) -> None:
    def deliver_wrong_data(candidate: str, case: Case, _: int, ranks: int) -> CaseStatus | None:
        bad = candidate == "beta" and case.operation == "allreduce" and ranks >= 4
        return CaseStatus.WRONG_DATA if bad else None

    places = {name: place for name, place in MATRIX.items() if name != "1x4"} | {"16x1": (16, 1), "1x4": (1, 4)}
    (finding,) = find_limits(tmp_path, places, deliver_wrong_data)
    assert render(finding.text) == WORDING


def test_two_kinds_of_failure_are_two_findings(tmp_path: Path) -> None:
    def crash_or_fail(candidate: str, case: Case, nodes: int, _: int) -> CaseStatus | None:
        if candidate == "beta" and case.operation == "bcast" and nodes >= 4:
            return CaseStatus.CRASHED
        return CaseStatus.FAILED if candidate == "beta" and case.operation == "allreduce" and nodes >= 12 else None

    assert [render(limit.title) for limit in find_limits(tmp_path, NODES, crash_or_fail)] == WORDING


def test_a_limit_of_launches_that_do_not_start_is_found(tmp_path: Path) -> None:
    def refuse(candidate: str, _: Case, nodes: int, __: int) -> CaseStatus | None:
        return CaseStatus.REFUSED if candidate == "beta" and nodes >= 8 else None

    def refuse_start(launch: Launch) -> Launch:
        if launch.candidate != "beta" or launch.placement not in {"8x2", "12x2"}:
            return launch
        return msgspec.structs.replace(launch, status=LaunchStatus.REFUSED, facts=None, exit_code=1, log="")

    (finding,) = find_limits(tmp_path, NODES, refuse, refuse_start)
    assert render(finding.text) == WORDING
    assert finding.cases == list_keys(["8x2", "12x2"], ["allreduce", "bcast"])


def test_failures_everywhere_or_in_between_have_no_limit(tmp_path: Path) -> None:
    def crash_everywhere(candidate: str, case: Case, nodes: int, _: int) -> CaseStatus | None:
        if candidate == "beta":
            return CaseStatus.CRASHED
        return CaseStatus.CRASHED if case.operation == "bcast" and nodes == 4 else None

    assert find_limits(tmp_path, NODES, crash_everywhere) == []


def test_a_campaign_without_failures_has_no_limit(tmp_path: Path) -> None:
    assert find_limits(tmp_path, NODES, lambda *_: None) == []


def test_launches_of_programs_that_end_well_have_begun(tmp_path: Path) -> None:
    """Only the core reports about itself: programs and other benchmarks do not."""

    def hide_facts(launch: Launch) -> Launch:
        return launch if launch.placement == "1x2" else msgspec.structs.replace(launch, facts=None)

    places = {"1x2": (1, 2), "2x2": (2, 2)}
    assert find_limits(tmp_path, places, lambda *_: None, hide_facts) == []
