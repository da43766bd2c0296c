"""Cases that scale, and the comparison of candidates' growth."""

from __future__ import annotations

from pathlib import Path

import msgspec
import polars as pl
import pytest
from fakes import placement_campaigns, scales, torus

from rankbench.analysis.questions import scaling
from rankbench.analysis.questions.scaling import Site, Step
from rankbench.model import Campaign, Placement

LINE = "allreduce.blocking.8.float..window"


def make_record(
    nodes: tuple[int, ...], ranks: tuple[int, ...], operation: str = "allreduce", cores: int = 4
) -> Campaign:
    return scales.make_record(
        "made", ("alpha", "beta"), (operation,), (8,), scales.make_placements(nodes, ranks), cores
    )


def make_values(times: dict[tuple[str, int], float], blocks: int = 4) -> pl.DataFrame:
    """Return the same values in every block."""
    rows = [
        (f"allreduce.blocking.8.float.{nodes}x1.window", name, block, 10 * block + number, time_ns)
        for block in range(blocks)
        for number, ((name, nodes), time_ns) in enumerate(times.items())
    ]
    schema = {"case": pl.String, "candidate": pl.String, "block": pl.Int32, "launch": pl.Int32, "figure_ns": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")


TIMES = {("alpha", 2): 100.0, ("alpha", 4): 400.0, ("beta", 2): 100.0, ("beta", 4): 110.0}


def test_a_placement_is_a_site_if_its_name_has_numbers() -> None:
    named = Placement(name="4x2", nodes=4, ranks_per_node=2, binding="core")
    assert scaling.find_site(named) == Site(4, 2)
    assert scaling.find_site(msgspec.structs.replace(named, name="nodes")) is None


def test_cases_at_several_numbers_of_ranks_scale() -> None:
    lines = scaling.find_scaled(make_record((1, 2), (1, 2)))
    assert {line: list(cases) for line, cases in lines.items()} == {
        LINE: [Site(1, 1), Site(1, 2), Site(2, 1), Site(2, 2)]
    }
    assert scaling.find_scaled(make_record((2,), (1,))) == {}
    assert scaling.find_scaled(make_record((1, 2), (2,), "pingpong")) == {}


def test_rings_and_named_placements_do_not_scale(tmp_path: Path) -> None:
    assert scaling.find_scaled(torus.make_store(tmp_path / "made", launches=1).campaign) == {}
    assert (
        scaling.find_scaled(
            placement_campaigns.make_record("made", (8,), ("pingpong",), placement_campaigns.SOCKETS, ("alpha",))
        )
        == {}
    )


def test_only_campaigns_over_nodes_have_a_scale_over_nodes() -> None:
    assert scaling.over_nodes(make_record((2,), (1, 2))) == set()
    assert len(scaling.over_nodes(make_record((2, 3), (1,)))) == 2


def test_growth_is_compared_from_two_nodes_on_without_oversubscription() -> None:
    campaign = make_record((1, 2, 4, 8), (1, 2), cores=1)
    assert list(scaling.list_steps(scaling.find_scaled(campaign), campaign)) == [
        Step(LINE, Site(2, 1), Site(4, 1)),
        Step(LINE, Site(4, 1), Site(8, 1)),
    ]


def test_growth_is_compared_within_blocks() -> None:
    campaign = make_record((2, 4), (1,))
    (growth,) = scaling.compare_growth(make_values(TIMES), campaign, scaling.find_scaled(campaign))
    assert growth.factor == {"alpha": pytest.approx(4), "beta": pytest.approx(1.1)}
    (ratio,) = growth.ratios
    assert (ratio.base, ratio.other, ratio.blocks, ratio.different) == ("alpha", "beta", 4, True)
    assert ratio.ratio == pytest.approx(1.1 / 4)


def test_without_values_there_is_no_growth() -> None:
    campaign = make_record((2, 4), (1,))
    assert scaling.compare_growth(make_values({}), campaign, scaling.find_scaled(campaign)) == []
