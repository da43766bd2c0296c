"""Work in the background while a command waits for other programs."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from rankbench.model import RankbenchError
from rankbench.workflows import background


def test_a_function_runs_beside_its_caller_until_its_result_is_needed() -> None:
    both = threading.Barrier(2, timeout=60)
    result = background.start_thread(lambda: (both.wait(), "result"))
    both.wait()  # Neither thread passes alone.
    assert [result()[1], result()[1]] == ["result", "result"]


def test_an_error_of_a_background_function_is_raised_with_its_result() -> None:
    def fail() -> None:
        raise RankbenchError("no such folder")

    result = background.start_thread(fail)
    with pytest.raises(RankbenchError, match="no such folder"):
        result()


def test_modules_are_loaded_in_the_background() -> None:
    code = (
        "import sys\nfrom rankbench.workflows import background\n"
        "loaded = background.load('xml.dom', 'rankbench.quantities')\n"
        "loaded()\nprint('xml.dom' in sys.modules, 'rankbench.quantities' in sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (process.stdout, process.stderr) == ("True True\n", "")
