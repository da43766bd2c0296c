"""From the bytes of a file to the lines that a tool printed, a block at a time: no line ends, colours or rank labels.

What cannot be a tool's text is an error that names the file and the line: binary data, a line that never ends, a last
line that was cut. Launchers is known to put the rank before every line; such labels are taken away, and with them
the lines of standard error that they distinguish.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from rankbench.model import RankbenchError
from rankbench.suites import Line, NoResultsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

BLOCK_BYTES = 1 << 20
"""Read at once; no more than two blocks are held."""
MAX_LINE = 1 << 16
"""Characters of a line."""
MAKE_LINE = functools.partial(tuple.__new__, Line)
"""Makes a line as `Line` does, in half the time: of it there may be millions."""
LABEL_LINES = 20
"""Lines, not counting blank ones, by which a label that could be something else is known."""
CONTROL_BYTES = bytes({*range(32)} - set(b"\a\b\t\n\v\f\r\x1b"))
"""Control characters that no terminal is sent."""
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
NAMES = re.compile(r"[A-Za-z]{3}|[=:]$")
"""What begins a line that is no damaged row."""
CUT = "ends in the middle of a line; is it cut? end it with a newline if it is not"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
UTF_8 = b"\xef\xbb\xbf"
ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()][0-9A-B]|[@-Z\\^_=>])")


class Label(NamedTuple):
    """What a launcher puts before a line; of one of standard error it matches a group `error`."""

    pattern: re.Pattern[str]
    is_unique: bool = True
    """Whether nothing else looks like it."""


LABELS = (
    # Open MPI: `[1,0]<stdout>:`, since 5 `[prterun-host-123@1,0]<stdout>: `, both also with a time or a host.
    Label(
        re.compile(r"(?:[A-Z][^[<]{0,40})?(?:\[[^]\s]*\d,\d+\](?:\[[^]\s]*\])?)?<std(?:out|(?P<error>err|diag))>: ?")
    ),
    # Hydra, of MPICH and Intel MPI: `[0] `.
    Label(re.compile(r"\[\d+\](?: |$)")),
    # Slurm's srun, and flux: `0: `, ` 0: `. NetPIPE numbers its lines like this.
    Label(re.compile(r" {0,6}\d{1,7}:(?: |$)"), is_unique=False),
)


def read_file(path: Path) -> Iterator[Line]:
    """Yield the lines of a file. Raises RankbenchError where it cannot be read, and where `lines` does."""
    try:
        with path.open("rb") as file:
            yield from read_lines(file, str(path))
    except OSError as error:
        raise RankbenchError(f"{path}: cannot be read ({error.strerror})") from None


def read_lines(file: BinaryIO, name: str) -> Iterator[Line]:
    """Yield the lines of an open file that messages call `name`.

    Raises RankbenchError at the line that is no text, and at the end of a file that is empty or was cut.
    """
    number, rest = 1, b""
    label: Label | None = None
    for block in _read_blocks(file, name):
        _refuse_binary(block, name, number)
        whole, end, rest = (rest + block).rpartition(b"\n")
        texts = _split_lines(whole) if end else []
        _refuse_endless(texts or _split_lines(rest), name, number)
        label = _find_label(texts) if number == 1 else label
        numbered = map(MAKE_LINE, zip(itertools.count(number), texts))
        yield from _strip_label(label, numbered) if label else numbered
        number += len(texts)
    if rest:
        raise RankbenchError(f"{name}:{number}: {CUT}")


def check_rows(name: str, numbered: Iterable[Line]) -> Iterator[Line]:
    """Yield lines. Raises RankbenchError at one that only its first word keeps from being a row like that beside it."""
    width, doubtful = 0, None
    for line in numbered:
        if (text := line.text.lstrip()) and "0" <= text[0] <= "9":
            width = len(text.split())
            if doubtful and doubtful[1] == width:
                raise _make_damage_error(name, doubtful[0])
            doubtful = None
        elif text:
            found = _count_suspect_words(text)
            if found and found == width:
                raise _make_damage_error(name, line)
            doubtful = (line, found) if found else None
            width = width if found else 0
        yield line


def _count_suspect_words(text: str) -> int:
    """Return the number of words of a line that are all numbers but for the first; 0 for other lines."""
    first, *others = text.split()
    if not others or first == "#" or NAMES.search(first) or not all(map(NUMBER.fullmatch, others)):
        return 0
    return 0 if NUMBER.fullmatch(first) else 1 + len(others)


def _make_damage_error(name: str, line: Line) -> RankbenchError:
    first = line.text.split()[0][:40]
    return RankbenchError(f"{name}:{line.number}: {first!r} is no number, and what follows is a row's; is it damaged?")


def _read_blocks(file: BinaryIO, name: str) -> Iterator[bytes]:
    block = file.read(BLOCK_BYTES)
    if block.startswith(UTF_16):
        raise RankbenchError(f"{name}:1: text in UTF-16; save it as UTF-8")
    block = block.removeprefix(UTF_8)
    if not block:
        raise NoResultsError(f"{name}: empty")
    while block:
        yield block
        block = file.read(BLOCK_BYTES)


def _refuse_binary(block: bytes, name: str, number: int) -> None:
    """Raise RankbenchError where a block has control characters; `number` is that of its first line."""
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


def _split_lines(whole: bytes) -> list[str]:
    """Return complete lines without their ends; what is no UTF-8 in a comment is no reason to refuse them."""
    text = whole.decode("utf-8", errors="replace")
    if "\x1b" in text:
        text = ESCAPE.sub("", text)
    texts = text.split("\n")
    return [text.rstrip("\r") for text in texts] if "\r" in text else texts


def _find_label(texts: Iterable[str]) -> Label | None:
    """Return the label that lines have: one that is sure on any of them, or the same one on most of the first."""
    first = list(itertools.islice((text for text in texts if text.strip()), LABEL_LINES))
    for label in LABELS:
        found = [match.group().strip() for text in first if (match := label.pattern.match(text))]
        most = Counter(found).most_common(1)[0][1] if found else 0
        if most and (label.is_unique or 2 * most > len(first) > 1):
            return label
    return None


def _strip_label(label: Label, numbered: Iterable[Line]) -> Iterator[Line]:
    """Yield lines without the label, and none of standard error."""
    for line in numbered:
        match = label.pattern.match(line.text)
        if match is None:
            yield line
        elif match.lastgroup != "error":
            yield Line(line.number, line.text[match.end() :])
