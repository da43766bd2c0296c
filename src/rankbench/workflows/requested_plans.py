"""Plans of the command line: a file, a preset, or candidates and options. Options override a file."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import msgspec

from rankbench import libraries, plan, profiles
from rankbench.libraries import Search
from rankbench.model import CandidateSpec, Library, Machine, Memory, Placement, Plan, RankbenchError
from rankbench.plan import notation
from rankbench.plan.document import parse_document
from rankbench.workflows.option_values import parse_option

PLAN_SUFFIX = ".toml"
COMMAND_LINE = "command line"
JUDGED = ("question", "stop", "threshold")
"""Keys for the length of a campaign and its evaluation, not for what is measured."""
NAMED = re.compile(r"([^\s=:/]+)=([^=].*)", re.DOTALL)
"""A candidate with a name of its own; `==` is part of a library's version."""
PREFIX = "prefix:"
NUMBERS = re.compile(r"(\d+)x\d+")
"""A placement by its nodes and the ranks on each."""
LONGEST_NAME = 48
HASH_DIGITS = 4
COMPUTED = [Memory(cache="written")]
"""A program has written what it sends, and reads what it received."""
FEW = 3
"""Most names in a question."""


class PlanRequest(NamedTuple):
    """A requested plan."""

    plan: Plan
    name: str
    """Default name of the campaign."""


class MeasuringOptions(NamedTuple):
    """Options about a plan, as typed; empty: not given."""

    operations: str = ""
    forms: str = ""
    sizes: str = ""
    placements: str = ""
    samples: int | None = None
    blocks: str = ""
    time: str = ""
    until: str = ""
    threshold: str = ""
    program: str = ""
    ranks: int | None = None
    profile: Path | None = None


def make_plan(
    words: Sequence[str],
    preset: str,
    measured: MeasuringOptions,
    place_options: Mapping[str, object],
    machine: Machine,
    job: Mapping[str, object] | None = None,
) -> PlanRequest:
    """Return the plan that words and options name. `place_options`: where ranks run.

    With `job`, even an empty one, the plan is for a scheduler; its keys replace those of the table `[job]`.

    Raises RankbenchError if they name none.
    """
    files, candidates = divide_words(words)
    values = keys(measured, candidates)
    if not files and not preset:
        if not candidates:
            raise RankbenchError(explain_missing_plan())
        if not values.keys() & {"operations", "program", "profile"}:
            refuse_missing_operations(candidates)
        values = place_profile({"question": make_question(values), **values}, Path())
        planned = plan.make_plan(values, COMMAND_LINE, machine, {**values, **place_options}, job)
        return PlanRequest(add_profile(planned), name_of(values))
    path = find_plan(files[0] if files else None, preset)
    file_values = parse_document(plan.read_plan(path), str(path)).raw
    if not values.keys() & {"profile", "placements"} and (placements := list_recorded_placements(path)):
        values["placements"] = placements
    if not values:
        return PlanRequest(add_profile(plan.load_plan(path, machine, place_options, job)), path.stem)
    missing: dict[str, object] = {
        key: values[key] for key in ("candidates", "operations") if key in values and key not in file_values
    }
    if job is not None and "placements" in values:
        missing["placements"] = values["placements"]  # Those of the file may mean nothing in a job.
    plan.load_plan(
        path, machine, {**missing, **place_options}, job
    )  # Errors of the file are reported first, with its name.
    if candidates:
        file_values.pop("candidate", None)
    values = file_values | values | ({"stop": file_values.get("stop", {}) | values["stop"]} if "stop" in values else {})
    planned = plan.make_plan(values, str(path), machine, {**keys(measured, candidates), **place_options}, job)
    return PlanRequest(add_profile(planned), path.stem)


