"""Whole runs of the command on stand-in libraries, each in a process of its own, as users start it."""

from __future__ import annotations

import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from importlib import metadata
from pathlib import Path

import pytest
from fakes import mark_thorough
from fakes.library import behave, make
from wording import WORDING, find_lines

from rankbench import store
from rankbench.cli.commands.run import again, continue_by_name
from rankbench.store import Store

PLAN = """
question = "Which of two stand-ins?"
candidates = ["mpich==9.1", "mpich==9.2"]
operations = ["allreduce", "bcast"]
sizes = "8,64"
samples = 20
[stop]
blocks = 3
"""
MAIN = "from rankbench.cli import main; main()"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with a plan and two libraries, the second slower by half."""
    (tmp_path / "plan.toml").write_text(PLAN)
    make(tmp_path / "9.1", "9.1")
    make(tmp_path / "9.2", "9.2", factor=1.5)
    return tmp_path


def start(place: Path, *options: str) -> subprocess.Popen[str]:
    """Start `rankbench run` in a process group of its own."""
    prefixes = ["--prefix", "9.1", "--prefix", "9.2"]
    return subprocess.Popen(
        [sys.executable, "-c", MAIN, "run", "plan.toml", *prefixes, "--seed", "5", *options],
        cwd=place,
        env=os.environ | {"RANKBENCH_HOME": str(place / "home"), "MARK": str(place)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # Under nohup it is ignored.
    )


def finish(place: Path, *options: str, code: int = 0) -> str:
    """Run the command to its end and return what it printed, less what others left in the machine's shared memory."""
    process = start(place, *options)
    text, _ = process.communicate()
    assert process.returncode == code, text
    return re.sub(r"note: \d+ segments? of shared memory .*\n", "", text)


def wait_for_launches(process: subprocess.Popen[str], place: Path, count: int) -> None:
    """Wait until so many launches are stored."""
    while len(list((place / "results/plan/launches").glob("*.json"))) < count:
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.01)


def list_processes(place: Path) -> list[str]:
    """Return the processes that a run in this folder started and that still run."""
    numbers = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            marked = f"MARK={place}\0".encode() in (folder / "environ").read_bytes()
            ended = (folder / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except OSError:
            continue
        if marked and not ended:
            numbers.append(folder.name)
    return numbers


def assert_sound(results: Store, blocks: int) -> None:
    """Assert one row per case, candidate and block, and each sample of the measured cases once."""
    rows = Counter(results.cases().select("block", "candidate", "case").iter_rows())
    names = [candidate.name for candidate in results.campaign.candidates]
    keys = [case.key for case in results.campaign.cases]
    assert rows == Counter((block, name, key) for block in range(1, blocks + 1) for name in names for key in keys)
    samples = Counter(results.samples().select("block", "candidate", "case", "index").collect().iter_rows())
    assert samples == Counter((*row, index) for row in rows for index in range(results.campaign.plan.sampling.good))


def read_end(text: str) -> list[str]:
    """Return the line that gives the reason for the end, without the time."""
    return [re.sub(r"\d+:\d\d", "TIME", line) for line in find_lines(text, ": done in ")]


def has_end(texts: list[str]) -> bool:
    """Return whether exactly one line gives the reason for the end."""
    end = re.compile(r"plan: done in \d+:\d\d \(3 blocks, 9 launches and 2 alone; the plan's 3 blocks are done\)")
    return sum(bool(end.fullmatch(line)) for line in texts) == 1


def test_a_run_reports_its_steps_its_result_and_the_next_command(place: Path) -> None:
    printed = re.sub(r"\d+\.\d s", "T s", finish(place)).splitlines()
    # Other programs of the machine may have left memory behind.
    texts = [line for line in printed if "of shared memory" not in line]
    assert sorted(texts[:2]) == WORDING
    assert texts[2] == "checking mpich-9.1, mpich-9.2"
    assert find_lines(texts, " of 3: ") == WORDING
    assert has_end(texts)
    assert texts[-1] == "next: rankbench report results/plan"
    results = store.open(place / "results/plan")
    assert_sound(results, blocks=3)
    assert results.campaign.seed == 5


@pytest.mark.thorough
def test_hosts_are_named_on_the_command_line(place: Path) -> None:
    text = PLAN.replace("sizes", 'hosts = ["m1"]\nplacements = ["nodes"]\nsizes').replace("blocks = 3", "blocks = 1")
    (place / "plan.toml").write_text(text)
    process = start(place, "--hosts", "n1,n2", "--remote-shell", "/rsh", "--binding", "none")
    sentence, _ = process.communicate()
    assert process.returncode == 0, sentence
    results = store.open(place / "results/plan")
    over = ["-launcher", "ssh", "-launcher-exec", "/rsh", "-hosts", "n1,n2", "-ppn", "1", "-n", "2", "-bind-to", "none"]
    assert [launch.command[1:13] for launch in results.launches()] == [over] * 3
    assert [rank.host for launch in results.launches() for rank in launch.ranks] == ["n1", "n2"] * 3
    assert set(results.cases()["status"]) == {"ok"}


@pytest.mark.thorough
def test_a_finished_campaign_is_not_run_again(place: Path) -> None:
    (place / "plan.toml").write_text(PLAN.replace("blocks = 3", "blocks = 1"))
    finish(place)
    before = {path: path.read_bytes() for path in (place / "results/plan").rglob("*.*")}
    text = finish(place)
    assert re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "THEN", text) == WORDING
    assert "is finished" in finish(place, "--dry-run")
    assert before == {path: path.read_bytes() for path in (place / "results/plan").rglob("*.*")}
    assert read_end(finish(place, "--new")) == WORDING


