"""Every mistake that `rankbench run` can meet is reported in one line with a remedy, and the exit code shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import make_machine
from fakes.library import behave, make
from wording import WORDING

from rankbench import cli, launch, plan

PLAN = """
candidates = ["mpich==9.1"]
operations = ["allreduce"]
sizes = 8
samples = 5
[stop]
blocks = 1
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder to work in, with only the system's tools in reach."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RANKBENCH_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture
def library(place: Path) -> Path:
    return make(place / "library", "9.1")


class Refusal:
    """Calls the command line and returns its one line on standard error."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch = monkeypatch
        self.capsys = capsys

    def __call__(self, *arguments: str) -> str:
        self.monkeypatch.setattr("sys.argv", ["rankbench", "run", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == 2
        line = self.capsys.readouterr().err
        assert line.count("\n") == 1
        return line.rstrip("\n")


@pytest.fixture
def refuse_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refusal:
    return Refusal(monkeypatch, capsys)


def write_plan(place: Path, text: str) -> str:
    (place / "plan.toml").write_text(text)
    return "plan.toml"


PRESETS = ", ".join(plan.list_presets())


@pytest.mark.usefixtures("place")
def test_a_run_without_a_plan_is_refused(refuse_run: Refusal) -> None:
    assert refuse_run() == WORDING


@pytest.mark.usefixtures("place")
def test_candidates_without_operations_are_refused(refuse_run: Refusal) -> None:
    assert refuse_run("mpich", "openmpi") == WORDING
    assert refuse_run("mplan") == WORDING
    assert refuse_run("demo") == WORDING


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "options",
    [
        ["--blocks", "0"],
        ["--time", "9m", "--until", "decided or time 5m"],
        ["--preset", "quick", "plan.toml"],
        ["a.toml", "b.toml"],
        ["--time", "3 parsecs"],
        ["--sizes", "64K:8"],
        ["--threshold", "3"],
    ],
    ids=" ".join,
)
def test_wrong_options_of_a_plan_are_refused(refuse_run: Refusal, options: list[str]) -> None:
    words = [] if "--preset" in options or "a.toml" in options else ["mpich", "--operations", "bcast"]
    assert refuse_run(*words, *options) == WORDING


@pytest.mark.usefixtures("place")
def test_a_missing_plan_is_refused(refuse_run: Refusal) -> None:
    assert refuse_run("plan.toml").replace(PRESETS, "PRESETS") == WORDING
    Path("first.toml").touch()
    assert refuse_run("frist.toml") == WORDING
    assert refuse_run("first") == WORDING
    Path("results/x").mkdir(parents=True)
    Path("results/x/campaign.json").touch()
    assert refuse_run("results/x") == WORDING


@pytest.mark.usefixtures("place")
def test_a_misspelt_preset_is_refused(refuse_run: Refusal) -> None:
    assert refuse_run("--preset", "dmo").replace(PRESETS, "PRESETS") == WORDING


def test_an_unknown_key_is_refused(place: Path, refuse_run: Refusal) -> None:
    file = write_plan(place, PLAN.replace("blocks", "blocs"))
    assert refuse_run(file) == WORDING


def test_operations_may_be_given_by_an_option_alone(place: Path, library: Path, refuse_run: Refusal) -> None:
    file = write_plan(place, PLAN.replace('operations = ["allreduce"]\n', ""))
    line = refuse_run(file, "--prefix", "library", "--operations", "alreduce")
    assert line == WORDING


def test_a_misspelt_plan_is_suggested(place: Path, refuse_run: Refusal) -> None:
    write_plan(place, PLAN)
    assert refuse_run("plan.tml") == WORDING


def test_the_line_of_an_error_is_that_of_the_file_or_none(place: Path, refuse_run: Refusal) -> None:
    file = write_plan(place, PLAN.replace("sizes = 8", '\nsizes = "8:4"'))
    assert refuse_run(file).startswith("rankbench: plan.toml:5: sizes: ")
    assert refuse_run(file, "--blocks", "3").startswith("rankbench: plan.toml:5: sizes: ")
    assert refuse_run(file, "--hosts", "a").startswith("rankbench: plan.toml: sizes: ")


def test_zero_ranks_are_refused(place: Path, refuse_run: Refusal) -> None:
    file = write_plan(place, PLAN.replace("sizes = 8", 'placements = ["0x2"]'))
    assert refuse_run(file) == WORDING


def test_a_misspelt_operation_is_refused(place: Path, library: Path, refuse_run: Refusal) -> None:
    file = write_plan(place, PLAN.replace("allreduce", "alreduce"))
    assert refuse_run(file, "--prefix", "library") == WORDING


def test_a_size_beyond_the_memory_is_refused(
    place: Path, library: Path, refuse_run: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "machine", lambda: make_machine(memory_bytes=1 << 30))
    file = write_plan(place, PLAN.replace("sizes = 8", 'sizes = "8,1G"'))
    assert refuse_run(file, "--prefix", "library") == WORDING


def test_a_results_folder_that_cannot_be_written_is_refused(place: Path, library: Path, refuse_run: Refusal) -> None:
    (place / "results").write_text("a file")
    assert refuse_run(write_plan(place, PLAN), "--prefix", "library") == WORDING


def test_an_unknown_library_is_refused(place: Path, refuse_run: Refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankbench.libraries.find", lambda _: [])
    assert refuse_run(write_plan(place, PLAN)) == WORDING


def test_a_missing_compiler_is_refused(place: Path, library: Path, refuse_run: Refusal) -> None:
    wrapper = library / "bin/mpicc"
    wrapper.write_text(wrapper.read_text().replace("sh -Iinclude", "fakecc -Iinclude"))
    assert refuse_run(write_plan(place, PLAN), "--prefix", "library") == WORDING


def test_a_plan_without_a_working_candidate_is_refused(place: Path, library: Path, refuse_run: Refusal) -> None:
    behave(library, dead=True)
    assert refuse_run(write_plan(place, PLAN), "--prefix", "library", "--results", "deep/results") == WORDING
    assert not (place / "deep").exists()


def test_another_plan_of_the_same_name_is_refused(
    place: Path, library: Path, refuse_run: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["rankbench", "run", write_plan(place, PLAN), "--prefix", "library"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    assert refuse_run(write_plan(place, PLAN.replace("samples = 5", "samples = 6")), "--prefix", "library") == WORDING


@pytest.mark.usefixtures("place")
def test_an_empty_host_name_is_refused(refuse_run: Refusal) -> None:
    assert refuse_run("--preset", "quick", "--hosts", "n1,,n2") == WORDING
    assert refuse_run("--preset", "quick", "--binding", "socket") == WORDING


def test_two_nodes_on_one_host_are_refused(place: Path, library: Path, refuse_run: Refusal) -> None:
    behave(library, hosts=["n1"])
    file = write_plan(place, PLAN.replace("sizes", 'placements = ["nodes"]\nsizes'))
    assert refuse_run(file, "--prefix", str(library), "--hosts", "n1,n2", "--remote-shell", "/rsh") == WORDING


def test_nodes_without_hosts_are_refused(place: Path, refuse_run: Refusal) -> None:
    file = write_plan(place, PLAN.replace("sizes", 'placements = ["nodes"]\nsizes'))
    assert refuse_run(file) == WORDING


def test_a_misspelt_scheduler_is_refused(place: Path, refuse_run: Refusal) -> None:
    assert refuse_run(write_plan(place, PLAN + '[job]\nscheduler = "slrum"\n')) == WORDING


WRONG = [
    'placements = ["64x128"]',
    'placements = ["sokets:2"]',
    'placements = ["0x2"]',
    'blocks = "three"',
    "blocks = 1.5",
    "blocks = { min = 9, max = 3 }",
    "confidence = 1",
    "confidence = 95",
    'hosts = "n1"',
    '[calls]\n"allreduce 8" = -3',
    '[job]\ntime = "2 parsecs"',
    "samples = 0",
    'candidates = ["mpich", "mpich"]',
]
"""Wrong lines of a plan."""


def break_plan(line: str) -> str:
    """Return a plan with this line, which may replace another."""
    text = 'candidates = ["mpich"]\noperations = ["allreduce"]\nsizes = "8"\n'
    if line.startswith("candidates"):
        return text.replace('candidates = ["mpich"]', line)
    return f"{text}[stop]\n{line}\n" if line.startswith("blocks") else f"{text}{line}\n"


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_line_of_a_plan_is_refused(place: Path, refuse_run: Refusal, line: str) -> None:
    assert refuse_run(write_plan(place, break_plan(line)), "--dry-run") == WORDING


@pytest.mark.parametrize("line", ['sizes = "8"', "[sizes]\na = 1", "[stop]\n[stop]"])
def test_a_repeated_key_is_refused(place: Path, refuse_run: Refusal, line: str) -> None:
    assert refuse_run(write_plan(place, break_plan(line))) == WORDING


def test_a_binary_file_is_no_plan(place: Path, refuse_run: Refusal) -> None:
    (place / "plan.toml").write_bytes('question = "?"'.encode("utf-16"))
    assert refuse_run("plan.toml") == WORDING


def test_hosts_that_do_not_resolve_are_refused(place: Path, library: Path, refuse_run: Refusal) -> None:
    file = write_plan(place, PLAN.replace("sizes", 'placements = ["nodes"]\nsizes'))
    assert refuse_run(file, "--prefix", str(library), "--hosts", "a.invalid,b.invalid") == WORDING


def test_variables_of_a_job_elsewhere_are_refused_before_a_launch(
    place: Path, library: Path, monkeypatch: pytest.MonkeyPatch, refuse_run: Refusal
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "4242")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-2]")
    (library / "bin/mpiexec").unlink()
    assert refuse_run(write_plan(place, PLAN), "--prefix", str(library)) == WORDING
    assert [path.name for path in place.iterdir() if path.name.startswith("rankbench")] == []


@pytest.mark.parametrize("further", [[], ["--dry-run"]])
def test_one_usable_cpu_is_the_reason_that_no_case_is_left(
    place: Path, library: Path, monkeypatch: pytest.MonkeyPatch, refuse_run: Refusal, further: list[str]
) -> None:
    monkeypatch.setattr(launch, "machine", lambda: make_machine(cores=1))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    text = PLAN.replace("allreduce", "pingpong")
    assert refuse_run(write_plan(place, text), "--prefix", str(library), *further) == WORDING
