"""The conclusion: the sentences that answer the plan's question, each with the cases that it rests on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import polars as pl

from rankbench.analysis.claims import program_answer
from rankbench.analysis.claims.short_answer import claim_short_answer, describe_worst
from rankbench.analysis.questions import mix
from rankbench.analysis.questions.block_ratios import describe_distance
from rankbench.analysis.questions.cuts import find_cut
from rankbench.analysis.questions.dropped_settings import list_dropped_settings
from rankbench.analysis.questions.extremes import Extremes, decide_selected, format_decision
from rankbench.analysis.questions.interim import find_penalty
from rankbench.analysis.questions.nodes import describe_place
from rankbench.analysis.questions.overall import Answer, compare_overall, find_answer, select_compared
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.questions.wording import add_sizes, describe_share
from rankbench.analysis.statistics import CONFIDENCE, distributions
from rankbench.language import Text, Words, end_sentence, list_parts, say, sentences
from rankbench.libraries import ambient
from rankbench.model import BROKEN, AmbientSetting, CaseStatus, CaseVerdict, Claim, LaunchStatus

FEW_LAUNCHES = 6
MOST_EXCEPTIONS = 4
FEWEST_BLOCKS = 3
"""Fewer blocks show no difference."""
WIDE = 0.8
"""Width of the interval of a share, from which on it says nothing."""
MOST_AGAINST = 5
"""Candidates, the baseline among them, of which the short answer has a sentence each."""


def conclude(view: CampaignView) -> list[Claim]:
    """Return the short answer first, then exceptions, memory and doubts; the check and the scope last."""
    judged = [main_verdict for main_verdict in view.main_verdicts if len(main_verdict.ranking) > 1]
    if not judged:
        text = say(
            "Only one candidate: values, no comparison."
            if len(view.candidates) == 1
            else "No two candidates have values for the same case, so there is nothing to compare."
        )
        return [
            Claim(text=text, cases=[], brief=True),
            *_claim_program(view),
            *_claim_uncertain_starts(view),
            *_claim_noise_check(view),
        ]
    compared = select_compared(view, judged)
    times = [verdict for verdict in compared if verdict.case.quantity != "memory"]
    memory = [verdict for verdict in compared if verdict.case.quantity == "memory"]
    answer = find_answer(view, find_penalty(view)) if times else None
    best = view.campaign.baseline or (answer.best if answer else _choose_best(view, times or memory))
    claims = [
        *(_claim_fastest(view, best, answer, times) if times else ()),
        *(_claim_memory(view, memory, brief=not times) if memory else ()),
        *_claim_alone(view),
        *_claim_mix(view),
        *_claim_program(view),
        *(
            gap
            for name in sorted(view.candidates, key=lambda name: name != best)
            for gap in _claim_failures(view, name)
        ),
        *_claim_known_wrong(view, best),
        *_claim_unequal_sums(view),
        *_claim_ambient(view),
        *_claim_omitted(view, judged, compared),
        *_claim_uncertain_starts(view),
        *_claim_left_out(view),
        *_claim_other_starts(view),
        *_claim_ignored(view),
        *_claim_noise_check(view),
        claim_scope(view),
    ]
    return [claims[0], *sorted(claims[1:], key=lambda claim: not claim.warns)]


def _claim_ignored(view: CampaignView) -> Iterator[Claim]:
    """Say which candidates ran without a setting that makes them what they are."""
    for name, clauses in list_dropped_settings(view.campaign).items():
        text = say("{candidate} ran without some of its settings: {clauses}.", candidate=name, clauses=clauses)
        yield Claim(text=text, cases=[], brief=True)


def _claim_alone(view: CampaignView) -> Iterator[Claim]:
    """Say which cases are not decided, or not in the overall time, since candidates compare differently alone."""
    within = view.campaign.plan.threshold
    apart = [comparison for comparison in view.verdict.alone if not comparison.agrees(within)]
    undecided = {comparison.case for comparison in apart}
    alike = [comparison for comparison in view.verdict.alone if comparison.case not in undecided]
    for pairs in filter(None, (apart, alike)):
        first, cases = pairs[0], list(dict.fromkeys(comparison.case for comparison in pairs))
        text = say(
            "Not decided: in {n:count case} candidates compare differently when each runs alone, as an application "
            "does: {other} takes {alone:ratio} the time of {base} alone, and {in_turns:ratio} while others wait "
            "({case})."
            if pairs is apart
            else "Not in the overall time: in {n:count case} the same candidate is slower when each runs alone, by "
            "another ratio: {other} takes {alone:ratio} the time of {base} alone, and {in_turns:ratio} while others "
            "wait ({case}).",
            n=len(cases),
            base=first.base,
            other=first.other,
            alone=first.alone,
            in_turns=first.in_turns,
            case=view.full_title(view.case_of[first.case]),
        )
        yield Claim(text=text, cases=cases, brief=True)


def _claim_fastest(view: CampaignView, best: str, answer: Answer | None, judged: list[CaseVerdict]) -> Iterator[Claim]:
    """Say who is fastest, how the others compare, and where it is not fastest; or compare all to the baseline."""
    if base := view.campaign.baseline:
        yield from _claim_baseline_counts(view, base, judged)
        yield from _claim_distances(view, base, judged)
        return
    parts = find_cut(view, answer, find_penalty(view)) if answer else None
    yield from claim_short_answer(view, answer, judged, parts)
    yield from _claim_nodes(view, judged)
    if parts:
        for part in parts:
            yield from _claim_exceptions(view, part.fastest, set(part.cases))
        return
    for name in [best, *(answer.equivalent if answer else [])]:
        yield from _claim_exceptions(view, name, set(_list_keys(judged)))


def _claim_baseline_counts(view: CampaignView, base: str, judged: list[CaseVerdict]) -> Iterator[Claim]:
    """Say in how many cases each candidate is faster, slower, equivalent or undecided against the baseline."""
    for name in view.candidates:
        keys = [verdict.case.key for verdict in judged if {base, name} <= set(verdict.ranking)]
        if name == base or not keys:
            continue
        faster, slower = (
            [key for key in keys if view.comparisons.slower(key, *pair)] for pair in ((name, base), (base, name))
        )
        equivalent = [key for key in keys if view.comparisons.equivalent(key, base, name)]
        text = say(
            "Against {base}, {name} is faster in {faster} of {all:count case}, slower in {slower}, equivalent within "
            "{within:.0%} in {equivalent} and undecided in {unknown}.",
            base=base,
            name=name,
            faster=len(faster),
            slower=len(slower),
            equivalent=len(equivalent),
            all=len(keys),
            unknown=len(set(keys) - {*faster, *slower, *equivalent}),
            within=view.campaign.plan.threshold,
        )
        yield Claim(text=text, cases=[*faster, *slower], brief=len(view.candidates) <= MOST_AGAINST)


def _claim_memory(view: CampaignView, judged: list[CaseVerdict], *, brief: bool) -> Iterator[Claim]:
    """Say which candidate needs the least memory, and how much the others need."""
    best = _choose_best(view, judged)
    front = [verdict for verdict in _select_decided(judged) if best in verdict.winners]
    if not front:
        text = say("Which candidate needs the least memory is undecided ({n:count case}).", n=len(judged))
        yield Claim(text=text, cases=_list_keys(judged), brief=brief, outcome=view.outcome(_list_keys(judged)))
        return
    if len(_list_equals(view, best, front)) == len(view.candidates):
        text = say(
            "The memory use of {names:and} is equivalent within {within:.0%} in {n} of {all:count case}.",
            names=view.candidates,
            within=view.campaign.plan.threshold,
            n=len(front),
            all=len(judged),
        )
        yield Claim(text=text, cases=_list_keys(front), brief=brief, outcome=view.outcome(_list_keys(front)))
        return
    means = {name: _find_mean_ratio(view, best, name, judged) for name in view.candidates}
    text = say(
        "{best} needs the least memory in {n} of {all:count case}; as a geometric mean, {others:and}.",
        best=best,
        n=len(front),
        all=len(judged),
        others=[say("{name} needs {mean:ratio} as much", name=name, mean=mean) for name, mean in means.items() if mean],
    )
    yield Claim(text=text, cases=_list_keys(front), brief=brief, outcome=view.outcome(_list_keys(front)))


def _find_mean_ratio(view: CampaignView, best: str, name: str, judged: list[CaseVerdict]) -> float | None:
    """Return the geometric mean of a candidate's ratios to the best, if both have values."""
    logs = _list_logs(view, best, name, judged) if name != best else {}
    return average_ratios(logs) if logs else None


