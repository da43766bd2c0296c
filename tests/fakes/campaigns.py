"""Real stores with drawn samples of known truth: no MPI, no core, hundreds of launches in a second.

A function from candidate and case to `Truth` gives the truth. Times are drawn as

    time x state (block, all candidates alike) x flip and spread (launch) x hump and noise (sample)

so that `time` is the true median over launches without state, flip or hump.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

import fakes
from rankbench import plan, store
from rankbench.model import (
    ALL_RANKS,
    Campaign,
    Candidate,
    CandidateSpec,
    Case,
    CaseResult,
    CaseStatus,
    Exchange,
    Form,
    Launch,
    LaunchFacts,
    LaunchStatus,
    Library,
    Operation,
    Placement,
    Plan,
    RankFact,
    Receipt,
    Sampling,
    Series,
    SourceFact,
    State,
    Stop,
)
from rankbench.store import Store

CANDIDATES = ("alpha", "beta")
TWIN_SUFFIX = " (again)"
LINES: tuple[tuple[str, Form], ...] = (
    ("pingpong", "blocking"),
    ("bandwidth", "nonblocking"),
    ("barrier", "blocking"),
    ("allreduce", "blocking"),
    ("allreduce", "nonblocking"),
)
SIZES = (8, 65536)
QUIET_NS = 50.0
"""The exchange time of an idle machine."""
LAUNCH_STATUSES = {CaseStatus.CRASHED: LaunchStatus.CRASHED, CaseStatus.HUNG: LaunchStatus.HUNG}
REASONS = {
    CaseStatus.LACKING: "MPI_Iallreduce is not in this library",
    CaseStatus.WRONG_DATA: "rank 1: byte 3 is 7, expected 9",
    CaseStatus.REFUSED: "its buffers do not fit in memory",
    CaseStatus.FAILED: "MPI_ERR_OTHER",
    CaseStatus.NOT_AS_ASKED: "not as asked: ranks 0 and 1 are on one socket, sockets asks for two",
    CaseStatus.CRASHED: "ended before its last case: exit code 139 (SIGSEGV)",
    CaseStatus.HUNG: "no sign of life for 10 s",
    CaseStatus.NOT_RUN: "crashed in blocks 1 and 2; not tried again",
}
CAUSES: dict[CaseStatus, str] = {}


@dataclass(frozen=True)
class Truth:
    """The truth about one candidate in one case. Spreads are standard deviations of the logarithm."""

    factor: float = 1.0
    """Its time relative to that of `compute_base_ns`."""
    noise: float = 0.02
    """Scatter between samples."""
    spread: float = 0.01
    """Scatter between launches."""
    flip_share: float = 0.0
    """Share of launches in another state..."""
    flip_factor: float = 1.0
    """...and the factor of that state on all their samples."""
    hump_share: float = 0.0
    """Share of samples in a second hump..."""
    hump_factor: float = 1.0
    """...and its time relative to the first hump's."""
    late_share: float = 0.0
    """Share of samples that started late; they take ten times as long."""
    bound_ns: float = 0.0
    error_ns: float = 0.0
    """Bound and likely error of ranks' clocks, in all samples."""
    rank_ends: tuple[float, ...] = ()
    """Shares of the time after which single ranks end, if their samples are stored; the last one's is 1."""
    status: CaseStatus = CaseStatus.OK
    """How the case ends in `status_share` of the launches; it succeeds in the others."""
    status_share: float = 1.0


def compute_base_ns(case: Case) -> float:
    """Return the time of a case at factor 1: 500 ns and 4 B/ns."""
    return 500 + case.size_bytes / 4


def make_equal_truth(candidate: str, case: Case) -> Truth:
    """Return a truth without differences."""
    return Truth()


def make_slower_beta(factor: float) -> Callable[[str, Case], Truth]:
    """Return a truth in which beta's times have a factor relative to alpha's."""
    return lambda candidate, _case: Truth(factor=factor if candidate.startswith("beta") else 1.0)


