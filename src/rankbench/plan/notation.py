"""The notation of quantities in plans: sizes (`1:4M:x2`), times (`30m`), shares (`3%`). Parsers raise ValueError."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, cast

from rankbench.model import FORMS, Calls, Case, Form, Operation
from rankbench.plan import estimators, stop_rules

BINARY = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}

SIZES_HELP = 'sizes such as "1:4M:x2", "0,8,1K,64K" or [8, "1K"]'
TIME_HELP = 'a time such as 0.5, "500ms", "30s", "2m", "1h", "02:00:00" or "1-12:00:00"'
SHARE_HELP = 'a share such as "3%" or 0.03, below 100%'
JOB_TIME_HELP = 'a time such as "30m", "2h", "02:00:00" or "1-12:00:00"'
UNTIL_HELP = stop_rules.format_help()
ALIGNMENTS = (0, *(1 << power for power in range(3, 22)))
"""From the largest element of a datatype to a huge page; 0: the beginning of a page."""
ALIGNMENT_HELP = 'a power of two from 8 to "2M", or 0 for the beginning of a page'
ESTIMATOR_HELP = estimators.format_help()
CALLS_HELP = "a call such as `allreduce 8: 1000`, `bcast.nonblocking 64K: 20`, `barrier: 5` or `allreduce 8-64: 60%`"
MOST_BLOCKS, MOST_SEED = 100_000, (1 << 32) - 1
ROUNDING = 1e-9
"""By which a sum of shares may exceed 1."""
CONFIDENCES = (0.90, 0.95, 0.99)
CONFIDENCE_HELP = '"90%", "95%" or "99%"'


class UnlikelyError(ValueError):
    """An implausible value, with what was probably meant."""

    def __init__(self, hint: str, *, alone: bool = False) -> None:
        super().__init__(hint)
        self.hint = hint
        self.alone = alone
        """Whether the hint is complete without the value and what was expected."""


class Until(NamedTuple):
    """When a campaign ends: its rule, the amount of that rule, if any, and the time that ends it in any case."""

    rule: str
    amount: float = 0.0
    limit_s: float = math.inf


def parse_size(text: object) -> int:
    """Return the bytes of `8`, `"64K"`, `"1MiB"`. Raises UnlikelyError for `64KB`, which may be 64000 or 65536."""
    if isinstance(text, int) and not isinstance(text, bool) and text >= 0:
        return text
    match = re.fullmatch(r"\s*(\d+)\s*([KMG]?)((?:i?B)?)\s*", str(text), re.IGNORECASE)
    if not match or isinstance(text, bool | float):
        raise ValueError(text)
    unit = match[2].upper()
    if unit and match[3].upper() == "B":
        raise UnlikelyError(
            f'{match[0].strip()}: {unit}B may be decimal or binary; write "{match[1]}{unit}" for {match[1]} {unit}iB',
            alone=True,
        )
    return int(match[1]) * BINARY[unit]


def parse_geometric(text: str) -> list[int]:
    """Return the sizes of `first:last:xFACTOR`, its end always included, or of a single size. The factor is 2 if it is
    left out.
    """
    first, *rest = text.split(":")
    if not rest:
        return [parse_size(first)]
    low, high = parse_size(first), parse_size(rest[0])
    factor = int((rest[1:] or ["x2"])[0].strip().removeprefix("x"))
    if low > high and len(rest) <= 2:
        raise UnlikelyError(
            f'{first} is larger than {rest[0]}: write "{":".join([rest[0], first, *rest[1:]])}"', alone=True
        )
    if len(rest) > 2 or factor < 2 or low < 1:
        raise ValueError(text)
    return list_geometric(low, high, factor)


def list_geometric(low: int, high: int, factor: int) -> list[int]:
    """Return the sizes from the lowest on, each so many times the one before, and the highest."""
    steps = range(int(math.log(high / low, factor)) + 2)
    return [*(low * factor**step for step in steps if low * factor**step < high), high]


def parse_sizes(raw: object) -> list[int]:
    """Return sizes in rising order, each once."""
    parts = raw if isinstance(raw, list) else str(raw).split(",")
    if isinstance(raw, bool | float | dict) or not parts:
        raise ValueError(raw)
    return sorted(
        {
            size_bytes
            for part in parts
            for size_bytes in (parse_geometric(part) if isinstance(part, str) else [parse_size(part)])
        }
    )


def parse_positive(raw: object, units: dict[str, float], default: str) -> float:
    """Return a positive, finite number with one of the units; a bare number has the default unit."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([a-z%]*)\s*", str(raw))
    if not match or isinstance(raw, bool) or match[2] not in {"", *units}:
        raise ValueError(raw)
    value = float(match[1]) * units[match[2] or default]
    if not 0 < value < math.inf:
        raise ValueError(raw)
    return value


def parse_seconds(raw: object) -> float:
    """Return the seconds of `0.5`, `"500ms"`, `"30m"`, and of `"02:00:00"` and `"1-12:00:00"` as Slurm has them."""
    clock = re.fullmatch(r"\s*(?:(\d+)-)?(\d+):([0-5]\d):([0-5]\d)\s*", str(raw))
    if clock:
        days, hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        return parse_positive(((days * 24 + hours) * 60 + minutes) * 60 + seconds, SECONDS, "s")
    return parse_positive(raw, SECONDS, "s")