def _list_logs(view: CampaignView, best: str, name: str, judged: list[CaseVerdict]) -> dict[str, float]:
    """Return, by case that both have, the logarithm of a candidate's value over that of the best."""
    both = [verdict.case.key for verdict in judged if {name, best} <= set(verdict.ranking)]
    return {key: math.log(view.ratio(key, best, name)) for key in both}


def average_ratios(logs: Mapping[str, float]) -> float:
    """Return the geometric mean of ratios, given by their logarithms."""
    return math.exp(sum(logs.values()) / len(logs))


def _list_keys(verdicts: list[CaseVerdict]) -> list[str]:
    return [verdict.case.key for verdict in verdicts]


def _select_decided(judged: list[CaseVerdict]) -> list[CaseVerdict]:
    """Return the cases whose fastest candidate is known, or several that are equivalent."""
    return [verdict for verdict in judged if verdict.decided]


def _choose_best(view: CampaignView, judged: list[CaseVerdict]) -> str:
    """Return the candidate that wins most often; of several, the one with the smaller typical times."""

    def standing(name: str) -> tuple[int, float]:
        front = sum(name in verdict.winners for verdict in _select_decided(judged))
        behind = [_measure_lag(view, verdict, name) for verdict in judged if name in verdict.ranking]
        return front, -sum(behind) / max(len(behind), 1)

    return max(view.candidates, key=standing)


