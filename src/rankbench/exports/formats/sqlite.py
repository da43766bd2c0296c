"""A campaign as one SQLite database: its record, its launches, every sample, and what the numbers say.

Tables and columns are those of the store and of the records, with `case_id` in the place of a case's key. Samples are
read and written in portions, so that a database can be larger than memory.
"""

from __future__ import annotations

import errno
import math
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple, get_type_hints

import msgspec

from rankbench import files, store
from rankbench.across.two_campaigns import title_case
from rankbench.exports.values import list_case_values
from rankbench.exports.writing import present
from rankbench.language import Text, render
from rankbench.model import Campaign, Candidate, Case, Comparison, Finding, Launch, Library, Machine, Summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import polars as pl

    from rankbench.exports import EvaluatedCampaign
    from rankbench.verdict.view import CampaignView

TITLE = "a database with every sample"
SUFFIX = ".sqlite"
PLACE = "file"
PORTION = 50_000
"""Samples in memory at a time."""
TYPES = {int: "INTEGER", bool: "INTEGER", float: "REAL"}
CASE = "case_id INTEGER NOT NULL REFERENCES cases"
CANDIDATE = "candidate TEXT NOT NULL REFERENCES candidates"
LAUNCH = "launch INTEGER NOT NULL REFERENCES launches"
OF_CASE = {*Case.__struct_fields__, "memory", "options", "block", "candidate", "launch", "case"}
"""Columns of the store that other tables show."""
WHOLE_CAMPAIGN = ("name", "created", "rankbench", "format", "seed", "notes")
LATER = """
CREATE INDEX samples_of_case ON samples (case_id, launch);
CREATE INDEX outcomes_of_case ON outcomes (case_id, status);
CREATE INDEX launches_of_candidate ON launches (candidate, block);
CREATE INDEX cases_of_operation ON cases (operation, form, size_bytes);
CREATE VIEW typical AS
SELECT operation, form, size_bytes, datatype, placement, ranks, start, memory, options, candidate, library,
    value, low, high, unit, coverage, launches, samples, title, case_id
FROM summaries JOIN cases ON cases.id = case_id JOIN candidates ON candidates.name = candidate
WHERE value IS NOT NULL
ORDER BY case_id, value;
"""


class Table(NamedTuple):
    """A table with its rows."""

    name: str
    columns: list[str]
    """Each as SQL declares it, its name first."""
    rows: Iterable[tuple[object, ...]]
    key: str = ""
    """What identifies a row where that is several columns."""

    @property
    def creation(self) -> str:
        """Return the statement that makes it. A key of several columns is the order in which rows lie on the disk."""
        key = f", PRIMARY KEY ({self.key})) WITHOUT ROWID" if self.key else ")"
        return f"CREATE TABLE {self.name} ({', '.join(self.columns)}{key}"

    @property
    def insertion(self) -> str:
        """Return the statement that adds a row."""
        return f"INSERT INTO {self.name} VALUES ({', '.join('?' * len(self.columns))})"  # noqa: S608 - names of this file


def write(source: EvaluatedCampaign, path: Path) -> Iterator[Path]:
    """Write the database."""
    with files.write_atomically(path) as beside:
        try:
            with closing(sqlite3.connect(beside)) as database:
                fill(database, source)
        except sqlite3.OperationalError as error:  # The disk is full, or a quota is reached.
            raise OSError(errno.EIO, str(error)) from None
    yield path


def fill(database: sqlite3.Connection, source: EvaluatedCampaign) -> None:
    """Make all tables. The file is nothing until all is in it, so no journal is kept."""
    database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    for table in list_tables(source):
        database.execute(table.creation)
        database.executemany(table.insertion, table.rows)
    database.executescript(LATER)
    database.commit()


def list_tables(source: EvaluatedCampaign) -> Iterator[Table]:
    """Yield all tables, those that others refer to first."""
    campaign_view = source.view
    places = {case.key: number for number, case in enumerate(campaign_view.campaign.cases, 1)}
    yield campaign_table(campaign_view.campaign)
    yield make_record_table("libraries", Library, campaign_view.campaign.libraries, {"name": "name TEXT PRIMARY KEY"})
    yield make_record_table("candidates", Candidate, campaign_view.campaign.candidates, CANDIDATE_COLUMNS)
    yield case_table(campaign_view)
    yield make_record_table(
        "launches", Launch, campaign_view.launches, {"number": "number INTEGER PRIMARY KEY", "candidate": CANDIDATE}
    )
    yield outcome_table(campaign_view, places)
    yield sample_table(source, places)
    yield summary_table(campaign_view, places)
    yield comparison_table(campaign_view, places)
    yield from finding_tables(campaign_view, places)


CANDIDATE_COLUMNS = {
    "name": "name TEXT PRIMARY KEY",
    "library": "library TEXT NOT NULL REFERENCES libraries",
    "control_of": "control_of TEXT REFERENCES candidates",
}


def campaign_table(campaign: Campaign) -> Table:
    """Return what is known of the campaign and its machine, in one row."""
    fields = {name: getattr(campaign, name) for name in WHOLE_CAMPAIGN}
    facts = {**fields, "question": campaign.plan.question, "plan": campaign.plan.text}
    facts |= {name: getattr(campaign.machine, name) for name in Machine.__struct_fields__ if name != "cpus"}
    return Table(
        "campaign", [column(name, type(value)) for name, value in facts.items()], [convert_row(facts.values())]
    )


