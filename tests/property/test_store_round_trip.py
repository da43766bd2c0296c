"""Anything appended to a store is read back equal, and a damaged record is reported in one line."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec
import pytest
from fakes import campaigns
from hypothesis import given, settings
from hypothesis import strategies as st

from rankbench import store
from rankbench.model import (
    ALL_RANKS,
    ROTATING,
    CaseResult,
    CaseStatus,
    Exchange,
    Launch,
    LaunchFacts,
    LaunchStatus,
    Memory,
    RankbenchError,
    RankFact,
    Series,
    State,
    Visit,
    list_columns,
)

MEMORIES = [Memory(), Memory(cache="cold", root=ROTATING)]
OPTIONS = {"": {}, "epoch=fence, window=8": {"epoch": "fence", "window": "8"}}
"""Options by the text that the store makes of them."""
CASES = [
    msgspec.structs.replace(case, start=start, memory=memory, options=options)
    for case in campaigns.make_cases()
    for start in ("window", "window-mpiperf")
    for memory in MEMORIES
    for options in OPTIONS.values()
]
COUNTS = st.integers(0, 2**63 - 1)
SMALL = st.integers(-(2**31), 2**31 - 1)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def draw_visits(samples: int) -> st.SearchStrategy[list[Visit]]:
    """Return visits with so many samples in total; the first visit may have none."""
    lengths = [0, min(1, samples), max(0, samples - 1)]
    return st.just(
        [Visit(length, float(number), number, number - 1, number / 4) for number, length in enumerate(lengths)]
    )


@st.composite
def draw_series(draw: st.DrawFn) -> Series:
    time_ns = draw(st.lists(FINITE, max_size=20))
    indexes = st.lists(st.integers(0, max(0, len(time_ns) - 1)), unique=True, max_size=len(time_ns))
    every = st.lists(SMALL, min_size=len(time_ns), max_size=len(time_ns))
    rank = draw(st.integers(ALL_RANKS, 2**31 - 1))
    spans = st.lists(st.floats(0, 1e9, width=32), min_size=len(time_ns), max_size=len(time_ns))
    return Series(
        rank=rank,
        time_ns=time_ns,
        last_rank=draw(every | st.just([])),
        late=draw(indexes),
        overrun=draw(indexes),
        skew_ns=draw(spans | st.just([])),
        bound_ns=draw(spans | st.just([])),
        error_ns=draw(spans | st.just([])),
        visits=draw(st.just([]) | draw_visits(len(time_ns))),
    )


DRAWN = {(int, "Int64"): COUNTS, (int, "Int32"): SMALL, (float, "Float64"): FINITE, (str, "String"): st.text()}
"""Values of a column by its type and how it is stored."""
COLUMNS = list_columns(CaseResult).values()
RESULTS = st.lists(
    st.builds(
        CaseResult,
        **{column.field: DRAWN[kind] for column in COLUMNS if (kind := (column.kind, column.polars_type)) in DRAWN},
        case=st.sampled_from(CASES),
        status=st.sampled_from(CaseStatus),
        printed=st.dictionaries(st.text(), FINITE, max_size=2),
        grid=st.lists(st.integers(1, 1000), max_size=6),
        order=st.permutations([0, 1, 2]),
        series=st.lists(draw_series(), max_size=3),
    ),
    max_size=4,
)
FACTS = st.builds(LaunchFacts, library_version=st.text(), resolution_ns=FINITE, cost_ns=FINITE)
STATE = st.builds(
    State,
    cpus=st.lists(st.integers(0, 1023), max_size=3),
    exchange=st.lists(st.builds(Exchange, median_ns=FINITE, min_ns=FINITE), max_size=3),
    copy_bytes_per_s=st.none() | FINITE,
    stolen_s=FINITE,
    frequency_hz=st.lists(st.none() | FINITE, max_size=3),
    load=FINITE,
    running=st.integers(0, 2**31 - 1),
)
LAUNCH = st.builds(
    Launch,
    number=st.just(0),
    block=st.integers(0, 2**31 - 1),
    candidate=st.text(),
    status=st.sampled_from(LaunchStatus),
    duration_s=FINITE,
    environment=st.dictionaries(st.text(), st.text(), max_size=3),
    facts=st.none() | FACTS,
    ranks=st.lists(
        st.builds(RankFact, **dict.fromkeys(("rank", "cpu", "core", "socket", "numa"), SMALL)),
        max_size=3,
    ),
    load_before=FINITE,
    stolen_s=FINITE,
    before=st.none() | STATE,
    after=st.none() | STATE,
    state_reason=st.text(),
    log=st.text(),
)


@settings(max_examples=40)
@given(appended=st.lists(st.tuples(LAUNCH, RESULTS), max_size=3))
def test_appended_launches_are_read_back(appended: list[tuple[Launch, list[CaseResult]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        new = store.create(Path(folder) / "c", campaigns.make_record(cases=CASES))
        numbered = [(msgspec.structs.replace(launch, number=i), rows) for i, (launch, rows) in enumerate(appended, 1)]
        for launch, results in numbered:
            new.append(launch, results)
        again = store.open(new.folder)
        assert [msgspec.structs.replace(launch, tables={}, rank_table="") for launch in again.launches()] == [
            launch for launch, _ in numbered
        ]
        assert again.cases().rows() == [
            make_case_row(launch, result) for launch, results in numbered for result in results
        ]
        for samples, by_rank in ((again.samples(), False), (again.rank_samples(), True)):
            assert samples.collect().rows() == [
                row for launch, results in numbered for row in make_sample_rows(launch, results, by_rank=by_rank)
            ]


def find_visit(series: Series, index: int) -> tuple[int, float, int, int, float | None]:
    """Return the visit of a sample, the time of a hop then, its position, predecessor, and share of waiting."""
    owners = [
        (number, visit.hop_ns, visit.position, visit.after, visit.waited)
        for number, visit in enumerate(series.visits)
        for _ in range(visit.samples)
    ]
    return owners[index] if owners else (0, 0.0, -1, -1, None)


def make_case_row(launch: Launch, result: CaseResult) -> tuple[object, ...]:
    """Return the row of a case, computed without the store."""
    texts = {
        "status": result.status.value,
        "grid": "x".join(map(str, result.grid)),
        "order": ",".join(map(str, result.order)),
        "printed": msgspec.json.encode(result.printed).decode() if result.printed else "",
    }
    values = (texts.get(column.field, getattr(result, column.field)) for column in COLUMNS)
    return (*make_head(launch, result), *values)


def make_sample_rows(launch: Launch, results: list[CaseResult], *, by_rank: bool) -> list[tuple[object, ...]]:
    """Return the rows of a launch's samples, those of its cases or those of single ranks."""
    return [
        (
            *(*make_head(launch, result), series.rank, index, *find_visit(series, index), time_ns),
            *(series.last_rank[index] if series.last_rank else series.rank, index in series.late),
            *(index in series.overrun, is_discarded(result, index), by_rank),
            *(series.skew_ns[index] if series.skew_ns else None, series.bound_ns[index] if series.bound_ns else 0),
            series.error_ns[index] if series.error_ns else 0,
        )
        for result in results
        for place, series in enumerate(result.series)
        if by_rank == (place != find_own_series(result))
        for index, time_ns in enumerate(series.time_ns)
    ]


