"""The command `fleet`: which node, core or link of several nodes is slow."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from rankbench.cli.display import columns, console, print_text, spread_lines
from rankbench.cli.formats import TableOrJson, add_output_option, check_format, print_json
from rankbench.cli.shared_options import (
    Binding,
    Hosts,
    Modules,
    OneMachine,
    Prefixes,
    RemoteShell,
    Seed,
    Threshold,
    choose_libraries,
)
from rankbench.fleet import since
from rankbench.fleet.since import Change
from rankbench.fleet.sweep import WAITING
from rankbench.fleet.sweep_records import TRAIT, TRAITS, Finding, NodeSpeed, Sweep
from rankbench.language import join_words
from rankbench.model import RankbenchError
from rankbench.plan import notation
from rankbench.quantities import format_duration, format_ratio, format_time, spell_count

ORDER = 76
GROUP = "Cluster"
EXAMPLES = """
rankbench fleet openmpi                   # in a job: on all of its nodes
rankbench fleet mpich --hosts n1,n2,n3,n4 --rounds all
rankbench fleet openmpi --format json --output monday.json
rankbench fleet openmpi --against monday.json --picture fleet.svg
"""
SHOWN_NODES = 12
"""Nodes in the table, the slowest first."""
MOST_NAMES = 6
EVERY = "all"


@add_output_option
def fleet(
    library: Annotated[
        str, typer.Argument(metavar="[LIBRARY]", help="Measures with it; default: the first result.")
    ] = "",
    hosts: Hosts = "",
    remote_shell: RemoteShell = "",
    binding: Binding = "",
    one_machine: OneMachine = False,  # noqa: FBT002
    ranks_per_node: Annotated[int, typer.Option(min=0, help="Default (0): one per core.")] = 0,
    rounds: Annotated[
        str, typer.Option(metavar="N|all", help="Rounds of pairs; default: log2 of the nodes. all: each meets each.")
    ] = "",
    threshold: Threshold = "5%",
    alarm: Annotated[str, typer.Option(help="Probability that a sweep of equal nodes finds anything.")] = "1%",
    against: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An earlier sweep, as JSON: did the fleet become slower?")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw nodes and links: .svg, .png, .pdf or .html.")
    ] = None,
    seed: Seed = 0,
    prefix: Prefixes = None,
    modules: Modules = None,
    format_: TableOrJson = "table",
) -> None:
    """Find the slow node, core or link.

    All nodes measure at the same time: alone, then in pairs that change from round to round, then in groups of four.
    What looks slow is measured again in further launches, which alone decide. A node that is slow with all others is
    distinguished from a link that is slow between two, and sending from receiving.

    Inside a job it uses the nodes of the job. It changes nothing: commands that take nodes out of use are printed.
    Exit code 1: something is slow, or slower than in the earlier sweep.
    """
    from rankbench.fleet.sweep import Limits
    from rankbench.workflows import fleets

    form = check_format(format_, "table", "json")
    drawing = check_picture(picture)
    earlier = fleets.read_sweep(against) if against else None
    request = fleets.FleetRequest(
        library=choose_libraries([library] if library else [], prefix or [], modules or [])[0],
        hosts=hosts.split(",") if hosts else (),
        remote_shell=remote_shell,
        binding=binding,
        one_machine=one_machine,
        ranks_per_node=ranks_per_node,
        rounds=fleets.EVERY_ROUND if rounds == EVERY else read_rounds(rounds),
        limits=Limits(read_share("--threshold", threshold), read_share("--alarm", alarm)),
        seed=seed,
    )
    with console.status("") if form == "table" else contextlib.nullcontext() as status:
        result = fleets.sweep_fleet(request, status.update if status else lambda _: None)
    if picture and drawing:
        from rankbench import files
        from rankbench.fleet.picture import draw
        from rankbench.report.pictures import ALL_FORMATS

        files.write(picture, ALL_FORMATS[drawing](draw(result)))
    changes = list(since.list_changes(earlier, result)) if earlier else []
    if form == "json":
        print_json(result)
    else:
        show(result)
        if earlier:
            _show_changes(earlier, result, changes)
    if result.findings or any(change.became_slower for change in changes):
        raise typer.Exit(1)


def read_rounds(text: str) -> int:
    """Return a number of rounds; 0: the usual one. Raises RankbenchError if it is none."""
    if text and not (text.isdigit() and int(text)):
        raise RankbenchError(f"--rounds: found {text!r}, expected a number from 1, or {EVERY}")
    return int(text or 0)


def read_share(option: str, text: str) -> float:
    """Return a share between 0 and 1. Raises RankbenchError if it is none."""
    try:
        share = notation.parse_share(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise RankbenchError(f"{option}: found {text!r}, expected a share such as 5%")
    return share


def check_picture(place: Path | None) -> str:
    """Return the format of a picture by its name; empty: none is wanted. Raises RankbenchError for another."""
    from rankbench.report.pictures import ALL_FORMATS

    if place is None:
        return ""
    form = place.suffix.removeprefix(".")
    if form not in ALL_FORMATS:
        raise RankbenchError(f"--picture {place}: expected a name that ends in .{', .'.join(ALL_FORMATS)}")
    return form


# --- what is printed --------------------------------------------------------------------------------------------------


def show(result: Sweep) -> None:
    """Show what is slow, what to do, and the slowest nodes."""
    print_text(describe_sweep(result))
    console.print()
    if not result.findings:
        console.print(describe_nothing(result), soft_wrap=True, markup=False)
    for finding in result.findings:
        spread_lines(describe_finding(finding))
    if result.findings:
        console.print(f"\nOf sweeps of equal nodes, at most {result.alarm:.0%} find anything.")
    if waiting := describe_waiting(result):
        spread_lines(waiting)
    if result.left_out:
        console.print(f"{result.left_out} more looked a little slower at first and were not measured again.")
    if lines := list(list_drains(result)):
        console.print("\nTo take a node out of use (an administrator; nothing was executed):")
        for line in lines:
            print_text(f"  {line}")
    show_nodes(result.nodes)


def describe_sweep(result: Sweep) -> str:
    """Return what was measured, in one line."""
    parts = [
        spell_count(len(result.nodes), "node"),
        f"{spell_count(result.ranks_per_node, 'rank')} each",
        f"{result.library}",
        f"{spell_count(result.rounds, 'round')} of pairs",
        f"{spell_count(result.suspects, 'suspect')} measured again",
        f"{result.launches} launches" if result.launches > 1 else "1 launch",
        format_duration(result.seconds),
    ]
    return ", ".join(parts)


def describe_nothing(result: Sweep) -> str:
    """Return what is known where nothing is slow."""
    few = len(result.nodes) < 4
    alone = " Links are compared from four nodes on." if few else ""
    return f"Nothing is slower than the others by {result.threshold:.0%} or more.{alone}"


def describe_waiting(result: Sweep) -> str:
    """Return which nodes wait for their CPUs and were not reported for it, since most nodes do; empty: none."""
    reported = {finding.nodes[0] for finding in result.findings if finding.trait == "cpu"}
    waits = {node.host: node.values["cpu"] for node in result.nodes if node.values.get("cpu", 0) >= WAITING}
    hosts = [host for host in waits if host not in reported]
    if not hosts:
        return ""
    more = [f"{len(hosts) - MOST_NAMES} more"] if len(hosts) > MOST_NAMES else []
    who = "all nodes" if len(hosts) == len(result.nodes) else join_words([*hosts[:MOST_NAMES], *more], "and")
    low, high = (f"{edge([waits[host] for host in hosts]):.1f}" for edge in (min, max))
    times = high if low == high else f"{low} to {high}"
    return (
        f"waiting for CPUs: {who}; a round takes {times} times as long as with CPUs of their own. What nodes that wait "
        "longer than others do with others is not judged."
    )


def describe_finding(finding: Finding) -> str:
    """Return a finding in words: `n3 sends 1.43x slower than the others (1.38 to 1.47), in 12 of 12 rounds`."""
    verb = TRAIT[finding.trait].verb
    who = f"{finding.nodes[0]} {verb}"
    if finding.of == "core":
        who = f"{finding.nodes[0]}, CPU {finding.cpu} (rank {finding.rank}) {verb}"
    elif finding.of == "link" and finding.trait == "sending":
        who = f"from {finding.nodes[0]} to {finding.nodes[1]}: the link is"
    elif finding.of == "link":
        who = f"between {finding.nodes[0]} and {finding.nodes[1]}: the link is"
    return (
        f"{who} {format_ratio(finding.ratio)} slower than the others ({finding.low:.2f} to {finding.high:.2f}), in "
        f"{finding.slower} of {finding.launches} launches"
    )


def list_drains(result: Sweep) -> Iterator[str]:
    """Yield the command of the scheduler for each node that is slow, or has a slow core."""
    from rankbench.launch import allocation

    job = allocation.find_job()
    for node in dict.fromkeys(finding.nodes[0] for finding in result.findings if finding.of != "link"):
        worst = next(finding for finding in result.findings if finding.nodes[0] == node and finding.of != "link")
        reason = f"rankbench: {TRAIT[worst.trait].heading} {format_ratio(worst.ratio)} slower"
        if job and (command := job[0].draining(node, reason)):
            yield shlex.join(command)


def show_nodes(nodes: Sequence[NodeSpeed]) -> None:
    """Show the slowest nodes, and what all have in the median."""
    traits = [trait for trait in TRAITS if any(trait.name in node.values for node in nodes)]
    table = columns("node", *(trait.heading for trait in traits))
    ordered = sorted(nodes, key=lambda node: -max(node.ratios.values(), default=0))
    for node in ordered[:SHOWN_NODES]:
        ratios = (node.ratios.get(trait.name) for trait in traits)
        table.add_row(node.host, *("–" if ratio is None else f"{ratio:.2f}" for ratio in ratios))
    medians = [sorted(node.values[trait.name] for node in nodes if trait.name in node.values) for trait in traits]
    table.add_row(
        "median", *(format_value(of[len(of) // 2], trait.unit) for of, trait in zip(medians, traits, strict=True))
    )
    shown = f", the {SHOWN_NODES} slowest of {len(nodes)} nodes" if len(nodes) > SHOWN_NODES else ""
    console.print(f"\nTimes as slow as the others in the same rounds{shown}\n")
    console.print(table)


def format_value(value: float, unit: str) -> str:
    """Return a value with its unit."""
    if not unit:
        return f"{value:.2f}"
    return f"{value / 1e9:.3g} GB/s" if unit == "B/s" else format_time(value)


def _show_changes(earlier: Sweep, result: Sweep, changes: Sequence[Change]) -> None:
    console.print(f"\nSince {earlier.began.partition('T')[0]}: time now over time before, median of the nodes\n")
    for line in since.list_differences(earlier, result):
        spread_lines(f"not the same: {line}")
    table = columns("", "ratio", "slower", "nodes that became slower than the fleet", text_columns=1)
    for change in changes:
        shown = f"[red]{change.ratio:.2f}[/]" if change.became_slower else f"{change.ratio:.2f}"
        table.add_row(
            TRAIT[change.trait].heading, shown, f"{change.slower} of {change.nodes}", ", ".join(change.worst[:6])
        )
    console.print(table)
