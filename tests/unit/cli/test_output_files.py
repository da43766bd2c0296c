"""Where commands write what a user names: devices, FIFOs, links and modes stay as they are; `-` is standard output."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fakes import campaigns, mark_thorough
from typer.main import get_command
from typer.testing import CliRunner

from rankbench import cli, exports, files, units
from rankbench.cli import commands
from rankbench.cli.display import console
from rankbench.cli.formats import add_output_option
from rankbench.model import RankbenchError

RANKBENCH = Path(sys.executable).with_name("rankbench")
FILE_OPTIONS = ("output", "junit")
"""Options by which a user names a file to be written."""
SHARED = add_output_option(lambda: None).__code__
"""The code of all commands whose option is that of `add_output_option`."""
SINGLE = [name for name in exports.list_formats() if exports.find_format(name).PLACE == "file"]
SEVERAL = [name for name in exports.list_formats() if name not in SINGLE]
COMMANDS = {
    "gate": "gate made --candidate alpha --against-candidate beta --junit",
    "history": "history results --output",
    "report": "report made --output",
    "show": "show made --format csv --output",
    "status of all": "status results --output",
    "plan": "plan show quick --output",
    "status": "status made --format json --output",
    **{f"export {name}": f"export made --format {name} --output" for name in SINGLE},
}
"""A call of each command that has its own code for an option of FILE_OPTIONS, and of some that share theirs."""
TRIED = [mark_thorough(name) if name in {f"export {name}" for name in SINGLE[1:]} else name for name in COMMANDS]
"""All export formats share the code of the first."""
NULL_DEVICE = os.makedev(1, 3)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of two campaigns, to be copied."""
    folder = tmp_path_factory.mktemp("results")
    cases = campaigns.make_cases(lines=[("barrier", "blocking")])
    for name in ("older", "made"):
        campaigns.make_campaign(folder / name, launches=3, samples=10, cases=cases)
    return folder


@pytest.fixture(autouse=True)
def campaign(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a campaign of the working folder, beside an older one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "width", 1000)
    shutil.copytree(results, tmp_path / "results")
    return tmp_path / "results" / "made"


def run(line: str, place: Path | str) -> bytes:
    """Run a command that writes to a place; return what it printed. Errors are raised."""
    words = [*shlex.split(line), str(place)]
    answer = CliRunner().invoke(cli.application(words[0]), words)
    if answer.exception and not isinstance(answer.exception, SystemExit):
        raise answer.exception
    return answer.stdout_bytes


def write_new(line: str, place: Path) -> bytes:
    """Return what a command writes into a new file."""
    run(line, place)
    content = place.read_bytes()
    place.unlink()
    return content


def list_leftovers(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.name.endswith(files.PART)]


def test_every_option_that_names_a_file_is_tried() -> None:
    application = get_command(cli.application())
    names = {
        name
        for name, command in application.commands.items()  # type: ignore[attr-defined]
        for option in command.params
        if option.name in FILE_OPTIONS and not (option.name == "output" and is_shared(name))
    }
    assert names
    assert names - {"record"} <= {name.partition(" ")[0] for name in COMMANDS}  # It runs a program of MPI.


def is_shared(name: str) -> bool:
    """Return whether the option `--output` of a command is that of all."""
    module = units.module(commands, cli.command_modules()[name])
    return getattr(module, cli.command_modules()[name]).__code__ is SHARED


@pytest.mark.costly
@pytest.mark.parametrize("name", TRIED)
def test_a_device_stays_a_device(name: str, tmp_path: Path) -> None:
    node = tmp_path / "node"
    try:
        os.mknod(node, stat.S_IFCHR | 0o666, NULL_DEVICE)
    except PermissionError:
        pytest.skip("only root can make a device node")
    run(COMMANDS[name], node)
    facts = node.lstat()
    assert stat.S_ISCHR(facts.st_mode)
    assert facts.st_rdev == NULL_DEVICE
    assert not list_leftovers(tmp_path)


@pytest.mark.costly
@pytest.mark.parametrize("name", TRIED)
def test_a_fifo_gets_the_content(name: str, tmp_path: Path) -> None:
    wanted = write_new(COMMANDS[name], tmp_path / "file")
    os.mkfifo(tmp_path / "fifo")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "fifo").read_bytes()), daemon=True)
    reader.start()
    run(COMMANDS[name], tmp_path / "fifo")
    assert stat.S_ISFIFO((tmp_path / "fifo").lstat().st_mode)
    reader.join(60)
    assert len(read[0]) == len(wanted)


