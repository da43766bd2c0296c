"""Changes of a plan that a campaign can adopt: those that do not affect the measurement."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec

from rankbench.model import Campaign, Look, Plan, RankbenchError, Stop
from rankbench.plan import list_looks, notation
from rankbench.store import Store

ADOPTABLE = ("question", "stop", "threshold", "confidence", "estimator", "baseline", "calls", "job", "sums")
"""Fields of a plan for the length of the campaign and its evaluation, not for what is measured."""
DERIVED = ("text", "file", "from_options", "notes")
"""Fields that are derived from others, or say where the plan is from."""
KEYS = {"sizes_bytes": "sizes", "case_limit_s": "case_limit", "launch_limit_s": "launch_limit", "starts": "start",
        "sampling": "samples", "every_pair": "pairs"}  # fmt: skip
"""Names of fields in a plan's file, if different."""


def require_same_measurement(folder: Path, record: Campaign, wanted: Plan, seed: int) -> None:
    """Refuse a plan or a seed that would change what the campaign measures. Seed 0 is any.

    The settings of the recorded candidates must be in the plan too: they are set where launchers run.

    Raises RankbenchError if it would.
    """
    different = differences(record.plan, wanted) if record.plan.text != wanted.text else []
    settings = [spec.settings for spec in wanted.candidates]
    if not all(candidate.settings in settings for candidate in record.candidates):
        different.append("candidates")
    fixed = ("calls",) if not wanted.operations and list_called(record.plan) != list_called(wanted) else ()
    measured = [KEYS.get(name, name) for name in dict.fromkeys(different) if name not in ADOPTABLE or name in fixed]
    if measured:
        verb = "differs" if len(measured) == 1 else "differ"
        raise RankbenchError(
            f"{folder} was started with another plan ({', '.join(measured)} {verb}); use --name NAME for another "
            "campaign"
        )
    if seed not in {0, record.seed}:
        raise RankbenchError(
            f"{folder} was started with seed {record.seed}; leave --seed out, or use --name NAME for another campaign"
        )


def list_called(plan: Plan) -> list[tuple[str, str, int, int]]:
    """Return what a plan without operations measures: calls, not how often they are made."""
    return sorted((call.operation, call.form, call.size_bytes, call.most_bytes) for call in plan.calls)


def differences(first: Plan, other: Plan) -> list[str]:
    """Return the fields in which two plans differ; a campaign has a copy of the file of a profile."""
    before, after = (
        msgspec.structs.replace(
            plan,
            stop=msgspec.structs.replace(plan.stop, past=[]),
            profile=plan.profile and msgspec.structs.replace(plan.profile, file=""),
        )
        for plan in (first, other)
    )
    names = [name for name in after.__struct_fields__ if name not in DERIVED]
    return [name for name in names if getattr(before, name) != getattr(after, name)]


def take_over(store: Store, wanted: Plan, more: int) -> None:
    """Record the wanted plan, or with `more` the recorded plan with that many further blocks.

    What is measured, and its names, stay as recorded.
    """
    record = store.campaign
    plan = record.plan
    if plan.text != wanted.text:
        plan = msgspec.structs.replace(wanted, placements=plan.placements, notes=plan.notes)
    blocks = max((launch.block for launch in store.launches()), default=0)
    if more:
        # Of a plan with a limit of time, these blocks are wanted beyond it.
        rule = plan.stop.until.partition(notation.OR)[0]
        until = rule if math.isinf(notation.find_time_limit_s(rule)) else "blocks"
        stop = msgspec.structs.replace(plan.stop, blocks_min=blocks + more, blocks_max=blocks + more, until=until)
        plan = msgspec.structs.replace(plan, stop=stop)
    changed = differences(record.plan, plan)
    past = list_past_looks(record.plan.stop, blocks) if "stop" in changed else record.plan.stop.past
    plan = msgspec.structs.replace(plan, stop=msgspec.structs.replace(plan.stop, past=past))
    if plan == record.plan:
        return
    notes = [*record.notes]
    if changed and blocks:
        count = "1 block" if blocks == 1 else f"{blocks} blocks"
        notes.append(f"the plan was changed after {count}: {', '.join(changed)}")
    if more and store.looks():
        store.append_look(make_open_look(record, blocks, blocks + more))
    store.change_plan(msgspec.structs.replace(record, plan=plan, notes=notes))


def list_past_looks(stop: Stop, blocks: int) -> list[int]:
    """Return the blocks after which results were seen, including the last measured one."""
    return sorted({*(number for number in list_looks(stop) if number <= blocks), *([blocks] if blocks else [])})


def make_open_look(record: Campaign, block: int, until: int) -> Look:
    """Return an interim analysis after which every case is measured with every candidate."""
    names = [candidate.name for candidate in record.candidates if not candidate.control_of]
    return Look(
        block=block, decided=[], given_up=[], open={case.key: names for case in record.cases}, until=until, winners={}
    )
