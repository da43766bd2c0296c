"""Standard output: closed by its reader, as in `rankbench show | head`, full, without a width, or in ASCII."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import mark_thorough
from fakes.campaigns import Truth, make_campaign

from rankbench.model import Case

RANKBENCH = Path(sys.executable).with_name("rankbench")


def make_equal(_candidate: str, _case: Case) -> Truth:
    return Truth()


@pytest.mark.parametrize("option", ["", "--format csv"])
def test_a_reader_that_closes_the_pipe_is_no_error(option: str, tmp_path: Path) -> None:
    """The reader closes the pipe before the first byte, so that every write fails."""
    make_campaign(tmp_path / "made", make_equal, launches=3)
    command = f"set -o pipefail; {RANKBENCH} show {tmp_path / 'made'} {option} | true"
    process = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (0, "")


@pytest.mark.parametrize("command", ["show made --format json", "plan", "--help"])
def test_a_full_standard_output_is_one_line(command: str, tmp_path: Path) -> None:
    """Also where the text is written at the very end only."""
    make_campaign(tmp_path / "results" / "made", make_equal, launches=3)
    full = tmp_path / "full"
    try:
        os.mknod(full, stat.S_IFCHR | 0o666, os.makedev(1, 7))
    except PermissionError:
        pytest.skip("only root can make a device node")
    with full.open("wb", buffering=0) as output:
        process = subprocess.run(
            [RANKBENCH, *command.split()], stdout=output, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path
        )
    assert (process.returncode, process.stderr) == (
        2,
        "rankbench: standard output cannot be written (No space left on device)\n",
    )


@pytest.mark.costly
@pytest.mark.parametrize("settings", [{"COLUMNS": "0"}, {"PYTHONIOENCODING": "ascii"}, {"COLUMNS": "1"}])
@pytest.mark.parametrize("command", ["show --verbose", *map(mark_thorough, ["show", "status", "status made"])])
def test_any_width_and_encoding_can_be_printed(settings: dict[str, str], command: str, tmp_path: Path) -> None:
    make_campaign(tmp_path / "results" / "made", make_equal, launches=3)
    process = subprocess.run(
        [RANKBENCH, *command.split()], env=os.environ | settings, capture_output=True, check=False, cwd=tmp_path
    )
    assert (process.returncode, process.stderr.decode()) == (0, "")
    assert process.stdout
