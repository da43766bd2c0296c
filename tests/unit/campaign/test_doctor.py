"""The doctor with a stand-in library whose launches fail in every way that the doctor must detect."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes import library as fake
from wording import WORDING

from rankbench import build, libraries
from rankbench.campaign import doctor
from rankbench.model import Library, Placement, Stream

PAIR = Placement(name="pair", nodes=1, ranks_per_node=2, binding="core")


@pytest.fixture
def library(tmp_path: Path) -> Library:
    prefix = fake.make(tmp_path / "library", "9.9")
    (fake_library,) = libraries.find(libraries.Search(home=tmp_path, prefixes=(prefix,), system=()))
    return fake_library


def run_check(library: Library, tmp_path: Path, placement: Placement = PAIR) -> doctor.Check:
    return doctor.check(library, build.build(library, tmp_path / "home"), placement, tmp_path / "check")


def test_a_good_library_works_and_its_facts_are_recorded(library: Library, tmp_path: Path) -> None:
    result = run_check(library, tmp_path)
    assert (result.works, result.reason) == (True, "")
    assert result.facts
    assert result.facts.ranks == 2
    assert [rank.rank for rank in result.ranks] == [0, 1]


def test_a_foreign_launcher_is_detected_although_all_ranks_exit_with_0(library: Library, tmp_path: Path) -> None:
    (tmp_path / "library/worlds").touch()
    result = run_check(library, tmp_path)
    assert not result.works
    assert result.reason == WORDING


def test_a_library_that_dies_is_reported_with_its_first_line_of_output(library: Library, tmp_path: Path) -> None:
    fake.behave(tmp_path / "library", dead=True)
    assert run_check(library, tmp_path).reason == WORDING


def test_a_known_failure_is_explained(library: Library, tmp_path: Path) -> None:
    launcher = tmp_path / "library/bin/mpiexec"
    launcher.write_text("#!/bin/sh\necho 'execvp error on file x (No such file or directory)'; exit 255\n", "utf-8")
    result = run_check(library, tmp_path)
    assert result.reason == WORDING


def test_concurrent_checks_give_the_results_of_single_checks(library: Library, tmp_path: Path) -> None:
    """Each check waits until the other has begun: checks one after the other would never end."""
    prefix = fake.make(tmp_path / "another", "9.8")
    (another,) = libraries.find(libraries.Search(home=tmp_path, prefixes=(prefix,), system=()))
    makes = [build.build(library_of_two, tmp_path / "home") for library_of_two in (library, another)]
    for place, name in enumerate(("library", "another")):
        launcher = tmp_path / name / "bin/mpiexec"
        wait = f"touch {tmp_path}/begun{place}; until [ -e {tmp_path}/begun{1 - place} ]; do sleep 0.01; done"
        start = tmp_path / name / "start"
        launcher.rename(start)
        launcher.write_text(f'#!/bin/sh\n{wait}\nexec {start} "$@"\n', "utf-8")
        launcher.chmod(0o755)
    fake.behave(tmp_path / "another", dead=True)
    trials = [
        doctor.Trial(library_of_two, make, PAIR, tmp_path / library_of_two.name)
        for library_of_two, make in zip((library, another), makes, strict=True)
    ]
    good, dead = doctor.check_together(trials)
    assert (good.works, good.reason) == (True, "")
    assert dead.reason == WORDING


def test_a_launch_without_a_stream_is_no_success(library: Library, tmp_path: Path) -> None:
    (tmp_path / "library/bin/mpiexec").write_text("#!/bin/sh\n", "utf-8")
    assert run_check(library, tmp_path).reason == WORDING


def test_a_missing_launcher_is_reported(library: Library, tmp_path: Path) -> None:
    (tmp_path / "library/bin/mpiexec").unlink()
    assert run_check(library, tmp_path).reason == WORDING


def test_an_unreadable_stream_is_reported(library: Library, tmp_path: Path) -> None:
    (tmp_path / "library/bin/mpiexec").write_text(f"#!/bin/sh\necho '{{{{' > {tmp_path}/check/stream.jsonl\n", "utf-8")
    result = run_check(library, tmp_path)
    assert not result.works
    assert result.reason == WORDING


@pytest.mark.parametrize(("family", "version"), [("mpich", "9.8"), ("openmpi", "9.9")])
def test_a_launch_that_loads_another_library_is_detected(
    family: str, version: str, library: Library, tmp_path: Path
) -> None:
    core = build.build(library, tmp_path / "home")
    other = msgspec.structs.replace(library, family=family, version=version)
    placement = msgspec.structs.replace(PAIR, binding="none")
    skip = f'while [ "$1" != {core.binary} ]; do shift; done'
    (tmp_path / "library/bin/mpiexec").write_text(f'#!/bin/sh\n{skip}\nFAKE_RANKS=2 exec "$@"\n', "utf-8")
    result = doctor.check(other, core, placement, tmp_path / "check")
    assert result.reason == WORDING


def test_wrong_data_is_reported(library: Library, tmp_path: Path) -> None:
    launcher = tmp_path / "library/bin/mpiexec"
    launcher.write_text(launcher.read_text("utf-8").replace('exec "$@"', '"$@"; exit 3'), "utf-8")
    assert run_check(library, tmp_path).reason == WORDING


def test_ranks_on_other_cpus_than_requested_are_reported(library: Library, tmp_path: Path) -> None:
    fake.behave(tmp_path / "library", cpus=["0-1", "1"])
    result = run_check(library, tmp_path)
    assert (result.works, result.elsewhere) == (False, True)
    assert result.reason == WORDING


def test_hosts_without_an_address_are_reported_before_a_launch(library: Library, tmp_path: Path) -> None:
    lost = msgspec.structs.replace(PAIR, nodes=2, ranks_per_node=1, hosts=["a.invalid", "me@b.invalid"])
    (tmp_path / "library/bin/mpiexec").unlink()
    core = build.build(library, tmp_path / "home")
    assert doctor.check(library, core, lost, tmp_path / "check").reason == WORDING
    placement = msgspec.structs.replace(lost, hosts=["localhost", "b.invalid"])
    assert doctor.find_unknown_host(placement) == WORDING
    assert doctor.find_unknown_host(msgspec.structs.replace(lost, remote_shell="/opt/enter")) == ""
    assert doctor.find_unknown_host(msgspec.structs.replace(lost, launcher="srun")) == ""


def test_more_ranks_than_cores_work_and_are_flagged(library: Library, tmp_path: Path) -> None:
    fake.behave(tmp_path / "library", cpus=["0-1"] * 4)
    crowd = msgspec.structs.replace(PAIR, ranks_per_node=4, binding="none")
    result = doctor.check(library, build.build(library, tmp_path / "home"), crowd, tmp_path / "check")
    assert (result.works, result.flags) == (True, (WORDING,))


def test_unbound_ranks_work_and_are_flagged(library: Library, tmp_path: Path) -> None:
    fake.behave(tmp_path / "library", cpus=["0-1", "0-1"])
    free = msgspec.structs.replace(PAIR, binding="none")
    result = doctor.check(library, build.build(library, tmp_path / "home"), free, tmp_path / "check")
    assert (result.works, result.flags) == (True, (WORDING,))


def test_singletons_under_srun_are_reported_as_such(library: Library, tmp_path: Path) -> None:
    (tmp_path / "library/worlds").touch()
    facts = run_check(library, tmp_path).facts
    stream = Stream(facts=facts, ranks=[], results=[], unfinished=None, complete=True)
    srun = msgspec.structs.replace(PAIR, launcher="srun")
    assert doctor.check_world(library, srun, stream) == WORDING


def test_singletons_of_a_stated_launcher_are_reported_as_such(library: Library, tmp_path: Path) -> None:
    (tmp_path / "library/worlds").touch()
    stated = msgspec.structs.replace(library, launch=["mpiexec", "-n", "{ranks}", "{program}"])
    result = run_check(stated, tmp_path)
    assert (result.works, result.reason) == (False, WORDING)


def test_hosts_of_a_stated_launcher_need_not_resolve(library: Library, tmp_path: Path) -> None:
    lost = msgspec.structs.replace(PAIR, hosts=["no-such-host.invalid"])
    assert "does not resolve" in run_check(library, tmp_path / "a", lost).reason
    stated = msgspec.structs.replace(library, launch=["mpiexec", "-n", "{ranks}", "{program}"])
    assert "does not resolve" not in run_check(stated, tmp_path / "b", lost).reason


def test_a_binary_fixed_to_its_own_library_is_detected(library: Library, tmp_path: Path) -> None:
    first = {"LD_LIBRARY_PATH": f"{tmp_path}/other/lib"}
    swapped = msgspec.structs.replace(library, environment=first, binary_of=library.name, abi="libmpi.so.12")
    core = build.build(library, tmp_path / "home")
    assert doctor.check(swapped, core, PAIR, tmp_path / "check").reason == WORDING


def test_an_unreachable_host_is_explained(library: Library, tmp_path: Path) -> None:
    message = "ssh: connect to host n2 port 22: No route to host"
    (tmp_path / "library/bin/mpiexec").write_text(f"#!/bin/sh\necho '{message}'; exit 255\n", "utf-8")
    assert run_check(library, tmp_path).reason == WORDING


def test_a_signal_is_named_as_the_launcher_reports_it(library: Library, tmp_path: Path) -> None:
    message = "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)"
    (tmp_path / "library/bin/mpiexec").write_text(f"#!/bin/sh\necho '{message}'; exit 11\n", "utf-8")
    assert run_check(library, tmp_path).reason == f"exit code 11 (SIGSEGV): {message}"


def test_versions_are_compared_only_as_far_as_both_are_reported() -> None:
    assert doctor.same_version("2021.18", "2021.18.1")
    assert not doctor.same_version("2021.18", "2021.1")


@pytest.mark.parametrize(
    ("family", "version", "agrees"),
    [
        ("spectrum-mpi", "10.3.1.03rtm0", True),
        ("openmpi", "10.3.1.03rtm0", True),
        ("mpich", "10.3.1.03rtm0", False),
        ("spectrum-mpi", "10.4", False),
    ],
)
def test_a_library_may_be_planned_by_the_name_of_the_one_that_it_derives_from(
    family: str, version: str, agrees: bool
) -> None:
    library = Library(
        name="x", family=family, version=version, source="prefix", prefix="/l", wrapper="/l/bin/mpicc", launcher=""
    )
    inside = libraries.recognise("Open MPI v10.3.1.03rtm0, package: IBM Spectrum MPI, ident: IBM Spectrum MPI, ")
    assert inside
    assert doctor.is_named_so(library, *inside) is agrees
