"""One sentence for several findings of a kind: their titles, joined where they differ in one field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankbench.language import Text, end_sentence
from rankbench.model import Finding


def join_group(alike: Sequence[Finding]) -> list[Text]:
    """Return the text of a single finding, or the joined titles of several of one template."""
    return [alike[0].text] if len(alike) == 1 else [*map(end_sentence, join_titles([each.title for each in alike]))]


def group_findings(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Return the findings of a kind whose titles have the same template together; each failure alone."""
    groups: dict[tuple[str, str, int], list[Finding]] = {}
    for kind in dict.fromkeys(finding.kind for finding in findings):
        for number, finding in enumerate(findings):
            if finding.kind == kind:
                alone = number if finding.severity == "failure" else -1
                groups.setdefault((kind, finding.title.template, alone), []).append(finding)
    return list(groups.values())


def join_titles(titles: Sequence[Text]) -> list[Text]:
    """Return titles of one template with those joined that differ in one field.

    Of several fields the one is joined that leaves the fewest titles.
    """
    rows = list({repr(title.fields): title.fields for title in titles}.values())
    fewest = min((_join_rows(name, rows) for name in rows[0]), key=len, default=rows)
    return [Text(titles[0].template, fields) for fields in fewest]


def _join_rows(name: str, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of fields, those that are the same but for one field as one row with a list of its values."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(repr({other: value for other, value in row.items() if other != name}), []).append(row)
    return [
        {**group[0], name: [row[name] for row in group]} if len(group) > 1 else group[0] for group in groups.values()
    ]
