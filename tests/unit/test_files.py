"""Files of a campaign's folder, which may come from others and contain symbolic links."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from wording import refuses

from rankbench import files


@pytest.fixture
def users_file(tmp_path: Path) -> Path:
    """Return a file of the user, outside of the campaign."""
    path = tmp_path / "own.txt"
    path.write_text("mine")
    return path


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """Return the folder of a campaign."""
    path = tmp_path / "campaign"
    path.mkdir()
    return path


@pytest.mark.parametrize("name", ["report.html", "report.html.part", "report.html.PID.part"])
def test_the_target_of_a_link_is_not_written(users_file: Path, campaign: Path, name: str) -> None:
    (campaign / name.replace("PID", str(os.getpid()))).symlink_to(users_file)
    files.write(campaign / "report.html", "a page")
    assert users_file.read_text() == "mine"
    assert (campaign / "report.html").read_text() == "a page"
    assert not (campaign / "report.html").is_symlink()


def test_nothing_is_appended_to_the_target_of_a_link(users_file: Path, campaign: Path) -> None:
    files.append(campaign / "list", b"1\n")
    files.append(campaign / "list", b"2\n")
    assert (campaign / "list").read_text() == "1\n2\n"
    (campaign / "link").symlink_to(users_file)
    with pytest.raises(OSError, match="symbolic links"):
        files.append(campaign / "link", b"3\n")
    assert users_file.read_text() == "mine"


def test_a_folder_that_is_a_link_is_refused(campaign: Path, tmp_path: Path) -> None:
    assert files.make_folder(campaign / "figures") == files.make_folder(campaign / "figures")
    (campaign / "exports").symlink_to(tmp_path)
    with refuses():
        files.make_folder(campaign / "exports")


def test_an_interrupted_write_keeps_the_old_file(campaign: Path) -> None:
    files.write(campaign / "page", "old")
    with pytest.raises(KeyboardInterrupt), files.write_atomically(campaign / "page") as beside:
        beside.write_text("new")
        raise KeyboardInterrupt
    assert {path.name: path.read_text() for path in campaign.iterdir()} == {"page": "old"}


def test_two_processes_use_different_temporary_files(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with files.write_atomically(campaign / "page") as first:
        monkeypatch.setattr(os, "getpid", lambda: 1)
        with files.write_atomically(campaign / "page") as second:
            assert first != second


def test_leftovers_of_killed_processes_are_removed(campaign: Path, users_file: Path) -> None:
    (campaign / ".check-x1").mkdir()
    (campaign / ".check-x1/output.log").write_text("")
    (campaign / ".check-link").symlink_to(users_file.parent)
    (campaign / "cases").mkdir()
    most = int((campaign / "/proc/sys/kernel/pid_max").read_text())
    for name in (
        "verdict.json.part",
        f"cases/1.parquet.{most + 1}.part",
        f"report.html.{os.getpid()}.part",
        "plan.toml",
    ):
        (campaign / name).write_text("")
    files.remove_leftovers(campaign)
    names = {path.name for path in campaign.rglob("*")}
    assert names == {"cases", f"report.html.{os.getpid()}.part", "plan.toml", ".check-link"}
    assert users_file.read_text() == "mine"
