"""Reads the transports that UCX reports with `UCX_LOG_LEVEL=info`; several libraries use UCX."""

from __future__ import annotations

import re

SETTINGS = {"UCX_LOG_LEVEL": "info"}
FILES = ("{etc}/ucx/ucx.conf", "/etc/ucx/ucx.conf", "~/ucx.conf", "{prefix}/lib*/ucx/*.so*")
"""Its configuration and its transports."""
CONFIGURED = re.compile(r"UCX +INFO .*?\b(self|intra-node|inter-node)? ?(?:cfg#\d+|ep_cfg\[\d+\]:?) tag\(([^)]*)\)")


def read_transports(text: str) -> str:
    """Return the transports of tagged messages, except of a rank to itself, as in `intra-node sysv/memory`."""
    matches = CONFIGURED.findall(text)
    parts = (f"{where} {transports}".strip() for where, transports in matches if where != "self")
    return "; ".join(dict.fromkeys(parts))
