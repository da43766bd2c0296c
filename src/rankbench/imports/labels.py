"""Decides which runs are repeats of one case, and how candidates are called.

Runs are of one candidate only if nothing around them differs. A property becomes part of the label where it separates
runs of one benchmark that would else be repeats; properties that only go along with others do not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from rankbench.imports import commands, names
from rankbench.imports.commands import ARGUMENTS, COUNTS, LIBRARY, NODES, PER_NODE, PROGRAM, RANKS, Fact
from rankbench.imports.contexts import FILLERS, Context
from rankbench.imports.names import Place
from rankbench.model import NOT_REPORTED, Placement, RankbenchError

UNKNOWN = NOT_REPORTED
FOLDER, FILE, LINES = "folder", "file name", "lines before the runs"


class RunInfo(NamedTuple):
    """What is known about a run before its label is chosen."""

    path: Path
    benchmark: Hashable
    """Equal for runs of the same benchmark with the same options."""
    label: str
    """The user's name of its library, or that in a file in which libraries take turns."""
    label_origin: str
    is_named: bool
    """The user gave the label to its file."""
    context: Context
    place: Place
    placement: Placement
    of_ranks: str
    """Number of ranks of the command, if not all of them took part."""
    ranks_origin: str


class Label(NamedTuple):
    """The candidate of a run."""

    text: str
    origin: str


def choose_labels(runs: Sequence[RunInfo]) -> list[Label]:
    """Return the label of each run. Raises RankbenchError where names of folders may be machines."""
    chosen: list[dict[str, str]] = [{"label": run.label} if run.label else {} for run in runs]
    origins: list[list[str]] = [[run.label_origin] if run.label else [] for run in runs]
    separating = list_separating(runs)
    for kind, name, values in separating:
        if kind in {FOLDER, FILE} and all(names.find_number(value) for value in values if value):
            refuse_unclear_numbers(runs, kind, values)
        for place, value in enumerate(values):
            if value:
                chosen[place][f"{kind} {name}"] = f"{name}={value}" if kind == "setting" else value
                origins[place].append(name if kind in {LIBRARY, "setting"} else kind)
    refuse_unclear_folders(runs, [int(name) for kind, name, _ in separating if kind == FOLDER], chosen)
    return [
        make_label(run, parts, origin, folder)
        for run, parts, origin, folder in zip(runs, chosen, origins, list_last_folders(runs), strict=True)
    ]


def list_last_folders(runs: Sequence[RunInfo]) -> list[str]:
    """Return the innermost folder of each run that has a name; empty: none has."""
    folders = [values for _, values in names.list_levels([run.place for run in runs])]
    return [next((values[place] for values in reversed(folders) if values[place]), "") for place in range(len(runs))]


def list_separating(runs: Sequence[RunInfo]) -> list[tuple[str, str, list[str]]]:
    """Return the properties that distinguish runs which those before it do not."""
    groups = [(run.benchmark, run.placement.name, run.place.fields.get("machine", ""), run.label) for run in runs]
    keys: list[tuple[Hashable, ...]] = [tuple(group) for group in groups]
    separating = []
    for kind, name, values in list_properties(runs):
        if separates(keys, values):
            separating.append((kind, name, values))
            keys = [(*key, value) for key, value in zip(keys, values, strict=True)]
    return separating


def make_label(run: RunInfo, parts: Mapping[str, str], origins: Sequence[str], folder: str) -> Label:
    """Return the label of a run from the properties that distinguish it; without one, the library or the folder."""
    if all(kind.startswith("setting") for kind in parts):
        library = run.context.facts.get(LIBRARY)
        name, origin = (library.value, library.origin) if library and library.value else (folder, FOLDER)
        name = name or name_by_parent(run.path)
        return Label(" ".join([name, *parts.values()]), ", ".join(dict.fromkeys([origin, *origins])))
    return Label(" ".join(parts.values()), ", ".join(dict.fromkeys(origins)))


def name_by_parent(path: Path) -> str:
    """Return the name of the nearest folder that is not only a benchmark's, or a repeat's."""
    parents = [parent.name for parent in path.absolute().parents if parent.name]
    candidates = (
        name
        for name in parents
        if name.lower() in FILLERS or any(not word.isdigit() for word in names.read_name(name, is_file=False).words)
    )
    return next(candidates, parents[0] if parents else "imported")


def separates(keys: Sequence[Hashable], values: Sequence[str]) -> bool:
    """Return whether two runs of the same key have different values."""
    by_key: dict[Hashable, str] = {}
    return any(by_key.setdefault(key, value) != value for key, value in zip(keys, values, strict=True))


def list_properties(runs: Sequence[RunInfo]) -> list[tuple[str, str, list[str]]]:
    """Return the properties by which runs may differ, the most telling first: kind, name, and the value of each run."""
    properties: list[tuple[str, str, list[str]]] = []

    def add(kind: str, name: str, values: list[str]) -> None:
        properties.append((kind, name, values))

    add(LIBRARY, LIBRARY, [read_fact(run, LIBRARY) for run in runs])
    for field in dict.fromkeys(field for run in runs for field in run.place.fields):
        if field not in names.IGNORED | names.PATTERN_COUNTS.keys() | {"machine", "library"}:
            add("setting", field, [run.place.fields.get(field, "") for run in runs])
    places = [run.place for run in runs]
    for level, values in names.list_levels(places):
        add(FOLDER, str(level), values)
    parts = names.list_file_parts(places)
    # A number may still be one of ranks or nodes.
    clear = [run.is_named and not names.find_number(part) for run, part in zip(runs, parts, strict=True)]
    add(FILE, "", ["" if known else part for known, part in zip(clear, parts, strict=True)])
    add(LINES, "", [" ".join(run.context.labels) for run in runs])
    for name in dict.fromkeys(name for run in runs for name in run.context.facts):
        if name not in {*COUNTS, LIBRARY, PROGRAM, ARGUMENTS}:
            add("setting", name, [read_fact(run, name) for run in runs])
    add("arguments", ARGUMENTS, [read_fact(run, ARGUMENTS) for run in runs])
    return properties


