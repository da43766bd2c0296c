"""Faults of a library that a campaign's visit detects: a table of faults, forms and sizes on three libraries.

Each fault is a library preloaded into the core, and a few cases with the job lines of a campaign, five visits of
each. A visit that detects the fault ends as wrong data. It must do so with a probability of `least` or more and of
`most` or less: 1 and 1 is always, 0 and 0 is never, with the reason in `why`.
"""

from __future__ import annotations

import itertools
import math
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import fakes
import pytest
from mpi.test_core import FORMS, Core

from proofs.judging import UndecidedError

VISITS = 5
VISIT = {"samples": 20, "fill_s": 0.003, "limit_s": 0.04}
"""As in each visit of the demo's plan."""
FAKES = Path(fakes.__file__).parent
KIB = 1 << 10
SMALL, LARGE = (8, KIB), 64 * KIB
UNLIKELY = 1e-3
"""A count with a smaller probability under the claim refutes it."""


class Fault(NamedTuple):
    """A fault, its cases, and how often a visit detects it."""

    name: str
    preload: str
    environment: str
    cases: str
    """Operations, separated by blanks, with the settings of each case."""
    sizes: tuple[int, ...] = (8, KIB, LARGE)
    forms: tuple[str, ...] = ("blocking",)
    least: float = 1.0
    most: float = 1.0
    why: str = ""
    ranks: int = 2
    alone: bool = False
    """Each visit in its own launch, since the fault counts calls from the start of the launch."""
    visits: int = VISITS
    verify: bool = False
    """With the calls that only `rankbench verify` makes."""


UNHURRIED = "limit_s=60"
"""On a busy machine a visit may otherwise end before the fault occurs."""
NEVER = (0.0, 0.0)
WINDOWS = "bandwidth bandwidth-bidirectional message-rate fan-in"
SPELL = "a visit of n calls meets a spell of L calls, anywhere among N, with p = min(1, (n+L-1)/N)"
BUSY = "a rank without a CPU calls later than the one it should wait for, and shows nothing"
RARE = "1-(1-1/k)^n, n >= 20 timed calls"

