"""The conclusion summarises the cases in sentences and claims no more than these."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest
from fakes import campaign_views, campaigns, scales, verdicts
from wording import WORDING, find_lines

from rankbench import quantities
from rankbench.analysis import evaluation
from rankbench.analysis.claims import conclusion
from rankbench.analysis.claims.conclusion import conclude
from rankbench.analysis.questions.interim import find_penalty
from rankbench.analysis.questions.nodes import describe_place
from rankbench.analysis.questions.overall import compare_overall
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render
from rankbench.model import UNKNOWN_MACHINE, Calls, Case, CaseStatus, Claim, Form, Placement, ProgramSpec, Verdict
from rankbench.report.page import describe_machine

NOTHING = "No two candidates have values for the same case, so there is nothing to compare."
SINGLE = "Only one candidate: values, no comparison."
CHECK = "Noise check: one library, measured twice, differs from itself in 0 of 9 cases (95% interval 0% to 34%)."
CONTROL = "The noise check does not show how a changing machine affects different libraries."


def render_claims(verdict: Verdict) -> list[str]:
    return [render(sentence.text) for sentence in verdict.conclusion]


def find_recommended(verdict: Verdict) -> str:
    """Return the candidate of the sentence `Use X`, if that is the answer."""
    text = verdict.conclusion[0].text
    return text.fields["best"] if text.template.startswith("Use ") else ""


def find_claims(verdict: Verdict, words: str) -> list[Claim]:
    return [sentence for sentence in verdict.conclusion if render(sentence.text).startswith(words)]


def test_a_clear_leader_is_named_with_its_count_and_all_distances(tmp_path: Path) -> None:
    factors = verdicts.make_constant({"alpha": 1.5, "beta": 1.0, "gamma": 3.0})
    verdict = verdicts.evaluate(tmp_path, factors, control=True).verdict
    assert find_recommended(verdict) == "beta"
    assert render_claims(verdict) == WORDING
    assert [sentence.brief for sentence in verdict.conclusion] == [True, True, True, False, True, False, False]
    assert verdict.conclusion[0].cases == [case.key for case in campaigns.make_cases()]


def test_a_single_case_is_in_the_singular(tmp_path: Path) -> None:
    view = verdicts.evaluate(tmp_path, verdicts.make_constant({"beta": 2.0, "gamma": 2.0}), cases=verdicts.LINE[:1])
    assert find_recommended(view.verdict) == "alpha"
    assert render_claims(view.verdict)[0] == WORDING
    assert not any(text.startswith("Fastest in single cases") for text in render_claims(view.verdict))


def test_a_single_launch_distinguishes_nothing_and_this_is_stated(tmp_path: Path) -> None:
    factors = verdicts.make_constant({"beta": 2.0, "gamma": 2.0})
    verdict = verdicts.evaluate(tmp_path, factors, cases=verdicts.LINE[:1], launches=1).verdict
    assert find_recommended(verdict) == ""
    assert render_claims(verdict)[0] == WORDING
    assert render_claims(verdict)[-1] == WORDING


def test_equal_candidates_have_no_leader(tmp_path: Path) -> None:
    verdict = verdicts.evaluate(tmp_path, verdicts.make_constant({})).verdict
    assert find_recommended(verdict) == ""
    assert render_claims(verdict)[:3] == WORDING


MEMORY = [msgspec.structs.replace(case, options={"quantity": "memory"}) for case in verdicts.LINE]


def test_memory_is_separate_from_times(tmp_path: Path) -> None:
    def choose_factor(name: str, case: Case) -> float:
        needs = {"alpha": 2.0, "beta": 3.0, "gamma": 1.0}
        return needs[name] if case.quantity == "memory" else 1 / needs[name]

    verdict = verdicts.evaluate(tmp_path, choose_factor, cases=[*verdicts.LINE, *MEMORY]).verdict
    assert find_recommended(verdict) == "beta"
    assert render_claims(verdict)[0] == WORDING
    (least,) = find_claims(verdict, "gamma needs the least memory")
    assert render(least.text) == WORDING
    assert not least.brief
    assert least.cases == [case.key for case in MEMORY]
    assert not [
        finding
        for finding in verdict.findings
        if finding.kind in {"outlier", "crossover"} and "memory" in render(finding.text)
    ]


def test_a_campaign_of_memory_alone_has_no_claims_on_times(tmp_path: Path) -> None:
    verdict = verdicts.evaluate(tmp_path, verdicts.make_constant({}), cases=MEMORY).verdict
    assert render_claims(verdict) == WORDING


def test_two_joint_leaders_are_named_together(tmp_path: Path) -> None:
    verdict = verdicts.evaluate(tmp_path, verdicts.make_constant({"beta": 2.0})).verdict
    assert find_recommended(verdict) == ""
    assert render_claims(verdict)[0] == WORDING


def test_without_an_overall_leader_the_wins_of_all_are_counted(tmp_path: Path) -> None:
    leaders = {"pingpong": "alpha", "bandwidth": "beta", "barrier": "gamma", "allreduce": "gamma"}

    def choose_factor(name: str, case: Case) -> float:
        leader = "alpha" if case.form == "nonblocking" and case.operation == "allreduce" else leaders[case.operation]
        return 1.0 if name == leader else 1.5

    sentences = render_claims(verdicts.evaluate(tmp_path, choose_factor).verdict)
    assert not sentences[0].startswith("Use ")
    assert find_lines(sentences, "Fastest in single cases") == WORDING


def test_single_and_joint_wins_are_counted_separately(tmp_path: Path) -> None:
    def choose_factor(name: str, case: Case) -> float:
        level = {8: ("alpha",), 1024: ("alpha", "beta"), 65536: ("alpha", "beta", "gamma")}[case.size_bytes]
        return 1.0 if name in level else 2.0

    assert (
        find_lines(
            render_claims(verdicts.evaluate(tmp_path, choose_factor, cases=verdicts.LINE).verdict),
            "Fastest in single cases",
        )
        == WORDING
    )


def test_exceptions_are_reported_with_their_sizes_and_cases(tmp_path: Path) -> None:
    """Beta beats alpha in the two large allreduces, beta and gamma in the barrier; alpha leads most cases."""
    cases = [*verdicts.LINE, *campaigns.make_cases(lines=campaigns.LINES[:3])]

    def choose_factor(name: str, case: Case) -> float:
        if case.operation == "barrier":
            return 1.25 if name == "alpha" else 1.0
        if case.operation == "allreduce" and case.size_bytes > 8:
            return {"alpha": 1.5, "beta": 1.0, "gamma": 2.0}[name]
        return 1.0 if name == "alpha" else 2.0

    conclusion = verdicts.evaluate(tmp_path, choose_factor, cases=cases).verdict.conclusion
    exceptions = [sentence for sentence in conclusion if " faster than " in render(sentence.text)]
    assert [render(sentence.text) for sentence in exceptions] == WORDING
    assert exceptions[0].cases == [case.key for case in verdicts.LINE[1:]]


def test_more_than_four_exceptions_are_counted(tmp_path: Path) -> None:
    """Beta is faster at the middle size of five lines, alpha at the two other sizes of each."""
    lines = [*campaigns.LINES[:2], *campaigns.LINES[3:], ("bcast", "blocking")]
    cases = campaigns.make_cases(lines=lines, sizes=(8, 1024, 65536))

    def choose_factor(name: str, case: Case) -> float:
        return 1.0 if name == ("beta" if case.size_bytes == 1024 else "alpha") else 2.0

    verdict = verdicts.evaluate(tmp_path, choose_factor, cases=cases).verdict
    (rest,) = find_claims(verdict, "In 1 more case")
    assert render(rest.text) == WORDING
    assert len(rest.cases) == 1


def test_failures_and_missing_calls_of_the_leader_are_distinguished(tmp_path: Path) -> None:
    def choose_factor(name: str, case: Case) -> float | CaseStatus:
        if name == "alpha" and case.form == "nonblocking" and case.operation == "allreduce":
            return CaseStatus.LACKING
        if name == "alpha" and case.operation == "barrier":
            return CaseStatus.CRASHED
        return 1.0 if name == "alpha" else 1.5

    verdict = verdicts.evaluate(tmp_path, choose_factor).verdict
    failed, lacking = find_claims(verdict, "alpha failed") + find_claims(verdict, "alpha does not have")
    assert render(failed.text) == WORDING
    assert render(lacking.text) == WORDING
    assert [key.split(".")[0] for key in failed.cases + lacking.cases] == [
        "barrier",
        *("allreduce", "allreduce"),
    ]


def test_a_single_candidate_has_only_its_control(tmp_path: Path) -> None:
    view = verdicts.evaluate(tmp_path, verdicts.make_constant({}), candidates=("alpha",), control=True)
    assert render_claims(view.verdict) == [
        SINGLE,
        CHECK,
        CONTROL,
    ]


@pytest.mark.parametrize("launches", [1, 2])
def test_few_launches_make_no_noise_check(tmp_path: Path, launches: int) -> None:
    view = verdicts.evaluate(tmp_path, verdicts.make_constant({}), control=True, launches=launches)
    texts = [render(claim.text) for claim in view.verdict.conclusion]
    number = "1 block" if launches == 1 else "2 blocks"
    assert [text for text in texts if "oise check" in text] == [f"Noise check: {number} of launches can show nothing."]


def test_a_control_of_one_case_is_not_reported(tmp_path: Path) -> None:
    """Its interval would be 0% to 98%."""
    view = verdicts.evaluate(
        tmp_path, verdicts.make_constant({}), candidates=("alpha",), control=True, cases=verdicts.LINE[:1]
    )
    assert render_claims(view.verdict) == [SINGLE]


def test_if_all_other_candidates_fail_nothing_is_compared(tmp_path: Path) -> None:
    view = verdicts.evaluate(tmp_path, lambda name, _: 1.0 if name == "alpha" else CaseStatus.CRASHED)
    assert render_claims(view.verdict) == [NOTHING]


@pytest.mark.parametrize(
    ("names", "versions"),
    [
        (("alpha-1.0", "beta-1.0"), "these versions"),
        (("alpha-1.0", "tuned"), "alpha 1.0 and beta 1.0"),
        (("default", "tuned"), "alpha 1.0 and beta 1.0"),
    ],
)
def test_versions_are_named_unless_names_contain_them(names: tuple[str, str], versions: str, tmp_path: Path) -> None:
    view = verdicts.evaluate(tmp_path, verdicts.make_constant({}), candidates=("alpha", "beta"), cases=verdicts.LINE)
    renamed = dict(zip(("alpha", "beta"), names, strict=True))
    candidates = [
        msgspec.structs.replace(candidate, name=renamed[candidate.name]) for candidate in view.campaign.candidates
    ]
    summaries = [
        msgspec.structs.replace(summary, candidate=renamed[summary.candidate]) for summary in view.verdict.summaries
    ]
    verdict = msgspec.structs.replace(view.verdict, summaries=summaries, comparisons=[])
    evaluated = dataclasses.replace(view, verdict=verdict)
    assert render_claims(verdicts.judge_again(evaluated, candidates=candidates))[-1] == WORDING


def test_settings_and_virtual_machine_limit_the_claim(tmp_path: Path) -> None:
    view = verdicts.evaluate(tmp_path, verdicts.make_constant({}), cases=verdicts.LINE)
    record = view.campaign
    machine = msgspec.structs.replace(record.machine, virtual="kvm", cores=1)
    candidates = [msgspec.structs.replace(candidate, settings={"A": "1"}) for candidate in record.candidates]
    assert render_claims(verdicts.judge_again(view, machine=machine, candidates=candidates))[-1] == WORDING


PLACES = [
    (None, [1], ["n1, n2"]),
    (None, [1], [""]),
    (None, [3, 1], ["n1, n2, n3"]),
    ("kvm", [2, 3], []),
    ("", [1, 4], []),
]
"""The hypervisor of a known machine, the nodes of placements, and the hosts of an unknown machine."""


@pytest.mark.parametrize(("virtual", "nodes", "hosts"), PLACES)
def test_the_place_of_a_campaign_is_named_whatever_is_known_of_it(
    virtual: str | None, nodes: list[int], hosts: list[str], tmp_path: Path
) -> None:
    view = verdicts.evaluate(tmp_path, verdicts.make_constant({}), cases=verdicts.LINE)
    campaign = view.campaign
    machine = (
        msgspec.structs.replace(UNKNOWN_MACHINE, host=hosts[0])
        if hosts
        else msgspec.structs.replace(campaign.machine, virtual=virtual)
    )
    placements = [
        msgspec.structs.replace(campaign.plan.placements[0], nodes=count, one_machine=count > 1) for count in nodes
    ]
    campaign = msgspec.structs.replace(
        campaign, machine=machine, plan=msgspec.structs.replace(campaign.plan, placements=placements)
    )
    launches = [msgspec.structs.replace(launch, job="17") for launch in view.launches]
    linked = msgspec.structs.replace(campaign, machine=msgspec.structs.replace(machine, links="1 Gbit/s, 200 µs"))
    assert ("with links of 1 Gbit/s, 200 µs" in render(describe_place(dataclasses.replace(view, campaign=linked)))) == (
        bool(machine.cpu) and max(nodes, default=1) > 1
    )
    changed = dataclasses.replace(view, campaign=campaign, launches=launches)
    assert render(describe_place(changed)) == WORDING
    assert describe_machine(campaign).startswith(machine.host or "The nodes of a job")


# --- the worst case ---------------------------------------------------------------------------------------------------


# --- two measures -----------------------------------------------------------------------------------------------------


def find_divided_factor(name: str, case: Case) -> float:
    """Alpha is faster by a tenth at all sizes but the largest, at which it takes four times as long as beta."""
    if name == "gamma":
        return 5.0
    return {"alpha": 4.0, "beta": 1.0}[name] if case.size_bytes == 65536 else {"alpha": 1.0, "beta": 1.1}[name]


def test_most_wins_and_least_total_time_are_both_named_if_they_differ(tmp_path: Path) -> None:
    verdict = verdicts.evaluate(tmp_path, find_divided_factor, cases=verdicts.LINE).verdict
    assert find_recommended(verdict) == ""
    assert render_claims(verdict)[:5] == WORDING
    assert verdict.conclusion[1].cases == [case.key for case in verdicts.LINE[2:]]


@pytest.mark.parametrize("large", [1.22, 1.34])
def test_a_mean_within_the_threshold_names_no_candidate(large: float, tmp_path: Path) -> None:
    """Alpha wins two of three by a tenth; beta's third case compensates for these, or for 3% more and above."""

    def choose_factor(name: str, case: Case) -> float:
        return {"alpha": large, "beta": 1.0}[name] if case.size_bytes == 65536 else {"alpha": 1.0, "beta": 1.1}[name]

    verdict = verdicts.evaluate(tmp_path, choose_factor, candidates=("alpha", "beta"), cases=verdicts.LINE).verdict
    assert find_recommended(verdict) == ""
    assert render_claims(verdict)[1] == WORDING


