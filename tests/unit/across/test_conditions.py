"""Matching of candidates, differences between two campaigns, and the comparison of raw probes."""

from __future__ import annotations

import math

import msgspec
import pytest
from fakes import campaigns
from fakes.campaigns import make_launch, make_library, make_record, make_state
from wording import WORDING

from rankbench.across import conditions
from rankbench.across.conditions import Probes, compare_probes, match_candidates
from rankbench.language import render
from rankbench.model import Campaign, Candidate, Launch, RankbenchError


def make_campaign(*named: tuple[str, str, dict[str, str]]) -> Campaign:
    """Return a campaign with candidates, each of a family and with settings."""
    base = make_record(candidates=[name for name, _, _ in named], control=False)
    return msgspec.structs.replace(
        base,
        candidates=[Candidate(name=name, library=name, settings=settings) for name, _, settings in named],
        libraries=[msgspec.structs.replace(make_library(name), family=family) for name, family, _ in named],
    )


TUNED = {"x": "1"}


@pytest.mark.parametrize(
    ("old", "new", "requests", "pairs"),
    [
        ([("a", "f", {})], [("a", "f", {})], {}, [("a", "a", "name")]),
        ([("a-1", "a", {})], [("a-2", "a", {})], {}, [("a-1", "a-2", "family")]),
        ([("a", "unknown", {})], [("b", "unknown", {})], {}, []),
        ([("a-1", "a", {})], [("a-2", "a", {}), ("a-3", "a", {})], {}, []),
        (
            [("a-1", "a", {}), ("a-1 tuned", "a", TUNED)],
            [("a-2 tuned", "a", TUNED), ("a-2", "a", {})],
            {},
            [("a-1 tuned", "a-2 tuned", "family"), ("a-1", "a-2", "family")],
        ),
        ([("a-1", "a", {})], [("a-2", "a", TUNED)], {}, [("a-1", "a-2", "family")]),
        (
            [("a", "a", {}), ("b", "b", {})],
            [("a", "a", {}), ("b", "b", {})],
            {"a": "b"},
            [("a", "b", "request")],
        ),
        ([("a-1", "a", {})], [("b-2", "b", {})], {"a": "b"}, [("a-1", "b-2", "request")]),
    ],
)
def test_candidates_are_matched_by_name_family_and_request(
    old: list[tuple[str, str, dict[str, str]]],
    new: list[tuple[str, str, dict[str, str]]],
    requests: dict[str, str],
    pairs: list[tuple[str, str, str]],
) -> None:
    assert [
        (match.old, match.new, match.by)
        for match in match_candidates(make_campaign(*old), make_campaign(*new), requests)
    ] == pairs


def test_the_folder_of_a_prefix_names_a_build() -> None:
    campaign = make_campaign(("openmpi-5@base", "openmpi", {}), ("openmpi-5@dev", "openmpi", {}))
    assert conditions.resolve(campaign, "dev") == "openmpi-5@dev"
    with pytest.raises(RankbenchError, match="openmpi fits several candidates"):
        conditions.resolve(campaign, "openmpi")
    with pytest.raises(RankbenchError, match="no candidate devel in campaign"):
        conditions.resolve(campaign, "devel")


def test_a_version_is_reported_once_although_the_library_reports_it_too() -> None:
    then = {"library": "a 1", "reported version": "A MPI 1", "compiler": "gcc 12", "settings": ""}
    now = {"library": "a 2", "reported version": "A MPI 2", "compiler": "gcc 13", "settings": "x=1"}
    assert [render(difference.text) for difference in conditions.compare_libraries(then, now)] == WORDING
    assert [render(difference.arrow) for difference in conditions.compare_libraries(then, now)] == WORDING
    rebuilt = then | {"reported version": "A MPI 1, rebuilt"}
    assert [difference.what for difference in conditions.compare_libraries(then, rebuilt)] == ["reported version"]
    assert render(conditions.compare_libraries(then, then | {"library": "b 1"})[0].arrow) == "a 1 → b 1"


def make_launches(*exchange_ns: float, copy: float = 2e10, cpus: tuple[int, int] = (0, 1)) -> list[Launch]:
    """Return launches with these probes."""
    records = []
    for number, time_ns in enumerate(exchange_ns, 1):
        around = make_state(time_ns)
        exchange = [msgspec.structs.replace(exchange_pair, cpus=cpus) for exchange_pair in around.exchange]
        around = msgspec.structs.replace(around, exchange=exchange, copy_bytes_per_s=copy)
        record = make_launch(number, number, 0, "alpha", "socket")
        ranks = [msgspec.structs.replace(rank, cpu=cpu) for rank, cpu in zip(record.ranks, cpus, strict=True)]
        records.append(msgspec.structs.replace(record, before=around, after=around, ranks=ranks))
    return records


def test_probes_are_compared_by_their_medians_over_launches() -> None:
    ratios = compare_probes(make_launches(50, 50, 200), make_launches(60, 60, 60, copy=1e10))
    assert ratios.known == pytest.approx([1.2, 2.0])
    other = compare_probes(make_launches(50), make_launches(100, cpus=(2, 3)))
    assert other.exchange == pytest.approx(2.0), "no pair in common: the means of all"


def test_unknown_probes_are_not_compared() -> None:
    blind = [msgspec.structs.replace(record, before=None, after=None) for record in make_launches(50)]
    assert compare_probes(blind, make_launches(50)) == Probes()
    assert not Probes().explain(1.01)
    assert compare_probes([], make_launches(50)) == Probes()


@pytest.mark.parametrize(
    ("ratio", "explained"), [(1.1, True), (1.2, True), (1.21, False), (0.95, True), (0.89, False), (1.0, True)]
)
def test_a_ratio_is_explained_by_a_probe_with_as_large_a_change_in_its_direction(ratio: float, explained: bool) -> None:
    assert Probes(exchange=1.2, copy=0.9).explain(ratio) is explained


def test_machine_and_method_are_read_from_the_record() -> None:
    record = make_record()
    launch_records = [campaigns.make_launch(1, 1, 0, "alpha", "socket")]
    assert conditions.describe_rankbench(record, launch_records) == {
        "rankbench": "0.1.0",
        "version of the core": "0.2.0",
        "sources of the core": "c" * 12,
    }
    assert conditions.describe_plan(record, launch_records) == {
        "time source": "clock_gettime",
        "synchronisation of clocks": "tree",
        "limits of a case": "100 good samples, 1 s",
    }
    assert conditions.describe_candidate(record, launch_records, "alpha") == {
        "library": "alpha 1.0",
        "reported version": "Alpha MPI 1.0",
        "compiler": "gcc 12.2.0",
        "settings": "",
        "settings of shell and files": "",
    }
    assert math.isclose(conditions.level(launch_records)[0, 1], campaigns.QUIET_NS)
