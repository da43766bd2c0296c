"""The core's job and stream: writes the one, reads the other back into records. It neither judges nor drops a value.

`docs/reference/formats.md` describes both; the writers of the stream are `core/output/stream.c` and `core/main.c`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from rankbench import files
from rankbench.model import (
    LATE_START,
    Case,
    CaseResult,
    CaseStatus,
    Evidence,
    LaunchFacts,
    LibraryFile,
    Memory,
    NodeNetwork,
    Passes,
    Plan,
    RankbenchError,
    RankFact,
    Sampling,
    Series,
    Stream,
    Visit,
)
from rankbench.plan import settings
from rankbench.samples import checking, records

L = TypeVar("L")
R = TypeVar("R", RankFact, LibraryFile, NodeNetwork)

DEFAULTS = {"clock": "auto", "sync": "tree", "ranks": "one", "calls": "many", "patience": "45"}
"""What a core does unless a job's `set` line says otherwise."""


def list_job_cases(cases: Sequence[Case], plan: Plan, once: Container[str] = ()) -> list[Case]:
    """Return the cases of a job as its lines have them: all in this order, then again for each further pass.

    Memory, and what happens `once` in a launch, are not measured again.
    """
    again = [case for case in cases if not is_whole(case, once)]
    return [*cases, *again * (plan.sampling.passes - 1)]


def is_whole(case: Case, once: Container[str]) -> bool:
    """Return whether a case is measured once in a launch, and its samples are not taken in parts."""
    return case.quantity == "memory" or case.operation in once


def write_job(
    path: Path, cases: Sequence[Case], plan: Plan, once: Container[str] = (), among: Sequence[Case] = ()
) -> None:
    """Write the job that asks a core for these cases in this order, measured as the plan says.

    What is as the core has it by default is left out, so that a person can read it. Of launches that measure in turn,
    `among` are the cases of all, in their order: those that this one lacks are turns that it passes.
    """
    chosen = {"clock": plan.clock, "sync": plan.synchronisation, "ranks": "all" if plan.every_rank else "one"}
    chosen["calls"] = "each" if plan.each_call else "many"
    # The core ends what is stuck, and says where, before it would be ended from outside without a word.
    chosen["patience"] = f"{0.75 * plan.launch_limit_s:g}"
    settings = _tokens(_others(chosen, DEFAULTS))
    lines = [
        "rankbench-job 1",
        *([f"set {settings}"] if settings else []),
        *_list_turns(cases, list_job_cases(among or cases, plan, once), plan, once),
    ]
    files.write(path, "".join(f"{line}\n" for line in lines))


def _list_turns(cases: Sequence[Case], order: Sequence[Case], plan: Plan, once: Container[str]) -> Iterator[str]:
    """Yield the lines of the own cases in an order of more, and how many turns pass before each."""
    own_keys, passed = {case.key for case in cases}, 0
    for case in order:
        if case.key not in own_keys:
            passed += 1
            continue
        if passed:
            yield f"pass {passed}"
        yield case_line(case, plan, once)
        passed = 0


def read_job(path: Path, cases: Sequence[Case], plan: Plan, once: Container[str] = ()) -> list[Case]:
    """Return the case of each of a job's lines. A line that is of none of these cases is an error.

    Raises RankbenchError for such a line.
    """
    by_line = {case_line(case, plan, once): case for case in cases}
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("case ")]
    unknown = next((line for line in lines if line not in by_line), None)
    if unknown is not None:
        raise RankbenchError(f"{path}: no case of this campaign: {unknown}")
    return [by_line[line] for line in lines]


