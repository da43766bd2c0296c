"""Settings of cases: the table of a plan, its cases, and the lines of the job."""

from __future__ import annotations

import fakes
import msgspec
import pytest
from wording import WORDING, refuses

from rankbench import plan, samples
from rankbench.model import Plan, RankbenchError

TEXT = """
candidates = ["mpich"]
operations = ["allreduce", "barrier"]
sizes = "8"

[settings]
ring = { ALGORITHM = "ring", LIMIT = 4 }
again = {}
"""


def read(text: str = TEXT) -> Plan:
    return plan.parse_plan(text, "p.toml", fakes.make_machine())


def test_each_case_is_measured_with_each_named_setting() -> None:
    planned = read(TEXT.replace("[settings]", '[options]\n"allreduce.settings" = ["default", "ring"]\n[settings]'))
    cases, _ = plan.expand_plan(planned, fakes.read_description(), fakes.make_machine())
    assert [(case.operation, case.options) for case in cases] == [
        ("allreduce", {}),
        ("allreduce", {"settings": "ring"}),
        ("barrier", {}),
    ]


def test_a_job_has_the_variables_instead_of_the_name() -> None:
    planned = read(TEXT.replace("[settings]", '[options]\nsettings = ["default", "ring", "again"]\n[settings]'))
    cases, _ = plan.expand_plan(planned, fakes.read_description(), fakes.make_machine())
    lines = [samples.case_line(case, planned) for case in cases if case.operation == "allreduce"]
    assert [line.partition("settings=")[2].partition(" ")[0] for line in lines] == ["", "ALGORITHM=ring;LIMIT=4", ";"]


@pytest.mark.parametrize(
    "table",
    [
        'default = { A = "1" }',
        '"a b" = { A = "1" }',
        'ring = "fast"',
        "ring = { A = 1.5 }",
        'ring = { A = "x y" }',
        f'ring = {{ A = "{"x" * 260}" }}',
    ],
)
def test_a_wrong_setting_is_refused_in_one_line(table: str) -> None:
    with pytest.raises(RankbenchError) as failure:
        read(f'candidates = ["mpich"]\noperations = ["allreduce"]\n[settings]\n{table}\n')
    assert fakes.drop_line(str(failure.value)) == WORDING


def test_an_unknown_setting_is_refused_with_a_suggestion() -> None:
    planned = msgspec.structs.replace(read(), options={"settings": ["rnig"]})
    with refuses():
        plan.expand_plan(planned, fakes.read_description(), fakes.make_machine())
