"""The verdict and its tables as Markdown and as LaTeX (booktabs), for papers, wikis and terminals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rankbench.analysis.claims.joining import group_findings
from rankbench.analysis.questions import case_labels
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.report import foreign_tables, tables
from rankbench.report.evidence import list_groups
from rankbench.report.pictures import name_picture
from rankbench.report.tables import Cell, Table

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


def markdown(view: CampaignView, pictures: Sequence[Path] = ()) -> str:
    """Return the verdict as Markdown: conclusion, findings, groups of lines with their pictures, and tables at the end.

    `pictures` are files that `write_figures` wrote into a folder beside the text: all of them are shown or linked.
    """
    verdict = view.verdict
    conclusion = "\n".join(f"- {render(claim.text)}" for claim in verdict.conclusion)
    album = Album(pictures)
    parts = [f"# {view.campaign.plan.question}", *([conclusion] if conclusion else [])]
    parts += [album.show(name) for name in album.names if name.startswith("winner_map-")]
    parts += list(findings(view))
    parts += list(groups(view, album))
    parts += album.show_rest()
    parts += list(markdown_tables(view))
    return "\n\n".join(parts) + "\n"


def findings(view: CampaignView) -> Iterator[str]:
    """Yield the findings, with advice."""
    if view.verdict.findings:
        yield f"## {'Findings'}"
    for alike in group_findings(view.verdict.findings):
        items = [f"**{render(finding.title)}** {render(finding.text)}" for finding in alike]
        advice = " ".join(dict.fromkeys(render(finding.advice) for finding in alike))
        if len(items) > 1:
            yield "\n".join(f"- {item}" for item in items)
        yield f"*{advice}*" if len(items) > 1 else f"{items[0]} *{advice}*"


def groups(view: CampaignView, album: Album) -> Iterator[str]:
    """Yield the groups of lines whose curves have the same shape, each with its sentences, members and pictures.

    Lines that are like no other come after them, if there are pictures.
    """
    names = {key: tables.line_name(part) for key, part in view.parts("line")}
    grouped = list_groups(view.verdict)
    if grouped:
        yield f"## {'Groups of operations'}"
    for group in grouped:
        yield f"### {render(group.title)}"
        members = case_labels.join_names(names[line] for line in group.lines[1:])
        same = f"The same: {members}." if group.kind == "alike" else ""
        yield f"{render(group.text)} {same}".rstrip()
        yield from (text for line in group.lines if (text := album.show_line(line, names[line])))
    alone = [group for group in view.verdict.groups if group not in grouped]
    shown = [(group, text) for group in alone if (text := album.show_line(group.lines[0], names[group.lines[0]]))]
    if shown:
        yield f"## {'Operations in no group'}"
    for group, text in shown:
        yield from (f"### {render(group.title)}", render(group.text), text)


class Album:
    """Pictures by name, each of which is shown once."""

    def __init__(self, pictures: Sequence[Path]) -> None:
        files: dict[str, list[Path]] = {}
        for path in pictures:
            if path.suffix != ".html":
                files.setdefault(path.stem, []).append(path)
        self._files = files
        self.names = list(files)
        """In the order of drawing."""

    def show(self, name: str, title: str = "") -> str:
        """Return the picture of a name, which is not in the rest then; PDF is only linked, browsers embed none."""
        addresses = [f"{path.parent.name}/{path.name}" for path in self._files.pop(name)]
        embedded = next((address for address in addresses if not address.endswith(".pdf")), "")
        return f"![{title or name}]({embedded})" if embedded else f"[{title or name}]({addresses[0]})"

    def show_line(self, key: str, title: str) -> str:
        """Return the main picture of a line, and links to its others; empty without any."""
        of_line = [name for plot in ("extremes", "curves", "bars") if (name := name_picture(plot, key)) in self._files]
        of_line += [name for name in self._files if name.endswith(name_picture("", key)) and name not in of_line]
        if not of_line:
            return ""
        main = self.show(of_line[0], title)
        links = [self._link(name, name.partition("-")[0].replace("_", " ")) for name in of_line[1:]]
        return f"{main}\n\n{render(say('{title}; also: {links:,}', title=title, links=links))}" if links else main

    def show_rest(self) -> list[str]:
        """Return links to all pictures that were not shown, under a heading."""
        links = [self._link(name, name) for name in list(self._files)]
        return [f"## {'Other figures'}", "\n".join(f"- {link}" for link in links)] if links else []

    def _link(self, name: str, title: str) -> str:
        path = self._files.pop(name)[0]
        return f"[{title}]({path.parent.name}/{path.name})"


def markdown_tables(view: CampaignView) -> Iterator[str]:
    """Yield all tables, failures, and what values of other tools mean."""
    yield f"## {'Tables'}"
    for kind in tables.kinds().values():
        yield from (markdown_table(table) for table in tables.make_tables("text", kind, view) if table.rows)
        yield from kind.sentences(view) if hasattr(kind, "sentences") else []
    facts = (tables.failures(view), foreign_tables.list_meanings(view), foreign_tables.files(view))
    yield from (markdown_table(table) for table in facts if table.rows)


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
