"""The command `verify --clocks` over a stand-in library that streams a study of known truth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from fakes import library as fake
from fakes import study
from wording import WORDING, find_lines

from rankbench import cli

if TYPE_CHECKING:
    Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs the command: exit code, and what it printed on both streams."""
    monkeypatch.setenv("RANKBENCH_HOME", str(tmp_path / "home"))
    prefix = fake.make(tmp_path / "library", "9.9")

    def run_command(*arguments: str, **truth: Any) -> tuple[int, str, str]:
        fake.behave(prefix, study=study.encode_records(study.make_records(**truth)))
        words = ["verify", "mpich==9.9", "--clocks", "--prefix", str(prefix), *arguments]
        monkeypatch.setattr("sys.argv", ["rankbench", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return run_command


def test_sources_accuracy_cost_and_drift_are_reported(run: Command) -> None:
    code, out, _ = run("--ranks", "3")
    assert code == 0
    assert out == WORDING


def test_an_error_beyond_its_bound_is_a_failure_of_one_line_per_method(run: Command) -> None:
    code, out, _ = run(bound_ns=22.0)
    failed = [line for line in out.splitlines() if line.startswith("FAILED")]
    assert code == 1
    assert failed == WORDING


def test_only_bounds_are_shown_if_the_truth_is_not_known(run: Command) -> None:
    code, out, _ = run(truth_ns=None)
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert code == 0
    assert find_lines(lines, "tree at once") == WORDING
    assert find_lines(lines, "Synchronisation by") == WORDING


def test_clocks_that_differ_by_a_known_offset_are_reported(run: Command) -> None:
    _, out, _ = run(truth_ns=1e9)
    assert find_lines(out, "Synchronisation by") == WORDING


def test_each_source_has_its_own_tables(run: Command) -> None:
    _, out, _ = run(sources=("tsc", "MPI_Wtime"))
    assert [line.split(".")[0] for line in out.splitlines() if line.startswith("Synchronisation")] == [
        "Synchronisation by tsc",
        "Synchronisation by MPI_Wtime",
    ]


def test_the_study_can_be_written_as_json(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "clock.json"
    run("--format", "json", "--output", str(path), "--ranks", "3")
    (record,) = msgspec.json.decode(path.read_bytes())
    assert record["library"]["name"] == "mpich-9.9"
    assert {
        accuracy["synchronisation"]: accuracy["error_ns"]["max"] for accuracy in record["accuracies"]
    } == dict.fromkeys(study.METHODS, 24.0)
    assert len(record["study"]["offsets"]) == 3 * 4 * 3


def test_an_output_that_cannot_be_written_is_reported(run: Command, tmp_path: Path) -> None:
    code, _, err = run("--format", "json", "--output", str(tmp_path / "absent" / "clock.json"))
    assert (code, err) == (2, WORDING)


def test_an_interrupted_study_is_an_error(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    output = study.encode_records(study.make_records())
    monkeypatch.setattr(study, "encode_records", lambda _: output[: len(output) // 2])
    code, _, err = run()
    assert (code, err) == (2, WORDING)
