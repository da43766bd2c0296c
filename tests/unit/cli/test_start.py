"""What the program imports before it knows which command is wanted, and that its help is nevertheless the commands'."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from rankbench import cli, evaluation
from rankbench.cli import decisions

if TYPE_CHECKING:
    from rankbench.store import Store

EXPENSIVE = ("altair", "jinja2", "msgspec", "numpy", "polars", "rankbench.model", "scipy", "vl_convert")


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_nothing_is_imported_for_what_needs_no_command(argument: str) -> None:
    code = (
        "import sys; from rankbench.cli import main; sys.argv = ['rankbench', sys.argv[1]]\n"
        "try: main()\n"
        f"except SystemExit: print('loaded:', [name for name in {EXPENSIVE} if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code, argument], capture_output=True, text=True).stdout
    assert "rankbench" in printed
    assert printed.splitlines()[-1] == "loaded: []"


def test_a_command_that_draws_nothing_does_not_load_what_draws() -> None:
    loaded = "'altair.vegalite' in sys.modules, 'scipy.stats' in sys.modules, 'jinja2' in sys.modules"
    code = f"import sys; from rankbench.cli.commands import show; print({loaded})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False False False\n"


def test_the_help_of_all_commands_is_that_of_each() -> None:
    texts = {command.name: command.help for command in cli.overview().registered_commands}
    imported = {command.name: command.callback.__doc__ for command in cli.application().registered_commands}
    assert texts == imported
    assert list(texts) == list(imported)


def test_a_command_without_a_docstring_is_an_error() -> None:
    with pytest.raises(SyntaxError, match="the command get has no ORDER, no GROUP, or no docstring"):
        cli.head("get", "ORDER = 1\n\ndef get() -> None:\n    pass\n")


def test_a_campaign_is_evaluated_once_until_a_launch_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    launches, views = [1], list[object]()
    opened = cast("Store", SimpleNamespace(launches=lambda: launches))

    def evaluate(_: Store) -> object:
        views.append(object())
        return views[-1]

    monkeypatch.setattr(evaluation, "evaluate", evaluate)
    assert decisions.evaluate_latest(opened) is decisions.evaluate_latest(opened)
    launches.append(2)
    assert decisions.evaluate_latest(opened) is decisions.evaluate_latest(opened)
    assert len(views) == 2