def _measure_lag(view: CampaignView, verdict: CaseVerdict, name: str) -> float:
    """Return the logarithm of a candidate's time over that of the case's fastest."""
    return math.log(view.ratio(verdict.case.key, verdict.ranking[0], name))


def _list_equals(view: CampaignView, best: str, verdicts: list[CaseVerdict]) -> list[str]:
    """Return the candidates that win exactly where the best does; the best first."""
    level = [
        name
        for name in view.candidates
        if all((name in verdict.winners) == (best in verdict.winners) for verdict in verdicts)
    ]
    return sorted(level, key=lambda name: name != best)


def _claim_distances(view: CampaignView, best: str, judged: list[CaseVerdict]) -> Iterator[Claim]:
    """Compare the time of each other candidate to the baseline's over all cases that both have.

    The worst case is one of those in which the candidate is significantly slower: the largest of all may be chance.
    """
    penalty, rivals, extremes = find_penalty(view), max(len(view.candidates) - 1, 1), Extremes(view)
    for name in view.candidates:
        keys = [verdict.case.key for verdict in judged if {name, best} <= set(verdict.ranking)]
        if name == best or not keys:
            continue
        ratio = compare_overall(view, best, name, keys, penalty, rivals)
        parts: list[Words] = [describe_distance(name, ratio, view.campaign.plan.threshold)]
        slower = [key for key in keys if view.comparisons.slower(key, best, name)]
        worst = [extremes.find_largest(slower, best, name, len(keys))] if slower else []
        parts += [say("at worst {worst}", worst=describe_worst(view, key, best, name, len(keys))) for key in worst]
        if len(keys) < len(judged):
            parts.append(say("no value in {n:count other case}", n=len(judged) - len(keys)))
        text = say("Time against {base} over {n:count case}: {parts:;}.", base=best, n=len(keys), parts=parts)
        yield Claim(text=text, cases=worst or keys)


