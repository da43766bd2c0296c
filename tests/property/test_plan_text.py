"""A plan that is written is read back equal, whatever its texts contain."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from rankbench import plan

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
values = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | texts,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(texts, children, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(texts, values, max_size=4))
def test_a_written_plan_is_read_back_equal(document: dict[str, object]) -> None:
    assert tomllib.loads(plan.write_toml(document)) == document