def find_own_series(result: CaseResult) -> int:
    """Return the index of the case's own series: over all ranks, or else the first."""
    ranks = [series.rank for series in result.series]
    return ranks.index(ALL_RANKS) if ALL_RANKS in ranks else 0


def is_discarded(result: CaseResult, index: int) -> bool:
    """Return whether a sample is discarded, which is the same for all series."""
    column = result.series[find_own_series(result)]
    return index in column.late or (result.case.start == "window-mpiperf" and index in column.overrun)


def make_head(launch: Launch, result: CaseResult) -> tuple[object, ...]:
    """Return the first columns of both tables."""
    case = result.case
    return (
        *(launch.number, launch.block, launch.candidate, case.key, case.operation, case.form, case.size_bytes),
        *(case.datatype, case.placement, case.ranks, case.start),
        "cold, rotating root" if case.memory.cache == "cold" else "",
        next(text for text, options in OPTIONS.items() if options == case.options),
    )


PIECE = st.sampled_from([b'{"format":', b"1", b"null", b"}", b"[", b'"', b"\\ud800", b'"name":', b",", b"\xff"])
CONTENT = st.binary() | st.lists(PIECE).map(b"".join)


@given(content=CONTENT)
def test_any_bytes_instead_of_the_record_are_reported_in_one_line(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "campaign.json"
        path.write_bytes(content)
        with pytest.raises(RankbenchError) as error:
            store.open(Path(folder))
        assert str(error.value).startswith(f"{path}: ")
        assert len(str(error.value).splitlines()) == 1