def _claim_nodes(view: CampaignView, judged: list[CaseVerdict]) -> Iterator[Claim]:
    """Say which candidate leads within a node and which across nodes, where the campaign has both."""
    nodes = {placement.name: placement.nodes for placement in view.campaign.plan.placements}
    inside = [verdict for verdict in judged if nodes[verdict.case.placement] == 1]
    across = [verdict for verdict in judged if nodes[verdict.case.placement] > 1]
    if not inside or not across or not _select_decided(judged):
        return
    keys, parts = [], []
    for cases in (inside, across):
        best = _choose_best(view, cases)
        front = [verdict for verdict in _select_decided(cases) if best in verdict.winners]
        keys += _list_keys(front)
        parts.append(
            say(
                "{best} is fastest or equivalent to the fastest in {n} of {all:count case}"
                if front
                else "none of {all:count case} is decided",
                best=best,
                n=len(front),
                all=len(cases),
            )
        )
    text = say("Within a node, {inside}; across nodes, {across}.", inside=parts[0], across=parts[1])
    yield Claim(text=text, cases=keys, outcome=view.outcome(keys))


def _claim_exceptions(view: CampaignView, best: str, judged: set[str]) -> Iterator[Claim]:
    """Say where another candidate is faster than the best, the largest differences first."""

    def ahead(verdict: CaseVerdict) -> tuple[str, ...]:
        key = verdict.case.key
        return tuple(
            name for name in view.candidates if name in verdict.winners and view.comparisons.slower(key, name, best)
        )

    extremes, among = Extremes(view), len(judged) * (len(view.candidates) - 1)
    runs: list[tuple[list[CaseVerdict], str, tuple[str, ...], str]] = []
    for title, verdicts in view.lines():
        for winners, group in groupby((verdict for verdict in verdicts if verdict.case.key in judged), key=ahead):
            if winners:
                cases = list(group)
                runs.append((cases, title, winners, extremes.find_largest(_list_keys(cases), winners[0], best, among)))
    runs.sort(key=lambda run: -extremes.log(run[3], run[2][0], best))
    for verdicts, title, winners, worst in runs[:MOST_EXCEPTIONS]:
        margin = decide_selected(view, view.comparisons[worst, winners[0], best], among)
        text = say(
            "{winners:and} {n:of is|are} faster than {best} in {where}, by up to {margin}."
            if len(verdicts) > 1
            else "{winners:and} {n:of is|are} faster than {best} in {where}, by {margin}.",
            winners=winners,
            n=len(winners),
            best=best,
            where=add_sizes(title, [verdict.case for verdict in verdicts]),
            margin=format_decision(margin),
        )
        yield Claim(text=text, cases=_list_keys(verdicts), outcome=view.outcome(_list_keys(verdicts)))
    if len(runs) > MOST_EXCEPTIONS:
        rest = [verdict for run in runs[MOST_EXCEPTIONS:] for verdict in run[0]]
        text = say("In {n:count more case}, another candidate is faster than {best} by less.", n=len(rest), best=best)
        yield Claim(text=text, cases=_list_keys(rest))


def _claim_mix(view: CampaignView) -> Iterator[Claim]:
    """Say which candidate the calls of the plan are fastest with."""
    for placed in mix.sum_mixes(view, view.campaign.plan.calls):
        keys = [case.key for part in placed.parts for case, _ in part.cases]
        yield Claim(text=sentences(mix.describe_mix(view, placed)), cases=list(dict.fromkeys(keys)))


