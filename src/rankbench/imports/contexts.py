"""What stands around the tables of a file: the facts of each run, its label lines, and how its output ended.

A fact holds until another line replaces it. A label line is one that nothing else explains; only words that differ
between the runs of a file count, without names of benchmarks, times, and numbers of repeats.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rankbench.foreign import Line, Table
from rankbench.imports import commands
from rankbench.imports.commands import Fact

HYDRA = "HYDRA build details:"
"""The next line has the version."""
OWN_COMMENTS = {"osu"}
"""Tools whose own lines before a title do not begin with `#`: there such lines are a user's."""
CLOSE_LINES = 12
"""Most lines directly before a table that can be labels."""
HEADING = re.compile(r"^\s*(?P<edge>[-=#*>+~_]{2,})\s*(?P<text>[^-=#*>+~_\s].*?)\s*(?P<end>[-=#*<+~_]*)$")
NOISE = re.compile(
    r"(?i)\bwarn|\berror|\bfail|\bcannot\b|\bcould not\b|^\[[\w.:-]+\]|^\S+:\d+:\d+|\bNCCL INFO\b|^(?:real|user|sys)\s|"
    r"elapsed\b|"
    r"pagefaults|load average|\bfinished\b|\bcompleted?\b|\bdone\b|\btook\b|\bseconds?\b|\bhost(?:s|name|list|file)?\b|"
    r"\bnode ?list\b|\bnodes? used\b|\brunning on\b|\bstarted at\b|\bjob ?id\b|\bworking dir|\bpwd\b|^#?\s*$|"
    r"^(?:slurmstepd|srun|mpirun|mpiexec|prterun|orterun|aprun|jsrun)\b|"
    r"^libibverbs|^--+$|\bsignal\b|^Loading |^Currently Loaded|^Note:|^Lmod|"
    r"\bTACC:|^\d+\)|\bprolog|\bepilog|\bcopyright\b|^\s*at \S+:\d+"
)
TIME = re.compile(
    r"(?i)\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+(?:\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|"
    r"\d{1,2}:\d{2}:\d{2}|\d{4}-\d{2}-\d{2}|\b20\d{6}\b"
)
DATE = re.compile(r"(?i)\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\b|\d{4}-\d{2}-\d{2}|\b20\d{6}\b")
TIME_WORDS = re.compile(
    r"(?i)\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|"
    r"\b(?:20\d\d|\d{1,2}(?:th|st|nd|rd)?)\b|\b(?:[A-Z]{1,3}[ES]?T|UTC|GMT|AM|PM)\b|[+-]\d{4}\b"
)
"""Words of a date, besides the time of day."""
REPEAT = re.compile(
    r"(?i)\b(?:(?:start(?:ing)?|begin(?:ning)?)\s+)?(?:run|rep|repeat|repetition|iter|iteration|trial|round|attempt|"
    r"test|sample|pass|loop|try|step|job)\s*(?:number|no\.?|nr\.?|id)?\s*[#:=_-]*\s*\d+(?:\s*(?:of|/|out of)\s*\d+)?\b|"
    r"\(?\b\d+\s*(?:/|of)\s*\d+\b\)?|#\d+\b"
)
BENCHMARK = re.compile(
    r"(?i)\bosu[_ -]\w+|\bIMB-\w+|\b(?:lat(?:ency)?|bw|bibw|bandwidth|all-?reduce|all-?gatherv?|all-?to-?all[vw]?|"
    r"bcast|broadcast|barrier|reduce|(?:reduce-?)?scatterv?|gatherv?|p2p|pt2pt|point-to-point|collectives?|"
    r"one-?sided|startup|ping-?(?:pong|ping)|sendrecv|exchange|mbw_mr|multi_lat|message rate|put|get|"
    r"acc|(?:non)?-?blocking|ping|"
    r"i(?:allreduce|allgather|alltoall|bcast|barrier|reduce|gather|scatter))(?![A-Za-z])(?:\.\w{1,5}\b)?"
)
FILLERS = frozenset(
    re.findall(
        r"\S+",
        "osu imb benchmark benchmarks micro-benchmarks test tests testing run running runs result results for with "
        "using of the on in to and start starting begin now output measuring benchmarking executing launching time "
        "command cmd name end ended stop date at from launch launched",
    )
)
"""Words of a line or a name that say nothing about a run."""
WORD = re.compile(r"%?[^\s%,;()\[\]{}'\"]+")


