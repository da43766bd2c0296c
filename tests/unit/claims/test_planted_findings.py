"""Planted findings in drawn campaigns are found in exact words; without planted ones, findings are hardly ever made.

Rates are over 100 campaigns, 50 of each kind of noise: see `test_findings_are_hardly_ever_invented`.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np
import polars as pl
import pytest
from fakes import campaign_views, campaigns
from fakes.words import render_texts
from wording import WORDING, find_lines

from rankbench import units
from rankbench.analysis.claims import findings
from rankbench.analysis.claims.findings import guidelines
from rankbench.analysis.questions.view import NO_LAST_RANKS, CampaignView
from rankbench.language import Text, render
from rankbench.model import Case, Finding

FINDERS = units.modules(findings)
SIZES = tuple(4**power for power in range(2, 11))
SMALL, SWITCH = 16, 4096


def find_kind(kind: str, view: CampaignView) -> list[Finding]:
    return list(FINDERS[kind].find(view))


def make_line(operation: str = "allreduce", form: str = "blocking", sizes: Sequence[int] = SIZES) -> list[Case]:
    return campaigns.make_cases(lines=[(operation, form)], sizes=sizes)  # type: ignore[list-item]


def make_times(factor: Callable[[str, Case], float]) -> campaign_views.TimeOf:
    """Return times on a smooth curve, equal for all candidates, times a factor."""
    return lambda candidate, case: campaigns.compute_base_ns(case) * factor(candidate, case)


def make_view(factor: Callable[[str, Case], float], cases: Sequence[Case], **others: object) -> CampaignView:
    """Return a campaign without scatter."""
    return campaign_views.make_view(make_times(factor), cases=cases, spread=0, state=0, **others)  # type: ignore[arg-type]


def make_key(size: int, operation: str = "allreduce", datatype: str = "float") -> str:
    return f"{operation}.blocking.{size}.{datatype}.socket.window"


# --- crossovers -------------------------------------------------------------------------------------------------------


def find_crossing_factor(candidate: str, case: Case) -> float:
    """Alpha leads below 4 KiB, no candidate leads there, beta leads above; gamma is far behind."""
    if candidate == "gamma":
        return 2.0
    ahead = "alpha" if case.size_bytes < SWITCH else "beta"
    return 1.0 if candidate == ahead or case.size_bytes == SWITCH else 1.3


def test_a_crossover_is_reported_with_both_sides() -> None:
    (finding,) = find_kind("crossover", make_view(find_crossing_factor, make_line()))
    assert render(finding.text) == WORDING
    assert finding.cases == [make_key(16), make_key(1024), make_key(4096), make_key(16384), make_key(1 << 20)]
    assert [span.candidates for span in finding.spans] == [["alpha"], ["alpha", "beta"], ["beta"]]


def test_changing_winners_among_equal_candidates_are_no_crossover() -> None:
    """Two candidates are equal and a third is slower: which of the two leads changes by chance."""
    time_ns = make_times(lambda candidate, _case: 1.4 if candidate == "gamma" else 1.0)
    invented = sum(
        bool(find_kind("crossover", campaign_views.make_view(time_ns, seed=seed, cases=make_line())))
        for seed in range(25)
    )
    assert invented == 0


def test_a_planted_crossover_is_found_despite_noise() -> None:
    views = [
        campaign_views.make_view(make_times(find_crossing_factor), seed=seed, spread=0.05, cases=make_line())
        for seed in range(15)
    ]
    texts = [render(finding.text) for view in views for finding in find_kind("crossover", view)]
    assert len(texts) == 15
    assert all("is between 1 KiB and 16" in text for text in texts)


# --- jumps ------------------------------------------------------------------------------------------------------------


def make_jumping(*names: str, factor: float = 2.0) -> Callable[[str, Case], float]:
    return lambda candidate, case: factor if candidate in names and case.size_bytes >= SWITCH else 1.0


def test_a_jump_of_one_candidate_is_probably_a_switch() -> None:
    assert [render_texts(finding) for finding in find_kind("jumps", make_view(make_jumping("beta"), make_line()))] == [
        Finding(
            kind="jumps",
            title=Text("allreduce: jumps along the sizes"),
            text=Text(WORDING),
            advice=Text(WORDING),
            cases=[make_key(1024), make_key(4096)],
            severity="note",
        )
    ]


def test_a_jump_of_all_candidates_is_probably_the_machine_s() -> None:
    (finding,) = find_kind("jumps", make_view(make_jumping("alpha", "beta", "gamma"), make_line()))
    assert render(finding.text) == WORDING
    assert render(finding.text).count(" jumps by 4.03× ") == 3


def test_a_full_cache_is_named_if_buffers_fill_it() -> None:
    sizes = tuple(4**power for power in range(6, 14))

    def choose_factor(_candidate: str, case: Case) -> float:
        return 3.0 if case.size_bytes >= 16 << 20 else 1.0

    (finding,) = find_kind("jumps", make_view(choose_factor, make_line(sizes=sizes)))
    assert render(finding.text) == WORDING


def test_a_drop_suggests_an_earlier_switch() -> None:
    (finding,) = find_kind("jumps", make_view(make_jumping("beta", factor=0.3), make_line()))
    assert "KiB to 4 KiB (" in render(finding.text)
    assert render(finding.advice) == WORDING


@pytest.mark.parametrize("factor", [0.4, 3.0, 1.6])
def test_a_jump_of_a_bandwidth_is_one_of_bytes_per_second(factor: float) -> None:
    def choose_factor(candidate: str, case: Case) -> float:
        """Return a factor for a time that doubles from 1 KiB on."""
        base = campaigns.compute_base_ns(case)
        wanted = 1000.0 * math.sqrt(max(case.size_bytes / 1024, 1))
        return wanted / base * (factor if candidate == "beta" and case.size_bytes >= SWITCH else 1.0)

    (finding,) = find_kind("jumps", make_view(choose_factor, make_line("bandwidth")))
    assert render(finding.text) == WORDING


def test_a_single_slow_size_is_a_jump_that_returns() -> None:
    def choose_factor(candidate: str, case: Case) -> float:
        return 3.0 if candidate == "beta" and case.size_bytes == SWITCH else 1.0

    (finding,) = find_kind("jumps", make_view(choose_factor, make_line()))
    assert find_lines(render(finding.text), "beta jumps by 6.05×") == WORDING
    assert find_lines(render(finding.text), ", and returns above") == WORDING


@pytest.mark.parametrize(
    ("family", "version", "settings", "is_named"),
    [
        ("openmpi", "5.0.11", {}, True),
        ("openmpi", "5.0.11", {"btl_sm_eager_limit": "1024"}, True),
        ("openmpi", "5.0.11", {"btl_sm_eager_limit": "65536"}, False),
        ("openmpi", "6.0.0", {}, False),
        ("other", "5.0.11", {}, False),
    ],
)
def test_a_known_limit_of_the_library_at_this_size_is_named(
    family: str, version: str, settings: dict[str, str], *, is_named: bool
) -> None:
    base = campaigns.make_library("alpha")
    libraries = [msgspec.structs.replace(base, family=family, version=version)]
    view = make_view(
        make_jumping("alpha"),
        make_line("pingpong"),
        candidates=("alpha",),
        settings={"alpha": settings},
        libraries=libraries,
    )
    (finding,) = find_kind("jumps", view)
    assert render(finding.text) == WORDING
    assert ("btl_sm_eager_limit" in render(finding.text)) == is_named


# --- slower for less --------------------------------------------------------------------------------------------------


def test_smaller_messages_that_take_longer_are_reported_with_the_worst_pair() -> None:
    def choose_factor(candidate: str, case: Case) -> float:
        return 8.0 if candidate == "beta" and case.size_bytes == 1024 else 1.0

    assert [
        render_texts(finding) for finding in find_kind("slower_for_less", make_view(choose_factor, make_line()))
    ] == [
        Finding(
            kind="slower_for_less",
            title=Text(WORDING),
            text=Text(WORDING),
            advice=Text(WORDING),
            cases=[make_key(1024), make_key(4096)],
            severity="warning",
        )
    ]


# --- guidelines -------------------------------------------------------------------------------------------------------

PARTS = [*make_line(), *make_line("reduce"), *make_line("bcast")]


def make_composition(breach: float = 1.0) -> campaign_views.TimeOf:
    """Return times of an allreduce that takes as long as its parts, or longer from 4 KiB on."""

    def choose_time_ns(_candidate: str, case: Case) -> float:
        if case.operation != "allreduce":
            return campaigns.compute_base_ns(case)
        return 2 * campaigns.compute_base_ns(case) * (breach if case.size_bytes >= SWITCH else 1.0)

    return choose_time_ns


def test_an_allreduce_slower_than_its_parts_is_reported() -> None:
    campaign_view = campaign_views.make_view(
        make_composition(1.5), cases=PARTS, spread=0, state=0, candidates=("alpha",)
    )
    sizes = [size for size in SIZES if size >= SWITCH]
    operations = (("allreduce", "float"), ("reduce", "float"), ("bcast", "byte"))
    assert [render_texts(finding) for finding in find_kind("guidelines", campaign_view)] == [
        Finding(
            kind="guidelines",
            title=Text(WORDING),
            text=Text(WORDING),
            advice=Text(WORDING),
            cases=[make_key(size, *operation) for size in sizes for operation in operations],
            severity="warning",
        )
    ]


def test_sizes_of_parts_are_scaled_by_the_ranks() -> None:
    """With two ranks, a bcast of 1 KiB is a scatter and an allgather of 512 B, a scatter a bcast of twice its size."""
    cases = [
        *make_line("bcast", sizes=(1024,)),
        *make_line("scatter", sizes=(512,)),
        *make_line("allgather", sizes=(512, 1024)),
    ]
    view = make_view(lambda _candidate, case: 9.0 if case.operation == "bcast" else 1.0, cases, candidates=("alpha",))
    (finding,) = find_kind("guidelines", view)
    assert finding.cases == [case.key for case in cases[:3]]
    view = make_view(lambda _candidate, case: 9.0 if case.operation == "scatter" else 1.0, cases, candidates=("alpha",))
    (finding,) = find_kind("guidelines", view)
    assert render(finding.text) == WORDING


def test_a_case_without_its_parts_is_left_out() -> None:
    apart = [*make_line(sizes=(8,)), *make_line("reduce", sizes=(16,)), *make_line("bcast", sizes=(8,))]
    assert find_kind("guidelines", make_view(lambda _candidate, _case: 9.0, apart)) == []


def test_persistent_and_nonblocking_calls_are_compared_with_blocking_ones() -> None:
    cases = [
        *make_line(sizes=(8,)),
        *make_line(form="persistent", sizes=(8,)),
        *make_line(form="nonblocking", sizes=(8,)),
    ]
    factors = {"blocking": 1.0, "persistent": 1.2, "nonblocking": 1.2}
    (finding,) = find_kind(
        "guidelines", make_view(lambda _candidate, case: factors[case.form], cases, candidates=("alpha",))
    )
    assert render(finding.title) == WORDING
    assert render(finding.text) == WORDING
    factors = {"blocking": 1.0, "persistent": 1.0, "nonblocking": 1.5}
    (finding,) = find_kind(
        "guidelines", make_view(lambda _candidate, case: factors[case.form], cases, candidates=("alpha",))
    )
    assert find_lines(render(finding.text), "nonblocking calls of alpha") == WORDING


def test_rules_name_operations_whose_parts_deliver_the_same_amounts() -> None:
    operations = {operation.name: operation for operation in campaigns.make_record().operations}
    for rule in guidelines.read_rules():
        operation, parts = operations[rule.call], [operations[part.operation] for part in rule.parts]
        if not operation.sized:
            continue
        n, p = 4096, 4
        sizes = [{"n": n, "n p": n * p, "n/p": n // p}[part.size] for part in rule.parts]
        both = list(zip(parts, sizes, strict=True))
        assert max(part.receive.bytes(size, p) for part, size in both) >= operation.receive.bytes(n, p), rule
        # A root has its own data as well.
        had = (part.root_receive.bytes(size, p) + part.root_send.bytes(size, p) for part, size in both)
        assert max(had) >= operation.root_receive.bytes(n, p), rule


# --- unstable launches ------------------------------------------------------------------------------------------------


def find_spread(candidate: str, _case: Case) -> float:
    return 0.3 if candidate == "beta" else 0.02


def test_launches_that_scatter_far_more_than_all_others_are_reported() -> None:
    campaign_view = campaign_views.make_view(
        campaign_views.find_equal_time, cases=make_line(), spread=find_spread, state=0.02, launches=10
    )
    (finding,) = find_kind("unstable", campaign_view)
    assert render(finding.title) == WORDING
    assert render(finding.text) == WORDING
    assert (finding.plot, finding.severity, len(finding.cases)) == ("distribution", "warning", 1)


def test_scatter_of_all_launches_is_not_one_candidate_s() -> None:
    views = [
        campaign_views.make_view(campaign_views.find_equal_time, cases=make_line(), seed=seed, spread=0.2, tails=2)
        for seed in range(15)
    ]
    assert [find_kind("unstable", view) for view in views] == [[]] * 15


@pytest.mark.parametrize("factor", [1, 3])
def test_launches_that_follow_the_state_of_the_machine_are_not_unstable(factor: int) -> None:
    """Beta takes three times as long while cores are far; with scatter of its own it is reported for that."""
    view = campaign_views.make_view(
        campaign_views.find_equal_time, cases=make_line(), spread=0.02 if factor == 3 else find_spread, launches=16
    )
    is_far = pl.col("block") % 2 == 0
    slower = is_far & (pl.col("candidate") == "beta")
    values = view.launch_values.with_columns(
        figure_ns=pl.when(slower).then(pl.col("figure_ns") * factor).otherwise("figure_ns"),
        visit_hop_ns=pl.concat_list(pl.when(is_far).then(160.0).otherwise(40.0), pl.lit(41.0) + 119 * is_far),
    )
    assert len(find_kind("unstable", dataclasses.replace(view, launch_values=values))) == (factor == 1)
    plain = dataclasses.replace(view, launch_values=values.drop("visit_hop_ns"))
    assert len(find_kind("unstable", plain)) == 1


def test_cases_missing_in_a_launch_are_left_out_of_its_scatter() -> None:
    campaign_view = campaign_views.make_view(
        campaign_views.find_equal_time, cases=make_line(), spread=find_spread, state=0.02, launches=10
    )
    lone = (pl.col("case") == make_key(SMALL)) & (pl.col("block") > 1)
    lacking = (pl.col("case") == make_key(SWITCH)) & (pl.col("block") == 2)
    launch_values = campaign_view.judged_values.filter(~(lone | lacking))
    (finding,) = find_kind("unstable", dataclasses.replace(campaign_view, launch_values=launch_values))
    assert render(finding.title) == WORDING


# --- settings without effect ------------------------------------------------------------------------------------------

SETTINGS = {"alpha": {}, "beta": {"eager": "1"}}


def test_a_setting_without_effect_is_reported() -> None:
    view = make_view(lambda _candidate, _case: 1.0, make_line(), candidates=("alpha", "beta"), settings=SETTINGS)
    assert [render_texts(finding) for finding in find_kind("no_effect", view)] == [
        Finding(
            kind="no_effect",
            title=Text("eager changed nothing"),
            text=Text(WORDING),
            advice=Text(WORDING),
            cases=[case.key for case in make_line()],
            severity="note",
            plot="ratios",
        )
    ]


def test_settings_with_an_effect_in_one_case_or_with_uncertain_effect_are_not_reported() -> None:
    def slow_down_one_case(candidate: str, case: Case) -> float:
        return 1.04 if candidate == "beta" and case.size_bytes == SMALL else 1.0

    assert (
        find_kind(
            "no_effect", make_view(slow_down_one_case, make_line(), candidates=("alpha", "beta"), settings=SETTINGS)
        )
        == []
    )
    assert find_kind("no_effect", make_view(slow_down_one_case, make_line(), candidates=("alpha", "beta"))) == []
    noisy = campaign_views.make_view(
        campaign_views.find_equal_time, candidates=("alpha", "beta"), settings=SETTINGS, spread=0.1
    )
    assert find_kind("no_effect", noisy) == []


# --- misleading starts ------------------------------------------------------------------------------------------------


def add_barrier(cases: Iterable[Case]) -> list[Case]:
    """Return the cases, and the same cases with start barrier."""
    return [msgspec.structs.replace(case, start=start) for case in cases for start in ("window", "barrier")]


def test_a_start_that_changes_the_winner_is_reported() -> None:
    def choose_factor(candidate: str, case: Case) -> float:
        slow = {"window": "beta", "barrier": "alpha"}[case.start]
        return 1.2 if candidate == slow and case.size_bytes == SMALL else 1.1 if case.start == "barrier" else 1.0

    cases = add_barrier(make_line(sizes=(SMALL, 1024)))
    assert [
        render_texts(finding)
        for finding in find_kind("misleading_starts", make_view(choose_factor, cases, candidates=("alpha", "beta")))
    ] == [
        Finding(
            kind="misleading_starts",
            title=Text("Start barrier misleads"),
            text=Text(WORDING),
            advice=Text(WORDING),
            cases=["allreduce.blocking.16.float.socket.barrier"],
            severity="warning",
            plot="starts",
        )
    ]


def test_a_start_that_is_slower_for_all_is_not_misleading() -> None:
    cases = add_barrier(make_line(sizes=(SMALL, 1024)))
    view = make_view(lambda _candidate, case: 1.5 if case.start == "barrier" else 1.0, cases)
    assert find_kind("misleading_starts", view) == []


# --- one rank always last ---------------------------------------------------------------------------------------------


def draw_last_ranks(
    cases: Iterable[Case], share: Callable[[str], float], launches: int = 6, seed: int = 1, ranks: int = 4
) -> pl.DataFrame:
    """Return last ranks of 100 samples each: rank 2 has a share of them that depends on the candidate."""
    random = np.random.default_rng(seed)
    rows = []
    for case in cases:
        for number, block, _, name in campaign_views.list_launches(launches, ("alpha", "beta", "gamma")):
            rest = (1 - share(name)) / (ranks - 1)
            drawn = random.multinomial(100, [share(name) if rank == 2 else rest for rank in range(ranks)]) / 100
            rows += [
                (case.key, name, block, number, ranks, rank, amount) for rank, amount in enumerate(drawn) if amount
            ]
    return pl.DataFrame(rows, NO_LAST_RANKS.schema, orient="row")


SYMMETRIC = [*make_line(sizes=(8, 1024)), *make_line("alltoall", sizes=(8, 1024)), *make_line("barrier")]


def test_a_rank_that_is_last_with_all_candidates_is_probably_slowed_by_its_cpu() -> None:
    table = draw_last_ranks(SYMMETRIC, lambda _name: 0.9)
    (finding,) = find_kind(
        "last_rank", campaign_views.make_view(campaign_views.find_equal_time, cases=SYMMETRIC, last_ranks=table)
    )
    assert render(finding.title) == "Rank 2 ends last"
    assert render(finding.text).startswith("Rank 2 ends last in ")
    assert render(finding.text) == WORDING
    assert (finding.severity, finding.plot, finding.cases) == ("warning", "ranks", [case.key for case in SYMMETRIC])


def test_a_rank_that_is_last_with_one_candidate_is_probably_slowed_by_its_algorithm() -> None:
    table = draw_last_ranks(SYMMETRIC, lambda name: 0.9 if name == "beta" else 0.25)
    (finding,) = find_kind(
        "last_rank", campaign_views.make_view(campaign_views.find_equal_time, cases=SYMMETRIC, last_ranks=table)
    )
    assert find_lines(render(finding.text), "of the samples of") == WORDING
    assert finding.severity == "note"


@pytest.mark.parametrize("operations", [("bcast", "reduce", "scan"), ("allreduce",)])
def test_operations_that_always_end_at_one_rank_are_not_reported(operations: Sequence[str]) -> None:
    cases = [case for name in operations for case in make_line(name, sizes=(8, 1024))]
    table = draw_last_ranks(cases, lambda _name: 0.95)
    assert (
        find_kind("last_rank", campaign_views.make_view(campaign_views.find_equal_time, cases=cases, last_ranks=table))
        == []
    )


# --- nothing planted --------------------------------------------------------------------------------------------------

NULL = [
    *add_barrier(make_line(sizes=SIZES[::2])),
    *make_line("reduce", sizes=SIZES[::2]),
    *make_line("bcast", sizes=SIZES[::2]),
    *make_line(form="persistent", sizes=SIZES[::2]),
    *make_line("barrier"),
]
LAST_RANKS = {seed: draw_last_ranks(NULL, lambda _name: 0.25, seed=seed, launches=3) for seed in range(4)}
KINDS = (
    "crossover", "jumps", "slower_for_less", "guidelines", "unstable", "no_effect", "last_rank", "misleading_starts",
)  # fmt: skip


def find_null_time(candidate: str, case: Case) -> float:
    """Return times with beta 5% and gamma 20% slower; a composed operation is 3% slower than its parts."""
    factor = {"alpha": 1.0, "beta": 1.05, "gamma": 1.2}[candidate]
    is_plain = case.operation == "allreduce" and case.form == "blocking"
    start = 1.3 if case.start == "barrier" else 1.0
    return (
        factor * start * (2 * 1.03 if is_plain or case.form == "persistent" else 1.0) * campaigns.compute_base_ns(case)
    )


@pytest.mark.parametrize(("spread", "tails"), [(0.02, 0), (0.1, 3)])
@pytest.mark.thorough
def test_findings_are_hardly_ever_invented(spread: float, tails: int) -> None:
    """Each kind of finding is made in at most 1 of 50 campaigns without anything of this kind."""
    invented: Counter[str] = Counter()
    for seed in range(50):
        campaign_view = campaign_views.make_view(
            find_null_time,
            seed=seed,
            cases=NULL,
            spread=spread,
            tails=tails,
            last_ranks=LAST_RANKS[seed % 4],
            settings=THREE_SETTINGS,
        )
        invented.update(kind for kind in KINDS if find_kind(kind, campaign_view))
    assert max(invented.values(), default=0) <= 1, invented


THREE_SETTINGS = {"alpha": {}, "beta": {"eager": "1"}, "gamma": {"eager": "2"}}


def test_a_case_that_always_fails_for_a_candidate_is_in_no_finding() -> None:
    def choose_time_ns(candidate: str, case: Case) -> float:
        return math.nan if candidate == "beta" and case.size_bytes > 1024 else campaigns.compute_base_ns(case)

    campaign_view = campaign_views.make_view(choose_time_ns, cases=NULL, last_ranks=LAST_RANKS[0])
    assert [finding for kind in KINDS for finding in find_kind(kind, campaign_view) if kind != "guidelines"] == []
