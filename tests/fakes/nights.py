"""Successive campaigns of one plan, with chosen truth and records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from fakes import campaigns
from fakes.campaigns import QUIET_NS, Truth
from rankbench import store
from rankbench.model import Campaign, Case, CaseStatus, Launch
from rankbench.store import Store

CASES = campaigns.make_cases(lines=[("allreduce", "blocking"), ("barrier", "blocking")])
"""Two sizes of one operation and one case of another."""
Fate = float | CaseStatus
_CAMPAIGNS: dict[str, dict[Path, bytes]] = {}
"""Files of drawn campaigns by their parameters."""


def make_night(
    folder: Path,
    factor: Callable[[str, Case], Fate] = lambda _candidate, _case: 1.0,
    *,
    version: str = "1.0",
    day: int = 1,
    launches: int = 6,
    scatter: float = 0.0,
    exchange_ns: float = QUIET_NS,
    copy: float = 1.0,
    candidates: Sequence[str] = ("alpha", "beta"),
    cases: Sequence[Case] = CASES,
    control: bool = True,
    machine: Mapping[str, Any] | None = None,
    plan: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Store:
    """Make a campaign in which `alpha` has a version, with which its name ends; factors are looked up by family."""
    named = [f"{name}-{version}" if name == "alpha" else name for name in candidates]

    def make_truth(name: str, case: Case) -> Truth:
        fate = factor(name.partition("-")[0], case)
        if isinstance(fate, CaseStatus):
            return Truth(noise=0, spread=scatter, status=fate)
        return Truth(noise=0, spread=scatter, factor=fate)

    campaign_store = draw_once(folder, make_truth, launches, day, named, cases, exchange_ns, control=control)
    record = msgspec.structs.replace(
        campaign_store.campaign,
        created=f"2026-03-{day:02}T01:00:00+00:00",
        libraries=[
            msgspec.structs.replace(
                library, family=library.name.partition("-")[0], version=library.name.partition("-")[2] or "1.0"
            )
            for library in campaign_store.campaign.libraries
        ],
        machine=msgspec.structs.replace(campaign_store.campaign.machine, **(machine or {})),
        plan=msgspec.structs.replace(campaign_store.campaign.plan, **(plan or {})),
    )
    rewrite(campaign_store.folder, msgspec.structs.replace(record, **changes))
    if copy != 1.0:
        for launch in campaign_store.launches():
            slow_down_copying(campaign_store.folder, launch, copy)
    return store.open(folder)


def draw_once(
    folder: Path,
    truth: Callable[[str, Case], Truth],
    launches: int,
    seed: int,
    candidates: Sequence[str],
    cases: Sequence[Case],
    exchange_ns: float,
    *,
    control: bool,
) -> Store:
    """Make a campaign. Drawing is expensive: a campaign with the same name, seed, cases and truths is copied."""
    truths = [(name, case, truth(name, case)) for name in candidates for case in cases]
    key = repr((folder.name, truths, launches, seed, exchange_ns, control))
    if key not in _CAMPAIGNS:
        drawn = campaigns.make_campaign(
            folder,
            truth,
            launches,
            seed,
            samples=10,
            candidates=candidates,
            cases=cases,
            control=control,
            exchange_ns=lambda _candidate, _block: (exchange_ns, exchange_ns),
        )
        _CAMPAIGNS[key] = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}
        return drawn
    for path, content in _CAMPAIGNS[key].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return store.open(folder)


def rewrite(folder: Path, record: Campaign) -> None:
    """Replace a campaign's record."""
    (folder / "campaign.json").write_bytes(msgspec.json.encode(record))


def slow_down_copying(folder: Path, launch: Launch, factor: float) -> None:
    """Give a launch a machine on which copying took so much longer."""
    states = {
        name: msgspec.structs.replace(state, copy_bytes_per_s=(state.copy_bytes_per_s or 0) / factor)
        for name, state in (("before", launch.before), ("after", launch.after))
        if state
    }
    path = folder / "launches" / f"{launch.number:06}.json"
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(launch, **states, ranks=[])))


def make_slower(family: str, operation: str, factor: Fate, *, below: int = 1 << 40) -> Callable[[str, Case], Fate]:
    """Return the truth that a candidate takes longer in an operation's cases below a size, or ends with a status."""
    return lambda name, case: (
        factor if name == family and case.operation == operation and case.size_bytes < below else 1.0
    )