def test_a_candidate_with_few_values_is_no_rival(tmp_path: Path) -> None:
    def choose_factor(name: str, case: Case) -> float | CaseStatus:
        if name == "beta" and case.size_bytes < 65536:
            return CaseStatus.CRASHED
        return find_divided_factor(name, case)

    assert render_claims(verdicts.evaluate(tmp_path, choose_factor, cases=verdicts.LINE).verdict)[0] == WORDING


def test_cases_in_which_every_candidate_fails_are_reported(tmp_path: Path) -> None:
    cases = campaigns.make_cases(
        lines=[("allreduce", "blocking"), ("bcast", "blocking"), ("pingpong", "blocking")], sizes=(8, 1024, 65536)
    )

    def choose_factor(name: str, case: Case) -> float | CaseStatus:
        failing = {"alpha": 8, "beta": 1024, "gamma": 1024}
        if case.operation == "bcast" and failing.get(name) == case.size_bytes:
            return CaseStatus.CRASHED
        return find_divided_factor(name, case)

    sentences = render_claims(verdicts.evaluate(tmp_path, choose_factor, cases=cases).verdict)
    assert [sentence for sentence in sentences if " failed in " in sentence] == WORDING


def test_operations_that_run_once_in_a_launch_are_left_out_with_a_note(tmp_path: Path) -> None:
    cases = campaigns.make_cases(lines=[("init", "blocking"), ("allreduce", "blocking")], sizes=(8, 1024))

    def choose_factor(name: str, case: Case) -> float:
        return 1.0 if (name == "alpha") != (case.operation == "init") else 10.0

    both, start = (
        render_claims(
            verdicts.evaluate(tmp_path / name, choose_factor, candidates=("alpha", "beta"), cases=part).verdict
        )
        for name, part in (("both", cases), ("start", cases[:1]))
    )
    assert both[0] == WORDING
    assert find_lines(both, "Not included: init, which") == WORDING
    assert start[0] == WORDING
    assert not any("Not included" in sentence for sentence in start)


