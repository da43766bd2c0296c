"""A gate's checks as Markdown for a pull request: what failed first, and the rest folded.

It has at most as many characters as a comment on GitHub or GitLab can have, which fits a job's summary, too.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from rankbench.across.gate import Check, Outcome, counts
from rankbench.language import render
from rankbench.quantities import spell_count

MOST_CHARACTERS = 60_000
"""GitHub refuses comments of more than 65,536."""
SHARES: dict[Outcome, float] = {"failed": 0.5, "accepted": 0.15, "skipped": 0.15, "improved": 0.1, "passed": 0.1}
"""Of these characters, those of the table of each outcome, in the order of the tables."""
WORDS: dict[Outcome, str] = {"skipped": "undecided"}
SPECIAL = re.compile(r"([\\`*_|~<>\[\]#])")


def format_pull_request(checks: Sequence[Check], heading: str, remarks: Sequence[str]) -> str:
    """Return the document: the result in one line, a table of what failed, folded tables of the rest, and remarks."""
    numbers = counts(list(checks))
    listed = ", ".join(f"{number} {WORDS.get(outcome, outcome)}" for outcome, number in numbers.items() if number)
    rules = sum(number for outcome, number in numbers.items() if outcome != "skipped")
    result = "failed" if numbers["failed"] else "passed" if rules else "undecided"
    parts = [f"**Gate {result}**: {escape(heading)}, {spell_count(len(checks), 'check')}: {listed or 'none'}"]
    for outcome, share in SHARES.items():
        alike = [check for check in checks if check.outcome == outcome]
        alike.sort(key=lambda check: -(check.ratio or math.inf))
        if not alike:
            continue
        table = "\n".join(list_rows(alike, int(share * MOST_CHARACTERS)))
        title = f"{len(alike)} {WORDS.get(outcome, outcome)}"
        parts.append(table if outcome == "failed" else f"<details><summary>{title}</summary>\n\n{table}\n\n</details>")
    parts.append("\n".join(f"- {escape(remark)}" for remark in remarks))
    return "\n\n".join(part for part in parts if part) + "\n"


def list_rows(checks: Sequence[Check], room: int) -> Iterator[str]:
    """Yield the lines of a table, of no more than so many characters, and what is left out; repeated advice below."""
    advice = Counter(render(check.advice) for check in checks)
    repeated = [text for text, number in advice.items() if text and number > 1]
    yield "| case | candidate | result |"
    yield "|---|---|---|"
    for number, check in enumerate(checks):
        text = render(check.advice)
        cells = (check.title, check.candidate, f"{render(check.text)}. {text if text not in repeated else ''}".rstrip())
        row = f"| {' | '.join(map(escape, cells))} |"
        room -= len(row)
        if room < 0:
            yield f"| and {len(checks) - number} more | | see --junit, or --format json |"
            break
        yield row
    yield from ("", *map(escape, repeated)) if repeated else ()


def escape(text: str) -> str:
    """Return a text in which nothing is Markdown or HTML, in one line."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))
