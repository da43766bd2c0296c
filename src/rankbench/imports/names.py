"""What names of files and folders say about runs, and patterns by which a user explains them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from rankbench.imports import commands
from rankbench.imports.commands import COUNTS, NODES, PER_NODE, RANKS, Fact
from rankbench.imports.contexts import BENCHMARK, FILLERS, REPEAT, TIME
from rankbench.model import RankbenchError

FIELD = re.compile(r"\{(\w+)\}")
IGNORED = {"benchmark", "run", "repeat", "date", "time", "job", "any"}
"""Fields of a pattern that do not distinguish candidates."""
PATTERN_COUNTS = {"ranks": RANKS, "nodes": NODES, "ppn": PER_NODE}
SUFFIX = re.compile(r"(?i)\.(?:out(?:put)?|txt|log|dat|csv|tsv|stdout|results?|res|o\d*|raw)$")
LONG_NUMBER = re.compile(r"\b\d{5,}\b")
SPLIT = re.compile(r"(?:[\s_,+@-]|\.(?!\d)|(?<!\d)\.)+")
"""Between words; a version is one word."""
VERSION = re.compile(r"v?\d+(?:\.\w+)*")
SHORT_COUNT = re.compile(r"(?P<before>[nNpPrtc]|np)?(?P<number>\d+)(?P<after>[nNpPrtc])?")
"""A number that may be one of ranks, nodes or anything."""
SLURM_COUNTS = re.compile(r"(?<![A-Za-z0-9])N(?P<nodes>\d+)[-_ ]?n(?P<ranks>\d+)(?![A-Za-z0-9])")
SEPARATOR = re.compile(r"[_.\s]+")
COUNT_WORDS = {"node": NODES, "nodes": NODES, "nnodes": NODES, "ppn": PER_NODE, "tpn": PER_NODE}
COUNT_WORDS |= dict.fromkeys(("rank", "ranks", "np", "nprocs", "proc", "procs", "process", "processes"), RANKS)
COUNT_WORDS |= dict.fromkeys(("task", "tasks", "ntasks"), RANKS)
COUNT = re.compile(
    rf"(?i)(?<![a-z0-9])(?:(?P<number>\d+)[-_ ]?(?P<unit>{'|'.join(COUNT_WORDS)})|"
    rf"(?P<name>{'|'.join(COUNT_WORDS)})[-_= ]?(?P<value>\d+))(?![a-z0-9])"
)
GRID = re.compile(r"(?<![\w])(?P<nodes>\d{1,6})x(?P<each>\d{1,4})(?![\w])")


class Name(NamedTuple):
    """A name of a file or folder without what is known."""

    words: tuple[str, ...]
    """What is plain: labels, or numbers that nothing explains."""
    facts: tuple[Fact, ...]
    text: str
    """The words as they are written, with their separators."""


def read_name(text: str, *, is_file: bool) -> Name:
    """Return a name without benchmarks, times, numbers of repeats and of jobs, and the counts in it."""
    stem = SUFFIX.sub("", text) if is_file else text
    where = "file name" if is_file else "folder"
    facts = [
        Fact(COUNT_WORDS[(match["unit"] or match["name"]).lower()], match["number"] or match["value"], where)
        for match in COUNT.finditer(stem)
    ]
    for match in () if facts else GRID.finditer(stem):
        facts += [Fact(NODES, match["nodes"], where), Fact(PER_NODE, match["each"], where)]
    for match in () if facts else SLURM_COUNTS.finditer(stem):
        facts += [Fact(NODES, match["nodes"], where), Fact(RANKS, match["ranks"], where)]
    rest = stem
    for pattern in (COUNT, GRID, SLURM_COUNTS, TIME):
        rest = pattern.sub(" ", rest)
    spaced = rest.replace("_", " ")
    for pattern in (TIME, BENCHMARK, REPEAT, LONG_NUMBER):
        spaced = pattern.sub(" ", spaced)
    words = tuple(word for word in SPLIT.split(spaced) if len(word) == 1 or (word and word.lower() not in FILLERS))
    unchanged = SPLIT.split(stem) == list(words)
    plain = spaced if not is_file else spaced.replace(".", " ")
    return Name(words, tuple(facts), stem if unchanged else re.sub(r"\s+", "-", plain.strip(" -._")))


class Place(NamedTuple):
    """What the path of a file says."""

    folders: tuple[Name, ...]
    """From the folder that all files share downwards."""
    file: Name
    fields: dict[str, str]
    """Of the user's pattern."""

    @property
    def facts(self) -> dict[str, Fact]:
        """The counts in the path; the pattern's before those of the file and of the nearest folder."""
        named = [fact for name in (*self.folders, self.file) for fact in name.facts]
        explained = [
            Fact(PATTERN_COUNTS[name], value, "--pattern")
            for name, value in self.fields.items()
            if name in PATTERN_COUNTS
        ]
        return {fact.name: fact for fact in (*named, *explained) if fact.name in COUNTS}


