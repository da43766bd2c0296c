"""A ready ReFrame test: it runs the campaign's plan again and holds each value against this campaign's.

Every case of every candidate is a performance variable of one class, which derives from RunOnlyRegressionTest.
"""

from __future__ import annotations

import re
from string import Template
from typing import TYPE_CHECKING

from rankbench.exports.values import list_case_values
from rankbench.exports.writing import write_text
from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rankbench.exports import EvaluatedCampaign
    from rankbench.exports.values import Value
    from rankbench.model import Campaign
    from rankbench.verdict.view import CampaignView

TITLE = "a test class for ReFrame with a reference for each value"
SUFFIX = ".py"
PLACE = "file"
TEST = Template('''\
"""Made by `rankbench export --format reframe`: runs a plan, and holds what it finds against an earlier campaign of it.

A performance variable is the typical value of a case with a candidate. Its reference is that campaign's, its bound the
end of that value's interval, and `slack` beyond it: smaller differences do not matter. What is better than the
interval fails only with `-S $class_name.two_sided=1`. rankbench starts the ranks itself, so this is one task; it must
be found on PATH.
"""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.backends import getlauncher

PLAN = (
$plan
)
REFERENCES = {
$references
}
"""By variable: the value, the ends of its interval, and the unit."""


@rfm.simple_test
class $class_name(rfm.RunOnlyRegressionTest):
    slack = variable(float, value=$slack)
    two_sided = variable(typ.Bool, value=False)
    descr = $question
    tags = {'rankbench', 'performance'}
    valid_systems = ['*']
    valid_prog_environs = ['*']
    sourcesdir = None
    num_tasks = 1
    exclusive_access = True
    executable = 'rankbench'
    executable_opts = ['run', 'plan.toml', '--results', '.', '--name', 'campaign']
    postrun_cmds = ['rankbench export campaign --format json --output campaign.json']
    keep_files = ['plan.toml', 'campaign.json', 'campaign']

    @run_before('run')
    def prepare(self):
        self.job.launcher = getlauncher('local')()
        with open(os.path.join(self.stagedir, 'plan.toml'), 'w', encoding='utf-8') as file:
            file.write(PLAN)

    def measured(self):
        with open(os.path.join(self.stagedir, 'campaign.json'), encoding='utf-8') as file:
            found = json.load(file)['values']
        named = {f'{one["case"]} {one["candidate"]}'.replace(':', '_'): one['value'] for one in found}
        return {name: value for name, value in named.items() if value is not None}

    @sanity_function
    def every_case_has_a_value(self):
        missing = sorted(REFERENCES.keys() - self.measured().keys())
        return sn.assert_false(missing, f'no value of {", ".join(missing)}')

    @run_before('performance')
    def hold_against_the_campaign(self):
        measured, references = self.measured(), {}
        for name, (value, low, high, unit) in REFERENCES.items():
            self.perf_variables[name] = sn.make_performance_function(measured.get, unit, name)
            lower, upper = max(low / value - 1 - self.slack, -1), high / value - 1 + self.slack
            if not self.two_sided and unit.endswith('/s'):
                upper = None
            elif not self.two_sided:
                lower = None
            references[name] = (value, lower, upper, unit)
        self.reference = {'*': references}
''')


def write(source: EvaluatedCampaign, path: Path) -> Iterator[Path]:
    """Write the test."""
    yield write_text(path, test(source.view))


def test(view: CampaignView) -> str:
    """Return the Python file."""
    campaign = view.campaign
    if campaign.imported or not campaign.plan.text:
        raise RankbenchError(
            f"campaign {campaign.name} was imported; without a plan there is nothing for ReFrame to run"
        )
    planned = campaign.plan
    return TEST.substitute(
        class_name=class_name(campaign.name),
        plan=indent(repr(line) for line in planned.text.splitlines(keepends=True)),
        references=indent(list_references(campaign, list_case_values(view))),
        slack=repr(planned.threshold),
        question=repr(f"rankbench: {planned.question} (campaign {campaign.name} of {campaign.created})"),
    )


def list_references(campaign: Campaign, rows: Iterable[Value]) -> Iterator[str]:
    """Yield the reference of each value; A/A twins have none. Without an interval its ends are the value."""
    twins = {candidate.name for candidate in campaign.candidates if candidate.control_of}
    for row in rows:
        if row.value and row.candidate not in twins:
            value, low, high = (
                round_number(row.value if end is None else end) for end in (row.value, row.low, row.high)
            )
            name = f"{row.case} {row.candidate}".replace(":", "_")  # A colon would name a system.
            yield f"{name!r}: ({value!r}, {low!r}, {high!r}, {row.unit!r}),"


def round_number(number: float) -> float:
    """Return a number with as many digits as a person can use."""
    return float(f"{number:.7g}")


def indent(lines: Iterable[str]) -> str:
    """Return lines in the brackets of a tuple or a dictionary."""
    return "\n".join(f"    {line}" for line in lines)


def class_name(name: str) -> str:
    """Return the name of the class: ReFrame wants those of all tests to differ."""
    return "Rankbench" + "".join(part[:1].upper() + part[1:] for part in re.findall("[A-Za-z0-9]+", name))