def read_fact(run: RunInfo, name: str) -> str:
    """Return the value of a fact; empty if it is not known."""
    fact = run.context.facts.get(name)
    return fact.value if fact else ""


def refuse_unclear_folders(runs: Sequence[RunInfo], levels: Sequence[int], chosen: Sequence[Mapping[str, str]]) -> None:
    """Refuse folders whose names may be machines: they differ at two levels, or besides the name of the library.

    Raises RankbenchError for these.
    """
    named = any(run.label for run in runs) or any(f"{LIBRARY} {LIBRARY}" in parts for parts in chosen)
    if not levels or (len(levels) == 1 and not named):
        return
    places = [run.place for run in runs]
    paths = list(dict.fromkeys(run.path for run in runs))
    by_level = dict(names.list_levels(places))
    texts = [sorted(set(by_level[level]) - {""}) for level in levels]
    libraries = [all(commands.find_library(text) for text in each) for each in texts]
    if named:
        fields = ["machine", *(f"setting{number}" for number in range(2, len(levels) + 1))]
    else:
        place = libraries.index(True) if True in libraries else len(levels) - 1
        others = iter(["machine", *(f"setting{number}" for number in range(2, len(levels)))])
        fields = ["library" if number == place else next(others) for number in range(len(levels))]
    pattern = names.suggest_pattern(paths, places, dict(zip(levels, fields, strict=True)))
    shown = "; ".join(", ".join(each[:4]) + (" ..." if len(each) > 4 else "") for each in texts)
    raise RankbenchError(
        f"runs of one benchmark are in folders that may be different machines: {shown}; say what they are, "
        f"such as --pattern '{pattern}' (machines are imported apart; another name than machine is a setting, {{run}} "
        "a repeat)"
    )


def refuse_unclear_numbers(runs: Sequence[RunInfo], kind: str, values: Sequence[str]) -> None:
    """Refuse numbers in names that may be ranks, nodes, sizes of anything, or repeats. Always raises RankbenchError."""
    numbers = sorted({names.find_number(value) for value in values if value}, key=int)
    run, value = next((run, value) for run, value in zip(runs, values, strict=True) if value)
    pattern = names.suggest_number_pattern(run.path, names.find_number(value), is_file=kind == FILE)
    raise RankbenchError(
        f"runs of one benchmark differ in a number of their {kind}s: {', '.join(numbers[:6])}; say what it is: "
        f"--pattern '{pattern}', or {{nodes}}, {{ppn}}, {{run}} for repeats, another name for a setting"
    )


# --- ranks and nodes --------------------------------------------------------------------------------------------------


def place_run(ranks: int, facts: Mapping[str, Fact], user_ranks: int) -> tuple[Placement, str, str]:
    """Return the placement of a run whose tool reports `ranks` (0: not), and from where its counts are.

    Also the number of ranks of the command, if not all of them took part.
    """
    counts = read_counts(facts)
    nodes, each = counts.get(NODES, 0), counts.get(PER_NODE, 0)
    command = counts.get(RANKS, 0) or nodes * each
    total = ranks or user_ranks or command
    not_all = str(command) if total and command not in {0, total} else ""
    if not nodes and each and not not_all:
        nodes = -(-total // each)
    elif not_all and (nodes > total or (nodes == 1 and command > total and each == 0)):
        nodes = 0
    of_tool = ["benchmark"] if ranks else ["--ranks"] if user_ranks else []
    origin = ", ".join(dict.fromkeys([*of_tool, *(facts[name].origin for name in COUNTS if name in counts)]))
    return name_placement(nodes, total), origin, not_all


def read_counts(facts: Mapping[str, Fact]) -> dict[str, int]:
    """Return the numbers of ranks and nodes among facts."""
    return {name: int(facts[name].value) for name in COUNTS if name in facts and facts[name].value.isdigit()}


def name_placement(nodes: int, total: int) -> Placement:
    """Return the placement of a number of ranks on a number of nodes; 0: not known."""
    if nodes and total and total % nodes == 0:
        each = total // nodes
        return Placement(name=f"{nodes}x{each}", nodes=nodes, ranks_per_node=each, binding="none")
    if nodes and not total:
        return Placement(name=f"nodes-{nodes}", nodes=nodes, ranks_per_node=0, binding="none")
    name = f"ranks-{total}" if total else UNKNOWN
    return Placement(name=name, nodes=1, ranks_per_node=total, binding="none")


def mark_others(runs: Sequence[RunInfo]) -> list[RunInfo]:
    """Return runs; where commands of different sizes are alike else, the name of a placement has that of the command.

    Two ranks of a job on 64 nodes may be elsewhere than two ranks of one on 4.
    """
    sizes: defaultdict[tuple[Hashable, str], set[str]] = defaultdict(set)
    for run in runs:
        sizes[run.benchmark, run.placement.name].add(run.of_ranks)
    marked = []
    for run in runs:
        placement = run.placement
        if len(sizes[run.benchmark, placement.name]) > 1 and run.of_ranks:
            placement = msgspec.structs.replace(placement, name=f"{placement.name}-of-{run.of_ranks}")
        marked.append(run._replace(placement=placement))
    return marked
