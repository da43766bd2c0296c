"""A Flux instance on the nodes of a lab: a broker on each, and one on the head, which runs no jobs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from rankbench.lab import CommandResult, Lab

CONFIGURATION = """[bootstrap]
curve_cert = "{folder}/certificate"
default_port = 8050
default_bind = "tcp://eth0:%p"
default_connect = "tcp://%h:%p"
hosts = [{hosts}]
[resource]
path = "{folder}/R"
noverify = true
exclude = "head"
[tbon]
tcp_user_timeout = "5s"
"""
RUN = "/tmp/flux"
TRIES = 600
"""Tenths of a second after which an instance that has not started will not start."""


class Instance(NamedTuple):
    """A Flux instance on a lab."""

    nodes: Lab
    scheduler: str = "flux"
    title: str = "Flux"

    @property
    def folder(self) -> Path:
        """Return the folder of all files."""
        return self.nodes.folder / "flux"

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the variables that its commands need on the head."""
        return {"FLUX_URI": f"local://{RUN}/local-0"}

    def start(self, slots: int) -> None:
        """Start the instance with this number of cores on each node, more than there are if need be."""
        self.folder.mkdir()
        hosts = ("head", *self.nodes.nodes)
        self.execute("flux", "keygen", self.folder / "certificate")
        ranks, cores = f"0-{len(hosts) - 1}", f"0-{slots - 1}"
        encode = ("flux", "R", "encode", "-r", ranks, "-H", ",".join(hosts), "-c", cores)
        (self.folder / "R").write_text(self.execute(*encode))
        names = ", ".join(f'{{host = "{host}"}}' for host in hosts)
        (self.folder / "flux.toml").write_text(CONFIGURATION.format(folder=self.folder, hosts=names))
        for host in hosts:
            self.start_node(host)
        self.wait_for_nodes()

    def start_node(self, host: str) -> None:
        """Start the broker of a host."""
        program = f"flux broker --config-path={self.folder}/flux.toml -Srundir={RUN} -Sstatedir={RUN}"
        wanted = f"{program} sleep infinity" if host == "head" else program
        command = f"mkdir -p {RUN}; exec {wanted} >{self.folder}/{host}.log 2>&1"
        self.nodes.start(["sh", "-c", command], "" if host == "head" else host)

    def wait_for_nodes(self) -> None:
        """Wait until all nodes are free."""
        free = ("timeout", "5", "flux", "resource", "list", "--no-header", "--states=free", "--format={nnodes}")
        for _ in range(TRIES):
            if (answer := self.run(*free)).printed.strip() == str(len(self.nodes.nodes)):
                return
            time.sleep(0.1)
        logs = "\n".join(path.read_text() for path in self.folder.glob("*.log"))
        raise AssertionError(f"no free nodes: {answer.printed}\n{logs}")

    def fill(self) -> str:
        """Submit a job that uses all nodes for a long time; return its number."""
        nodes = len(self.nodes.nodes)
        return self.execute("flux", "submit", f"-N{nodes}", f"-n{nodes}", "--exclusive", "sleep", "1000").strip()

    def cancel(self, number: str) -> None:
        """Cancel a job, which may have ended."""
        self.run("flux", "cancel", number)

    def execute(self, *command: str | Path) -> str:
        """Run a command on the head, which must succeed, and return its output."""
        process = self.run(*command)
        assert process.exit_code == 0, f"{command}: {process.printed}"
        return process.printed

    def run(self, *command: str | Path) -> CommandResult:
        """Run a command on the head."""
        return self.nodes.run(command, self.environment)
