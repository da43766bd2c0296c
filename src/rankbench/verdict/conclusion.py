"""The conclusion: the sentences that answer the plan's question, each with the cases that it rests on."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
import scipy

from rankbench.language import say
from rankbench.model import Sentence
from rankbench.statistics import LEVEL
from rankbench.statistics.pairing import paired_logs
from rankbench.verdict import mix
from rankbench.verdict.evidence import Evidence, listed, sized
from rankbench.verdict.overall import Overall, overall

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankbench.model import CaseVerdict

FEW_LAUNCHES = 6
MOST_EXCEPTIONS = 4


class Rival(NamedTuple):
    """A candidate that takes less over all cases than the one that is fastest in most of them."""

    name: str
    logs: dict[str, float]
    """By case that both have, the logarithm of its time over the other's."""

    @property
    def ratio(self) -> float:
        """Return the geometric mean of its times over the other's."""
        return mean_ratio(self.logs)


def conclude(evidence: Evidence) -> list[Sentence]:
    """Return the answer first, then distances, exceptions, memory, doubts and scope."""
    judged = [one for one in evidence.main if len(one.ranking) > 1]
    if not judged:
        text = say("No two candidates have figures for the same case, so there is nothing to compare.")
        return [Sentence(text=text, cases=[]), *_uncertain(evidence), *_control(evidence)]
    ample = [one for one in judged if not evidence.short_of_cores(one.case)] or judged
    times = [one for one in ample if one.case.quantity != "memory"]
    memory = [one for one in ample if one.case.quantity == "memory"]
    best = evidence.campaign.baseline or _best(evidence, times or memory)
    return [
        *(_fastest(evidence, best, times) if times else ()),
        *(_least_memory(evidence, memory) if memory else ()),
        *_mix(evidence),
        *(gap for name in _leaders(evidence, best, times) for gap in _gaps(evidence, name)),
        *_short(evidence, judged, ample),
        *_uncertain(evidence),
        *_other_starts(evidence),
        *_control(evidence),
        _scope(evidence),
    ]


def _fastest(evidence: Evidence, best: str, judged: list[CaseVerdict]) -> Iterator[Sentence]:
    """Say who is fastest, how far from it the others are, and where it is not; or how all stand to the baseline."""
    if base := evidence.campaign.baseline:
        yield from _against(evidence, base, judged)
        yield from _distances(evidence, base, judged)
        return
    yield from _answer(evidence, best, judged)
    yield from _places(evidence, judged)
    yield from _distances(evidence, best, judged)
    yield from _exceptions(evidence, best, set(_keys(judged)))


def _against(evidence: Evidence, base: str, judged: list[CaseVerdict]) -> Iterator[Sentence]:
    """Say of each candidate in how many cases it is faster and slower than the baseline, and where it is not known."""
    for name in evidence.names:
        keys = [one.case.key for one in judged if {base, name} <= set(one.ranking)]
        if name == base or not keys:
            continue
        faster, slower = (
            [key for key in keys if evidence.pairs.slower(key, *pair)] for pair in ((name, base), (base, name))
        )
        alike = [key for key in keys if evidence.pairs.alike(key, base, name)]
        text = say(
            "Against {base}, {name} is faster in {faster} of {all:count case}, slower in {slower}, as fast within "
            "{within:.0%} in {alike}; in {unknown} it is not known.",
            base=base,
            name=name,
            faster=len(faster),
            slower=len(slower),
            alike=len(alike),
            all=len(keys),
            unknown=len(set(keys) - {*faster, *slower, *alike}),
            within=evidence.campaign.plan.threshold,
        )
        yield Sentence(text=text, cases=[*faster, *slower])


def _least_memory(evidence: Evidence, judged: list[CaseVerdict]) -> Iterator[Sentence]:
    """Say who needs least memory, and how much the others need."""
    best = _best(evidence, judged)
    front = [one for one in _known(judged) if best in one.winners]
    if not front:
        text = say("It is not known who needs least memory in any of {n:count case}.", n=len(judged))
        yield Sentence(text=text, cases=_keys(judged))
        return
    if len(_equals(evidence, best, front)) == len(evidence.names):
        text = say(
            "{names:and} need equally much memory, within {within:.0%}, in {n} of {all:count case}.",
            names=evidence.names,
            within=evidence.campaign.plan.threshold,
            n=len(front),
            all=len(judged),
        )
        yield Sentence(text=text, cases=_keys(front))
        return
    means = {name: _mean_ratio(evidence, best, name, judged) for name in evidence.names}
    text = say(
        "{best} needs least memory in {n} of {all:count case}; against it, {others:and} "
        "({names:of geometric mean|geometric means}).",
        best=best,
        n=len(front),
        all=len(judged),
        others=[say("{name} needs {mean:ratio}", name=name, mean=mean) for name, mean in means.items() if mean],
        names=len(means) - 1,
    )
    yield Sentence(text=text, cases=_keys(front))


