"""The study of the clocks is read as the core writes it, complete or interrupted."""

from __future__ import annotations

from pathlib import Path

from fakes import study as fake
from wording import WORDING

from rankbench.samples import study


def _read(tmp_path: Path, text: str) -> study.Study:
    path = tmp_path / "stream"
    path.write_text(text)
    return study.read(path)


def test_a_complete_study_is_read_as_written(tmp_path: Path) -> None:
    content = _read(tmp_path, fake.encode_records(fake.make_records(ranks=2, runs=3, truth_ns=1e9)))
    assert content.stream.complete
    assert content.stream.facts
    assert content.stream.facts.source_reason == "finest step"
    assert [rank.cpu for rank in content.stream.ranks] == [0, 1]
    assert [(clock.source, clock.rank, clock.usable) for clock in content.clocks] == [
        ("tsc", 0, True),
        ("tsc", 1, True),
        ("MPI_Wtime", 0, True),
        ("MPI_Wtime", 1, False),
    ]
    assert len(content.offsets) == 3 * 3 * 2
    assert {(offset.synchronisation, offset.run): offset.error_ns for offset in content.offsets if offset.rank} == {
        (method, run): 20.0 + run for method in fake.METHODS for run in range(3)
    }
    assert content.synchronisations[0].most_messages == 200


def test_an_unknown_offset_has_no_error(tmp_path: Path) -> None:
    content = _read(tmp_path, fake.encode_records(fake.make_records(truth_ns=None, error_ns=99.0, bound_ns=50.0)))
    assert {(offset.error_ns, offset.excess_ns) for offset in content.offsets} == {(None, 0.0)}


def test_an_error_beyond_its_bound_is_marked(tmp_path: Path) -> None:
    content = _read(tmp_path, fake.encode_records(fake.make_records(runs=1, ranks=2, error_ns=60.0, bound_ns=50.0)))
    assert [offset.excess_ns for offset in content.offsets] == [0.0, 10.0] * 3


def test_a_study_truncated_at_any_byte_gives_its_complete_lines(tmp_path: Path) -> None:
    text = fake.encode_records(fake.make_records(ranks=2, runs=1))
    for length in range(0, len(text) + 1, 7):
        content = _read(tmp_path, text[:length])
        ended = text[:length].count("\n")
        records = len(content.stream.ranks) + len(content.clocks) + len(content.offsets) + len(content.synchronisations)
        assert records == max(0, ended - 1) - content.stream.complete
        assert content.stream.complete == (ended == text.count("\n"))


def test_a_line_of_another_stream_is_damage(tmp_path: Path) -> None:
    content = _read(
        tmp_path, fake.encode_records([*fake.make_records(ranks=2, runs=1)[:3], {"record": "begin", "case": 0}])
    )
    assert len(content.stream.ranks) == 2
    assert content.stream.damage == WORDING
