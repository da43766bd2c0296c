"""Foreign programs instead of the core: their paths, the library that they load, and the results of their launches."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import fakes
import msgspec
import pytest
from fakes import campaigns, imports, modules, shared_libraries, tool_outputs
from wording import WORDING, refuses

from rankbench import libraries
from rankbench.campaign import foreign
from rankbench.campaign.exit_causes import LaunchExit
from rankbench.campaign.foreign import Program
from rankbench.campaign.history import Turn
from rankbench.campaign.launching import LaunchRequest
from rankbench.foreign import Line, Text
from rankbench.foreign.running import RunRequest
from rankbench.foreign.tools import imb, osu
from rankbench.model import (
    Candidate,
    Case,
    CaseStatus,
    LaunchStatus,
    Library,
    Operation,
    Outcome,
    Placement,
    Plan,
    RankbenchError,
    SuiteSpec,
)
from rankbench.plan.reading import parse_plan

LATENCY = next(operation for operation in osu.OPERATIONS if operation.name == "osu-latency")
BARRIER = next(operation for operation in imb.OPERATIONS if operation.name == "imb-mpi1-barrier")
BCAST = next(operation for operation in imb.OPERATIONS if operation.name == "imb-mpi1-bcast")
CONFIGURE = """#!/bin/sh
[ -e "{hidden}/refuse" ] && exit 1
mkdir -p mpi/pt2pt
printf 'all:\\n\\t%s program.c -o mpi/pt2pt/osu_latency\\n' "${{1#CC=}}" > Makefile
echo "$@" >> "{hidden}/given"
"""


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LD_LIBRARY_PATH", "MPICH_CC"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return shared_libraries.make(tmp_path / "mpich", "4.3.2")


def make_plan(text: str = "") -> Plan:
    words = 'candidates = ["mpich"]\noperations = ["osu-latency"]\nsizes = "8,64"\nsamples = 50\n'
    return parse_plan(words + text, "plan.toml", fakes.make_machine())


def find_program(
    library: Library,
    home: Path,
    spec: SuiteSpec | None = None,
    operation: Operation = LATENCY,
    reach: Sequence[Library] = (),
) -> Program:
    return foreign.find_program(spec, operation, library, reach, home)


def read_refusal(library: Library, home: Path, spec: SuiteSpec | None = None, operation: Operation = LATENCY) -> str:
    with pytest.raises(RankbenchError) as error:
        find_program(library, home, spec, operation)
    return str(error.value)


# --- programs that can be run -----------------------------------------------------------------------------------------


def test_runnable_tools_name_program_and_arguments() -> None:
    assert list(foreign.find_tools()) == ["imb", "mpbench", "mpiperf", "osu", "skampi"]


def test_a_plan_that_names_a_tool_as_a_family_knows_its_benchmarks() -> None:
    described = foreign.add_operations(fakes.read_description(), make_plan())
    assert {operation.kind for operation in described.operations if operation.foreign} == {"osu"}
    description = fakes.read_description()
    assert described.operations[: len(description.operations)] == description.operations
    alone = msgspec.structs.replace(make_plan(), operations=["allreduce"])
    assert foreign.add_operations(description, alone) == description


def test_a_place_is_a_folder_or_a_tarball() -> None:
    assert foreign.spec("osu", "path", "/opt/osu") == SuiteSpec(name="osu", path="/opt/osu")
    assert foreign.spec("osu", "source", "osu.tgz") == SuiteSpec(name="osu", source="osu.tgz")


# --- where programs are -----------------------------------------------------------------------------------------------


def test_a_program_is_found_anywhere_below_its_folder(tmp_path: Path, library: Library) -> None:
    path = shared_libraries.link_program(library, tmp_path / "osu" / "c" / "mpi" / "pt2pt" / "osu_latency")
    (tmp_path / "osu" / "a" / "osu_latency").mkdir(parents=True)
    spec = SuiteSpec(name="osu", path=str(tmp_path / "osu"), arguments=["-W", "2"])
    assert find_program(library, tmp_path, spec) == Program(path, {}, LATENCY, ["-W", "2"], frozenset({"-i", "-m"}))


def test_a_folder_can_depend_on_the_library(tmp_path: Path, library: Library) -> None:
    path = shared_libraries.link_program(library, tmp_path / "mpich" / "4.3.2" / "mpich-4.3.2" / "osu_latency")
    spec = SuiteSpec(name="osu", path=f"{tmp_path}/{{family}}/{{version}}/{{library}}")
    assert find_program(library, tmp_path, spec).path == path


@pytest.mark.parametrize("text", ["{compiler}/bin", "{", "{0}", "{library.prefixes}"])
def test_unknown_words_in_braces_are_refused(tmp_path: Path, library: Library, text: str) -> None:
    assert read_refusal(library, tmp_path, SuiteSpec(name="osu", path=text)) == WORDING


def test_a_program_missing_in_its_folder_is_refused(tmp_path: Path, library: Library) -> None:
    assert read_refusal(library, tmp_path, SuiteSpec(name="osu", path=str(tmp_path / "osu"))) == WORDING


def test_a_program_of_a_library_behind_a_wrapping_command_is_refused(tmp_path: Path, library: Library) -> None:
    wrapped = msgspec.structs.replace(library, wrap=["apptainer"])
    assert read_refusal(wrapped, tmp_path, SuiteSpec(name="osu", path=str(tmp_path / "osu"))) == WORDING


def test_a_program_that_no_library_ships_is_refused(tmp_path: Path, library: Library) -> None:
    assert read_refusal(library, tmp_path, operation=BARRIER) == WORDING


def test_a_program_shipped_with_a_library_runs_with_others_of_the_same_abi(tmp_path: Path, library: Library) -> None:
    intel = shared_libraries.make(tmp_path / "intel", "2021.18")
    path = shared_libraries.link_program(intel, tmp_path / "intel" / "bin" / "IMB-MPI1")
    assert find_program(intel, tmp_path, None, BARRIER) == Program(path, {}, BARRIER, [])
    assert find_program(library, tmp_path, None, BARRIER, [library, intel]) == Program(
        path, {"LD_LIBRARY_PATH": f"{tmp_path}/mpich/lib"}, BARRIER, []
    )


def test_the_candidate_s_library_precedes_the_user_s_search_path(
    tmp_path: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    intel = shared_libraries.make(tmp_path / "intel", "2021.18")
    shared_libraries.link_program(intel, tmp_path / "intel" / "bin" / "IMB-MPI1")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/other")
    assert find_program(library, tmp_path, None, BARRIER, [intel]).environment == {
        "LD_LIBRARY_PATH": f"{tmp_path}/mpich/lib:/opt/other"
    }


def test_a_program_of_another_abi_is_refused(tmp_path: Path, library: Library) -> None:
    openmpi = shared_libraries.make(tmp_path / "openmpi", "5.0", soname="libmpi.so.40")
    shared_libraries.link_program(openmpi, tmp_path / "osu" / "osu_latency")
    assert read_refusal(library, tmp_path, SuiteSpec(name="osu", path=str(tmp_path / "osu"))) == WORDING


def test_a_program_fixed_to_its_own_library_is_refused(tmp_path: Path, library: Library) -> None:
    other = shared_libraries.make(tmp_path / "other", "3.4", tags="--disable-new-dtags")
    shared_libraries.link_program(other, tmp_path / "osu" / "osu_latency")
    assert read_refusal(library, tmp_path, SuiteSpec(name="osu", path=str(tmp_path / "osu"))) == WORDING


def test_a_program_not_linked_to_a_shared_library_is_refused(tmp_path: Path, library: Library) -> None:
    path = tmp_path / "osu" / "osu_latency"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    assert read_refusal(library, tmp_path, SuiteSpec(name="osu", path=str(path.parent))) == WORDING


# --- modules ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def module_folder(tmp_path: Path, library: Library, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two builds of a program, and with modules for them and for another library."""
    shared_libraries.link_program(library, tmp_path / "osu" / "osu_latency")
    other = shared_libraries.make(tmp_path / "other", "3.4")
    shared_libraries.link_program(other, tmp_path / "others" / "osu_latency")
    files = {
        "mpich/4.3": f'export MPI_HOME={tmp_path}/mpich PATH="{tmp_path}/mpich/bin:$PATH"\n',
        "cuda/12": 'export CUDA_HOME=/opt/cuda PATH="/opt/cuda/bin:$PATH"\n',
        "osu/7.4": f'export OSU_HOME={tmp_path}/osu PATH="{tmp_path}/osu:$PATH"\n',
        "osu/astray": f'export LD_LIBRARY_PATH={tmp_path}/other/lib PATH="{tmp_path}/others:$PATH"\n',
        "osu/bound": 'PATH="$MPI_HOME/../osu:$PATH"\n',
    }
    modules.use(monkeypatch, tmp_path / "modules", files)
    return tmp_path