@pytest.mark.parametrize("measured", [True, False])
def test_known_wrong_data_of_the_best_are_in_the_short_answer(tmp_path: Path, *, measured: bool) -> None:
    view = verdicts.evaluate(tmp_path, find_divided_factor, cases=verdicts.LINE)
    known = {
        "beta": ["scan.persistent", "neighbor_alltoall.blocking", "neighbor_alltoall.nonblocking"],
        "alpha": ["allreduce.blocking" if measured else "scan.blocking"],
    }
    campaign = msgspec.structs.replace(view.campaign, known_wrong=known)
    claims = [
        (render(claim.text), claim.brief)
        for claim in conclude(dataclasses.replace(view, campaign=campaign))
        if "Known here" in render(claim.text)
    ]
    assert [claim.warns for claim in conclude(dataclasses.replace(view, campaign=campaign))][:3] == [False, True, False]
    assert claims == [(WORDING, True), (WORDING, False)]


# --- several placements -----------------------------------------------------------------------------------------------


PLACE_ANSWER = (
    "It depends on where ranks run: within a node alpha is fastest (beta 2.00×), across nodes beta is fastest "
    "(alpha 2.00×)."
)


def conclude_over_nodes(folder: Path, cores: int) -> list[str]:
    """Alpha takes half of beta's time inside a node, and twice beta's time across nodes."""

    def choose_time_ns(candidate: str, _case: Case, place: Placement) -> float:
        return 1000.0 if (candidate == "alpha") == (place.nodes == 1) else 2000.0

    store = scales.make_store(folder / "made", choose_time_ns, nodes=(1, 2, 4), ranks=(2, 4), cores=cores, spread=0)
    return render_claims(evaluation.evaluate(store).verdict)