SUBTLE_FAULTS = [
    Fault(
        "data come with the next call",
        "flip",
        "FLIP=MPI_Allreduce,MPI_Bcast,MPI_Recv FLIP_HOW=later",
        "allreduce bcast pingpong",
    ),
    Fault("put leaves after its flush", "flip", "FLIP=MPI_Put FLIP_HOW=postpone", "put", SMALL, least=0.5, why=BUSY),
    Fault("barrier does not wait", "hollow", "HOLLOW=barrier", "barrier", (0,), FORMS, least=0.5, why=BUSY),
    Fault("dup returns its argument", "hollow", "HOLLOW=dup", "comm_dup", (0,), ("blocking", "nonblocking")),
    Fault(
        "ssend is send",
        "hollow",
        "HOLLOW=synchronous",
        "pingpong,mode=synchronous",
        (8,),
        FORMS,
        least=0.5,
        why=BUSY,
    ),
    Fault("sums of 8 bits", "subtle", "SUBTLE=narrow:8", "allreduce"),
    Fault("sums of 11 bits", "subtle", "SUBTLE=narrow:11", "allreduce"),
    Fault("251 elements exchanged", "subtle", "SUBTLE=exchange:251", "allreduce", (LARGE,)),
    Fault("251 elements displaced", "subtle", "SUBTLE=displaced:251", "allreduce", (LARGE,)),
    Fault("byte written 70 B behind", "subtle", "SUBTLE=beyond:70", "allreduce bcast pingpong"),
    Fault("byte written 2000 B behind", "subtle", "SUBTLE=beyond:2000", "allreduce bcast pingpong"),
    Fault(
        "byte written 5000 B behind",
        "subtle",
        "SUBTLE=beyond:5000",
        "allreduce",
        (8,),
        (FORMS[0],),
        0.0,
        why="beyond the guard: detected where the byte belongs to a buffer of the case or to its padding",
    ),
    Fault("byte in a gap", "subtle", "SUBTLE=gap", "bcast,datatype=vector pingpong,datatype=vector", (KIB,)),
    Fault("every 10th last byte", "subtle", "SUBTLE=last:10", "allreduce bcast", least=0.87, why=RARE),
    Fault("every 30th last byte", "subtle", "SUBTLE=last:30", "allreduce bcast", least=0.49, why=RARE),
    Fault("every 100th last byte", "subtle", "SUBTLE=last:100", "allreduce bcast", least=0.18, why=RARE),
    Fault("every second call idle", "subtle", "SUBTLE=second", "allreduce bcast"),
    Fault(
        "result remembered by the ends of the data, not copied",
        "subtle",
        "SUBTLE=remembered",
        "allreduce",
        (KIB, LARGE),
    ),
    Fault("wrong from another root", "subtle", "SUBTLE=root", "bcast"),
    Fault(
        "wrong source in a status",
        "subtle",
        "SUBTLE=status:source",
        "pingpong",
        (8,),
        (FORMS[0],),
    ),
    Fault(
        "wrong count in a status",
        "subtle",
        "SUBTLE=status:count",
        "pingpong",
        (8,),
        (FORMS[0],),
    ),
    Fault("wrong tag in a status", "subtle", "SUBTLE=status:tag", "pingpong", (8,)),
    Fault(
        "wrong source from the 20th receive on",
        "subtle",
        "SUBTLE=status:source SUBTLE_FROM=20",
        f"pingpong,samples=60,{UNHURRIED}",
        (8,),
    ),
    *(
        Fault(
            f"wrong {field} in the 200th to 220th receive",
            "subtle",
            f"SUBTLE=status:{field} SUBTLE_FROM=200 SUBTLE_UNTIL=220",
            f"pingpong,samples=300,{UNHURRIED}",
            (8,),
            (form,),
            alone=True,
        )
        for field, form in (("source", "blocking"), ("tag", "nonblocking"), ("count", "persistent"))
    ),
    *(
        Fault(
            f"wrong {field} in calls 200 to 220 that complete receives",
            "subtle",
            f"SUBTLE=status:{field} SUBTLE_FROM=200 SUBTLE_UNTIL=220",
            " ".join(f"{operation},samples=300,start=barrier,{UNHURRIED}" for operation in operations.split()),
            (8,),
            (form,),
            alone=True,
            visits=2,
        )
        for field, form, operations in (
            ("source", "blocking", "ring random-pairs,direction=both sendrecv-replace"),
            ("source", "nonblocking", f"{WINDOWS} pingping exchange halo ring random-pairs,direction=both"),
            ("tag", "nonblocking", "bandwidth exchange ring"),
            ("count", "persistent", f"{WINDOWS} pingping exchange halo ring"),
        )
    ),
    Fault(
        "wrong tag in receives 2000 to 2020",
        "subtle",
        "SUBTLE=status:tag SUBTLE_FROM=2000 SUBTLE_UNTIL=2020",
        f"bandwidth,samples=60,{UNHURRIED} exchange,samples=2000,start=barrier,{UNHURRIED}",
        (8,),
        alone=True,
        visits=2,
    ),
    Fault(
        "the same of both directions at once",
        "subtle",
        "SUBTLE=status:count SUBTLE_FROM=200 SUBTLE_UNTIL=220",
        f"sendrecv,samples=300,start=barrier,{UNHURRIED}",
        (8,),
        alone=True,
    ),
    Fault(
        "wrong count in the 200th to 220th receive, visits of 20 samples",
        "subtle",
        "SUBTLE=status:count SUBTLE_FROM=200 SUBTLE_UNTIL=220",
        "pingpong,fill_s=0 sendrecv,start=barrier,fill_s=0",
        (8,),
        least=0.0,
        why=SPELL,
        alone=True,
    ),
    Fault(
        "send buffer written to",
        "fault",
        "FAULT=scribble FAULT_CALL=MPI_Allreduce",
        "allreduce",
        (KIB,),
        least=0.0,
        why="in one call of the launch only: 1 of the visits",
    ),
]

