"""Views over the campaign's own files: `duckdb file.db < campaign.sql` makes a database that copies nothing.

The views name the files by their absolute path and read them anew whenever they are asked.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from rankbench.exports.writing import present, write_text
from rankbench.model import Campaign, Launch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import msgspec

    from rankbench.exports import EvaluatedCampaign

TITLE = "a script of views over the campaign's own files"
SUFFIX = ".sql"
PLACE = "file"
TYPES = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}
LISTS = ("candidates", "libraries", "operations")
"""Lists of the campaign's record that have a view each."""
DERIVED = ("summary", "comparisons")
"""Tables of the store that are there once the campaign was reported."""
TYPICAL = """
CREATE OR REPLACE VIEW figures AS
SELECT "case", candidate, block, launch, median(time_ns) AS median_ns, count(*) AS samples
FROM samples
WHERE NOT discarded AND NOT by_rank
GROUP BY ALL;

CREATE OR REPLACE VIEW typical AS
SELECT "case", candidate, median(median_ns) AS typical_ns, count(*) AS launches, sum(samples) AS samples
FROM figures
GROUP BY ALL
ORDER BY "case", typical_ns;
"""


def write(source: EvaluatedCampaign, path: Path) -> Iterator[Path]:
    """Write the script."""
    campaign = source.store.campaign
    yield write_text(path, script(source.store.folder.resolve(), campaign))


def script(folder: Path, campaign: Campaign) -> str:
    """Return the script for the campaign of a folder."""
    head = [
        f"-- Campaign {make_comment(campaign.name)}, measured by rankbench {campaign.rankbench}: views of its files.",
        "-- Make a database of them by `duckdb campaign.db < THIS`. Where the folder moves, export it again.",
    ]
    return "\n".join([*head, "", *(f"{view}\n" for view in list_views(folder)), TYPICAL.strip(), ""])


def list_views(folder: Path) -> Iterator[str]:
    """Yield the view of each kind of file. Of a launch that is not committed no row is seen."""
    record = select_json(folder / "campaign.json", Campaign)
    yield make_view("campaign", record)
    for name in LISTS:
        yield make_view(name, f"{record} SELECT unnest({name}, max_depth := 2)")
    yield make_view("launches", select_json(folder / "launches" / "*.json", Launch))
    for name, stored in (("outcomes", "cases"), ("samples", "samples")):
        yield make_view(name, f"{select_parquet(folder / stored / '*.parquet')} SEMI JOIN launches ON launch = number")
    for path in (folder / f"{name}.parquet" for name in DERIVED):
        if path.exists():
            yield make_view(path.stem, select_parquet(path))


def make_view(name: str, source: str) -> str:
    """Return the statement that makes a view. DuckDB takes FROM without SELECT as all of it."""
    return f"CREATE OR REPLACE VIEW {name} AS\nFROM {source};"


def select_parquet(path: Path) -> str:
    """Return what reads files of frames."""
    return f"read_parquet({quote_text(path)}, union_by_name = true)"


def select_json(path: Path, kind: type[msgspec.Struct]) -> str:
    """Return what reads files of a record."""
    sentence = ", ".join(f'"{name}": {quote_text(spelt)}' for name, spelt in fields(kind))
    return f"read_json({quote_text(path)}, columns = {{{sentence}}}, maximum_object_size = 1073741824)"


def fields(kind: type[msgspec.Struct]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a record with their types, by their names in files."""
    hints = get_type_hints(kind)
    names = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    return ((stored, name_type(hints[name])) for name, stored in names)


def name_type(kind: Any) -> str:
    """Return how DuckDB spells the type of a field."""
    kind = present(kind)
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (list, tuple):
        return f"{name_type(parts[0])}[]"
    if origin is dict:
        return f"MAP({name_type(parts[0])}, {name_type(parts[1])})"
    if origin is Literal or (isinstance(kind, type) and issubclass(kind, enum.Enum)):
        return "VARCHAR"
    return TYPES.get(kind) or f"STRUCT({join_fields(fields(kind))})"


def join_fields(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the fields of a struct."""
    return ", ".join(f'"{name}" {kind}' for name, kind in pairs)


def quote_text(value: Path | str) -> str:
    """Return a text as SQL spells it; the folders of a path mean themselves, whatever characters they have."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    plain = "".join(f"[{sign}]" if sign in "[*?" else sign for sign in str(value.parent))
    return quote_text(f"{plain}/{value.name}")


def make_comment(name: str) -> str:
    """Return a text in one line of a comment."""
    return " ".join(name.split())