def make_campaign(
    folder: Path,
    truth: Callable[[str, Case], Truth] = make_equal_truth,
    launches: int = 5,
    seed: int = 1,
    *,
    samples: int = 100,
    candidates: Sequence[str] = CANDIDATES,
    control: bool = True,
    cases: Sequence[Case] | None = None,
    placements: Sequence[str] = ("socket",),
    states: Sequence[float] = (1.0,),
    exchange_ns: Callable[[str, int], tuple[float, float]] = lambda _candidate, _block: (QUIET_NS, QUIET_NS),
) -> Store:
    """Write a campaign with so many launches per candidate, one in each block; return its store.

    An A/A twin has the truth of its original. `states` are factors on all times of a block, one per block, repeated.
    `exchange_ns` gives the probes of the machine before and after a candidate's launch of a block.
    """
    wanted = list(cases) if cases is not None else [case for place in placements for case in make_cases(place)]
    record = make_record(folder.name, wanted, candidates, placements, control=control, seed=seed, samples=samples)
    campaign_store = store.create(folder, record)
    draws = Draw(truth, np.random.default_rng(seed), states, samples)
    numbers = itertools.count(1)
    for block, position, name, place in list_turns(record, launches):
        turn = [case for case in plan.draw_case_order(seed, block, wanted) if case.placement == place]
        for part in divide_into_launches(draws.draw_results(block, name, turn)):
            launched = make_launch(next(numbers), block, position, name, place, part[-1].status)
            before, after = map(make_state, exchange_ns(name, block))
            campaign_store.append(msgspec.structs.replace(launched, before=before, after=after), part)
    return campaign_store


def list_turns(record: Campaign, blocks: int) -> Iterator[tuple[int, int, str, str]]:
    """Yield block, position, candidate and placement in the order in which rankbench would launch them."""
    names = [candidate.name for candidate in record.candidates]
    for block in range(1, blocks + 1):
        for position, name in enumerate(plan.draw_block_order(record.seed, block, names)):
            for placement in record.plan.placements:
                yield block, position, name, placement.name


@dataclass
class Draw:
    """The random draws of a campaign."""

    truth: Callable[[str, Case], Truth]
    random: np.random.Generator
    states: Sequence[float]
    samples: int

    def draw_results(self, block: int, candidate: str, cases: Sequence[Case]) -> list[CaseResult]:
        """Return a candidate's cases of one block."""
        state = self.states[(block - 1) % len(self.states)]
        return [self.draw_result(case, self.truth(candidate.removesuffix(TWIN_SUFFIX), case), state) for case in cases]

    def draw_result(self, case: Case, truth: Truth, state: float) -> CaseResult:
        """Return one case of one launch."""
        if truth.status != CaseStatus.OK and self.random.random() < truth.status_share:
            return CaseResult(
                case=case, status=truth.status, reason=REASONS[truth.status], cause=CAUSES.get(truth.status, "")
            )
        late = np.flatnonzero(self.random.random(self.samples) < truth.late_share)
        column = self.draw_series(case, truth, state, late)
        messages = 64 if case.operation == "bandwidth" else 1
        return CaseResult(
            case=case,
            status=CaseStatus.OK,
            sample_count=self.samples,
            valid=self.samples - len(late),
            late=len(late),
            sync_bound_ns=truth.bound_ns,
            stopped="samples",
            estimate_ns=float(np.median(column.time_ns)),
            moved_bytes=messages * case.size_bytes,
            moved_messages=messages,
            series=[column, *split_ranks(column, truth)],
        )

    def draw_series(self, case: Case, truth: Truth, state: float, late: np.ndarray) -> Series:
        """Return the samples, in tenths of a nanosecond as the core writes them."""
        flip = truth.flip_factor if self.random.random() < truth.flip_share else 1.0
        typical = compute_base_ns(case) * truth.factor * state * flip * self.random.lognormal(0, truth.spread)
        hump = np.where(self.random.random(self.samples) < truth.hump_share, truth.hump_factor, 1.0)
        time_ns = typical * hump * self.random.lognormal(0, truth.noise, self.samples)
        time_ns[late] *= 10
        alone = case.operation in {"pingpong", "bandwidth"}
        return Series(
            rank=0 if alone else ALL_RANKS,
            time_ns=time_ns.round(1).tolist(),
            last_rank=[] if alone else self.random.integers(0, case.ranks, self.samples).tolist(),
            late=late.tolist(),
            overrun=[],
            skew_ns=[] if alone else np.linspace(0, 50, self.samples).round(1).tolist(),
            bound_ns=[truth.bound_ns] * self.samples if truth.bound_ns else [],
            error_ns=[truth.error_ns] * self.samples if truth.error_ns else [],
        )