def _claim_program(view: CampaignView) -> Iterator[Claim]:
    """Say what the recorded calls mean for the program, and whether its measured run times agree."""
    recorded = view.campaign.plan.profile
    answer = program_answer.find_answer(view)
    if answer is None:
        if recorded and recorded.mpi_s:
            yield Claim(text=sentences(program_answer.describe_record(view, recorded)), cases=[], brief=True)
        return
    keys = list(dict.fromkeys(case.key for part in answer.calls.parts for case, _ in part.cases))
    yield Claim(text=sentences(program_answer.describe_answer(view, answer)), cases=keys, brief=True)
    truth = list(program_answer.describe_truth(view, answer))
    if truth:
        yield Claim(text=sentences(truth), cases=keys, brief=True)


def _claim_unequal_sums(view: CampaignView) -> Iterator[Claim]:
    """Say whose ranks got different bits from one call of allreduce."""
    wrong: dict[str, set[int]] = {}
    for row in view.sum_rows:
        if row.on_ranks:
            wrong.setdefault(row.candidate, set()).update(row.on_ranks)
    for name, ranks in wrong.items():
        text = say(
            "{name} has wrong data: on {ranks:and} ranks one allreduce gives ranks different bits, which the standard "
            "(MPI-4.1 6.9.6) forbids.",
            name=name,
            ranks=[str(number) for number in sorted(ranks)],
        )
        yield Claim(text=text, cases=[], brief=True)


def _claim_failures(view: CampaignView, name: str) -> Iterator[Claim]:
    """Say where a candidate failed, and which calls it does not have."""
    summaries = [summary for key in _list_keys(view.main_verdicts) if (summary := view.summary_of.get((key, name)))]
    lacking = [summary.case for summary in summaries if CaseStatus.LACKING in summary.failures]
    failed = [
        summary.case for summary in summaries if summary.case not in lacking and set(BROKEN) & set(summary.failures)
    ]
    always = [key for key in failed if not view.summary_of[key, name].launches]
    if always and view.campaign.plan.program:
        places = list(dict.fromkeys(view.case_of[key].placement for key in always))
        rows = view.case_rows.filter(pl.col("status").is_in([status.value for status in BROKEN]), candidate=name)
        why = next(iter(rows.filter(case=always[0])["reason"]), "")
        text = say(
            "{name} failed in all launches on {places:and}: {why}."
            if why
            else "{name} failed in all launches on {places:and}.",
            name=name,
            places=places,
            why=why,
        )
        yield Claim(text=text, cases=always, brief=True)
    elif always:
        text = say("{name} failed in all launches of {n:count case}.", name=name, n=len(always))
        yield Claim(text=text, cases=always)
    if now_and_then := [key for key in failed if key not in always]:
        text = say("{name} failed in at least one launch of {n:count case}.", name=name, n=len(now_and_then))
        yield Claim(text=text, cases=now_and_then)
    if lacking:
        text = say("{name} does not have the call of {n:count case}.", name=name, n=len(lacking))
        yield Claim(text=text, cases=lacking)


def _claim_known_wrong(view: CampaignView, best: str) -> Iterator[Claim]:
    """Say in which calls libraries are known to deliver wrong data, that of the best candidate in the short answer."""
    library_of = {candidate.name: candidate.library for candidate in view.campaign.candidates}
    measured = {f"{case.operation}.{case.form}": case.key for case in view.cases}
    best_first = sorted(view.candidates, key=lambda name: name != best)
    for library in dict.fromkeys(library_of[name] for name in best_first):
        if wrong := view.campaign.known_wrong.get(library):
            both = [measured[call] for call in wrong if call in measured]
            text = say(
                "Known here: {library} delivers wrong data in {forms:count form} of {calls:count call} (rankbench "
                "operations); {measured} of them {measured:of is|are} measured here."
                if both
                else "Known here: {library} delivers wrong data in {forms:count form} of {calls:count call} (rankbench "
                "operations); none of them is measured here.",
                library=library,
                forms=len(wrong),
                calls=len({call.partition(".")[0] for call in wrong}),
                measured=len(both),
            )
            yield Claim(text=text, cases=both, brief=library == library_of[best], warns=library == library_of[best])


