"""The core's job and stream: writes the one, reads the other back into records. It neither judges nor drops a value.

Both formats are described in ARCHITECTURE.md; the writers of the stream are `core/stream.c` and `core/main.c`.
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - msgspec resolves the annotations at run time
from typing import TYPE_CHECKING

import msgspec

from rankbench.model import (
    CaseResult,
    CaseStatus,
    LaunchFacts,
    Memory,
    RankbenchError,
    RankFact,
    Sampling,
    Series,
    SourceFact,
    Stream,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankbench.model import Case, Plan

FORMAT = 2
DEFAULTS = {"clock": "auto", "sync": "tree", "ranks": "one"}
"""What a core does unless a job's `set` line says otherwise."""


class Line(msgspec.Struct, frozen=True, kw_only=True, tag_field="record"):
    """Base of the stream's records; `record` tells them apart."""


class _Launch(Line, frozen=True, kw_only=True, tag="launch"):
    format: int
    ranks: int
    library_version: str
    mpi_version: str
    core: str
    source: str
    resolution_ns: float
    cost_ns: float
    # Format 1 had none of these; it is refused by its number, not as damaged.
    source_reason: str = ""
    synchronisation: str = ""
    last_level_cache_bytes: int = 0
    sources: list[SourceFact] = []


class _Rank(Line, frozen=True, kw_only=True, tag="rank"):
    rank: int
    host: str
    cpu: int
    cpus: str
    clock: str
    libmpi: str


class _Begin(Line, frozen=True, kw_only=True, tag="begin"):
    case: int


class _CaseLine(Line, frozen=True, kw_only=True, tag="case"):
    case: int
    status: CaseStatus
    reason: str
    taken: int
    valid: int
    late: int
    overrun: int
    sync_bound_ns: float
    drift_ns: float
    migrated: bool
    synchronisations: int
    stopped: str
    series: list[Series]


class _End(Line, frozen=True, kw_only=True, tag="end"):
    cases: int


Head = _Launch | _Rank | _End
"""The records of every stream, whatever it tells of."""
_decoder: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Head | _Begin | _CaseLine)


def write_job(path: Path, cases: Sequence[Case], plan: Plan) -> None:
    """Write the job that asks a core for these cases in this order, measured as the plan says.

    What is as the core has it by default is left out, so that a person can read it.
    """
    chosen = {"clock": plan.clock, "sync": plan.synchronisation, "ranks": "all" if plan.every_rank else "one"}
    settings = _tokens(_others(chosen, DEFAULTS))
    lines = ["rankbench-job 1", *([f"set {settings}"] if settings else []), *(_case_line(case, plan) for case in cases)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _case_line(case: Case, plan: Plan) -> str:
    case_is = {
        "operation": case.operation,
        "form": case.form,
        "bytes": case.size_bytes,
        "datatype": case.datatype,
        "start": case.start,
    }
    memory = _others(msgspec.structs.asdict(case.memory), msgspec.structs.asdict(Memory()))
    stops = msgspec.structs.asdict(plan.sampling)
    more = _others({key: stops[key] for key in stops if key != "good"}, msgspec.structs.asdict(Sampling()))
    measured = {"samples": plan.sampling.good} | more | {"limit_s": plan.case_limit_s}
    return f"case {_tokens(case_is | memory | measured)}"


def _others(values: Mapping[str, object], usual: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if value != usual[key]}


def _tokens(values: Mapping[str, object]) -> str:
    return " ".join(f"{key}={value}" for key, value in values.items())


def decode(path: Path, decoder: msgspec.json.Decoder[Line]) -> tuple[list[Line], str]:
    """Decode the whole lines up to the first that is no record, and say what is wrong with that.

    What follows the last newline was being written when the core ended.
    """
    whole = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    lines: list[Line] = []
    for number, text in enumerate(whole, start=1):
        try:
            lines.append(decoder.decode(text))
        except msgspec.MsgspecError as error:
            return lines, f"{path} line {number}: not a record of a rankbench stream ({error})"
    return lines, ""


def _facts(path: Path, line: _Launch) -> LaunchFacts:
    if line.format != FORMAT:
        raise RankbenchError(f"{path}: stream format {line.format}, this rankbench reads format {FORMAT}")
    return LaunchFacts(**{name: getattr(line, name) for name in LaunchFacts.__struct_fields__})


def _result(path: Path, line: _CaseLine, cases: Sequence[Case]) -> CaseResult:
    if not 0 <= line.case < len(cases):
        raise RankbenchError(f"{path}: has a case {line.case}, but its job has only {len(cases)} cases")
    values = {name: getattr(line, name) for name in CaseResult.__struct_fields__ if name != "case"}
    return CaseResult(case=cases[line.case], **values)


def read(path: Path, cases: Sequence[Case]) -> Stream:
    """Read a stream, whole or broken off, of a job with these cases. A file that is not there is an empty stream.

    It ends at a line that is no record, which `damage` names. A stream of another format or job is a RankbenchError.
    """
    return stream(path, *decode(path, _decoder), cases)


def stream(path: Path, lines: Sequence[Line], damage: str, cases: Sequence[Case]) -> Stream:
    """Return what the lines of a stream tell, as far as they are of a job."""
    begun = [line.case for line in lines if isinstance(line, _Begin)]
    ended = [line for line in lines if isinstance(line, _CaseLine)]
    open_cases = set(begun) - {line.case for line in ended}
    return Stream(
        facts=next((_facts(path, line) for line in lines if isinstance(line, _Launch)), None),
        ranks=[
            RankFact(**{name: getattr(line, name) for name in RankFact.__struct_fields__})
            for line in lines
            if isinstance(line, _Rank)
        ],
        results=[_result(path, line, cases) for line in ended],
        unfinished=max(open_cases, default=None),
        complete=not damage and any(isinstance(line, _End) for line in lines),
        damage=damage,
    )
