"""Checks whether anything became slower or stopped working, against another campaign, earlier ones, or a candidate."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from rankbench import launch, libraries
from rankbench.across import acceptance
from rankbench.across import gate as gate_checks
from rankbench.across.acceptance import Acceptance
from rankbench.across.conditions import (
    Match,
    compare_content,
    find_unlike,
    is_content_known,
    match_candidates,
    parse_pairs,
    resolve,
)
from rankbench.across.gate import Check
from rankbench.across.nightly import nightly, select_earlier
from rankbench.across.two_campaigns import CONTRADICTION, hold
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.prediction import FEWEST_PAST, LAST
from rankbench.campaign import CampaignRequest, remeasuring
from rankbench.language import render
from rankbench.model import Campaign, Library, RankbenchError, Stop
from rankbench.plan import notation
from rankbench.quantities import spell_count
from rankbench.report.then_and_now import list_remarks
from rankbench.store import Store
from rankbench.store.folders import list_campaigns
from rankbench.workflows.comparison import describe_control
from rankbench.workflows.decisions import is_finished
from rankbench.workflows.locations import home
from rankbench.workflows.opening import open_current
from rankbench.workflows.option_values import parse_option
from rankbench.workflows.runs import PlannedRun, measure
from rankbench.workflows.watching import SILENT, Progress

ONE_DAY = (
    "one campaign against one: day-to-day variation is not in the interval; "
    f"use --history with {FEWEST_PAST} or more campaigns"
)

SAME_RECORDS = "both campaigns record the same libraries and settings; a difference comes from the machine or the day"
NO_CONTENT = ", unless a library was rebuilt in the same place: an older campaign does not know its libraries' content"


class UncheckedError(RankbenchError):
    """Values cannot be trusted, or were not measured alike, so that nothing is checked."""


class GateRequest(NamedTuple):
    """What is checked against what: one of `against`, `history`, or both candidates. Empty ones are not given."""

    new: Path
    """The campaign to check: folder or name."""
    against: Path | None = None
    """The campaign that it must not be slower than."""
    history: Sequence[Path] = ()
    """Earlier campaigns, or folders that hold some."""
    last: int = LAST
    """With `history`: how many campaigns before the new one count."""
    reference: str = ""
    """With `history`: ratios to this candidate are checked; empty: the plan's baseline."""
    candidate: str = ""
    """Within the new campaign: the candidate, or family, to be checked."""
    against_candidate: str = ""
    """Within the new campaign: the candidate, or family, that it must not be slower than."""
    threshold: str = ""
    """How much slower is a regression, such as `5%`; empty: the plan's, with `against` 5% at least."""
    match: Sequence[str] = ()
    """`OLD=NEW`: which candidates of two campaigns belong together."""
    remeasures: bool = False
    """With `against`: whether both libraries are measured again, interleaved, in a new campaign."""
    time: str = ""
    """With `remeasures`: stop after this time, such as `60s`; empty: as the plan says."""
    blocks: int = 0
    """With `remeasures`: the number of blocks, or with `time` the largest; 0: as the plan says."""
    prefixes: Sequence[Path] = ()
    modules: Sequence[str] = ()
    accept: Path | None = None
    """A file (TOML) with accepted regressions."""
    strict_improvements: bool = False
    """Whether what became faster, and accepted regressions that are gone, fail too."""
    across_machines: bool = False
    """With `against` or `history`: whether the campaigns may be of different machines."""
    across_methods: bool = False
    """With `against` or `history`: whether time sources, synchronisations and limits of cases may differ."""


class GateResult(NamedTuple):
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

    @property
    def counts(self) -> Mapping[gate_checks.Outcome, int]:
        """Return the number of checks by outcome."""
        return gate_checks.counts(self.checks)

    @property
    def has_passed(self) -> bool:
        """Return whether no check failed; some may be undecided."""
        return not self.counts["failed"]


def gate(request: GateRequest, progress: Progress = SILENT) -> GateResult:
    """Check whether anything became slower or stopped working.

    Raises RankbenchError for what cannot be compared, and for requests of no design or of several; UncheckedError for
    campaigns that were not measured alike, or whose samples were changed.
    """
    check_request(request)
    limit = parse_option("threshold", request.threshold, notation.parse_share, notation.SHARE_HELP)
    parse_option("time", request.time, notation.parse_seconds, notation.TIME_HELP)
    stop = remeasuring.make_stop(request.time, request.blocks)
    entries = read_acceptances(request.accept)
    if request.against and request.remeasures:
        result = check_again(request, request.against, limit, stop, progress)
    else:
        with progress.show_status(f"checking {request.new} …"):
            if request.against:
                result = check_against(request, request.against, limit)
            else:
                result = check_history(request, limit) if request.history else check_candidates(request, limit)
    return apply_acceptances(result, entries, strict=request.strict_improvements)


