"""Tables of what each start does to the same cases. Nothing is computed here but shares of counts."""

from __future__ import annotations

import math

import polars as pl

from rankbench.analysis.claims.start_effects import claim_start_effects, find_discard_share
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.model import Case, Comparison, Summary
from rankbench.quantities import format_ratio, format_time
from rankbench.report.tables import Block, Cell, Charts, Hint, Paragraph, Table, Terms, line_name, smallest_cases

TITLE = "What each start does to the same case"
SHORT = "Starts"
HELP = "What each start does to the same case."
FLAG = "starts"
ORDER = 80
DETAILS = True
ABSENT = "none of these cases was made with several starts; a plan names them by start"


def tables(view: CampaignView) -> list[Table]:
    """Return a table for each line that has several starts: cases and candidates downwards, starts to the right."""
    summaries = {(summary.case, summary.candidate): summary for summary in view.verdict.summaries}
    lines = [part for _, part in view.parts("line") if view.has_usual_start(part.cases[0])]
    return [start_table(part, summaries) for part in lines if len(view.start_variants(part.cases[0])) > 1]


def sentences(view: CampaignView) -> list[str]:
    """Return what the starts do, in words; only of a whole campaign, as they sum up all of its cases."""
    if len(view.cases) < len(view.campaign.cases):
        return []
    claims = claim_start_effects(view.campaign, view.start_effects, view.verdict.summaries)
    return [render(claim.text) for claim in claims]


def body(view: CampaignView) -> list[Block]:
    """Return what the page shows above the tables."""
    names = {name for effect in view.start_effects for name in (effect.ratio.base, effect.ratio.other)}
    return [
        *map(Paragraph, sentences(view)),
        Terms([(start.name, start.help) for start in view.campaign.starts if start.name in names]),
        Hint(plot="starts"),
        Charts("starts", smallest_cases(view), paired=True),
        Hint(
            "Ratios are paired within blocks. ~: cannot be distinguished from the usual start. Below each: the "
            "time, how "
            "far apart ranks began as measured on the synchronised clock (median and 90th percentile), and the "
            "share of samples that were discarded."
        ),
    ]


def frame(view: CampaignView) -> pl.DataFrame:
    """Return one row per case with another start than the usual one, and candidate: the ratio of the two times."""
    chosen = {case.key for case in view.cases}
    return pl.DataFrame(
        [
            {
                "case": start_effect.case,
                "candidate": start_effect.candidate,
                "usual": start_effect.usual,
                "base": start_effect.ratio.base,
            }
            | {
                "other": start_effect.ratio.other,
                "ratio": start_effect.ratio.ratio,
                "low": start_effect.ratio.low,
                "high": start_effect.ratio.high,
            }
            | {"different": start_effect.ratio.different, "blocks": start_effect.ratio.blocks}
            for start_effect in view.start_effects
            if start_effect.case in chosen and start_effect.candidate in view.candidates
        ],
        infer_schema_length=None,
    )


def start_table(part: CampaignView, summaries: dict[tuple[str, str], Summary]) -> Table:
    """Return the table of one line with the usual start."""
    starts = list(
        dict.fromkeys(start_variant.start for case in part.cases for start_variant in part.start_variants(case))
    )
    columns = ["message size", "candidate", *starts]
    rows = []
    for case in part.cases:
        alike = {start_variant.start: start_variant for start_variant in part.start_variants(case)}
        size = Cell(part.size_text(case), case=case.key)
        for name in part.candidates:
            cells = (cell(part, alike.get(start), name, summaries) for start in starts)
            rows.append([size, Cell(name), *cells])
    caption = f"{line_name(part)}: time by start, as a ratio to that with start {starts[0]}"
    return Table(caption, columns, rows)


def cell(part: CampaignView, case: Case | None, candidate: str, summaries: dict[tuple[str, str], Summary]) -> Cell:
    """Return the time with one start and its ratio to that with the usual one, and how ranks began."""
    summary = summaries.get((case.key, candidate)) if case else None
    if case is None or summary is None or not (summary.launches or summary.doubt):
        return Cell("–", ", ".join(summary.failures) if summary else "not measured")
    time = part.measure(case).text(summary.typical_ns)
    if summary.doubt:
        return Cell(f"{time} ?", render(summary.doubt))
    ratio = part.once("effects", lambda: effects(part)).get((case.key, candidate))
    if ratio is None:
        return Cell(time, began(summary))
    sentence = format_ratio(ratio.ratio) + ("" if ratio.different else " ~")
    return Cell(sentence, f"{time}; {began(summary)}", best=ratio.different)


def effects(part: CampaignView) -> dict[tuple[str, str], Comparison]:
    """Return what starts do by case and candidate; the first of several."""
    return {
        (start_effect.case, start_effect.candidate): start_effect.ratio for start_effect in reversed(part.start_effects)
    }


def began(summary: Summary) -> str:
    """Return how far apart ranks began, and what was discarded."""
    dropped = render(say("{share:.1%} discarded", share=find_discard_share([summary])))
    if not math.isfinite(summary.skew_ns):
        return dropped
    apart = f"ranks {format_time(summary.skew_ns)} apart (p90 {format_time(summary.skew_p90_ns)})"
    return f"{apart}; {dropped}"
