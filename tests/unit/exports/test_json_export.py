"""The JSON document: its contents, and its published schema."""

from __future__ import annotations

import json as plain_json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from fakes import campaigns

from rankbench.exports import EvaluatedCampaign
from rankbench.exports.formats import json
from rankbench.language import as_data
from rankbench.model import Campaign

PUBLISHED = Path(__file__).parents[3] / "docs" / "reference" / "export.schema.json"
RENEW = (
    ".venv/bin/python -c 'from rankbench.exports.formats import json; print(json.schema(), end=\"\")' "
    "> docs/reference/export.schema.json"
)


def test_the_schema_is_current() -> None:
    assert PUBLISHED.read_text(encoding="utf-8") == json.schema(), f"make it again: {RENEW}"


def test_the_schema_is_a_valid_json_schema() -> None:
    schema = plain_json.loads(PUBLISHED.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    jsonschema.Draft202012Validator.check_schema(schema)


def write_document(measured: EvaluatedCampaign, folder: Path) -> Any:
    """Return the written document, which must be strict JSON and conform to the schema."""
    (path,) = json.write(measured, folder / "x.json")
    text = path.read_text(encoding="utf-8")
    content = plain_json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    jsonschema.validate(content, plain_json.loads(json.schema()), cls=jsonschema.Draft202012Validator)
    assert msgspec.json.decode(msgspec.json.encode(content["campaign"]), type=Campaign) == measured.view.campaign
    assert content["verdict"] == plain_json.loads(msgspec.json.encode(as_data(measured.view.verdict)))
    return content


def test_the_document_has_record_verdict_values_and_figures(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    content = write_document(plain, tmp_path)
    assert list(content) == ["export", "campaign", "verdict", "values", "figures"]
    assert content["export"] == 2
    assert len(content["figures"]) == plain.view.launch_values.height
    assert len(content["values"]) == len(plain.view.verdict.summaries)
    crashed = [value for value in content["values"] if value["value"] is None]
    assert crashed == [
        {
            "case": "barrier.blocking.0.byte.socket.window",
            "candidate": "beta",
            "unit": "ns",
            "value": None,
            "low": None,
            "high": None,
            "state": "",
        }
    ]


def test_every_kind_of_case_conforms_to_the_schema(every_kind: EvaluatedCampaign, tmp_path: Path) -> None:
    assert len(write_document(every_kind, tmp_path)["values"]) == 2 * 12


def test_a_campaign_of_one_launch_is_exported(tmp_path: Path) -> None:
    """After one block no interval has an end."""
    measured = EvaluatedCampaign(campaigns.make_campaign(tmp_path / "one", launches=1, samples=10))
    content = write_document(measured, tmp_path)
    assert all("high" not in comparison for comparison in content["verdict"]["comparisons"])
    assert all(math.isinf(comparison.high) for comparison in measured.view.verdict.comparisons)


@pytest.mark.costly
@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content.pop("figures"),
        lambda content: content.update(more=1),
        lambda content: content["values"][0].update(unit=3),
        lambda content: content["figures"][0].update(launch="first"),
        lambda content: content["campaign"].pop("machine"),
    ],
)
def test_the_schema_rejects_other_documents(
    plain: EvaluatedCampaign, tmp_path: Path, spoil: Callable[[Any], object]
) -> None:
    content = write_document(plain, tmp_path)
    spoil(content)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, plain_json.loads(json.schema()))