def test_one_node_and_several_nodes_are_distinguished(tmp_path: Path) -> None:
    sentences = conclude_over_nodes(tmp_path, 4)
    assert sentences[0] == PLACE_ANSWER
    assert find_lines(sentences, "Within a node, alpha") == WORDING


def test_oversubscribed_cases_are_left_out_with_a_note(tmp_path: Path) -> None:
    sentences = conclude_over_nodes(tmp_path, 2)
    assert sentences[0] == PLACE_ANSWER
    assert find_lines(sentences, "alpha is faster than") == WORDING
    assert find_lines(sentences, "Not included: 3 cases") == WORDING


def test_a_campaign_of_oversubscribed_cases_says_so(tmp_path: Path) -> None:
    assert find_lines(conclude_over_nodes(tmp_path, 1), "In 6 cases ranks") == WORDING


# --- no recommendation by chance --------------------------------------------------------------------------------------


def draw_balanced(seed: int, sizes: Sequence[int] = (8, 256, 8192, 65536)) -> CampaignView:
    """Return a campaign of two candidates with the same geometric mean, each faster in single cases by up to 40%."""
    lines: list[tuple[str, Form]] = [(name, "blocking") for name in ("allreduce", "bcast", "reduce", "alltoall")]
    cases = campaigns.make_cases(lines=lines, sizes=sizes)
    logs = np.random.default_rng(seed).normal(0, 0.15, (2, len(cases)))
    logs -= logs.mean(axis=1, keepdims=True)
    place = {case.key: number for number, case in enumerate(cases)}

    def choose_time_ns(candidate: str, case: Case) -> float:
        return campaigns.compute_base_ns(case) * math.exp(logs[int(candidate == "beta"), place[case.key]])

    return campaign_views.make_view(choose_time_ns, seed=seed, spread=0.04, cases=cases, candidates=("alpha", "beta"))


