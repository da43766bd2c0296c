"""Findings, one file per kind. A module has `TITLE` and `find(view) -> Iterable[Finding]`; nothing lists them."""
