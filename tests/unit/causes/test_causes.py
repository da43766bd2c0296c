"""Causes of failed launches: every file is complete, and its recorded logs are explained by it and by no other."""

from __future__ import annotations

import re
import string
from pathlib import Path

import msgspec
import pytest
from wording import WORDING

from rankbench import causes
from rankbench.causes import Cause, RecordedLog
from rankbench.causes.telling_lines import choose_line
from rankbench.libraries.families import list_families

RECORDED = Path(__file__).parents[2] / "recorded"
CAUSES = causes.list_causes()
LOGS = [(name, log) for name, cause in CAUSES.items() for log in cause.log]
NAMES = [f"{name}-{number}" for name, cause in CAUSES.items() for number, _ in enumerate(cause.log, 1)]
WELL = [
    path
    for folder in ("libraries", "outputs")
    for path in sorted((RECORDED / folder).rglob("*"))
    if path.is_file() and path.suffix in {".txt", ".out"}
]
PLAIN = "one world of 2 ranks, data right\nrank 0 of 2\nrank 1 of 2\n"


def test_there_are_causes_of_every_kind() -> None:
    assert len(CAUSES) >= 40
    assert {library for cause in CAUSES.values() for library in cause.libraries} <= set(list_families())


@pytest.mark.parametrize("name", CAUSES)
def test_a_cause_is_complete(name: str) -> None:
    cause = CAUSES[name]
    assert cause.log, f"{name}: record the output of a launch that fails so"
    fields = {field for _, field, _, _ in string.Formatter().parse(cause.cause + cause.remedy) if field}
    assert fields <= set(re.compile(cause.pattern).groupindex)
    for sentence in (cause.cause, cause.remedy):
        assert sentence == sentence.strip(" .;")
    assert {log.library for log in cause.log} <= {"", *(cause.libraries or list_families())}


@pytest.mark.parametrize(("name", "log"), LOGS, ids=NAMES)
def test_a_recorded_log_is_explained_by_its_cause(name: str, log: RecordedLog) -> None:
    """With its family and without: causes that it shows as well come later."""
    cause = CAUSES[name]
    assert cause.explain(log.output) == log.expected
    also = {other for other, shown in CAUSES.items() if other != name and shown.explain(log.output)}
    assert not [other for other in also if CAUSES[other].precedence <= cause.precedence]
    assert causes.explain(log.output) == causes.explain(log.output, log.library) == log.expected


@pytest.mark.parametrize("log", [log for name, log in LOGS if log.library == "openmpi" and name != "openmpi-shm-full"])
def test_a_warning_of_launches_that_work_hides_no_cause(log: RecordedLog) -> None:
    warning = CAUSES["openmpi-shm-full"].log[0].output
    assert causes.explain(warning + log.output, "openmpi") == log.expected


@pytest.mark.parametrize(("name", "log"), LOGS, ids=NAMES)
def test_without_causes_the_line_that_helps_is_chosen(name: str, log: RecordedLog) -> None:
    assert log.words in choose_line(log.output)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("openmpi-4-mpi-init", "An error occurred in MPI_Init"),
        ("openmpi-5-mpi-init", "An error occurred in MPI_Init"),
        ("openmpi-4-daemon", "An ORTE daemon has unexpectedly failed after launch"),
        ("intel-mpi-segv", "KILLED BY SIGNAL"),
        ("mpich-5-segv", "Segmentation fault (signal 11)"),
        ("openmpi-5-segv", "signal 11 (Segmentation fault)"),
        ("openmpi-5-abort", "signal 6 (Aborted)"),
        ("srun-segv", "task 1: Segmentation fault"),
        ("mvapich2-segv", "Segmentation fault"),
    ],
)
def test_a_log_without_a_known_cause_has_a_line_that_says_most(name: str, words: str) -> None:
    log = (RECORDED / "endings" / f"{name}.txt").read_text("utf-8")
    assert causes.explain(log) == ""
    assert words in choose_line(log)


@pytest.mark.parametrize("path", WELL, ids=lambda path: str(path.relative_to(RECORDED)))
def test_the_output_of_a_good_launch_shows_no_cause(path: Path) -> None:
    text = path.read_text("utf-8", errors="replace")
    assert [name for name, cause in CAUSES.items() if cause.explain(text)] == []


def test_a_launch_that_printed_results_shows_no_cause() -> None:
    assert causes.explain(PLAIN) == ""
    assert choose_line(PLAIN) == WORDING
    assert (causes.explain(""), choose_line(""), choose_line("\n-----\n====\n")) == ("", "", "")


def test_a_word_that_only_contains_another_says_nothing() -> None:
    """NWChem prints all its settings before it ends."""
    assert choose_line("hardfail    =     no\nARMCI Error: 0:adapt: negative proj\n") == (
        "ARMCI Error: 0:adapt: negative proj"
    )
    assert choose_line("unsignalled = no\nRuntimeError: mesh\n") == "RuntimeError: mesh"


def test_a_cause_of_other_libraries_is_left_out() -> None:
    (log,) = CAUSES["intel-mpi-root"].log
    assert (bool(causes.explain(log.output, "mpich")), causes.explain(log.output, "intel-mpi")) == (False, log.expected)


def test_a_field_over_several_lines_becomes_one_line() -> None:
    cause = Cause(pattern="lost (?P<what>(?s:.*)) end(?P<more> more)?", cause="{what}{more}", remedy="look", log=())
    assert cause.explain("lost a\n  b end") == "a b; look"


def test_a_cause_with_an_unknown_field_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="pattren"):
        msgspec.toml.decode("pattern = ''\ncause = ''\nremedy = ''\nlog = []\npattren = ''\n", type=Cause)
