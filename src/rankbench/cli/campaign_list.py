"""The campaigns below a folder, and the answer of each in a few words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import msgspec
from rich.padding import Padding
from rich.text import Text

from rankbench import files, store
from rankbench.analysis.evaluation import evaluate
from rankbench.campaign import blocks_done
from rankbench.cli.display import StatusLine, columns, console, print_text
from rankbench.cli.formats import print_json
from rankbench.language import render
from rankbench.model import DamagedFileError, RankbenchError, Record
from rankbench.quantities import spell_count
from rankbench.store import Store, folders
from rankbench.workflows.decisions import is_ended
from rankbench.workflows.locations import results_folder

DAMAGED = "damaged"
WIDE = 120
"""Columns of a terminal with room for the candidates."""


class Row(Record, frozen=True):
    """A campaign of the list."""

    name: str
    folder: str
    created: str
    state: str
    candidates: list[str]
    blocks: int
    answer: str
    question: str = ""

    @property
    def date(self) -> str:
        """Return the local day and time of the beginning; empty: not known."""
        return datetime.fromisoformat(self.created).astimezone().strftime("%Y-%m-%d %H:%M") if self.created else ""


def list_campaigns(folder: Path | None, form: str, *, no_answer: bool) -> None:
    """Print date, state, candidates, blocks and answer of each campaign of a folder; None: of the results.

    The answer is that of the last report, or else is computed. Narrow terminals have no room for the candidates.
    """
    rows, damaged = read_rows(folder or results_folder(), no_answer=no_answer)
    if form == "json":
        print_json(rows)
        return
    if max((len(entry.name) for entry in rows), default=0) * 2 <= console.width:
        _print_rows(rows, no_answer=no_answer)
    else:
        stack_rows(rows)
    for line in damaged:
        print_text(line)
    if len(rows) > 1 and not folder:
        print_text(f"Commands without the name of a campaign use {store.newest(results_folder())}")


def stack_rows(rows: Sequence[Row]) -> None:
    """Print each campaign below its name, where names leave no room for columns beside them."""
    for entry in rows:
        console.print(Text(entry.name, "bold"), soft_wrap=True)
        facts = ", ".join(filter(None, [entry.date, entry.state, spell_count(entry.blocks, "block"), entry.answer]))
        console.print(Padding(Text(facts), (0, 0, 0, 2)))


def _print_rows(rows: Sequence[Row], *, no_answer: bool) -> None:
    table = columns("campaign", "date", "state", text_columns=3)
    wide = console.width >= WIDE
    if wide:
        table.add_column("candidates", overflow="fold")
    table.add_column("blocks", justify="right")
    if not no_answer:
        table.add_column("answer", overflow="fold")
    for entry in rows:
        cells = [
            entry.name,
            entry.date,
            entry.state,
            *([", ".join(entry.candidates)] if wide else []),
            str(entry.blocks),
        ]
        table.add_row(*map(Text, cells + ([] if no_answer else [entry.answer])))
    console.print(table)


def read_rows(folder: Path, *, no_answer: bool) -> tuple[list[Row], list[str]]:
    """Return the campaigns below a folder, the oldest first, and a line for each that cannot be read.

    Raises RankbenchError if there is none, or none that can be read.
    """
    rows, damaged = [], []
    for path in folders.list_campaigns([folder]):
        try:
            rows.append(row(store.open(path), no_answer=no_answer))
        except DamagedFileError as error:
            rows.append(make_damaged_row(path))
            damaged.append(str(error))
        except RankbenchError as error:
            damaged.append(str(error))
    if damaged and all(entry.state == DAMAGED for entry in rows):
        raise RankbenchError(damaged[0])
    return sorted(rows, key=read_date), damaged


def read_date(entry: Row) -> str:
    """Return the sort key of a campaign."""
    return entry.created


def make_damaged_row(path: Path) -> Row:
    """Return the row of a campaign whose files cannot be read."""
    return Row(name=path.name, folder=str(path), created="", state=DAMAGED, candidates=[], blocks=0, answer="")


def row(opened: Store, *, no_answer: bool) -> Row:
    """Return the row of a campaign."""
    record = opened.campaign
    try:
        datetime.fromisoformat(record.created).astimezone()
    except (ValueError, OverflowError):
        path = opened.folder / "campaign.json"
        raise DamagedFileError(f"{path}: damaged ({record.created!r} is no date); {store.RESTORE}") from None
    blocks = len({launch.block for launch in opened.launches()})
    return Row(
        name=record.name,
        folder=str(opened.folder),
        created=record.created,
        state=state(opened),
        candidates=[candidate.name for candidate in record.candidates if not candidate.control_of],
        blocks=blocks,
        answer="" if no_answer or not blocks else answer(opened),
        question=record.plan.question,
    )


def state(opened: Store) -> str:
    """Return the state of a campaign: `running`, `imported`, `complete`, or how far it is."""
    if opened.campaign.imported:
        return "imported"
    if store.is_running(opened.folder):
        return "running"
    stop = opened.campaign.plan.stop
    blocks = blocks_done(opened)
    if blocks >= stop.blocks_max or is_ended(opened, blocks):
        return "complete"
    return f"{blocks} of {stop.blocks_min if blocks < stop.blocks_min else stop.blocks_max} blocks"


def answer(opened: Store) -> str:
    """Return the first sentence of the conclusion, from the last report if nothing was measured since."""
    path = opened.folder / "verdict.json"
    launches = files.find_facts(opened.folder.glob("launches/*"))
    newest = max((fact.st_mtime for fact in launches.values()), default=0.0)
    if path.exists() and path.stat().st_mtime > newest:
        try:
            return first_words(msgspec.json.decode(files.read_regular(path))["conclusion"][0]["text"])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, IndexError, TypeError, OSError):
            pass
    with StatusLine(f"evaluating {opened.folder} …"):
        try:
            conclusion = evaluate(opened).verdict.conclusion
        except DamagedFileError:
            raise
        except RankbenchError as error:
            return str(error)
    return first_words(render(conclusion[0].text)) if conclusion else ""


def first_words(sentence: str) -> str:
    """Return the beginning of a sentence, without its explanation."""
    return re.split(r": |; | \(|\.$|\. ", sentence)[0]