def check_request(request: GateRequest) -> None:
    """Check that a request is of one design. Raises RankbenchError if not, or for values of another design."""
    both = request.candidate and request.against_candidate
    designs = (bool(request.against), bool(request.history), bool(both))
    any_candidate = request.candidate or request.against_candidate
    if sum(designs) != 1 or ((request.against or request.history) and any_candidate):
        raise RankbenchError(
            "gate NEW takes --against OLD, --history FOLDER, or both --candidate NAME and --against-candidate NAME"
        )
    if request.match and not request.against:
        raise RankbenchError("--match is for two campaigns; name the other by --against")
    if request.reference and not request.history:
        raise RankbenchError("--reference is for --history; name earlier campaigns by --history FOLDER")
    if not request.remeasures and (request.time or request.blocks or request.prefixes or request.modules):
        raise RankbenchError("--time, --blocks, --prefix and --modules are for --remeasure; add that")
    if request.remeasures and not request.against:
        raise RankbenchError("--remeasure is for --against; name the older campaign by --against OLD")
    check_allowed(request)


def check_allowed(request: GateRequest) -> None:
    """Raise RankbenchError if differences are allowed where no two campaigns are compared as they are."""
    unpaired = (request.against and not request.remeasures) or request.history
    if (request.across_machines or request.across_methods) and not unpaired:
        raise RankbenchError("--across-machines and --across-methods are for --against and --history")