@pytest.mark.thorough
def test_the_command_printed_at_the_end_adds_blocks(place: Path) -> None:
    shutil.rmtree(place / "9.2")
    make(place / "9.2", "9.2", factor=1.02)
    text = finish(place)
    (advice,) = find_lines(text, "would decide about ")
    command = re.search(r": rankbench (.*) --more (\d+)$", advice)
    assert command
    options = ["run", "--continue", "plan", "--prefix", "9.1", "--prefix", "9.2"]
    assert (shlex.split(command[1]), int(command[2]) > 0) == (options, True)
    assert read_end(finish(place, "--more", "1")) == WORDING
    assert_sound(store.open(place / "results/plan"), blocks=4)
    assert "finished: 12 launches, 4 blocks" in finish(place)
    (place / "plan.toml").write_text(PLAN.replace("blocks = 3", "blocks = 5"))
    assert read_end(finish(place)) == WORDING
    assert store.open(place / "results/plan").campaign.plan.stop.past == [3, 4]


def test_the_command_that_continues_leaves_out_more_and_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["rankbench", "run", "plan.toml", "--more", "3", "--seed=5"])
    assert again("plan") == "rankbench run plan.toml --seed=5"
    monkeypatch.setattr("sys.argv", ["rankbench", "run", "plan.toml", "--new", "--more=3"])
    assert again("plan 2") == WORDING


def test_the_command_that_measures_more_names_the_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["mpich", "--blocks", "5", "--time=5s", "--prefix", "a b", "--sizes", "8", "--hosts=n1,n2", "--one-machine"]
    monkeypatch.setattr("sys.argv", ["rankbench", "run", *words, "-n"])
    assert again("mpich") == f"rankbench run {shlex.join(words)}"
    options = "--prefix 'a b' --hosts=n1,n2 --one-machine"
    assert continue_by_name(Path("results/mpich")) == f"rankbench run --continue results/mpich {options}"
    (tmp_path / "results/mpich").mkdir(parents=True)
    (tmp_path / "results/mpich/campaign.json").touch()
    assert continue_by_name(Path("results/mpich")) == f"rankbench run --continue mpich {options}"


