"""An OpenPBS on the nodes of a lab: server, scheduler and database on the head, a daemon on each node."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from rankbench.lab import CommandResult, Lab

HOME, CONFIGURATION = "/mnt", "/tmp/pbs.conf"
"""On each node of a lab, which has its own /tmp. PBS wants a home in a folder that only root can write to."""
SERVER = ("acl_roots = root", "acl_roots += root@*", "flatuid = true", "scheduling = true", "scheduler_iteration = 2")
QUEUE = "create queue workq queue_type=execution,enabled=true,started=true,kill_delay=10"
ROLES = ("SERVER", "SCHED", "COMM", "MOM")
TRIES = 1200
"""Tenths of a second after which a daemon that has not started will not start."""


class Server(NamedTuple):
    """An OpenPBS on a lab."""

    nodes: Lab
    scheduler: str = "pbs"
    title: str = "PBS"

    @property
    def programs(self) -> Path:
        """Return the folder in which it is installed."""
        return Path(shutil.which("pbs_server") or "").resolve().parents[1]

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the variables that its commands need."""
        return {"PBS_CONF_FILE": CONFIGURATION, "LC_ALL": "C"}

    @property
    def version(self) -> str:
        """Return its version."""
        return self.execute("qstat", "--version").rpartition("= ")[2].strip()

    def start(self, slots: int) -> None:
        """Start it with this number of cores on each node, more than there are if need be."""
        self.write_home("head", "server", self.version, ("SERVER", "SCHED", "COMM"))
        self.execute(
            "sh", "-c", f"{self.programs}/libexec/pbs_habitat >{HOME}/habitat.log 2>&1 || cat {HOME}/habitat.log"
        )
        for name in ("pbs_comm", "pbs_server", "pbs_sched"):
            self.execute("sh", "-c", f"pgrep -x {name} >/dev/null || {self.programs}/sbin/{name} >/dev/null 2>&1")
        self.wait_for("", "timeout", "10", "qstat", "-B")
        for value in SERVER:
            self.execute("qmgr", "-c", f"set server {value}")
        self.run("qmgr", "-c", QUEUE)
        self.execute("qmgr", "-c", "set server default_queue = workq")
        for node in self.nodes.nodes:
            self.execute("qmgr", "-c", f"create node {node} resources_available.ncpus={slots}")
            self.start_node(node)

    def start_node(self, node: str) -> None:
        """Start the daemon of a node and wait until it is free."""
        self.write_home(node, "execution", self.version, ("MOM",))
        values = shlex.quote("$clienthost head\n$usecp *:/ /\n")
        self.on(node, f"printf {values} >{HOME}/mom_priv/config; pbs_mom >/dev/null 2>&1")
        self.wait_for("free", "sh", "-c", f"pbsnodes {node} | sed -n 's/^ *state = //p'")

    def write_home(self, host: str, role: str, version: str, daemons: tuple[str, ...]) -> None:
        """Write the configuration of a host and its folder.

        The socket by which one qsub hands its job to the last one is in a folder that the host has for itself: all
        servers here are called head, and in a folder that labs share it may lead to another lab's.
        """
        values = {"PBS_EXEC": self.programs, "PBS_SERVER": "head", "PBS_HOME": HOME, "PBS_CORE_LIMIT": "unlimited",
                  "PBS_SCP": "/bin/false", "PBS_TMPDIR": "/tmp"}  # fmt: skip
        values |= {f"PBS_START_{name}": int(name in daemons) for name in ROLES}
        text = "".join(f"{name}={value}\n" for name, value in values.items())
        rest = [HOME, "''", "sameconf"] if role == "server" else [HOME, "sameconf"]
        install = " ".join([f"{self.programs}/libexec/pbs_postinstall", role, version, str(self.programs), *rest])
        self.on(host, f"mkdir -p /tmp/home && mount --bind /tmp/home {HOME}")
        self.on(host, f"printf %s {shlex.quote(text)} >{CONFIGURATION}; {install} >{CONFIGURATION}.log 2>&1")
        self.on(host, f"printf 'PBS_CONF_FILE={CONFIGURATION}\\n' >>{HOME}/pbs_environment")

    def keep_history(self, *, enabled: bool) -> None:
        """Let the server keep the history of jobs, or forget it, which is its default."""
        self.execute("qmgr", "-c", f"set server job_history_enable = {enabled}")

    def fill(self) -> str:
        """Submit a job that uses all nodes for a long time; return its number."""
        resources = ["-l", f"select={len(self.nodes.nodes)}:ncpus=1", "-l", "place=scatter:excl"]
        return self.execute("qsub", *resources, "-o", "/dev/null", "-j", "oe", "--", "/bin/sleep", "1000").strip()

    def cancel(self, number: str) -> None:
        """Cancel a job, which may have ended."""
        self.run("qdel", number)

    def on(self, host: str, line: str) -> None:
        """Run a line of shell on the head or on a node."""
        words = ["env", *(f"{name}={value}" for name, value in self.environment.items()), "sh", "-c", line]
        self.execute(*words) if host == "head" else self.nodes.on(host, words)

    def execute(self, *command: str | Path) -> str:
        """Run a command on the head, which must succeed, and return its output."""
        process = self.run(*command)
        assert process.exit_code == 0, f"{command}: {process.printed}"
        return process.printed

    def run(self, *command: str | Path) -> CommandResult:
        """Run a command on the head."""
        return self.nodes.run(command, self.environment)

    def wait_for(self, answer: str, *command: str | Path) -> None:
        """Wait until a command succeeds and prints this; empty: anything."""
        for _ in range(TRIES):
            process = self.run(*command)
            if process.exit_code == 0 and answer in {"", process.printed.strip()}:
                return
            time.sleep(0.1)
        raise AssertionError(f"{command}: {process.printed}")
