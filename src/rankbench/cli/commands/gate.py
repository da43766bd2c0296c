"""The command `gate`: for CI, an exit code that reports whether anything became slower or stopped working."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from rankbench.across.gate import Check, Outcome
from rankbench.analysis.statistics.prediction import FEWEST_PAST, LAST
from rankbench.cli.display import TerminalProgress, console, print_text
from rankbench.cli.formats import GateFormat, add_output_option, check_format, print_json
from rankbench.cli.output_files import check_output, write_output
from rankbench.cli.shared_options import Modules, Prefixes
from rankbench.cli.signals import Terminated, exit_code
from rankbench.language import render
from rankbench.model import Record
from rankbench.quantities import spell_count
from rankbench.report.junit import junit as format_junit
from rankbench.report.junit import junit_error
from rankbench.report.openmetrics import format_metrics, list_gate_metrics
from rankbench.report.pull_request import format_pull_request
from rankbench.workflows import gates
from rankbench.workflows.gates import GateRequest, GateResult, UncheckedError, check_request
from rankbench.workflows.opening import choose_folder, open_current

ORDER = 52
GROUP = "Check"
EXAMPLES = """
rankbench gate results/new --against results/old --threshold 5%
rankbench gate results/new --history results/nightly --junit gate.xml
rankbench gate results/new --against results/old --accept accepted.toml
rankbench gate results/new --candidate openmpi-5.0.11 \\
               --against-candidate openmpi-5.0.10