@pytest.mark.thorough
def test_a_campaign_is_continued_by_its_name(place: Path) -> None:
    (place / "plan.toml").write_text(PLAN.replace("blocks = 3", "blocks = 1"))
    finish(place, "--name", "other")
    (place / "plan.toml").unlink()
    prefixes = ["--prefix", "9.1", "--prefix", "9.2"]
    process = subprocess.run(
        [sys.executable, "-c", MAIN, "run", "--continue", "other", "--more", "1", *prefixes],
        cwd=place, env=os.environ | {"RANKBENCH_HOME": str(place / "home")}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert find_lines(process.stdout, "continuing ") == WORDING
    assert_sound(store.open(place / "results/other"), blocks=2)


def test_more_blocks_of_a_missing_campaign_are_refused(place: Path) -> None:
    assert finish(place, "--more", "3", code=2) == WORDING
    assert finish(place, "--more", "3", "--new", code=2) == WORDING


def test_a_launch_with_wrong_data_is_not_ok(place: Path) -> None:
    (place / "plan.toml").write_text(PLAN.replace("blocks = 3", "blocks = 1"))
    behave(place / "9.2", wrong=["allreduce.8", "allreduce.64"])
    sentence = re.sub(r"\d+\.\d s", "T s", finish(place, code=1))
    assert find_lines(sentence, "of 1: 3 candidates") == WORDING
    assert sentence.count("of 1: mpich-9.2: allreduce.") == 2
    assert read_end(sentence) == WORDING
    output = subprocess.run(
        [sys.executable, "-c", MAIN, "status", "results/plan"], cwd=place, capture_output=True, text=True, check=True
    ).stdout
    assert [line.partition(";")[0] for line in find_lines(output, "1 planned")] == WORDING
    assert find_lines(output, "mpich-9.2 on socket") == WORDING
    rows = [line.split() for line in output.splitlines() if line.startswith("mpich-9.")]
    assert ["mpich-9.2", "socket", "1", "0", "1"] in rows


@pytest.mark.thorough
def test_a_candidate_that_does_not_start_is_a_failure(place: Path) -> None:
    (place / "plan.toml").write_text(PLAN.replace("blocks = 3", "blocks = 1"))
    behave(place / "9.2", dead=True)
    text = finish(place, code=1)
    assert find_lines(text, "note: mpich-9.2") == WORDING
    assert find_lines(text, "could not be measured") == WORDING


@pytest.mark.thorough
def test_one_candidate_is_not_compared(place: Path) -> None:
    (place / "plan.toml").write_text(PLAN.replace(', "mpich==9.2"', "").replace("blocks = 3", "blocks = 1"))
    assert finish(place).splitlines()[0] == WORDING


def test_failures_are_reported_immediately_and_at_the_end(place: Path) -> None:
    behave(place / "9.2", crash=["bcast.8"])
    texts = finish(place, code=1).splitlines()
    assert find_lines(texts, "1 of 3: mpich-9.2: bcast.") == WORDING
    assert texts.count("mpich-9.2: 1 case crashed") == 1
    assert not [line for line in texts if line.startswith("without values:")]


@pytest.mark.thorough
def test_failures_can_be_ignored(place: Path) -> None:
    behave(place / "9.2", crash=["bcast.8"])
    finish(place, "--ignore-failures")


@pytest.mark.parametrize("program", [["-c", MAIN], ["-m", "rankbench"]], ids=["command", "module"])
def test_the_version_is_printed(program: list[str]) -> None:
    process = subprocess.run([sys.executable, *program, "--version"], capture_output=True, text=True, check=True)
    assert process.stdout == f"rankbench {metadata.version('rankbench')}\n"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), mark_thorough(signal.SIGTERM, 143), mark_thorough(signal.SIGHUP, 129)]
)
def test_a_signal_ends_the_launch_and_prints_the_command_that_continues(
    place: Path, number: signal.Signals, code: int
) -> None:
    behave(place / "9.2", pause_s=0.2)
    process = start(place)
    wait_for_launches(process, place, 2)
    process.send_signal(number)
    text, _ = process.communicate()
    assert (process.returncode, "Traceback" in text) == (code, False), text
    assert text.splitlines()[-1] == WORDING
    assert list_processes(place) == []
    if number == signal.SIGTERM:  # Schedulers send it. The continued run does not know which signal it was.
        finish(place)
        assert_sound(store.open(place / "results/plan"), blocks=3)


@pytest.mark.parametrize("moment", range(6))
@pytest.mark.thorough
def test_kill_9_at_any_moment_loses_and_doubles_nothing(place: Path, moment: int) -> None:
    behave(place / "9.1", pause_s=0.02)
    chance = random.Random(moment)
    process = start(place)
    wait_for_launches(process, place, chance.randrange(8))
    time.sleep(chance.random() * 0.3)
    before = {path.name: path.read_bytes() for path in (place / "results/plan/launches").glob("*.json")}
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    while list_processes(place):
        time.sleep(0.02)
    finish(place)
    results = store.open(place / "results/plan")
    assert {name: (results.folder / "launches" / name).read_bytes() for name in before} == before
    assert [launch.number for launch in results.launches()] == list(range(1, 10))
    assert_sound(results, blocks=3)
