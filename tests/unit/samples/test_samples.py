"""Job and stream: the job is read as written, and every finished case of a stream survives any end."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes import add_columns, campaigns
from wording import WORDING, refuses

from rankbench import samples
from rankbench.model import (
    ALL_RANKS,
    LATE_START,
    ROTATING,
    Case,
    CaseResult,
    CaseStatus,
    Memory,
    NetworkDevice,
    Plan,
    Sampling,
    Series,
    SourceFact,
    Stream,
    Visit,
)

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

LAUNCH_OF_ANOTHER_FORMAT = (
    '{"record":"launch","format":9,"ranks":2,"library_version":"X 1","mpi_version":"4.1","core":"0.1.0",'
    '"source":"clock_gettime","resolution_ns":1,"cost_ns":21.4}\n'
)
LAUNCH = (
    '{"record":"launch","format":1,"ranks":2,"library_version":"X 1","mpi_version":"4.1","core":"0.2.0",'
    '"source":"tsc","source_reason":"finest step","resolution_ns":1,"cost_ns":11.2,"synchronisation":"tree",'
    '"last_level_cache_bytes":1024,"sources":['
    '{"name":"tsc","usable":true,"reason":"invariant","resolution_ns":0.9,"cost_ns":11.2},'
    '{"name":"MPI_Wtime","usable":false,"reason":"it steps","resolution_ns":0,"cost_ns":0}]}\n'
)
RANK = (
    '{"record":"rank","rank":0,"host":"n","cpu":0,"cpus":"0","clock":"c","libmpi":"/l/libmpi.so.12",'
    '"core":0,"socket":0,"numa":-1}\n'
)
NODE = (
    '{"record":"node","host":"n","probe_bytes":5,"devices":[{"name":"eth0","kind":"Ethernet","state":"active",'
    '"rate":"10 Gb/s","driver":"","sent_bytes":7,"received_bytes":-1}]}\n'
)
FIRST = '{"record":"begin","case":0}\n' + add_columns(
    '{"record":"case","case":0,"status":"ok","operation":"pingpong","form":"blocking","bytes":8,'
    '"datatype":"byte","start":"none","cache":"warm","buffers":"separate","pages":"touched","alignment":0,"root":0,'
    '"ranks":2,"taken":3,"valid":2,"late":1,"stopped":"time","calls":7,"cost_ns":2.5,"estimate_ns":410.5,'
    '"leaked_bytes":4096,"waited_ns":2000,"timed_ns":8000,"options":{},"moved_bytes":16,"moved_messages":2,'
    '"first_ns":5200,"second_ns":410,"series":[{"rank":0,"time_ns":[130.5,131,9000],"last_rank":[],"late":[2],'
    '"overrun":[],"skew_ns":[],"bound_ns":[],"error_ns":[]}]}\n'
)
SECOND = '{"record":"begin","case":1}\n' + add_columns(
    '{"record":"case","case":1,"status":"lacking","reason":"no MPI_Allreduce_init","operation":"allreduce",'
    '"form":"persistent","bytes":64,"datatype":"float","start":"window","ranks":2,"taken":0,'
    '"calls":1,"first_window_ns":800,"last_window_ns":950,"estimate_ns":700.5,"tolerance_ns":100,"printed_bytes":7,'
    '"moved":"rank 1 from CPU 0 to CPU 1","fallback":"x cannot be applied.","options":{"threads":"4"},'
    '"moved_bytes":128,"moved_messages":2,"pure_ns":1500.5,"compute_ns":1600,"growth_bytes":-4096,"spread_ns":2000,'
    '"grid":[2,1],"order":[1,0],"hops":2,"series":[]}\n'
)
WITHOUT_OPTIONS = re.sub(r'"options":.*?"series"', '"series"', FIRST)
END = '{"record":"end","cases":2}\n'
COMPLETE = LAUNCH + RANK + FIRST + SECOND + NODE + END


def _read(tmp_path: Path, text: str) -> Stream:
    path = tmp_path / "stream"
    path.write_text(text)
    return samples.read(path, CASES)


@pytest.mark.parametrize(
    ("hops", "values"),
    [((50, 60, 200), (55, 130)), ((0, 60, 0), (60, 60)), ((50, 0, 0), (50, 0)), ((50, 60, None), (55, 60))],
)
def test_a_hop_is_the_mean_of_the_known_values_before_and_after(
    tmp_path: Path, hops: tuple[float | None, ...], values: tuple[float, ...]
) -> None:
    text = COMPLETE
    for name, hop in zip(('"begin","case":0', '"begin","case":1', '"end","cases":2'), hops, strict=True):
        text = text.replace(name, f'{name},"hop_ns":{hop}') if hop is not None else text.replace(END, "")
    assert tuple(result.hop_ns for result in _read(tmp_path, text).results) == values


def test_a_complete_stream_is_read_as_written(tmp_path: Path) -> None:
    stream = _read(tmp_path, COMPLETE)
    assert stream.complete
    assert stream.damage == ""
    assert stream.unfinished is None
    assert stream.facts is not None
    assert stream.facts.library_version == "X 1"
    assert (stream.facts.source, stream.facts.source_reason) == ("tsc", "finest step")
    assert (stream.facts.synchronisation, stream.facts.last_level_cache_bytes) == ("tree", 1024)
    assert stream.facts.sources == [
        SourceFact(name="tsc", usable=True, reason="invariant", resolution_ns=0.9, cost_ns=11.2),
        SourceFact(name="MPI_Wtime", usable=False, reason="it steps"),
    ]
    assert stream.ranks[0].libmpi == "/l/libmpi.so.12"
    (node,) = stream.nodes
    assert (node.host, node.probe_bytes) == ("n", 5)
    assert node.devices == [NetworkDevice("eth0", "Ethernet", "active", "10 Gb/s", "", 7)]
    first, second = stream.results
    assert first.case == CASES[0]
    assert first.series[0].time_ns == [130.5, 131, 9000]
    assert first.series[0].late == [2]
    assert (first.stopped, first.synchronisations, first.calls, first.cost_ns) == ("time", 0, 7, 2.5)
    assert (first.ranks, first.moved_bytes, first.moved_messages) == (2, 16, 2)
    assert (second.pure_ns, second.compute_ns, second.growth_bytes, second.spread_ns) == (1500.5, 1600, -4096, 2000)
    assert (first.first_ns, first.second_ns) == (5200, 410)
    assert second.status is CaseStatus.LACKING
    assert second.reason == "no MPI_Allreduce_init"


def test_bytes_received_instead_of_right_ones_belong_to_their_case(tmp_path: Path) -> None:
    receipt = {"source": 0, "tag": 1, "count": 2}
    values: dict[str, object] = {
        "rank": 1,
        "root": 0,
        "run": 3,
        "received_bytes": 8,
        "wrong_bytes": 2,
        "first_wrong": 5,
        "begin": 4,
    }
    values |= {"received": "0001", "expected": "0002", "statuses": [{"actual": receipt, "expected": receipt}]}
    line = msgspec.json.encode({"record": "evidence", "case": 1} | values).decode() + "\n"
    stream = _read(tmp_path, LAUNCH + FIRST + SECOND.replace('{"record":"case"', line + '{"record":"case"', 1) + END)
    assert (stream.damage, stream.results[0].evidence) == ("", None)
    assert msgspec.to_builtins(stream.results[1].evidence) == values


def test_series_of_single_ranks_are_beside_the_case_s_own(tmp_path: Path) -> None:
    series = (
        '[{"rank":0,"time_ns":[90],"last_rank":[],"late":[],"overrun":[],"skew_ns":[7],"bound_ns":[],"error_ns":[]},'
        '{"rank":-1,"time_ns":[95.5],"last_rank":[1],"late":[],"overrun":[0],"skew_ns":[12.5],"bound_ns":[40],"error_ns":[9]}]'
    )
    text = COMPLETE.replace('"taken":0', '"taken":1').replace('"series":[]', f'"series":{series}')
    result = _read(tmp_path, text).results[1]
    assert result.own_series is result.series[1]
    assert (result.own_series.rank, result.own_series.skew_ns) == (ALL_RANKS, [12.5])
    assert (result.own_series.bound_ns, result.own_series.error_ns) == ([40], [9])
    assert result.own_series.find_discarded(overruns=False) == set()
    assert result.own_series.find_discarded(overruns=True) == {0}
    assert (result.series[0].rank, result.series[0].skew_ns, result.series[0].bound_ns) == (0, [7], [])


def test_a_stream_truncated_at_any_byte_gives_every_finished_case(tmp_path: Path) -> None:
    first_end = len(LAUNCH + RANK + FIRST)
    second_begin = first_end + SECOND.index("\n") + 1
    second_end = first_end + len(SECOND)
    for length in range(len(COMPLETE) + 1):
        stream = _read(tmp_path, COMPLETE[:length])
        assert len(stream.results) == (length >= first_end) + (length >= second_end)
        assert stream.complete == (length == len(COMPLETE))
        if second_begin <= length < second_end:
            assert stream.unfinished == CASES[1]


def test_a_missing_stream_is_empty(tmp_path: Path) -> None:
    stream = samples.read(tmp_path / "absent", CASES)
    assert stream.facts is None
    assert not stream.results
    assert not stream.complete


@pytest.mark.parametrize(
    "text",
    [
        COMPLETE.replace('"format":1,', '"format":2,'),
        LAUNCH_OF_ANOTHER_FORMAT + RANK + END,
        LAUNCH.replace('"format":1,', '"format":10,') + RANK + WITHOUT_OPTIONS,
    ],
)
def test_a_foreign_stream_is_refused(tmp_path: Path, text: str) -> None:
    with refuses():
        _read(tmp_path, text)


def test_a_damaged_line_is_named_and_earlier_cases_are_read(tmp_path: Path) -> None:
    begin, rest = SECOND.split("\n", 1)
    stream = _read(tmp_path, LAUNCH + RANK + FIRST + begin + "\nwhat is this\n" + rest + END)
    assert [result.case for result in stream.results] == CASES[:1]
    assert (stream.unfinished, stream.complete) == (CASES[1], False)
    assert stream.damage == WORDING


def make_plan(**changes: object) -> Plan:
    """Return a plan with these changes."""
    plan = campaigns.make_plan(["alpha"], ["1x2"], control=False, seed=1, samples=100)
    return msgspec.structs.replace(plan, case_limit_s=0.5, launch_limit_s=60, **changes)


def write_job(tmp_path: Path, plan: Plan, *cases: Case) -> list[str]:
    """Return the lines of a job after the first."""
    samples.write_job(tmp_path / "job", cases, plan)
    head, *lines = (tmp_path / "job").read_text().splitlines()
    assert head == "rankbench-job 1"
    return lines


def test_the_job_names_every_case_in_order(tmp_path: Path) -> None:
    assert write_job(tmp_path, make_plan(), *CASES) == [
        "case operation=pingpong form=blocking bytes=8 datatype=byte start=none samples=100 limit_s=0.5",
        "case operation=allreduce form=persistent bytes=64 datatype=float start=window samples=100 limit_s=0.5",
    ]
    assert (tmp_path / "job").read_text().endswith("limit_s=0.5\n")


PINGPONG = "case operation=pingpong form=blocking bytes=8 datatype=byte start=none"


@pytest.mark.parametrize(
    ("sampling", "tokens"),
    [
        (Sampling(good=30, tries=100, rse=0.05, least=10), "samples=30 tries=100 rse=0.05"),
        (Sampling(good=7, interval=0.02, least=3), "samples=7 interval=0.02 least=3"),
    ],
)
def test_the_job_has_the_stopping_rules(tmp_path: Path, sampling: Sampling, tokens: str) -> None:
    assert write_job(tmp_path, make_plan(sampling=sampling), CASES[0]) == [f"{PINGPONG} {tokens} limit_s=0.5"]


@pytest.mark.parametrize(
    ("memory", "tokens"),
    [
        (Memory(cache="cold", buffers="in-place", pages="huge"), "cache=cold buffers=in-place pages=huge"),
        (Memory(pages="untouched", alignment=64, root=3), "pages=untouched alignment=64 root=3"),
        (Memory(root=ROTATING), "root=-1"),
    ],
)
def test_the_job_has_unusual_memory_states(tmp_path: Path, memory: Memory, tokens: str) -> None:
    case = msgspec.structs.replace(CASES[0], memory=memory)
    assert write_job(tmp_path, make_plan(), case) == [f"{PINGPONG} {tokens} samples=100 limit_s=0.5"]


def test_the_job_has_the_chosen_options(tmp_path: Path) -> None:
    case = msgspec.structs.replace(CASES[0], memory=Memory(root=1), options={"mode": "ready", "window": "8"})
    line = f"{PINGPONG} root=1 mode=ready window=8 samples=100 limit_s=0.5"
    assert write_job(tmp_path, make_plan(), case) == [line]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"clock": "tsc"}, "set clock=tsc"),
        ({"synchronisation": "ring", "every_rank": True}, "set sync=ring ranks=all"),
        ({"each_call": True}, "set calls=each"),
    ],
)
def test_the_job_has_unusual_settings_of_all_its_cases(tmp_path: Path, changes: dict[str, object], line: str) -> None:
    assert write_job(tmp_path, make_plan(**changes), CASES[0])[0] == line


# --- passes -----------------------------------------------------------------------------------------------------------


def make_part(**changes: Any) -> CaseResult:
    """Return the result of one pass."""
    series = Series(
        rank=-1,
        time_ns=[1.0, 2.0],
        last_rank=[0, 1],
        late=[1],
        overrun=[0],
        skew_ns=[3, 4],
        bound_ns=[5, 6],
        error_ns=[1, 2],
    )
    usual = {"status": CaseStatus.OK, "sample_count": 2, "valid": 1, "late": 1, "overrun": 1, "series": [series]}
    return CaseResult(case=CASES[0], **{**usual, **changes})


def test_a_job_visits_its_cases_in_passes(tmp_path: Path) -> None:
    """Each pass has its share of samples and time; operations measured once, and memory, are in one pass only."""
    cases = [
        CASES[0],
        msgspec.structs.replace(CASES[1], options={"quantity": "memory"}),
        msgspec.structs.replace(CASES[1], operation="init"),
    ]
    plan = make_plan(sampling=Sampling(good=50, tries=70, passes=3))
    path = tmp_path / "job"
    samples.write_job(path, cases, plan, {"init"})
    first, *others = [line for line in path.read_text().splitlines() if line.startswith("case ")]
    assert first.endswith("samples=17 tries=24 limit_s=0.166667")
    assert all(line.endswith("samples=50 tries=70 limit_s=0.5") for line in others[:2])
    assert others[2:] == [first, first]
    assert samples.read_job(path, cases, plan, {"init"}) == [*cases, cases[0], cases[0]]


def test_turns_of_missing_cases_pass(tmp_path: Path) -> None:
    """In every pass; turns after the last case need not be named."""
    other = msgspec.structs.replace(CASES[0], size_bytes=16)
    plan, path = make_plan(sampling=Sampling(good=50, passes=2)), tmp_path / "job"
    samples.write_job(path, [CASES[0]], plan, among=[other, CASES[1], CASES[0], other])
    _, *lines = path.read_text().splitlines()
    line = samples.case_line(CASES[0], plan)
    assert lines == ["pass 2", line, "pass 3", line]
    assert samples.read_job(path, CASES, plan) == [CASES[0]] * 2


def test_the_time_to_fill_is_divided_among_passes_except_for_single_measurements(tmp_path: Path) -> None:
    plan = make_plan(sampling=Sampling(good=50, passes=5, fill_s=0.015))
    init = msgspec.structs.replace(CASES[1], operation="init")
    samples.write_job(tmp_path / "job", [CASES[0], init], plan, {"init"})
    first, once, *_ = [line for line in (tmp_path / "job").read_text().splitlines() if line.startswith("case ")]
    assert first.endswith("samples=10 fill_s=0.003 limit_s=0.1")
    assert once.endswith("samples=50 limit_s=0.5")


def test_results_of_passes_are_joined(tmp_path: Path) -> None:
    text = LAUNCH + RANK + FIRST + FIRST.replace('"case":0', '"case":1').replace("130.5", "140")
    path = tmp_path / "stream"
    path.write_text(text)
    (result,) = samples.read(path, [CASES[0], CASES[0]]).results
    assert (result.sample_count, result.valid, result.late) == (6, 4, 2)
    assert result.series[0].time_ns == [130.5, 131, 9000, 140, 131, 9000]
    assert result.series[0].late == [2, 5]


def test_the_first_call_is_that_of_the_first_pass_even_if_it_was_late() -> None:
    late = make_part(status=CaseStatus.REFUSED, cause=LATE_START, first_ns=900.0, second_ns=80.0)
    result = samples.together([late, make_part(first_ns=70.0, second_ns=60.0)])
    assert (result.status, result.first_ns, result.second_ns) == (CaseStatus.OK, 900, 80)


def test_each_value_of_passes_is_the_sum_the_worst_or_the_mean() -> None:
    parts = [
        make_part(drift_ns=-30, sync_bound_ns=7, pure_ns=10, compute_ns=20, synchronisations=1, stopped="samples"),
        make_part(
            drift_ns=20, sync_bound_ns=9, pure_ns=20, compute_ns=40, synchronisations=2, stopped="time", moved="rank 1"
        ),
    ]
    result = samples.together(parts)
    assert (result.sample_count, result.valid, result.late, result.overrun, result.synchronisations) == (4, 2, 2, 2, 3)
    assert (result.drift_ns, result.sync_bound_ns, result.pure_ns, result.compute_ns) == (-30, 9, 15, 30)
    assert (result.stopped, result.moved) == ("samples, time", "rank 1")
    assert result.series == [
        Series(
            rank=-1,
            time_ns=[1, 2, 1, 2],
            last_rank=[0, 1, 0, 1],
            late=[1, 3],
            overrun=[0, 2],
            skew_ns=[3, 4, 3, 4],
            bound_ns=[5, 6, 5, 6],
            error_ns=[1, 2, 1, 2],
            visits=[Visit(2), Visit(2)],
        )
    ]


def test_a_failed_pass_is_the_result_of_the_case() -> None:
    wrong = make_part(status=CaseStatus.WRONG_DATA, reason="byte 3", series=[])
    assert samples.together([make_part(), wrong, make_part()]) == wrong


def test_a_launch_that_ends_in_a_later_pass_names_its_case(tmp_path: Path) -> None:
    path = tmp_path / "stream"
    path.write_text(LAUNCH + RANK + FIRST + SECOND + '{"record":"begin","case":2}\n')
    stream = samples.read(path, [*CASES, CASES[0]])
    assert stream.unfinished == CASES[0]
    assert [result.case for result in stream.results] == CASES


@pytest.mark.parametrize(
    ("parts", "status", "valid"),
    [
        ([make_part(), make_part(status=CaseStatus.REFUSED, cause=LATE_START, series=[])], CaseStatus.OK, 1),
        (
            [make_part(status=CaseStatus.REFUSED, cause=LATE_START, series=[]), make_part(), make_part()],
            CaseStatus.OK,
            2,
        ),
        ([make_part(status=CaseStatus.REFUSED, cause=LATE_START, valid=0, series=[])] * 2, CaseStatus.REFUSED, 0),
        ([make_part(), make_part(status=CaseStatus.FAILED, reason="MPI_Bcast: error", valid=0)], CaseStatus.FAILED, 0),
    ],
    ids=["one too late", "the first too late", "all too late", "another failure"],
)
def test_a_pass_with_late_starts_only_is_left_out(parts: list[CaseResult], status: CaseStatus, valid: int) -> None:
    result = samples.together(parts)
    assert (result.status, result.valid) == (status, valid)


def test_the_core_prints_the_message_of_late_starts() -> None:
    assert f'"{LATE_START}"' in (Path(__file__).parents[3] / "core/case/quantities.c").read_text()
