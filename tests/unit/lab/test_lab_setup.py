"""Preparation of a lab without starting it, and refusals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from wording import refuses

from rankbench.cli.commands.lab import make_request
from rankbench.lab import Cores, Delay, LabRequest, setup
from rankbench.model import RankbenchError

NO_OPTIONS = {"delay": "", "rate": "", "clocks": "", "cores": ""}
SYMMETRIC = Delay(50_000, 50_000)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a lab's folder below a folder that nodes do not hide."""
    monkeypatch.chdir("/")
    return tmp_path / "lab"


def test_a_lab_has_nodes_hosts_and_programs(folder: Path) -> None:
    setup.prepare(folder, LabRequest(nodes=2))
    assert {path.name for path in folder.iterdir()} == {"bin", "hosts", "lab.sh", "nodes", "pids", "shared"}
    assert (folder / "nodes").read_text() == "n1 -\nn2 -\n"
    assert (folder / "hosts").read_text() == "127.0.0.1 localhost\n10.77.0.1 head\n10.77.0.2 n1\n10.77.0.3 n2\n"
    assert str(folder) in (folder / "shared").read_text().splitlines()
    assert (folder / "bin/ssh").read_text() == f'#!/bin/sh\nexec bash {folder}/lab.sh ssh {folder} "$@"\n'


@pytest.mark.parametrize("netem", [True, False])
def test_the_kernel_delays_if_it_can(netem: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "kernel_has", lambda _: netem)
    text = setup.prepare(folder, LabRequest(nodes=2, delay=SYMMETRIC))
    assert ("(netem)" in text, "by a switch" in text) == (netem, not netem)
    assert ((folder / "to_node").exists(), (folder / "switch").exists()) == (netem, not netem)


@pytest.mark.parametrize("lab_request", [LabRequest(delay=SYMMETRIC, netem=False), LabRequest(delay=Delay(1, 2))])
def test_the_switch_delays_on_request_or_if_the_kernel_cannot(
    lab_request: LabRequest, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "kernel_has", lambda _: True)
    setup.prepare(folder, lab_request)
    assert (folder / "switch").exists()
    assert not (folder / "to_node").exists()


def test_slurm_keeps_its_files_in_the_lab_s_folder(folder: Path) -> None:
    setup.prepare(folder, LabRequest(nodes=2, slurm=Cores(2, 4)))
    text = (folder / "slurm.conf").read_text()
    assert "NodeName=n1,n2 CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=1024 State=UNKNOWN\n" in text
    paths = re.findall(r"=(?:socket=)?(/.+)", text)
    assert len(paths) == 8
    assert [path for path in paths if not path.startswith(f"{folder}/slurm/")] == ["/bin/true"]


def test_shared_folders_that_no_node_hides_need_no_option(folder: Path, tmp_path: Path) -> None:
    setup.prepare(folder, LabRequest(shared=(Path("/usr"), tmp_path, tmp_path / "none", tmp_path)))
    shared = (folder / "shared").read_text().splitlines()
    assert shared.count(str(tmp_path)) == 1
    assert not {"/usr", str(tmp_path / "none"), "/"} & set(shared)


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_a_folder_that_each_node_replaces_cannot_be_shared(place: str, folder: Path) -> None:
    message = f"lab: each node has a {place} of its own; go to a folder below it, or another one"
    with pytest.raises(RankbenchError, match=f"^{re.escape(message)}$"):
        setup.prepare(folder, LabRequest(shared=(Path(place),)))


@pytest.mark.parametrize("nodes", [0, 201])
def test_a_wrong_number_of_nodes_is_refused(nodes: int) -> None:
    with pytest.raises(RankbenchError, match=f"^--nodes {nodes}: expected 1 to 200$"):
        setup.require(LabRequest(nodes=nodes))


@pytest.mark.parametrize(
    "lab_request", [LabRequest(), LabRequest(delay=SYMMETRIC), LabRequest(slurm=Cores(1, 1), offsets_ns=(0, 1))]
)
def test_missing_packages_are_named(lab_request: LabRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "path", lambda: "/nowhere")
    with refuses():
        setup.require(lab_request)


def test_a_kernel_without_rates_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "kernel_has", lambda _: False)
    message = "--rate needs the kernel's token bucket filter: CONFIG_NET_SCH_TBF, module sch_tbf"
    with pytest.raises(RankbenchError, match=f"^{re.escape(message)}$"):
        setup.require(LabRequest(rate_bit_s=1000))


def test_a_program_that_does_not_compile_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.c").write_text("#error no\n")
    monkeypatch.setattr(setup, "HERE", tmp_path)
    source = tmp_path / "broken.c"
    with pytest.raises(RankbenchError) as caught:
        setup.compile_program("broken.c", tmp_path)
    assert str(caught.value) == f"lab: {source} does not compile: {source}:1:2: error: #error no"


# --- options of the command -------------------------------------------------------------------------------------------


def test_every_option_is_read() -> None:
    texts = {"delay": "50us", "rate": "1gbit", "clocks": "2s", "cores": "2x4"}
    request = make_request(3, texts, [Path("/usr")], slurm=True)
    assert request._replace(shared=()) == LabRequest(
        3, SYMMETRIC, True, 10**9, (0, 2 * 10**9, 4 * 10**9), Cores(2, 4), ()
    )
    assert Path("/usr") in request.shared


def test_defaults_add_nothing() -> None:
    assert make_request(2, NO_OPTIONS, [], slurm=False)._replace(shared=()) == LabRequest(2)


@pytest.mark.parametrize(("texts", "share"), [({"cores": "4"}, []), ({}, [Path("/usr"), Path("/nowhere")])])
def test_contradicting_options_are_refused(texts: dict[str, str], share: list[Path]) -> None:
    with refuses():
        make_request(2, NO_OPTIONS | texts, share, slurm=False)