@pytest.mark.thorough
def test_equal_candidates_are_hardly_ever_recommended() -> None:
    first = [render(conclude(draw_balanced(seed))[0].text) for seed in range(60)]
    assert sum(text.startswith("Use ") for text in first) <= 2


@pytest.mark.thorough
def test_the_counts_of_the_answer_add_up_to_all_cases() -> None:
    for seed in range(20):
        (text,) = (
            render(claim.text)
            for claim in conclude(draw_balanced(seed))
            if render(claim.text).startswith("Fastest in single")
        )
        counts = [int(number) for number in re.findall(r" (\d+)[, ]", text.partition(" (of ")[0] + " ")]
        assert sum(counts) == 16


def test_interim_looks_widen_the_interval_of_the_answer() -> None:
    """A difference that one look finds beyond the threshold is undecided if the campaign could end at many looks."""
    campaign_view = campaign_views.make_view(
        lambda name, case: campaigns.compute_base_ns(case) * (1.06 if name == "beta" else 1.0),
        seed=3, spread=0.05, launches=5, cases=verdicts.LINE[:1], candidates=("alpha", "beta"),
    )  # fmt: skip

    def conclude_with_rule(rule: str) -> CampaignView:
        plan = campaign_view.campaign.plan
        stop = msgspec.structs.replace(plan.stop, until=rule, blocks_min=5, blocks_max=60)
        changed = msgspec.structs.replace(plan, stop=stop)
        return dataclasses.replace(
            campaign_view, campaign=msgspec.structs.replace(campaign_view.campaign, plan=changed)
        )

    keys = [case.key for case in verdicts.LINE[:1]]
    single, many = (
        compare_overall(each, "alpha", "beta", keys, find_penalty(each))
        for each in (conclude_with_rule("blocks"), conclude_with_rule("answered"))
    )
    assert many.low < single.low < single.high < many.high
    assert not find_penalty(conclude_with_rule("blocks")).looks


