"""The extras of this package: the libraries that each adds to the base, and the command that installs it.

The base prepares plans, libraries and jobs. It needs neither Polars and SciPy, with which measurements are stored and
judged, nor what draws charts: together they take four times the room of everything else.
"""

from __future__ import annotations

import importlib.util

from rankbench.model import RankbenchError

LIBRARIES = {"run": ("polars", "scipy"), "report": ("altair", "jinja2", "vl_convert")}
"""By the name of an extra, the modules that it brings. `report` includes `run`."""


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
    """Return the command that installs an extra."""
    return f"pip install 'rankbench[{extra}]'"
