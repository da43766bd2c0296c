"""The command `gate`: for CI, an exit code that reports whether anything became slower or stopped working."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.text import Text

from rankbench import campaign as campaigning
from rankbench import launch, libraries
from rankbench.across import acceptance
from rankbench.across import gate as gating
from rankbench.across.conditions import (
    compare_content,
    find_unlike,
    is_content_known,
    match_candidates,
    parse_pairs,
    resolve,
)
from rankbench.across.nightly import nightly, select_earlier
from rankbench.across.two_campaigns import CONTRADICTION, hold
from rankbench.campaign import remeasuring
from rankbench.cli.campaigns import open_current
from rankbench.cli.cases import describe_control
from rankbench.cli.decisions import is_finished, stopping
from rankbench.cli.display import StatusLine, console
from rankbench.cli.display import print_text as note
from rankbench.cli.folders import home
from rankbench.cli.formats import TableJsonOrMarkdown, add_output_option, check_format, print_json
from rankbench.cli.live_progress import watch_campaign
from rankbench.cli.options import Modules, Prefixes
from rankbench.cli.options import parse_option as understood
from rankbench.cli.output_files import check_output, write_output
from rankbench.cli.signals import Terminated, exit_code
from rankbench.evaluation import evaluate
from rankbench.language import render
from rankbench.model import RankbenchError, Record
from rankbench.plan import notation
from rankbench.quantities import spell_count
from rankbench.report.junit import junit as spelt
from rankbench.report.junit import junit_error
from rankbench.report.pull_request import format_pull_request
from rankbench.report.two_campaigns import list_remarks
from rankbench.statistics.prediction import FEWEST_PAST, LAST
from rankbench.store.folders import list_campaigns

if TYPE_CHECKING:
    from rankbench.across.acceptance import Acceptance
    from rankbench.across.conditions import Match
    from rankbench.across.gate import Check, Outcome
    from rankbench.model import Campaign, Library, Stop
    from rankbench.store import Store
    from rankbench.verdict.view import CampaignView

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

ONE_DAY = (
    "one campaign against one: day-to-day variation is not in the interval; "
    f"use --history with {FEWEST_PAST} or more campaigns"
)

SAME_RECORDS = "both campaigns record the same libraries and settings; a difference comes from the machine or the day"
NO_CONTENT = ", unless a library was rebuilt in the same place: an older campaign does not know its libraries' content"


class Report(NamedTuple):
    """The result of a gate."""

    campaign: Campaign
    against: str
    checks: list[Check]
    remarks: list[str]
    """Remarks that limit the result."""
    better: str = ""
    """The command that repeats failed checks more precisely."""
    candidate: str = ""
    """The checked candidate, where it is compared with another one of the same campaign."""

    @property
    def heading(self) -> str:
        """Return what is checked against what."""
        return f"{self.candidate or self.campaign.name} against {self.against}"


class Gate(Record, frozen=True):
    """The result of a gate, for JSON."""

    campaign: str
    against: str
    counts: Mapping[Outcome, int]
    """Checks by outcome."""
    remarks: list[str]
    checks: list[Check]


class Allowed(NamedTuple):
    """What may differ between the campaigns of a gate."""

    machines: bool
    methods: bool


class UncheckedError(RankbenchError):
    """Values cannot be trusted, or were not measured alike, so that nothing is checked."""


class Remeasuring(NamedTuple):
    """Options for measuring both libraries again."""

    stop: Stop | None
    prefixes: Sequence[Path]
    modules: Sequence[str]


@add_output_option
def gate(
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The campaign to check: folder or name.")],
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
    format_: TableJsonOrMarkdown = "table",
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
    form = check_format(format_, "table", "json", "markdown")
    limit = understood("threshold", threshold, notation.parse_share, notation.SHARE_HELP)
    designs = (bool(against), bool(history), bool(candidate and against_candidate))
    if sum(designs) != 1 or ((against or history) and (candidate or against_candidate)):
        raise RankbenchError(
            "gate NEW takes --against OLD, --history FOLDER, or both --candidate NAME and --against-candidate NAME"
        )
    if match and not against:
        raise RankbenchError("--match is for two campaigns; name the other by --against")
    if reference and not history:
        raise RankbenchError("--reference is for --history; name earlier campaigns by --history FOLDER")
    how = Remeasuring(limits(time, blocks), prefix or (), modules or ())
    if not remeasure and (how.stop or how.prefixes or how.modules):
        raise RankbenchError("--time, --blocks, --prefix and --modules are for --remeasure; add that")
    if remeasure and not against:
        raise RankbenchError("--remeasure is for --against; name the older campaign by --against OLD")
    if junit:
        check_output("--junit", junit)
    allowed = Allowed(across_machines, across_methods)
    if any(allowed) and (remeasure or not (against or history)):
        raise RankbenchError("--across-machines and --across-methods are for --against and --history")
    entries = read_acceptances(accept)
    try:
        if against and remeasure:
            report = side_by_side(new, against, parse_pairs(match or []), limit, how)
        else:
            with StatusLine(f"checking {new} …"):
                if against:
                    report = campaigns(new, against, parse_pairs(match or []), limit, allowed)
                elif history:
                    report = earlier(new, history, last, reference, limit, allowed)
                else:
                    report = candidates(new, candidate, against_candidate, limit)
    except UncheckedError as error:
        if junit:
            created = open_current(new).campaign.created
            write_output("--junit", junit, junit_error(str(new), created, str(error)), quiet=True)
        raise
    report = apply_acceptances(report, entries, strict_improvements)
    print_as(report, form)
    if junit:
        text = spelt(report.checks, report.heading, report.campaign.created, report.remarks)
        write_output("--junit", junit, text, quiet=form != "table")
    numbers = gating.counts(report.checks)
    if numbers["failed"] and report.better and form == "table":
        note(f"Measure both again, side by side, to exclude day-to-day variation: {report.better}")
    if numbers["failed"] or (strict and numbers["skipped"]):
        raise typer.Exit(REGRESSION)


def read_acceptances(path: Path | None) -> list[Acceptance]:
    """Return the accepted regressions of a file, if there is one."""
    if path is None:
        return []
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise RankbenchError(f"--accept {path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise RankbenchError(f"--accept {path}: not text in UTF-8") from None
    return acceptance.parse_acceptances(text, str(path))


def apply_acceptances(report: Report, entries: Sequence[Acceptance], strict: bool) -> Report:  # noqa: FBT001
    """Return the report with accepted regressions; with `strict` what is better than the reference fails."""
    accepted = acceptance.accept(report.checks, entries, date.today())
    checks = acceptance.demand_renewal(accepted) if strict else accepted.checks
    return report._replace(checks=checks, remarks=[*report.remarks, *accepted.remarks])


def print_as(report: Report, form: str) -> None:
    """Print the report in a format."""
    if form == "json":
        print_json(record(report))
    elif form == "markdown":
        text = format_pull_request(report.checks, report.heading, report.remarks)
        print(text, end="")  # noqa: T201 - for other documents
    else:
        print_report(report)


def limits(time: str, blocks: int) -> Stop | None:
    """Return the stop rule of a campaign that measures again; None: as the plan says."""
    understood("time", time, notation.parse_seconds, notation.TIME_HELP)
    return remeasuring.make_stop(time, blocks)


def require_likeness(old: Store, new: Store, allowed: Allowed) -> None:
    """Raise UncheckedError if machines or methods of two campaigns differ and this is not allowed."""
    unlike = find_unlike(old.campaign, old.launches(), new.campaign, new.launches())
    reasons = [
        (differences, option)
        for differences, option, may in (
            (unlike.machine, "--across-machines", allowed.machines),
            (unlike.method, "--across-methods", allowed.methods),
        )
        if differences and not may
    ]
    if reasons:
        what = "; ".join(render(item.text) for differences, _ in reasons for item in differences)
        raise UncheckedError(
            f"{new.folder} and {old.folder} were not measured alike: {what}; measure both alike, or allow it: "
            f"{' '.join(option for _, option in reasons)}"
        )


def require_soundness(*views: CampaignView) -> None:
    """Raise UncheckedError if the samples of a campaign contradict its estimates."""
    for view in views:
        for finding in view.verdict.findings:
            if finding.kind == CONTRADICTION:
                raise UncheckedError(f"{view.campaign.name}: {render(finding.text)} {render(finding.advice)}")


def campaigns(new: Path, old: Path, match: dict[str, str], threshold: float | None, allowed: Allowed) -> Report:
    """Check a campaign against an older one."""
    opened, older = open_current(new), open_current(old)
    require_likeness(older, opened, allowed)
    least = max(opened.campaign.plan.threshold, gating.UNPAIRED)
    campaign_pair = hold(older, opened, match, least if threshold is None else threshold)
    require_soundness(campaign_pair.then, campaign_pair.now)
    checks = gating.check_campaign(campaign_pair)
    changed = differing(older.campaign, opened.campaign, campaign_pair.comparison.matches)
    same = [] if changed else describe_same(campaign_pair.then, campaign_pair.now, campaign_pair.comparison.matches)
    texts = [ONE_DAY, *same, *list_remarks(campaign_pair.comparison)]
    better = command(new, old, match, threshold, libraries_of(older.campaign, opened.campaign)) if changed else ""
    return Report(campaign_pair.now.campaign, f"campaign {campaign_pair.comparison.old}", checks, texts, better)


def differing(old: Campaign, new: Campaign, matched: Sequence[Match]) -> list[Match]:
    """Return the matched candidates whose recorded builds or settings differ."""
    return [match for match in matched if not remeasuring.is_recorded_same(old, new, (match.old, match.new))]


def describe_same(then: CampaignView, now: CampaignView, matched: Sequence[Match]) -> list[str]:
    """Return a remark that the libraries of two campaigns are the same, as far as known; none if one was rebuilt."""
    sides = [((then.campaign, then.launches, match.old), (now.campaign, now.launches, match.new)) for match in matched]
    if any(compare_content(*pair) for pair in sides):
        return []
    return [SAME_RECORDS + ("" if all(is_content_known(*pair) for pair in sides) else NO_CONTENT)]


def list_rebuilt(old: Store, new: Store, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return a clause for each pair of candidates whose library was rebuilt between two campaigns."""
    then, now = old.launches(), new.launches()
    return [
        f"{name}: {render(difference.text)}"
        for old_name, name in pairs
        for difference in compare_content((old.campaign, then, old_name), (new.campaign, now, name))
    ]