# --- sizes and states -------------------------------------------------------------------------------------------------

SIDES = re.compile(r"It depends on the size: up to (.+?) (\w+) is fastest on average \(.*?\), from (.+?) (\w+) \(")
OPERATIONS: list[tuple[str, Form]] = [(name, "blocking") for name in ("allreduce", "bcast", "reduce", "alltoall")]


def draw_crossing(seed: int, scatter: float = 0.0, gain: float = 0.2) -> CampaignView:
    """Return a campaign in which alpha is faster up to 1 KiB and beta from 8 KiB on, with scatter of single cases."""
    cases = campaigns.make_cases(lines=OPERATIONS, sizes=(8, 1024, 8192, 65536))
    case_logs = (
        np.random.default_rng(seed).normal(0, scatter, (3, len(cases))) if scatter else np.zeros((3, len(cases)))
    )
    names, place = ("alpha", "beta", "gamma"), {case.key: number for number, case in enumerate(cases)}

    def choose_time_ns(name: str, case: Case) -> float:
        planted_log = {"alpha": gain * (case.size_bytes > 1024), "beta": gain * (case.size_bytes <= 1024)}
        log = planted_log.get(name, 0.6) + case_logs[names.index(name), place[case.key]]
        return campaigns.compute_base_ns(case) * math.exp(log)

    return campaign_views.make_view(choose_time_ns, seed=seed, spread=0.04, cases=cases)


