"""The verdict and its tables as Markdown and as LaTeX (booktabs), for papers, wikis and terminals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankbench.language import format_text, render
from rankbench.report import foreign_tables, tables
from rankbench.report.evidence import list_groups
from rankbench.verdict import case_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankbench.report.tables import Cell, Table
    from rankbench.verdict.view import CampaignView

LATEX = {
    **{character: f"\\{character}" for character in "#$%&_{}"},
    "\\": r"\textbackslash{}",
    "~": r"$\sim$",
    "^": r"\^{}",
    "×": r"$\times$",
    "–": "--",
    "·": r"$\cdot$",
    "µ": r"$\mu$",
}


def markdown(view: CampaignView) -> str:
    """Return verdict, tables, findings, groups, failures and what starts do as Markdown."""
    verdict = view.verdict
    conclusion = "\n".join(f"- {render(claim.text)}" for claim in verdict.conclusion)
    parts = [f"# {view.campaign.plan.question}", *([conclusion] if conclusion else [])]
    for kind in tables.kinds().values():
        parts += [markdown_table(table) for table in tables.make_tables("text", kind, view) if table.rows]
        parts += kind.sentences(view) if hasattr(kind, "sentences") else []
    parts += [
        f"**{render(finding.title)}** {render(finding.text)} *{render(finding.advice)}*" for finding in verdict.findings
    ]
    parts += list(groups(view))
    facts = (tables.failures(view), foreign_tables.list_meanings(view), foreign_tables.files(view))
    parts += [markdown_table(table) for table in facts if table.rows]
    return "\n\n".join(parts) + "\n"


def groups(view: CampaignView) -> Iterator[str]:
    """Yield the groups of lines whose curves have the same shape, each with its members."""
    names = {key: tables.line_name(part) for key, part in view.parts("line")}
    for group in list_groups(view.verdict):
        members = case_labels.join_names(names[line] for line in group.lines[1:])
        yield f"**{render(group.title)}** {render(group.text)} {format_text('The same: {members}.', members=members)}"


def markdown_table(table: Table) -> str:
    """Return one table; the interval follows its value in brackets."""
    rows = [table.columns, ["---"] + ["---:"] * (len(table.columns) - 1)]
    rows += [[markdown_cell(cell) for cell in row] for row in table.rows]
    return f"**{table.caption}**\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows)


def markdown_cell(cell: Cell) -> str:
    """Return a cell with what Markdown would take for its own marks escaped."""
    text = f"**{cell.text}**" if cell.best else cell.text
    return (text + (f" ({cell.detail})" if cell.detail else "")).replace("|", r"\|").replace("~", r"\~")


def latex(view: CampaignView) -> str:
    """Return the tables of values for booktabs; the document needs `\\usepackage{booktabs}`."""
    all_tables = (table for kind in tables.kinds().values() for table in tables.make_tables("latex", kind, view))
    return "\n\n".join(map(latex_table, all_tables)) + "\n"


def latex_table(table: Table) -> str:
    """Return one table as a float with its caption above."""
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape(table.caption)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(table.columns) - 1)}}}",
            r"\toprule",
            latex_row(map(escape, table.columns)),
            r"\midrule",
            *(latex_row(map(latex_cell, row)) for row in table.rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def latex_row(texts: Iterable[str]) -> str:
    """Return one row of texts that are LaTeX already."""
    return " & ".join(texts) + r" \\"


def latex_cell(cell: Cell) -> str:
    """Return a cell; the best of a row is bold, the interval small."""
    text = rf"\textbf{{{escape(cell.text)}}}" if cell.best else escape(cell.text)
    return text + (rf" {{\scriptsize ({escape(cell.detail)})}}" if cell.detail else "")


def escape(text: str) -> str:
    """Return text with LaTeX's own characters spelt out."""
    return re.sub("|".join(map(re.escape, LATEX)), lambda match: LATEX[match[0]], text)
