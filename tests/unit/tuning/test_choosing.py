"""Rules from ratios: only significant gains change an algorithm, and neighbouring sizes share a rule."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes import campaigns, recorded_programs
from fakes.ratios import make_ratio
from wording import WORDING, refuses

from rankbench import launch, plan
from rankbench.analysis.questions.block_ratios import Overall
from rankbench.model import Choice, Comparison, RankbenchError, Variable, Variant
from rankbench.model.program_records import encode
from rankbench.tuning import FEWEST_BLOCKS, LEAST_CHECKED, Task, choosing, proving, step_plans, tuners
from rankbench.tuning.choosing import Abilities, Fault, Point, SearchResult
from rankbench.workflows import tuning_steps, tunings
from rankbench.workflows.watching import SILENT

SIZES = [8, 64, 512, 4096]
RING, TREE = (Variant(name=name, settings={"A": name}, algorithm=name) for name in ("ring", "tree"))
TASK = Task("mpich", ["bcast"], SIZES, {"socket": 2}, 0.03, {"bcast": [RING, TREE]})
BY_SIZE = Abilities({"bcast": {"ring", "tree"}}, has_own_choice=True)
NOT_BY_SIZE = Abilities({}, has_own_choice=True)
WITHOUT_DEFAULT = Abilities({"bcast": {"ring", "tree"}}, has_own_choice=False)


def make_search(ring: list[Comparison], tree: list[Comparison], faults: tuple[Fault, ...] = ()) -> SearchResult:
    ratios = {Point("socket", "bcast", size, "ring"): value for size, value in zip(SIZES, ring, strict=True)}
    ratios |= {Point("socket", "bcast", size, "tree"): value for size, value in zip(SIZES, tree, strict=True)}
    return SearchResult(ratios, faults)


def choose_ranges(search: SearchResult, abilities: Abilities) -> list[tuple[int, int, str]]:
    rules = choosing.choose_rules(TASK, search, abilities)
    return [(rule.first_bytes, rule.last_bytes, rule.variant.name) for rule in rules]


FAST, EVEN, SLOW = make_ratio(0.8), make_ratio(1.0), make_ratio(1.3)
UNCERTAIN = make_ratio(0.8, sure=False)
MAYBE_SLOW = make_ratio(1.06, sure=False)


@pytest.mark.parametrize(
    ("ring", "tree", "expected"),
    [
        ([EVEN] * 4, [SLOW] * 4, []),
        ([UNCERTAIN] * 4, [EVEN] * 4, []),
        ([FAST, FAST, EVEN, EVEN], [SLOW] * 4, [(8, 64, "ring")]),
        ([FAST, FAST, EVEN, SLOW], [SLOW, SLOW, EVEN, FAST], [(8, 64, "ring"), (4096, 4096, "tree")]),
        ([FAST, FAST, FAST, SLOW], [SLOW, SLOW, make_ratio(0.79), FAST], [(8, 4095, "ring"), (4096, 4096, "tree")]),
        (
            [FAST, FAST, FAST, FAST],
            [SLOW, SLOW, make_ratio(0.6), SLOW],
            [(8, 511, "ring"), (512, 4095, "tree"), (4096, 4096, "ring")],
        ),
    ],
)
def test_ranges_of_sizes_have_the_fastest_variant(
    ring: list[Comparison], tree: list[Comparison], expected: list[tuple[int, int, str]]
) -> None:
    assert choose_ranges(make_search(ring, tree), BY_SIZE) == expected


@pytest.mark.parametrize(
    ("ring", "tree", "expected"),
    [
        ([FAST, EVEN, EVEN, EVEN], [SLOW] * 4, [(8, 4096, "ring")]),
        ([FAST, FAST, FAST, SLOW], [SLOW] * 4, []),
        ([FAST, EVEN, EVEN, EVEN], [FAST, FAST, EVEN, EVEN], [(8, 4096, "tree")]),
        ([EVEN] * 4, [UNCERTAIN] * 4, []),
    ],
)
def test_one_variant_may_serve_all_sizes(
    ring: list[Comparison], tree: list[Comparison], expected: list[tuple[int, int, str]]
) -> None:
    assert choose_ranges(make_search(ring, tree), NOT_BY_SIZE) == expected


@pytest.mark.parametrize(
    ("ring", "tree", "expected"),
    [
        ([FAST, EVEN, EVEN, EVEN], [SLOW] * 4, [(8, 4096, "ring")]),
        ([FAST, FAST, EVEN, SLOW], [SLOW, SLOW, EVEN, EVEN], [(8, 4095, "ring"), (4096, 4096, "tree")]),
        ([FAST, FAST, SLOW, FAST], [SLOW, SLOW, SLOW, FAST], []),
        ([FAST, FAST, MAYBE_SLOW, FAST], [SLOW, SLOW, SLOW, FAST], [(8, 4096, "ring")]),
        ([EVEN] * 4, [EVEN] * 4, []),
    ],
)
def test_without_a_default_of_the_library_every_size_has_a_variant_that_is_not_slower(
    ring: list[Comparison], tree: list[Comparison], expected: list[tuple[int, int, str]]
) -> None:
    assert choose_ranges(make_search(ring, tree), WITHOUT_DEFAULT) == expected


@pytest.mark.parametrize("abilities", [BY_SIZE, NOT_BY_SIZE, WITHOUT_DEFAULT])
@pytest.mark.parametrize("status", ["wrong-data", "failed", "crashed", "hung"])
def test_variants_with_faults_are_never_chosen(abilities: Abilities, status: str) -> None:
    fault = Fault("ring", "bcast", status, "")
    assert choose_ranges(make_search([FAST] * 4, [SLOW] * 4, (fault,)), abilities) == []
    elsewhere = fault._replace(operation="reduce")
    assert choose_ranges(make_search([FAST] * 4, [SLOW] * 4, (elsewhere,)), BY_SIZE) == [(8, 4096, "ring")]


def test_a_variant_for_all_sizes_only_is_chosen_if_it_gains_more() -> None:
    only_ring = Abilities({"bcast": {"ring"}}, has_own_choice=True)
    assert choose_ranges(make_search([FAST, EVEN, EVEN, EVEN], [FAST] * 4), only_ring) == [(8, 4096, "tree")]
    assert choose_ranges(make_search([FAST] * 4, [FAST, EVEN, EVEN, EVEN]), only_ring) == [(8, 4096, "ring")]


def test_a_rule_applies_to_the_ranks_of_its_placement() -> None:
    task = TASK._replace(placements={"sockets:4": 4, "socket": 2})
    search = make_search([FAST] * 4, [SLOW] * 4)
    ratios = search.ratios | {point._replace(placement="sockets:4"): SLOW for point in search.ratios}
    (rule,) = choosing.choose_rules(task, SearchResult(ratios), BY_SIZE)
    assert (rule.ranks, rule.variant, rule.all_sizes) == (2, RING, True)


def test_variants_without_a_chance_are_dropped_after_screening() -> None:
    assert choosing.select_promising(TASK, make_search([EVEN] * 4, [SLOW, SLOW, UNCERTAIN, SLOW])) == {"bcast": [TREE]}


def test_parameters_are_searched_for_leading_variants_only() -> None:
    assert choosing.select_front(TASK, make_search([FAST] * 4, [make_ratio(0.9)] * 4)) == {"bcast": [RING]}
    assert choosing.select_front(TASK, make_search([FAST] * 4, [make_ratio(0.9)] * 3 + [make_ratio(0.79)])) == {
        "bcast": [TREE, RING]
    }


@pytest.mark.parametrize(
    ("ring", "tree", "abilities", "expected"),
    [
        ([FAST] * 4, [SLOW, SLOW, make_ratio(5.0), SLOW], BY_SIZE, (512, TREE, 512, 512, False)),
        ([EVEN, EVEN, FAST, EVEN], [EVEN] * 4, BY_SIZE, (512, RING, 512, 512, False)),
        ([EVEN, EVEN, FAST, EVEN], [EVEN] * 4, NOT_BY_SIZE, (512, RING, 8, 4096, True)),
        (
            [EVEN, EVEN, FAST, EVEN],
            [SLOW, SLOW, make_ratio(5.0), SLOW],
            Abilities({"bcast": {"ring"}}, has_own_choice=True),
            (512, RING, 512, 512, False),
        ),
    ],
)
def test_the_variant_that_differs_most_tests_whether_settings_have_effect(
    ring: list[Comparison],
    tree: list[Comparison],
    abilities: Abilities,
    expected: tuple[int, Variant, int, int, bool],
) -> None:
    evident = choosing.find_evident_point(TASK, make_search(ring, tree), abilities)
    assert evident
    point, variant = evident
    rule = choosing.make_evident_rule(TASK, point, variant, abilities)
    assert (point.size_bytes, variant, rule.first_bytes, rule.last_bytes, rule.all_sizes) == expected
    assert rule.ranks == 2


@pytest.mark.parametrize(("expected", "mean", "follows"), [
    (2.0, 1.5, True), (2.0, 1.3, False), (0.5, 0.6, True), (0.5, 0.8, False), (0.9, 1.1, False),
])  # fmt: skip
def test_settings_have_effect_if_times_are_nearer_to_those_of_the_search(
    expected: float, mean: float, *, follows: bool
) -> None:
    assert proving.Proof(Overall(mean, 0.0, 9.0), []).follows(expected) == follows


def make_proof(size_bytes: int, ranks: int = 2) -> proving.Proof:
    """Return a proof in which one case is slower."""
    case = next(other for other in campaigns.make_cases("socket") if other.operation == "allreduce")
    case = msgspec.structs.replace(case, operation="bcast", size_bytes=size_bytes, ranks=ranks)
    return proving.Proof(proving.NO_OVERALL, [(case, SLOW)])


SEARCH = make_search([FAST, FAST, EVEN, SLOW], [SLOW, SLOW, EVEN, FAST])


@pytest.mark.parametrize(
    ("proof", "expected"),
    [(make_proof(8), ["ring", "tree"]), (make_proof(512), []), (make_proof(24, ranks=4), [])],
)
def test_a_variant_that_makes_a_case_slower_is_not_chosen_again(proof: proving.Proof, expected: list[str]) -> None:
    exclusion = proving.exclude_slower(TASK, SEARCH, choosing.choose_rules(TASK, SEARCH, BY_SIZE), proof)
    again = choosing.choose_rules(TASK, exclusion.result, BY_SIZE)
    assert [rule.variant.name for rule in again] == expected
    assert not any(rule.first_bytes <= proof.slower[0].size_bytes <= rule.last_bytes for rule in again)
    assert exclusion.sentences == [WORDING]
    assert not exclusion.unknown


def test_an_operation_with_a_slower_case_is_left_out_in_the_end() -> None:
    rules = choosing.choose_rules(TASK, SEARCH, BY_SIZE)
    exclusion = proving.exclude_slower(TASK, SEARCH, rules, make_proof(8), operations=True)
    assert exclusion.sentences == WORDING
    assert not choosing.choose_rules(TASK, exclusion.result, BY_SIZE)


@pytest.mark.parametrize(
    ("ring", "tree", "abilities", "expected"),
    [
        (SLOW, FAST, BY_SIZE, [(8, 23, "ring"), (24, 63, "tree"), (64, 512, "ring")]),
        (SLOW, EVEN, BY_SIZE, [(8, 8, "ring"), (64, 512, "ring")]),
        (EVEN, EVEN, BY_SIZE, [(8, 8, "ring"), (64, 512, "ring")]),
        (SLOW, EVEN, WITHOUT_DEFAULT, [(8, 23, "ring"), (24, 63, "tree"), (64, 4095, "ring"), (4096, 4096, "tree")]),
        (SLOW, SLOW, WITHOUT_DEFAULT, []),
    ],
)
def test_a_size_between_at_which_a_range_is_slower_is_searched(
    ring: Comparison, tree: Comparison, abilities: Abilities, expected: list[tuple[int, int, str]]
) -> None:
    search = make_search([FAST, FAST, FAST, SLOW], [EVEN] * 4)
    rules = choosing.choose_rules(TASK, search, abilities)
    exclusion = proving.exclude_slower(TASK, search, rules, make_proof(24))
    assert exclusion.unknown == {"bcast": {24}}
    assert choosing.select_near(TASK, exclusion.result, exclusion.unknown) == {"bcast": [RING, TREE]}
    between = {Point("socket", "bcast", 24, name): ratio for name, ratio in (("ring", ring), ("tree", tree))}
    result = choosing.combine_results([exclusion.result, SearchResult(between)])
    again = choosing.choose_rules(TASK, result, abilities)
    assert [(rule.first_bytes, rule.last_bytes, rule.variant.name) for rule in again] == expected


def test_a_library_without_own_choice_gets_another_variant_where_one_is_slower() -> None:
    search = make_search([FAST, EVEN, EVEN, EVEN], [SLOW, SLOW, EVEN, EVEN])
    rules = choosing.choose_rules(TASK, search, WITHOUT_DEFAULT)
    result = proving.exclude_slower(TASK, search, rules, make_proof(4096)).result
    again = choosing.choose_rules(TASK, result, WITHOUT_DEFAULT)
    ranges = [(rule.first_bytes, rule.last_bytes, rule.variant) for rule in again]
    assert ranges == [(8, 4095, RING), (4096, 4096, TREE)]


def test_a_rule_for_all_sizes_that_slows_other_ranks_is_not_chosen_again() -> None:
    search = make_search([FAST] * 4, [SLOW] * 4)
    rules = choosing.choose_rules(TASK, search, NOT_BY_SIZE)
    result = proving.exclude_slower(TASK, search, rules, make_proof(24, ranks=4)).result
    assert rules
    assert not choosing.choose_rules(TASK, result, NOT_BY_SIZE)


def make_faulty(size_bytes: int, ranks: int = 2) -> proving.Proof:
    """Return a proof in which one case has wrong data and all rules have enough calls."""
    case = make_proof(size_bytes, ranks).slower[0]
    calls = [(msgspec.structs.replace(case, size_bytes=size, ranks=2), LEAST_CHECKED) for size in SIZES]
    return proving.Proof(proving.NO_OVERALL, [], [proving.CaseFault(case, "wrong-data", "byte 3")], calls)


@pytest.mark.parametrize(
    ("proof", "expected"),
    [
        (make_faulty(8), [(4096, 4096, "tree")]),
        (make_faulty(512), []),
        (make_faulty(24, ranks=4), []),
        (make_faulty(8)._replace(faults=[proving.CaseFault(None, "refused", "did not start")]), []),
    ],
)
def test_a_fault_in_a_proof_excludes_the_variants_that_cause_it(
    proof: proving.Proof, expected: list[tuple[int, int, str]]
) -> None:
    exclusion = proving.exclude(TASK, SEARCH, choosing.choose_rules(TASK, SEARCH, BY_SIZE), proof)
    assert choose_ranges(exclusion.result, BY_SIZE) == expected
    (sentence,) = exclusion.sentences
    assert sentence == WORDING


def test_a_rule_of_which_few_calls_were_checked_is_left_out() -> None:
    rules = choosing.choose_rules(TASK, SEARCH, BY_SIZE)
    case = make_proof(8).slower[0]
    checked = [(msgspec.structs.replace(case, size_bytes=size), LEAST_CHECKED // 2) for size in SIZES]
    proof = proving.Proof(proving.NO_OVERALL, [], [], checked)
    exclusion = proving.exclude(TASK, SEARCH, rules, proof)
    assert choose_ranges(exclusion.result, BY_SIZE) == [(8, 64, "ring")]
    assert exclusion.sentences == WORDING


def test_the_fewest_blocks_of_a_proof_check_enough_calls() -> None:
    proof = plan.make_plan(step_plans.make_proof(TASK, {}, ["bcast"], ["socket"], 3, 1), "proof", launch.machine())
    assert proof.sampling.good * FEWEST_BLOCKS >= LEAST_CHECKED


def test_the_proof_has_sizes_between_the_tuned_ones() -> None:
    assert step_plans.add_middles([8, 64, 512]) == [8, 24, 64, 184, 512]


def test_the_nodes_of_a_tuning_are_those_of_all_its_plans() -> None:
    task = TASK._replace(placements={"4x1": 4}, reach={"hosts": ["n1", "n2", "n3", "n4"], "one_machine": True})
    check = step_plans.make_check(task, {}, "bcast", 8, "4x1", 3)
    for values in (step_plans.make_search(task, 3), step_plans.make_proof(task, {}, ["bcast"], ["4x1"], 3, 1), check):
        assert (values["hosts"], values["one_machine"]) == (["n1", "n2", "n3", "n4"], True)


def test_a_range_ends_before_the_next_one() -> None:
    rules = choosing.choose_rules(TASK, make_search([FAST] * 3 + [SLOW], [SLOW, SLOW, make_ratio(0.79), FAST]), BY_SIZE)
    assert [tuning_steps.format_end(rule, rules) for rule in rules] == ["< 4 KiB", "4 KiB"]


@pytest.mark.parametrize(
    ("ranks", "hosts", "expected"),
    [(2, ["n1", "n2", "n3", "n4"], ["4x1"]), (4, ["n1", "n2", "n3", "n4"], ["2x1"]), (2, ["n1", "n2"], [])],
)
def test_the_proof_over_nodes_has_another_number_of_nodes(ranks: int, hosts: list[str], expected: list[str]) -> None:
    task = TASK._replace(placements={f"{ranks}x1": ranks}, reach={"hosts": hosts})
    assert tuning_steps.list_other_placements(task, launch.machine()) == expected


@pytest.mark.parametrize("text", ["8'", '8"', "8'\nsamples = 3\n#"])
def test_an_option_is_a_value_and_errors_name_it(text: str) -> None:
    shown = text.replace("\n", "\\n")
    for option, values in (("sizes", (text, "3%")), ("threshold", ("8", text))):
        with pytest.raises(RankbenchError) as error:
            tunings.make_wanted_task(tunings.TuneRequest("", "allreduce", values[0], threshold=values[1]), {})
        assert str(error.value).startswith(f'--{option}: found "{shown}", expected ')
    with pytest.raises(RankbenchError, match=r"^--placements\[0\]: found "):
        tunings.make_wanted_task(tunings.TuneRequest("", "allreduce", "8", text), {})


def test_a_call_without_a_size_is_no_task() -> None:
    with refuses():
        make_task(tunings.OPERATIONS, "barrier: 2, allreduce: 3")


def make_task(operations: str, calls: str = "", profile: Path | None = None) -> Task:
    """Return the task of a command line for an Open MPI that lists algorithms of allreduce alone."""
    choices = [Choice(name="ignore", number=0), Choice(name="ring", number=4)]
    name = "coll_tuned_allreduce_algorithm"
    variable = Variable(name=name, description="", type="whole", constant=False, value="0", values=choices)
    library = msgspec.structs.replace(campaigns.make_library("openmpi"), name="openmpi-5.0.11")
    sizes = tunings.SIZES if calls or profile else "8"
    wanted = tunings.TuneRequest("", operations, sizes, calls=calls, profile=profile)
    request = tunings.make_wanted_task(wanted, {})
    target = tuners.Target("", {name: variable})
    return tunings.make_task(library, request, tuners.find_tuner(library), target, SILENT)


@pytest.mark.parametrize("operations", ["", "allreduce,allredcue"])
def test_an_unknown_operation_is_refused_before_any_measurement(operations: str) -> None:
    with refuses():
        make_task(operations)


def test_calls_that_a_library_cannot_tune_are_left_out() -> None:
    assert make_task(tunings.OPERATIONS, "allreduce 8: 5, barrier: 5").operations == ["allreduce"]
    assert make_task(tunings.OPERATIONS).operations == ["allreduce"]


@pytest.mark.parametrize("multiple", [False, True])
def test_a_program_s_calls_are_tuned_at_its_level_of_threads(tmp_path: Path, *, multiple: bool) -> None:
    kind = recorded_programs.make_kind("MPI_Allreduce", bytes=8, calls=[5, 5])
    run = recorded_programs.make_run(kind, thread_multiple=multiple)
    (tmp_path / "record.json").write_bytes(encode(run))
    task = make_task(tunings.OPERATIONS, profile=tmp_path / "record.json")
    proof = step_plans.make_proof(task, {"A": "ring"}, ["allreduce"], ["socket"], 8, 1)
    for step in (step_plans.make_search(task, 8), proof):
        options = step["options"]
        assert isinstance(options, dict)
        assert options.get("thread_level") == ("multiple" if multiple else None)