def libraries_of(*campaigns: Campaign) -> list[Library]:
    """Return the libraries of campaigns."""
    return [library for campaign in campaigns for library in campaign.libraries]


def command(new: Path, old: Path, match: dict[str, str], threshold: float | None, used: Sequence[Library]) -> str:
    """Return the command that measures both again, with the locations of libraries that need them."""
    words = ["rankbench", "gate", str(new), "--against", str(old)]
    words += [word for old_name, new_name in match.items() for word in ("--match", f"{old_name}={new_name}")]
    words += [] if threshold is None else ["--threshold", f"{threshold:g}"]
    prefixes = dict.fromkeys(library.prefix for library in used if library.source == "prefix")
    words += [word for prefix in prefixes for word in ("--prefix", prefix)]
    modules = dict.fromkeys(library.origin["modules"] for library in used if library.origin.get("modules"))
    words += [word for module in modules for word in ("--modules", module)]
    return shlex.join([*words, "--remeasure"])


def side_by_side(new: Path, old: Path, match: dict[str, str], threshold: float | None, how: Remeasuring) -> Report:
    """Check the candidates of a campaign against those of an older one, all measured again in one campaign."""
    opened, older = open_current(new), open_current(old)
    matched = match_candidates(older.campaign, opened.campaign, match)
    changed = differing(older.campaign, opened.campaign, matched)
    if not changed:
        rebuilt = list_rebuilt(older, opened, [(match.old, match.new) for match in matched])
        why = f"the older build was replaced ({'; '.join(rebuilt)}); install builds into prefixes of their own"
        raise RankbenchError(
            f"{new}: nothing to measure again: {why if rebuilt else SAME_RECORDS}"
            if matched
            else f"{new} has no candidate in common with {old}"
        )
    store, pairs = measure_again(older.campaign, opened, [(match.old, match.new) for match in changed], how)
    view = evaluate(store, threshold=threshold)
    campaign_pair = hold(older, opened, match, threshold)
    checks = [
        *gating.check_missing(campaign_pair),
        *(check for pair in pairs for check in gating.check_candidate(view, pair[1], pair[0])),
    ]
    at = view.launches[0].started[:10]
    blocks = spell_count(view.verdict.blocks, "block")
    both = list(zip(changed, pairs, strict=True))
    again = [
        *list_rebuilt(older, store, [(match.old, names[0]) for match, names in both]),
        *list_rebuilt(opened, store, [(match.new, names[1]) for match, names in both]),
    ]
    texts = [
        *(f"Another build than was measured then: {clause}." for clause in again),
        f"Measured again on {at} in {store.folder}: times are paired within {blocks}.",
        *(
            f"{match.new} is the same in both campaigns, and not measured again."
            for match in matched
            if match not in changed
        ),
        describe_control(view.verdict.control),
    ]
    return Report(view.campaign, ", ".join(old for old, _ in pairs), checks, texts)


