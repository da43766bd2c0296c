"""Help as users read it: groups, examples, readable types, at most 80 columns."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence

import pytest
from typer.testing import CliRunner
from wording import WORDING

from rankbench import cli, plan
from rankbench.cli.help_pages import GROUPS

WIDTH = 80


def read_help(words: Sequence[str]) -> str:
    answer = CliRunner().invoke(cli.application(), [*words], env={"COLUMNS": str(WIDTH)}, prog_name="rankbench")
    assert answer.exit_code == 0
    return answer.stdout


@pytest.mark.parametrize("name", ["", *cli.command_modules()])
def test_help_fits_eighty_columns_and_has_examples(name: str) -> None:
    text = read_help([name, "-h"] if name else ["-h"])
    assert [line for line in text.splitlines() if len(line) > WIDTH] == []
    assert "Examples:\n  rankbench " in text
    assert not re.search(r"<(bool|str|path|int|list)|…|\[\[", text, re.IGNORECASE)


def test_commands_are_in_groups() -> None:
    text = read_help(["-h"])
    titles = re.findall(r"^(\w[\w ]*):$", text, re.MULTILINE)
    assert titles == ["Options", *GROUPS, "Examples"]
    named = re.findall(r"^  (\w+) {2,}[A-Z]", text, re.MULTILINE)
    assert sorted(named) == sorted(cli.command_modules())


def test_a_usage_error_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.call(["shw"]) == 2
    assert capsys.readouterr().err == WORDING


def test_a_shell_completes_commands_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_RANKBENCH_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "rankbench show --th")
    assert cli.read_completed_words() == ["show", "--th"]


def test_the_plan_template_has_the_documented_keys() -> None:
    assert set(tomllib.loads(plan.read_template())) == {"question", "candidates", "operations", "sizes", "stop"}