def make_suite(*names: str) -> SuiteSpec:
    return SuiteSpec(name="osu", modules=list(names), arguments=["-W", "2"])


def test_a_program_is_found_on_the_path_of_its_modules(module_folder: Path, library: Library) -> None:
    program = find_program(library, module_folder, make_suite("cuda/12", "osu/7.4"))
    assert (program.path, program.arguments) == (module_folder / "osu" / "osu_latency", ["-W", "2"])
    assert program.environment == {
        "CUDA_HOME": "/opt/cuda",
        "OSU_HOME": f"{module_folder}/osu",
        "PATH": f"{module_folder}/osu:/opt/cuda/bin:{os.environ['PATH']}",
    }


def test_modules_of_a_program_are_loaded_after_those_of_the_library(module_folder: Path) -> None:
    (library,) = libraries.find(libraries.Search(home=module_folder, modules=("mpich/4.3",), system=()))
    program = find_program(library, module_folder, make_suite("osu/bound"))
    assert program.path == module_folder / "mpich" / ".." / "osu" / "osu_latency"
    assert program.environment["MPI_HOME"] == f"{module_folder}/mpich"


def test_the_candidate_s_library_precedes_that_of_a_module(module_folder: Path, library: Library) -> None:
    program = find_program(library, module_folder, make_suite("osu/astray"))
    assert program.path == module_folder / "others" / "osu_latency"
    assert program.environment["LD_LIBRARY_PATH"] == f"{module_folder}/mpich/lib:{module_folder}/other/lib"


