"""Tables of the same cases at several placements, side by side. Nothing is computed here."""

from __future__ import annotations

import msgspec
import polars as pl

from rankbench.analysis.questions import placements
from rankbench.analysis.questions.view import CampaignView, select_judgeable
from rankbench.language import render
from rankbench.model import Case, Comparison, Summary
from rankbench.quantities import format_ratio
from rankbench.report.tables import Block, Cell, Charts, Hint, Table, describe_end, launch_range, name_start

TITLE = "What the placement does"
SHORT = "Placements"
HELP = "The same cases at several placements, side by side."
FLAG = "placements"
ORDER = 30
ANCHOR = "places"
UNASKED = "campaign"
DETAILS = True
ABSENT = "none of these cases was made at several placements; a plan names them by placements"
MEANING = (
    "Typical value, then the ratio of times to the first placement, paired within blocks; ~: cannot be distinguished. "
    "Below: the interval, and the least and the largest value of any launch."
)


class Known:
    """What the tables show, looked up by case and candidate."""

    def __init__(self, view: CampaignView) -> None:
        launch_values = select_judgeable(view.launch_values)
        effects = placements.placement_effects(launch_values, view.campaign)
        self.lines: dict[str, dict[str, Case]] = placements.list_same_cases(view.campaign)
        self.same: dict[str, tuple[str, dict[str, Case]]] = {
            case.key: (line, cases) for line, cases in self.lines.items() for case in cases.values()
        }
        self.summaries = {(summary.case, summary.candidate): summary for summary in view.verdict.summaries}
        self.ratios: dict[tuple[str, str, str, str], Comparison] = {
            (effect.candidate, effect.line, effect.ratio.base, effect.ratio.other): effect.ratio for effect in effects
        }


def several(part: CampaignView) -> list[str]:
    """Return the placements of a part, in the plan's order, if there are several and they are no scale."""
    texts = {case.placement for case in part.cases if case.key not in part.over_nodes}
    names = [placement.name for placement in part.campaign.plan.placements if placement.name in texts]
    return names if len(names) > 1 else []


def tables(view: CampaignView) -> list[Table]:
    """Return a table for each operation and candidate: sizes downwards, placements to the right."""
    parts = [part for _, part in view.without_pairs().parts("places") if several(part)]
    known = Known(view) if parts else None
    return [
        table
        for part in parts
        for name in part.candidates
        if known and has_text(table := placement_table(part, name, known))
    ]


def body(view: CampaignView) -> list[Block]:
    """Return what the page shows above the tables."""
    keys = [key for key, part in view.without_pairs().parts("places") if several(part)]
    return [Hint(plot="placements"), Charts("placements", keys), Hint(MEANING)]


def frame(view: CampaignView) -> pl.DataFrame:
    """Return one row per case, candidate and pair of placements with the ratio of their times and its interval."""
    known = Known(view)
    chosen = {case.key for case in view.without_pairs().cases}
    return pl.DataFrame(
        [
            {**msgspec.structs.asdict(case), "options": options(case), "memory": case.memory.label}
            | {"candidate": candidate, "base": base, "other": other, "ratio": ratio.ratio}
            | {"low": ratio.low, "high": ratio.high, "different": ratio.different, "blocks": ratio.blocks}
            for (candidate, line, base, other), ratio in known.ratios.items()
            for case in [known.lines[line].get(other)]
            if case and case.key in chosen and candidate in view.candidates
        ],
        infer_schema_length=None,
    )


def options(case: Case) -> str:
    """Return the options of a case in one text."""
    return " ".join(f"{name}={value}" for name, value in case.options.items())


def has_text(table: Table) -> bool:
    """Return whether a table has any text, a reason for a missing value included."""
    return any(cell.case and (cell.detail or cell.text != "–") for row in table.rows for cell in row)


def placement_table(part: CampaignView, candidate: str, known: Known) -> Table:
    """Return the table of one operation and candidate."""
    names = several(part)
    sizes = {case.size_bytes: part.size_text(case) for case in part.cases}
    keys = {case.key: case.size_bytes for case in part.cases}
    chosen = [key for key in keys if key in known.same and key not in part.over_nodes]
    lines = {keys[key]: known.same[key] for key in chosen}
    rows = [
        [Cell(sizes[size]), *(cell(part, candidate, name, *lines[size], known) for name in names)]
        for size in sorted(lines)
    ]
    case = part.cases[0]
    line, what = part.line_name() + name_start(part, case), part.measure(case).heading
    caption = f"{line}, {candidate}: {what} by placement"
    return Table(caption, ["message size", *names], rows)


def cell(part: CampaignView, candidate: str, placement: str, line: str, cases: dict[str, Case], known: Known) -> Cell:
    """Return what was measured at one placement, with its ratio to the first one, or why there is nothing."""
    case = cases.get(placement)
    summary = known.summaries.get((case.key, candidate)) if case else None
    if case is None or summary is None:
        return Cell("–")
    if not summary.launches:
        return Cell("–", describe_end(summary) or render(summary.doubt), case=case.key)
    base = next(name.name for name in part.campaign.plan.placements if name.name in cases)
    ratio = known.ratios.get((candidate, line, base, placement))
    sentence = f" {format_ratio(ratio.ratio)}{'' if ratio.different else ' ~'}" if ratio else ""
    return Cell(part.measure(case).text(summary.typical_ns) + sentence, spread(part, case, summary), case=case.key)


def spread(part: CampaignView, case: Case, summary: Summary) -> str:
    """Return the interval, and the least and the largest value of any launch."""
    measure = part.measure(case)
    if summary.launches == 1:
        return "one launch"
    interval = measure.interval(summary.low_ns, summary.high_ns) if summary.has_interval else "no interval"
    return f"{interval}; launches {launch_range(measure, summary)}"