def _mean_ratio(evidence: Evidence, best: str, name: str, judged: list[CaseVerdict]) -> float | None:
    """Return the geometric mean of a candidate's figures over those of the best, where it has any."""
    logs = _logs(evidence, best, name, judged) if name != best else {}
    return mean_ratio(logs) if logs else None


def _logs(evidence: Evidence, best: str, name: str, judged: list[CaseVerdict]) -> dict[str, float]:
    """Return, by case that both have, the logarithm of a candidate's figure over that of the best."""
    both = [one.case.key for one in judged if {name, best} <= set(one.ranking)]
    return {key: math.log(evidence.ratio(key, best, name)) for key in both}


def mean_ratio(logs: Mapping[str, float]) -> float:
    """Return the geometric mean of ratios, given by their logarithms."""
    return math.exp(sum(logs.values()) / len(logs))


def _keys(verdicts: list[CaseVerdict]) -> list[str]:
    return [one.case.key for one in verdicts]


def _known(judged: list[CaseVerdict]) -> list[CaseVerdict]:
    """Return the cases of which it is known who is fastest: one candidate, or several that are alike."""
    return [one for one in judged if one.decided]


def _best(evidence: Evidence, judged: list[CaseVerdict]) -> str:
    """Return the candidate that is at the front most often; where level, the one with the smaller typical times."""

    def standing(name: str) -> tuple[int, float]:
        front = sum(name in one.winners for one in _known(judged))
        behind = [_behind(evidence, one, name) for one in judged if name in one.ranking]
        return front, -sum(behind) / max(len(behind), 1)

    return max(evidence.names, key=standing)


def _behind(evidence: Evidence, verdict: CaseVerdict, name: str) -> float:
    """Return the logarithm of a candidate's time over that of the case's fastest."""
    return math.log(evidence.ratio(verdict.case.key, verdict.ranking[0], name))


def _answer(evidence: Evidence, best: str, judged: list[CaseVerdict]) -> Iterator[Sentence]:
    """Say who is at the front in most cases; and who takes least over all of them, where that is another one."""
    told = _known(judged)
    if not told:
        text = say("It is not known who is fastest in any of {n:count case}.", n=len(judged))
        yield Sentence(text=text, cases=_keys(judged))
        return
    alone = [one for one in told if one.winners == [best]]
    level = [one for one in told if best in one.winners and one not in alone]
    equals = _equals(evidence, best, told)
    front = _front(evidence, len(alone), len(level), len(told), len(judged))
    if rival := _rival(evidence, best, judged):
        yield from _two_measures(evidence, equals, rival, front, _keys(alone + level))
        return
    if 2 * len(alone + level) <= len(told):
        text = say("No candidate leads throughout; {names:and} most often: {front}.", names=equals, front=front)
    elif 2 * len(told) < len(judged):
        text = say(
            "{names:and} {n:of leads|lead} where it is known who does, which is too little to choose by: {front}.",
            names=equals,
            n=len(equals),
            front=front,
        )
    elif len(equals) == len(evidence.names):
        text = say("{names:and} are alike: {front}.", names=equals, front=front)
    else:
        text = say(
            "{names:and} {n:of is the one|are the ones} to use: {front}.", names=equals, n=len(equals), front=front
        )
    yield Sentence(text=text, cases=_keys(alone + level))


def _equals(evidence: Evidence, best: str, told: list[CaseVerdict]) -> list[str]:
    """Return the candidates that are at the front wherever the best is, and nowhere else; the best first."""
    level = [name for name in evidence.names if all((name in one.winners) == (best in one.winners) for one in told)]
    return sorted(level, key=lambda name: name != best)


def _rival(evidence: Evidence, best: str, judged: list[CaseVerdict]) -> Rival | None:
    """Return who takes clearly less than the best over all cases, if anyone does that has figures for most of them."""
    told = _known(judged)
    if not told:
        return None
    others = [name for name in evidence.names if name not in _equals(evidence, best, told)]
    rivals = [
        Rival(name, logs) for name in others if 2 * len(logs := _logs(evidence, best, name, judged)) > len(judged)
    ]
    least = min(rivals, key=lambda one: one.ratio, default=None)
    if not least or least.ratio * (1 + evidence.campaign.plan.threshold) >= 1:
        return None
    return least if overall(evidence, best, least.name, list(least.logs)).high < 1 else None