def test_a_module_with_a_program_of_another_abi_is_refused(module_folder: Path) -> None:
    openmpi = shared_libraries.make(module_folder / "openmpi", "5.0", soname="libmpi.so.40")
    assert read_refusal(openmpi, module_folder, make_suite("osu/7.4")) == WORDING


@pytest.mark.parametrize(
    ("names", "text"), [(["cuda/12"], "cuda/12 puts"), (["cuda/12", "osu/7.4"], "cuda/12 osu/7.4 put")]
)
def test_modules_without_the_program_on_their_path_are_refused(
    module_folder: Path, library: Library, names: list[str], text: str
) -> None:
    (module_folder / "osu" / "osu_latency").unlink()
    assert read_refusal(library, module_folder, make_suite(*names)) == WORDING


def test_a_missing_module_is_refused(module_folder: Path, library: Library) -> None:
    assert read_refusal(library, module_folder, make_suite("osu/8")) == WORDING


# --- tarballs ---------------------------------------------------------------------------------------------------------


def write_tarball(path: Path, files: Mapping[str, str]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"osu-7.4/{name}")
            member.size, member.mode = len(text), 0o755
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


@pytest.fixture
def source(tmp_path: Path) -> SuiteSpec:
    """Return a tarball whose configure records its arguments, below `hidden`."""
    (tmp_path / "hidden").mkdir()
    files = {"configure": CONFIGURE.format(hidden=tmp_path / "hidden"), "program.c": shared_libraries.PROGRAM}
    return SuiteSpec(name="osu", source=str(write_tarball(tmp_path / "osu-7.4.tar.gz", files)))


def test_a_tarball_is_built_once_for_each_library(tmp_path: Path, library: Library, source: SuiteSpec) -> None:
    other = shared_libraries.make(tmp_path / "other", "3.4", tags="--disable-new-dtags")
    programs = [
        find_program(candidate_library, tmp_path / "home", source) for candidate_library in (library, other, library)
    ]
    assert programs[0] == programs[2]
    assert [program.environment for program in programs] == [{}, {}, {}]
    parts = [program.path.relative_to(tmp_path / "home" / "suites").parts for program in programs]
    assert [(part[0][:8], *part[1:]) for part in parts[:2]] == [
        ("osu-7.4-", name, "osu-7.4", "mpi", "pt2pt", "osu_latency") for name in ("mpich-4.3.2", "mpich-3.4")
    ]
    assert (tmp_path / "hidden" / "given").read_text() == f"CC={library.wrapper}\nCC={other.wrapper}\n"


def test_configure_gets_the_cxx_wrapper_if_there_is_one(tmp_path: Path, library: Library, source: SuiteSpec) -> None:
    cxx = Path(library.wrapper).with_name("mpicxx")
    cxx.symlink_to(library.wrapper)
    find_program(library, tmp_path / "home", source)
    assert (tmp_path / "hidden" / "given").read_text() == f"CC={library.wrapper} CXX={cxx}\n"


def test_a_changed_tarball_of_the_same_name_is_built_again(tmp_path: Path, library: Library, source: SuiteSpec) -> None:
    first = find_program(library, tmp_path / "home", source)
    files = {"configure": CONFIGURE.format(hidden=tmp_path / "hidden"), "program.c": f"{shared_libraries.PROGRAM}\n"}
    write_tarball(Path(source.source), files)
    assert find_program(library, tmp_path / "home", source).path != first.path


def test_a_failed_build_is_reported_and_repeated_in_the_next_run(
    tmp_path: Path, library: Library, source: SuiteSpec
) -> None:
    (tmp_path / "hidden" / "refuse").touch()
    message = read_refusal(library, tmp_path / "home", source)
    start = f"{source.source} for mpich-4.3.2: configure failed; see {tmp_path}/home/suites/osu-7.4-"
    assert message.startswith(start)
    assert message.endswith("/mpich-4.3.2/build.log")
    (tmp_path / "hidden" / "refuse").unlink()
    assert find_program(library, tmp_path / "home", source).path.exists()