def case_line(case: Case, plan: Plan, once: Container[str] = ()) -> str:
    """Return the line of a job that asks for a case, or for its part of a pass."""
    undivided = is_whole(case, once)
    passes = 1 if undivided else plan.sampling.passes
    case_is = {
        "operation": case.operation,
        "form": case.form,
        "bytes": case.size_bytes,
        "datatype": case.datatype,
        "start": case.start,
    }
    memory = _others(msgspec.structs.asdict(case.memory), msgspec.structs.asdict(Memory()))
    stops = msgspec.structs.asdict(plan.sampling)
    stops["tries"] = -(-stops["tries"] // passes)
    stops["fill_s"] = 0.0 if undivided else round(stops["fill_s"] / passes, 6)
    others = {key: stops[key] for key in stops if key not in {"good", "passes"}}
    more = _others(others, msgspec.structs.asdict(Sampling()))
    measured = {"samples": -(-plan.sampling.good // passes)} | more | {"limit_s": round(plan.case_limit_s / passes, 6)}
    return f"case {_tokens(case_is | memory | settings.resolve_options(case, plan) | measured)}"


def _others(values: Mapping[str, object], usual: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if value != usual[key]}


def _tokens(values: Mapping[str, object]) -> str:
    return " ".join(f"{key}={value}" for key, value in values.items())


def decode(path: Path, decoder: msgspec.json.Decoder[records.Line]) -> tuple[list[records.Line], str]:
    """Decode the whole lines up to the first that is no record, and say what is wrong with that.

    What follows the last newline was being written when the core ended. Of the text, one line at a time is in memory.
    """
    lines: list[records.Line] = []
    if not path.exists():
        return lines, ""
    with path.open("rb") as file:
        for number, text in enumerate(file, start=1):
            try:
                if text.endswith(b"\n"):
                    lines.append(decoder.decode(text))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                return lines, f"{path} line {number}: not a record of a rankbench stream ({error})"
    return lines, ""


def _read_facts(path: Path, lines: Iterable[records.Line]) -> LaunchFacts | None:
    """Return what the line of the launch says; a stream of another format is an error."""
    line = next((line for line in lines if isinstance(line, records.Launch)), None)
    if not line:
        return None
    if line.format != records.FORMAT:
        raise RankbenchError(f"{path}: stream format {line.format}, this rankbench reads format {records.FORMAT}")
    return LaunchFacts(**{name: getattr(line, name) for name in LaunchFacts.__struct_fields__})


def _result(
    line: records.CaseLine,
    cases: Sequence[Case],
    begin: records.Begin,
    hops: Sequence[float],
    evidence: records.EvidenceLine | None,
) -> CaseResult:
    values = {name: getattr(line, name) for name, column in records.COLUMNS.items() if column.column.streamed}
    return CaseResult(
        case=cases[line.case],
        hop_ns=_mean_of_known(hops),
        position=begin.position,
        after=begin.after,
        series=[*line.series],
        evidence=evidence and Evidence(**{name: getattr(evidence, name) for name in Evidence.__struct_fields__}),
        **values,
    )


def read(path: Path, cases: Sequence[Case]) -> Stream:
    """Read a stream, whole or broken off, of a job whose lines ask for these cases. No file is an empty stream.

    What passes measured of one case is put together.

    It ends at a line that is no record or does not fit the lines before or the job, which `damage` names; a result that
    does not fit is `unfinished`. A stream of another format is a RankbenchError.
    """
    lines, damage = decode(path, records.decoder)
    _read_facts(path, lines)
    misfit = checking.find_misfit(lines, cases)
    if not misfit:
        return stream(path, lines, damage, cases)
    damage = f"{path} line {misfit.line}: {misfit.reason}"
    readable = stream(path, lines[: misfit.line - 1], damage, cases)
    unfinished = readable.unfinished if misfit.case is None else cases[misfit.case]
    return msgspec.structs.replace(readable, unfinished=unfinished)


def stream(path: Path, lines: Sequence[records.Line], damage: str, cases: Sequence[Case]) -> Stream:
    """Return what the lines of a stream show, which fit each other and the job of these cases."""
    ended, ends = _select(lines, records.CaseLine), _select(lines, records.End)
    open_cases = {line.case for line in _select(lines, records.Begin)} - {line.case for line in ended}
    parts_of: dict[str, list[CaseResult]] = {}
    around = _around(lines)
    evidence = {line.case: line for line in _select(lines, records.EvidenceLine)}
    for line in ended:
        result = _result(line, cases, *around[line.case], evidence.get(line.case))
        parts_of.setdefault(result.case.key, []).append(result)
    return Stream(
        facts=_read_facts(path, lines),
        ranks=_convert(_select(lines, records.Rank), RankFact),
        files=_convert(_select(lines, records.File), LibraryFile),
        functions=[name for line in _select(lines, records.Functions) for name in line.names],
        nodes=_convert(_select(lines, records.Node), NodeNetwork),
        results=[together(parts) for parts in parts_of.values()],
        unfinished=cases[max(open_cases)] if open_cases else None,
        complete=not damage and bool(ends),
        damage=damage,
        waited_s=sum(line.waited_s for line in ends),
        busy_s=sum(line.busy_s for line in ends),
        spent_s=next((line.spent_s for line in ends), {}),
    )


def _select(lines: Sequence[records.Line], kind: type[L]) -> list[L]:
    """Return the lines of a kind."""
    return [line for line in lines if isinstance(line, kind)]


def _convert(lines: Sequence[records.Line], kind: type[R]) -> list[R]:
    """Return the records of the model for lines with at least their fields."""
    return [kind(**{name: getattr(line, name) for name in kind.__struct_fields__}) for line in lines]


def _around(lines: Sequence[records.Line]) -> dict[int, tuple[records.Begin, list[float]]]:
    """Return, by case, how it began, and what a hop took just before it and, before the next one, just after it."""
    marks = [line for line in lines if isinstance(line, records.Begin | records.End)]
    return {
        line.case: (line, [line.hop_ns, *(after.hop_ns for after in marks[place : place + 1])])
        for place, line in enumerate(marks, 1)
        if isinstance(line, records.Begin)
    }


def _mean_of_known(values: Iterable[float]) -> float:
    """Return the mean of what is not 0, 0 if all are."""
    known = [value for value in values if value]
    return sum(known) / len(known) if known else 0.0


def together(parts: Sequence[CaseResult]) -> CaseResult:
    """Return what passes measured of a case as one result.

    A pass that did not end well is what became of the case; but where only no round of it began in time, since the
    machine was busy elsewhere, the other passes are the case.
    """
    counting = [part for part in parts if part.cause != LATE_START] or parts[:1]
    first = counting[0]
    ended = next((part for part in counting if part.status != CaseStatus.OK), None)
    if ended:
        return ended
    series = [_join(parts, place) for place in range(len(first.series))]
    joined = {name: _value(column.column.passes, name, counting, parts[0]) for name, column in records.COLUMNS.items()}
    joined["hop_ns"] = _mean_of_known(part.hop_ns for part in counting)
    joined["moved"] = "; ".join(dict.fromkeys(part.moved for part in counting if part.moved))
    joined["stopped"] = ", ".join(dict.fromkeys(part.stopped for part in counting if part.stopped))
    return msgspec.structs.replace(first, series=series, **joined)


def _value(passes: Passes, name: str, counting: Sequence[CaseResult], opening: CaseResult) -> Any:
    """Return what a case's row holds of what its passes measured; of OTHER the first, for the caller to replace."""
    values = [getattr(part, name) for part in counting]
    if passes is Passes.OPENING:
        return getattr(opening, name)
    if passes is Passes.SUM:
        return sum(values)
    if passes is Passes.LEAST:
        return min(values)
    if passes is Passes.MEAN:
        return sum(values) / len(values)
    return max(values, key=abs) if passes is Passes.LARGEST else values[0]


def _join(parts: Sequence[CaseResult], place: int) -> Series:
    """Return one of the case's series over all passes; places of late samples count on. Who came too late adds none."""
    part_series = [[] if part.cause == LATE_START else [part.series[place]] for part in parts]
    counting = [series for columns in part_series for series in columns]
    begins = [0, *accumulate(len(series.time_ns) for series in counting)]
    lists = {name: [value for series in counting for value in getattr(series, name)] for name in records.PER_SAMPLE}
    places = {
        name: [begin + at for begin, series in zip(begins, counting, strict=False) for at in getattr(series, name)]
        for name in records.MARKS
    }
    visits = [
        Visit(sum(len(series.time_ns) for series in columns), part.hop_ns, part.position, part.after, part.waited_share)
        for part, columns in zip(parts, part_series, strict=True)
    ]
    return Series(rank=counting[0].rank, visits=visits, **lists, **places)
