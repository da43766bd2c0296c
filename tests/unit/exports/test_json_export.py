"""The JSON document: what it holds, and that its published schema is true."""

from __future__ import annotations

import json as plain_json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import msgspec
import pytest
from fakes import campaigns

from rankbench.exports import EvaluatedCampaign
from rankbench.exports.formats import json
from rankbench.language import as_data
from rankbench.model import Campaign

if TYPE_CHECKING:
    from collections.abc import Callable

PUBLISHED = Path(__file__).parents[3] / "docs" / "reference" / "export.schema.json"
RENEW = (
    ".venv/bin/python -c 'from rankbench.exports.formats import json; print(json.schema(), end=\"\")' "
    "> docs/reference/export.schema.json"
)


def test_the_schema_is_current() -> None:
    assert PUBLISHED.read_text(encoding="utf-8") == json.schema(), f"make it again: {RENEW}"


def test_the_schema_is_one() -> None:
    schema = plain_json.loads(PUBLISHED.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    jsonschema.Draft202012Validator.check_schema(schema)


def document(measured: EvaluatedCampaign, folder: Path) -> Any:
    """Return what is written, which must be strict JSON and what the schema says."""
    (path,) = json.write(measured, folder / "x.json")
    text = path.read_text(encoding="utf-8")
    content = plain_json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    jsonschema.validate(content, plain_json.loads(json.schema()), cls=jsonschema.Draft202012Validator)
    assert msgspec.json.decode(msgspec.json.encode(content["campaign"]), type=Campaign) == measured.view.campaign
    assert content["verdict"] == plain_json.loads(msgspec.json.encode(as_data(measured.view.verdict)))
    return content


def test_it_holds_all_that_a_campaign_says(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    content = document(plain, tmp_path)
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
        }
    ]


def test_every_kind_of_case_is_what_the_schema_says(every_kind: EvaluatedCampaign, tmp_path: Path) -> None:
    assert len(document(every_kind, tmp_path)["values"]) == 2 * 12


def test_one_launch_is_enough(tmp_path: Path) -> None:
    """After one block no interval has an end."""
    measured = EvaluatedCampaign(campaigns.make_campaign(tmp_path / "one", launches=1, samples=10))
    content = document(measured, tmp_path)
    assert all("high" not in comparison for comparison in content["verdict"]["comparisons"])
    assert all(math.isinf(comparison.high) for comparison in measured.view.verdict.comparisons)


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
def test_the_schema_refuses_what_is_no_export(
    plain: EvaluatedCampaign, tmp_path: Path, spoil: Callable[[Any], object]
) -> None:
    content = document(plain, tmp_path)
    spoil(content)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, plain_json.loads(json.schema()))
