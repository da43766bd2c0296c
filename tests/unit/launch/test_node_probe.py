"""The job that asks its nodes for their cores."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from fakes import scheduler
from wording import refuses

from rankbench.launch import node_probe, schedulers
from rankbench.launch.node_probe import ANSWERS, ENDED, NodeShape
from rankbench.launch.script import FOLDER
from rankbench.model import Job

ANSWER = """\
Architecture:            x86_64
CPU(s):                  96
Thread(s) per core:      {threads}
Core(s) per socket:      24
Socket(s):               2
Model name:              AMD EPYC 7402
NUMA node(s):            8
MemTotal:       263861248 kB
"""


def answer(folder: Path, **answers: str) -> Path:
    """Write the answers of nodes."""
    job = folder / FOLDER
    (job / ANSWERS).mkdir(parents=True)
    for name, text in answers.items():
        (job / ANSWERS / name).write_text(text)
    (job / ENDED).write_text("".join(f"{name}\n" for name in answers))
    return folder


def test_equal_nodes_have_one_shape(tmp_path: Path) -> None:
    nodes = node_probe.read_shapes(answer(tmp_path, n1=ANSWER.format(threads=2), n2=ANSWER.format(threads=2)))
    assert nodes == {NodeShape(2, 24, 2, 8, 252, "AMD EPYC 7402"): ["n1", "n2"]}
    assert [*node_probe.describe_shapes(nodes)] == [
        "n1, n2: 2 sockets of 24 cores, 2 threads per core, 8 NUMA nodes, 252 GiB, AMD EPYC 7402"
    ]


def test_unlike_nodes_have_two(tmp_path: Path) -> None:
    nodes = node_probe.read_shapes(answer(tmp_path, n1=ANSWER.format(threads=2), n2=ANSWER.format(threads=1)))
    assert [*nodes.values()] == [["n1"], ["n2"]]


def test_a_node_that_does_not_answer_is_named(tmp_path: Path) -> None:
    folder = answer(tmp_path, n1=ANSWER.format(threads=2), n2="")
    (folder / FOLDER / ANSWERS / "n2.err").write_text("srun: error: n2 is down\n")
    with refuses():
        node_probe.read_shapes(folder)


def test_a_job_that_ended_early_is_an_error(tmp_path: Path) -> None:
    with refuses():
        node_probe.read_shapes(tmp_path)


@pytest.mark.parametrize("kind", ["flux", "pbs"])
def test_each_node_of_a_job_answers(tmp_path: Path, kind: str) -> None:
    environment = scheduler.install(kind, tmp_path / "scheduler")
    folder = tmp_path / "it's a folder"
    (folder / FOLDER).mkdir(parents=True)
    script = node_probe.render_probe(folder, Job(scheduler=kind, nodes=4), "", schedulers.find_schedulers()[kind])
    variables = environment | scheduler.make_environment(kind, tmp_path / "scheduler", "101", 2)
    subprocess.run(["bash", "-c", script], env=os.environ | variables, timeout=60, check=True)
    (names,) = node_probe.read_shapes(folder).values()
    assert names == ["a1", "a2", "a3", "a4"]