@pytest.mark.costly
@pytest.mark.parametrize("name", TRIED)
def test_the_target_of_a_link_is_written(name: str, tmp_path: Path) -> None:
    wanted = write_new(COMMANDS[name], tmp_path / "file")
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to("other/target")
    for _ in range(2):  # The target is not there at first.
        run(COMMANDS[name], tmp_path / "link")
        assert (tmp_path / "link").readlink() == Path("other/target")
        assert len((tmp_path / "other/target").read_bytes()) == len(wanted)
    assert not list_leftovers(tmp_path)


@pytest.mark.costly
@pytest.mark.parametrize("name", TRIED)
def test_a_file_keeps_its_mode_and_is_replaced_at_once(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o600)
    reader = path.open("rb")
    run(COMMANDS[name], path)
    with reader:
        assert reader.read() == b"old"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_bytes() != b"old"


@pytest.mark.costly
@pytest.mark.parametrize("name", TRIED)
def test_a_dash_is_standard_output(name: str, tmp_path: Path) -> None:
    wanted = write_new(COMMANDS[name], tmp_path / "file")
    printed = run(COMMANDS[name], "-")
    assert len(printed) >= len(wanted)
    assert not Path("-").exists()
    if not name.startswith("gate"):  # It prints its answer, too.
        assert len(printed) == len(wanted)


@pytest.mark.parametrize("name", TRIED)
def test_folders_and_places_below_no_folder_are_refused_in_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "circle").symlink_to("circle")
    option = COMMANDS[name].rpartition(" ")[2]
    for place, reason in {
        "folder": "Is a directory",
        "none/file": "No such file or directory",
        "circle": "Too many levels of symbolic links",
    }.items():
        with pytest.raises(RankbenchError) as error:
            run(COMMANDS[name], place)
        assert str(error.value) == f"{option} {place}: cannot be written ({reason}); name another file"
    assert (tmp_path / "circle").is_symlink()


@pytest.mark.parametrize("name", SEVERAL)
def test_several_files_do_not_go_to_a_stream(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for place in ("-", "fifo"):
        with pytest.raises(RankbenchError) as error:
            run(f"export made --format {name} --output", place)
        assert str(error.value) == f"--output {place}: --format {name} writes several files; name a file instead"
        with pytest.raises(RankbenchError, match="--figures writes several files"):
            run("history results --figures svg --output", place)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fifo", "results"]


@pytest.mark.parametrize(
    ("path", "others"),
    [
        ("x", ["x-comparisons.csv", "x-launches.csv"]),
        ("x.txt", ["x-comparisons.txt", "x-launches.txt"]),
        ("mpich-5.0.2", ["mpich-5.0.2-comparisons.csv", "mpich-5.0.2-launches.csv"]),
    ],
)
def test_tables_beside_the_first_have_a_suffix(path: str, others: list[str], tmp_path: Path) -> None:
    run("export made --format csv --output", path)
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.is_file()) == sorted([path, *others])


def test_links_beside_the_first_table_are_followed_too(tmp_path: Path) -> None:
    (tmp_path / "x-launches.csv").symlink_to("other.csv")
    run("export made --format csv --output", "x.csv")
    assert (tmp_path / "x-launches.csv").is_symlink()
    assert (tmp_path / "other.csv").read_text().startswith("case,")


def test_a_file_that_cannot_be_replaced_is_written_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is mounted alone, as containers do, cannot be renamed over."""
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def refuse(_from: Path, _to: Path) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(Path, "replace", refuse)
    inode = path.stat().st_ino
    run("plan show quick --output", path)
    assert path.stat().st_ino == inode
    assert b"question" in path.read_bytes()


@pytest.mark.parametrize("operator", [">", ">>"])
def test_standard_output_by_its_name_is_not_replaced(operator: str, tmp_path: Path) -> None:
    """The shell's own file stays, and what was in it before where the shell appends."""
    (tmp_path / "log").write_text("before\n")
    for place in ("/dev/stdout", "-"):
        line = f"{RANKBENCH} plan show quick --output {place} {operator} log; echo after >> log"
        subprocess.run(["bash", "-c", line], cwd=tmp_path, check=True)
        lines = (tmp_path / "log").read_text().splitlines()
        assert lines[0] == ("before" if operator == ">>" else lines[0])
        assert lines[-1] == "after"
        assert sum(line.startswith("question") for line in lines) >= 1


def test_a_new_plan_is_written_over_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("nothing")
    for name in ("fifo", "link"):
        with pytest.raises(RankbenchError, match="is there already"):
            run("plan new", name)
    assert b"question" in run("plan new", "-")
    assert not Path("-").exists()
    assert not Path("nothing").exists()