def read_acceptances(path: Path | None) -> list[Acceptance]:
    """Return the accepted regressions of a file, if there is one. Raises RankbenchError if it cannot be read."""
    if path is None:
        return []
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise RankbenchError(f"--accept {path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise RankbenchError(f"--accept {path}: not text in UTF-8") from None
    return acceptance.parse_acceptances(text, str(path))


def apply_acceptances(result: GateResult, entries: Sequence[Acceptance], *, strict: bool) -> GateResult:
    """Return the result with accepted regressions; with `strict` what is better than the reference fails."""
    accepted = acceptance.accept(result.checks, entries, date.today())
    checks = acceptance.demand_renewal(accepted) if strict else accepted.checks
    return result._replace(checks=checks, remarks=[*result.remarks, *accepted.remarks])


def require_likeness(old: Store, new: Store, request: GateRequest) -> None:
    """Raise UncheckedError if machines or methods of two campaigns differ and the request does not allow that."""
    unlike = find_unlike(old.campaign, old.launches(), new.campaign, new.launches())
    reasons = [
        (differences, option)
        for differences, option, may in (
            (unlike.machine, "--across-machines", request.across_machines),
            (unlike.method, "--across-methods", request.across_methods),
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


def check_against(request: GateRequest, old: Path, threshold: float | None) -> GateResult:
    """Check a campaign against an older one."""
    opened, older, match = open_current(request.new), open_current(old), parse_pairs(request.match)
    require_likeness(older, opened, request)
    least = max(opened.campaign.plan.threshold, gate_checks.UNPAIRED)
    campaign_pair = hold(older, opened, match, least if threshold is None else threshold)
    require_soundness(campaign_pair.then, campaign_pair.now)
    checks = gate_checks.check_campaign(campaign_pair)
    changed = list_differing(older.campaign, opened.campaign, campaign_pair.comparison.matches)
    same = [] if changed else describe_same(campaign_pair.then, campaign_pair.now, campaign_pair.comparison.matches)
    texts = [ONE_DAY, *same, *list_remarks(campaign_pair.comparison)]
    used = [*older.campaign.libraries, *opened.campaign.libraries]
    better = make_command(request.new, old, match, threshold, used) if changed else ""
    return GateResult(campaign_pair.now.campaign, f"campaign {campaign_pair.comparison.old}", checks, texts, better)


def list_differing(old: Campaign, new: Campaign, matched: Sequence[Match]) -> list[Match]:
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


def make_command(new: Path, old: Path, match: dict[str, str], threshold: float | None, used: Sequence[Library]) -> str:
    """Return the command that measures both again, with the locations of libraries that need them."""
    words = ["rankbench", "gate", str(new), "--against", str(old)]
    words += [word for old_name, new_name in match.items() for word in ("--match", f"{old_name}={new_name}")]
    words += [] if threshold is None else ["--threshold", f"{threshold:g}"]
    prefixes = dict.fromkeys(library.prefix for library in used if library.source == "prefix")
    words += [word for prefix in prefixes for word in ("--prefix", prefix)]
    modules = dict.fromkeys(library.origin["modules"] for library in used if library.origin.get("modules"))
    words += [word for module in modules for word in ("--modules", module)]
    return shlex.join([*words, "--remeasure"])


def check_again(
    request: GateRequest, old: Path, threshold: float | None, stop: Stop | None, progress: Progress
) -> GateResult:
    """Check the candidates of a campaign against those of an older one, all measured again in one campaign.

    Raises RankbenchError if there is nothing to measure again.
    """
    opened, older, match = open_current(request.new), open_current(old), parse_pairs(request.match)
    matched = match_candidates(older.campaign, opened.campaign, match)
    changed = list_differing(older.campaign, opened.campaign, matched)
    if not changed:
        rebuilt = list_rebuilt(older, opened, [(match.old, match.new) for match in matched])
        why = f"the older build was replaced ({'; '.join(rebuilt)}); install builds into prefixes of their own"
        raise RankbenchError(
            f"{request.new}: nothing to measure again: {why if rebuilt else SAME_RECORDS}"
            if matched
            else f"{request.new} has no candidate in common with {old}"
        )
    differing = [(match.old, match.new) for match in changed]
    store, pairs = measure_again(older.campaign, opened, differing, request, stop, progress)
    view = evaluate(store, threshold=threshold)
    campaign_pair = hold(older, opened, match, threshold)
    checks = [
        *gate_checks.check_missing(campaign_pair),
        *(check for pair in pairs for check in gate_checks.check_candidate(view, pair[1], pair[0])),
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
    return GateResult(view.campaign, ", ".join(old for old, _ in pairs), checks, texts)


def measure_again(
    old: Campaign,
    new: Store,
    pairs: Sequence[tuple[str, str]],
    request: GateRequest,
    stop: Stop | None,
    progress: Progress,
) -> tuple[Store, list[tuple[str, str]]]:
    """Run or continue the campaign that measures both sides of the pairs; return it and the names of both in it.

    Raises RankbenchError if it cannot be measured here.
    """
    record, machine = new.campaign, launch.machine()
    if record.imported:
        raise RankbenchError(f"{new.folder} was imported and not measured by rankbench; it has no plan to run again")
    if record.machine.host != machine.host:
        where = record.machine.host or "by a scheduler's job"
        raise RankbenchError(f"{new.folder} was measured on another machine ({where}); measure again there")
    reach = libraries.find(libraries.make_search(home(), request.prefixes, request.modules))
    both = remeasuring.make_joint_plan(old, record, pairs, reach, stop)
    place = new.folder.resolve()
    folder = place.with_name(f"{place.name}-against-{old.name}")
    again = CampaignRequest(both.plan, folder, machine, home(), request.prefixes, request.modules)
    measure(PlannedRun(again, is_finished(again)), progress)
    return open_current(folder), both.pairs


def check_history(request: GateRequest, threshold: float | None) -> GateResult:
    """Check a campaign against those made before it."""
    opened = open_current(request.new)
    stores = [open_current(folder) for folder in list_campaigns(request.history)]
    past = select_earlier(opened, stores, request.last)
    for older in past[:-1]:
        require_likeness(older, opened, request)
    require_soundness(*map(evaluate, past[-2:]))
    outcome = nightly(opened, stores, request.last, request.reference, threshold)
    texts = [
        f"Ratios to {outcome.reference} in the same campaign." if outcome.reference else "Times, without a reference.",
        "Intervals are of one new campaign: they contain the variation from day to day.",
    ]
    if outcome.unchecked:
        texts.append(f"Not checked: {spell_count(outcome.unchecked, 'case')} that the campaign before does not have.")
    return GateResult(opened.campaign, f"{outcome.past} earlier campaigns", outcome.checks, texts)


def check_candidates(request: GateRequest, threshold: float | None) -> GateResult:
    """Check a candidate against another one of the same campaign. Raises RankbenchError if they are the same."""
    view = evaluate(open_current(request.new), threshold=threshold)
    new, old = request.candidate, request.against_candidate
    require_soundness(view)
    new_name, old_name = (resolve(view.campaign, name) for name in (new, old))
    if new_name == old_name:
        raise RankbenchError(f"{new} and {old} are the same candidate; nothing to gate")
    checks = gate_checks.check_candidate(view, new_name, old_name)
    texts = [f"Times of {new_name} and {old_name} are paired within {spell_count(view.verdict.blocks, 'block')}."]
    return GateResult(view.campaign, old_name, checks, texts, candidate=new_name)
