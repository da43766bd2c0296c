"""The list of submitted jobs, which may come from elsewhere with its campaign."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import scheduler
from wording import refuses

from rankbench.launch import job_commands, schedulers
from rankbench.model import RankbenchError

HOSTILE = ('1"; touch PWNED; echo "', "$(touch PWNED)", "-1", "--help", "", " 1", "1\n", "1 2", "../self")


@pytest.mark.parametrize("name", sorted(schedulers.find_schedulers()))
def test_the_last_submitted_job_is_read_back(tmp_path: Path, name: str) -> None:
    job_commands.remember(tmp_path, name, "1")
    job_commands.remember(tmp_path, name, scheduler.NUMBERS.get(name, scheduler.NUMBER))
    job = job_commands.read_last(tmp_path)
    assert job
    assert (job.scheduler, job.number) == (name, scheduler.NUMBERS.get(name, scheduler.NUMBER))


def test_a_campaign_without_jobs_has_no_last_job(tmp_path: Path) -> None:
    assert job_commands.read_last(tmp_path) is None


@pytest.mark.parametrize("name", sorted(schedulers.find_schedulers()))
@pytest.mark.parametrize("number", HOSTILE)
def test_a_number_that_no_scheduler_uses_is_refused(tmp_path: Path, name: str, number: str) -> None:
    job_commands.remember(tmp_path, name, scheduler.NUMBERS.get(name, scheduler.NUMBER))
    job_commands.remember(tmp_path, name, number)
    with pytest.raises(RankbenchError) as error:
        job_commands.read_last(tmp_path)
    title = schedulers.find_schedulers()[name].title
    assert (
        str(error.value) == f"{tmp_path}/submitted.jsonl:2: {number!r} is not a job number of {title}; remove this line"
    )


@pytest.mark.parametrize(
    "line",
    [b'{"scheduler":"slu', b'{"scheduler":"slurm","number":7,"at":""}', b'{"scheduler":"cobalt","number":"7","at":""}'],
)
def test_a_damaged_line_is_reported_with_its_place(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "submitted.jsonl").write_bytes(line + b"\n")
    with refuses():
        job_commands.read_last(tmp_path)


def test_bytes_that_are_not_utf_8_are_damage(tmp_path: Path) -> None:
    (tmp_path / "submitted.jsonl").write_bytes(b'{"scheduler":"\xff","number":"7","at":""}\n')
    with pytest.raises(RankbenchError, match=r"submitted\.jsonl:1: damaged"):
        job_commands.read_last(tmp_path)


@pytest.mark.parametrize("name", sorted(schedulers.find_schedulers()))
@pytest.mark.parametrize("number", HOSTILE[:2])
def test_no_scheduler_runs_a_number_as_shell_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, number: str
) -> None:
    for variable, value in scheduler.install(name, tmp_path / "commands").items():
        monkeypatch.setenv(variable, value)
    monkeypatch.chdir(tmp_path)
    facts = schedulers.find_schedulers()[name]
    for command in (facts.query, facts.cancel):
        job_commands.run_command([*command, number])
    assert not (tmp_path / "PWNED").exists()
