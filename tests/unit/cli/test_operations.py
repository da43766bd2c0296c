"""The command `operations` over stand-in libraries: the list, and what each library lacks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import fakes
import msgspec
import pytest
from fakes.library import behave, make
from wording import WORDING, find_lines

from rankbench import cli, libraries
from rankbench.campaign import probing, selftest
from rankbench.cli.commands import operations as command
from rankbench.cli.display import console
from rankbench.model import Description, Library, Operation
from rankbench.report import catalogue

if TYPE_CHECKING:
    Command = Callable[..., tuple[int, str, str]]

BUILDING = "building the core with mpich-9.1; it is kept for later campaigns\n"
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "operations.md"


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the prefix of a stand-in library, the only one in reach, in a home of its own."""

    def make_search(home: Path, prefixes: tuple[Path, ...] = (), _modules: tuple[str, ...] = ()) -> libraries.Search:
        return libraries.Search(home=home, prefixes=tuple(prefixes), system=())

    monkeypatch.setenv("RANKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(libraries, "make_search", make_search)
    monkeypatch.setattr(console, "width", 100)
    return make(tmp_path / "library", "9.1")


@pytest.fixture
def run(prefix: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs the command: exit code, output without trailing blanks, and errors."""

    def run_command(*arguments: str, also: tuple[Path, ...] = ()) -> tuple[int, str, str]:
        prefixes = [word for path in (prefix, *also) for word in ("--prefix", str(path))]
        monkeypatch.setattr("sys.argv", ["rankbench", "operations", *arguments, *prefixes])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), "\n".join(line.rstrip() for line in out.splitlines()), err

    return run_command


def test_every_operation_option_datatype_and_start_is_listed(run: Command) -> None:
    code, out, _ = run("--no-probe", "--verbose")
    assert code == 0
    first_words = {line.split()[0] for line in out.splitlines() if line[:1].strip()}
    description = fakes.read_description()
    for named in (description.operations, description.datatypes, description.starts):
        assert {operation.name for operation in named} <= first_words
    assert set(catalogue.options(description)) <= first_words
    assert {operation.kind for operation in description.operations} <= first_words


@pytest.mark.parametrize("width", [80, 100])
def test_the_list_is_as_wide_as_the_terminal(run: Command, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setattr(console, "width", width)
    _, out, _ = run("--no-probe")
    assert max(map(len, out.splitlines())) <= width


def test_an_operation_has_its_forms_datatypes_start_and_options(run: Command) -> None:
    _, out, _ = run("--no-probe", "-v")
    lines = out.splitlines()
    (place,) = (place for place, line in enumerate(lines) if line.startswith("allreduce "))
    assert lines[place + 1 : place + 4] == WORDING


def test_one_operation_is_described_in_full(run: Command) -> None:
    code, out, _ = run("gather")
    assert code == 0
    for part in ("each rank  ", "measured ", "arrival "):
        assert find_lines(out, part) == WORDING
    assert out.splitlines()[-1] == WORDING


def test_an_operation_is_described_before_the_core_is_built_with_every_library(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[str, str]] = []
    print_one, probe = command.show_one, probing.probe_library

    def note_operation(operation: Operation, description: Description) -> None:
        shown.append(("shown", operation.name))
        print_one(operation, description)

    def note_library(library: Library, home: Path, show: Callable[[str], None]) -> probing.Probe:
        shown.append(("probed", library.name))
        return probe(library, home, show)

    monkeypatch.setattr(command, "show_one", note_operation)
    monkeypatch.setattr(probing, "probe_library", note_library)
    _, out, err = run("gather", "scan", also=(make(tmp_path / "other", "9.2"),))
    assert shown == [("shown", "gather"), ("shown", "scan"), ("probed", "mpich-9.1"), ("probed", "mpich-9.2")]
    assert find_lines(err, "building") == WORDING
    assert find_lines(out, "has every form") == WORDING


def test_an_unknown_operation_is_refused(run: Command) -> None:
    code, _, err = run("allreduec")
    assert code == 2
    assert err == WORDING
    assert "did you mean pingpong?" in run("PINGPONG")[2]


# --- libraries --------------------------------------------------------------------------------------------------------


def test_a_library_is_probed_once_and_this_is_reported(run: Command, tmp_path: Path) -> None:
    _, out, err = run()
    assert [err, out.splitlines()[-1]] == WORDING
    (path,) = (tmp_path / "home" / "builds").glob("*/probe.json")
    answers = json.loads(path.read_text())["answers"]
    assert len(answers) == sum(
        len(operation.forms) for operation in fakes.read_description().operations if operation.kind != "self-test"
    )
    assert answers[0] == {"operation": "accumulate", "form": "blocking", "status": "ok"}
    _, again, err = run()
    assert (again, err) == (out, "")


def test_calls_known_to_be_wrong_are_those_that_the_stored_probe_names(run: Command, tmp_path: Path) -> None:
    run()
    (path,) = (tmp_path / "home" / "builds").glob("*/probe.json")
    core = path.with_name("rankbench-core")
    assert probing.list_known_wrong(core) == []
    answers = json.loads(path.read_text())
    answers["answers"][0]["status"] = "wrong-data"
    path.write_text(json.dumps(answers))
    assert probing.list_known_wrong(core) == ["accumulate.blocking"]
    path.unlink()
    assert probing.list_known_wrong(core) == []


@pytest.mark.thorough
def test_an_unreadable_answer_is_probed_again(run: Command, tmp_path: Path) -> None:
    run()
    (path,) = (tmp_path / "home" / "builds").glob("*/probe.json")
    path.write_text('{"answers": [')
    _, _, err = run()
    assert err.startswith("probing the operations of mpich-9.1, ")
    assert json.loads(path.read_text())["answers"]


@pytest.mark.thorough
def test_missing_and_wrong_calls_of_libraries_are_listed_by_operation_and_in_summary(
    run: Command, prefix: Path, tmp_path: Path
) -> None:
    behave(prefix, lacking={"scan.persistent": "MPI_Scan_init", "scan.nonblocking": "MPI_Iscan"}, wrong=["gather.64"])
    other = make(tmp_path / "other", "9.2", lacking={"scan.persistent": "MPI_Scan_init"})
    _, out, _ = run("-v", also=(other,))
    lines = out.splitlines()
    scan = next(place for place, line in enumerate(lines) if line.startswith("scan  "))
    assert [line for line in lines[scan : scan + 8] if line.startswith("    not in")] == WORDING
    assert lines[-5:] == WORDING


def test_one_operation_lists_missing_and_wrong_calls_of_each_library(run: Command, prefix: Path) -> None:
    behave(prefix, lacking={"gather.persistent": "MPI_Gather_init"}, wrong=["gather.64"])
    _, out, _ = run("gather")
    assert out.splitlines()[-3:] == WORDING


def test_a_hung_call_is_named_and_the_other_calls_are_probed(
    run: Command, prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selftest, "PROBE_LIMIT_S", 0.5)
    behave(prefix, hang=["barrier.0"], wrong=["scan.64"])
    _, out, _ = run()
    assert out.splitlines()[-2:] == WORDING


@pytest.mark.thorough
def test_a_library_that_always_crashes_is_given_up(run: Command, prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "MOST_LAUNCHES", 2)
    behave(prefix, crash=["accumulate.64"])
    _, out, _ = run("accumulate", "allgather")
    assert [line for line in out.splitlines() if ": not tried" in line or "crashed" in line] == WORDING


@pytest.mark.thorough
def test_a_library_that_fails_is_reported_and_the_others_are_probed(run: Command, prefix: Path, tmp_path: Path) -> None:
    dead = make(tmp_path / "dead", "9.0", dead=True)
    _, out, err = run("gather", also=(dead,))
    assert out.splitlines()[-3:] == WORDING
    assert [line.split(",")[0] for line in err.splitlines() if "building" not in line] == [
        f"probing the operations of {library}" for library in ("mpich-9.1", "mpich-9.0")
    ]


def test_json_is_the_core_s_description(run: Command) -> None:
    _, out, err = run("--format", "json")
    assert (json.loads(out), err) == (msgspec.to_builtins(fakes.read_description()), BUILDING)


def test_without_a_library_the_command_names_the_one_that_installs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rankbench.libraries.find", lambda _: [])
    monkeypatch.setattr("sys.argv", ["rankbench", "operations"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == WORDING


# --- the page ---------------------------------------------------------------------------------------------------------


def test_markdown_is_the_documented_page(run: Command) -> None:
    _, out, err = run("--format", "markdown")
    assert (out + "\n", err) == (catalogue.page(fakes.read_description()), BUILDING)


def test_the_page_in_docs_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == catalogue.page(fakes.read_description()), "stale: `make reference`"


def test_names_are_listed_by_kind_in_a_line_each(run: Command) -> None:
    _, out, _ = run("--no-probe")
    description = fakes.read_description()
    kinds = {operation.kind for operation in description.operations}
    lines = [line for line in out.splitlines() if line.split()[:1] and line.split()[0] in kinds]
    assert len(lines) == len(kinds)
    assert {operation.name for operation in description.operations} <= set(re.findall(r"[\w-]+", out))
    assert len(out.splitlines()) < len(description.operations)