def measure_again(
    old: Campaign, new: Store, pairs: Sequence[tuple[str, str]], how: Remeasuring
) -> tuple[Store, list[tuple[str, str]]]:
    """Run or continue the campaign that measures both sides of the pairs; return it and the names of both in it."""
    record, machine = new.campaign, launch.machine()
    if record.imported:
        raise RankbenchError(f"{new.folder} was imported and not measured by rankbench; it has no plan to run again")
    if record.machine.host != machine.host:
        where = record.machine.host or "by a scheduler's job"
        raise RankbenchError(f"{new.folder} was measured on another machine ({where}); measure again there")
    reach = libraries.find(libraries.make_search(home(), how.prefixes, how.modules))
    both = remeasuring.make_joint_plan(old, record, pairs, reach, how.stop)
    place = new.folder.resolve()
    folder = place.with_name(f"{place.name}-against-{old.name}")
    request = campaigning.CampaignRequest(both.plan, folder, machine, home(), how.prefixes, how.modules)
    if is_finished(request):
        return open_current(folder), both.pairs
    try:
        prepared = campaigning.prepare(request, note)
        with watch_campaign(prepared.store.campaign) as watch:
            campaigning.run(prepared, stopping(prepared.store), watch)
    except (KeyboardInterrupt, Terminated) as stopped:
        note("stopped; what was measured is kept. Continue with the same command")
        raise typer.Exit(exit_code(stopped)) from None
    return open_current(folder), both.pairs


