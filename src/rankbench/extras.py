"""The extras of this package: the libraries that each adds to the base, and the command that installs it.

The base prepares plans, libraries and jobs. It needs neither Polars and SciPy, with which measurements are stored and
judged, nor what draws charts: together they take four times the room of everything else.
"""

from __future__ import annotations

import importlib.util
import json
import shlex
import sys
from pathlib import Path

from rankbench.model import RankbenchError

LIBRARIES = {"run": ("polars", "scipy"), "report": ("altair", "jinja2", "vl_convert")}
"""By the name of an extra, the modules that it brings. `report` includes `run`."""
INSTALLERS = {"pipx_metadata.json": "pipx install", "uv-receipt.toml": "uv tool install"}
"""By the file that each leaves in an environment that it makes: the command that installs into it."""


def has(extra: str) -> bool:
    """Return whether an extra's libraries are installed."""
    return all(importlib.util.find_spec(name) for name in LIBRARIES[extra])


def require(extra: str, what: str) -> None:
    """Raise RankbenchError if `what` needs an extra whose libraries are not installed."""
    for name in LIBRARIES[extra]:
        if not importlib.util.find_spec(name):
            raise RankbenchError(describe(extra, name, what))


def explain(error: ModuleNotFoundError, name: str) -> str:
    """Return how to install the module that a command lacks, nothing where no extra brings it.

    An extra that has a command's name has all that this command needs.
    """
    module = (error.name or "").partition(".")[0]
    owners = [extra for extra, modules in LIBRARIES.items() if module in modules]
    return describe(name if name in LIBRARIES else owners[0], module, f"`rankbench {name}`") if owners else ""


def describe(extra: str, module: str, what: str) -> str:
    """Return a line on what needs a module, and how to install the extra that brings it."""
    return f"{what} needs {module.replace('_', '-')}, which is not installed; install it by: {command(extra)}"


def command(extra: str) -> str:
    """Return the command that installs an extra from where this package came from, with what installed it."""
    wanted = f"{find_origin()}[{extra}]"
    for receipt, installer in INSTALLERS.items():
        if Path(sys.prefix, receipt).exists():
            return f"{installer} --force {shlex.quote(wanted)}"
    return f"{shlex.quote(sys.executable)} -m pip install {shlex.quote(wanted)}"


def find_origin() -> str:
    """Return the folder or the file that this package was installed from; its name if that was an index."""
    from importlib import metadata
    from urllib.parse import unquote

    record = json.loads(metadata.distribution("rankbench").read_text("direct_url.json") or "{}")
    return unquote(record.get("url", "rankbench")).removeprefix("file://")
