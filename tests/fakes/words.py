"""Rendered texts: tests compare texts as readers see them."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from rankbench.language import Text, render
from rankbench.model import Record

Kind = TypeVar("Kind", bound="Record")


def render_texts(record: Kind) -> Kind:
    """Return a record whose texts are templates without fields."""
    texts = {name: getattr(record, name) for name in record.__struct_fields__}
    changed: dict[str, Any] = {name: Text(render(text)) for name, text in texts.items() if isinstance(text, Text)}
    return msgspec.structs.replace(record, **changed)