def test_a_failed_make_is_reported(tmp_path: Path, library: Library) -> None:
    files = {"configure": CONFIGURE.format(hidden=tmp_path), "program.c": "no C\n"}
    spec = SuiteSpec(name="osu", source=str(write_tarball(tmp_path / "osu.tgz", files)))
    message = read_refusal(library, tmp_path / "home", spec)
    assert message.startswith(f"{tmp_path}/osu.tgz for mpich-4.3.2: make failed; see {tmp_path}/home/suites/osu")
    assert "program.c" in Path(message.rpartition("see ")[2]).read_text()


def test_a_build_without_the_program_is_refused(tmp_path: Path, library: Library, source: SuiteSpec) -> None:
    bandwidth = next(operation for operation in osu.OPERATIONS if operation.name == "osu-bw")
    assert read_refusal(library, tmp_path / "home", source, bandwidth) == WORDING


def test_a_missing_tarball_is_refused(tmp_path: Path, library: Library) -> None:
    spec = SuiteSpec(name="osu", source=str(tmp_path / "osu.tgz"))
    assert read_refusal(library, tmp_path, spec) == WORDING


def test_a_broken_tarball_is_refused(tmp_path: Path, library: Library) -> None:
    (tmp_path / "osu.tgz").write_bytes(b"no tarball")
    message = read_refusal(library, tmp_path, SuiteSpec(name="osu", source=str(tmp_path / "osu.tgz")))
    assert message == WORDING


def test_a_truncated_tarball_is_refused(tmp_path: Path, library: Library, source: SuiteSpec) -> None:
    path = Path(source.source)
    path.write_bytes(path.read_bytes()[:-40])
    assert read_refusal(library, tmp_path / "home", source) == WORDING


def test_a_tarball_without_configure_is_refused(tmp_path: Path, library: Library) -> None:
    path = write_tarball(tmp_path / "osu.tgz", {"Makefile": "all:\n"})
    assert read_refusal(library, tmp_path / "home", SuiteSpec(name="osu", source=str(path))) == WORDING


# --- programs of a plan -----------------------------------------------------------------------------------------------


def test_each_library_has_its_programs_or_a_reason(tmp_path: Path, library: Library) -> None:
    openmpi = shared_libraries.make(tmp_path / "openmpi", "5.0", soname="libmpi.so.40")
    path = shared_libraries.link_program(library, tmp_path / "osu" / "osu_latency")
    planned = make_plan(f'[suites.osu]\npath = "{tmp_path}/osu"\n')
    core = fakes.read_description().operations[0]
    programs, without = foreign.find_programs(planned, [core, LATENCY], [library, openmpi], [], tmp_path)
    assert programs == {("mpich-4.3.2", "osu-latency"): Program(path, {}, LATENCY, [], frozenset({"-i", "-m"}))}
    why = (
        f"osu_latency cannot run with {openmpi.name}: it is linked to libmpi.so.12, and {openmpi.name} has "
        "libmpi.so.40; build it for this library"
    )
    assert without == {(openmpi.name, "osu-latency"): why}
    assert foreign.list_refusals(without) == [f"{openmpi.name}: {why}"]


def test_a_reason_is_reported_once_for_all_its_candidates() -> None:
    without = {("a", "x"): "none", ("b", "x"): "none", ("a", "y"): "none", ("b", "y"): "other"}
    assert foreign.list_refusals(without) == ["a, b: none", "b: other"]


def test_a_plan_without_any_program_is_an_error(tmp_path: Path, library: Library) -> None:
    with refuses():
        foreign.find_programs(make_plan(), [LATENCY], [library], [], tmp_path)


def drop_absent(library: Library, home: Path, text: str, *, building: bool = True) -> tuple[set[str], list[str]]:
    """Return the names of the OSU benchmarks of a plan that remain, and the notes."""
    planned = parse_plan(
        f'candidates = ["mpich"]\nsuite = "osu"\nsizes = "8"\n{text}', "plan.toml", fakes.make_machine()
    )
    description = foreign.add_operations(fakes.read_description(), planned)
    search = foreign.Search([library], [], home)
    remaining, notes = foreign.drop_absent(description, planned, search, building=building)
    return {operation.name for operation in remaining.operations if operation.foreign}, notes


def test_all_benchmarks_of_a_tool_are_those_whose_programs_are_there(tmp_path: Path, library: Library) -> None:
    for name in ("osu_latency", "osu_mbw_mr"):
        shared_libraries.link_program(library, tmp_path / "osu" / name)
    place = f'[suites.osu]\npath = "{tmp_path}/osu"\n'
    names, notes = drop_absent(library, tmp_path, f'operations = ["all"]\n{place}')
    assert names == {"osu-latency", "osu-mbw_mr", "osu-mbw_mr-rate"}
    left_out = len(osu.OPERATIONS) - len(names)
    assert notes == [
        f"osu-allgather, osu-allgatherv, osu-allreduce and {left_out - 3} more: no candidate has the program; left out"
    ]
    named, notes = drop_absent(library, tmp_path, f'operations = ["latency", "bw"]\n{place}')
    assert ({"osu-latency", "osu-bw"} <= named, notes) == (True, [])


