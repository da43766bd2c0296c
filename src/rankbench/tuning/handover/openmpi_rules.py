"""Open MPI's file of rules for its component `tuned`: written in both formats, and checked as the library reads it.

The classic format is a list of whole numbers. The library skips all that is none, and what follows a `#`. It drops a
file that ends too early or has an impossible number, silently. A rule holds from its bytes and ranks upwards, so that
both ends need a fence: a rule of the library's own choice (algorithm 0).

From version 6 on there is JSON, in which a rule names both ends: the first that matches counts, and where none does,
the choice is the library's own. Source: ompi/mca/coll/tuned/coll_tuned_dynamic_file.c.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from rankbench.model import Rule

SWITCH = "coll_tuned_use_dynamic_rules"
FILE_VARIABLE = "coll_tuned_dynamic_rules_filename"
CLASSIC_FILE, JSON_FILE = "openmpi-rules.conf", "openmpi-rules.json"
JSON_SINCE = 6
HEADER = re.compile(r"\s*rule-file-version-(\d+)")
HEADER_SINCE = (5, 0, 7)
IDS = {
    name: number
    for number, name in enumerate(
        ("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast", "exscan",
         "gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter", "scatterv")
    )
}  # fmt: skip
"""Numbers of operations in the file (COLLTYPE of ompi/mca/coll/base/coll_base_functions.h)."""
OF_ALL_RANKS = {"allgather", "alltoall", "gather", "scatter", "reduce_scatter_block", "allgatherv", "reduce_scatter"}
"""Operations whose rules count the bytes of all ranks together; a message size is that of one rank."""
SEGMENT = "segmentsize"
FAN_OUTS = {"chain": "chain_fanout", "knomial": "knomial_radix"}
"""Algorithms with a fan-out, with the suffix of its parameter's name."""
MOST_OPERATIONS = 44
"""Numbers of operations in any version, including neighbourhood and nonblocking ones."""


def is_off(settings: Mapping[str, str]) -> bool:
    """Return whether settings leave the switch off that makes the library read a file."""
    return settings.get(SWITCH, "0").lower() in {"0", "false", "no"}


def reads_json(version: str) -> bool:
    """Return whether a version of the library reads JSON."""
    return parse_version(version) >= (JSON_SINCE,)


def parse_version(version: str) -> tuple[int, ...]:
    """Return the numbers of a version."""
    return tuple(map(int, re.findall(r"\d+", version.partition("rc")[0])))


def underscore_name(operation: str) -> str:
    """Return the library's name of an operation."""
    return operation.replace("-", "_")


def find_bytes(rule: Rule) -> tuple[int, int]:
    """Return first and last bytes of a rule in the library's count."""
    factor = rule.ranks if rule.operation in OF_ALL_RANKS else 1
    return rule.first_bytes * factor, rule.last_bytes * factor


def find_parameter(rule: Rule, ends: tuple[str, ...]) -> str:
    """Return the value of the variant's parameter with this suffix; 0: it has none."""
    return next((value for name, value in rule.variant.settings.items() if name.endswith(ends)), "0")


# --- the classic format -----------------------------------------------------------------------------------------------


def write_classic(rules: Sequence[Rule]) -> str:
    """Return the file: a block for each operation, with its rules by ranks and bytes. It has no header.

    Versions before 5.0.7 would drop it for one.
    """
    by_operation = [(name, list(group)) for name, group in groupby(rules, lambda rule: rule.operation)]
    lines = [f"{len(by_operation)} # operations"]
    for name, group in by_operation:
        by_ranks = limit_ranks(group)
        lines += [f"{IDS[underscore_name(name)]} # {name}", f"{len(by_ranks)} # numbers of ranks"]
        for ranks, ranges in by_ranks.items():
            choice = "" if ranges else ": the library's own choice"
            lines += [f"{ranks} # from {ranks} rank{'s'[: ranks > 1]} on{choice}", *limit_sizes(ranges)]
    return "".join(f"{line}\n" for line in lines)


def limit_ranks(rules: Sequence[Rule]) -> dict[int, list[Rule]]:
    """Return the rules by the number of ranks from which on they hold, rising, with fences (numbers without rules)."""
    numbers = sorted({rule.ranks for rule in rules})
    fences = {1, *(number + 1 for number in numbers)}
    return {ranks: [rule for rule in rules if rule.ranks == ranks] for ranks in sorted(fences | set(numbers))}


def limit_sizes(rules: Sequence[Rule]) -> list[str]:
    """Return the lines of rules for one number of ranks, with a fence wherever sizes have no rule."""
    lines, end = [format_rule(0, "0", "own choice")], 0
    for rule in rules:
        first, last = find_bytes(rule)
        if first in (0, end):
            lines.pop()
        fan_out, segment = (find_parameter(rule, ends) for ends in (tuple(FAN_OUTS.values()), (SEGMENT,)))
        lines += [
            format_rule(first, rule.variant.algorithm, rule.variant.name, fan_out, segment),
            format_rule(last + 1, "0", "own choice"),
        ]
        end = last + 1
    return [f"{len(lines)} # rules by bytes", *lines]


