"""Where the ranks of self-tests run."""

from __future__ import annotations

import msgspec
import pytest
from fakes import make_machine

from rankbench.campaign.selftest import HERE, Nodes, place_ranks
from rankbench.model import RankbenchError

FOUR = msgspec.structs.replace(make_machine(), cores=4)
PAIR = Nodes(hosts=("n1", "n2"), remote_shell="rsh")


@pytest.mark.parametrize(
    ("ranks", "nodes", "name", "binding"),
    [
        (4, HERE, "1x4", "core"),
        (5, HERE, "1x5", "none"),
        (8, PAIR, "2x4", "core"),
        (10, PAIR, "2x5", "none"),
        (2, PAIR._replace(one_machine=True), "2x1", "none"),
    ],
)
def test_ranks_are_dealt_out_evenly_and_share_cores_only_if_there_are_too_few(
    ranks: int, nodes: Nodes, name: str, binding: str
) -> None:
    placement = place_ranks(ranks, FOUR, nodes)
    assert (placement.name, placement.binding, tuple(placement.hosts)) == (name, binding, nodes.hosts)
    assert placement.remote_shell == nodes.remote_shell


def test_hosts_have_equal_numbers_of_ranks() -> None:
    with pytest.raises(RankbenchError, match="--ranks 3: not a multiple of 2 hosts"):
        place_ranks(3, FOUR, PAIR)