class Context(NamedTuple):
    """What a file says about a run."""

    facts: dict[str, Fact]
    labels: tuple[str, ...] = ()
    """Words that distinguish it from other runs in its file."""
    label_line: int = 0
    after: tuple[Line, ...] = ()
    """Lines behind its last row, up to the next run."""


class Failure(NamedTuple):
    """A command whose benchmark printed no title."""

    line: int
    program: str
    context: Context
    lines: tuple[Line, ...]


def read_contexts(
    tables: Sequence[Table], texts: Sequence[Line], *, in_turns: bool = False
) -> tuple[dict[int, Context], list[Failure]]:
    """Return the context of each table, by its first line, and the commands that no table follows."""
    starts = sorted({table.line for table in tables})
    texts = join_continued(texts)
    if any(table.context for table in tables):  # Columns say what rows are of; there are no other lines.
        return {start: Context({}) for start in starts}, []
    gaps = list(split_gaps(tables, starts, texts))
    facts: dict[str, Fact] = {}
    contexts: dict[int, Context] = {}
    failures: list[Failure] = []
    for start, gap in zip(starts, gaps, strict=False):
        failed, facts = follow_facts(gap, facts)
        failures += failed
        contexts[start] = Context(dict(facts))
    failed, _ = follow_facts(gaps[-1], facts, to_end=True) if gaps else ([], facts)
    failures += failed
    tool = next((table.operation.foreign.suite for table in tables if table.operation.foreign), "")
    trailing = {drop_numbers(list_words(drop_time(line.text))) for line in gaps[-1]} - {()}
    labels = [] if in_turns else find_labels([list_labels(gap, tool, trailing) for gap in gaps[: len(starts)]])
    for place, start in enumerate(starts):
        words, line = labels[place] if labels else ((), 0)
        contexts[start] = contexts[start]._replace(labels=words, label_line=line, after=take_own(gaps[place + 1]))
    return contexts, failures


def join_continued(texts: Sequence[Line]) -> list[Line]:
    """Return lines; a command over several lines, which end with a backslash, and Hydra's banner are one line."""
    joined: list[Line] = []
    for line in texts:
        if joined and (joined[-1].text.endswith("\\") or joined[-1].text.strip() == HYDRA):
            begin = joined[-1].text.removesuffix("\\")
            joined[-1] = joined[-1]._replace(text=f"{begin} {line.text.strip()}")
        else:
            joined.append(line)
    return joined


