"""Values that are no numbers: each formatter has a text for them, and campaigns of one block can be shown whole."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import campaigns, mark_thorough, torus
from hypothesis import given
from hypothesis import strategies as st

from rankbench import quantities, units
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.measures import Measure
from rankbench.exports import EvaluatedCampaign, formats
from rankbench.language import QUANTITIES, render, say
from rankbench.report import html, latex, markdown, tables
from rankbench.store import Store

FORMATTERS = sorted(name for name in vars(quantities) if name.startswith("format_") and name != "format_size")
NUMBERS = st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf])
TEXTS = {"nan": "–", "inf": "∞", "-inf": "-∞"}


@pytest.mark.parametrize("name", FORMATTERS)
@given(value=NUMBERS)
def test_every_formatter_has_a_text_for_every_number(name: str, value: float) -> None:
    text = getattr(quantities, name)(value)
    assert text
    assert text == TEXTS.get(str(value), text)
    assert "nan" not in text
    assert "inf" not in text


@given(value=NUMBERS)
def test_texts_have_words_for_every_number(value: float) -> None:
    specs = [name for name in QUANTITIES if name not in {"size", "capital", "ordinal"}]
    # Of the largest numbers Python's own percentage is infinite.
    for spec in [*specs, ".2f", ".3g", *([] if 1e300 < abs(value) < math.inf else [".0%"])]:
        text = render(say(f"{{value:{spec}}}", value=value))
        assert text
        assert "nan" not in text
        assert "inf" not in text


@given(value=NUMBERS, moved=st.sampled_from([0.0, 1.0, 8e-6]))
@pytest.mark.parametrize("kind", ["time", "bandwidth", "rate", "memory"])
def test_every_measure_has_a_text_for_every_number(kind: str, value: float, moved: float) -> None:
    measure = Measure(kind, kind, moved)  # type: ignore[arg-type]
    for text in (measure.text(value), measure.format(value), measure.interval(value, value)):
        assert "nan" not in text
        assert "inf" not in text


def make_rings(folder: Path) -> Store:
    return torus.make_store(folder, ((1, 1), (1, 4)), launches=1, samples=20)


def make_one_length(folder: Path) -> Store:
    return torus.make_store(folder, ((1, 4),), launches=1, samples=1)


def make_lines(folder: Path) -> Store:
    return campaigns.make_campaign(folder, launches=1, samples=1)


@pytest.mark.parametrize("make_store", [make_rings, *map(mark_thorough, [make_one_length, make_lines])])
def test_a_campaign_of_one_block_can_be_shown_reported_and_exported(
    tmp_path: Path, make_store: Callable[[Path], Store]
) -> None:
    store = make_store(tmp_path / "made")
    view = evaluate(store)
    for kind in tables.kinds().values():
        for place in ("page", "text", "latex"):
            for table in tables.make_tables(place, kind, view):
                texts = [cell.text + cell.detail for row in table.rows for cell in row]
                assert not [text for text in texts if "nan" in text.split() or "inf" in text.split()]
        kind.frame(view)
    assert markdown(view)
    assert latex(view)
    assert "<html" in html(view)
    for name, export in units.modules(formats).items():
        assert list(export.write(EvaluatedCampaign(store), tmp_path / f"out{export.SUFFIX}")), name
