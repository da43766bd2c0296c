"""Every mistake that `rankbench run` can meet is reported in one line with a remedy, and the exit code shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import drop_line, make_machine
from fakes.library import behave, make

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
    assert refuse_run() == (
        "rankbench: no plan named; use a file (rankbench run plan.toml; `rankbench plan new` writes one), a preset "
        "(rankbench run --preset quick; `rankbench plan` lists them), or candidates and operations "
        "(rankbench run mpich openmpi --operations allreduce)"
    )


@pytest.mark.usefixtures("place")
def test_candidates_without_operations_are_refused(refuse_run: Refusal) -> None:
    assert refuse_run("mpich", "openmpi") == (
        "rankbench: --operations: missing; name what to measure, such as --operations allreduce,pingpong "
        "(`rankbench operations` lists them)"
    )
    assert refuse_run("mplan") == (
        "rankbench: mplan: no plan of this name, and no operations for a candidate of this name; add "
        "--operations allreduce,pingpong (`rankbench operations` lists them)"
    )
    assert refuse_run("demo") == "rankbench: demo: a preset; run it with --preset demo"


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--blocks", "0"], "--blocks 0: expected a number such as 5, or the fewest and the most such as 5:60"),
        (["--time", "9m", "--until", "decided"], "--time and --until both say when to stop; leave one of them out"),
        (["--preset", "quick", "plan.toml"], "name one plan: found plan.toml and --preset quick"),
        (["a.toml", "b.toml"], "name one plan; found a.toml and b.toml"),
        (
            ["--time", "3 parsecs"],
            "--time 3 parsecs: expected a time such as 0.5, 500ms, 30s, 2m, 1h, 02:00:00 or 1-12:00:00",
        ),
        (["--sizes", "64K:8"], '--sizes: 64K is larger than 8: write "8:64K"'),
        (
            ["--threshold", "3"],
            '--threshold: found "3", expected a share such as "3%" or 0.03, below 100%; did you mean "3%"?',
        ),
    ],
)
def test_wrong_options_of_a_plan_are_refused(refuse_run: Refusal, options: list[str], line: str) -> None:
    words = [] if "--preset" in options or "a.toml" in options else ["mpich", "--operations", "bcast"]
    assert refuse_run(*words, *options) == f"rankbench: {line}"


@pytest.mark.usefixtures("place")
def test_a_missing_plan_is_refused(refuse_run: Refusal) -> None:
    assert refuse_run("plan.toml") == f"rankbench: plan.toml: no such plan; presets: {PRESETS}"
    Path("first.toml").touch()
    assert refuse_run("frist.toml") == "rankbench: frist.toml: no such plan; did you mean first.toml?"
    assert refuse_run("first") == "rankbench: first: no plan of this name; did you mean first.toml?"
    Path("results/x").mkdir(parents=True)
    Path("results/x/campaign.json").touch()
    assert refuse_run("results/x") == (
        "rankbench: results/x: the folder of a campaign; to continue it: rankbench run --continue results/x"
    )


@pytest.mark.usefixtures("place")
def test_a_misspelt_preset_is_refused(refuse_run: Refusal) -> None:
    assert refuse_run("--preset", "dmo") == f'rankbench: no preset "dmo"; did you mean demo? (allowed: {PRESETS})'


def test_an_unknown_key_is_refused(place: Path, refuse_run: Refusal) -> None:
    file = write_plan(place, PLAN.replace("blocks", "blocs"))
    assert refuse_run(file) == (
        "rankbench: plan.toml:7: stop.blocs: unknown key; did you mean blocks? (allowed: blocks, until, drop)"
    )


def test_operations_may_be_given_by_an_option_alone(place: Path, library: Path, refuse_run: Refusal) -> None:
    file = write_plan(place, PLAN.replace('operations = ["allreduce"]\n', ""))
    line = refuse_run(file, "--prefix", "library", "--operations", "alreduce")
    assert line.endswith('operations[0]: found "alreduce"; did you mean allreduce? (`rankbench operations` lists them)')


def test_a_misspelt_plan_is_suggested(place: Path, refuse_run: Refusal) -> None:
    write_plan(place, PLAN)
    assert refuse_run("plan.tml") == "rankbench: plan.tml: no such plan; did you mean plan.toml?"


def test_the_line_of_an_error_is_that_of_the_file_or_none(place: Path, refuse_run: Refusal) -> None:
    file = write_plan(place, PLAN.replace("sizes = 8", '\nsizes = "8:4"'))
    assert refuse_run(file).startswith("rankbench: plan.toml:5: sizes: ")
    assert refuse_run(file, "--blocks", "3").startswith("rankbench: plan.toml:5: sizes: ")
    assert refuse_run(file, "--hosts", "a").startswith("rankbench: plan.toml: sizes: ")


def test_zero_ranks_are_refused(place: Path, refuse_run: Refusal) -> None:
    file = write_plan(place, PLAN.replace("sizes = 8", 'placements = ["0x2"]'))
    assert refuse_run(file) == (
        'rankbench: plan.toml:4: placements[0]: found "0x2", which has no rank; '
        "both numbers of nodes x ranks per node are 1 or more"
    )


def test_a_misspelt_operation_is_refused(place: Path, library: Path, refuse_run: Refusal) -> None:
    file = write_plan(place, PLAN.replace("allreduce", "alreduce"))
    line = refuse_run(file, "--prefix", "library")
    assert line == (
        'rankbench: plan.toml:3: operations[0]: found "alreduce"; did you mean allreduce? '
        "(`rankbench operations` lists them)"
    )


def test_a_size_beyond_the_memory_is_refused(
    place: Path, library: Path, refuse_run: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "machine", lambda: make_machine(memory_bytes=1 << 30))
    file = write_plan(place, PLAN.replace("sizes = 8", 'sizes = "8,1G"'))
    assert refuse_run(file, "--prefix", "library") == (
        "rankbench: plan.toml:4: sizes: allreduce of 1 GiB on socket needs 4 GiB of buffers on a node, "
        "and 819.2 MiB (80% of its memory) may be used; sizes up to 204.8 MiB fit"
    )


def test_a_results_folder_that_cannot_be_written_is_refused(place: Path, library: Path, refuse_run: Refusal) -> None:
    (place / "results").write_text("a file")
    assert refuse_run(write_plan(place, PLAN), "--prefix", "library") == (
        "rankbench: results/plan: cannot be written (Not a directory); choose another place: --results DIR"
    )


def test_an_unknown_library_is_refused(place: Path, refuse_run: Refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankbench.libraries.find", lambda _: [])
    assert refuse_run(write_plan(place, PLAN)) == (
        "rankbench: mpich==9.1: no such library here (found: none); get it by: rankbench get mpich==9.1"
    )


def test_a_missing_compiler_is_refused(place: Path, library: Path, refuse_run: Refusal) -> None:
    wrapper = library / "bin/mpicc"
    wrapper.write_text(wrapper.read_text().replace("sh -Iinclude", "fakecc -Iinclude"))
    assert refuse_run(write_plan(place, PLAN), "--prefix", "library") == (
        f"rankbench: mpich-9.1: no C compiler behind {wrapper}: fakecc: not found; "
        "install gcc (Debian: apt-get install gcc libc6-dev)"
    )


def test_a_plan_without_a_working_candidate_is_refused(place: Path, library: Path, refuse_run: Refusal) -> None:
    behave(library, dead=True)
    assert refuse_run(write_plan(place, PLAN), "--prefix", "library", "--results", "deep/results") == (
        "rankbench: no candidate works here; mpich-9.1 on socket: exit code 1: fake core: set to be dead"
    )
    assert not (place / "deep").exists()


def test_another_plan_of_the_same_name_is_refused(
    place: Path, library: Path, refuse_run: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["rankbench", "run", write_plan(place, PLAN), "--prefix", "library"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    assert refuse_run(write_plan(place, PLAN.replace("samples = 5", "samples = 6")), "--prefix", "library") == (
        "rankbench: results/plan was started with another plan (samples differs); use --name NAME for another campaign"
    )


@pytest.mark.usefixtures("place")
def test_an_empty_host_name_is_refused(refuse_run: Refusal) -> None:
    assert refuse_run("--preset", "quick", "--hosts", "n1,,n2") == (
        'rankbench: --hosts[1]: found "", expected the name of a host'
    )
    assert refuse_run("--preset", "quick", "--binding", "socket") == (
        'rankbench: --binding: found "socket" (allowed: core, none)'
    )


def test_two_nodes_on_one_host_are_refused(place: Path, library: Path, refuse_run: Refusal) -> None:
    behave(library, hosts=["n1"])
    file = write_plan(place, PLAN.replace("sizes", 'placements = ["nodes"]\nsizes'))
    assert refuse_run(file, "--prefix", str(library), "--hosts", "n1,n2", "--remote-shell", "/rsh") == (
        "rankbench: no candidate works here; mpich-9.1 on nodes: not as asked: ranks 0 and 1 are on host n1, two nodes "
        "were asked for"
    )


def test_nodes_without_hosts_are_refused(place: Path, refuse_run: Refusal) -> None:
    file = write_plan(place, PLAN.replace("sizes", 'placements = ["nodes"]\nsizes'))
    assert refuse_run(file) == (
        "rankbench: plan.toml:4: placements: nothing is left of nodes: takes two hosts or more, none are named "
        "(hosts in the plan, or --hosts)"
    )


def test_a_misspelt_scheduler_is_refused(place: Path, refuse_run: Refusal) -> None:
    assert refuse_run(write_plan(place, PLAN + '[job]\nscheduler = "slrum"\n')).startswith(
        'rankbench: no scheduler "slrum"; did you mean slurm? (allowed: '
    )


WRONG = [
    ('placements = ["64x128"]', "placements: nothing is left of 64x128: takes 64 hosts, none are named (hosts in the "
     "plan, or --hosts)"),
    ('placements = ["sokets:2"]', 'placements[0]: found "sokets:2"; did you mean sockets:2?'),
    ('placements = ["0x2"]', 'placements[0]: found "0x2", which has no rank; both numbers of nodes x ranks per node '
     "are 1 or more"),
    ('blocks = "three"', 'stop.blocks: found "three", expected a whole number, or a table such as { min = 5, '
     "max = 60 }"),
    ("blocks = 1.5", "stop.blocks: found 1.5, expected a whole number, or a table such as { min = 5, max = 60 }"),
    ("blocks = { min = 9, max = 3 }", "stop.blocks: found max = 3 below min = 9"),
    ("confidence = 1", 'confidence: found 1, expected "90%", "95%" or "99%"'),
    ("confidence = 95", 'confidence: found 95, expected "90%", "95%" or "99%"; did you mean "95%"?'),
    ('hosts = "n1"', 'hosts: found "n1", expected names of hosts such as ["n1", "n2"], each once'),
    ('[calls]\n"allreduce 8" = -3', "calls.allreduce 8: found 'allreduce 8' = -3, expected a call such as `allreduce "
     "8: 1000`, `bcast.nonblocking 64K: 20`, `barrier: 5` or `allreduce 8-64: 60%`"),
    ('[job]\ntime = "2 parsecs"', 'job.time: found "2 parsecs", expected a time such as "30m", "2h", "02:00:00" '
     'or "1-12:00:00"'),
    ("samples = 0", "samples: found 0, expected a whole number, 1 to 100000000"),
    ('candidates = ["mpich", "mpich"]', 'candidates[1]: candidate "mpich" is listed twice; to compare settings, name '
     "one of them in a [[candidate]] table"),
]  # fmt: skip
"""Wrong lines of a plan, and the errors."""


def break_plan(line: str) -> str:
    """Return a plan with this line, which may replace another."""
    text = 'candidates = ["mpich"]\noperations = ["allreduce"]\nsizes = "8"\n'
    if line.startswith("candidates"):
        return text.replace('candidates = ["mpich"]', line)
    return f"{text}[stop]\n{line}\n" if line.startswith("blocks") else f"{text}{line}\n"


@pytest.mark.parametrize(("line", "answer"), WRONG)
def test_a_wrong_line_of_a_plan_is_refused(place: Path, refuse_run: Refusal, line: str, answer: str) -> None:
    refusal = refuse_run(write_plan(place, break_plan(line)), "--dry-run").removeprefix("rankbench: ")
    assert drop_line(refusal) == f"plan.toml: {answer}"


@pytest.mark.parametrize("line", ['sizes = "8"', "[sizes]\na = 1", "[stop]\n[stop]"])
def test_a_repeated_key_is_refused(place: Path, refuse_run: Refusal, line: str) -> None:
    text = break_plan(line)
    number = 1 + text[: text.rindex(line.split()[-1] if line.startswith("[stop]") else line.split()[0])].count("\n")
    assert refuse_run(write_plan(place, text)) == (
        f"rankbench: plan.toml:{number}: this key is set already; remove one of the two"
    )


def test_a_binary_file_is_no_plan(place: Path, refuse_run: Refusal) -> None:
    (place / "plan.toml").write_bytes('question = "?"'.encode("utf-16"))
    assert refuse_run("plan.toml") == "rankbench: plan.toml: cannot read the plan: not UTF-8 text"


def test_hosts_that_do_not_resolve_are_refused(place: Path, library: Path, refuse_run: Refusal) -> None:
    file = write_plan(place, PLAN.replace("sizes", 'placements = ["nodes"]\nsizes'))
    assert refuse_run(file, "--prefix", str(library), "--hosts", "a.invalid,b.invalid") == (
        "rankbench: plan.toml: hosts: the names a.invalid and b.invalid do not resolve here; fix hosts in the plan (or "
        "--hosts), or add to /etc/hosts"
    )


def test_variables_of_a_job_elsewhere_are_refused_before_a_launch(
    place: Path, library: Path, monkeypatch: pytest.MonkeyPatch, refuse_run: Refusal
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "4242")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-2]")
    (library / "bin/mpiexec").unlink()
    assert refuse_run(write_plan(place, PLAN), "--prefix", str(library)) == (
        "rankbench: SLURM_* variables of job 4242 are set here, but this host is not one of its nodes: "
        "unset them, or submit"
    )
    assert [path.name for path in place.iterdir() if path.name.startswith("rankbench")] == []


@pytest.mark.parametrize("further", [[], ["--dry-run"]])
def test_one_usable_cpu_is_the_reason_that_no_case_is_left(
    place: Path, library: Path, monkeypatch: pytest.MonkeyPatch, refuse_run: Refusal, further: list[str]
) -> None:
    monkeypatch.setattr(launch, "machine", lambda: make_machine(cores=1))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    text = PLAN.replace("allreduce", "pingpong")
    assert refuse_run(write_plan(place, text), "--prefix", str(library), *further) == (
        "rankbench: this process may use 1 of 2 CPUs (taskset, cgroup, container or srun -c 1): two ranks need two; "
        "to share one: --placements 1x2"
    )