def read_places(paths: Sequence[PurePath], pattern: str) -> list[Place | None]:
    """Return what each path says; None for one that does not match the pattern.

    Raises RankbenchError for a wrong pattern.
    """
    parents = [path.parent.parts for path in paths]
    shared = 0
    while all(len(parts) > shared for parts in parents) and len({parts[shared] for parts in parents}) == 1:
        shared += 1
    if shared and parents and commands.find_library(parents[0][shared - 1]):
        shared -= 1  # A version below belongs to it.
    compiled = compile_pattern(pattern) if pattern else None
    depth = pattern.strip("/").count("/")
    counters = list_counters(parents)
    places: list[Place | None] = []
    for path, parts in zip(paths, parents, strict=True):
        match = compiled.search(path.as_posix()) if compiled else None
        if compiled and not match:
            places.append(None)
            continue
        end = max(shared, len(parts) - depth) if compiled else len(parts)
        folders = join_versions(parts[:end], counters)[shared:]
        file = read_name("" if compiled else path.name, is_file=True)
        values = {name: value for name, value in match.groupdict().items() if value} if match else {}
        places.append(Place(tuple(read_name(part, is_file=False) for part in folders), file, values))
    return places


def list_counters(parents: Sequence[Sequence[str]]) -> set[tuple[str, ...]]:
    """Return the folders in which numbers count repeats."""
    numbers: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for parts in parents:
        for place, part in enumerate(parts):
            if VERSION.fullmatch(part):
                numbers[tuple(parts[:place])].add(part)
    return {folder for folder, inside in numbers.items() if are_repeats(inside)}


