"""The folder of the user's program: what is copied of it, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rankbench.campaign import user_program
from rankbench.model import RankbenchError

REFUSED = "cannot be copied (.*); name a folder that holds only the program, or write copies = false"


def test_files_links_and_folders_are_copied(tmp_path: Path) -> None:
    source, copy = tmp_path / "program", tmp_path / "copy"
    (source / "input" / "deep").mkdir(parents=True)
    (source / "input" / "deep" / "mesh").write_text("1")
    (source / "solver").write_text("#!/bin/sh\n")
    (source / "solver").chmod(0o755)
    (source / "latest").symlink_to("nowhere")
    (tmp_path / "mesh").write_text("2")
    (source / "beside").symlink_to("../mesh")
    (source / "within").symlink_to("solver")
    (source / ".git").mkdir()
    (source / "results" / "plan").mkdir(parents=True)
    (source / "results" / "plan" / "campaign.json").write_text("{}")
    copy.mkdir()
    user_program.copy_folder(source, copy, list(user_program.list_entries(source)))
    assert {str(path.relative_to(copy)) for path in copy.rglob("*")} == {
        *("input", "input/deep", "input/deep/mesh", "solver", "latest", "beside", "within", "results")
    }
    (tmp_path / "copy").rename(tmp_path / "elsewhere")
    copy = tmp_path / "elsewhere"
    assert (copy / "beside").read_text() == "2"
    assert (copy / "within").readlink() == Path("solver")
    assert os.access(copy / "solver", os.X_OK)
    assert (copy / "latest").readlink() == Path("nowhere")


def test_a_file_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    """Not even root can read all of `/proc`, which is below the folder where that is `/`."""
    unreadable = Path("/proc/self/mem")
    with pytest.raises(OSError, match="error"):
        unreadable.read_bytes()
    with pytest.raises(RankbenchError, match=f"^program.folder: {unreadable} {REFUSED}"):
        user_program.copy_folder(unreadable.parent, tmp_path, [unreadable])


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(RankbenchError, match=f"^program.folder: {tmp_path}/closed {REFUSED}"):
        list(user_program.list_entries(tmp_path))