def _leaders(evidence: Evidence, best: str, judged: list[CaseVerdict]) -> list[str]:
    """Return the candidates that the answer names by one measure or the other."""
    rival = _rival(evidence, best, judged)
    return [best, rival.name] if rival else [best]


def _two_measures(
    evidence: Evidence, equals: list[str], rival: Rival, front: str, cases: list[str]
) -> Iterator[Sentence]:
    """Say who is best by each of two measures, and what makes the difference: margins, and cases that none can tell."""
    best = equals[0]
    blocks = _by_block(evidence, best, rival)
    text = say(
        "Two measures name different candidates. By single cases, {names:and} {n:of leads|lead}: {front}. Over all "
        "cases, {rival} does: it takes {mean:ratio} the time of {best} (geometric mean of {cases:count case})",
        names=equals,
        n=len(equals),
        front=front,
        rival=rival.name,
        mean=rival.ratio,
        best=best,
        cases=len(rival.logs),
    )
    if blocks:
        less = sum(mean < 0 for mean in blocks)
        text = say("{told}, less in {n} of {all:count block}", told=text, n=less, all=len(blocks))
    yield Sentence(text=f"{text}.", cases=cases)
    yield _why(evidence, best, rival)


def _by_block(evidence: Evidence, best: str, rival: Rival) -> list[float]:
    """Return the mean of the logarithms of both ones' ratios in each block in which they share cases."""
    logs = paired_logs(evidence.figures.filter(pl.col("case").is_in(list(rival.logs))), best, rival.name)
    return list(logs.group_by("block").agg(pl.col("log").mean())["log"])


def _why(evidence: Evidence, best: str, rival: Rival) -> Sentence:
    """Say in how many cases each is ahead, by how much, and how many of these differences can be told."""
    shorter = {key: -log for key, log in rival.logs.items() if log < 0}
    longer = {key: log for key, log in rival.logs.items() if log > 0}
    open_ = [key for key in rival.logs if not evidence.pairs.different(key, best, rival.name)]
    text = say(
        "Of these cases, {rival} is ahead in {n}, by {margin:ratio}",
        rival=rival.name,
        n=len(shorter),
        margin=mean_ratio(shorter),
    )
    if longer:
        text = say(
            "{told}, and {best} in {n}, by {margin:ratio} (geometric means)",
            told=text,
            best=best,
            n=len(longer),
            margin=mean_ratio(longer),
        )
    if open_:
        text = say("{told}; in {n} of them the two cannot be told apart", told=text, n=len(open_))
    text = say("{told}. Which of the two to use depends on the calls that an application makes.", told=text)
    return Sentence(text=text, cases=list(shorter))


def _front(evidence: Evidence, alone: int, level: int, told: int, judged: int) -> str:
    """Say in how many cases the best is at the front, and in how many nobody knows who is."""
    within = evidence.campaign.plan.threshold
    text = (
        say("fastest alone in {n} of {all:count case}", n=alone, all=judged)
        if alone
        else say(
            "as fast as any, within {within:.0%}, in {n} of {all:count case}",
            within=within,
            n=level,
            all=judged,
        )
    )
    if alone and level:
        text = say("{front}, as fast as any, within {within:.0%}, in {n} more", front=text, within=within, n=level)
    if told < judged:
        text = say("{front}; in {n} it is not known who is fastest", front=text, n=judged - told)
    return text


def _distances(evidence: Evidence, best: str, judged: list[CaseVerdict]) -> Iterator[Sentence]:
    """Say of each other candidate how it stands to the best over all cases that both have."""
    for name in evidence.names:
        logs = _logs(evidence, best, name, judged)
        if name == best or not logs:
            continue
        text = _distance(
            best, name, overall(evidence, best, name, list(logs)), len(logs), evidence.campaign.plan.threshold
        )
        slower = [key for key in logs if evidence.pairs.slower(key, best, name)]
        worst = max(slower, key=lambda key: logs[key], default="")
        if worst:
            case = evidence.full_title(evidence.case[worst])
            text = say("{told}, at worst {ratio:ratio} ({case})", told=text, ratio=math.exp(logs[worst]), case=case)
        if missing := [one.case.key for one in judged if name not in one.ranking]:
            text = say("{told}; it has no figure in {n} more", told=text, n=len(missing))
        yield Sentence(text=f"{text}.", cases=[worst] if worst else list(logs))


