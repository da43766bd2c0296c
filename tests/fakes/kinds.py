"""A campaign of every kind of case: options, datatypes, message rates, overlap, memory, all pairs of ranks.

`alpha` takes the times of `campaigns.compute_base_ns`, `beta` twice these, but it needs less memory; between ranks 0
and 3 both take ten times as long.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

import fakes
from fakes import campaigns
from rankbench import store
from rankbench.model import ALL_RANKS, Amount, Campaign, Case, CaseResult, CaseStatus, Operation, Option, Series
from rankbench.store import Store

NOTHING, ONE = Amount(base=0, each=0), Amount(base=1, each=0)
PLACEMENT, RANKS = "1x4", 4
LAUNCHES, SAMPLES = 6, 20
GROWTH_BYTES = 96 << 10


def make_operation(name: str, kind: str, *options: Option, **others: object) -> Operation:
    """Return an operation with one message per rank."""
    usual: dict[str, object] = {
        "help": f"what {name} does",
        "standard": "MPI-4.1 12.3.1",
        "metric": "time",
        "forms": ["blocking"],
        "send": ONE,
        "receive": ONE,
        "root_send": ONE,
        "root_receive": ONE,
        "sized": True,
        "ranks_exactly": 0,
        "messages": 1,
        "datatype": "byte",
        "datatypes": ["byte", "double", "vector"],
        "start": "window",
    }
    return msgspec.convert({"name": name, "kind": kind, "options": list(options), **usual, **others}, Operation)


def make_number_option(name: str, usual: int, most: int) -> Option:
    """Return an option that is a number."""
    return Option(name=name, help=f"which {name}", usual=str(usual), least=0, most=most)


def make_choice_option(name: str, *values: str) -> Option:
    """Return an option of values, the first of which is usual."""
    return Option(name=name, help=f"how the {name} is", usual=values[0], values=list(values))


QUANTITY = make_choice_option("quantity", "time", "overlap", "memory")
OPERATIONS = [
    make_operation(
        "put",
        "one-sided",
        make_choice_option("allocation", "allocate", "create"),
        make_choice_option("epoch", "flush", "fence"),
    ),
    make_operation(
        "message-rate",
        "point-to-point",
        make_number_option("window", 64, 4096),
        metric="rate",
        messages=0,
        in_pairs=True,
    ),
    make_operation(
        "allreduce", "collective", QUANTITY, forms=["blocking", "nonblocking", "persistent"], datatype="float"
    ),
    make_operation(
        "pingpong",
        "point-to-point",
        make_number_option("from", 0, 3),
        make_number_option("to", 1, 3),
        metric="latency",
        start="none",
        between_two=True,
        ranks_exactly=2,
    ),
]
BY_NAME = {operation.name: operation for operation in OPERATIONS}


def make_case(name: str, size_bytes: int, form: str = "blocking", datatype: str = "", **options: str) -> Case:
    """Return a case of four ranks."""
    chosen = BY_NAME[name]
    return Case(
        operation=name,
        form=form,  # type: ignore[arg-type]
        size_bytes=size_bytes,
        datatype=datatype or chosen.datatype,
        placement=PLACEMENT,
        ranks=RANKS,
        start=chosen.start,
        options={key.rstrip("_"): options[key] for key in sorted(options)},
    )


SIZES = (8, 65536)
PUTS = [
    *(make_case("put", size) for size in SIZES),
    *(make_case("put", size, allocation="create", epoch="fence") for size in SIZES),
    *(make_case("put", size, datatype="vector") for size in SIZES),
]
RATES = [make_case("message-rate", 8), make_case("message-rate", 8, window="1")]
OVERLAPS = [make_case("allreduce", size, "nonblocking", quantity="overlap") for size in SIZES]
MEMORY = [make_case("allreduce", size, quantity="memory") for size in SIZES]
PAIRS = [
    make_case("pingpong", 8, **({"from_": str(first)} if first else {}), **({"to": str(second)} if second != 1 else {}))
    for first in range(RANKS)
    for second in range(RANKS)
    if first != second
]
CASES = [*PUTS, *RATES, *OVERLAPS, *MEMORY, *PAIRS]


def find_time_ns(case: Case, candidate: str) -> float:
    """Return the true time of a case, or the bytes of memory."""
    if case.quantity == "memory":
        return (1 << 20) * (1.0 if candidate.startswith("beta") else 1.5)
    far = {case.options.get("from", "0"), case.options.get("to", "1")} == {"0", "3"}
    slow = 10 if far and case.operation == "pingpong" else 1
    return campaigns.compute_base_ns(case) * slow * (2 if candidate.startswith("beta") else 1)


def make_result(case: Case, candidate: str, block: int) -> CaseResult:
    """Return a case of one launch, without any scatter but that between blocks."""
    value = find_time_ns(case, candidate) * (1 + block / 1000)
    times = [value] * (1 if case.quantity == "memory" else SAMPLES)
    overlap = case.quantity == "overlap"
    messages = int(case.options.get("window", "64")) * RANKS // 2 if case.operation == "message-rate" else RANKS
    return CaseResult(
        case=case,
        status=CaseStatus.OK,
        sample_count=len(times),
        valid=len(times),
        stopped="samples",
        ranks=RANKS,
        moved_bytes=messages * case.size_bytes,
        moved_messages=messages,
        # Computation takes as long as communication; alpha hides 80% of it, beta nothing.
        pure_ns=value / (1.2 if candidate.startswith("alpha") else 2.0) if overlap else 0.0,
        compute_ns=value / (1.2 if candidate.startswith("alpha") else 2.0) if overlap else 0.0,
        growth_bytes=GROWTH_BYTES if case.quantity == "memory" else 0,
        series=[Series(rank=ALL_RANKS, time_ns=times, last_rank=[0] * len(times), late=[], overrun=[])],
    )


def make_record(name: str, cases: list[Case]) -> Campaign:
    """Return the record of the campaign."""
    campaign = campaigns.make_record(name, cases, placements=(PLACEMENT,), control=False)
    placement = msgspec.structs.replace(campaign.plan.placements[0], ranks_per_node=RANKS)
    return msgspec.structs.replace(
        campaign,
        operations=OPERATIONS,
        plan=msgspec.structs.replace(campaign.plan, placements=[placement]),
        machine=fakes.make_machine(RANKS),
    )


def make_store(folder: Path, cases: list[Case] = CASES) -> Store:
    """Write the campaign into a store."""
    campaign = make_record(folder.name, cases)
    campaign_store = store.create(folder, campaign)
    groups = list(dict.fromkeys(case.launch_group for case in cases))
    blocks = range(1, LAUNCHES + 1)
    turns = [(block, name, group) for block in blocks for name in campaigns.CANDIDATES for group in groups]
    for launch, (block, name, group) in enumerate(turns, start=1):
        results = [make_result(case, name, block) for case in cases if case.launch_group == group]
        campaign_store.append(campaigns.make_launch(launch, block, 0, name, PLACEMENT), results)
    return campaign_store