def _claim_ambient(view: CampaignView) -> Iterator[Claim]:
    """Say which settings came from the shell or from files; those of the user in the short answer."""
    settings_used: dict[AmbientSetting, list[str]] = {}
    for launch in view.launches:
        for setting in launch.ambient:
            names = settings_used.setdefault(setting, [])
            if launch.candidate in view.candidates and launch.candidate not in names:
                names.append(launch.candidate)
    groups: dict[tuple[str, ...], list[AmbientSetting]] = {}
    for setting, names in settings_used.items():
        groups.setdefault((setting.source, *names), []).append(setting)
    for (source, *names), settings in groups.items():
        personal = ambient.is_personal(settings[0])
        text = say(
            "{settings:,} {n:of was|were} set in {source}: {names:and} {m:of was|were} not measured at default "
            "settings."
            if personal
            else "{settings:,} {n:of was|were} set in {source}, which came with {names:and}.",
            settings=[ambient.describe(setting) for setting in settings],
            source="the shell" if source == ambient.SHELL else source,
            names=names,
            n=len(settings),
            m=len(names),
        )
        yield Claim(text=text, cases=[], brief=personal)


def _claim_omitted(view: CampaignView, judged: list[CaseVerdict], compared: Sequence[CaseVerdict]) -> Iterator[Claim]:
    """Say which cases are not compared: ranks or their threads shared cores, so that waiting was measured, or the call
    runs once in a launch, as MPI_Init.
    """
    short = [verdict for verdict in judged if view.short_of_cores(verdict.case)]
    if short:
        text = say(
            "Not included: {n:count case} with more ranks or threads than cores, which {n:of shows|show} how "
            "libraries wait."
            if short[0] not in compared
            else "In {n:count case} ranks or threads share cores: that shows how libraries wait, not how they "
            "communicate.",
            n=len(short),
        )
        yield Claim(text=text, cases=_list_keys(short), brief=short[0] not in compared)
    once = [verdict for verdict in judged if verdict.case.operation in view.campaign.once_operations]
    once = [verdict for verdict in once if verdict not in compared and verdict not in short]
    if once:
        names = dict.fromkeys(verdict.case.operation for verdict in once)
        text = say("Not included: {names:and}, which {names:of runs|run} once in a launch.", names=names)
        yield Claim(text=text, cases=_list_keys(once))


def _claim_uncertain_starts(view: CampaignView) -> Iterator[Claim]:
    """Say where starts were too uncertain to judge every candidate."""
    doubted = {summary.case for summary in view.summaries if summary.doubt and summary.uncertain}
    if cases := [key for key in _list_keys(view.main_verdicts) if key in doubted]:
        text = say(
            "In {n:count case} start synchronisation is too inaccurate for such a short call to compare every "
            "candidate. The values are shown.",
            n=len(cases),
        )
        yield Claim(text=text, cases=cases)


def _claim_left_out(view: CampaignView) -> Iterator[Claim]:
    """Say in which cases most launches of a candidate do not count."""
    keys = {verdict.case.key for verdict in view.main_verdicts}
    mostly = [
        summary
        for summary in view.summaries
        if summary.case in keys
        and summary.candidate in view.candidates
        and summary.left_out * 2 > summary.launches + summary.left_out
    ]
    if mostly:
        worst = max(mostly, key=lambda summary: (summary.left_out, -summary.launches))
        text = say(
            "In {n:count case} most launches of a candidate do not count, since ranks waited for a CPU or started too "
            "uncertainly: {case}, {left} of {all:count launch} of {name}.",
            n=len({summary.case for summary in mostly}),
            case=view.full_title(view.case_of[worst.case]),
            left=worst.left_out,
            all=worst.launches + worst.left_out,
            name=worst.candidate,
        )
        yield Claim(text=text, cases=list(dict.fromkeys(summary.case for summary in mostly)), brief=True)