def _distance(best: str, name: str, found: Overall, cases: int, within: float) -> str:
    """Say how long a candidate takes over all cases against the best one."""
    told = {"name": name, "best": best, "n": cases, "mean": found.mean, "low": found.low, "high": found.high}
    if not found.low:
        return say(
            "{name} takes {mean:ratio} as long as {best} (geometric mean of {n:count case}; no interval from so few "
            "launches)",
            **told,
        )
    if found.low >= 1 / (1 + within) and found.high <= 1 + within:
        return say(
            "{name} takes as long as {best}, within {within:.0%} ({low:ratio} to {high:ratio}; geometric mean of "
            "{n:count case})",
            within=within,
            **told,
        )
    if found.low <= 1 <= found.high:
        return say(
            "Over all {n:count case} it is not known which of {name} and {best} takes longer: {name} takes "
            "{mean:ratio} the time ({low:ratio} to {high:ratio})",
            **told,
        )
    return say(
        "{name} takes {mean:ratio} as long as {best} ({low:ratio} to {high:ratio}; geometric mean of {n:count case})"
        if found.mean >= 1
        else "{name} takes {mean:ratio} the time of {best} ({low:ratio} to {high:ratio}; geometric mean of {n:count "
        "case})",
        **told,
    )


def _places(evidence: Evidence, judged: list[CaseVerdict]) -> Iterator[Sentence]:
    """Say who leads inside one node and who across nodes, where the campaign has both."""
    nodes = {placement.name: placement.nodes for placement in evidence.campaign.plan.placements}
    inside = [one for one in judged if nodes[one.case.placement] == 1]
    across = [one for one in judged if nodes[one.case.placement] > 1]
    if not inside or not across or not _known(judged):
        return
    keys, parts = [], []
    for cases in (inside, across):
        best = _best(evidence, cases)
        front = [one for one in _known(cases) if best in one.winners]
        keys += _keys(front)
        parts.append(
            say(
                "{best} is fastest, or level with the fastest, in {n} of {all:count case}"
                if front
                else "it is not known who is fastest in any of {all:count case}",
                best=best,
                n=len(front),
                all=len(cases),
            )
        )
    text = say("Inside one node, {inside}; across nodes, {across}.", inside=parts[0], across=parts[1])
    yield Sentence(text=text, cases=keys)


def _exceptions(evidence: Evidence, best: str, judged: set[str]) -> Iterator[Sentence]:
    """Say where another candidate is faster than the best, the largest margins first."""

    def ahead(verdict: CaseVerdict) -> tuple[str, ...]:
        key = verdict.case.key
        return tuple(
            name for name in evidence.names if name in verdict.winners and evidence.pairs.slower(key, name, best)
        )

    runs = []
    for title, verdicts in evidence.lines():
        for winners, group in groupby((one for one in verdicts if one.case.key in judged), key=ahead):
            if winners:
                runs.append((list(group), title, winners))
    runs.sort(key=lambda run: -max(_behind(evidence, one, best) for one in run[0]))
    for verdicts, title, winners in runs[:MOST_EXCEPTIONS]:
        margin = math.exp(max(_behind(evidence, one, best) for one in verdicts))
        text = say(
            "{winners:and} {n:of is|are} faster in {where}, by up to {margin:ratio}."
            if len(verdicts) > 1
            else "{winners:and} {n:of is|are} faster in {where}, by {margin:ratio}.",
            winners=winners,
            n=len(winners),
            where=sized(title, [one.case for one in verdicts]),
            margin=margin,
        )
        yield Sentence(text=text, cases=_keys(verdicts))
    if len(runs) > MOST_EXCEPTIONS:
        rest = [one for run in runs[MOST_EXCEPTIONS:] for one in run[0]]
        text = say("The same holds, by less, in {n:count other case}.", n=len(rest))
        yield Sentence(text=text, cases=_keys(rest))


def _mix(evidence: Evidence) -> Iterator[Sentence]:
    """Say which candidate the calls of the plan are fastest with."""
    for one in mix.mixes(evidence, evidence.campaign.plan.calls):
        keys = [case.key for part in one.parts for case, _ in part.cases]
        yield Sentence(text=" ".join(mix.sentences(evidence, one)), cases=list(dict.fromkeys(keys)))


