"""How a campaign was measured and compared, in paragraphs for the report: what varies is read from the campaign."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.plan import estimators
from rankbench.quantities import spell_count


def paragraphs(view: CampaignView) -> list[tuple[str, str]]:
    """Return titles and texts."""
    measured = [] if view.campaign.imported else list(_describe_measuring(view))
    return [*measured, *_describe_judging(view)]


def _describe_measuring(view: CampaignView) -> Iterator[tuple[str, str]]:
    blocks = (
        "One launch is one mpiexec. A block launches every candidate once, in an order drawn from a recorded "
        f"seed. There were {spell_count(view.verdict.blocks, 'block')}."
    )
    yield "Launches", f"{blocks} {_turns(view)}"
    yield "Stop rule", _stop_rule(view)
    starts = [f"{start.name}: {start.help}" for start in view.campaign.starts]
    ready = f"Samples for which a rank was late are discarded. How ranks begin together: {'; '.join(starts)}."
    yield "Samples", f"{_samples(view)} {ready}" if starts else _samples(view)
    yield (
        "Certainty of starts",
        (
            "The time includes how far apart ranks began. Clocks of ranks may disagree: where that is more than 5% of "
            "the time of a call, the value is shown with a question mark and not compared."
        ),
    )
    yield (
        "State of the machine",
        (
            "It is measured without MPI before and after every launch, and reported. No launch is left out because of "
            "it."
        ),
    )

    if view.campaign.receipts:
        yield "Clocks and compilers", f"{_clocks(view)}{_compilers(view)}"


def _stop_rule(view: CampaignView) -> str:
    """Return the rule that ended the campaign, and how many blocks it could choose from."""
    stop = view.campaign.plan.stop
    if stop.blocks_min == stop.blocks_max:
        return f"The plan asked for {spell_count(stop.blocks_max, 'block')}."
    bounds = f"{stop.blocks_min} to {stop.blocks_max}"
    drop = " Candidates left the cases that they could no longer win." if stop.drop else ""
    return f'The plan asked for {bounds} blocks, until "{stop.until}".' + drop


def _clocks(view: CampaignView) -> str:
    """Return which clocks were read; a sentence with a space behind it, or nothing."""
    sources = sorted({launch.facts.source for launch in view.launches if launch.facts})
    return f"Clock: {', '.join(sources)}. " if sources else ""


def _compilers(view: CampaignView) -> str:
    """Return what compiled the benchmark for each library; what they have in common once."""
    lines: dict[tuple[str, str], list[str]] = {}
    for receipt in view.campaign.receipts:
        flags = " ".join(flag for flag in receipt.flags if flag.startswith(("-O", "-m", "-f")))
        lines.setdefault((receipt.compiler, flags), []).append(receipt.library)
    template = "The core for {libraries:and} was built by {compiler} with {flags}."
    return " ".join(
        render(say(template, libraries=libraries, compiler=compiler, flags=flags or "no options"))
        for (compiler, flags), libraries in lines.items()
    )


def _turns(view: CampaignView) -> str:
    """Return whether launches of a block ran at the same time."""
    together = {launch.together > 1 for launch in view.launches}
    if together == {True}:
        return (
            "The launches of a block are started together and take turns case by case: while one measures, the others "
            "sleep."
        )
    if together == {True, False}:
        return (
            "The launches of a block are started together and take turns case by case, where that was possible; the "
            "others ran alone, one after the other."
        )
    return "Each launch ran alone: the launches of a block followed each other."


def _samples(view: CampaignView) -> str:
    """Return of how many calls a sample is the mean."""
    counted = view.case_rows if "calls" in view.case_rows.columns else pl.DataFrame({"calls": [1]})
    most = counted["calls"].max() or 1
    if most == 1:
        return "Every sample is one timed call."
    return render(
        say(
            "A sample is one timed call, or, where a call is short compared with a reading of the clock, the mean of "
            "several: of up to {n} here.",
            n=most,
        )
    )


def _describe_judging(view: CampaignView) -> Iterator[tuple[str, str]]:
    plan = view.campaign.plan
    meaning = estimators.find_estimator(plan.estimator).meaning
    yield (
        "Typical value",
        render(
            say(
                "The median over launches of each launch's {estimator}. Its interval goes from one launch's value "
                "to another's. It covers the median with a probability of {percent:g}% or more; few "
                "launches do not reach "
                "that, and the heading of the table then has their probability. The launch is the unit of replication, "
                "since samples of one launch resemble each other.",
                estimator=f"{plan.estimator} {render(meaning)}" if meaning else plan.estimator,
                percent=100 * plan.confidence,
            )
        ),
    )
    yield (
        "Comparison",
        render(
            say(
                "Candidates are compared by the ratio of their times, paired within blocks. There "
                "are three outcomes. One "
                "is faster: the test is whether the ratio is beyond {percent:g}%, with p-values adjusted over all "
                "comparisons (Benjamini and Hochberg) and for interim looks. They are equivalent "
                "(=): the interval of the "
                "ratio is within {percent:g}%. Or it is undecided (~). Where the largest of many ratios is named, its "
                "interval is wider, because it was chosen.",
                percent=100.0 * plan.threshold,
            )
        ),
    )
