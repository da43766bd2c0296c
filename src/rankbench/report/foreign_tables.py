"""What other programs measured: what their numbers mean, and the files that values were imported from."""

from __future__ import annotations

from rankbench.analysis.questions.view import CampaignView
from rankbench.report.tables import Cell, Table


def list_meanings(view: CampaignView) -> Table:
    """Return what each benchmark's numbers mean, and what the core has in its place."""
    rows = [
        [
            Cell(operation.name, operation.foreign.benchmark),
            Cell(operation.foreign.counterpart or "–"),
            Cell(operation.foreign.meaning.text),
            Cell(operation.foreign.meaning.data),
        ]
        for operation in view.campaign.operations
        if operation.foreign
    ]
    columns = [
        "benchmark",
        "as the core's",
        "what its number is",
        "data",
    ]
    return Table("What the numbers of other programs mean", columns, rows)


def files(view: CampaignView) -> Table:
    """Return the files that values were read from, with what was found in them."""
    rows = [
        [
            Cell(record.file, record.sha256[:12]),
            Cell(", ".join(record.tools) or "–"),
            Cell("; ".join(f"{key} {value}" for key, value in record.facts.items()) or "–"),
            Cell("; ".join(record.remarks) or "–"),
        ]
        for record in view.campaign.imported
    ]
    columns = ["file", "printed by", "reports itself", "found"]
    return Table("Files that were imported", columns, rows)