def _gaps(evidence: Evidence, best: str) -> Iterator[Sentence]:
    """Say where the best candidate failed, always or at times, and what it lacks: who takes it must know."""
    keys = _keys(evidence.main)
    failures = {key: one.failures for key in keys if (one := evidence.summary.get((key, best))) and one.failures}
    lacking = [key for key, statuses in failures.items() if "lacking" in statuses]
    failed = [key for key in failures if key not in lacking]
    if failed:
        text = say("{best} failed in at least one launch of {n:count case}.", best=best, n=len(failed))
        yield Sentence(text=text, cases=failed)
    if lacking:
        text = say("{best} lacks the call of {n:count case}.", best=best, n=len(lacking))
        yield Sentence(text=text, cases=lacking)


def _short(evidence: Evidence, judged: list[CaseVerdict], ample: list[CaseVerdict]) -> Iterator[Sentence]:
    """Say where ranks or their threads shared cores, so that waiting was compared."""
    short = [one for one in judged if evidence.short_of_cores(one.case)]
    if not short:
        return
    text = say(
        "{n} {n:of case takes|cases take} no part in this: {n:of it has|they have} more ranks or threads than cores, "
        "and tell how libraries wait."
        if len(ample) < len(judged)
        else "In {n:count case} ranks or threads share cores: this tells how libraries wait, not more.",
        n=len(short),
    )
    yield Sentence(text=text, cases=_keys(short))


def _uncertain(evidence: Evidence) -> Iterator[Sentence]:
    """Say where starts were too uncertain to judge every candidate."""
    doubted = {one.case for one in evidence.summaries if one.doubt and one.uncertain}
    if cases := [key for key in _keys(evidence.main) if key in doubted]:
        text = say(
            "In {n:count case} the ranks' clocks agree too badly for calls so short to judge every candidate; the "
            "figures are shown and not compared.",
            n=len(cases),
        )
        yield Sentence(text=text, cases=cases)


def _other_starts(evidence: Evidence) -> Iterator[Sentence]:
    """Say that cases with other starts take no part."""
    others = [one.case for one in evidence.cases if evidence.usual[one.case.key] != one.case]
    if others:
        text = say(
            "What was measured with another start ({starts:and}) takes no part in this; the report tells it apart.",
            starts=dict.fromkeys(case.start for case in others),
        )
        yield Sentence(text=text, cases=[])


def _control(evidence: Evidence) -> Iterator[Sentence]:
    if not evidence.control:
        return
    wrong = [one for one in evidence.control if one.different]
    told = scipy.stats.binomtest(len(wrong), len(evidence.control)).proportion_ci(LEVEL)
    text = say(
        "As a check, one candidate was measured twice under two names: by the rule that judged the others, {n} of "
        "{all:count case} called the two different (with 95 % confidence, {low:.0%} to {high:.0%} of such cases do).",
        n=len(wrong),
        all=len(evidence.control),
        low=told.low,
        high=told.high,
    )
    yield Sentence(text=text, cases=[one.case for one in wrong])


def _scope(evidence: Evidence) -> Sentence:
    launches = [one.launches for one in evidence.summaries if one.launches]
    least, most = min(launches), max(launches)
    counted = say(
        "from {least} to {n:count launch} of each" if least != most else "from {n:count launch} of each",
        least=least,
        n=most,
    )
    if evidence.campaign.imported:
        text = say("This holds where these files were made, {launches}", launches=counted)
    else:
        text = _here(evidence, counted)
    if most < FEW_LAUNCHES:
        text = say("{scope}; so few launches find large differences only", scope=text)
    return Sentence(text=f"{text}.", cases=[])


def _here(evidence: Evidence, launches: str) -> str:
    """Say for what the verdict of a campaign holds that was run."""
    machine = evidence.campaign.machine
    given = any(one.settings for one in evidence.campaign.candidates)
    return say(
        "This holds {where}, for {versions}, {settings}, {launches}",
        where=say("on {hosts:and}", hosts=machine.host.split(", "))
        if not machine.cpu
        else say(
            "on this virtual machine ({cpu}, {n:count core})"
            if machine.virtual
            else "on this machine ({cpu}, {n:count core})",
            cpu=machine.cpu,
            n=machine.cores,
        ),
        versions=_versions(evidence),
        settings=say("at the settings given" if given else "at default settings"),
        launches=launches,
    )


def _versions(evidence: Evidence) -> str:
    """Name the libraries with their versions, unless the candidates' names tell them already."""
    libraries = {library.name: library for library in evidence.campaign.libraries}
    used = {one.name: libraries[one.library] for one in evidence.campaign.candidates if not one.control_of}
    if all(library.version in name for name, library in used.items()):
        return say("these versions")
    return listed(dict.fromkeys(f"{library.family} {library.version}" for library in used.values()))
