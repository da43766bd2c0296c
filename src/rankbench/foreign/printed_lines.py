"""Reads the lines that a tool printed from a file, block by block, without line ends, colours and rank labels.

Text that no tool prints is an error with file and line: binary data, an endless line, a cut last line. Launchers can
put the rank before every line; these labels are removed, and so are lines that they mark as standard error.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from rankbench.foreign import Line, LineError, NoResultsError, Problem
from rankbench.foreign.fields import NUMBER
from rankbench.model import RankbenchError

BLOCK_BYTES = 1 << 20
"""Size of a block; at most two are in memory."""
MAX_LINE = 1 << 16
"""Largest number of characters in a line."""
MAKE_LINE = functools.partial(tuple.__new__, Line)
"""Makes a `Line` in half the time: a file can have millions."""
LABEL_LINES = 20
"""Number of lines, without blank ones, that decide whether an ambiguous label is one."""
CONTROL_BYTES = bytes({*range(32)} - set(b"\a\b\t\n\v\f\r\x1b"))
"""Control characters that are not in text for a terminal."""
CONTROL = re.compile(f"[{re.escape(CONTROL_BYTES.decode())}]")
ROW = re.compile(r"\s*[-+]?\.?\d")
NAMES = re.compile(r"[A-Za-z]{3}|[=:]$")
"""First words of lines that are not damaged rows."""
CUT = "ends in the middle of a line; is it cut? If not, end it with a newline"
CUT_ROW = "ends without a line end, and may be cut"
NO_TEXT = "with bytes that are not text"
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
"""Begins files of gzip, bzip2, xz and zstd."""
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
UTF_8 = b"\xef\xbb\xbf"
ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()][0-9A-B]|[@-Z\\^_=>])")


class Label(NamedTuple):
    """A label that a launcher puts before each line. Its group `error` matches for lines of standard error."""

    pattern: re.Pattern[str]
    is_unique: bool = True
    """Whether no other text looks like it."""


LABELS = (
    # Open MPI: `[1,0]<stdout>:`, since 5 `[prterun-host-123@1,0]<stdout>: `, both also with a time or a host.
    Label(
        re.compile(r"(?:[A-Z][^[<]{0,40})?(?:\[[^]\s]*\d,\d+\](?:\[[^]\s]*\])?)?<std(?:out|(?P<error>err|diag))>: ?")
    ),
    # Hydra, of MPICH and Intel MPI: `[0] `.
    Label(re.compile(r"\[\d+\](?: |$)")),
    # Logs of containers: `2026-11-27T10:00:01.123456789Z `.
    Label(re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[-+]\d\d:?\d\d)?(?: |$)")),
    # Slurm's srun, and flux: `0: `, ` 0: `. Tables can number their lines like this.
    Label(re.compile(r" {0,6}\d{1,7}:(?: |$)"), is_unique=False),
)


def read_file(path: Path, problems: list[Problem] | None = None) -> Iterator[Line]:
    """Yield the lines of a file. Raises RankbenchError if it cannot be read, and as `read_lines` does."""
    try:
        with path.open("rb") as file:
            yield from read_lines(file, str(path), problems)
    except OSError as error:
        raise RankbenchError(f"{path}: cannot be read ({error.strerror})") from None


def read_lines(file: BinaryIO, name: str, problems: list[Problem] | None = None) -> Iterator[Line]:
    """Yield the lines of an open file, which messages call `name`.

    Raises RankbenchError at a line that is not text and at the end of a cut file, NoResultsError if it is empty. With
    `problems` such lines are left out and added to it, and a last line without a line end is read if it looks complete.
    """
    number, rest = 1, b""
    label: Label | None = None
    last = ""
    for block in _read_blocks(file, name):
        if problems is None:
            _refuse_binary(block, name, number)
        block_lines, end, rest = (rest + block).rpartition(b"\n")
        texts = _split_lines(block_lines) if end else []
        _refuse_endless(texts or _split_lines(rest), name, number)
        if problems is not None and len(block.translate(None, CONTROL_BYTES)) < len(block):
            texts = _leave_out_binary(texts, number, problems)
        label = _find_label(texts) if number == 1 else label
        numbered = map(MAKE_LINE, zip(itertools.count(number), texts))
        yield from _strip_label(label, numbered) if label else numbered
        number += len(texts)
        last = next((text for text in reversed(texts) if text.strip()), last)
    if not rest:
        return
    if problems is None:
        raise LineError(name, number, CUT)
    (text,) = _leave_out_binary(_split_lines(rest), number, problems)
    label = label or (_find_label([text]) if number == 1 else None)
    if _may_be_cut(text, last):
        problems.append(Problem(number, CUT_ROW, "that may be cut"))
    else:
        yield from _strip_label(label, [Line(number, text)]) if label else [Line(number, text)]


def _leave_out_binary(texts: list[str], number: int, problems: list[Problem]) -> list[str]:
    """Return lines, blank ones for those with control characters; `number` is the number of the first one."""
    binary = [number + place for place, text in enumerate(texts) if CONTROL.search(text)]
    problems += [Problem(line, NO_TEXT, NO_TEXT) for line in binary]
    return ["" if number + place in set(binary) else text for place, text in enumerate(texts)] if binary else texts


def _may_be_cut(text: str, last: str) -> bool:
    """Return whether a last line without a line end is a row that may lack digits, judged by the row above it."""
    if not ROW.match(text):
        return False
    words, above = text.split(), last.split()
    if not ROW.match(last) or len(words) != len(above):
        return True
    if "." in words[-1] and "." in above[-1]:
        return len(words[-1].partition(".")[2]) < len(above[-1].partition(".")[2])
    return len(text.rstrip()) < len(last.rstrip())


def check_rows(name: str, numbered: Iterable[Line], problems: list[Problem] | None = None) -> Iterator[Line]:
    """Yield lines. A damaged row is like its neighbour, except for the first word.

    Raises RankbenchError at one; with `problems` it is added to it.
    """
    width, doubtful = 0, None
    for line in numbered:
        if (text := line.text.lstrip()) and "0" <= text[0] <= "9":
            width = len(text.split())
            if doubtful and doubtful[1] == width:
                _report_damage(name, doubtful[0], problems)
            doubtful = None
        elif text:
            count = _count_suspect_words(text)
            if count and count == width:
                _report_damage(name, line, problems)
            doubtful = (line, count) if count else None
            width = width if count else 0
        yield line


def _count_suspect_words(text: str) -> int:
    """Return the number of words of a line if all except the first are numbers; else 0."""
    first, *others = text.split()
    if not others or first == "#" or NAMES.search(first) or not all(map(NUMBER.fullmatch, others)):
        return 0
    return 0 if NUMBER.fullmatch(first) else 1 + len(others)


def _report_damage(name: str, line: Line, problems: list[Problem] | None) -> None:
    first = line.text.split()[0][:40]
    reason = f"{first!r} is not a number, and the rest of the line is a row; is it damaged?"
    if problems is None:
        raise LineError(name, line.number, reason)
    problems.append(Problem(line.number, reason))


def _read_blocks(file: BinaryIO, name: str) -> Iterator[bytes]:
    block = file.read(BLOCK_BYTES)
    if block.startswith(UTF_16):
        raise RankbenchError(f"{name}:1: text in UTF-16; save it as UTF-8")
    if block.startswith(COMPRESSED):
        raise RankbenchError(f"{name}:1: compressed; unpack it")
    block = block.removeprefix(UTF_8)
    if not block:
        raise NoResultsError(f"{name}: empty")
    while block:
        yield block
        block = file.read(BLOCK_BYTES)


def _refuse_binary(block: bytes, name: str, number: int) -> None:
    """Raise RankbenchError if a block has control characters; `number` is the number of its first line."""
    if len(block.translate(None, CONTROL_BYTES)) < len(block):
        place = next(place for place, byte in enumerate(block) if byte in CONTROL_BYTES)
        line = number + block.count(b"\n", 0, place)
        raise RankbenchError(f"{name}:{line}: not text (a byte of value {block[place]})")


def _refuse_endless(texts: Sequence[str], name: str, number: int) -> None:
    if max(map(len, texts), default=0) > MAX_LINE:
        place = next(place for place, text in enumerate(texts) if len(text) > MAX_LINE)
        raise RankbenchError(
            f"{name}:{number + place}: longer than {MAX_LINE:,} characters; no tool prints such a line"
        )


def _split_lines(data: bytes) -> list[str]:
    """Return complete lines without line ends. Invalid UTF-8 is replaced: it can be in a comment."""
    text = data.decode("utf-8", errors="replace")
    if "\x1b" in text:
        text = ESCAPE.sub("", text)
    texts = text.split("\n")
    return [text.rstrip("\r") for text in texts] if "\r" in text else texts


def _find_label(texts: Iterable[str]) -> Label | None:
    """Return the label of lines: a unique one on any line, or the same ambiguous one on most of the first lines."""
    first = list(itertools.islice((text for text in texts if text.strip()), LABEL_LINES))
    for label in LABELS:
        labels = [match.group().strip() for text in first if (match := label.pattern.match(text))]
        most = Counter(labels).most_common(1)[0][1] if labels else 0
        if most and (label.is_unique or 2 * most > len(first) > 1):
            return label
    return None


def _strip_label(label: Label, numbered: Iterable[Line]) -> Iterator[Line]:
    """Yield lines without their label, and without lines of standard error."""
    for line in numbered:
        match = label.pattern.match(line.text)
        if match is None:
            yield line
        elif match.lastgroup != "error":
            yield Line(line.number, line.text[match.end() :])