MISTAKES = [
    Fault("alltoall exchanges two blocks", "mistakes", "MISTAKE=blocks", "alltoall", forms=FORMS),
    Fault("allgather without the last rank", "mistakes", "MISTAKE=last-rank", "allgather", (LARGE,), FORMS),
    Fault(
        "the same, sizes that it spares",
        "mistakes",
        "MISTAKE=last-rank",
        "allgather",
        SMALL,
        ("blocking", "nonblocking"),
        *NEVER,
        why="right at these sizes: control",
    ),
    Fault("reduce to another root", "mistakes", "MISTAKE=wrong-root", "reduce", forms=FORMS),
    Fault("scan without the own numbers", "mistakes", "MISTAKE=scan", "scan", forms=FORMS),
    Fault("complete before the data", "mistakes", "MISTAKE=early", "allreduce", forms=("nonblocking",)),
    Fault(
        "complete at the second test",
        "mistakes",
        "MISTAKE=late-test",
        "allreduce",
        SMALL,
        ("nonblocking",),
        *NEVER,
        why="conforming: control",
    ),
    Fault("persistent start of old data", "mistakes", "MISTAKE=first-data", "allreduce", forms=("persistent",)),
    Fault(
        "end of a derived type dropped",
        "mistakes",
        "MISTAKE=last-element",
        "bcast,datatype=vector pingpong,datatype=vector bcast,datatype=struct",
        (KIB, LARGE),
        FORMS,
    ),
    Fault("bcast cut at 8 KiB", "mistakes", "MISTAKE=eager", "bcast", (LARGE,), FORMS),
    Fault("gatherv one element behind", "mistakes", "MISTAKE=displacement", "gatherv", forms=FORMS),
    Fault("equal tags out of order", "mistakes", "MISTAKE=reorder", "bandwidth", SMALL, ("nonblocking",)),
    Fault(
        "the same, persistent",
        "mistakes",
        "MISTAKE=reorder",
        "bandwidth",
        SMALL,
        ("persistent",),
    ),
    Fault("accumulate puts", "mistakes", "MISTAKE=put", "accumulate", forms=("blocking", "nonblocking")),
    Fault(
        "fetch_and_op not atomic",
        "mistakes",
        "MISTAKE=not-atomic",
        "fetch_and_op",
        (0,),
        (FORMS[0],),
        0.0,
        1.0,
        why="seen where ranks meet in the calls of all, in the first visit of a launch",
    ),
    Fault(
        "accumulate of two not atomic",
        "mistakes",
        "MISTAKE=not-atomic",
        "accumulate-all-to-one",
        SMALL,
        (FORMS[0],),
        0.0,
        1.0,
        why="seen where both origins meet in a checked call",
        ranks=3,
    ),
]


def list_unusual(*faults: Fault) -> list[Fault]:
    """Return faults of the library in `unusual.c`; each visit is the first of its launch."""
    return [
        fault._replace(preload="unusual", environment=f"UNUSUAL={fault.environment}", alone=True) for fault in faults
    ]


