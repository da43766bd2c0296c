"""The libraries of a plan's candidates, over stand-in libraries."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import library as fake
from fakes import make_machine, modules
from wording import refuses

from rankbench import plan
from rankbench.campaign import CampaignRequest
from rankbench.campaign.preparation import find_candidates
from rankbench.model import Candidate, Library


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a build of a library, whose wrapper heeds MPICH_CC, and modules for it and for another build."""
    for name in ("a", "b"):
        wrapper = fake.make(tmp_path / name, "9.1") / "bin/mpicc"
        text = wrapper.read_text("utf-8")
        wrapper.write_text(text.replace('echo "fake cc 1.0"', '"${MPICH_CC:-fakecc}" --version'), "utf-8")
    for name in ("fakecc", "othercc"):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {name} 1.0\n", "utf-8")
        path.chmod(0o755)
    files = {
        "mpich/9.1": f'export PATH="{tmp_path}/a/bin:$PATH"\n',
        "mpich/9.1-b": f'export PATH="{tmp_path}/b/bin:$PATH"\n',
    }
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    modules.use(monkeypatch, tmp_path / "modules", files)


def find_in_plan(tmp_path: Path, text: str, *names: str) -> tuple[list[Candidate], dict[str, Library]]:
    file = tmp_path / "plan.toml"
    file.write_text(f'operations = ["allreduce"]\n{text}\n', "utf-8")
    request = CampaignRequest(
        plan.load_plan(file, make_machine()), tmp_path, make_machine(), tmp_path, [tmp_path / "a"], modules=names
    )
    return find_candidates(request)


def test_candidates_can_name_compilers(tmp_path: Path) -> None:
    candidates, used = find_in_plan(tmp_path, 'candidates = ["mpich-9.1"]\ncompilers = ["fakecc", "othercc"]')
    assert [(candidate.name, candidate.library) for candidate in candidates] == [
        ("mpich-9.1+fakecc",) * 2,
        ("mpich-9.1+othercc",) * 2,
    ]
    assert {name: library.compiler for name, library in used.items()} == {
        "mpich-9.1+fakecc": "fakecc 1.0",
        "mpich-9.1+othercc": "othercc 1.0",
    }


def test_a_candidate_s_own_name_replaces_that_of_its_library(tmp_path: Path) -> None:
    candidates, used = find_in_plan(
        tmp_path, '[[candidate]]\nname = "mine"\nlibrary = "mpich-9.1"\ncompiler = "othercc"'
    )
    assert [(candidate.name, candidate.library) for candidate in candidates] == [("mine", "mpich-9.1+othercc")]
    assert list(used) == ["mpich-9.1+othercc"]


def test_modules_are_named_in_the_plan_or_on_the_command_line(tmp_path: Path) -> None:
    text = 'candidates = ["mpich-9.1", "module:mpich/9.1-b", "module:mpich/9.1"]'
    candidates, used = find_in_plan(tmp_path, text)
    assert [candidate.name for candidate in candidates] == ["mpich-9.1", "mpich-9.1@mpich/9.1-b", "mpich-9.1@mpich/9.1"]
    assert [library.source for library in used.values()] == ["prefix", "modules", "modules"]
    assert find_in_plan(tmp_path, text, "mpich/9.1-b") == (candidates, used)


def test_the_binary_of_a_library_with_unknown_abi_is_refused(tmp_path: Path) -> None:
    with refuses():
        find_in_plan(tmp_path, '[[candidate]]\nlibrary = "mpich-9.1"\nbinary_of = "module:mpich/9.1-b"')
