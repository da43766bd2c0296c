"""What is done while a command waits for other programs."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from rankbench.cli import background
from rankbench.model import RankbenchError


def test_an_act_goes_on_beside_its_caller_and_its_result_is_waited_for() -> None:
    both = threading.Barrier(2, timeout=60)
    result = background.start_thread(lambda: (both.wait(), "result"))
    both.wait()  # Neither comes here alone.
    assert [result()[1], result()[1]] == ["result", "result"]


def test_what_an_act_raises_is_raised_where_its_result_is_wanted() -> None:
    def fail() -> None:
        raise RankbenchError("no such folder")

    result = background.start_thread(fail)
    with pytest.raises(RankbenchError, match="no such folder"):
        result()


def test_modules_are_there_once_they_were_waited_for() -> None:
    code = (
        "import sys\nfrom rankbench.cli import background\n"
        "loaded = background.load('xml.dom', 'rankbench.quantities')\n"
        "loaded()\nprint('xml.dom' in sys.modules, 'rankbench.quantities' in sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (process.stdout, process.stderr) == ("True True\n", "")