def test_all_benchmarks_remain_where_no_program_is_or_none_is_built(tmp_path: Path, library: Library) -> None:
    everything = {operation.name for operation in osu.OPERATIONS}
    empty = f'operations = ["all"]\n[suites.osu]\npath = "{tmp_path}/none"\n'
    assert drop_absent(library, tmp_path, empty) == (everything, [])
    tarball = f'operations = ["all"]\n[suites.osu]\nsource = "{tmp_path}/osu.tgz"\n'
    assert drop_absent(library, tmp_path, tarball, building=False) == (everything, [])


# --- launches ---------------------------------------------------------------------------------------------------------


def make_order(operation: Operation, sizes: Sequence[int], ranks: int = 2) -> LaunchRequest:
    """Return the order of a launch of one benchmark."""
    foreign_of = operation.foreign
    assert foreign_of
    cases = [
        Case(operation=operation.name, form=operation.form, size_bytes=size, datatype="byte", placement="socket",
             ranks=ranks, start=operation.start, suite=foreign_of.suite)
        for size in sizes
    ]  # fmt: skip
    return LaunchRequest(
        number=1,
        turn=Turn(1, "a", "socket", cases[0].launch_group),
        position=0,
        candidate=Candidate(name="a", library="a"),
        library=campaigns.make_library("a"),
        placement=Placement(name="socket", nodes=1, ranks_per_node=ranks, binding="none"),
        plan=make_plan(),
        binary=Path("core"),
        cases=cases,
    )


def make_program(operation: Operation, arguments: Sequence[str] = ()) -> Program:
    return Program(Path("/opt/bench/program"), {}, operation, list(arguments))


class LaunchEnding:
    """How launches of osu_latency end that print a text."""

    def __init__(self, folder: Path) -> None:
        self.output = folder / "output.log"

    def __call__(
        self,
        text: str,
        sizes: Sequence[int] = (8, 16, 32),
        *,
        exit_code: int | None = 0,
        operation: Operation = LATENCY,
        ranks: int = 2,
    ) -> LaunchExit:
        self.output.write_text(text)
        outcome = Outcome(exit_code=exit_code, hung=exit_code is None, duration_s=1.0)
        return foreign.classify(make_order(operation, sizes, ranks), operation, outcome, self.output, text)


@pytest.fixture
def end_launch(tmp_path: Path) -> LaunchEnding:
    return LaunchEnding(tmp_path)


COMPLETE_OUTPUT = imports.format_latencies((8, 1.5), (16, 2.5), (32, 3.5))
HALF_OUTPUT = imports.format_latencies((8, 1.5))


def list_results(ending: LaunchExit) -> list[tuple[int, str, list[float]]]:
    """Return size, status and samples of each result."""
    return [
        (result.case.size_bytes, str(result.status), result.own_series.time_ns if result.own_series else [])
        for result in ending.stream.results
    ]


def find_broken_size(ending: LaunchExit) -> int | None:
    """Return the size at which a launch ended."""
    return ending.stream.unfinished.size_bytes if ending.stream.unfinished else None


def test_the_command_has_the_program_s_arguments_and_those_of_the_plan(tmp_path: Path) -> None:
    launch_order = make_order(LATENCY, (64, 8))
    assert foreign.command(launch_order, make_program(LATENCY, ["-W", "2"]), tmp_path) == [
        "/opt/bench/program", "-i", "50", "-m", "8:64", "-W", "2"
    ]  # fmt: skip
    theirs = foreign.command(make_order(BCAST, (64, 8)), make_program(BCAST), tmp_path)
    assert theirs == [
        "/opt/bench/program",
        "Bcast",
        "-npmin",
        "2",
        "-iter",
        "50",
        "-time",
        "0.5",
        "-msglen",
        f"{tmp_path}/sizes.txt",
    ]
    assert (tmp_path / "sizes.txt").read_text() == "8\n64\n"


def test_a_successful_output_has_a_sample_for_each_size(end_launch: LaunchEnding) -> None:
    ending = end_launch(COMPLETE_OUTPUT)
    assert (ending.status, ending.reason) == (LaunchStatus.OK, "")
    assert list_results(ending) == [(8, "ok", [1500.0]), (16, "ok", [2500.0]), (32, "ok", [3500.0])]
    assert (ending.stream.complete, find_broken_size(ending), ending.stream.facts) == (True, None, None)


def test_sizes_that_were_not_requested_are_ignored(end_launch: LaunchEnding) -> None:
    assert list_results(end_launch(COMPLETE_OUTPUT, (16,))) == [(16, "ok", [2500.0])]


def test_a_size_that_the_program_does_not_measure_is_refused(end_launch: LaunchEnding) -> None:
    ending = end_launch(COMPLETE_OUTPUT, (8, 24))
    assert list_results(ending) == [(8, "ok", [1500.0]), (24, "refused", [])]
    assert ending.stream.results[1].reason == WORDING
    assert ending.status == LaunchStatus.OK


