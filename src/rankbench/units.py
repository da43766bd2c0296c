"""Finding the units of a folder: every module in a package is one, so nothing has to list them a second time."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType


def lazily(name: str) -> ModuleType:
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
    return {name: module(package, name) for name in names(package)}


def names(package: ModuleType) -> list[str]:
    """Return the plain names of the modules directly inside a package, in alphabetical order, and import none."""
    return sorted(iter_module.name for iter_module in pkgutil.iter_modules(package.__path__))


def module(package: ModuleType, name: str) -> ModuleType:
    """Import one of them."""
    return importlib.import_module(f"{package.__name__}.{name}")


def suggestion(wrong: str, allowed: Iterable[str]) -> str:
    """Return the tail of an error line for a misspelt name: the nearest allowed one, then all that is allowed."""
    import difflib

    names = list(allowed)
    near = difflib.get_close_matches(wrong, names, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"{hint}(allowed: {', '.join(names)})"
