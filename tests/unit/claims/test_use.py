"""`Use X` is said where it holds: of libraries, at all placements, in the states that were measured, with a value."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from fakes import campaigns, level_comparisons, verdicts
from wording import WORDING, find_lines

from rankbench import store
from rankbench.analysis import evaluation
from rankbench.analysis.claims import judge
from rankbench.analysis.claims.conclusion import conclude
from rankbench.analysis.claims.standings import list_standings
from rankbench.analysis.questions.block_ratios import Overall, describe_distance
from rankbench.language import render
from rankbench.model import AloneComparison, Calls, Campaign, Case, CaseStatus, Verdict

pytestmark = pytest.mark.written
FASTER = {"alpha": 1.0, "beta": 1.5, "gamma": 2.0}


def list_brief(verdict: Verdict) -> list[str]:
    """Return the sentences of the short answer."""
    return [render(claim.text) for claim in verdict.conclusion if claim.brief]


def evaluate_with(
    folder: Path, factor: Callable[[str, Case], float | CaseStatus], change: Callable[[Campaign], Campaign]
) -> list[str]:
    """Return the short answer of a campaign whose record is changed before it is evaluated."""
    verdicts.evaluate(folder, factor, cases=verdicts.LINE)
    change_record(folder / "made", change)
    return list_brief(evaluation.evaluate(store.open(folder / "made")).verdict)


def change_record(folder: Path, change: Callable[[Campaign], Campaign]) -> None:
    """Change the record of a stored campaign."""
    path = folder / "campaign.json"
    changed = encode_changes(change(store.open(folder).campaign))
    path.write_bytes(msgspec.json.encode(msgspec.json.decode(path.read_bytes()) | changed))


def spread_nodes(campaign: Campaign) -> Campaign:
    """Return a campaign whose second placement has two nodes."""
    first, second = campaign.plan.placements
    places = [first, msgspec.structs.replace(second, nodes=2, ranks_per_node=1)]
    return msgspec.structs.replace(campaign, plan=msgspec.structs.replace(campaign.plan, placements=places))


def encode_changes(campaign: Campaign) -> dict[str, object]:
    """Return the parts of a record that tests change, as JSON has them."""
    record = msgspec.json.decode(msgspec.json.encode(campaign))
    return {name: record[name] for name in ("candidates", "plan")}


def with_settings(names: dict[str, str]) -> Callable[[Campaign], Campaign]:
    """Return a change by which candidates are other settings of others' libraries."""

    def change(campaign: Campaign) -> Campaign:
        library = {candidate.name: candidate.library for candidate in campaign.candidates}
        candidates = [
            msgspec.structs.replace(candidate, library=library[names[candidate.name]], settings={"tuned": "1"})
            if candidate.name in names
            else candidate
            for candidate in campaign.candidates
        ]
        return msgspec.structs.replace(campaign, candidates=candidates)

    return change


def with_calls(*calls: Calls) -> Callable[[Campaign], Campaign]:
    """Return a change by which the plan names calls."""
    return lambda campaign: msgspec.structs.replace(
        campaign, plan=msgspec.structs.replace(campaign.plan, calls=list(calls))
    )


def test_a_library_and_its_settings_are_one_library(tmp_path: Path) -> None:
    factors = {"alpha": 1.0, "beta": 1.001, "gamma": 1.8}
    answer = evaluate_with(tmp_path, verdicts.make_constant(factors), with_settings({"beta": "alpha"}))
    assert answer[0].startswith("Use alpha:")
    assert answer[0] == WORDING
    assert answer[1].startswith("Time against alpha: gamma 1.80×")
    assert answer[2] == WORDING
    assert find_lines(answer, "Fastest in single cases") == WORDING


def test_settings_that_are_faster_stand_for_their_library(tmp_path: Path) -> None:
    factors = {"alpha": 1.0, "beta": 0.8, "gamma": 1.8}
    answer = evaluate_with(tmp_path, verdicts.make_constant(factors), with_settings({"beta": "alpha"}))
    assert answer[0].startswith("Use beta:")
    assert answer[0] == WORDING
    assert answer[2] == WORDING


def test_settings_of_one_library_alone_are_compared(tmp_path: Path) -> None:
    change = with_settings({"beta": "alpha", "gamma": "alpha"})
    answer = evaluate_with(tmp_path, verdicts.make_constant(FASTER), change)
    assert answer[0].startswith("Use alpha:")
    assert answer[0] == WORDING
    assert answer[1].startswith("Time against alpha: beta 1.50×")