def parse_job_seconds(raw: object) -> float:
    """Return the time limit of a job in seconds. Raises UnlikelyError for a bare number, which schedulers read as
    minutes.
    """
    if re.fullmatch(r"\s*\d+(\.\d+)?\s*", str(raw)) and not isinstance(raw, bool):
        number = str(raw).strip()
        raise UnlikelyError(
            f'{number}: a number without a unit is minutes to some schedulers; write "{number}m" or "{number}s"',
            alone=True,
        )
    return parse_seconds(raw)


def parse_share(raw: object) -> float:
    """Return the share of `"3%"` or `0.03`, between 0 and 1."""
    value = parse_positive(raw, {"%": 0.01, "1": 1.0}, "1")
    if 1 <= value < 100 and "%" not in str(raw):
        raise UnlikelyError(f'did you mean "{value:g}%"?')
    if value >= 1:
        raise ValueError(raw)
    return value


def parse_alignment(raw: object) -> int:
    """Return the bytes of an alignment, one of ALIGNMENTS."""
    alignment = parse_size(raw)
    if alignment not in ALIGNMENTS:
        raise ValueError(raw)
    return alignment


def parse_estimator(raw: object) -> str:
    """Return the name of an estimator of `plan/estimators`, such as `median` or `p90`."""
    estimators.find_estimator(str(raw))
    return str(raw)


def parse_confidence(raw: object) -> float:
    """Return the confidence of `"95%"` or `0.95`, one of CONFIDENCES."""
    try:
        value = round(parse_share(raw), 9)
    except UnlikelyError:
        if round(parse_share(f"{raw}%"), 9) in CONFIDENCES:
            raise
        raise ValueError(raw) from None
    if value not in CONFIDENCES:
        raise ValueError(raw)
    return value


def parse_until(raw: object) -> Until:
    """Return a stop rule of `plan/stop_rules`: `decided`, `time 30m`, or with a limit, `decided or time 30m`."""
    text, *limits = str(raw).split(OR)
    rule, _, amount = text.partition(" ")
    kind = stop_rules.find_rule(rule).amount
    if (not kind and amount) or len(limits) > (kind != "seconds"):
        raise ValueError(raw)
    until = Until(rule, AMOUNTS[kind](amount)) if kind else Until(rule)
    limit = parse_until(limits[0]) if limits else until
    if limits and stop_rules.find_rule(limit.rule).amount != "seconds":
        raise ValueError(raw)
    return until._replace(limit_s=limit.amount) if stop_rules.find_rule(limit.rule).amount == "seconds" else until


OR = " or "
"""Between a rule and a limit of time."""


def find_time_limit_s(until: str) -> float:
    """Return the time after which a campaign ends; infinite: it has no such limit."""
    return parse_until(until).limit_s


def name_time_limit(until: str) -> str:
    """Return the limit of time as the plan has it, such as `30m`; empty: it has none."""
    return "" if math.isinf(find_time_limit_s(until)) else until.rpartition(" ")[2]


AMOUNTS = {"share": parse_share, "seconds": parse_seconds}
"""What may follow the name of a stop rule."""


def parse_calls(call: object, count: object) -> Calls:
    """Return how often a call is made, or its share of the time: `allreduce 8`, `bcast.nonblocking 64K` or
    `allreduce 8-64`, and a number or `60%`.
    """
    match = re.fullmatch(r"\s*([a-z][\w-]*)(?:\.([a-z]+))?(?:\s+(\S.*))?\s*", str(call))
    if not match or (match[2] and match[2] not in FORMS) or isinstance(count, bool):
        raise ValueError(call)
    share = parse_share(count) if str(count).strip().endswith("%") else 0.0
    number = 0.0 if share else float(str(count))
    if not 0 < (share or number) < math.inf or share > 1:
        raise ValueError(count)
    least, _, most = (match[3] or "0").partition("-")
    size_bytes, most_bytes = parse_size(least.strip()), parse_size(most.strip()) if most else 0
    if most and most_bytes <= size_bytes:
        raise ValueError(call)
    form = cast("Form", match[2] or "")
    return Calls(match[1], size_bytes, number, form, share, most_bytes)


def find_unsized(calls: Sequence[Calls], sized: Collection[str]) -> str:
    """Return what is missing in the first call without a size, of the operations that have sizes; empty: nothing."""
    for call in calls:
        if not call.size_bytes and call.operation in sized:
            form = f".{call.form}" if call.form else ""
            return f"{call.operation}{form} has sizes; say which, such as `{call.operation}{form} 8` or `8-64`"
    return ""


def list_sized(operations: Iterable[Operation], cases: Iterable[Case]) -> set[str]:
    """Return the operations that have sizes, without those that are measured with empty messages, too."""
    empty = {case.operation for case in cases if not case.size_bytes}
    return {operation.name for operation in operations if operation.sized} - empty


def find_calls_fault(calls: Sequence[Calls]) -> str:
    """Return why calls cannot be added up; empty: they can."""
    shares = [call.share for call in calls if call.share]
    if shares and len(shares) < len(calls):
        return "numbers and shares of time are mixed; give all calls a number, or all a share such as 60%"
    if sum(shares) > 1 + ROUNDING:
        return f"the shares sum to {sum(shares):.0%}, expected at most 100%"
    return ""
