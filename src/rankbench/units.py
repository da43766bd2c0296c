"""Finding the units of a folder: every module in a package is one, so nothing has to list them a second time."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType


def modules(package: ModuleType) -> dict[str, ModuleType]:
    """Import every module directly inside a package and return them by their plain names, in alphabetical order."""
    return {name: module(package, name) for name in names(package)}


def names(package: ModuleType) -> list[str]:
    """Return the plain names of the modules directly inside a package, in alphabetical order, and import none."""
    return sorted(found.name for found in pkgutil.iter_modules(package.__path__))


def module(package: ModuleType, name: str) -> ModuleType:
    """Import one of them."""
    return importlib.import_module(f"{package.__name__}.{name}")


def suggestion(wrong: str, allowed: Iterable[str]) -> str:
    """Return the tail of an error line for a misspelt name: the nearest allowed one, then all that is allowed."""
    names = list(allowed)
    near = difflib.get_close_matches(wrong, names, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"{hint}(allowed: {', '.join(names)})"