def test_a_candidate_without_a_called_case_is_out_with_the_reason(tmp_path: Path) -> None:
    def choose_outcome(candidate: str, case: Case) -> float | CaseStatus:
        fails = candidate == "beta" and case.size_bytes == 65536
        return CaseStatus.WRONG_DATA if fails else FASTER[candidate] / (2 if candidate == "beta" else 1)

    calls = with_calls(Calls("allreduce", size_bytes=8, calls=10), Calls("allreduce", size_bytes=65536, calls=10))
    answer = evaluate_with(tmp_path, choose_outcome, calls)
    assert answer[0].startswith("Use alpha:")
    assert answer[0] == WORDING
    assert find_lines(answer, "Not beta: wrong-data") == WORDING


def test_a_candidate_with_values_in_few_cases_is_out_with_the_reason(tmp_path: Path) -> None:
    """Its cases are those of the others, whose comparison they would cut to one case."""

    def choose_outcome(candidate: str, case: Case) -> float | CaseStatus:
        fails = candidate == "beta" and case.size_bytes > 8
        return CaseStatus.WRONG_DATA if fails else FASTER[candidate] / (3 if candidate == "beta" else 1)

    answer = evaluate_with(tmp_path, choose_outcome, lambda record: record)
    assert answer[0].startswith("alpha has")
    assert answer[0] == WORDING
    (line,) = (line for line in answer if line.startswith("Not beta: "))
    assert line == WORDING


def evaluate_places(folder: Path, choose_factor: Callable[[str, Case], float], blocks: int) -> list[str]:
    """Return the short answer of a campaign within a node and across nodes."""
    cases = [msgspec.structs.replace(case, placement=place) for place in ("node", "nodes") for case in verdicts.LINE]
    stored = campaigns.make_campaign(
        folder / "made",
        lambda candidate, case: campaigns.Truth(noise=0, spread=0, factor=choose_factor(candidate, case)),
        blocks,
        candidates=verdicts.CANDIDATES,
        cases=cases,
        placements=("node", "nodes"),
        control=False,
        samples=10,
    )
    change_record(stored.folder, spread_nodes)
    return list_brief(evaluation.evaluate(store.open(stored.folder)).verdict)


@pytest.mark.parametrize("across", ["alpha", "beta", ""])
def test_within_a_node_and_across_nodes_are_answers_of_their_own(across: str, tmp_path: Path) -> None:
    def choose_factor(candidate: str, case: Case) -> float:
        if case.placement == "node":
            return FASTER[candidate]
        return FASTER[candidate] if across == "alpha" else 1.5 if across and candidate != across else 1.0

    answer = evaluate_places(tmp_path, choose_factor, 6)
    assert answer[0] == WORDING
    assert across == "alpha" or not any(line.startswith("Use") for line in answer)


def test_places_that_are_all_undecided_have_one_answer(tmp_path: Path) -> None:
    answer = evaluate_places(tmp_path, lambda candidate, _: FASTER[candidate], 2)
    assert answer[0].startswith("No clear winner")
    assert answer[0] == WORDING
    assert not any("depends" in line for line in answer)


def test_nothing_is_recommended_where_no_place_is_decided(tmp_path: Path) -> None:
    """All cases together are."""
    factors = {"alpha": 1.0, "beta": 1.06, "gamma": 1.07}
    answer = evaluate_places(tmp_path, lambda candidate, _: factors[candidate], 3)
    assert answer[0].startswith("No place is decided:")
    assert answer[0] == WORDING
    assert answer[1] == WORDING
    assert not any(line.startswith("Use") for line in answer)


def test_nothing_is_recommended_where_all_ranks_share_cores(tmp_path: Path) -> None:
    def crowd(campaign: Campaign) -> Campaign:
        places = [msgspec.structs.replace(place, ranks_per_node=64) for place in campaign.plan.placements]
        return msgspec.structs.replace(campaign, plan=msgspec.structs.replace(campaign.plan, placements=places))

    answer = evaluate_with(tmp_path, verdicts.make_constant(FASTER), crowd)
    assert answer[0].startswith("No recommendation:")
    assert answer[0] == WORDING
    assert not any("Use" in line for line in answer)


def test_a_state_that_was_not_measured_is_a_condition(tmp_path: Path) -> None:
    view = verdicts.evaluate(tmp_path, verdicts.make_constant(FASTER), cases=verdicts.LINE)
    comparisons = [
        level_comparisons.combine_levels(
            msgspec.structs.replace(pair, blocks=2), msgspec.structs.replace(pair, blocks=4)
        )
        for pair in view.verdict.comparisons
    ]
    (first, *_) = list_brief(judge(verdicts.change_verdict(view, comparisons=comparisons)))
    assert first.startswith("Use alpha while cores are far")
    assert first == WORDING


@pytest.mark.parametrize(
    "ratio",
    [
        Overall(6.56, 0.85, 50.6, 4, 4),
        Overall(1.2, 0.2, 7.0, 2, 4),
        Overall(1.5, 0.9, 2.5, 3, 4),
        Overall(1.5, 0.9, 2.5, 4, 4),
    ],
)
def test_an_interval_that_says_nothing_is_not_printed(ratio: Overall) -> None:
    assert render(describe_distance("mpich", ratio, 0.03)) == WORDING


