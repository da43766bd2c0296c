"""The lines of a plan that errors name."""

from __future__ import annotations

import fakes
import pytest

from rankbench.model import RankbenchError
from rankbench.plan.document import find_line
from rankbench.plan.reading import parse_plan

PLAN = """\
# sizes = 8
question = '''
sizes = "of a text"
'''
candidates = ["mpich"]
operations = ["allreduce"]
sizes = "8,1K"
"calls" . "barrier" = 5
stop = { blocks = { min = 3, max = 9 } }
placements = [
    "socket",
    { nodes = 2 },
]
[options]
pingpong.from = 0
"window" = 3 # [stop]
[[candidate]]
library = "mpich"
[[candidate]]
library = "openmpi"
[candidate.settings]
btl = "tcp"
"""


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("sizes", 7),
        ("calls.barrier", 8),
        ("stop.blocks.min", 9),
        ("placements[1].nodes", 10),
        ("options", 14),
        ("options.pingpong.from", 15),
        ("options.window[1]", 16),
        ("candidate[0].library", 18),
        ("candidate[1]", 19),
        ("candidate[1].library", 20),
        ("candidate[1].name", 19),
        ("candidate[1].settings.btl", 22),
        ("size", 0),
        ("candidate[2]", 0),
        ("", 0),
    ],
)
def test_the_line_that_sets_a_place_is_found(place: str, line: int) -> None:
    assert find_line(PLAN, place) == line


def test_an_error_names_file_line_and_key() -> None:
    text = 'candidates = ["mpich"]\noperations = ["allreduce"]\n\nsizes = "8:4"\n'
    with pytest.raises(RankbenchError, match=r"^p\.toml:4: sizes: "):
        parse_plan(text, "p.toml", fakes.make_machine())


def test_an_option_of_the_command_line_has_no_line() -> None:
    text = 'candidates = ["mpich"]\noperations = ["allreduce"]\nsizes = 8\n'
    with pytest.raises(RankbenchError, match=r"^--sizes: "):
        parse_plan(text, "p.toml", fakes.make_machine(), {"sizes": "8:4"})