def test_a_refusal_names_the_first_measured_sizes(end_launch: LaunchEnding) -> None:
    many = imports.format_latencies(*((size, 1.5) for size in range(1, 20)))
    assert end_launch(many, (24,)).stream.results[0].reason == WORDING


def test_a_crash_in_mid_table_belongs_to_the_next_size(end_launch: LaunchEnding) -> None:
    ending = end_launch(HALF_OUTPUT + "Segmentation fault\n", (32, 8, 16), exit_code=139)
    assert (ending.status, ending.reason) == (LaunchStatus.CRASHED, "exit code 139 (SIGSEGV)")
    assert list_results(ending) == [(8, "ok", [1500.0])]
    assert (find_broken_size(ending), ending.stream.complete) == (16, False)


def test_an_incomplete_last_line_is_not_a_value(end_launch: LaunchEnding) -> None:
    ending = end_launch(f"{HALF_OUTPUT}16                      2", exit_code=-9)
    assert list_results(ending) == [(8, "ok", [1500.0])]
    assert find_broken_size(ending) == 16


def test_a_crash_before_the_first_value_belongs_to_the_first_size(end_launch: LaunchEnding) -> None:
    ending = end_launch("Fatal error in MPI_Init\n", (32, 8), exit_code=1)
    assert (ending.status, list_results(ending), find_broken_size(ending)) == (LaunchStatus.CRASHED, [], 8)


def test_a_crash_after_the_last_value_belongs_to_no_size(end_launch: LaunchEnding) -> None:
    ending = end_launch(COMPLETE_OUTPUT, exit_code=1)
    assert (ending.status, len(list_results(ending)), find_broken_size(ending)) == (LaunchStatus.CRASHED, 3, None)


def test_a_hang_keeps_the_sizes_before_it(end_launch: LaunchEnding) -> None:
    ending = end_launch(f"{HALF_OUTPUT}16 ", exit_code=None)
    assert (ending.status, ending.reason) == (LaunchStatus.HUNG, WORDING)
    assert (list_results(ending), find_broken_size(ending)) == ([(8, "ok", [1500.0])], 16)


def test_an_unreadable_output_is_a_crash(end_launch: LaunchEnding) -> None:
    bad = COMPLETE_OUTPUT.replace("2.50", "nan")
    ending = end_launch(bad)
    assert ending.status == LaunchStatus.CRASHED
    assert ending.reason == WORDING
    assert find_broken_size(ending) == 8


def test_a_truncated_output_of_a_successful_program_is_unreadable(end_launch: LaunchEnding) -> None:
    assert end_launch(COMPLETE_OUTPUT.rstrip("\n")).reason == WORDING


def test_an_empty_output_is_unreadable(end_launch: LaunchEnding) -> None:
    ending = end_launch("")
    assert (ending.status, ending.reason) == (LaunchStatus.CRASHED, WORDING)


def test_two_tables_are_refused_as_two_singletons(end_launch: LaunchEnding) -> None:
    ending = end_launch(COMPLETE_OUTPUT + COMPLETE_OUTPUT)
    assert (ending.status, ending.stream.results) == (LaunchStatus.REFUSED, [])
    assert ending.reason == WORDING


def test_the_table_of_another_benchmark_is_refused(end_launch: LaunchEnding) -> None:
    text = imports.format_osu(imports.BANDWIDTH, (8, 1.0))
    assert end_launch(text).reason == WORDING


PROCESSES = (tool_outputs.SAMPLES / "imb" / "IMB-MPI1.Barrier.txt").read_text()


def test_another_number_of_ranks_than_requested_is_refused(end_launch: LaunchEnding) -> None:
    assert "# #processes = 2 " in PROCESSES
    well = end_launch(PROCESSES, (0,), operation=BARRIER)
    assert (well.status, list_results(well)) == (LaunchStatus.OK, [(0, "ok", [300.0])])
    wrong = end_launch(PROCESSES, (0,), operation=BARRIER, ranks=4)
    assert (wrong.status, wrong.stream.results) == (LaunchStatus.REFUSED, [])
    assert wrong.reason == WORDING


MBW_MR = next(operation for operation in osu.OPERATIONS if operation.name == "osu-mbw_mr")
ONE_PAIR = (
    "# OSU MPI Multiple Bandwidth / Message Rate Test v5.7\n# [ pairs: 1 ] [ window size: 64 ]\n"
    "# Size                  MB/s        Messages/s\n8                      18.94        2367231.60\n"
)
"""Printed by osu_mbw_mr on two and on three ranks."""


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_last_of_an_odd_number_of_ranks_may_stay_out_of_pairs(end_launch: LaunchEnding, ranks: int) -> None:
    well = end_launch(ONE_PAIR, (8,), operation=MBW_MR, ranks=ranks)
    assert (well.status, [row.status for row in well.stream.results]) == (LaunchStatus.OK, [CaseStatus.OK])


