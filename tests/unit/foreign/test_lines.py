"""Bytes become lines, or one message about where they are not text."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from wording import refuses

from rankbench.foreign import Line, printed_lines
from rankbench.model import RankbenchError


def _read_texts(raw: bytes) -> list[tuple[int, str]]:
    return [(line.number, line.text) for line in printed_lines.read_lines(io.BytesIO(raw), "f")]


def test_lines_are_numbered_from_1_without_line_ends() -> None:
    assert _read_texts(b"a\n\n b \n") == [(1, "a"), (2, ""), (3, " b ")]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"1 2\r\n", "1 2"),
        (b"1 2\r\r\n", "1 2"),
        (b"\xef\xbb\xbf1 2\n", "1 2"),
        (b"# Gr\xfc\xdfe\n", "# Gr\ufffd\ufffde"),
        ("# Grüße\n".encode(), "# Grüße"),
        (b"\x1b[1;31m# OSU\x1b[0m\x1b[K Test\n", "# OSU Test"),
        (b"\x1b]0;a title\x07# OSU\n", "# OSU"),
        (b"\ta\x0b\x0c\n", "\ta\x0b\x0c"),
    ],
)
def test_additions_of_editors_and_terminals_are_removed(raw: bytes, text: str) -> None:
    assert _read_texts(raw) == [(1, text)]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xef\xbb\xbf",
        b"a\nb\x00c\n",
        b"a\n\nb\n\x1f\x8b\x08\n",
        b"\xff\xfea\x00\n\x00",
        b"\xfe\xff\x00a\x00\n",
        b"\x1f\x8b\x08\x00",
        b"a\n1   0.5",
        b"1   0.5\r",
        b"a\n" + b"b" * 65537 + b"\n",
        b"a\n" + b"b" * 3_000_000,
    ],
)
def test_binary_data_are_reported_once_with_their_line(raw: bytes) -> None:
    with refuses():
        _read_texts(raw)


def test_a_line_may_be_as_long_as_the_limit() -> None:
    assert _read_texts(b"b" * 65536 + b"\n") == [(1, "b" * 65536)]


def test_lines_before_an_incomplete_one_are_read() -> None:
    yielded = printed_lines.read_lines(io.BytesIO(b"a\nb\nc"), "f")
    assert [next(yielded), next(yielded)] == [Line(1, "a"), Line(2, "b")]
    with refuses():
        next(yielded)


@pytest.mark.parametrize("block", [1, 2, 3, 7, 64])
def test_boundaries_of_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    raw = "# Grüße\r\n1  0.5\r\n\n2  0.6\n".encode()
    complete = _read_texts(raw)
    monkeypatch.setattr(printed_lines, "BLOCK_BYTES", block)
    assert _read_texts(raw) == complete == [(1, "# Grüße"), (2, "1  0.5"), (3, ""), (4, "2  0.6")]


def test_line_numbers_continue_from_block_to_block() -> None:
    raw = b"".join(b"%d\n" % number for number in range(1, 400_001))
    assert len(raw) > 2 * printed_lines.BLOCK_BYTES
    assert all(line.text == str(line.number) for line in printed_lines.read_lines(io.BytesIO(raw), "f"))
    with refuses():
        _read_texts(raw + b"a\x00\n")


OSU = ["# OSU MPI Latency Test v7.4", "# Size          Latency (us)", "0                       0.37", "", "1      1.1"]


@pytest.mark.parametrize(
    "label",
    [
        "[1,0]<stdout>:",
        "[prterun-host-123@1,0]<stdout>: ",
        "[1,0][host:4711]<stdout>: ",
        "Wed Jan  1 12:00:00 2025[1,0]<stdout>:",
        "Wed Jan  1 12:00:00 2025<stdout>:",
        "[0] ",
        "0: ",
        " 0: ",
        "00: ",
        "  12: ",
    ],
)
def test_labels_of_launchers_are_removed(label: str) -> None:
    raw = "".join(f"{label}{text}\n" for text in OSU)
    assert [text for _, text in _read_texts(raw.encode())] == OSU


def test_standard_error_is_left_out_if_labels_distinguish_it() -> None:
    raw = b"[1,0]<stdout>:a\n[1,1]<stderr>:a warning\n[1,0]<stdout>:b\n[1,0]<stddiag>:c\n"
    assert _read_texts(raw) == [(1, "a"), (3, "b")]


def test_warnings_without_a_label_are_kept_and_may_come_first() -> None:
    raw = b"mpirun: a warning\n[1,0]<stdout>:a\nmpirun: another\n"
    assert _read_texts(raw) == [(1, "mpirun: a warning"), (2, "a"), (3, "mpirun: another")]


def test_labels_without_a_text_are_blank_lines() -> None:
    assert _read_texts(b"[0]\n[0] a\n[1]\n") == [(1, ""), (2, "a"), (3, "")]
    assert _read_texts(b"0:\n0: a\n0: b\n") == [(1, ""), (2, "a"), (3, "b")]


def test_numbered_lines_are_no_labels() -> None:
    texts = ["0: node1", "1: node2", "Now starting the main loop", *(f"  {n}:  {n + 1} bytes" for n in range(20))]
    assert [text for _, text in _read_texts("".join(f"{text}\n" for text in texts).encode())] == texts


def test_a_file_that_cannot_be_read_is_reported_with_its_path(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"a\n")
    assert list(printed_lines.read_file(file)) == [Line(1, "a")]
    for path, reason in ((tmp_path, "Is a directory"), (tmp_path / "none", "No such file or directory")):
        with pytest.raises(RankbenchError) as caught:
            list(printed_lines.read_file(path))
        assert str(caught.value) == f"{path}: cannot be read ({reason})"


# --- rows that are damaged --------------------------------------------------------------------------------------------


def read_watched(*texts: str) -> list[str]:
    """Return the texts of lines without a damaged row."""
    numbered = (Line(number, text) for number, text in enumerate(texts, 1))
    return [line.text for line in printed_lines.check_rows("out.txt", numbered)]


@pytest.mark.parametrize("word", ["O24", "N/A", "#92", "\u0661\u0662", "--"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_row_with_a_damaged_first_word_is_an_error(word: str, place: int) -> None:
    texts = ["8  0.55  3", "16  0.60  3", "32  0.70  3"]
    texts[place] = f"{word}  0.55  3"
    with refuses():
        read_watched("# Size  Avg  Iterations", *texts)


@pytest.mark.parametrize("text", ["# 8 16", "warning: 8 16", "rank 8 16", "O24 8", "O24 8 16 32", "O24 8 x", "", "==="])
def test_other_lines_among_rows_are_not_damaged_rows(text: str) -> None:
    texts = ["8  0.55  3", text, "16  0.60  3"]
    assert read_watched(*texts) == texts
