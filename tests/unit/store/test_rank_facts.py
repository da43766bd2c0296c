"""Where ranks ran: stored once for all launches with the same facts, and read when used."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes.campaigns import make_campaign
from wording import WORDING

from rankbench import store
from rankbench.model import CaseResult, DamagedFileError, Launch, RankFact, list_rank_sets
from rankbench.report.tables import describe_locations
from rankbench.store import Store, rank_facts

FACTS = [
    RankFact(rank=rank, host=f"n{rank // 4}", cpu=rank % 4, cpus="0-3", clock="x", libmpi="/l") for rank in range(8)
]
OTHERS = [msgspec.structs.replace(fact, cpu=3 - fact.cpu) for fact in FACTS]


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return a campaign of six launches, of which the last has other facts."""
    append = Store.append

    def append_with_facts(self: Store, launch: Launch, rows: list[CaseResult]) -> None:
        append(self, msgspec.structs.replace(launch, ranks=OTHERS if launch.number == 6 else FACTS), rows)

    monkeypatch.setattr(Store, "append", append_with_facts)
    make_campaign(tmp_path / "c", launches=2)
    return store.open(tmp_path / "c")


def test_equal_facts_are_stored_once(results: Store) -> None:
    launches = results.launches()
    assert [list(launch.ranks) for launch in launches] == [FACTS] * 5 + [OTHERS]
    assert len(list((results.folder / "ranks").iterdir())) == 2
    assert [list(ranks) for ranks in list_rank_sets(launches)] == [FACTS, OTHERS]
    assert b"cpus" not in (results.folder / "launches/000001.json").read_bytes().partition(b'"facts"')[2][:600]
    assert launches == results.launches()
    assert launches[0].ranks == FACTS
    assert launches[0].ranks != launches[5].ranks
    assert all(path in results.list_files() for path in (results.folder / "ranks").iterdir())


@pytest.mark.parametrize("content", [b"", b"PAR1 nonsense PAR1", None])
def test_damaged_facts_are_reported_when_they_are_used(results: Store, content: bytes | None) -> None:
    rank_facts.read_facts.cache_clear()
    for path in (results.folder / "ranks").iterdir():
        path.write_bytes(content) if content is not None else path.unlink()
    launches = results.launches()
    with pytest.raises(DamagedFileError, match=r"ranks/[0-9a-f]{20}\.parquet: (damaged|cannot be read)"):
        list(launches[0].ranks)


def test_records_that_hold_their_facts_are_read(results: Store) -> None:
    """As earlier versions wrote them."""
    path = results.folder / "launches/000001.json"
    record = msgspec.json.decode(path.read_bytes())
    record |= {"rank_table": "", "ranks": msgspec.to_builtins(OTHERS)}
    path.write_bytes(msgspec.json.encode(record))
    assert results.launches()[0].ranks == OTHERS


def test_many_ranks_are_summed_up() -> None:
    assert describe_locations(FACTS[:1]) == WORDING
    many = [RankFact(rank=rank, host=f"n{rank // 100}", cpu=0, cpus="0", clock="x", libmpi="/l") for rank in range(300)]
    assert describe_locations(many) == WORDING
