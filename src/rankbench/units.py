"""Finding the units of a folder: every module in a package is one, so nothing has to list them a second time."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterable
from types import ModuleType

LONG_LIST = 30
"""Names; more do not fit an error line."""


def load_lazily(name: str) -> ModuleType:
    """Return a module that is loaded when something of it is used for the first time."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def modules(package: ModuleType) -> dict[str, ModuleType]:
    """Import every module directly inside a package and return them by their plain names, in alphabetical order."""
    return {name: module(package, name) for name in list_names(package)}


def list_names(package: ModuleType) -> list[str]:
    """Return the plain names of the modules directly inside a package, in alphabetical order, and import none."""
    return sorted(entry.name for entry in pkgutil.iter_modules(package.__path__))


def module(package: ModuleType, name: str) -> ModuleType:
    """Import one of them."""
    return importlib.import_module(f"{package.__name__}.{name}")


def find_nearest(wrong: str, allowed: Iterable[str]) -> str:
    """Return the allowed name that is nearest to a misspelt one, nothing where none is near or it is allowed."""
    import difflib

    by_lower = {name.lower(): name for name in allowed}
    near = difflib.get_close_matches(wrong.lower(), by_lower, n=1)
    return by_lower[near[0]] if near and by_lower[near[0]] != wrong else ""


def suggestion(wrong: str, allowed: Iterable[str], command: str = "") -> str:
    """Return the tail of an error line for a misspelt name: the nearest allowed one, then all that are allowed.

    In place of a long list it names the `command` that prints it; without one, only the number of names where one of
    them is near.
    """
    import difflib

    names = list(allowed)
    by_lower = {name.lower(): name for name in names}
    near = difflib.get_close_matches(wrong.lower(), by_lower, n=1)
    rest = f"allowed: {', '.join(names)}"
    if len(names) > LONG_LIST and (command or near):
        rest = f"`{command}` lists them" if command else f"allowed: {len(names)} names"
    return f"; did you mean {by_lower[near[0]]}? ({rest})" if near else f" ({rest})"