def case_table(view: CampaignView) -> Table:
    """Return the cases, in the order of the campaign, with how people call them and what their values are."""
    units = {value.case: value.unit for value in list_case_values(view)}
    rows = (
        (
            number,
            case.key,
            title_case(view, case),
            case.quantity,
            units.get(case.key),
            *cells(case, "memory", case.memory.label),
        )
        for number, case in enumerate(view.campaign.cases, 1)
    )
    head = ["id INTEGER PRIMARY KEY", "key TEXT NOT NULL UNIQUE", "title TEXT NOT NULL", "quantity TEXT", "unit TEXT"]
    return Table("cases", [*head, *columns(Case)], map(convert_row, rows))


def outcome_table(view: CampaignView, places: Mapping[str, int]) -> Table:
    """Return how each case ended in each launch."""
    fields = [name for name in store.tables.CASE_COLUMNS if name not in OF_CASE]
    frame = view.case_rows.select("launch", "case", *fields)
    return Table(
        "outcomes", [LAUNCH, CASE, *list_columns(frame.select(fields))], number_rows(frame, places), "launch, case_id"
    )


def sample_table(source: EvaluatedCampaign, places: Mapping[str, int]) -> Table:
    """Return every sample, also those that do not count and those of single ranks, as they are stored."""
    fields = [name for name in store.tables.SAMPLE_COLUMNS if name not in OF_CASE]
    chosen = [
        frame.select("launch", "case", *fields) for frame in (source.store.samples(), source.store.rank_samples())
    ]
    portions = (part for frame in chosen for part in frame.collect_batches(chunk_size=PORTION))
    rows = (line for part in portions for line in number_rows(part, places))
    named = [name.replace('"index"', "number") for name in list_columns(chosen[0].limit(0).collect().select(fields))]
    return Table("samples", [LAUNCH, CASE, *named], rows, "launch, case_id, series, number")


def summary_table(view: CampaignView, places: Mapping[str, int]) -> Table:
    """Return the results of each case and candidate; last, the shown value with its interval and unit."""
    ranges = {(entry.case, entry.candidate): (entry.value, entry.low, entry.high) for entry in list_case_values(view)}
    with_values = ((summary, ranges[summary.case, summary.candidate]) for summary in view.verdict.summaries)
    rows = (convert_row((places[summary.case], *cells(summary)[1:], *value)) for summary, value in with_values)
    fields = columns(Summary, {"case": CASE, "candidate": CANDIDATE})
    return Table("summaries", [*fields, "value REAL", "low REAL", "high REAL"], rows, "case_id, candidate")


def comparison_table(view: CampaignView, places: Mapping[str, int]) -> Table:
    """Return the comparisons, those of the A/A control marked as such."""
    parts = ((False, view.verdict.comparisons), (True, view.verdict.control))
    rows = (
        convert_row((places[comparison.case], *cells(comparison)[1:], control))
        for control, part in parts
        for comparison in part
    )
    other = "TEXT NOT NULL REFERENCES candidates"
    fields = columns(Comparison, {"case": CASE, "base": f"base {other}", "other": f"other {other}"})
    return Table("comparisons", [*fields, "control INTEGER NOT NULL"], rows, "case_id, base, other")


def finding_tables(view: CampaignView, places: Mapping[str, int]) -> Iterator[Table]:
    """Yield the findings, and the cases that each rests on."""
    fields = [name for name in Finding.__struct_fields__ if name != "cases"]
    findings = list(enumerate(view.verdict.findings, 1))
    rows = (convert_row((number, *(getattr(entry, name) for name in fields))) for number, entry in findings)
    yield Table("findings", ["id INTEGER PRIMARY KEY", *(f"{name} TEXT NOT NULL" for name in fields)], rows)
    pairs = ((number, places[key]) for number, entry in findings for key in dict.fromkeys(entry.cases))
    finding = "finding INTEGER NOT NULL REFERENCES findings"
    yield Table("finding_cases", [finding, CASE], pairs, "finding, case_id")


# --- from records and frames to SQL -----------------------------------------------------------------------------------


def make_record_table(
    name: str, kind: type[msgspec.Struct], records: Iterable[msgspec.Struct], texts: Mapping[str, str]
) -> Table:
    """Return a table of all fields of records. What has no name to refer to is null."""
    rows = (convert_row(value if value != "" else None for value in cells(record)) for record in records)
    return Table(name, columns(kind, texts), rows)


def columns(kind: type[msgspec.Struct], texts: Mapping[str, str] | None = None) -> list[str]:
    """Return the columns of a record's fields, some of them under other names."""
    hints = get_type_hints(kind)
    return [(texts or {}).get(name) or column(name, hints[name]) for name in kind.__struct_fields__]


def column(name: str, kind: object) -> str:
    """Return a column of the type of a value; what is no number is text, or JSON in text."""
    return f'"{name}" {TYPES.get(present(kind), "TEXT")}'


def list_columns(frame: pl.DataFrame) -> list[str]:
    """Return the columns of a frame."""
    return [column(name, kind.to_python()) for name, kind in frame.schema.items()]


def cells(record: msgspec.Struct, name: str = "", other: object = None) -> list[object]:
    """Return the fields of a record, one of them replaced."""
    return [other if field == name else getattr(record, field) for field in record.__struct_fields__]


def number_rows(frame: pl.DataFrame, places: Mapping[str, int]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a frame that begins with launch and case, the case as its number."""
    return ((launch, places[case], *rest) for launch, case, *rest in frame.iter_rows())


def convert_row(values: Iterable[object]) -> tuple[object, ...]:
    """Return values as SQLite takes them."""
    return tuple(map(convert_value, values))


def convert_value(value: object) -> object:
    """Return a value as SQLite takes it: what is not a number is null, what has parts is JSON."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, int):
        return value
    return render(value) if isinstance(value, str | Text) else msgspec.json.encode(value).decode()
