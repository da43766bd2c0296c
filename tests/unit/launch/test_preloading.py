"""Which word of a launcher's command line is the program."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from wording import refuses

from rankbench.launch import preloading
from rankbench.model import RankbenchError


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tests run in a folder with two programs."""
    for name in ("solver", "other"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("mpiexec -n 8 ./solver input", "mpiexec -n 8 PRE ./solver input"),
        ("mpirun --mca pml ob1 -x A -np 2 ./solver -n 3", "mpirun --mca pml ob1 -x A -np 2 PRE ./solver -n 3"),
        ("mpiexec -genv I_MPI_DEBUG 5 -ppn 2 ./solver", "mpiexec -genv I_MPI_DEBUG 5 -ppn 2 PRE ./solver"),
        ("srun --mpi=pmix -N2 -n 4 ./solver", "srun --mpi=pmix -N2 -n 4 PRE ./solver"),
        ("srun -l --ntasks 4 ./solver ./other", "srun -l --ntasks 4 PRE ./solver ./other"),
        ("/opt/x/bin/mpiexec.hydra -n 2 -- ./solver", "/opt/x/bin/mpiexec.hydra -n 2 -- PRE ./solver"),
        ("mpiexec -n 1 ./solver a : -n 2 ./other b", "mpiexec -n 1 PRE ./solver a : -n 2 PRE ./other b"),
        ("mpirun --new-option value -n 2 ./solver", "mpirun --new-option value -n 2 PRE ./solver"),
        ("mpirun --new-flag ./solver input", "mpirun --new-flag PRE ./solver input"),
        ("mpirun --new-flag ./solver -n 2 input", "mpirun --new-flag PRE ./solver -n 2 input"),
        ("mpirun --new-flag ./solver : -n 2 ./other", "mpirun --new-flag PRE ./solver : -n 2 PRE ./other"),
        ("mpiexec -launcher-exec ./other -n 2 ./solver", "mpiexec -launcher-exec ./other -n 2 PRE ./solver"),
        ("mpiexec -genv A=B -n 2 -env C=D ./solver E=F", "mpiexec -genv A=B -n 2 -env C=D PRE ./solver E=F"),
        ("./solver input", "PRE ./solver input"),
    ],
)
def test_words_come_before_the_program(command: str, expected: str) -> None:
    assert preloading.insert_words(shlex.split(command), ["PRE"]) == shlex.split(expected)


@pytest.mark.parametrize("words", ["./other", "-n 2 ./other", "-n 2 ./other : -n 1 ./solver"])
def test_the_user_decides_where_two_words_can_be_the_program(words: str) -> None:
    command = ["mpirun", "--new-option", "./solver", *words.split()]
    with refuses():
        preloading.insert_words(command, ["PRE"])
    assert f"PRE ./other{words.partition('./other')[2]}" in shlex.join(
        preloading.insert_words(command, ["PRE"], "./other")
    )


@pytest.mark.parametrize("command", ["mpiexec -n 8", "mpiexec", "mpiexec -n 1 ./solver : -n 2"])
def test_a_command_without_a_program_is_refused(command: str) -> None:
    with pytest.raises(RankbenchError, match="no program in this command"):
        preloading.insert_words(shlex.split(command), ["PRE"])


def test_set_uid_and_missing_programs_are_refused(tmp_path: Path) -> None:
    (tmp_path / "solver").chmod(0o4755)
    (tmp_path / "other").chmod(0o644)
    for word, reason in (("./solver", "set-uid"), ("./other", "chmod"), ("./absent", "no such program")):
        with pytest.raises(RankbenchError, match=reason):
            preloading.require_preloadable(word)


@pytest.mark.parametrize("words", ["-wdir app", "--wdir=app", "--chdir app"])
def test_a_program_may_be_in_the_folder_that_the_launcher_changes_to(tmp_path: Path, words: str) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "solver").rename(tmp_path / "app" / "solver")
    command = shlex.split(f"mpiexec -n 2 {words} ./solver")
    assert preloading.require_preloadable("./solver", preloading.list_folders(command)) == Path("app/solver")
    with pytest.raises(RankbenchError, match="no such program"):
        preloading.require_preloadable("./solver")