def join_versions(parts: Sequence[str], counters: Container[tuple[str, ...]]) -> list[str]:
    """Return the folders of a path; a version below a library is joined to its name, and its own place is empty.

    `counters` has the folders in which numbers are not versions.
    """
    joined: list[str] = []
    for place, part in enumerate(parts):
        above = joined[-1] if joined else ""
        is_version = VERSION.fullmatch(part) and tuple(parts[:place]) not in counters
        if is_version and "/" not in above and commands.find_library(above):
            joined[-1:] = [f"{above}/{part}", ""]
        else:
            joined.append(part)
    return joined


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a regular expression for the end of a path. Raises RankbenchError for a wrong pattern."""
    names = FIELD.findall(pattern)
    if not names or len(set(names)) < len(names) or re.search(r"[{}]", FIELD.sub("", pattern)):
        raise RankbenchError(
            f"--pattern: found {pattern!r}, expected names of files with fields, each once, such as "
            "'{machine}/{library}/{benchmark}.out' (known: machine, library, benchmark, ranks, nodes, ppn, run; other "
            "names are settings)"
        )
    parts = []
    for place, text in enumerate(FIELD.split(pattern.strip("/"))):
        number = r"\d+" if text in PATTERN_COUNTS else "[^/]+?"
        parts.append(f"(?P<{text}>{number})" if place % 2 else re.escape(text).replace(r"\*", "[^/]*"))
    return re.compile(f"(?:^|/){''.join(parts)}$")


def suggest_pattern(paths: Sequence[PurePath], places: Sequence[Place], fields: Mapping[int, str]) -> str:
    """Return the pattern that gives names to levels of folders."""
    depth = max(len(place.folders) for place in places)
    parts = [f"{{{fields[level]}}}" if level in fields else "*" for level in range(min(fields), depth)]
    stems, suffixes = {path.stem for path in paths}, {path.suffix for path in paths}
    suffix = suffixes.pop() if len(suffixes) == 1 else "*"
    file = f"{stems.pop()}{suffix}" if len(stems) == 1 and not is_benchmark(paths[0].stem) else f"{{benchmark}}{suffix}"
    return "/".join([*parts, file])


def suggest_number_pattern(path: PurePath, number: str, *, is_file: bool) -> str:
    """Return the pattern that takes a number in the name of a file, or of a folder above it, for ranks."""
    parts = list(path.parts)
    edges = rf"(?<!\d){number}(?!\d)"
    place = len(parts) - 1 if is_file else max(i for i, part in enumerate(parts[:-1]) if re.search(edges, part))
    before, _, after = re.sub(edges, "\0", parts[place], count=1).partition("\0")
    parts[place] = f"{before}{{ranks}}{after}"
    if is_file and before.strip("-_. ") and is_benchmark(before):
        parts[place] = f"{{benchmark}}{before[len(before.rstrip('-_. ')) :]}{{ranks}}{after}"
    elif not is_file:
        parts[-1] = f"{{benchmark}}{path.suffix}" if is_benchmark(path.stem) else "*"
    return "/".join(parts[place:])


def is_benchmark(text: str) -> bool:
    """Return whether a name has nothing but a benchmark's name."""
    return not read_name(text, is_file=False).words


def are_repeats(numbers: set[str]) -> bool:
    """Return whether numbers in names count repeats: one after the other from 0 or 1 on."""
    values = sorted(int(number) for number in numbers if number.isdigit())
    return len(values) == len(numbers) and values in (list(range(len(values))), list(range(1, len(values) + 1)))


def drop_repeats(names: Sequence[Name | None]) -> list[tuple[str, ...]]:
    """Return the words of names in one place without numbers that count repeats."""
    by_rest: dict[tuple[str, ...], set[str]] = {}
    for name in names:
        words = name.words if name else ()
        by_rest.setdefault(tuple(word for word in words if not word.isdigit()), set()).update(
            word for word in words if word.isdigit()
        )
    return [
        tuple(word for word in words if not (word.isdigit() and are_repeats(by_rest[rest])))
        for name in names
        for words in [name.words if name else ()]
        for rest in [tuple(word for word in words if not word.isdigit())]
    ]


def list_levels(places: Sequence[Place]) -> Iterator[tuple[int, list[str]]]:
    """Yield each level of folders with the name that each file has there; empty: none, or nothing but what is known."""
    for level in range(max((len(place.folders) for place in places), default=0)):
        names = [place.folders[level] if len(place.folders) > level else None for place in places]
        words = drop_repeats(names)
        yield (
            level,
            [
                (name.text if plain == name.words else "-".join(plain)) if name and plain else ""
                for name, plain in zip(names, words, strict=True)
            ],
        )


def list_file_parts(places: Sequence[Place]) -> list[str]:
    """Return the part of each file's name that differs from the others."""
    words = drop_repeats([place.file for place in places])
    common = set.intersection(*map(set, words)) if words else set()
    parts = ["-".join(word for word in each if word not in common) for each in words]
    if any("." in part for part in parts) and all(VERSION.fullmatch(part) for part in parts if part):
        return ["-".join(each) if part else "" for each, part in zip(words, parts, strict=True)]
    return parts


def find_number(value: str) -> str:
    """Return the number in a name that is nothing but a number, or has a letter such as `n4`; else empty."""
    match = SHORT_COUNT.fullmatch(value)
    return match["number"] if match and not (match["before"] and match["after"]) else ""