def format_rule(first_bytes: int, algorithm: str, comment: str, fan_out: str = "0", segment: str = "0") -> str:
    """Return a rule: bytes, algorithm, fan-out and segment size; 0: the library's own choice."""
    return f"{first_bytes} {algorithm} {fan_out} {segment} # {comment}"


# --- JSON -------------------------------------------------------------------------------------------------------------


def write_json(rules: Sequence[Rule]) -> str:
    """Return the file of version 6. Its algorithms have names, which versions keep; numbers may change."""
    collectives = {
        underscore_name(name): [
            {
                "comm_size_min": ranks,
                "comm_size_max": ranks,
                "comm_rank_distribution": "any",
                "rules": [write_json_rule(rule) for rule in ranges],
            }
            for ranks, ranges in groupby(group, lambda rule: rule.ranks)
        ]
        for name, group in groupby(rules, lambda rule: rule.operation)
    }
    return json.dumps({"rule_file_version": 3, "module": "tuned", "collectives": collectives}, indent=1) + "\n"


def write_json_rule(rule: Rule) -> dict[str, str | int]:
    """Return a rule: both ends, the algorithm (by name if the variant's settings have it), and its parameters."""
    first, last = find_bytes(rule)
    name = rule.variant.settings.get(f"coll_tuned_{underscore_name(rule.operation)}_algorithm", "")
    fan_out, segment = (int(find_parameter(rule, ends)) for ends in (tuple(FAN_OUTS.values()), (SEGMENT,)))
    parameters = {"faninout": fan_out, "seg_size": segment}
    return {
        "msg_size_min": first,
        "msg_size_max": last,
        "alg": name or int(rule.variant.algorithm),
        **{key: value for key, value in parameters.items() if value},
    }


# --- reading ----------------------------------------------------------------------------------------------------------


def find_fault(text: str, version: str) -> str:
    """Return why a version of the library drops a file or reads only a part of it; empty: it reads all."""
    if reads_json(version):
        try:
            document = json.loads(text)
        except ValueError:
            return find_classic_fault(text, version)
        return next(find_json_faults(document), "")
    return find_classic_fault(text, version)


def find_classic_fault(text: str, version: str) -> str:
    """Return the first fault of a file in the classic format, with its line."""
    header = HEADER.match(text)
    if header and parse_version(version) < HEADER_SINCE:
        return f"line 1: versions before {'.'.join(map(str, HEADER_SINCE))} have no header"
    with_requests = bool(header and int(header[1]) > 1)
    numbers = list(list_numbers(text, header.end() if header else 0))
    try:
        end = read_operations(numbers, with_requests=with_requests)
    except ValueError as fault:
        return str(fault)
    return f"line {numbers[end][0]}: the text after the last rule is not read" if end < len(numbers) else ""


def list_numbers(text: str, start: int) -> Iterator[tuple[int, int, bool]]:
    """Yield each number outside comments: its line, its value, and whether another number follows on the line."""
    for line, words in enumerate(text[start:].split("\n"), text.count("\n", 0, start) + 1):
        values = [int(word) for word in re.findall(r"-?\d+", words.partition("#")[0])]
        yield from ((line, value, at + 1 < len(values)) for at, value in enumerate(values))


def read_operations(numbers: Sequence[tuple[int, int, bool]], *, with_requests: bool) -> int:
    """Return the position after the last number read. Raises ValueError with the first fault."""
    at = 0

    def take(what: str, most: int = 2**63 - 1) -> int:
        nonlocal at
        if at >= len(numbers):
            last = numbers[-1][0] if numbers else 1
            raise ValueError(f"line {last}: the file ends where {what} is expected")
        line, value, _ = numbers[at]
        if not 0 <= value <= most:
            raise ValueError(f"line {line}: found {value} where {what} is expected")
        at += 1
        return value

    for _ in range(take("the number of operations", MOST_OPERATIONS)):
        take("an operation", MOST_OPERATIONS - 1)
        for _ in range(take("how many numbers of ranks follow")):
            take("a number of ranks")
            for rule in range(take("how many rules follow")):
                take("a rule's first size", 2**63 - 1 if rule else 0)
                take("an algorithm")
                take("a fan-out")
                take("a segment size")
                if with_requests and numbers[at - 1][2]:
                    take("a number of requests")
    return at


def find_json_faults(document: object) -> Iterator[str]:
    """Yield the faults of a file in JSON that the reader of version 6 checks."""
    collectives = document.get("collectives") if isinstance(document, dict) else None
    if not isinstance(collectives, dict):
        yield "it has no table of collectives"
        return
    for name, groups in collectives.items():
        if name not in IDS:
            yield f"{name}: no collective has this name"
        for group in groups if isinstance(groups, list) else [None]:
            rules = group.get("rules") if isinstance(group, dict) else None
            if not isinstance(rules, list):
                yield f"{name}: a list of entries with rules is expected"
            for rule in rules or ():
                if not isinstance(rule, dict) or not isinstance(rule.get("alg"), str | int):
                    yield f"{name}: a rule has no algorithm"