def test_a_planted_crossover_is_found_at_its_sizes() -> None:
    for seed in range(10):
        sentences = [render(claim.text) for claim in conclude(draw_crossing(seed))]
        assert not sentences[0].startswith("Use ")
        sides = [match.groups() for sentence in sentences if (match := SIDES.match(sentence))]
        assert sides == [("1 KiB", "alpha", "8 KiB", "beta")]


def test_a_candidate_fastest_at_every_size_has_no_crossover() -> None:
    for seed in range(20):
        sentences = [render(claim.text) for claim in conclude(draw_crossing(seed, gain=0.0))]
        assert not any(SIDES.match(sentence) for sentence in sentences)


@pytest.mark.thorough
def test_sentences_agree_with_single_cases() -> None:
    """The candidate named for a range of sizes wins most cases there; the recommended one wins most of all."""
    cuts = 0
    for seed in range(30):
        view = draw_crossing(seed, scatter=0.15)
        claims = conclude(view)
        alone = [
            (main_verdict.case.size_bytes, main_verdict.winners[0])
            for main_verdict in view.main_verdicts
            if len(main_verdict.winners) == 1
        ]
        match = next((match for claim in claims if (match := SIDES.match(render(claim.text)))), None)
        if match:
            cuts += 1
            assert not render(claims[0].text).startswith("Use ")
            border = next(size for size, _ in alone if quantities.format_size(size) == match[1])
            below = [name for size, name in alone if size <= border]
            above = [name for size, name in alone if size > border]
            for name, side in ((match[2], below), (match[4], above)):
                assert side.count(name) == max(map(side.count, side)) > 0
        elif render(claims[0].text).startswith("Use "):
            names = [name for _, name in alone]
            named = render(claims[0].text)[4:].partition(":")[0]
            assert names.count(named) == max(map(names.count, names))
        assert sum(claim.brief for claim in claims) <= 7
    assert cuts > 10


def draw_two_levels(far: float) -> CampaignView:
    """Return a campaign whose blocks are near or far; beta takes 1.3 times alpha's time near, and `far` times far."""
    cases = campaigns.make_cases(lines=OPERATIONS, sizes=(8, 1024))
    campaign_view = campaign_views.make_view(
        campaign_views.find_equal_time, seed=5, launches=12, spread=0.02, cases=cases,
        candidates=("alpha", "beta"),
    )  # fmt: skip
    hop = pl.when(pl.col("block") % 3 == 0).then(160.0).otherwise(45.0)
    factor = pl.when(pl.col("candidate") == "alpha").then(1.0).when(hop > 100).then(far).otherwise(1.3)
    launch_values = campaign_view.judged_values.with_columns(pl.col("figure_ns") * factor).with_columns(
        visit=pl.concat_list(pl.lit(0), pl.lit(1)),
        visit_ns=pl.concat_list("figure_ns", "figure_ns"),
        visit_hop_ns=pl.concat_list(hop, hop),
    )
    return dataclasses.replace(campaign_view, launch_values=launch_values)