EIGHT = (8,)
FLOATS = "allreduce,datatype=float allreduce,datatype=double,reduction=max"
ORDERED = "allreduce,reduction=ordered,datatype=int"
MET = "seen where the moment comes: ranks that share a CPU may miss it"
IN_VERIFY = "made by `verify` only"
BETWEEN = "1-(1-s/n)^m: m checks in a visit of n calls, of which s are wrong"
UNUSUAL_FAULTS = list_unusual(
    Fault("negative results lose their sign", "", "abs", FLOATS, EIGHT),
    Fault("fractions cut off", "", "cut", FLOATS, EIGHT),
    Fault("infinite results and NaN become 0", "", "finite", FLOATS, EIGHT),
    Fault("denormal results become 0", "", "flush", FLOATS, EIGHT),
    Fault("whole numbers compared without sign", "", "unsigned", "allreduce,datatype=int,reduction=min", EIGHT),
    Fault("truth values other than 1", "", "truth", "allreduce,datatype=int,reduction=land", EIGHT),
    Fault("operands exchanged, not commutative", "", "order", ORDERED, EIGHT),
    Fault("the same in a case of sums", "", "order", "allreduce", (1 << 14,), least=0.0, most=0.0, why=IN_VERIFY),
    Fault("the same in `verify`", "", "order", "allreduce", (1 << 14,), verify=True),
    Fault("in place", "", "place", "allreduce", EIGHT),
    Fault("counts that are no power of two", "", "odd", "allreduce", (1 << 14,)),
    Fault("other communicators than the first", "", "comm", "allreduce", EIGHT),
    Fault("a root between first and last", "", "root", "bcast", EIGHT, ranks=3),
    Fault("calls within a microsecond", "", "burst", "allreduce", EIGHT, least=0.2, why=MET),
    Fault("ranks enter more than 20 us apart", "", "apart", "allreduce", EIGHT, least=0.5, why=MET),
    Fault("messages before their receive", "", "early", "pingpong", EIGHT, least=0.2, why=MET),
    Fault("the same in windows", "", "early", "bandwidth", EIGHT, ("nonblocking",), least=0.2, why=MET),
    Fault("rounds upward from the third call on", "", "round", "allreduce,datatype=int", EIGHT),
    Fault("MPI_Test complete at once", "", "test", "pingpong", EIGHT, verify=True),
    Fault("the same in a campaign", "", "test", "pingpong", EIGHT, ("blocking",), *NEVER, why=IN_VERIFY),
    Fault("MPI_Waitany names another request", "", "any", "pingpong", EIGHT, least=0.5, why=MET, verify=True),
    Fault("probed messages lose a byte", "", "probe", "pingpong", EIGHT, verify=True),
    Fault("exclusive locks exclude nobody", "", "shared", "accumulate-all-to-one", EIGHT, least=0.01, why=MET, ranks=3),
    Fault(
        "fetch_and_op reads, then writes", "", "atomic", "accumulate-all-to-one", EIGHT, least=0.01, why=MET, ranks=3
    ),
    Fault("barriers 20 to 3000 are empty", "", "spell", "barrier,samples=4000", (0,), least=0.05, why=BETWEEN),
    Fault(
        "ssend 20 to 3000 are sends",
        "",
        "ssend",
        "pingpong,mode=synchronous,samples=4000",
        EIGHT,
        least=0.05,
        why=BETWEEN,
    ),
    Fault(
        "work of comm_dup in comm_free",
        "",
        "store",
        "comm_dup,start=barrier",
        (0,),
        least=0.0,
        most=0.0,
        why='timed with free = "timed"',
    ),
)


class Count(NamedTuple):
    """Visits of a fault: those that detected it, all that ended, and other results."""

    detected: int
    visits: int
    others: tuple[str, ...]