@pytest.mark.parametrize("ranks", [4, 5])
def test_fewer_pairs_than_ranks_allow_are_refused(end_launch: LaunchEnding, ranks: int) -> None:
    ending = end_launch(ONE_PAIR, (8,), operation=MBW_MR, ranks=ranks)
    assert ending.status == LaunchStatus.REFUSED
    assert ending.reason == WORDING


REFUSALS = {
    "osu-5.7-exactly-two-openmpi": ("osu-bw", "This test requires exactly two processes"),
    "osu-5.7-exactly-two-mpich": ("osu-cas_latency", "This test requires exactly two processes"),
    "osu-5.7-at-least-two-mpich": ("osu-bcast", "This test requires at least two processes"),
    "osu-5.7-option-openmpi": ("osu-allreduce", "Invalid option [-T]"),
    "osu-5.7-option-mpich": ("osu-allreduce", "Invalid option [-T]"),
    "osu-7.4-nodes-mpich": (
        "osu-bw_fan_in",
        "[utils/osu_bw_fan_util.c:102] Error: 'Please run this benchmark on more than 1 node'",
    ),
    "mpiperf-benchmark-mpich": ("mpiperf-ibcast", "mpiperf: error: Unknown benchmark name"),
    "mpiperf-processes-mpich": ("mpiperf-bcast", "Number of processes is too small: 1"),
    "mpbench-usage-mpich": ("mpbench-latency", "/opt/bench/mpi_bench: invalid option -- 'q'"),
}
"""The benchmark and the reason of each recorded refusal."""
RECORDED_REFUSALS = Path(__file__).parents[2] / "recorded" / "refusals"


def find_operation(name: str) -> Operation:
    operations: list[Operation] = foreign.find_tools()[name.partition("-")[0]].OPERATIONS
    return next(operation for operation in operations if operation.name == name)


@pytest.mark.parametrize("path", sorted(RECORDED_REFUSALS.glob("*.txt")), ids=lambda path: path.stem)
@pytest.mark.parametrize("exit_code", [0, 1])
def test_a_program_that_refuses_to_run_has_not_crashed(end_launch: LaunchEnding, path: Path, exit_code: int) -> None:
    name, reason = REFUSALS[path.stem]
    ending = end_launch(path.read_text(), operation=find_operation(name), exit_code=exit_code)
    assert (ending.status, ending.reason, ending.stream.unfinished) == (LaunchStatus.OK, "", None)
    assert [(row.case.size_bytes, row.status, row.reason) for row in ending.stream.results] == [
        (size, CaseStatus.REFUSED, reason) for size in (8, 16, 32)
    ]


def test_a_grid_too_small_for_a_neighbourhood_is_a_refusal(end_launch: LaunchEnding) -> None:
    text = (tool_outputs.SAMPLES / "osu-7.4" / "osu_ineighbor_allgather.stderr").read_text()
    ending = end_launch(text, (8,), operation=find_operation("osu-ineighbor_allgather"), exit_code=0)
    assert [row.status for row in ending.stream.results] == [CaseStatus.REFUSED]
    assert ending.stream.results[0].reason == WORDING


def test_usage_without_a_reason_is_a_refusal(end_launch: LaunchEnding) -> None:
    text = (RECORDED_REFUSALS / "osu-5.7-option-openmpi.txt").read_text().replace("Invalid option [-T]", "")
    ending = end_launch(text.replace("osu_allreduce", "osu_latency"), (8,), exit_code=1)
    assert [(row.status, row.reason) for row in ending.stream.results] == [(CaseStatus.REFUSED, WORDING)]


@pytest.mark.parametrize(
    ("text", "exit_code"),
    [
        ("Usage: mpiexec [options]\n", 1),
        ("Fatal error in internal_Send: Invalid argument, error stack:\n", 15),
        ("This test requires exactly two processes\nSegmentation fault\n", 139),
        (imports.format_latencies((8, 1.5)) + "This test requires exactly two processes\n", 1),
    ],
)
def test_other_failures_remain_crashes(end_launch: LaunchEnding, text: str, exit_code: int) -> None:
    assert end_launch(text, exit_code=exit_code).status == LaunchStatus.CRASHED


def test_a_benchmark_of_two_ranks_may_leave_others_out(end_launch: LaunchEnding) -> None:
    assert end_launch(COMPLETE_OUTPUT, ranks=4).status == LaunchStatus.OK


def test_a_printed_zero_is_a_row_without_a_value(end_launch: LaunchEnding) -> None:
    (result,) = end_launch(imports.format_latencies((8, 0.0)), (8,)).stream.results
    assert (result.status, result.reason) == (CaseStatus.BELOW, WORDING)


# --- datatypes and repetitions ----------------------------------------------------------------------------------------

ALLREDUCE = next(operation for operation in osu.OPERATIONS if operation.name == "osu-allreduce")
IMB_ALLREDUCE = next(operation for operation in imb.OPERATIONS if operation.name == "imb-mpi1-allreduce")


