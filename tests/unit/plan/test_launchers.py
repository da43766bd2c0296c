from __future__ import annotations

from pathlib import Path

import fakes
import pytest
from wording import WORDING, refuses

from rankbench.model import Plan, RankbenchError
from rankbench.plan.reading import parse_plan

PLAN = 'candidates = ["mpich"]\noperations = ["barrier"]\n'
PALS = "mpiexec -n {ranks} --ppn {per_node} {program}"
WORDS = ["mpiexec", "-n", "{ranks}", "--ppn", "{per_node}", "{program}"]


def read(text: str, job: dict[str, object] | None = None, file: str = "plan.toml", **over: object) -> Plan:
    return parse_plan(text, file, fakes.make_machine(), over, job)


def list_launchers(planned: Plan) -> list[list[str]]:
    return [spec.launcher for spec in planned.candidates]


def test_a_launcher_is_of_all_candidates_that_name_none() -> None:
    other = '[[candidate]]\nlibrary = "openmpi"\nlauncher = "srun --mpi=pmix \'{program}\'"\n'
    planned = read(f'launcher = "{PALS}"\n{PLAN}{other}')
    assert list_launchers(planned) == [WORDS, ["srun", "--mpi=pmix", "{program}"]]


def test_a_launcher_on_the_command_line_replaces_the_plans() -> None:
    assert list_launchers(read(f'launcher = "other {{program}}"\n{PLAN}', launcher=PALS)) == [WORDS]


def test_a_jobs_launcher_is_a_kind_or_a_command_and_precedes_the_plans() -> None:
    job = f'[job]\nnodes = 2\nlauncher = "{PALS}"\n'
    places = 'placements = ["2x1"]\n'
    planned = read(places + PLAN + job, job={})
    assert (list_launchers(planned), planned.placements[0].launcher) == ([WORDS], "mpiexec")
    planned = read(f'launcher = "{PALS}"\n' + places + PLAN + "[job]\nnodes = 2\n", job={"launcher": "srun"})
    assert (list_launchers(planned), planned.placements[0].launcher) == ([[]], "srun")
    assert list_launchers(read(PLAN + job)) == [[]]


@pytest.mark.parametrize(
    "text",
    [
        "srun",
        "mpiexec -n {ranks} {program",
        "mpiexec -n {} {program}",
        "mpiexec -n {rank} {program}",
        "mpiexec -n ${HOME} {program}",
        "mpiexec -n {ranks:>9} {program}",
        "mpiexec -n {ranks!r} {program}",
        "mpiexec -n {ranks}",
        "{program} -n {ranks}",
        "mpiexec {program} {program}",
        "sh -c 'exec {program}'",
        "mpiexec {program} x={program}",
        "mpiexec '{program}",
    ],
)
def test_a_launcher_that_cannot_work_is_refused_in_one_line(text: str) -> None:
    for where in (f'launcher = "{text}"\n{PLAN}', f'{PLAN}[[candidate]]\nlibrary = "openmpi"\nlauncher = "{text}"\n'):
        with pytest.raises(RankbenchError) as error:
            read(where)
        assert str(error.value) == WORDING
        assert "launcher: found" in str(error.value)
        assert "\n" not in str(error.value)


def test_a_job_names_its_kinds_of_launchers_in_the_refusal() -> None:
    with refuses():
        read(f'{PLAN}[job]\nlauncher = "jsrun"\n')


def test_candidates_of_one_library_may_differ_in_their_launchers() -> None:
    planned = read(f'{PLAN}[[candidate]]\nlibrary = "mpich"\nlauncher = "{PALS}"\n')
    assert list_launchers(planned) == [[], WORDS]


def test_a_wrap_names_files_beside_the_plan(tmp_path: Path) -> None:
    (tmp_path / "image.sif").touch()
    (tmp_path / "exec").touch()
    text = '[[candidate]]\nlibrary = "mpich"\nwrap = "apptainer exec -B ./a.b image.sif other.sif /x.y"\n'
    (spec,) = read(
        f'operations = ["barrier"]\ncompilers = ["gcc"]\n{text}', file=str(tmp_path / "plan.toml")
    ).candidates
    assert spec.wrap == ["apptainer", "exec", "-B", "./a.b", f"{tmp_path}/image.sif", "other.sif", "/x.y"]
    assert spec.compiler == ""


@pytest.mark.parametrize("key", ["compiler", "binary_of"])
def test_a_wrap_and_another_source_of_the_binary_are_refused(key: str) -> None:
    with refuses():
        read(f'{PLAN}[[candidate]]\nlibrary = "mpich"\nwrap = "nice"\n{key} = "x"\n')
