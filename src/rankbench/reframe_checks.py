"""A library class for ReFrame (Karakasis et al., 2020), version 4: a campaign as a check. It needs `reframe-hpc`.

    import reframe as rfm
    from rankbench.reframe_checks import CampaignCheck

    @rfm.simple_test
    class Libraries(CampaignCheck):
        plan = "/work/libraries.toml"
        num_nodes = 2
        valid_systems = ["cluster:compute"]
        valid_prog_environs = ["builtin"]

The job runs rankbench on its first node, which starts ranks on all of them. Each value is a performance variable.
ReFrame may have an environment of its own: this module needs none of the libraries of rankbench, whose command may be
named by `executable`.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import reframe as rfm
from reframe.core.backends import getlauncher
from reframe.core.builtins import run_before, sanity_function, variable
from reframe.utility import sanity

EXPORT = "campaign.json"


class CampaignCheck(rfm.RunOnlyRegressionTest):
    """Runs the campaign of a plan on the nodes of a job. Passes if every candidate could be measured."""

    plan = variable(str)
    """The plan: a file that the nodes see."""
    num_nodes = variable(int, value=1)
    options = variable(str, value="")
    """Further options of `rankbench run`, such as `--time 10m`."""
    executable = "rankbench"

    @run_before("setup")
    def request_nodes(self) -> None:
        """Request whole nodes: rankbench decides how many ranks are on each."""
        self.num_tasks, self.num_tasks_per_node = self.num_nodes, 1
        self.exclusive_access = True

    @run_before("run")
    def start_alone(self) -> None:
        """Let rankbench start the ranks; nothing is exported if a candidate fails."""
        self.job.launcher = getlauncher("local")()
        run = ["run", self.plan, "--results", ".", "--name", "campaign", *(["--in-job"] if self.num_nodes > 1 else [])]
        export = [self.executable, "export", "./campaign", "--format", "json", "--output", EXPORT]
        self.executable_opts = [*map(shlex.quote, run), *shlex.split(self.options), "&&", *export]

    @sanity_function
    def check_export(self) -> object:
        """Pass if the campaign was exported."""
        return sanity.assert_true(sanity.path_isfile(EXPORT), f"rankbench failed: {self.stdout} says why")

    @run_before("performance")
    def read_values(self) -> None:
        """Make a performance variable of each value of a candidate in a case, and in a state if there are several."""
        values = json.loads((Path(self.stagedir) / EXPORT).read_text(encoding="utf-8"))["values"]
        for row in values:
            name = " ".join(filter(None, (row["case"], row["candidate"], row["state"])))
            self.perf_variables[name] = sanity.make_performance_function(sanity.defer(row["value"]), row["unit"])
