"""A library sends over TCP between nodes although they have a faster network device.

Why: The check before a campaign sends known data between nodes and reads the counters of all network devices before and
after. TCP is several times slower than InfiniBand, RoCE, Omni-Path, EFA or Slingshot used directly, so that the library
is ranked by its build and its settings, not by what it can do here. Within a node nothing is sent.

What to do: Make a second candidate with the settings that the finding names. If they change nothing, the build lacks
support for the device: use the library of the site, or build it with the site's UCX or libfabric.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.networks import Bypass, find_bypass
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import NOTHING, Text, say
from rankbench.libraries.families import list_families
from rankbench.model import Finding, NetworkDevice, Usage
from rankbench.quantities import format_memory

TITLE = "TCP beside a faster network"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a warning for each candidate and placement whose check shows it."""
    for usage in view.campaign.usage:
        if bypass := find_bypass(usage):
            yield _make_finding(view, usage, bypass)


def _make_finding(view: CampaignView, usage: Usage, bypass: Bypass) -> Finding:
    node, carrier, idle = bypass
    return Finding(
        kind="network",
        title=say(
            "{candidate} used TCP although nodes have {device}",
            candidate=usage.candidate,
            device=say("{kind} ({name})", kind=idle.kind, name=idle.name),
        ),
        text=say(
            "In the check on {placement}, {host} sent {sent} to another node: {carried} passed through {carrier} "
            "({carrier_kind}), {idle}.{report}",
            placement=usage.placement,
            host=node.host,
            sent=format_memory(node.probe_bytes),
            carried=format_memory(carrier.sent_bytes),
            carrier=carrier.name,
            carrier_kind=carrier.kind,
            idle=_describe_idle(idle),
            report=_quote_report(usage),
        ),
        advice=_advise(view, usage, idle),
        cases=[case.key for case in view.cases if case.placement == usage.placement],
        severity="warning",
    )


def _describe_idle(idle: NetworkDevice) -> Text:
    known = idle.sent_bytes >= 0
    return say(
        "{passed} through {name} ({kind}, active{rate})" if known else "{name} ({kind}, active{rate}) does not count",
        passed=format_memory(idle.sent_bytes),
        name=idle.name,
        kind=idle.kind,
        rate=say(", {rate}", rate=idle.rate) if idle.rate else NOTHING,
    )


def _quote_report(usage: Usage) -> Text:
    reports = [
        f"{name} {usage.uses[name]}" for name in ("network layer", "provider", "transports") if name in usage.uses
    ]
    return say(" It reports: {reports:;}.", reports=reports) if reports else NOTHING


def _advise(view: CampaignView, usage: Usage, idle: NetworkDevice) -> Text:
    library_of = {candidate.name: candidate.library for candidate in view.campaign.candidates}
    library = next((entry for entry in view.campaign.libraries if entry.name == library_of.get(usage.candidate)), None)
    family = list_families().get(library.family) if library else None
    settings = family.network_settings.get(idle.kind, {}) if family else {}
    words = " ".join(f"{name}={value}" for name, value in settings.items())
    build = say(
        "use the library of the site's module, or build it with the site's {layer}",
        layer="UCX" if idle.kind in {"InfiniBand", "RoCE"} else "libfabric",
    )
    if not words:
        return say("Its build may lack support for {kind}: {build}.", kind=idle.kind, build=build)
    return say(
        "Add a candidate with the settings {words}. If they change nothing or it does not start, its build lacks "
        "support for {kind}: {build}.",
        words=words,
        kind=idle.kind,
        build=build,
    )
