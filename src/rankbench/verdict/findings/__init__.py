"""Findings, one file per kind. A module has `TITLE` and `find(evidence) -> Iterable[Finding]`; nothing lists them."""