def test_shares_of_the_time_weigh_calls(tmp_path: Path) -> None:
    calls = with_calls(Calls("allreduce", 8, 0, share=0.6), Calls("allreduce", 1024, 0, share=0.4, most_bytes=65536))
    answer = evaluate_with(tmp_path, verdicts.make_constant(FASTER), calls)
    assert answer[0].startswith("Use alpha:")
    assert answer[0] == WORDING
    assert find_lines(" ".join(answer), "Of the time with") == WORDING


def test_a_stated_share_is_printed_as_stated(tmp_path: Path) -> None:
    def choose_factor(candidate: str, case: Case) -> float | CaseStatus:
        wrong = candidate == "beta" and case.size_bytes == 8
        return CaseStatus.WRONG_DATA if wrong else FASTER[candidate]

    def change(campaign: Campaign) -> Campaign:
        calls = [Calls("allreduce", 8, 0, share=0.1), Calls("allreduce", 65536, 0, share=0.9)]
        planned = msgspec.structs.replace(campaign.plan, calls=calls, calls_measured_with="gamma")
        return msgspec.structs.replace(campaign, plan=planned)

    answer = evaluate_with(tmp_path, choose_factor, change)
    assert find_lines(answer, "Not beta: wrong-data in") == WORDING


def test_shares_are_those_of_the_candidate_that_they_were_measured_with(tmp_path: Path) -> None:
    def choose_factor(candidate: str, case: Case) -> float:
        return 3.0 if candidate == "beta" and case.size_bytes == 8 else FASTER[candidate]

    def change(campaign: Campaign) -> Campaign:
        calls = [Calls("allreduce", 8, 0, share=0.5), Calls("allreduce", 65536, 0, share=0.5)]
        planned = msgspec.structs.replace(campaign.plan, calls=calls, calls_measured_with="beta")
        return msgspec.structs.replace(campaign, plan=planned)

    answer = evaluate_with(tmp_path, choose_factor, change)
    # With beta both take as long: 3 and 1.5 times as long as with alpha.
    assert find_lines(answer, "Of the time with") == WORDING


@pytest.mark.parametrize("undecided", [65536, 8])
def test_nothing_is_recommended_where_calls_that_take_most_time_are_not_decided(undecided: int, tmp_path: Path) -> None:
    plain = verdicts.evaluate(tmp_path, verdicts.make_constant(FASTER), cases=verdicts.LINE)
    calls = [Calls("allreduce", size_bytes=8, calls=10), Calls("allreduce", size_bytes=65536, calls=10)]
    campaign = msgspec.structs.replace(plain.campaign, plan=msgspec.structs.replace(plain.campaign.plan, calls=calls))
    (key,) = (case.key for case in plain.case_of.values() if case.size_bytes == undecided)
    unlike = AloneComparison(
        case=key, base="alpha", other="beta", alone=0.8, in_turns=1.5, change=0.5, low=0.4, high=0.6
    )
    verdict = msgspec.structs.replace(plain.verdict, alone=[unlike])
    view = dataclasses.replace(plain, campaign=campaign, verdict=verdict)
    sentences = [render(claim.text) for claim in conclude(view) if claim.brief]
    assert sentences[0] == WORDING
    assert any(line.startswith("Time against alpha") for line in sentences) == (undecided == 8)
    assert bool(list_standings(view)) == (undecided == 8)


@pytest.mark.parametrize(("low", "high", "decided"), [(0.9, 0.95, True), (0.4, 0.6, False)])
def test_a_case_with_another_ratio_alone_is_not_decided_or_not_in_the_overall_time(
    low: float, high: float, decided: bool, tmp_path: Path
) -> None:
    plain = verdicts.evaluate(tmp_path, verdicts.make_constant(FASTER), cases=verdicts.LINE)
    unlike = AloneComparison(
        case=verdicts.LINE[0].key, base="alpha", other="beta", alone=1.5 * high, in_turns=1.5,
        change=high, low=low, high=high,
    )  # fmt: skip
    view = dataclasses.replace(plain, verdict=msgspec.structs.replace(plain.verdict, alone=[unlike]))
    (text,) = [claim.text.template for claim in conclude(view) if "in_turns" in claim.text.fields]
    assert text.startswith("Not in the overall time:" if decided else "Not decided:")
    claims = {claim.text.template: claim.text.fields for claim in conclude(view)}
    assert [fields["n"] for text, fields in claims.items() if text.startswith("Fastest in")] == [len(verdicts.LINE)]
    assert not any("once in a launch" in text for text in claims)
