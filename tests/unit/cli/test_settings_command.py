"""The command `settings`: a summary by default, variables on demand."""

from __future__ import annotations

import pytest
from wording import WORDING

from rankbench.cli.commands import settings as command
from rankbench.model import Choice, Library, Variable

NAMES = {
    **{f"MPIR_CVAR_CH4_{number}": [] for number in range(40)},
    **{f"MPIR_CVAR_ODD{number}_X": [] for number in range(20)},
    "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": [Choice("auto", 0), Choice("ring", 1)],
}


@pytest.fixture(autouse=True)
def _library(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library("mpich-9.1", "mpich", "9.1", "prefix", "/opt", "/opt/bin/mpicc", "/opt/bin/mpiexec")
    listed = {name: Variable(name, f"About {name}.", "text", False, "auto", values) for name, values in NAMES.items()}
    monkeypatch.setattr("rankbench.libraries.choose", lambda *_: library)
    monkeypatch.setattr("rankbench.libraries.find", lambda *_: [library])
    monkeypatch.setattr(command, "variables", lambda *_: listed)


def test_a_library_with_many_variables_is_summarised(capsys: pytest.CaptureFixture[str]) -> None:
    command.settings("mpich")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == WORDING
    (counted,) = (line for line in lines if "by the beginning of the name" in line)
    assert counted == WORDING
    assert counted.endswith(" and 7 more groups.")
    assert lines[-1] == WORDING
    assert len(lines) < 10


def test_all_variables_are_listed_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    command.settings("mpich", every=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" ")[0] for line in lines[:-1]] == list(NAMES)
    command.settings("mpich", find="ch4_7")
    assert capsys.readouterr().out.splitlines()[:2] == ["MPIR_CVAR_CH4_7 = auto", "    About MPIR_CVAR_CH4_7."]
