"""All that a campaign says as one JSON document: its record, the verdict, every launch's value, and values with units.

`docs/reference/export.schema.json` is its JSON Schema.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from rankbench import files
from rankbench.analysis.questions.view import CampaignView
from rankbench.exports import EvaluatedCampaign
from rankbench.exports.values import Value, list_values
from rankbench.language import NOTHING, as_data
from rankbench.model import Campaign, Record, Verdict

TITLE = "campaign, verdict, values and launch values in one document"
SUFFIX = ".json"
PLACE = "file"
TEXT = {"$ref": "#/$defs/Text"}
FIELDS = {
    "description": "Of the template: numbers, strings, lists of them; texts are objects of template, fields, text",
    "type": "object",
}
WORDED = {"template": {"type": "string"}, "fields": FIELDS, "text": {"type": "string"}}


class Figure(Record, frozen=True):
    """What the plan's estimator makes of one launch's samples of one case; times are bytes where memory is measured."""

    case: str
    candidate: str
    block: int
    launch: int
    figure_ns: float
    middle_ns: float
    """Their median."""
    skew_ns: float | None
    """How far apart ranks began, as measured; null where one rank alone measures."""
    skew_p90_ns: float | None
    bound_ns: float
    """How far two ranks' clocks may have differed at most."""
    error_ns: float
    """How far they likely differed."""
    uncertain: bool
    """Whether that is too much to judge the value."""
    few: bool
    """Whether too few rounds count to judge it."""


class Export(Record, frozen=True):
    """A campaign handed over. `docs/reference/formats.md` shows what the keys mean."""

    export: Literal[2]
    """Version of this layout."""
    campaign: Campaign
    verdict: Verdict
    """With the summaries and the comparisons. Keys of what is not known are left out."""
    values: list[Value]
    """The typical values as people read them."""
    figures: list[Figure]


def write(source: EvaluatedCampaign, path: Path) -> Iterator[Path]:
    """Write the document."""
    with files.write_atomically(path) as beside:
        beside.write_bytes(msgspec.json.format(msgspec.json.encode(as_data(export(source.view)))) + b"\n")
    yield path


def export(view: CampaignView) -> Export:
    """Return the record of the document."""
    rows = view.launch_values.select(Figure.__struct_fields__).to_dicts()
    return Export(
        export=2,
        campaign=view.campaign,
        verdict=view.verdict,
        values=list(list_values(view)),
        figures=msgspec.convert(rows, list[Figure]),
    )


def schema() -> str:
    """Return the JSON Schema of the document, as `docs/reference/export.schema.json` has it."""
    document = {"title": "What `rankbench export --format json` writes", **msgspec.json.schema(Export)}
    return msgspec.json.format(msgspec.json.encode(drop_non_finite(add_words(document)))).decode() + "\n"


def add_words(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with texts as `language.as_data` writes them."""
    definitions = {**schema["$defs"], "Text": {"title": "Text", "type": "object", "properties": WORDED}}
    definitions["Text"]["required"] = list(WORDED)
    for definition in definitions.values():
        if "description" in definition:  # Python removes the indentation of docstrings from 3.13 on.
            definition["description"] = inspect.cleandoc(definition["description"])
        properties = definition.get("properties", {})
        if properties.get("text") == TEXT:
            definition["properties"] = {**properties, **WORDED}
            definition["required"] = [*definition["required"], "template", "fields"]
    return {**schema, "$defs": fill_text_defaults(definitions)}


def fill_text_defaults(schema: Any) -> Any:
    """Return a schema whose defaults of texts have their words, too: none."""
    if isinstance(schema, dict):
        texts = {name: fill_text_defaults(value) for name, value in schema.items()}
        return (
            {**texts, "default": as_data(NOTHING)} if schema.get("default") == msgspec.to_builtins(NOTHING) else texts
        )
    return [fill_text_defaults(item) for item in schema] if isinstance(schema, list) else schema


def drop_non_finite(schema: Any) -> Any:
    """Return a schema without defaults that JSON cannot express: unknown values have no key."""
    if isinstance(schema, dict):
        entries = {key: value for key, value in schema.items() if key != "default" or not is_non_finite(value)}
        return {key: drop_non_finite(value) for key, value in entries.items()}
    return [drop_non_finite(value) for value in schema] if isinstance(schema, list) else schema


def is_non_finite(value: object) -> bool:
    """Return whether a value is a number that JSON cannot express."""
    return isinstance(value, float) and not math.isfinite(value)
