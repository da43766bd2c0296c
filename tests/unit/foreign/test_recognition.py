"""The tool that printed a text is recognised by its first lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest
from fakes.tool_outputs import SAMPLES
from wording import refuses

from rankbench import units
from rankbench.foreign import Line, Table, Text, recognition, tools
from rankbench.foreign.tools import osu
from rankbench.model import RankbenchError

TOOLS = units.modules(tools)
TITLES = sorted(TOOLS.values(), key=lambda tool: int(getattr(tool, "PRECEDENCE", 0)))
LATENCY = """\
# OSU MPI Latency Test v7.4
# Size       Avg Latency(us)
1                       0.26
"""


def _make_text(text: str) -> Text:
    return Text("f", iter([Line(number, line) for number, line in enumerate(text.splitlines(), 1)]))


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS.keys())
def test_a_tool_is_complete(tool: ModuleType) -> None:
    assert tool.TITLE
    names = [operation.name for operation in tool.OPERATIONS]
    assert names
    assert len(set(names)) == len(names)
    for operation in tool.OPERATIONS:
        assert operation.foreign
        assert operation.foreign.suite == tool.NAME == tool.__name__.rsplit(".", 1)[1]
        assert operation.foreign.meaning.text
    assert not tool.recognises([])


@pytest.mark.parametrize(
    "name", sorted({path.parent.name.split("-")[0] for path in SAMPLES.glob("*/*.txt")} & set(TOOLS))
)
def test_samples_of_a_tool_are_recognised_as_its_own(name: str) -> None:
    paths = [path for path in SAMPLES.glob(f"{name}*/*.txt") if path.read_text(errors="replace").strip()]
    types = [recognition.find_tool([Line(1, line) for line in path.read_text().splitlines()]) for path in paths]
    assert {tool.NAME for tool in types if tool} == {name}
    assert sum(tool is not None for tool in types) > len(paths) // 2


def test_a_file_is_read_by_the_tool_that_printed_it(tmp_path: Path) -> None:
    file = tmp_path / "latency.out"
    file.write_text(LATENCY)
    table = next(recognition.read_file(file))
    assert (table.operation.name, table.rows[0].numbers) == ("osu-latency", (0.26,))


def test_lines_keep_their_numbers() -> None:
    numbered = [Line(number + 100, line) for number, line in enumerate(LATENCY.splitlines(), 1)]
    assert next(recognition.read_text(Text("f", iter(numbered)))).rows[0].line == 103


def test_an_unknown_text_is_refused_with_the_names_of_all_tools() -> None:
    with pytest.raises(RankbenchError) as caught:
        list(recognition.read_text(_make_text("PING 127.0.0.1\n64 bytes from 127.0.0.1: icmp_seq=1\n")))
    titles = ", ".join(tool.TITLE for tool in TITLES)
    assert str(caught.value) == f"f: not the output of a known benchmark (allowed: {titles})"


def test_a_recognised_text_without_a_table_is_refused() -> None:
    with refuses():
        list(recognition.read_text(_make_text("# OSU MPI Hello World Test v7.4\nThis is a test with 2 processes\n")))


def test_tools_are_tried_in_the_order_of_their_precedence(monkeypatch: pytest.MonkeyPatch) -> None:
    def accept_all(_head: Sequence[Line]) -> bool:
        return True

    def read_nothing(_text: Text) -> Iterator[Table]:
        yield from ()

    greedy = ModuleType("a_greedy_one")
    vars(greedy).update(TITLE="Greedy", PRECEDENCE=10, recognises=accept_all, read=read_nothing)
    monkeypatch.setattr(units, "modules", lambda _package: {"a_greedy_one": greedy, "osu": osu})
    assert recognition.find_tool([Line(1, "anything")]) is greedy
    assert recognition.find_tool([Line(1, line) for line in LATENCY.splitlines()]) is osu
    with refuses():
        list(recognition.read_text(_make_text("anything\n")))


def test_a_text_longer_than_its_head_is_read_to_its_end() -> None:
    rows = "".join(f"{number:<10d}{number / 100:18.2f}\n" for number in range(1, 2001))
    table = next(
        recognition.read_text(_make_text("# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n" + rows))
    )
    assert len(table.rows) == 2000
