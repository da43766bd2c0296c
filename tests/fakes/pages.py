"""Reading the data of a report's page as its script does."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any


def read_part(page: str, name: str) -> Any:
    """Return the data packed in a page under a name."""
    match = re.search(rf'<script type="text/plain" id="part-{name}">(.*?)</script>', page, re.S)
    assert match is not None
    return json.loads(gzip.decompress(base64.b64decode(match[1])))


def read_book(page: str) -> dict[str, Any]:
    """Return the data of all cases that a page has before it draws."""
    match = re.search(r'<script type="application/json" id="book">(.*?)</script>', page, re.S)
    assert match is not None
    read: dict[str, Any] = json.loads(match[1])
    return read


def list_captions(page: str, kind: str) -> list[str]:
    """Return the captions of the tables of one kind."""
    return [table[0] for table in read_part(page, "tables")[kind]]
