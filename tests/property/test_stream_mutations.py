"""Whatever is in a stream, reading it ends in results that the store can hold, or in one line on what is wrong."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes import campaigns

from rankbench import samples
from rankbench.campaign import pinning
from rankbench.model import ALL_RANKS, Case, CaseResult, CaseStatus, Launch, RankbenchError, Series, Stream
from rankbench.samples.records import LONGEST_NS, MARKS, PER_SAMPLE
from rankbench.store import tables

MUTATIONS = 400
CASES = campaigns.make_cases(lines=[("allreduce", "blocking"), ("bcast", "blocking")])
JOB = [*CASES, *CASES]
"""Each case is visited twice."""
RECORD = campaigns.make_record(cases=CASES)
NUMBER = re.compile(rb"-?\d+\.?\d*(?:e[-+]?\d+)?")
ITEM = re.compile(rb",\d[^,\]\[]*(?=[,\]])")
ODD = [
    *(b"1e308", b"-1", b"1e999", b"NaN", b"9223372036854775808", b"99999999999999999999999999", b"2147483648"),
    *(b'""', b"null", b"[]", b"{}", b"true", b"0.5", b"-9e99", b"1e-320", b"1e15", b"1e16", b"-0", b"128"),
    b"[" * 3000 + b"]" * 3000,
]
"""What replaces a number."""
STATUSES = [b'"failed"', b'"lacking"', b'"refused"', b'"x"']


def make_series(rank: int, count: int) -> dict[str, Any]:
    """Return a series of so many samples with clocks that differ."""
    last_ranks = [0] * count if rank == ALL_RANKS else []
    times = [500.5 + number for number in range(count)]
    errors = {name: [1.5] * count for name in ("skew_ns", "bound_ns", "error_ns")}
    return {"rank": rank, "time_ns": times, "last_rank": last_ranks, "late": [1], "overrun": [2], **errors}


def make_result(index: int) -> dict[str, Any]:
    """Return the record of a case with all its columns."""
    columns = {
        column.column.stream_name or field: {int: 0, float: 0.0, str: ""}.get(column.kind, [])
        for field, column in samples.records.COLUMNS.items()
        if column.column.streamed
    }
    counts = {"status": "ok", "taken": 6, "valid": 5, "late": 1, "overrun": 1, "ranks": 2, "calls": 1}
    moved = {"moved": "rank 1 from CPU 1 to CPU 0", "grid": [2], "order": [1, 0]}
    return columns | counts | moved | {"series": [make_series(rank, 6) for rank in (ALL_RANKS, 0, 1)], "case": index}


def make_stream() -> bytes:
    """Return a complete stream of the job."""
    facts = {"ranks": 2, "library_version": "X 1", "mpi_version": "4.1", "core": "0.1.0", "source": "tsc"}
    place = {"host": "n", "clock": "c", "libmpi": "/l/libmpi.so.12", "core": 0, "socket": 0, "numa": -1}
    device = {"name": "eth0", "kind": "Ethernet", "state": "", "rate": "", "driver": "", "sent_bytes": 7}
    lines = [
        {"record": "launch", "format": samples.records.FORMAT, **facts, "resolution_ns": 1, "cost_ns": 11.2},
        *({"record": "rank", "rank": rank, "cpu": rank, "cpus": str(rank), **place} for rank in (0, 1)),
    ]
    for index in range(len(JOB)):
        lines.append({"record": "begin", "case": index, "hop_ns": 40.5, "position": 0, "after": 1})
        lines.append({"record": "case", **make_result(index)})
    lines.append({"record": "node", "host": "n", "devices": [device], "probe_bytes": 5})
    lines.append({"record": "end", "cases": len(JOB), "hop_ns": 41.5, "waited_s": 0.5, "busy_s": 0.1})
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def mutate(text: bytes, draw: random.Random) -> bytes:
    """Return a stream with one change of a random kind."""
    return draw.choice([flip_bits, change_lines, truncate, replace_number, replace_number, drop_item, change_status])(
        text, draw
    )


def flip_bits(text: bytes, draw: random.Random) -> bytes:
    changed = bytearray(text)
    for _ in range(draw.randint(1, 3)):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def change_lines(text: bytes, draw: random.Random) -> bytes:
    """Drop, repeat, exchange or insert lines."""
    lines = text.split(b"\n")
    first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
    how = draw.randrange(4)
    if how == 0:
        del lines[first]
    elif how == 1:
        lines.insert(second, lines[first])
    elif how == 2:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        kind = re.search(rb'"record":"(\w+)"', lines[first]) or re.search(rb"()", b"")
        lines = [line for line in lines if kind and b'"record":"' + kind[1] not in line]
    return b"\n".join(lines)


def truncate(text: bytes, draw: random.Random) -> bytes:
    return text[: draw.randrange(len(text))]


def change_match(text: bytes, draw: random.Random, pattern: re.Pattern[bytes], new: bytes) -> bytes:
    """Replace one match of a pattern in a random line."""
    lines = text.split(b"\n")
    index = draw.randrange(len(lines))
    if matches := list(pattern.finditer(lines[index])):
        match = draw.choice(matches)
        lines[index] = lines[index][: match.start()] + new + lines[index][match.end() :]
    return b"\n".join(lines)


def replace_number(text: bytes, draw: random.Random) -> bytes:
    return change_match(text, draw, NUMBER, draw.choice(ODD))


def drop_item(text: bytes, draw: random.Random) -> bytes:
    return change_match(text, draw, ITEM, b"")


def change_status(text: bytes, draw: random.Random) -> bytes:
    return change_match(text, draw, re.compile(b'"ok"'), draw.choice(STATUSES))


def store_results(stream: Stream, job: list[Case]) -> None:
    """Make the files of a launch, as the store does."""
    (placement,) = RECORD.plan.placements
    results = list(pinning.drop_moved(placement, stream.ranks, stream.results))
    launch = msgspec.structs.replace(
        campaigns.make_launch(1, 0, 0, "alpha", job[0].placement),
        facts=stream.facts,
        ranks=stream.ranks,
        nodes=stream.nodes,
        spent_s=stream.spent_s,
        waited_s=stream.waited_s,
    )
    assert msgspec.json.decode(msgspec.json.encode(launch), type=Launch) == launch
    tables.encode_frame(tables.case_rows([(launch, results)]))
    tables.encode_frame(tables.sample_rows(RECORD, [(launch, results)]))


def check_result(result: CaseResult) -> None:
    assert 0 <= result.valid <= result.sample_count
    for series in result.series:
        check_values(series)
    if result.status is CaseStatus.OK and result.own_series:
        assert min(result.own_series.time_ns, default=0) >= 0


def check_values(series: Series) -> None:
    count = len(series.time_ns)
    assert all(len(getattr(series, name)) in (0, count) for name in PER_SAMPLE)
    assert all(0 <= place < count for name in MARKS for place in getattr(series, name))
    assert max(map(abs, series.time_ns), default=0) <= LONGEST_NS
    assert not series.visits or sum(visit.samples for visit in series.visits) == count


def try_mutations(
    path: Path, text: bytes, job: list[Case], count: int, draw: random.Random, report: Callable[[str], None]
) -> None:
    """Read and store mutated streams; what is wrong with one is a line."""
    for _ in range(count):
        changed = mutate(text, draw)
        if draw.random() < 0.3 and changed:
            changed = mutate(changed, draw)
        path.write_bytes(changed)
        try:
            stream = samples.read(path, job)
        except RankbenchError as error:
            assert "stream format" in str(error)
            continue
        report(stream.damage)
        assert "\n" not in stream.damage
        for result in stream.results:
            check_result(result)
        store_results(stream, job)


def test_no_mutation_of_a_stream_ends_in_a_traceback(tmp_path: Path) -> None:
    reasons: list[str] = []
    try_mutations(tmp_path / "stream.jsonl", make_stream(), JOB, MUTATIONS, random.Random(7), reasons.append)
    assert sum(map(bool, reasons)) > MUTATIONS / 4
    assert not all(reasons)


def test_a_second_launch_of_another_format_is_damage(tmp_path: Path) -> None:
    launch, *rest = make_stream().splitlines(keepends=True)
    other = launch.replace(b'"format":1', b'"format":9')
    (tmp_path / "stream.jsonl").write_bytes(b"".join([launch, *rest[:2], other, *rest[3:]]))
    stream = samples.read(tmp_path / "stream.jsonl", JOB)
    assert stream.damage == f"{tmp_path}/stream.jsonl line 4: a second launch"


@pytest.mark.parametrize("kind", ["begin", "rank", "launch", "end", "node", "case"])
def test_a_stream_without_one_kind_of_lines(kind: str, tmp_path: Path) -> None:
    lines = [line for line in make_stream().splitlines(keepends=True) if b'"record":"' + kind.encode() not in line]
    path = tmp_path / "stream.jsonl"
    path.write_bytes(b"".join(lines))
    stream = samples.read(path, JOB)
    store_results(stream, JOB)
    expected = {
        "begin": ("line 4: case 0 ended without a beginning", JOB[0], 0),
        "launch": ("line 1: it precedes the line of the launch", None, 0),
        "case": ("line 5: case 1 begins before case 0 ended", JOB[0], 0),
        "rank": ("", None, len(CASES)),
        "node": ("", None, len(CASES)),
        "end": ("", None, len(CASES)),
    }
    damage, unfinished, results = expected[kind]
    assert stream.damage.removeprefix(f"{path} ") == damage
    assert (stream.unfinished, len(stream.results)) == (unfinished, results)
    assert stream.complete == (kind in {"rank", "node"})