def split_ranks(column: Series, truth: Truth) -> Iterator[Series]:
    """Yield the samples of single ranks: each begins as late as its number says, in nanoseconds."""
    for rank, share in enumerate(truth.rank_ends):
        ends = [round(share * time_ns, 1) for time_ns in column.time_ns]
        skew_ns = [float(rank)] * len(ends)
        yield Series(rank=rank, time_ns=ends, last_rank=[], late=column.late, overrun=column.overrun, skew_ns=skew_ns)


def divide_into_launches(results: Sequence[CaseResult]) -> Iterator[list[CaseResult]]:
    """Divide a turn's results into launches: each crash, each hang and each launch group ends one."""
    part: list[CaseResult] = []
    for result in results:
        if part and part[-1].case.launch_group != result.case.launch_group:
            yield part
            part = []
        part.append(result)
        if result.status in LAUNCH_STATUSES:
            yield part
            part = []
    if part:
        yield part


def make_cases(
    placement: str = "socket", lines: Sequence[tuple[str, Form]] = LINES, sizes: Sequence[int] = SIZES
) -> list[Case]:
    """Return cases of operations in forms, each in every size if it takes a size."""
    operations = {operation.name: operation for operation in fakes.read_description().operations}
    return [
        make_case(operations[name], form, size, placement)
        for name, form in lines
        for size in (sizes if operations[name].sized else (0,))
    ]


def make_case(operation: Operation, form: Form, size_bytes: int, placement: str) -> Case:
    """Return a case of two ranks."""
    return Case(
        operation=operation.name,
        form=form,
        size_bytes=size_bytes,
        datatype=operation.datatype,
        placement=placement,
        ranks=2,
        start=operation.start,
    )


def make_launch(
    number: int, block: int, position: int, candidate: str, placement: str, last: CaseStatus = CaseStatus.OK
) -> Launch:
    """Return the record of a launch that ended as its last case did."""
    status = LAUNCH_STATUSES.get(last, LaunchStatus.OK)
    crashed = status == LaunchStatus.CRASHED
    return Launch(
        number=number,
        block=block,
        position=position,
        candidate=candidate,
        placement=placement,
        status=status,
        reason=REASONS[last] if status != LaunchStatus.OK else "",
        started=f"2026-11-21T{number // 60 % 24:02}:{number % 60:02}:00.000+00:00",
        duration_s=2.5,
        exit_code=-11 if crashed else 0 if status == LaunchStatus.OK else None,
        command=["mpiexec", "-n", "2", "rankbench-core"],
        environment={},
        facts=LaunchFacts(
            ranks=2,
            library_version=f"{candidate.removesuffix(TWIN_SUFFIX).title()} MPI 1.0",
            mpi_version="4.1",
            core="0.2.0",
            source="clock_gettime",
            resolution_ns=1,
            cost_ns=20,
            source_reason="finest step and least cost of those that are usable",
            synchronisation="tree",
            last_level_cache_bytes=32 << 20,
            sources=[
                SourceFact(name="tsc", usable=True, reason="invariant", resolution_ns=1, cost_ns=20),
                SourceFact(name="clock_gettime", usable=True, reason="", resolution_ns=10, cost_ns=25),
            ],
        ),
        ranks=[
            RankFact(rank=rank, host="n1", cpu=rank, cpus=str(rank), clock="one", libmpi="/opt/lib/libmpi.so")
            for rank in (0, 1)
        ],
        load_before=0.1,
        stolen_s=0,
        before=make_state(),
        after=make_state(),
        log="Segmentation fault in rank 1" if crashed else "",
    )