"""
REGRESSION = 1
"""Exit code if a check failed; 2 is a usage error."""


class Gate(Record, frozen=True):
    """The result of a gate, for JSON."""

    campaign: str
    against: str
    counts: Mapping[Outcome, int]
    """Checks by outcome."""
    remarks: list[str]
    checks: list[Check]


@add_output_option
def gate(
    new: Annotated[
        Path | None,
        typer.Argument(metavar="[NEW]", help="The campaign to check: folder or name; without it the newest."),
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="OLD", help="The campaign that it must not be slower than.")
    ] = None,
    history: Annotated[
        list[Path] | None,
        typer.Option(metavar="FOLDER", help="Earlier campaigns, or folders that hold some; 8 or more in all."),
    ] = None,
    last: Annotated[
        int, typer.Option(min=FEWEST_PAST, metavar="N", help="With --history: how many campaigns before NEW count.")
    ] = LAST,
    reference: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="With --history: gate ratios to this candidate; default: the plan's baseline."
        ),
    ] = "",
    candidate: Annotated[
        str, typer.Option(metavar="NAME", help="Within NEW: the candidate, or family, to be checked.")
    ] = "",
    against_candidate: Annotated[
        str, typer.Option(metavar="NAME", help="Within NEW: the candidate, or family, that it must not be slower than.")
    ] = "",
    threshold: Annotated[
        str,
        typer.Option(
            metavar="SHARE", help="How much slower is a regression; default: the plan's, with --against 5% at least."
        ),
    ] = "",
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write JUnit XML too: a test case per case and candidate.")
    ] = None,
    match: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", help="Which candidates of OLD and NEW belong together."),
    ] = None,
    remeasure: Annotated[  # noqa: FBT002
        bool,
        typer.Option(
            "--remeasure", help="With --against: measure both libraries again, interleaved, in a new campaign."
        ),
    ] = False,
    time: Annotated[
        str,
        typer.Option(metavar="TIME", help="With --remeasure: stop after this time, such as 60s; default: the plan's."),
    ] = "",
    blocks: Annotated[
        int,
        typer.Option(
            min=0, help="With --remeasure: the number of blocks, or with --time the largest; default: the plan's."
        ),
    ] = 0,
    prefix: Prefixes = None,
    modules: Modules = None,
    accept: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Accepted regressions (TOML): case, limit, reason and date of each."),
    ] = None,
    across_machines: Annotated[  # noqa: FBT002
        bool, typer.Option("--across-machines", help="Allow campaigns of different machines.")
    ] = False,
    across_methods: Annotated[  # noqa: FBT002
        bool,
        typer.Option(
            "--across-methods", help="Allow campaigns with different time sources, synchronisations or limits of cases."
        ),
    ] = False,
    format_: GateFormat = "table",
    strict: Annotated[bool, typer.Option("--strict", help="Treat undecided checks as failures.")] = False,  # noqa: FBT002
    strict_improvements: Annotated[  # noqa: FBT002
        bool,
        typer.Option(
            "--strict-improvements",
            help="Fail too if something became faster, or an accepted regression is gone, so that the reference and "
            "the accepted ones are renewed.",
        ),
    ] = False,
) -> None:
    """For CI: fail if anything became slower or stopped working.

    Exit code 0: passed; 1: failed; 2: usage error, or campaigns that were not measured alike or were changed since.

    Against another campaign (--against) launches are unpaired, and the state of the machine between the two is not
    controlled. The better design is one campaign that measures both libraries, paired block by block
    (--candidate and --against-candidate). Night after night, --history tests NEW against the campaigns before it, with
    the variation from day to day in the interval; a pinned reference library in the plan makes that much narrower.

    --remeasure runs NEW's plan once more, with the libraries of both campaigns, and gates on that: the campaign
    NEW-against-OLD beside NEW. The same command continues it after an interruption.
    """
    form = check_format(format_, "table", "json", "markdown", "openmetrics")
    request = GateRequest(
        new=new or choose_folder(None),
        against=against,
        history=history or (),
        last=last,
        reference=reference,
        candidate=candidate,
        against_candidate=against_candidate,
        threshold=threshold,
        match=match or (),
        remeasures=remeasure,
        time=time,
        blocks=blocks,
        prefixes=prefix or (),
        modules=modules or (),
        accept=accept,
        strict_improvements=strict_improvements,
        across_machines=across_machines,
        across_methods=across_methods,
    )
    check_request(request)
    if junit:
        check_output("--junit", junit)
    try:
        result = gates.gate(request, TerminalProgress())
    except (KeyboardInterrupt, Terminated) as stopped:
        if remeasure:
            print_text("stopped; what was measured is kept. Continue with the same command")
        raise typer.Exit(exit_code(stopped)) from None
    except UncheckedError as error:
        if junit:
            created = open_current(request.new).campaign.created
            write_output("--junit", junit, junit_error(str(request.new), created, str(error)), quiet=True)
        raise
    print_as(result, form)
    if junit:
        text = format_junit(result.checks, result.heading, result.campaign.created, result.remarks)
        write_output("--junit", junit, text, quiet=form != "table")
    if result.counts["failed"] and result.better and form == "table":
        print_text(f"Measure both again, side by side, to exclude day-to-day variation: {result.better}")
    if result.counts["failed"] or (strict and result.counts["skipped"]):
        raise typer.Exit(REGRESSION)


def print_as(result: GateResult, form: str) -> None:
    """Print the report in a format."""
    if form == "json":
        print_json(record(result))
    elif form == "openmetrics":
        names = {"campaign": result.campaign.name, "against": result.against}
        cases = {case.key: case for case in result.campaign.cases}
        print(format_metrics(list_gate_metrics(result.checks, names, cases)), end="")  # noqa: T201 - for a file
    elif form == "markdown":
        text = format_pull_request(result.checks, result.heading, result.remarks)
        print(text, end="")  # noqa: T201 - for other documents
    else:
        print_report(result)


def record(result: GateResult) -> Gate:
    """Return the result for JSON."""
    return Gate(result.campaign.name, result.against, result.counts, result.remarks, result.checks)


def print_report(result: GateResult) -> None:
    """Print checks that did not just pass with advice, those with the same reason together, then the totals.

    A measured ratio has a line of its own: that two are equal when rounded is chance.
    """
    for line in (*result.remarks, relations(result)):
        console.print(Text(line))
    console.print()
    for outcome, colour in (("failed", "red"), ("skipped", "yellow"), ("accepted", ""), ("improved", "green")):
        alike: dict[tuple[str, str, str], list[str]] = {}
        for check in (check for check in result.checks if check.outcome == outcome):
            name = f"{check.title}, {check.candidate}"
            group = "" if check.ratio is None else name
            alike.setdefault((render(check.text), render(check.advice), group), []).append(name)
        repeated = Counter(advice for _, advice, _ in alike)
        for (text, advice, _), names in alike.items():
            word = "UNDECIDED" if outcome == "skipped" else outcome.upper()
            sentence = f"{word} {'; '.join(names)}: {text}."
            console.print(Text.assemble((sentence, colour), f" {advice}".rstrip() if repeated[advice] == 1 else ""))
        for advice in (advice for advice, number in repeated.items() if advice and number > 1):
            console.print(Text(advice))
    console.print(Text(totals(result), "bold"))


def relations(result: GateResult) -> str:
    """Return how often new times are slower, faster and so on, in the words of the tables."""
    words = {"undecided": "not distinguishable", "": "not compared"}
    numbers = Counter(words.get(check.relation, check.relation) for check in result.checks)
    listed = ", ".join(f"{word} {count}" for word, count in numbers.most_common())
    return f"New times: {listed}. A check passes if the new time is not slower by more than the threshold."


def totals(result: GateResult) -> str:
    """Return the number of checks by outcome."""
    numbers = result.counts
    others = [f"{numbers[outcome]} {outcome}" for outcome in ("improved", "accepted") if numbers[outcome]]
    parts = [f"{numbers['failed']} failed", f"{numbers['passed']} passed", *others, f"{numbers['skipped']} undecided"]
    return f"{result.heading}: {spell_count(len(result.checks), 'check')}, {', '.join(parts)}"