def place_profile(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the keys of a plan, with the placement of a recorded program if there is none.

    Args:
        values: keys of a plan.
        folder: what the path of its profile is relative to.
    """
    if "profile" not in values or "placements" in values or not isinstance(values["profile"], str):
        return dict(values)
    _, recorded = profiles.choose_calls(folder / Path(values["profile"]).expanduser())
    nodes = recorded.nodes if recorded.nodes and recorded.ranks % recorded.nodes == 0 else 1
    return {**values, "placements": [f"{nodes}x{recorded.ranks // nodes}"]} if recorded.ranks else dict(values)


def list_recorded_placements(path: Path) -> list[str]:
    """Return the placement of the recorded program whose calls a plan measures, if the plan has none of its own."""
    values = parse_document(plan.read_plan(path), str(path)).raw
    placements = place_profile(values, path.parent).get("placements", [])
    return [] if "placements" in values else list(placements)


def count_nodes(words: Sequence[str], preset: str) -> int:
    """Return the nodes of the largest placement that a plan gives by numbers; 1 if it gives none so.

    Raises RankbenchError if the words and the preset name no plan, or two.
    """
    files, candidates = divide_words(words)
    if candidates and not files and not preset:
        return 1
    path = find_plan(files[0] if files else None, preset)
    placements = parse_document(plan.read_plan(path), str(path)).raw.get("placements", [])
    matches = [NUMBERS.fullmatch(str(entry)) for entry in placements] if isinstance(placements, list) else []
    return max((int(match[1]) for match in matches if match), default=1)


def add_profile(planned: Plan) -> Plan:
    """Return a plan with the calls of its profile. Raises RankbenchError if it cannot be read, or has other ranks."""
    if not planned.profile:
        return planned
    calls, recorded = profiles.choose_calls(Path(planned.profile.file))
    ranks = [placement.ranks for placement in planned.placements]
    if recorded.ranks and recorded.ranks not in ranks:
        raise RankbenchError(
            f"{recorded.file}: the record of {recorded.ranks} ranks, and the placements have "
            f"{', '.join(map(str, sorted(set(ranks))))}; record the program with as many, or leave placements out"
        )
    smaller = list(place_smaller(planned.placements, recorded.ranks, {call.ranks for call in calls}))
    notes = [
        f"{placement.name}: the first {placement.ranks} ranks, for calls of communicators of as many; what other "
        "communicators of the program do at the same time is not measured"
        for placement in smaller
    ]
    return msgspec.structs.replace(
        planned,
        calls=calls,
        profile=recorded,
        memory=COMPUTED if planned.memory == [Memory()] else planned.memory,
        placements=[*planned.placements, *smaller],
        notes=[*planned.notes, *notes],
    )


def place_smaller(placements: Sequence[Placement], ranks: int, numbers: Set[int]) -> Iterator[Placement]:
    """Yield placements for communicators of fewer ranks than the record has: the first ranks of its placement.

    Ranks fill node after node. Numbers that do not fill nodes, and those that placements have, are left out.
    """
    known = {0, *(placement.ranks for placement in placements)}
    for program in [placement for placement in placements if placement.ranks == ranks][:1]:
        for number in sorted(numbers - known):
            smaller = program.take_first(number)
            if smaller.ranks == number:
                yield msgspec.structs.replace(smaller, name=f"{smaller.nodes}x{smaller.ranks_per_node}")


def divide_words(words: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Return the plans among the words (files, or words that look like files), and the other words.

    Raises RankbenchError if there are two plans.
    """
    plans = [word for word in words if word.endswith(PLAN_SUFFIX) or Path(word).is_file()]
    if len(plans) > 1:
        raise RankbenchError(f"name one plan; found {' and '.join(plans)}")
    return [Path(word) for word in plans], [word for word in words if word not in plans]


def add_prefixes(words: Sequence[str], preset: str, search: Search) -> list[str]:
    """Return candidates typed on the command line, with the prefixes that none of them means; with a plan the words."""
    plans, candidates = divide_words(words)
    if plans or preset or not search.prefixes:
        return list(words)
    reach = libraries.find(search) if candidates else []
    covered = {Path(library.prefix).resolve() for word in candidates for library in find_named_library(word, reach)}
    added = [f"{PREFIX}{prefix}" for prefix in search.prefixes if Path(prefix).resolve() not in covered]
    return [*words, *(word for word in added if word not in candidates)]


def find_named_library(word: str, reach: list[Library]) -> Iterator[Library]:
    """Yield the library that a candidate's word means, if there is one: errors are reported with the plan."""
    named = read_candidate(word)
    spec = CandidateSpec(library=named if isinstance(named, str) else named["library"])
    with contextlib.suppress(RankbenchError):
        yield libraries.resolve_library(spec, reach)


def find_plan(file: Path | None, preset: str) -> Path:
    """Return the named plan: a file or a preset. Raises RankbenchError if there is none, or two are named."""
    if file is not None and preset:
        raise RankbenchError(f"name one plan: found {file} and --preset {preset}")
    if file is None and not preset:
        raise RankbenchError(explain_missing_plan())
    return file or plan.find_preset(preset)


def explain_missing_plan() -> str:
    """Return the message about what a plan can be."""
    return (
        "no plan named; use a file (rankbench run plan.toml; `rankbench plan new` writes one), a preset "
        "(rankbench run --preset quick; `rankbench plan` lists them), or candidates and operations "
        "(rankbench run mpich openmpi --operations allreduce)"
    )


def refuse_missing_operations(candidates: Sequence[str]) -> NoReturn:
    """Refuse candidates without operations, which a misspelt plan is, too. Always raises RankbenchError."""
    path = Path(candidates[0]) if len(candidates) == 1 else None
    if path and (path / "campaign.json").exists():
        command = shlex.join(["rankbench", "run", "--continue", str(path)])
        raise RankbenchError(f"{path}: the folder of a campaign; to continue it: {command}")
    if path and path.is_dir():
        raise RankbenchError(f"{path}: a folder; name a plan, which is a TOML file")
    if path and path.with_name(f"{path.name}.toml").exists():
        raise RankbenchError(f"{path}: no plan of this name; did you mean {path}.toml?")
    if path and (near := get_close_matches(path.name, [file.name for file in path.parent.glob("*.toml")], 1)):
        raise RankbenchError(f"{path}: no such plan; did you mean {path.with_name(near[0])}?")
    if len(candidates) == 1 and candidates[0] in plan.list_presets():
        raise RankbenchError(f"{candidates[0]}: a preset; run it with --preset {candidates[0]}")
    raise RankbenchError(
        f"{' '.join(candidates)}: no plan of this name, and no operations for a candidate of this name; add "
        f"--operations allreduce,pingpong (`rankbench operations` lists them)"
        if len(candidates) == 1
        else "--operations: missing; name what to measure, such as --operations allreduce,pingpong "
        "(`rankbench operations` lists them)"
    )


def keys(measured: MeasuringOptions, candidates: Sequence[str]) -> dict[str, Any]:
    """Return the keys of a plan that the options set. Raises RankbenchError if two of them contradict each other."""
    if measured.ranks and measured.placements:
        raise RankbenchError("--ranks and --placements both say where ranks run; leave one of them out")
    placements = f"1x{measured.ranks}" if measured.ranks else measured.placements
    lists: dict[str, list[Any]] = {
        "candidates": list(map(read_candidate, candidates)),
        "operations": split(measured.operations),
        "forms": split(measured.forms),
        "placements": split(placements),
    }
    single = {"sizes": measured.sizes, "samples": measured.samples, "threshold": measured.threshold}
    stop = ending(measured)
    return {
        **{key: list(value) for key, value in lists.items() if value},
        **{key: value for key, value in single.items() if value},
        **({"program": {"run": measured.program}} if measured.program else {}),
        **({"profile": str(measured.profile.absolute())} if measured.profile else {}),
        **({"stop": stop} if stop else {}),
    }


def read_candidate(word: str) -> str | dict[str, str]:
    """Return a library, or a candidate's table of `NAME=LIBRARY`."""
    match = NAMED.fullmatch(word)
    return {"name": match[1], "library": match[2]} if match else word


def label_candidates(candidates: Iterable[str | dict[str, str]]) -> list[str]:
    """Return short names of candidates for people: their own, or of prefixes the part that differs."""
    names = [word if isinstance(word, str) else word["name"] for word in candidates]
    prefixes = [name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)]
    short = dict(zip(prefixes, libraries.distinguish(prefixes), strict=True))
    return [short[name.removeprefix(PREFIX)] if name.startswith(PREFIX) else name for name in names]


