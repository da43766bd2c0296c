"""Any file is read as tables, or refused with one message that names file and line: for every tool."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from fakes.tool_outputs import SAMPLES
from hypothesis import given
from hypothesis import strategies as st

from rankbench import units
from rankbench.foreign import Table, recognition, tools
from rankbench.model import RankbenchError

TOOLS = units.modules(tools)
PIECES = [
    b"",
    b" ",
    b"\t",
    b"\n",
    b"\r",
    b"nan",
    b"-",
    b"-1",
    b"inf",
    b"1e999",
    b"9" * 30,
    b"#",
    b"(",
    b":",
    b"\xff",
    b"\x00",
    b"|",
]
MAX_LINES = 60


def _read_samples(name: str) -> list[bytes]:
    """Return the beginnings of a tool's files; a tool without files gets those of every tool."""
    paths = sorted(SAMPLES.glob(f"{name}*/**/*")) or sorted(SAMPLES.glob("*/*"))
    texts = [path.read_bytes() for path in paths if path.is_file()]
    return sorted({b"".join(text.splitlines(keepends=True)[:MAX_LINES]) for text in texts if text.strip()})


BY_TOOL = {name: _read_samples(name) for name in TOOLS}
EVERY = sorted({text for texts in BY_TOOL.values() for text in texts})


def _check_file(raw: bytes, folder: Path) -> None:
    file = folder / "output.txt"
    file.write_bytes(raw)
    try:
        tables = list(recognition.read_file(file))
    except RankbenchError as error:
        assert str(error).startswith(f"{file}:")
        assert "\n" not in str(error)
        assert len(str(error)) < 2000 + len(str(file))
    else:
        assert tables
        for table in tables:
            _check_table(table)


def _check_table(table: Table) -> None:
    assert table.rows
    assert "value" in table.roles
    assert set(table.roles.values()) <= set(range(len(table.columns)))
    assert table.scale > 0
    assert math.isfinite(table.scale)
    assert list(table.options) == sorted(table.options)
    assert len(table.noise) <= 20
    for row in table.rows:
        assert len(row.numbers) == len(table.columns)
        assert 0 <= row.size_bytes <= 1 << 62
        assert not any(math.isinf(number) for number in row.numbers)
        assert not row.numbers[table.roles["value"]] < 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("outputs")


@pytest.mark.parametrize("name", BY_TOOL)
@given(data=st.data())
def test_mutated_samples_are_read_or_refused_in_one_line(folder: Path, name: str, data: st.DataObject) -> None:
    pieces = data.draw(st.sampled_from(BY_TOOL[name])).splitlines(keepends=True)
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(pieces) - 1))
        line = pieces[place]
        begin = data.draw(st.integers(0, len(line)))
        end = begin + data.draw(st.integers(0, 8))
        pieces[place] = line[:begin] + data.draw(st.sampled_from(PIECES)) + line[end:]
    _check_file(b"".join(pieces), folder)


@pytest.mark.parametrize("name", BY_TOOL)
@given(data=st.data())
def test_a_sample_truncated_at_any_byte_is_read_or_refused_in_one_line(
    folder: Path, name: str, data: st.DataObject
) -> None:
    raw = data.draw(st.sampled_from(BY_TOOL[name]))
    cut = raw[: data.draw(st.integers(0, len(raw)))]
    _check_file(cut + data.draw(st.sampled_from([b"", b"\n"])), folder)


@given(data=st.data())
def test_lines_of_all_tools_in_any_order_are_read_or_refused_in_one_line(folder: Path, data: st.DataObject) -> None:
    texts = data.draw(st.lists(st.sampled_from(EVERY), min_size=1, max_size=3))
    pieces = [line for text in texts for line in text.splitlines(keepends=True)]
    chosen = data.draw(st.lists(st.integers(0, len(pieces) - 1), max_size=30))
    _check_file(b"".join(pieces[place] for place in chosen), folder)


@given(raw=st.binary(max_size=400))
def test_any_bytes_are_read_or_refused_in_one_line(folder: Path, raw: bytes) -> None:
    _check_file(raw, folder)


@given(raw=st.binary(max_size=60), before=st.booleans(), data=st.data())
def test_any_bytes_next_to_a_sample_are_read_or_refused_in_one_line(
    folder: Path, raw: bytes, before: bool, data: st.DataObject
) -> None:
    sample = data.draw(st.sampled_from(EVERY))
    _check_file(raw + sample if before else sample + raw + b"\n", folder)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS.keys())
def test_lines_of_many_words_are_read_or_refused_in_one_line(tool: ModuleType, folder: Path) -> None:
    head = BY_TOOL[tool.__name__.rsplit(".", 1)[1]][0]
    for line in (b"1 " * 30_000, b"a " * 30_000, b"(" * 60_000, b"# " + b"a: " * 20_000, b"# Size  " + b"x " * 20_000):
        _check_file((head + line + b"\n") * 3, folder)


PEAK = """
import resource, sys
from pathlib import Path
from rankbench.foreign import recognition

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

few, many = map(Path, sys.argv[1:])
sum(len(table.rows) for table in recognition.read_file(few))
before = peak()
rows = sum(len(table.rows) for table in recognition.read_file(many))
print(rows, peak() - before)
"""


@pytest.mark.thorough
def test_a_million_lines_need_no_more_memory_than_a_few(tmp_path: Path) -> None:
    head = "\n# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n"
    table = head + "".join(f"{1 << power:<10d}{power + 0.25:18.2f}\n" for power in range(21))
    few, many = tmp_path / "few.txt", tmp_path / "many.txt"
    few.write_text(table * 2_000)
    many.write_text(table * 40_000)
    process = subprocess.run([sys.executable, "-c", PEAK, few, many], capture_output=True, text=True, check=True)
    rows, more_kib = map(int, process.stdout.split())
    assert many.read_text().count("\n") == 1_000_000
    assert rows == 840_000
    assert more_kib < 8 * 1024
