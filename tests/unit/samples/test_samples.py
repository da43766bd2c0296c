"""The job and the stream: what is written is what the core reads, and every finished case survives any end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rankbench import samples
from rankbench.model import Case, CaseStatus, RankbenchError, Stream

if TYPE_CHECKING:
    from pathlib import Path

CASES = [
    Case(operation="pingpong", form="blocking", size_bytes=8, datatype="byte", placement="1x2", ranks=2, start="none"),
    Case(
        operation="allreduce",
        form="persistent",
        size_bytes=64,
        datatype="float",
        placement="1x2",
        ranks=2,
        start="window",
    ),
]

LAUNCH = (
    '{"record":"launch","format":1,"ranks":2,"library_version":"X 1","mpi_version":"4.1","core":"0.1.0",'
    '"source":"clock_gettime","resolution_ns":1,"cost_ns":21.4}\n'
)
RANK = '{"record":"rank","rank":0,"host":"n","cpu":0,"cpus":"0","clock":"c","libmpi":"/l/libmpi.so.12"}\n'
FIRST = (
    '{"record":"begin","case":0}\n'
    '{"record":"case","case":0,"status":"ok","reason":"","operation":"pingpong","form":"blocking","bytes":8,'
    '"datatype":"byte","start":"none","ranks":2,"taken":3,"valid":2,"late":1,"overrun":0,"sync_bound_ns":0,"drift_ns":0,'
    '"migrated":false,"series":[{"rank":0,"time_ns":[130.5,131,9000],"last_rank":[],"late":[2],"overrun":[]}]}\n'
)
SECOND = (
    '{"record":"begin","case":1}\n'
    '{"record":"case","case":1,"status":"lacking","reason":"no MPI_Allreduce_init","operation":"allreduce",'
    '"form":"persistent","bytes":64,"datatype":"float","start":"window","ranks":2,"taken":0,"valid":0,"late":0,"overrun":0,'
    '"sync_bound_ns":0,"drift_ns":0,"migrated":false,"series":[]}\n'
)
END = '{"record":"end","cases":2}\n'
WHOLE = LAUNCH + RANK + FIRST + SECOND + END


def _read(tmp_path: Path, text: str) -> Stream:
    path = tmp_path / "stream"
    path.write_text(text)
    return samples.read(path, CASES)


def test_a_whole_stream_is_read_as_written(tmp_path: Path) -> None:
    stream = _read(tmp_path, WHOLE)
    assert stream.complete
    assert stream.damage == ""
    assert stream.unfinished is None
    assert stream.facts is not None
    assert stream.facts.library_version == "X 1"
    assert stream.ranks[0].libmpi == "/l/libmpi.so.12"
    first, second = stream.results
    assert first.case == CASES[0]
    assert first.series[0].time_ns == [130.5, 131, 9000]
    assert first.series[0].late == [2]
    assert second.status is CaseStatus.LACKING
    assert second.reason == "no MPI_Allreduce_init"


def test_a_stream_cut_at_any_byte_gives_every_finished_case(tmp_path: Path) -> None:
    first_end = len(LAUNCH + RANK + FIRST)
    second_begin = first_end + SECOND.index("\n") + 1
    second_end = first_end + len(SECOND)
    for length in range(len(WHOLE) + 1):
        stream = _read(tmp_path, WHOLE[:length])
        assert len(stream.results) == (length >= first_end) + (length >= second_end)
        assert stream.complete == (length == len(WHOLE))
        if second_begin <= length < second_end:
            assert stream.unfinished == 1


def test_no_stream_at_all_is_an_empty_one(tmp_path: Path) -> None:
    stream = samples.read(tmp_path / "absent", CASES)
    assert stream.facts is None
    assert not stream.results
    assert not stream.complete


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WHOLE.replace('"format":1', '"format":7'), "stream format 7, this rankbench reads format 1"),
        (WHOLE.replace('"case":1', '"case":9'), "has a case 9, but its job has only 2 cases"),
    ],
)
def test_a_foreign_stream_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(RankbenchError) as caught:
        _read(tmp_path, text)
    assert str(caught.value) == f"{tmp_path / 'stream'}: {message}"


def test_a_damaged_line_is_named_and_what_stands_before_it_is_kept(tmp_path: Path) -> None:
    begin, rest = SECOND.split("\n", 1)
    stream = _read(tmp_path, LAUNCH + RANK + FIRST + begin + "\nwhat is this\n" + rest + END)
    assert [result.case for result in stream.results] == CASES[:1]
    assert (stream.unfinished, stream.complete) == (1, False)
    assert stream.damage == (
        f"{tmp_path / 'stream'} line 6: not a record of a rankbench stream "
        "(JSON is malformed: invalid character (byte 0))"
    )


def test_the_job_names_every_case_in_order(tmp_path: Path) -> None:
    path = tmp_path / "job"
    samples.write_job(path, CASES, samples=100, case_limit_s=0.5)
    assert path.read_text() == (
        "rankbench-job 1\n"
        "case operation=pingpong form=blocking bytes=8 datatype=byte start=none samples=100 limit_s=0.5\n"
        "case operation=allreduce form=persistent bytes=64 datatype=float start=window samples=100 limit_s=0.5\n"
    )