def plan_operation(operation: Operation, arguments: str = "") -> Operation:
    """Return a benchmark as in a plan of 50 samples, with arguments of its own."""
    text = f'candidates = ["mpich"]\noperations = ["{operation.name}"]\nsizes = "8"\nsamples = 50\n'
    suite = operation.name.partition("-")[0]
    if arguments:
        text += f"[suites.{suite}]\narguments = [{arguments}]\n"
    plan = parse_plan(text, "plan.toml", fakes.make_machine())
    return next(
        planned_operation
        for planned_operation in foreign.add_operations(fakes.read_description(), plan).operations
        if planned_operation.name == operation.name
    )


def test_a_tool_s_reduction_uses_the_core_s_datatype() -> None:
    assert plan_operation(ALLREDUCE).datatype == plan_operation(IMB_ALLREDUCE).datatype == "float"
    assert plan_operation(LATENCY).datatype == "byte"


@pytest.mark.parametrize("arguments", ['"-T", "mpi_char"', '"-Tmpi_char"', '"--type=MPI_CHAR"', '"--type", "mpi_char"'])
def test_a_datatype_among_the_arguments_is_that_of_the_cases(arguments: str) -> None:
    assert plan_operation(ALLREDUCE, arguments).datatype == "char"
    assert plan_operation(IMB_ALLREDUCE, '"-red_data_type", "double"').datatype == "double"


HELP_5_3 = b"\0  -x ITER       number of warmup iterations\0  -i ITER       number of iterations for timing\0"
HELP_5_7 = b"\0  -m, --message-size          [MIN:]MAX  set the minimum\0  -i, --iterations ITER       set iterations\0"
HELP_7_2 = HELP_5_7 + b"<all,mpi_char,mpi_int,mpi_float>. Default:MPI_CHAR.\n\0"
HELP_7_4 = (
    b"\0[MIN:]MAX - set the minimum\0ITER - number of iterations for timing\0[all,mpi_char,mpi_int,mpi_float] - Set\0"
)
SYMBOLS = b"\0ompi_mpi_float\0ompi_mpi_char\0"
"""Open MPI's, in each of its programs."""


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        (HELP_5_3, {"-m", "-T"}),
        (HELP_5_7, {"-T"}),
        (HELP_7_2, set()),
        (HELP_7_4, set()),
        (b"\0usage: osu_mbw_mr [options]\0", {"-i", "-m", "-T"}),
    ],
)
def test_a_program_gets_only_options_that_its_help_has(tmp_path: Path, text: bytes, lacking: set[str]) -> None:
    path = tmp_path / "osu_allreduce"
    path.write_bytes(SYMBOLS + text)
    assert osu.find_lacking(ALLREDUCE, path) == lacking
    assert osu.find_lacking(LATENCY, path) == lacking - {"-T"}
    request = RunRequest(ALLREDUCE, [8, 64], 2, make_plan(), tmp_path, frozenset(lacking))
    options = {"-i": "50", "-m": "8:64", "-T": "mpi_float"}
    wanted = [word for option, value in options.items() if option not in lacking for word in (option, value)]
    assert osu.arguments(request) == wanted


def test_options_that_a_program_lacks_are_noted() -> None:
    programs = {
        (library, operation.name): make_program(operation)._replace(lacking=frozenset(lacking))
        for library, operation, lacking in (
            ("a", LATENCY, {"-m"}),
            ("b", LATENCY, {"-m"}),
            ("a", ALLREDUCE, {"-m", "-T"}),
        )
    }
    assert list(foreign.list_lacking_options(programs)) == WORDING


def test_a_launch_with_another_datatype_is_refused() -> None:
    text = "# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size  Avg Latency(us)\n8  1.00\n"
    tables = list(
        osu.read(Text("x", iter([Line(number, splitline) for number, splitline in enumerate(text.splitlines(), 1)])))
    )
    assert foreign.check_datatype(ALLREDUCE, tables) == WORDING
    assert foreign.check_datatype(msgspec.structs.replace(ALLREDUCE, datatype="char"), tables) == ""


@pytest.mark.parametrize(
    ("operation", "arguments", "words"),
    [
        (LATENCY, "", "; 50 times after 100 unscored ones, above 8 KiB 10"),
        (LATENCY, '"-i", "7"', "; 7 times after 100 unscored ones, above 8 KiB 10"),
        (IMB_ALLREDUCE, "", "; 50 repetitions after some unscored ones, fewer for sizes that would take more than "),
    ],
)
def test_the_meaning_has_the_repetitions_of_the_run(operation: Operation, arguments: str, words: str) -> None:
    described = plan_operation(operation, arguments)
    assert described.foreign
    assert words in described.foreign.meaning.text
    assert "10,000" not in described.foreign.meaning.text
    assert "1000 rep" not in described.foreign.meaning.text
