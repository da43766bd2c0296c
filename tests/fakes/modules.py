"""A stand-in for Environment Modules: a `module` for bash whose modulefiles are lines of bash."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

INIT = """\
module() {
    case $1 in
    purge) return 0 ;;
    -t) (cd "$MODULEPATH" && echo "$MODULEPATH:" && find . -type f | sort | sed 's,^[.]/,,; s,$, <L>,') >&2; return ;;
    esac
    shift
    local name
    for name; do
        if [ ! -f "$MODULEPATH/$name" ]; then
            echo "ERROR: Unable to locate a modulefile for '$name'" >&2
            return 1
        fi
        . "$MODULEPATH/$name" || return
        export LOADEDMODULES=${LOADEDMODULES:+$LOADEDMODULES:}$name
    done
}
"""


def use(monkeypatch: pytest.MonkeyPatch, home: Path, files: Mapping[str, str]) -> None:
    """Put a module system and modulefiles below a folder, and make them available to this process."""
    for name, text in {"init/bash": INIT, **{f"files/{name}": text for name, text in files.items()}}.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.delenv("LMOD_PKG", raising=False)
    monkeypatch.setenv("MODULESHOME", str(home))
    monkeypatch.setenv("MODULEPATH", str(home / "files"))
