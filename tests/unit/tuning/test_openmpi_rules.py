"""Open MPI's rules file: JSON as written for version 6, and faults for which the library ignores a file."""

from __future__ import annotations

import json

import pytest
from unit.tuning.test_tuners import make_rule
from wording import WORDING

from rankbench.libraries.families import openmpi
from rankbench.model import Library, Rule
from rankbench.tuning import tuners
from rankbench.tuning.handover import openmpi_rules

RULES = [
    make_rule("allreduce", 8, 4095, "3", coll_tuned_allreduce_algorithm="recursive_doubling"),
    make_rule("allreduce", 4096, 65536, "5", coll_tuned_allreduce_algorithm_segmentsize="4096"),
    make_rule("allreduce", 8, 65536, "4", ranks=8, coll_tuned_allreduce_algorithm="ring"),
    make_rule("reduce_scatter", 64, 64, "2"),
]
V5, V6 = "5.0.11", "6.0.0rc1"


def test_version_6_has_json_with_both_ends_of_each_rule() -> None:
    handover = tuners.list_tuners()["openmpi"].make_handover(RULES, tuners.Target("", {}, V6))
    ((name, text),) = handover.files.items()
    assert handover.settings["coll_tuned_dynamic_rules_filename"] == f"{{folder}}/{name}"
    everywhere = {"comm_rank_distribution": "any"}
    assert json.loads(text) == {
        "rule_file_version": 3,
        "module": "tuned",
        "collectives": {
            "allreduce": [
                {
                    "comm_size_min": 4,
                    "comm_size_max": 4,
                    **everywhere,
                    "rules": [
                        {"msg_size_min": 8, "msg_size_max": 4095, "alg": "recursive_doubling"},
                        {"msg_size_min": 4096, "msg_size_max": 65536, "alg": 5, "seg_size": 4096},
                    ],
                },
                {
                    "comm_size_min": 8,
                    "comm_size_max": 8,
                    **everywhere,
                    "rules": [{"msg_size_min": 8, "msg_size_max": 65536, "alg": "ring"}],
                },
            ],
            # The library counts the bytes of all ranks.
            "reduce_scatter": [
                {
                    "comm_size_min": 4,
                    "comm_size_max": 4,
                    **everywhere,
                    "rules": [{"msg_size_min": 256, "msg_size_max": 256, "alg": 2}],
                }
            ],
        },
    }
    assert openmpi_rules.find_fault(text, V6) == ""


@pytest.mark.parametrize("rules", [RULES, RULES[:1], RULES[3:]])
def test_written_files_have_no_fault(rules: list[Rule]) -> None:
    for version in ("4.1.4", V5, V6):
        assert openmpi_rules.find_fault(openmpi_rules.write_classic(rules), version) == ""


GOOD = "1 # operations\n7\n1\n1\n2\n0 0 0 0\n8 3 0 64\n"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (GOOD, V5),
        ("", V5),
        ("1\n7\nbroken\n", V5),
        (GOOD.removesuffix(" 64\n"), V5),
        (GOOD.replace("\n0 0", "\n1 0"), V5),
        (GOOD.replace("\n7", "\n99"), V5),
        (GOOD + "16 1 0 0\n", V5),
        (f"rule-file-version-2\n{GOOD.replace('64', '64 5')}", V5),
        (f"rule-file-version-1\n{GOOD}", "5.0.6"),
        (GOOD, V6),
        ("{}", V6),
        ('{"collectives": {"allreduc": []}}', V6),
        ('{"collectives": {"bcast": [{"rules": [{}]}]}}', V6),
        ('{"collectives": {"bcast": 1}}', V6),
    ],
)
def test_faults_for_which_the_library_ignores_a_file_are_found(text: str, version: str) -> None:
    assert openmpi_rules.find_fault(text, version) == WORDING


LIBRARY = Library(name="openmpi-5.0.11", family="openmpi", version=V5, source="", prefix="", wrapper="", launcher="")


def test_a_missing_or_disabled_file_is_reported_as_ignored() -> None:
    settings = {openmpi_rules.FILE_VARIABLE: "/nowhere/rules"}
    assert openmpi.Family().list_ignored(LIBRARY, settings, "") == WORDING
    assert openmpi.Family().list_ignored(LIBRARY, settings | {openmpi_rules.SWITCH: "1"}, "") == WORDING
    assert openmpi.Family().list_ignored(LIBRARY, {}, "") == []
