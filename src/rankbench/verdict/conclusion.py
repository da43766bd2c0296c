"""The conclusion: the sentences that answer the plan's question, each with the cases that it rests on."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING

from rankbench.model import Sentence
from rankbench.quantities import format_ratio
from rankbench.verdict.evidence import Evidence, counted, listed, size_range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.model import CaseVerdict

FEW_LAUNCHES = 6
MOST_EXCEPTIONS = 4


def conclude(evidence: Evidence) -> list[Sentence]:
    """Return the answer first, then distances, exceptions, doubts and scope."""
    judged = [one for one in evidence.main if len(one.ranking) > 1]
    if not judged:
        text = "No two candidates have figures for the same case, so there is nothing to compare."
        return [Sentence(text=text, cases=[]), *_uncertain(evidence), *_control(evidence)]
    best = _best(evidence, judged)
    return [
        _answer(evidence, best, judged),
        *_distances(evidence, best, judged),
        *_exceptions(evidence, best),
        *_gaps(evidence, best),
        *_uncertain(evidence),
        *_other_starts(evidence),
        *_control(evidence),
        _scope(evidence),
    ]


def _keys(verdicts: list[CaseVerdict]) -> list[str]:
    return [one.case.key for one in verdicts]


def _told(verdict: CaseVerdict) -> bool:
    """Return whether the case tells any two candidates apart."""
    return len(verdict.winners) < len(verdict.ranking)


def _best(evidence: Evidence, judged: list[CaseVerdict]) -> str:
    """Return the candidate that is at the front most often; where level, the one with the smaller typical times."""

    def standing(name: str) -> tuple[int, float]:
        front = sum(name in one.winners for one in judged if _told(one))
        behind = [_behind(evidence, one, name) for one in judged if name in one.ranking]
        return front, -sum(behind) / max(len(behind), 1)

    return max(evidence.names, key=standing)


def _behind(evidence: Evidence, verdict: CaseVerdict, name: str) -> float:
    """Return the logarithm of a candidate's time over that of the case's fastest."""
    return math.log(evidence.ratio(verdict.case.key, verdict.ranking[0], name))


def _answer(evidence: Evidence, best: str, judged: list[CaseVerdict]) -> Sentence:
    told = [one for one in judged if _told(one)]
    if not told:
        text = f"No candidate can be told to be faster than another in any of {counted(len(judged), 'case')}."
        return Sentence(text=text, cases=_keys(judged))
    alone = [one for one in told if one.winners == [best]]
    level = [one for one in told if best in one.winners and one not in alone]
    clear = 2 * len(alone + level) > len(told)
    equals = [name for name in evidence.names if all((name in one.winners) == (best in one.winners) for one in told)]
    praise = f"{listed(equals)} {'are the ones' if len(equals) > 1 else 'is the one'} to use:"
    opening = praise if clear else f"No candidate leads throughout; {listed(equals)} most often:"
    place = "fastest alone" if alone else "among the fastest"
    text = f"{opening} {place} in {len(alone or level)} of {counted(len(judged), 'case')}"
    if alone and level:
        text += f", level with the fastest in {len(level)} more"
    if len(told) < len(judged):
        text += f"; in {len(judged) - len(told)} no difference can be told"
    return Sentence(text=f"{text}.", cases=_keys(alone + level))


def _distances(evidence: Evidence, best: str, judged: list[CaseVerdict]) -> Iterator[Sentence]:
    """Say of each other candidate how it stands to the best over all cases that both have."""
    for name in evidence.names:
        both = [one for one in judged if {name, best} <= set(one.ranking)]
        if name == best or not both:
            continue
        logs = {one.case.key: math.log(evidence.ratio(one.case.key, best, name)) for one in both}
        mean = math.exp(sum(logs.values()) / len(logs))
        worst = max(logs, key=lambda key: logs[key])
        comparison = "as long as" if mean >= 1 else "the time of"
        text = f"{name} takes {format_ratio(mean)} {comparison} {best} (geometric mean of {counted(len(both), 'case')})"
        if logs[worst] > math.log(1.03):
            text += f", at worst {format_ratio(math.exp(logs[worst]))} ({evidence.full_title(evidence.case[worst])})"
        yield Sentence(text=f"{text}.", cases=[worst])


def _exceptions(evidence: Evidence, best: str) -> Iterator[Sentence]:
    """Say where another candidate is faster than the best, the largest margins first."""

    def ahead(verdict: CaseVerdict) -> tuple[str, ...]:
        return tuple(name for name in evidence.names if name in verdict.winners and best in verdict.ranking)

    runs = []
    for title, verdicts in evidence.lines():
        for winners, group in groupby(verdicts, key=ahead):
            if winners and best not in winners:
                runs.append((list(group), title, winners))
    runs.sort(key=lambda run: -max(_behind(evidence, one, best) for one in run[0]))
    for verdicts, title, winners in runs[:MOST_EXCEPTIONS]:
        margin = math.exp(max(_behind(evidence, one, best) for one in verdicts))
        verb = "are" if len(winners) > 1 else "is"
        most = "up to " if len(verdicts) > 1 else ""
        text = f"{listed(winners)} {verb} faster in {title}{size_range([one.case for one in verdicts])}, "
        yield Sentence(text=f"{text}by {most}{format_ratio(margin)}.", cases=_keys(verdicts))
    if len(runs) > MOST_EXCEPTIONS:
        rest = [one for run in runs[MOST_EXCEPTIONS:] for one in run[0]]
        yield Sentence(text=f"The same holds, by less, in {counted(len(rest), 'other case')}.", cases=_keys(rest))


def _gaps(evidence: Evidence, best: str) -> Iterator[Sentence]:
    """Say where the best candidate failed, always or at times, and what it lacks: who takes it must know."""
    keys = _keys(evidence.main)
    failures = {key: one.failures for key in keys if (one := evidence.summary.get((key, best))) and one.failures}
    lacking = [key for key, statuses in failures.items() if "lacking" in statuses]
    failed = [key for key in failures if key not in lacking]
    if failed:
        yield Sentence(text=f"{best} failed in at least one launch of {counted(len(failed), 'case')}.", cases=failed)
    if lacking:
        yield Sentence(text=f"{best} lacks the call of {counted(len(lacking), 'case')}.", cases=lacking)


def _uncertain(evidence: Evidence) -> Iterator[Sentence]:
    """Say where starts were too uncertain to judge every candidate."""
    doubted = {one.case for one in evidence.summaries if one.doubt}
    if cases := [key for key in _keys(evidence.main) if key in doubted]:
        text = (
            f"In {counted(len(cases), 'case')} the ranks' clocks agree too badly for calls so short to judge every "
            "candidate; the figures are shown and not compared."
        )
        yield Sentence(text=text, cases=cases)


def _other_starts(evidence: Evidence) -> Iterator[Sentence]:
    """Say that cases with other starts take no part."""
    others = [one.case for one in evidence.cases if evidence.usual[one.case.key] != one.case]
    if others:
        starts = listed(dict.fromkeys(case.start for case in others))
        text = f"What was measured with another start ({starts}) takes no part in this; the report tells it apart."
        yield Sentence(text=text, cases=[])


def _control(evidence: Evidence) -> Iterator[Sentence]:
    if not evidence.control:
        return
    wrong = [one for one in evidence.control if one.different]
    text = (
        f"As a check, one candidate was measured twice under two names: {len(wrong)} of "
        f"{counted(len(evidence.control), 'case')} called the two different."
    )
    yield Sentence(text=text, cases=[one.case for one in wrong])


def _scope(evidence: Evidence) -> Sentence:
    machine = evidence.campaign.machine
    launches = [one.launches for one in evidence.summaries if one.launches]
    least, most = min(launches), max(launches)
    settings = (
        "default settings" if not any(one.settings for one in evidence.campaign.candidates) else "the settings given"
    )
    kind = "virtual machine" if machine.virtual else "machine"
    several = f"{least} to {most}" if least != most else str(most)
    text = (
        f"This holds on this {kind} ({machine.cpu}, {counted(machine.cores, 'core')}), for {_versions(evidence)}, "
        f"at {settings}, from {several} launch{'es' if most > 1 else ''} of each"
    )
    few = "; so few launches find large differences only" if most < FEW_LAUNCHES else ""
    return Sentence(text=f"{text}{few}.", cases=[])


def _versions(evidence: Evidence) -> str:
    """Name the libraries with their versions, unless the candidates' names tell them already."""
    libraries = {library.name: library for library in evidence.campaign.libraries}
    used = {one.name: libraries[one.library] for one in evidence.campaign.candidates if not one.control_of}
    if all(library.version in name for name, library in used.items()):
        return "these versions"
    return listed(dict.fromkeys(f"{library.family} {library.version}" for library in used.values()))