def test_each_level_has_its_ratio_if_they_differ() -> None:
    near, far = (
        render(claim.text) for claim in conclude(draw_two_levels(1.0)) if render(claim.text).startswith("Cores ")
    )
    assert re.fullmatch(r"Cores near \(67% of visits\): beta 1\.[23]\d× \([^,]*\)\.", near)
    assert re.fullmatch(r"Cores far \(33% of visits\): beta \d\.\d\d× \(.*, (equivalent|not disting).*\)\.", far)
    assert not any(render(claim.text).startswith("Cores ") for claim in conclude(draw_two_levels(1.3)))


def test_a_candidate_that_loses_at_one_level_is_not_recommended() -> None:
    assert not render(conclude(draw_two_levels(0.7))[0].text).startswith("Use ")


def test_means_are_weighted_by_cases_and_not_by_blocks() -> None:
    """Half of the cases ended after five blocks: the mean is that of the cases' means, whatever others measured."""
    view = draw_crossing(1)
    keys = [case.key for case in view.case_of.values()]
    ended = view.judged_values.filter((pl.col("block") <= 5) | pl.col("case").is_in(keys[::2]))
    short = dataclasses.replace(view, launch_values=ended)
    ratio = pl.col("figure_ns").filter(pl.col("candidate") == "beta").log().mean() - (
        pl.col("figure_ns").filter(pl.col("candidate") == "alpha").log().mean()
    )
    expected = float(ended.group_by("case").agg(ratio.alias("log"))["log"].to_numpy().mean())
    comparison = compare_overall(short, "alpha", "beta", keys)
    assert comparison.mean == pytest.approx(math.exp(expected))
    assert comparison.low < comparison.mean < comparison.high


def test_calls_of_the_plan_are_weights() -> None:
    view = draw_crossing(1)
    calls = [Calls(operation="allreduce", size_bytes=65536, calls=10)]
    plan = msgspec.structs.replace(view.campaign.plan, calls=calls)
    weighed = dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, plan=plan))
    assert render(conclude(weighed)[0].text) == WORDING


@pytest.mark.parametrize("status", [CaseStatus.CRASHED, CaseStatus.FAILED])
def test_a_program_that_always_fails_is_named_in_the_short_answer(tmp_path: Path, status: CaseStatus) -> None:
    """Its cases are its placements, and one that crashes there is no choice; a value that is not found has a reason."""
    view = verdicts.evaluate(tmp_path, lambda name, _: status if name == "beta" else 1.0)
    program = ProgramSpec(run=["./solver"], folder="/")
    plan = msgspec.structs.replace(view.campaign.plan, program=program)
    changed = dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, plan=plan))
    (claim,) = conclusion._claim_failures(changed, "beta")
    assert render(claim.text) == WORDING
    assert claim.brief


@pytest.mark.parametrize(("launches", "few", "stated"), [(1, 4, True), (3, 3, False), (6, 0, False), (0, 5, True)])
def test_launches_that_mostly_do_not_count_are_in_the_short_answer(
    launches: int, few: int, stated: bool, tmp_path: Path
) -> None:
    view = verdicts.evaluate(tmp_path, verdicts.make_constant({}), cases=verdicts.LINE)
    key = verdicts.LINE[0].key
    changed = [
        msgspec.structs.replace(summary, launches=launches, few=few)
        if (summary.case, summary.candidate) == (key, "beta")
        else summary
        for summary in view.summaries
    ]
    claims = conclude(verdicts.change_verdict(view, summaries=changed))
    fields = [claim.text.fields for claim in claims if claim.brief and "left" in claim.text.fields]
    assert [(of["name"], of["left"], of["all"]) for of in fields] == [("beta", few, launches + few)] * stated