def split_gaps(tables: Sequence[Table], starts: Sequence[int], texts: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield the lines before each table, behind the rows of the one before, and at last those behind all rows."""
    ends: dict[int, int] = {}
    for table in tables:
        ends[table.line] = max([ends.get(table.line, 0), table.line, *(row.line for row in table.rows)])
    end, place = 0, 0
    for start in (*starts, None):
        gap = []
        while place < len(texts) and (start is None or texts[place].number < start):
            if texts[place].number > end:
                gap.append(texts[place])
            place += 1
        yield gap
        end = ends[start] if start is not None else end


def follow_facts(
    gap: Iterable[Line], facts: Mapping[str, Fact], *, to_end: bool = False
) -> tuple[list[Failure], dict[str, Fact]]:
    """Return the commands in a gap without a table of their own, and the facts at its end.

    The facts of a command line replace all those of the one before, and a line with counts those of a command. The last
    command of a gap is that of the next table, except at the end of the file.
    """
    now = dict(facts)
    started: list[tuple[Line, dict[str, Fact], list[Line]]] = []
    for line in gap:
        line_facts = commands.read_line(line.text)
        names = {fact.name for fact in line_facts}
        is_command = commands.PROGRAM in names or any(fact.origin in LAUNCHERS for fact in line_facts)
        if is_command:
            now = {name: fact for name, fact in now.items() if fact.origin not in {*LAUNCHERS, "command line"}}
        elif names & set(commands.COUNTS):
            now = {
                name: fact for name, fact in now.items() if not (fact.origin in LAUNCHERS and name in commands.COUNTS)
            }
        now |= {fact.name: fact for fact in line_facts}
        if is_command and commands.PROGRAM in now:
            started.append((line, dict(now), []))
        elif started:
            started[-1][2].append(line)
    failures = [
        Failure(line.number, of_command[commands.PROGRAM].value, Context(of_command), tuple(lines))
        for line, of_command, lines in (started if to_end else started[:-1])
    ]
    return failures, now


LAUNCHERS = {
    *("mpirun", "mpiexec", "mpiexec.hydra", "mpiexec.gforker", "mpiexec_mpt", "mpirun_rsh", "orterun", "prterun"),
    *("srun", "jsrun", "aprun", "ibrun", "flux run", "mpprun"),
}


def take_own(gap: Sequence[Line]) -> tuple[Line, ...]:
    """Return the lines behind a table that are still of its run: up to the next command or heading."""
    behind = []
    for line in gap:
        if any(fact.name == commands.PROGRAM for fact in commands.read_line(line.text)):
            break
        behind.append(line)
    return tuple(behind)


# --- label lines ------------------------------------------------------------------------------------------------------


def list_labels(gap: Sequence[Line], tool: str, trailing: Container[tuple[str, ...]]) -> list[tuple[int, list[str]]]:
    """Return the lines of a gap that may name what follows, with their words: headings, and those before its title.

    Without lines like those behind the last run of the file: they end a run.
    """
    close = {line.number for line in list_close_lines(gap)}
    labels = []
    for line in gap:
        text = line.text.strip()
        heading = HEADING.match(text)
        is_tool_comment = text.startswith("#") and tool not in OWN_COMMENTS
        if is_tool_comment or not (heading or line.number in close) or len(text) > 160:
            continue
        plain = drop_time(heading["text"] if heading else text)
        if NOISE.search(plain) or commands.read_line(line.text):
            continue
        words = list_words(plain)
        if words and drop_numbers(words) not in trailing:
            labels.append((line.number, words))
    return labels


def drop_time(text: str) -> str:
    """Return a line without a date and a time of day; nothing of a line with a duration."""
    match = TIME.search(text)
    if match and not DATE.search(text) and text[: match.start()].strip("[( "):
        return ""
    return TIME_WORDS.sub(" ", TIME.sub(" ", text)).strip(" []") if match else text


def drop_numbers(words: Iterable[str]) -> tuple[str, ...]:
    """Return the words that have a letter."""
    return tuple(word for word in words if re.search(r"[A-Za-z]", word))


def list_close_lines(gap: Sequence[Line]) -> list[Line]:
    """Return the lines directly before a table; a blank line is part of the benchmark's title."""
    close: list[Line] = []
    for line in reversed(gap[-CLOSE_LINES:]):
        if close and close[-1].number - line.number > 1:
            break
        close.append(line)
    return close


def list_words(text: str) -> list[str]:
    """Return the words of a line without benchmarks, fillers, numbers of repeats and long numbers."""
    text = BENCHMARK.sub(" ", REPEAT.sub(" ", text))
    words = [word.strip(".:=-_#*<>|/\\\"'`!?+~") for word in WORD.findall(text)]
    return [word for word in words if word and word.lower() not in FILLERS and not re.fullmatch(r"\d{6,}|0x\w+", word)]


def find_labels(lines: Sequence[Sequence[tuple[int, list[str]]]]) -> list[tuple[tuple[str, ...], int]]:
    """Return the words that label each run, and the line of the last one, from the label lines before each.

    A run without a label of its own has that of the run before. Fewer lines than before replace the last ones: the
    others are headings of a group.
    """
    common = find_common_words(lines)
    current: list[tuple[int, tuple[str, ...]]] = []
    labels = []
    for gap in lines:
        new = [(line, rest) for line, words in gap if (rest := tuple(word for word in words if word not in common))]
        if new:
            current = current[: max(0, len(current) - len(new))] + new
        labels.append(current)
    labels = drop_counters(labels)
    everywhere = (
        set.intersection(*({word for _, words in each for word in words} for each in labels)) if labels else set()
    )
    return [
        (
            tuple(word for _, words in each for word in words if word not in everywhere),
            each[-1][0] if each else 0,
        )
        for each in labels
    ]


def find_common_words(lines: Sequence[Sequence[tuple[int, list[str]]]]) -> set[str]:
    """Return the words before each of several runs that have label lines: they distinguish nothing."""
    counts = Counter(word for gap in lines for word in {word for _, words in gap for word in words})
    with_lines = sum(1 for gap in lines if gap)
    return {word for word, count in counts.items() if count == with_lines and with_lines > 1}


def drop_counters(
    labels: list[list[tuple[int, tuple[str, ...]]]],
) -> list[list[tuple[int, tuple[str, ...]]]]:
    """Return labels; none if they only count runs from 0 or 1 on."""
    numbers = [words[0] for each in labels for _, words in each if len(words) == 1 and words[0].isdigit()]
    counted = len(numbers) == sum(len(each) for each in labels) and sorted(map(int, set(numbers)))
    first = counted[0] if counted else 2
    return [[] for _ in labels] if first <= 1 and counted == list(range(first, first + len(counted or []))) else labels