def _claim_other_starts(view: CampaignView) -> Iterator[Claim]:
    """Say that cases with other starts are not included."""
    others = [
        case_verdict.case
        for case_verdict in view.case_verdicts
        if view.usual_of[case_verdict.case.key] != case_verdict.case
    ]
    if others:
        text = say(
            "Cases with another start ({starts:and}) are not included here; the report lists them separately.",
            starts=dict.fromkeys(case.start for case in others),
        )
        yield Claim(text=text, cases=[])


def _claim_noise_check(view: CampaignView) -> Iterator[Claim]:
    if not view.control:
        return
    blocks = max(comparison.blocks for comparison in view.control)
    if blocks < FEWEST_BLOCKS:
        text = say("Noise check: {n:count block} of launches can show nothing.", n=blocks)
        yield Claim(text=text, cases=[], brief=True)
        return
    wrong = [comparison for comparison in view.control if comparison.different]
    low, high = distributions.share_interval(len(wrong), len(view.control), CONFIDENCE)
    if high - low > WIDE:
        return
    text = say(
        "Noise check: one library, measured twice, differs from itself in {n} of {all:count case} "
        "(95% interval {low} to {high}).",
        n=len(wrong),
        all=len(view.control),
        low=describe_share(low),
        high=describe_share(high),
    )
    yield Claim(text=text, cases=[comparison.case for comparison in wrong], brief=True)
    yield Claim(text=say("The noise check does not show how a changing machine affects different libraries."), cases=[])


def claim_scope(view: CampaignView) -> Claim:
    """Say for what the answer is valid; in the short answer where launches of a case are few, settings are stated or
    nodes are emulated.
    """
    launches = [summary.launches for summary in view.summaries if summary.launches]
    least, most = min(launches), max(launches)
    counted = say(
        "{least} to {n:count launch} of each candidate" if least != most else "{n:count launch} of each candidate",
        least=least,
        n=most,
    )
    if view.campaign.imported:
        text = say("Valid for the machine on which these files were made, based on {launches}", launches=counted)
    else:
        text = _describe_scope(view, counted)
    if least < FEW_LAUNCHES:
        text = say("{scope}; so few launches show only large differences", scope=text)
    unusual = _has_settings(view) or any(
        place.one_machine and place.nodes > 1 for place in view.campaign.plan.placements
    )
    return Claim(text=end_sentence(text), cases=[], brief=least < FEW_LAUNCHES or unusual)


def _has_settings(view: CampaignView) -> bool:
    """Return whether a candidate has settings, of the plan or of the shell."""
    return any(candidate.settings for candidate in view.campaign.candidates) or any(
        ambient.is_personal(setting) for launch in view.launches for setting in launch.ambient
    )


def _describe_scope(view: CampaignView, launches: Text) -> Text:
    """Say for which machine, libraries and settings the verdict is valid."""
    turns = {launch.together > 1 for launch in view.launches if launch.status == LaunchStatus.OK}
    in_turns = None if len(turns) > 1 else True in turns
    return say(
        {
            True: "Valid {where}, for {versions}, {settings}, measured in turns while the other candidates' processes "
            "waited, based on {launches}",
            None: "Valid {where}, for {versions}, {settings}, measured in part in turns while the other candidates' "
            "processes waited, based on {launches}",
            False: "Valid {where}, for {versions}, {settings}, based on {launches}",
        }[in_turns],
        where=describe_place(view),
        versions=_name_versions(view),
        settings=say("at the given settings" if _has_settings(view) else "at default settings"),
        launches=launches,
    )


def _name_versions(view: CampaignView) -> Text:
    """Name the libraries with their versions, unless the candidates' names show them already."""
    libraries = {library.name: library for library in view.campaign.libraries}
    used = {
        candidate.name: libraries[candidate.library]
        for candidate in view.campaign.candidates
        if not candidate.control_of
    }
    if all(library.version in name for name, library in used.items()):
        return say("these versions")
    return list_parts(dict.fromkeys(f"{library.family} {library.version}" for library in used.values()))