def split(text: str) -> list[str]:
    """Return the parts of a list with commas."""
    return [part.strip() for part in text.split(",")] if text else []


def ending(measured: MeasuringOptions) -> dict[str, Any]:
    """Return the table `stop` of the options on how long is measured.

    Raises RankbenchError if two of them contradict each other.
    """
    parse_option("time", measured.time, notation.parse_seconds, notation.TIME_HELP)
    stated = measured.until if measured.time else ""
    rule = parse_option("until", stated, notation.parse_until, notation.UNTIL_HELP)
    if rule and not math.isinf(rule.limit_s):
        raise RankbenchError("--time and --until both name a time; leave one of them out")
    until = notation.OR.join(filter(None, [measured.until, measured.time and f"time {measured.time}"]))
    blocks = blocks_of(measured.blocks) if measured.blocks else None
    if until and isinstance(blocks, int):
        blocks = {"max": blocks} if measured.until else {"min": 1, "max": blocks}
    return {**({"until": until} if until else {}), **({} if blocks is None else {"blocks": blocks})}


def blocks_of(text: str) -> int | dict[str, int]:
    """Return the number of blocks of `5`, or the least and the most of `5:60`.

    Raises RankbenchError for another form.
    """
    match = re.fullmatch(r"(\d+)(?:[:-](\d+))?", text.strip())
    if not match or int(match[1]) < 1:
        raise RankbenchError(f"--blocks {text}: expected a number such as 5, or the fewest and the most such as 5:60")
    return {"min": int(match[1]), "max": int(match[2])} if match[2] else int(match[1])


def make_question(values: Mapping[str, Any]) -> str:
    """Return the question of a plan without a file."""
    operations = list_measured(values)
    what = ", ".join(operations) if len(operations) <= FEW else f"{len(operations)} operations"
    names = label_candidates(values["candidates"])
    if len(names) == 1:
        return f"How long does {names[0]} take here for {what}?"
    return f"Which is fastest here in {what}: {', '.join(names)}?"


def list_measured(values: Mapping[str, Any]) -> list[str]:
    """Return the operations, the program and the profile that options name."""
    return [
        *values.get("operations", []),
        *([values["program"]["run"]] if "program" in values else []),
        *([f"calls of {Path(values['profile']).stem}"] if "profile" in values else []),
    ]


def name_of(values: Mapping[str, Any]) -> str:
    """Return the campaign's name for a plan without a file, from its content: equal plans have the same name."""
    what = {key: value for key, value in values.items() if key not in JUDGED}
    digits = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:HASH_DIGITS]
    words = re.sub(
        r"[^\w.+=]+", "-", "-".join([*label_candidates(values["candidates"]), *list_measured(values)])
    ).strip("-.")
    return f"{words[:LONGEST_NAME].rstrip('-.')}-{digits}"
