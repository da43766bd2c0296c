"""A pipe closed by its reader, as in `rankbench show | head`, is no error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.campaigns import Truth, make_campaign

if TYPE_CHECKING:
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
