"""Modules that the program imports before it knows its command, and the help, which needs no import of commands."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from fakes.campaigns import Truth, make_campaign

from rankbench import cli
from rankbench.analysis import evaluation
from rankbench.store import Store
from rankbench.workflows import decisions

EXPENSIVE = ("altair", "jinja2", "msgspec", "numpy", "polars", "rankbench.model", "scipy", "vl_convert")


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_version_and_help_import_no_expensive_module(argument: str) -> None:
    code = (
        "import sys; from rankbench.cli import main; sys.argv = ['rankbench', sys.argv[1]]\n"
        "try: main()\n"
        f"except SystemExit: print('loaded:', [name for name in {EXPENSIVE} if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code, argument], capture_output=True, text=True).stdout
    assert "rankbench" in printed
    assert printed.splitlines()[-1] == "loaded: []"


def test_ctrl_c_while_modules_are_imported_ends_the_program_silently() -> None:
    code = """
import os, signal, sys, time

class Interrupter:
    def find_spec(self, name, path, target=None):
        if name == "rankbench.cli":
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(10)

sys.meta_path.insert(0, Interrupter())
from rankbench.__main__ import main
main()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")


def test_commands_without_charts_do_not_import_chart_libraries() -> None:
    loaded = "'altair.vegalite' in sys.modules, 'scipy.stats' in sys.modules, 'jinja2' in sys.modules"
    code = f"import sys; from rankbench.cli.commands import show; print({loaded})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False False False\n"


def test_the_overview_has_the_help_of_each_command() -> None:
    """Read without imports; Python removes the indentation of docstrings from 3.13 on."""
    texts = {command.name: inspect.cleandoc(command.help or "") for command in cli.overview().registered_commands}
    imported = {command.name: inspect.getdoc(command.callback) for command in cli.application().registered_commands}
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


def measure_cpu_seconds(*words: str, home: Path) -> float:
    """Return the smallest CPU time, of three runs, of the program and all its processes; a busy machine adds to it."""
    code = "import sys; from rankbench.cli import main; sys.argv[0] = 'rankbench'; main()"
    times_s = []
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", code, *words],
            stdout=subprocess.DEVNULL,
            env={**os.environ, "RANKBENCH_HOME": str(home)},
        ) as process:
            _, state, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(state)
        assert process.returncode == 0
        times_s.append(used.ru_utime + used.ru_stime)
    return min(times_s)


ALLOWANCE = 3
"""Multiple of the CPU time on a quiet machine of 2024, for slow and busy ones."""


@pytest.mark.parametrize(("words", "most_s"), [(["--version"], 0.15), (["--help"], 0.15)])
def test_a_command_starts_with_little_cpu_time(words: list[str], most_s: float, tmp_path: Path) -> None:
    assert measure_cpu_seconds(*words, home=tmp_path) < ALLOWANCE * most_s


@pytest.mark.thorough
def test_an_evaluated_campaign_is_shown_with_little_cpu_time(tmp_path: Path) -> None:
    stored = make_campaign(tmp_path / "two", lambda *_: Truth(), launches=4, candidates=("alpha", "beta"))
    assert measure_cpu_seconds("show", str(stored.folder), home=tmp_path / "home") < ALLOWANCE * 1.0
    (file,) = (tmp_path / "home/cache/evaluations").iterdir()
    assert file.stat().st_size


def test_a_cached_evaluation_is_shown_without_modules_that_compute(tmp_path: Path) -> None:
    stored = make_campaign(tmp_path / "two", lambda *_: Truth(), launches=4, candidates=("alpha", "beta"))
    modules = ("scipy.special", "scipy.optimize", "altair", "jinja2", "rankbench.campaign")
    code = (
        "import sys; from rankbench.cli import main; sys.argv[0] = 'rankbench'\n"
        "try: main()\n"
        f"except SystemExit: print([name for name in {modules} if name in sys.modules])"
    )
    command = [sys.executable, "-c", code, "show", str(stored.folder)]
    environment = {**os.environ, "RANKBENCH_HOME": str(tmp_path / "home")}
    first, second = (
        subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.splitlines()
        for _ in range(2)
    )
    assert second[:-1] == first[:-1]
    assert "scipy.special" in first[-1]
    assert second[-1] == "[]"
