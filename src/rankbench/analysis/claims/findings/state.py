"""The machine changed between launches, lost CPU time to a hypervisor, or was not observed.

Why: A change that meets all candidates cancels out; one that meets one of them does not.

What to do: Run more blocks, on an idle machine or one of your own. If a library's waiting processes disturbed
the others, switch its progress threads off or set `together = false`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics import compare, states
from rankbench.analysis.statistics.states import LaunchState
from rankbench.language import Text, Words, say, sentences
from rankbench.model import Finding, Launch, LaunchGroup, find_restless

TITLE = "State of the machine"
STOLEN = 0.02
"""Share of the ranks' CPU time above which stolen time is reported."""

EXPLANATION = say(
    "Candidates are compared within blocks: a change that affects all of them cancels out, a change that affects only "
    "one does not."
)


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield at most one finding of each kind."""
    observed = states.find_states(view.launches)
    if not view.levels:  # Two levels are a finding of their own (`verdict.findings.reference`).
        yield from _find_changes(observed)
    yield from _find_restless(view)
    yield from _find_alone(view)
    yield from _smaller_groups(view)
    yield from _find_favoured(view, observed)
    yield from _find_stolen(view)
    yield from _find_unknown(observed)


def _find_changes(observed: Sequence[LaunchState]) -> Iterator[Finding]:
    groups = states.group_states(observed)
    changing = sum(state.changing for state in observed)
    if len(groups) < 2 and not changing:
        return
    yield Finding(
        kind="state",
        title=say("The state of the machine changed"),
        text=sentences([_describe_levels(groups, changing), EXPLANATION]),
        advice=say(
            "Run more blocks, at a quieter time or on a dedicated machine: on shared hardware, the host moves "
            "virtual CPUs."
        ),
        cases=[],
        severity="note",
    )


def _find_favoured(view: CampaignView, observed: Sequence[LaunchState]) -> Iterator[Finding]:
    """Report candidates that had different conditions before they began, which a random order makes unlikely."""
    rows = [
        ("state", state.launch.candidate, state.launch.block, state.launch.number, states.average_times(state.before))
        for state in observed
        if state.before
    ]
    schema = {"case": pl.String, "candidate": pl.String, "block": pl.Int32, "launch": pl.Int32, "figure_ns": pl.Float64}
    launch_values = pl.DataFrame(rows, schema, orient="row")
    launch_values = launch_values.group_by("case", "candidate", "block").agg(
        pl.col("figure_ns").mean(), pl.col("launch").first()
    )
    for comparison in compare(launch_values, list(combinations(view.candidates, 2)), states.ALIKE - 1):
        if comparison.different:
            near, far = (
                (comparison.base, comparison.other) if comparison.ratio > 1 else (comparison.other, comparison.base)
            )
            yield Finding(
                kind="state",
                title=say("One candidate had better conditions"),
                text=say(
                    "Just before launches, handing over a cache line between two CPUs was {ratio:ratio} slower for "
                    "{far} than for {near} ({n:count block}). That may explain why they differ.",
                    ratio=max(comparison.ratio, 1 / comparison.ratio),
                    far=far,
                    near=near,
                    n=comparison.blocks,
                ),
                advice=say("Run more blocks: their order is random, so conditions even out."),
                cases=[],
                severity="warning",
            )


def _describe_levels(groups: Sequence[Sequence[LaunchState]], changing: int) -> Text:
    levels = [
        say("{time:time} in {n:count launch}", time=group[len(group) // 2].exchange_ns, n=len(group))
        for group in groups
    ]
    if not changing:
        return say("Without MPI, handing over a cache line from one CPU to another took {levels:and}.", levels=levels)
    return say(
        "Without MPI, handing over a cache line from one CPU to another took {levels:and} and changed during "
        "{n:count launch}."
        if levels
        else "Without MPI, the time to hand over a cache line from one CPU to another changed during {n:count launch}.",
        levels=levels,
        n=changing,
    )


def _find_stolen(view: CampaignView) -> Iterator[Finding]:
    shares = _find_shares(view.launches)
    robbed = [launch for launch in view.launches if shares[launch.number] > STOLEN]
    if not robbed:
        return
    worst = max(robbed, key=lambda launch: shares[launch.number])
    yield Finding(
        kind="state",
        title=say("The hypervisor took CPU time"),
        text=say(
            "In {n} of {all:count launch} the hypervisor took more than {stolen:.0%} of the ranks' CPU time, at most "
            "{worst:.1%} (launch {number}, {name}).",
            n=len(robbed),
            all=len(shares),
            stolen=STOLEN,
            worst=shares[worst.number],
            number=worst.number,
            name=worst.candidate,
        ),
        advice=say("Other guests compete for the same CPUs: measure at a quieter time or on a dedicated machine."),
        cases=[],
        severity="warning",
    )


def _find_restless(view: CampaignView) -> Iterator[Finding]:
    """Report candidates whose processes did not rest while other launches had their turn."""
    groups: dict[LaunchGroup, dict[str, Launch]] = {}
    for launch in view.launches:
        if launch.together > 1:
            key = (launch.block, launch.placement, tuple(launch.beside))
            groups.setdefault(key, {})[launch.candidate] = launch
    shares = {key: {name: launch.rest_share for name, launch in launches.items()} for key, launches in groups.items()}
    for name, disturbed in find_restless(shares, view.campaign.plan.threshold).items():
        disturbing = [groups[key][name] for key in disturbed]
        yield Finding(
            kind="state",
            title=say("A waiting candidate disturbed the others"),
            text=say(
                "While ranks of {name} waited for their turn, their processes and launchers used {share:.2g}% of a "
                "CPU each, as progress threads do. In {n:count launch} that disturbed the other candidates.",
                name=name,
                share=100 * sum(launch.busy_s for launch in disturbing) / sum(launch.waited_s for launch in disturbing),
                n=len(disturbing),
            ),
            advice=say(
                "Its later launches ran alone. Switch its progress threads off, or set together = false in the plan."
            ),
            cases=[],
            severity="warning",
        )


def _find_alone(view: CampaignView) -> Iterator[Finding]:
    """Report candidates that were launched alone, since they measured nothing beside others or resources were short."""
    launches = [launch for launch in view.launches if launch.alone and launch.together == 1]
    for name, placement in dict.fromkeys((launch.candidate, launch.placement) for launch in launches):
        first = next(launch for launch in launches if (launch.candidate, launch.placement) == (name, placement))
        yield Finding(
            kind="state",
            title=say("One candidate was measured alone"),
            text=say(
                "{name} was measured alone from block {block} on, because {why}.",
                name=name if len(view.campaign.plan.placements) == 1 else f"{name} on {placement}",
                block=first.block,
                why=first.alone,
            ),
            advice=say(
                "Its intervals are wider, because its launches do not take turns with the others. Check for a full "
                "/dev/shm or a limit on memory or processes, or set together = false in the plan."
            ),
            cases=[],
            severity="warning",
        )


def _smaller_groups(view: CampaignView) -> Iterator[Finding]:
    """Report that not all launches took turns with each other, since the resources of the machine were short."""
    launches = [launch for launch in view.launches if launch.alone and launch.together > 1]
    for placement in dict.fromkeys(launch.placement for launch in launches):
        first = next(launch for launch in launches if launch.placement == placement)
        yield Finding(
            kind="state",
            title=say("Candidates took turns in smaller groups"),
            text=say(
                "On {placement} not all candidates took turns with each other from block {block} on, because {why}.",
                placement=placement,
                block=first.block,
                why=first.alone,
            ),
            advice=say(
                "Comparisons between groups are wider. Make /dev/shm larger or reserve more huge pages, or compare "
                "fewer libraries at once."
            ),
            cases=[],
            severity="warning",
        )


def _find_shares(launches: Sequence[Launch]) -> dict[int, float]:
    """Return by the number of a launch the CPU time stolen over that of the CPUs that ranks ran on."""
    cpus: dict[str | int, int] = {}
    shares = {}
    for launch in launches:
        key = launch.rank_table or id(launch.ranks)
        if key not in cpus:
            cpus[key] = len({(rank.host, rank.cpu) for rank in launch.ranks})
        spent_s = launch.duration_s * cpus[key]
        shares[launch.number] = launch.stolen_s / spent_s if spent_s else 0.0
    return shares


def _find_unknown(observed: Sequence[LaunchState]) -> Iterator[Finding]:
    unknown = [state.launch for state in observed if not state.known and not _has_one_cpu(state.launch)]
    if not unknown:
        return
    ((reason, _),) = Counter(map(_find_reason, unknown)).most_common(1)
    yield Finding(
        kind="state",
        title=say("The state of the machine is not known for all launches"),
        text=say(
            "For {n} of {all:count launch} the state of the machine is not known: {reason}. They are compared as if "
            "it had not changed.",
            n=len(unknown),
            all=len(observed),
            reason=reason,
        ),
        advice=say("Run the core by hand with --state, and read its message."),
        cases=[],
        severity="note",
    )


def _has_one_cpu(launch: Launch) -> bool:
    """Return whether there was one CPU only, which has no other to exchange anything with."""
    return any(state and len(state.cpus) == 1 for state in (launch.before, launch.after))


def _find_reason(launch: Launch) -> Words:
    measured = launch.before or launch.after
    return launch.state_reason or say("no two CPUs were free at once" if measured else "it was not measured")
