"""Writes values as TOML: the only place where a plan's text is made, so that no value can change another key. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def write_toml(values: Mapping[str, Any]) -> str:
    """Return a document: keys first, a line each, then tables and lists of tables; tables within these are inline.

    Values are texts, numbers, booleans, dates, and lists and mappings of these.
    """
    keys = {key: value for key, value in values.items() if not isinstance(value, dict) and not _is_table_list(value)}
    blocks = [_write_lines(keys)]
    for key, value in values.items():
        if isinstance(value, dict):
            blocks.append(f"[{write_key(key)}]\n{_write_lines(value)}")
        elif _is_table_list(value):
            blocks += [f"[[{write_key(key)}]]\n{_write_lines(item)}" for item in value]
    return "\n".join(filter(None, blocks))


def write_key(key: str) -> str:
    """Return a key, quoted if necessary."""
    return key if BARE_KEY.fullmatch(key) else write_text(key)


def write_value(value: Any) -> str:
    """Return a value as it stands behind an equals sign."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{write_key(key)} = {write_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(write_value, value)) + "]"
    if isinstance(value, str):
        return write_text(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def write_text(text: str) -> str:
    """Return a text in quotes: as in JSON, but for DEL, which TOML does not allow, and bytes that are no UTF-8."""
    quoted = json.dumps(text, ensure_ascii=False).replace("\x7f", r"\u007f")
    return quoted.encode("utf-8", "replace").decode()


def _write_lines(values: Mapping[str, Any]) -> str:
    return "".join(f"{write_key(key)} = {write_value(value)}\n" for key, value in values.items())


def _is_table_list(value: object) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(item, dict) for item in value)
