"""Reads the transports that UCX reports with `UCX_LOG_LEVEL=info`; several libraries use UCX."""

from __future__ import annotations

import re

SETTINGS = {"UCX_LOG_LEVEL": "info"}
FILES = ("{etc}/ucx/ucx.conf", "/etc/ucx/ucx.conf", "~/ucx.conf", "{prefix}/lib*/ucx/*.so*")
"""Its configuration and its transports."""
CONFIGURED = re.compile(r"UCX +INFO .*?\b(self|intra-node|inter-node)? ?(?:cfg#\d+|ep_cfg\[\d+\]:?) tag\(([^)]*)\)")

UNUSED = re.compile(r"UCX +WARN +unused environment variables?: (.+)")
NAME = re.compile(r"(UCX_\w+)(?: \(maybe: ([^)]+?)\??\))?")
UNAVAILABLE = re.compile(r"UCX +WARN +(transports?|network devices?) (.+?) (?:is|are) not available")


def list_ignored(text: str) -> list[str]:
    """Return a clause on each variable that UCX does not know, and on each transport or device that it lacks."""
    unknown = [
        f"{name} is unknown to UCX{f' (did you mean {near}?)' if near else ''}"
        for names in UNUSED.findall(text)
        for name, near in NAME.findall(names)
    ]
    lacking = [f"UCX has no {what} {names} here and uses others" for what, names in UNAVAILABLE.findall(text)]
    return list(dict.fromkeys([*unknown, *lacking]))


def read_transports(text: str) -> str:
    """Return the transports of tagged messages, except of a rank to itself, as in `intra-node sysv/memory`."""
    matches = CONFIGURED.findall(text)
    parts = (f"{where} {transports}".strip() for where, transports in matches if where != "self")
    return "; ".join(dict.fromkeys(parts))