def make_state(exchange_ns: float = QUIET_NS) -> State:
    """Return the state of a machine of two CPUs."""
    return State(
        cpus=[0, 1],
        exchange=[Exchange(cpus=(0, 1), median_ns=exchange_ns, min_ns=0.8 * exchange_ns)],
        copy_bytes_per_s=2e10,
        frequency_hz=[2e9, None],
        stolen_s=0.5,
        load=0.1,
        running=0,
    )


def make_record(
    name: str = "fake",
    cases: Sequence[Case] = (),
    candidates: Sequence[str] = CANDIDATES,
    placements: Sequence[str] = ("socket",),
    *,
    control: bool = True,
    seed: int = 1,
    samples: int = 100,
) -> Campaign:
    """Return the record of a campaign: each candidate is a library of its own, the first has the twin."""
    twin = [Candidate(name=candidates[0] + TWIN_SUFFIX, library=candidates[0], control_of=candidates[0])]
    return Campaign(
        format=store.FORMAT,
        name=name,
        created="2026-11-21T00:00:00+00:00",
        rankbench="0.1.0",
        plan=make_plan(candidates, placements, control=control, seed=seed, samples=samples),
        seed=seed,
        machine=fakes.make_machine(),
        libraries=[make_library(candidate) for candidate in candidates],
        receipts=[make_receipt(candidate) for candidate in candidates],
        candidates=[
            *(Candidate(name=candidate, library=candidate) for candidate in candidates),
            *(twin if control else ()),
        ],
        cases=list(cases),
        operations=fakes.read_description().operations,
        notes=[],
        starts=fakes.read_description().starts,
    )


def make_plan(candidates: Sequence[str], placements: Sequence[str], *, control: bool, seed: int, samples: int) -> Plan:
    """Return a plan as if it had been read."""
    return Plan(
        question="Is alpha faster than beta?",
        candidates=[CandidateSpec(library=candidate) for candidate in candidates],
        operations=list(dict.fromkeys(name for name, _ in LINES)),
        forms=["blocking", "nonblocking"],
        sizes_bytes=list(SIZES),
        placements=[Placement(name=placement, nodes=1, ranks_per_node=2, binding="core") for placement in placements],
        starts=["auto"],
        sampling=Sampling(good=samples),
        case_limit_s=1,
        launch_limit_s=10,
        stop=Stop(),
        control=control,
        threshold=0.03,
        seed=seed,
        text=f"candidates = {list(candidates)}\n".replace("'", '"'),
    )


def make_library(name: str) -> Library:
    """Return a library from PyPI."""
    return Library(
        name=name,
        family=name,
        version="1.0",
        source="pypi",
        prefix=f"/opt/{name}",
        wrapper=f"/opt/{name}/bin/mpicc",
        launcher=f"/opt/{name}/bin/mpiexec",
    )


def make_receipt(name: str) -> Receipt:
    """Return the receipt of a build with a library."""
    return Receipt(
        library=name,
        wrapper=f"/opt/{name}/bin/mpicc",
        compiler="gcc 12.2.0",
        flags=["-O2"],
        linked="gcc -lmpi",
        missing=[],
        core_sha256="c" * 64,
        binary_sha256="b" * 64,
    )
