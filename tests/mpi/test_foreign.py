"""Foreign programs as operations of a plan: IMB of Intel's wheel with two libraries, and a tarball built for each."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path

import pytest

from rankbench import libraries, store
from rankbench.campaign import foreign
from rankbench.foreign.tools import imb
from rankbench.model import RankbenchError

from .conftest import run_rankbench

pytestmark = pytest.mark.thorough

IMB = """
candidates = ["mpich", "intel-mpi", "openmpi"]
operations = [
    "imb-mpi1-pingpong", "imb-mpi1-allreduce", "imb-mpi1-barrier", "imb-nbc-iallreduce", "pingpong", "allreduce",
]
sizes = "8,1000,64K"
samples = 10
[stop]
blocks = 3
"""
PLAN_WITH_TARBALL = """
candidates = ["mpich", "openmpi"]
operations = ["allreduce"]
suite = "osu"
sizes = "8,24,1K"
samples = 10
control = false
[suites.osu]
source = "{source}"
[stop]
blocks = 3
"""
CONFIGURE = """#!/bin/sh
cc=${1#CC=}
printf 'osu_allreduce: osu_allreduce.c\\n\\t%s -o $@ $<\\n' "$cc" > Makefile
"""
FAKES = Path(__file__).parents[1] / "fakes"


def run_plan(place: Path, home: Path, plan: str, code: int = 0) -> store.Store:
    """Run a plan to its end; the exit code is 1 where a candidate cannot run everything."""
    (place / "plan.toml").write_text(plan)
    process = run_rankbench("run", str(place / "plan.toml"), "--results", str(place), home=home)
    assert process.returncode == code, process.stderr
    return store.open(place / "plan")


@pytest.fixture(scope="module")
def campaign_store(home: Path, tmp_path_factory: pytest.TempPathFactory) -> store.Store:
    """Return a campaign of IMB and the core with three libraries, of which IMB can load two."""
    return run_plan(tmp_path_factory.mktemp("imb"), home, IMB, code=1)


def test_imb_is_launched_in_the_blocks_of_the_core(campaign_store: store.Store) -> None:
    rows = campaign_store.cases()
    status: dict[tuple[str, str], set[str]] = {}
    for candidate, operation, ended in rows.select("candidate", "operation", "status").rows():
        status.setdefault((candidate, operation), set()).add(ended)
    for candidate in ("mpich-5.0.2", "mpich-5.0.2 (again)", "intel-mpi-2021.18.1"):
        assert {name: statuses for (library, name), statuses in status.items() if library == candidate} == {
            name: {"ok"} for name in {case.operation for case in campaign_store.campaign.cases}
        }
    assert {name for (library, name), texts in status.items() if library == "openmpi-5.0.11" and texts == {"ok"}} == {
        "pingpong", "allreduce"
    }  # fmt: skip


def test_a_library_that_a_program_cannot_load_is_refused(campaign_store: store.Store) -> None:
    reasons = set(campaign_store.cases().filter(candidate="openmpi-5.0.11", status="refused")["reason"])
    assert reasons == {
        f"{name} cannot run with openmpi-5.0.11: it is linked to libmpi.so.12, and openmpi-5.0.11 has libmpi.so.40; "
        "build it for this library"
        for name in ("IMB-MPI1", "IMB-NBC")
    }


def test_each_value_is_that_of_the_program_s_output(campaign_store: store.Store) -> None:
    """The log of a launch has the output; a sample is the time in its column, in nanoseconds."""
    (case,) = [
        case
        for case in campaign_store.campaign.cases
        if (case.operation, case.size_bytes) == ("imb-mpi1-allreduce", 1000)
    ]
    samples = campaign_store.samples().filter(case=case.key).collect()
    assert samples.height == 3 * 3
    launches = {launch.number: launch for launch in campaign_store.launches()}
    for row in samples.iter_rows(named=True):
        launch = launches[row["launch"]]
        (printed,) = re.findall(r"^ +1000 +10 +\S+ +\S+ +(\S+)", launch.log, re.MULTILINE)
        assert row["time_ns"] == pytest.approx(float(printed) * 1000)
        assert Path(launch.command[-1]).name == imb.SIZES or "IMB-MPI1" in " ".join(launch.command)
    headings = [json.loads(text) for text in campaign_store.cases().filter(case=case.key, status="ok")["printed"]]
    assert {tuple(fields) for fields in headings} == {("#repetitions", "t_min[usec]", "t_max[usec]", "t_avg[usec]")}


def test_overlap_of_a_foreign_program_is_reported_as_that_of_the_core(campaign_store: store.Store) -> None:
    rows = campaign_store.cases().filter(operation="imb-nbc-iallreduce", status="ok")
    assert set(rows["options"]) == {"quantity=overlap"}
    assert (rows["pure_ns"] > 0).all()
    assert (rows["compute_ns"] > 0).all()


def test_results_of_imb_are_shown_beside_those_of_the_core(campaign_store: store.Store, home: Path) -> None:
    shown = run_rankbench("show", str(campaign_store.folder), home=home)
    assert shown.returncode == 0, shown.stderr
    titles = [line for line in shown.stdout.splitlines() if line.startswith(("imb-", "pingpong:", "allreduce:"))]
    assert [title.partition(":")[0] for title in titles if title.startswith(("imb-mpi1-p", "pingpong"))]
    assert any(title.startswith("imb-mpi1-allreduce: time") for title in titles)


def test_a_tarball_is_built_for_each_library(home: Path, tmp_path: Path) -> None:
    source = tmp_path / "osu-stand-in-1.tar.gz"
    (tmp_path / "configure").write_text(CONFIGURE)
    (tmp_path / "configure").chmod(0o755)
    with tarfile.open(source, "w:gz") as archive:
        archive.add(tmp_path / "configure", "osu/configure")
        archive.add(FAKES / "osu_allreduce.c", "osu/osu_allreduce.c")
    results = run_plan(tmp_path, home, PLAN_WITH_TARBALL.format(source=source))
    rows = results.cases().select("candidate", "size_bytes", "status", "reason").unique()
    why = "the program does not measure this size; it measured 8, 16, 32, 64, 128, 256, 512, 1024 B"
    assert sorted(rows.rows()) == sorted(
        (candidate, size, "refused" if size == 24 else "ok", why if size == 24 else "")
        for candidate in ("mpich-5.0.2", "openmpi-5.0.11")
        for size in (8, 24, 1024)
    )
    programs = {
        launch.candidate: next(word for word in launch.command if "osu_allreduce" in word)
        for launch in results.launches()
    }
    assert len(set(programs.values())) == 2


def test_reconcile_divides_the_figures_of_imb_by_those_of_the_core(home: Path, tmp_path: Path) -> None:
    process = run_rankbench(
        "reconcile", "intel-mpi", "--operations", "pingpong,bcast", "--sizes", "8,1K", "--blocks", "4",
        "--samples", "30", "--results", str(tmp_path), home=home,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    texts = process.stdout.splitlines()
    assert "imb-mpi1-pingpong beside pingpong of the core" in texts
    assert "imb-mpi1-bcast beside bcast of the core" in texts
    rows: dict[tuple[str, str], list[float]] = {}
    heading = ""
    for line in texts:
        heading = line if " beside " in line else heading
        if size := re.match(r"(8 B|1 KiB) ", line):  # A table that is too wide is divided.
            numbers = re.findall(r"\b\d+\.\d{3}\b", re.sub(r"\(.*?\)", "", line))
            rows.setdefault((heading, size[1]), []).extend(map(float, numbers))
    for total, *parts in rows.values():
        product = 1.0
        for part in parts:
            product *= part
        assert total == pytest.approx(product, rel=0.02)
    assert sorted(map(len, rows.values())) == [3, 3, 4, 4]


def test_a_missing_program_is_refused(home: Path) -> None:
    reach = libraries.find(libraries.make_search(home))
    mpich = libraries.choose("mpich", reach)
    operation = foreign.find_tools()["osu"].OPERATIONS[0]
    with pytest.raises(RankbenchError) as caught:
        foreign.find_program(None, operation, mpich, reach, home)
    assert str(caught.value) == (
        "osu-allgather: no osu_allgather in the libraries that rankbench finds; say where it is: "
        '[suites.osu] path = "FOLDER", source = "TARBALL" or module = "NAME"'
    )