@pytest.fixture(scope="module")
def preloads(core: Core, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Compile the preloaded libraries for the core's library."""
    folder = tmp_path_factory.mktemp("preloads")
    environment = {**os.environ, **core.library.environment}
    names = sorted({fault.preload for fault in (*SUBTLE_FAULTS, *MISTAKES, *UNUSUAL_FAULTS)})
    for name in names:
        options = [
            "-O2",
            "-shared",
            "-fPIC",
            "-w",
            "-o",
            str(folder / f"{name}.so"),
            str(FAKES / f"{name}.c"),
            "-lm",
            "-ldl",
        ]
        subprocess.run([core.library.wrapper, *options], check=True, env=environment)
    return {name: folder / f"{name}.so" for name in names}


def make_cases(fault: Fault) -> list[dict[str, object]]:
    """Return a case for each operation, form and size."""
    cases: list[dict[str, object]] = []
    for word in fault.cases.split():
        operation, *settings = word.split(",")
        values: Mapping[str, object] = dict(setting.split("=", 1) for setting in settings)
        cases += [
            {"operation": operation, "form": form, "bytes": size, **VISIT, **values}
            for form in fault.forms
            for size in fault.sizes
        ]
    return cases


def count_visits(core: Core, preload: Path, fault: Fault, tmp_path: Path) -> Count:
    """Visit each case so often with the fault, and count."""
    before = ("env", f"LD_PRELOAD={preload}", *fault.environment.split())
    wrong = core.list_wrong(fault.ranks)
    cases = [case for case in make_cases(fault) if f"{case['operation']}.{case['form']}" not in wrong]
    visits = cases * fault.visits
    jobs = [[visit] for visit in visits] if fault.alone else [visits]
    arguments = ["--probe"] if fault.verify else []
    records = list(
        itertools.chain.from_iterable(
            core.run_job(tmp_path, fault.ranks, job, *arguments, before=before) for job in jobs
        )
    )
    others = {
        f"{record['status']}: {record['reason']}" for record in records if record["status"] not in {"ok", "wrong-data"}
    }
    statuses = [record["status"] for record in records if record["status"] in {"ok", "wrong-data"}]
    return Count(statuses.count("wrong-data"), len(statuses), tuple(sorted(others)))


def compute_probability(successes: int, trials: int, probability: float) -> float:
    """Return the probability of at most so many successes."""
    return sum(math.comb(trials, k) * probability**k * (1 - probability) ** (trials - k) for k in range(successes + 1))


def is_contradicted(fault: Fault, counted: Count) -> bool:
    """Report whether a count is too unlikely under the claim on the fault."""
    few = compute_probability(counted.detected, counted.visits, fault.least)
    many = compute_probability(counted.visits - counted.detected, counted.visits, 1 - fault.most)
    return min(few, many) < UNLIKELY


def format_row(fault: Fault, counted: Count) -> str:
    """Return a row of the table."""
    sizes = " ".join(str(size) for size in fault.sizes)
    claim = {(1.0, 1.0): "always", (0.0, 0.0): "never"}.get((fault.least, fault.most), f"p >= {fault.least:g}")
    forms = " ".join(form[0] for form in fault.forms)
    text = f"{counted.detected} of {counted.visits}"
    return f"{fault.name} | {fault.cases} | {forms} | {sizes} | {claim} | {text} | {fault.why}"


@pytest.mark.parametrize("faults", [SUBTLE_FAULTS, MISTAKES, UNUSUAL_FAULTS], ids=["subtle", "mistakes", "unusual"])
def test_a_visit_detects_the_claimed_faults(
    core: Core, preloads: dict[str, Path], faults: list[Fault], tmp_path: Path
) -> None:
    """One table per library; a row without a completed visit is unknown.

    On a busy machine some visits are refused, since no round began in time; they do not count.
    """
    refuted, undecided = [], []
    print(f"{core.library.name}: fault | operations | forms | bytes | claimed | detected | why")
    for fault in faults:
        counted = count_visits(core, preloads[fault.preload], fault, tmp_path)
        print(format_row(fault, counted), *counted.others, sep=" | ", flush=True)
        if is_contradicted(fault, counted):
            refuted.append(format_row(fault, counted))
        elif counted.visits == 0:
            undecided.append(f"{fault.name}: {', '.join(counted.others) or 'no visit'}")
    assert refuted == []
    if undecided:
        raise UndecidedError("; ".join(undecided))
    print(f"{core.library.name}: {len(faults)} faults, each detected as claimed")
