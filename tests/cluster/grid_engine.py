"""A Grid Engine on the nodes of a lab: its master on the head, a daemon on each node, all files in the lab's folder."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from rankbench.lab import CommandResult, Lab

PROGRAMS, DEFAULTS = Path("/usr/lib/gridengine"), Path("/usr/share/gridengine")
"""Debian's folder of programs that are not on PATH, and of initial configurations."""
CELL = {"SGE_CELL": "default", "SGE_QMASTER_PORT": "6444", "SGE_EXECD_PORT": "6445"}
BOOTSTRAP = """admin_user none
default_domain none
ignore_fqdn true
spooling_method classic
spooling_lib libspoolc
spooling_params {common};{spool}
binary_path {root}/bin
qmaster_spool_dir {spool}
security_mode none
listener_threads 2
worker_threads 2
scheduler_threads 1
jvm_threads 0
"""
CONFIGURATION = {
    "mailer": "/bin/true",
    "min_uid": "0",
    "min_gid": "0",
    "load_report_time": "00:00:01",
    "max_unheard": "00:00:10",
}
"""Jobs run as root; a node that is silent for this long is given up."""
SCHEDULING = {"schedule_interval": "0:0:1", "flush_submit_sec": "1", "flush_finish_sec": "1"}
PARALLEL = {"allocation_rule": "$round_robin"}
QUEUE = {"qname": "lab", "load_thresholds": "NONE", "pe_list": "mpi", "notify": "00:00:20"}
"""A job is killed this long after its warning."""
TRIES = 300
"""A daemon that has not started by then will not start."""


class Engine(NamedTuple):
    """A Grid Engine on a lab."""

    nodes: Lab

    @property
    def root(self) -> Path:
        """Return the folder of all files."""
        return self.nodes.folder / "sge"

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables that its commands need."""
        return {**CELL, "SGE_ROOT": str(self.root)}

    def start(self, slots: int) -> None:
        """Start the engine with this number of slots on each node, a queue `lab` and a parallel environment `mpi`."""
        self.write_cell()
        self.execute("sge_qmaster")
        self.wait_for(1, "^head$", "qconf", "-sh")
        self.execute("qconf", "-as", "head")
        self.configure("-Msconf", self.execute("qconf", "-ssconf"), SCHEDULING)
        self.configure("-Ap", (DEFAULTS / "util/resources/pe/mpi").read_text(), PARALLEL)
        hosts = self.nodes.nodes
        for node in hosts:
            self.execute("qconf", "-ah", node)
            self.execute("qconf", "-as", node)
            self.start_daemon(node)
        self.configure("-Aq", self.execute("qconf", "-sq"), QUEUE | {"hostlist": " ".join(hosts), "slots": str(slots)})
        self.wait_for(len(hosts), r"^lab@.* 0/0/\d+ +[\d.]+ +lx-amd64 *$", "qstat", "-f")

    def offer_exclusive_use(self) -> None:
        """Add the resource that sites name `exclusive`: a node with a job that requests it takes no other job."""
        path = self.root / "complexes"
        path.write_text(self.execute("qconf", "-sc") + "exclusive excl BOOL EXCL YES YES 0 1000\n")
        self.execute("qconf", "-Mc", path)
        for node in self.nodes.nodes:
            self.execute("qconf", "-mattr", "exechost", "complex_values", "exclusive=true", node)

    def start_daemon(self, node: str) -> None:
        """Start the daemon that runs jobs on a node."""
        self.nodes.on(node, ["env", *(f"{name}={value}" for name, value in self.environment.items()), "sge_execd"])

    def write_cell(self) -> None:
        """Write the files from which the master starts."""
        common, spool = self.root / CELL["SGE_CELL"] / "common", self.root / "spool"
        for folder in (common, spool, self.root / "nodes", *(self.root / name for name in ("bin", "lib", "utilbin"))):
            folder.mkdir(parents=True)
        for name in ("bin", "lib", "utilbin"):
            (self.root / name / "lx-amd64").symlink_to(PROGRAMS)
        (self.root / "util").symlink_to(DEFAULTS / "util")
        (common / "bootstrap").write_text(BOOTSTRAP.format(common=common, spool=spool, root=self.root))
        (common / "act_qmaster").write_text("head\n")
        configuration = self.root / "configuration"
        values = CONFIGURATION | {"execd_spool_dir": str(self.root / "nodes")}
        configuration.write_text(change_values((DEFAULTS / "default-configuration").read_text(), values))
        resources = DEFAULTS / "util/resources"
        self.execute(PROGRAMS / "spoolinit", "classic", "libspoolc", f"{common};{spool}", "init")
        self.execute(PROGRAMS / "spooldefaults", "configuration", configuration)
        self.execute(PROGRAMS / "spooldefaults", "complexes", resources / "centry")
        self.execute(PROGRAMS / "spooldefaults", "usersets", resources / "usersets")
        self.execute(PROGRAMS / "spooldefaults", "managers", "root")

    def configure(self, option: str, text: str, values: Mapping[str, str]) -> None:
        """Submit a configuration in which some words have other values."""
        path = self.root / option.strip("-")
        path.write_text(change_values(text, values))
        self.execute("qconf", option, path)

    def execute(self, *command: str | Path) -> str:
        """Run a command on the head, which must succeed, and return its output."""
        process = self.run(*command)
        assert process.exit_code == 0, f"{command}: {process.printed}"
        return process.printed

    def wait_for(self, times: int, line: str, *command: str) -> None:
        """Wait until a command prints so many lines of a pattern."""
        printed = ""
        for _ in range(TRIES):
            printed = self.run(*command).printed
            if len(re.findall(line, printed, re.MULTILINE)) == times:
                return
            time.sleep(0.1)
        raise AssertionError(f"{command}: {printed}")

    def run(self, *command: str | Path) -> CommandResult:
        """Run a command on the head."""
        return self.nodes.run(command, self.environment | {"LD_LIBRARY_PATH": str(PROGRAMS)})


def change_values(text: str, values: Mapping[str, str]) -> str:
    """Return a configuration, a word and its value on each line, in which some words have other values."""
    lines = dict(line.split(maxsplit=1) for line in text.splitlines() if line.strip() and not line.startswith("#"))
    assert not values.keys() - lines.keys()
    return "".join(f"{word} {value}\n" for word, value in (lines | dict(values)).items())
