"""Settings of a library that cases carry: the table `[settings]` of a plan, and the option `settings` that names them.

The core sets the variables through MPI_T while such a case is measured, so that all settings are measured in one launch
and in turn. Where a library has no such variable, or takes no value of it while it runs, the case is `lacking`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from rankbench.model import Case, Description, Option, Plan
from rankbench.plan.document import Value

OPTION, DEFAULT = "settings", "default"
HELP = "control variables of the library while the case is measured (MPI_T); the plan's table [settings] has them"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+-]*")
NAME_HELP = 'a name of letters, digits, "_", "+" and "-", which is not "default"'
MOST_BYTES = 255
"""Longest text of one setting's variables in a job; a limit of the core."""


def parse_settings(value: Value) -> dict[str, dict[str, str]]:
    """Return the variables of each setting of the table `[settings]`, by name."""
    variables = {}
    for name, entry in value.read_entries("NAME = { VARIABLE = value }").items():
        if not NAME.fullmatch(name) or name == DEFAULT:
            raise entry.make_error(f"found {name!r}, expected {NAME_HELP}")
        variables[name] = dict(_read_variables(entry))
        if len(format_variables(variables[name]).encode()) > MOST_BYTES:
            raise entry.make_error(f"its variables take more than {MOST_BYTES} characters; leave some out")
    return variables


def _read_variables(value: Value) -> Iterator[tuple[str, str]]:
    for variable, entry in value.read_entries("VARIABLE = value").items():
        if isinstance(entry.raw, bool) or not isinstance(entry.raw, str | int):
            raise entry.reject("text or a whole number")
        if re.search(r"[\s;=]", f"{variable}{entry.raw}") or not variable:
            raise entry.make_error("found a blank, ; or =, which a job cannot carry")
        yield variable, str(entry.raw)


def add_settings_option(description: Description, plan: Plan) -> Description:
    """Return the core's description with the plan's settings as an option of each operation."""
    if not plan.settings:
        return description
    option = Option(name=OPTION, help=HELP, usual=DEFAULT, values=[DEFAULT, *plan.settings])
    operations = [
        operation
        if operation.foreign or operation.once
        else msgspec.structs.replace(operation, options=[*operation.options, option])
        for operation in description.operations
    ]
    return msgspec.structs.replace(description, operations=operations)


def resolve_options(case: Case, plan: Plan) -> dict[str, str]:
    """Return the options of a case for a job: a setting has its variables instead of its name."""
    name = case.options.get(OPTION)
    return case.options if name is None else case.options | {OPTION: format_variables(plan.settings[name])}


def format_variables(variables: Mapping[str, str]) -> str:
    """Return variables as the core reads them, `NAME=VALUE;NAME=VALUE`; of none, what sets none."""
    return ";".join(f"{name}={value}" for name, value in variables.items()) or ";"
