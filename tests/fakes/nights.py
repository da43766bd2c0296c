"""Campaigns of one plan, made one after the other: what is true of each, and what its record says, is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from fakes import campaigns
from fakes.campaigns import QUIET_NS, Truth
from rankbench import store
from rankbench.model import CaseStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rankbench.model import Campaign, Case, Launch
    from rankbench.store import Store

CASES = campaigns.cases_of(lines=[("allreduce", "blocking"), ("barrier", "blocking")])
"""Two sizes of one operation and one case of another."""
Fate = float | CaseStatus
_drawn: dict[str, dict[Path, bytes]] = {}
"""The files of campaigns by what they were drawn from."""


def night(
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
    """Make a campaign in which `alpha` is of a version, which its name ends in; factors are asked for by family."""
    named = [f"{name}-{version}" if name == "alpha" else name for name in candidates]

    def truth(name: str, case: Case) -> Truth:
        fate = factor(name.partition("-")[0], case)
        if isinstance(fate, CaseStatus):
            return Truth(noise=0, spread=scatter, status=fate)
        return Truth(noise=0, spread=scatter, factor=fate)

    campaign_store = draw_once(folder, truth, launches, day, named, cases, exchange_ns, control=control)
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
            slow_copying(campaign_store.folder, launch, copy)
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
    """Make a campaign. Drawing is expensive: one of the same name, seed, cases and truths is copied."""
    truths = [(name, case, truth(name, case)) for name in candidates for case in cases]
    key = repr((folder.name, truths, launches, seed, exchange_ns, control))
    if key not in _drawn:
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
        _drawn[key] = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}
        return drawn
    for path, content in _drawn[key].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return store.open(folder)


def rewrite(folder: Path, record: Campaign) -> None:
    """Let a campaign's record say something else."""
    (folder / "campaign.json").write_bytes(msgspec.json.encode(record))


def slow_copying(folder: Path, launch: Launch, factor: float) -> None:
    """Let a launch have met a machine on which copying took so much longer."""
    states = {
        name: msgspec.structs.replace(state, copy_bytes_per_s=(state.copy_bytes_per_s or 0) / factor)
        for name, state in (("before", launch.before), ("after", launch.after))
        if state
    }
    path = folder / "launches" / f"{launch.number:06}.json"
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(launch, **states)))


def slower(family: str, operation: str, factor: Fate, *, below: int = 1 << 40) -> Callable[[str, Case], Fate]:
    """Return the truth that one candidate takes so much longer in one operation's cases below a size, or ends so."""
    return lambda name, case: (
        factor if name == family and case.operation == operation and case.size_bytes < below else 1.0
    )
