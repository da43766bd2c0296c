"""A library that is slower only while other launches are on the host, or only without them: neither is judged."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import fakes
import pytest

from mpi.conftest import run_rankbench
from rankbench import libraries, store
from rankbench.analysis import evaluation
from rankbench.language import render
from rankbench.model import Library

SOURCE = Path(fakes.__file__).with_name("beside.c")
PLAN = """
operations = ["allreduce"]
sizes = "8"
placements = ["1x2"]
samples = 50
control = false
threshold = "50%"
stop = {{ blocks = 4 }}
[[candidate]]
library = "mpich==5.0.2"
name = "alpha"
[[candidate]]
library = "mpich==5.0.2"
name = "beta"
settings = {{ LD_PRELOAD = "{preload}", BESIDE = "{when}", BESIDE_NS = "1000000" }}
"""
"""A call takes so much longer, a thousand times, that a busy machine does not hide it, nor makes one of its own."""


@pytest.mark.thorough
@pytest.mark.parametrize("when", ["together", "alone"])
def test_a_library_that_is_slower_only_beside_others_or_only_alone_is_not_judged(
    when: str, reach: list[Library], home: Path, tmp_path: Path
) -> None:
    library = libraries.choose("mpich==5.0.2", reach)
    preload = tmp_path / "beside.so"
    command = [library.wrapper, "-O2", "-shared", "-fPIC", "-o", str(preload), str(SOURCE)]
    subprocess.run(command, check=True, env={**os.environ, **library.environment})
    (tmp_path / "plan.toml").write_text(PLAN.format(preload=preload, when=when))
    process = run_rankbench("run", str(tmp_path / "plan.toml"), "--results", str(tmp_path), "--name", "c", home=home)
    assert "Not decided: in 1 case candidates compare differently when each runs alone" in process.stdout
    view = evaluation.evaluate(store.open(tmp_path / "c"))
    (comparison,) = view.verdict.alone
    assert (comparison.alone < 10 < comparison.in_turns) == (when == "together")
    assert (comparison.in_turns < 10 < comparison.alone) == (when == "alone")
    assert [verdict.outcome for verdict in view.case_verdicts] == ["undecided"]
    assert not any(render(claim.text).startswith("Use ") for claim in view.verdict.conclusion)