def earlier(
    new: Path, folders: list[Path], last: int, reference: str, threshold: float | None, allowed: Allowed
) -> Report:
    """Check a campaign against those made before it."""
    opened = open_current(new)
    stores = [open_current(folder) for folder in list_campaigns(folders)]
    past = select_earlier(opened, stores, last)
    for older in past[:-1]:
        require_likeness(older, opened, allowed)
    require_soundness(*map(evaluate, past[-2:]))
    outcome = nightly(opened, stores, last, reference, threshold)
    texts = [
        f"Ratios to {outcome.reference} in the same campaign." if outcome.reference else "Times, without a reference.",
        "Intervals are of one new campaign: they contain the variation from day to day.",
    ]
    if outcome.unchecked:
        texts.append(f"Not checked: {spell_count(outcome.unchecked, 'case')} that the campaign before does not have.")
    return Report(opened.campaign, f"{outcome.past} earlier campaigns", outcome.checks, texts)


def candidates(folder: Path, new: str, old: str, threshold: float | None) -> Report:
    """Check a candidate against another one of the same campaign."""
    view = evaluate(open_current(folder), threshold=threshold)
    require_soundness(view)
    new_name, old_name = (resolve(view.campaign, name) for name in (new, old))
    if new_name == old_name:
        raise RankbenchError(f"{new} and {old} are the same candidate; nothing to gate")
    checks = gating.check_candidate(view, new_name, old_name)
    texts = [f"Times of {new_name} and {old_name} are paired within {spell_count(view.verdict.blocks, 'block')}."]
    return Report(view.campaign, old_name, checks, texts, candidate=new_name)


def record(report: Report) -> Gate:
    """Return the result for JSON."""
    return Gate(report.campaign.name, report.against, gating.counts(report.checks), report.remarks, report.checks)


def print_report(report: Report) -> None:
    """Print checks that did not just pass with advice, those with the same reason together, then the totals.

    A measured ratio has a line of its own: that two are equal when rounded is chance.
    """
    for line in (*report.remarks, relations(report)):
        console.print(Text(line))
    console.print()
    for outcome, colour in (("failed", "red"), ("skipped", "yellow"), ("accepted", ""), ("improved", "green")):
        alike: dict[tuple[str, str, str], list[str]] = {}
        for check in (check for check in report.checks if check.outcome == outcome):
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
    console.print(Text(totals(report), "bold"))


def relations(report: Report) -> str:
    """Return how often new times are slower, faster and so on, in the words of the tables."""
    words = {"undecided": "not distinguishable", "": "not compared"}
    numbers = Counter(words.get(check.relation, check.relation) for check in report.checks)
    listed = ", ".join(f"{word} {count}" for word, count in numbers.most_common())
    return f"New times: {listed}. A check passes if the new time is not slower by more than the threshold."


def totals(report: Report) -> str:
    """Return the number of checks by outcome."""
    numbers = gating.counts(report.checks)
    others = [f"{numbers[outcome]} {outcome}" for outcome in ("improved", "accepted") if numbers[outcome]]
    parts = [f"{numbers['failed']} failed", f"{numbers['passed']} passed", *others, f"{numbers['skipped']} undecided"]
    return f"{report.heading}: {spell_count(len(report.checks), 'check')}, {', '.join(parts)}"
