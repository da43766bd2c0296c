"""What the lines around a table say about its run: command lines, settings, modules, banners of libraries, counts.

Pure: a line is parsed into facts, each with its name, value and origin. Which facts matter is decided elsewhere.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rankbench.libraries import families

LIBRARY, RANKS, NODES, PER_NODE, PROGRAM, ARGUMENTS = (
    "library",
    "ranks",
    "nodes",
    "ranks per node",
    "program",
    "arguments",
)
COUNTS = (RANKS, NODES, PER_NODE)


class Fact(NamedTuple):
    """A property of a run."""

    name: str
    """One of the names above, or that of a setting."""
    value: str
    """Empty: no longer set."""
    origin: str


# --- libraries --------------------------------------------------------------------------------------------------------

SPELLINGS = {
    "open ?mpi|ompi": "openmpi",
    "mvapich2-gdr": "mvapich2-gdr",
    "mvapich2": "mvapich2",
    "cray[-_ ]?mpich": "cray-mpich",
    "intel[-_]?(?:oneapi[-_])?mpi|impi(?:-mt)?": "intel-mpi",
    "spectrum[-_]?mpi|smpi": "spectrum-mpi",
    "hpc-?x(?:-mpi)?": "hpcx",
    "hpe[-_]mpi|hmpt|mpt": "hpe-mpt",
    "parastation-?mpi|psmpi": "parastation-mpi",
    "platform[-_]mpi|pmpi": "platform-mpi",
    "fujitsu[-_]mpi|fjmpi": "fujitsu-mpi",
}
"""Other names of libraries in modules, folders and files, and the one by which they are labelled."""
FAMILIES = {**SPELLINGS, **{re.escape(name): name for name in families.list_families()}}
VERSION = r"\d+(?:\.\w+)*(?:[-_.]?(?:rc|a|b)\d+)?"
NAMED = re.compile(
    "(?<![a-z0-9])(?:"
    + "|".join(f"(?P<f{number}>{pattern})" for number, pattern in enumerate(FAMILIES))
    + rf")(?:[-_/@ =]?v?(?P<version>{VERSION}))?(?![a-z0-9]*\.(?:so|c|h)\b)(?![a-z])",
    re.IGNORECASE,
)
BANNERS = (
    ("openmpi", rf"^(?:Open MPI(?: v|: | )|mpi(?:run|exec) \(Open ?MPI\) )({VERSION})"),
    ("cray-mpich", rf"CRAY MPICH version ({VERSION})"),
    ("intel-mpi", rf"Intel\(R\) MPI Library.*?,? Version ({VERSION}(?: Update \d+)?)"),
    ("mvapich2", rf"MVAPICH2[- ](?:Version\s*:?\s*)?({VERSION})"),
    ("hpe-mpt", rf"(?:HPE|SGI) MPT ({VERSION})"),
    ("spectrum-mpi", rf"IBM Spectrum MPI ({VERSION})"),
)
"""Lines that libraries and their launchers print, besides those by which families recognise them."""


def find_library(text: str) -> str:
    """Return the library that a name such as `openmpi/4.1.5-gcc` or a path mentions, with its version; else empty."""
    labels = list(FAMILIES.values())
    best = ""
    for match in NAMED.finditer(text):
        family = next(labels[int(name[1:])] for name, value in match.groupdict().items() if value and name[0] == "f")
        name = f"{family}/{match['version']}" if match["version"] else family
        best = name if not best or (match["version"] and "/" not in best) else best
    return best


def find_banner(text: str) -> str:
    """Return the library that printed a line, with its version; else empty."""
    for family, pattern in BANNERS:
        if match := re.search(pattern, text):
            return f"{family}/{match[1].replace(' Update ', 'u')}"
    recognised = families.recognise(text)
    return f"{recognised[0].name}/{recognised[1]}" if recognised else ""


# --- command lines ----------------------------------------------------------------------------------------------------

LAUNCHER = re.compile(
    r"(?:^|[\s'\"`(;&|/=])(?P<name>mpirun|mpiexec(?:\.hydra|\.gforker|_mpt)?|mpirun_rsh|orterun|prterun|srun|jsrun|aprun|"
    r"ibrun|flux run|mpprun)(?=\s+[^\s:])"
)
MESSAGE = re.compile(
    r"\b(?:unable|noticed|could not|failed|detected|not found|has exited|was not|No such|error|killed|terminat|step)\b",
    re.IGNORECASE,
)
ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)
PER_NODE_MPI = ("-ppn", "-perhost", "-npernode", "--npernode", "-N", "--ntasks-per-node", "--ppn")
RANKS_MPI = ("-n", "-np", "--np", "--n", "-c")
FOUR_WORDS = {"--mca", "-mca", "--prtemca", "--pmixmca", "--gmca", "-gmca", "--omca"}
ENVIRONMENT = {"-genv", "-env", "--genv", "--env"}
PLACES = {
    "--map-by",
    "-map-by",
    "--bind-to",
    "-bind-to",
    "--rank-by",
    "--cpu-bind",
    "--cpu_bind",
    "--distribution",
    "-m",
}
PLACES |= {"-b", "--bind", "-d", "-cc", "-c", "--cpus-per-task", "--mpi", "-bind", "--latency_priority", "-l"}
PLACES |= {"--hostfile", "-hostfile", "--machinefile", "-machinefile", "-f", "-w", "--nodelist", "--nodefile"}
PLACES |= {"--rankfile", "-rankfile", "-rf", "--cpu-set", "--cpu-list"}
HOSTS = {"-H", "-host", "--host", "-hosts", "--hosts"}
WITHOUT_VALUE = {"-v", "-l", "-tv", "--oversubscribe", "--allow-run-as-root", "--exclusive", "--report-bindings"}
WITHOUT_VALUE |= {"--display-map", "--verbose", "--tag-output", "--timestamp-output", "--overlap", "--exact", "-q"}
WITHOUT_VALUE |= {"--nolocal", "--quiet", "-prepend-rank", "-print-rank-map", "--display-allocation", "--mem_bind"}
PROGRAM_NAME = re.compile(
    r"(?:\S*/)?(osu_\w+?|IMB-\w+|NPmpi|\w+_perf|mpiperf|mpi_bench|mpibenchmark|skampi)(?:\.\w{1,5})?"
)
WRAPPER = re.compile(r"\b(?:numactl|taskset|hwloc-bind|likwid-[a-z]+|perf|valgrind|nsys|strace|sudo|chrt)\b[^|;&]*")
JOB_NUMBER = re.compile(r"\d{5,}")
SIZE_OPTIONS = {"-m", "--message-size", "-msglog", "-b", "-e", "-x", "-X"}


def read_command(text: str) -> Iterator[Fact]:
    """Yield what a launcher's command line says; nothing for other lines."""
    match = LAUNCHER.search(text)
    if not match or MESSAGE.search(text[match.end() :][:60]) or text.rstrip().endswith(":"):
        return
    name = match["name"]
    words = split_words(text[match.end() :])
    is_command = any(word.startswith("-") or PROGRAM_NAME.fullmatch(word) or "/" in word for word in words)
    if not words or not is_command:
        return
    before = split_words(PROMPT.sub("", text[: match.start("name")]))
    for word in before:
        if (pair := ASSIGNMENT.fullmatch(word)) and pair["name"].isupper():
            yield from read_setting(pair["name"], pair["value"], name)
    if wrapper := WRAPPER.search(text[: match.start("name")]):
        yield Fact("wrapper", wrapper[0].strip(), name)
    path = before[-1] if text[: match.start("name")].endswith("/") and before else ""
    if library := find_library(path):
        yield Fact(LIBRARY, library, f"path of {name}")
    yield from read_options(name, words)


def split_words(text: str) -> list[str]:
    """Return the words of a command line, without quotes where they are complete."""
    try:
        return shlex.split(text.strip().rstrip("'\"`)"), comments=False)
    except ValueError:
        return text.split()


def read_options(name: str, words: Sequence[str]) -> Iterator[Fact]:
    """Yield what the words after a launcher's name say."""
    counts: dict[str, float] = {}
    rest = list(words)
    while rest and (rest[0].startswith("-") or ASSIGNMENT.fullmatch(rest[0])):
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if not word.startswith("-"):
            yield from read_setting(option, value, name)
            continue
        if option in FOUR_WORDS and len(rest) > 1:
            yield Fact(rest.pop(0), rest.pop(0), name)
            continue
        if option in ENVIRONMENT and rest:
            variable, _, text = rest.pop(0).partition("=")
            yield Fact(variable, text or (rest.pop(0) if rest and not text else ""), name)
            continue
        if not equals and (attached := re.fullmatch(r"(-[nNarc])(\d+)", word)):
            option, value = attached[1], attached[2]
        elif not equals and option not in WITHOUT_VALUE and rest and not is_program_or_option(rest[0]):
            value = rest.pop(0)
        yield from read_option(name, option, value, counts)
    yield from finish_counts(name, counts)
    yield from read_program(rest)


def is_program_or_option(word: str) -> bool:
    """Return whether a word cannot be the value of the option before it."""
    return word.startswith("-") or PROGRAM_NAME.fullmatch(word) is not None


def read_option(name: str, option: str, value: str, counts: dict[str, float]) -> Iterator[Fact]:
    """Add the counts of one option to those of a command line, or yield its setting."""
    if count := find_count(name, option, value):
        counts[count] = int(value)
    elif option in {"-x", "--export"} and value:
        for pair in value.split(",") if option == "--export" else [value]:
            if match := ASSIGNMENT.fullmatch(pair):
                yield Fact(match["name"], match["value"], name)
    elif option in HOSTS and value:
        counts["hosts"] = len({host.partition(":")[0] for host in value.split(",")})
        yield Fact("hosts", value, name)
    elif option in PLACES:
        if per_node := re.fullmatch(r"(?i)ppr:(\d+):node(?::.*)?", value):
            counts[PER_NODE] = int(per_node[1])
        if value:
            yield Fact(option.lstrip("-"), JOB_NUMBER.sub("N", value), name)


def find_count(name: str, option: str, value: str) -> str:
    """Return what a number after an option counts; empty: something else."""
    if not value.isdigit():
        return ""
    if name == "jsrun":
        keys = {"-n": "sets", "--nrs": "sets", "-a": "each", "--tasks_per_rs": "each", "-r": "sets per node"}
        return {**keys, "--rs_per_host": "sets per node", "-p": RANKS, "--np": RANKS}.get(option, "")
    if name in {"srun", "flux run"}:
        keys = {"-n": RANKS, "--ntasks": RANKS, "-N": NODES, "--nodes": NODES, "--ntasks-per-node": PER_NODE}
        return {**keys, "--tasks-per-node": PER_NODE}.get(option, "")
    if name == "ibrun":
        return RANKS if option in {"-n", "-np"} else ""
    if option in PER_NODE_MPI:
        return PER_NODE
    return RANKS if option in RANKS_MPI and not (name == "aprun" and option == "-c") else ""


def finish_counts(name: str, counts: dict[str, float]) -> Iterator[Fact]:
    """Yield ranks and nodes from the counts of a command line."""
    if "sets" in counts:
        counts[RANKS] = counts["sets"] * counts.get("each", 1)
        if per_node := counts.get("sets per node"):
            counts[PER_NODE] = per_node * counts.get("each", 1)
    if name in {"mpirun", "mpiexec", "mpiexec.hydra"} and "hosts" in counts and PER_NODE not in counts:
        counts.setdefault(NODES, counts["hosts"])
    for each in COUNTS:
        if each in counts:
            yield Fact(each, f"{counts[each]:g}", name)


def read_program(words: Sequence[str]) -> Iterator[Fact]:
    """Yield the benchmark's program in the rest of a command line, and its arguments without the range of sizes."""
    place = next((place for place, word in enumerate(words) if PROGRAM_NAME.fullmatch(word)), None)
    if place is None:
        return
    program = PROGRAM_NAME.fullmatch(words[place])
    assert program
    yield Fact(PROGRAM, program[1], "command line")
    yield Fact("program wrapper", JOB_NUMBER.sub("N", " ".join(words[:place])), "command line")
    yield Fact("path", JOB_NUMBER.sub("N", words[place].rpartition("/")[0].removeprefix("./")), "command line")
    if library := find_library(words[place]):
        yield Fact(LIBRARY, library, "path of the program")
    rest, arguments = list(words[place + 1 :]), []
    while rest:
        word = rest.pop(0)
        if re.match(r"\d?>|[|&;]", word):
            break
        if word in SIZE_OPTIONS and rest:
            rest.pop(0)
        elif not word.startswith(("IMB", "--message-size=")):
            arguments.append(word)
    yield Fact(ARGUMENTS, " ".join(arguments), "command line")


# --- other lines ------------------------------------------------------------------------------------------------------

PROMPT = re.compile(r"^[\s+$>#%]*(?:\[?\S+@\S+[^$#]{0,40}[$#]\s+)?")
SET = re.compile(r"(?:export|setenv|declare -x|set)\s+(?P<name>[A-Za-z_]\w*)[= ]\s*(?P<value>.*)")
UNSET = re.compile(r"(?:unset|unsetenv)\s+(?P<names>[\w ]+)")
MODULE = re.compile(
    r"(?:module|ml|spack)\s+(?:(?P<verb>load|add|swap|switch|unload|rm|purge|reset)\b\s*)?(?P<names>.*)"
)
LISTED = re.compile(r"(?:\d{1,3}\)\s+\S+\s*)+")
SUBMIT = re.compile(r"#(?:SBATCH|BSUB|PBS|FLUX)[: ]\s*(?P<options>.*)")
PATHS = {"PATH", "LD_LIBRARY_PATH", "MPI_HOME", "MPI_ROOT", "MPI_DIR", "MPIHOME", "OPAL_PREFIX", "I_MPI_ROOT"}
LIBRARY_VARIABLE = re.compile(
    r"(?:OMPI|OPAL|PMIX|PRTE|I_MPI|MPICH|MPIR_CVAR|MPIR|UCX|UCC|FI|MV2|MVP|HCOLL|SHARP|PSM2?|PSM3|NCCL|RCCL|CUDA|HSA|HIP|"
    r"ROCR|OMP|KMP|XPMEM|HUGETLB|IBV|MLX5|CXI|GNI)_|LD_PRELOAD$|MALLOC_"
)
OTHER_VARIABLE = re.compile(
    r"^(?:SLURM|PBS|LSB|LSF|COBALT|FLUX|SGE|PALS)_|(?:JOB|DATE|TIME|_ID|PWD|HOME|DIR|LOG|OUT|FILE|HOST|SEED|RUN|REP|ITER|"
    r"TRIAL|INDEX|COUNT)|^(?:SECONDS|RANDOM|SHLVL|I|J|i|j)$|^_$"
)
"""Variables that differ between repeats."""
COUNT_VARIABLES = {
    "SLURM_NNODES": NODES,
    "SLURM_JOB_NUM_NODES": NODES,
    "SLURM_NTASKS": RANKS,
    "SLURM_NPROCS": RANKS,
    "NNODES": NODES,
    "NODES": NODES,
    "NP": RANKS,
    "NPROCS": RANKS,
    "NTASKS": RANKS,
    "PPN": PER_NODE,
}
RANK_WORDS = r"(?:mpi[ _-]?)?(?:ranks?|process(?:es)?|procs?|tasks?)|nprocs|ntasks|np|nranks"
NODE_WORDS = r"(?:compute )?nodes?|nnodes|hosts?"
PER = rf"(?:{RANK_WORDS})[ _]*(?:per|/|-per-)[ _]*(?:node|host)|ppn|tpn|tasks-per-node"
LABELLED = re.compile(
    rf"(?i)(?:number[ _]of[ _]|num(?:ber)?[ _]?(?:of[ _])?|total[ _]|#\s*)?"
    rf"\b(?P<what>{PER}|{RANK_WORDS}|{NODE_WORDS})\s*(?:is\b|are\b|[:=])\s*(?P<value>\d{{1,8}})\b(?!\s*[-.:/]\d)"
)
COUNTED = re.compile(
    rf"(?i)(?<![\w.:/-])(?P<value>\d{{1,8}})[ _-]*(?P<what>{PER}|{RANK_WORDS}|{NODE_WORDS})"
    r"(?![\w-]*[:=]\s*\S)(?![A-Za-z0-9])"
)
MOST_WORDS = 14
"""Most words of a line with counts: others are sentences."""


def read_line(text: str) -> list[Fact]:
    """Return the facts in a line; none for a line that is a label, noise or part of a table."""
    plain = PROMPT.sub("", text).strip()
    facts = list(read_command(text)) or list(read_statement(plain))
    if not facts and (banner := find_banner(text)):
        facts = [Fact(LIBRARY, banner, "banner")]
    return facts or list(read_counts(text))


def read_statement(text: str) -> Iterator[Fact]:
    """Yield what a statement of a shell sets."""
    if match := SET.fullmatch(text):
        yield from read_setting(match["name"], match["value"].strip().strip("'\""), "export")
    elif match := UNSET.fullmatch(text):
        yield from (Fact(name, "", "unset") for name in match["names"].split())
    elif match := SUBMIT.fullmatch("#" + text) if text.startswith(("SBATCH", "BSUB", "PBS", "FLUX")) else None:
        facts = read_options("srun", split_words(match["options"]))
        yield from (fact._replace(origin="job script") for fact in facts if fact.name in COUNTS)
    elif match := MODULE.fullmatch(text):
        yield from read_modules(match["verb"] or "load", match["names"].split())
    elif match := re.fullmatch(r"Loading (?P<name>[\w.+-]+/[\w.+/-]+)", text):
        yield from read_modules("load", [match["name"]])
    elif LISTED.fullmatch(text):
        yield from (
            Fact(LIBRARY, library, "list of modules")
            for name in re.findall(r"\d\)\s+(\S+)", text)
            if (library := find_library(name))
        )
    elif match := re.fullmatch(r"(?P<name>[A-Z][A-Z0-9_]{2,})=(?P<value>\S*)", text):
        yield from read_setting(match["name"], match["value"], "line")


def read_setting(name: str, value: str, origin: str) -> Iterator[Fact]:
    """Yield a variable as a fact: a count where its name is that of one, a library where it is a path of it.

    Of a list of all variables only those count that a library reads.
    """
    if name.upper() in COUNT_VARIABLES and value.isdigit():
        yield Fact(COUNT_VARIABLES[name.upper()], value, name)
    elif name in PATHS:
        if library := find_library(value.partition(":")[0]):
            yield Fact(LIBRARY, library, name)
    elif LIBRARY_VARIABLE.match(name) or (origin != "line" and not OTHER_VARIABLE.search(name)):
        yield Fact(name, value, origin)


def read_modules(verb: str, names: Sequence[str]) -> Iterator[Fact]:
    """Yield the library and the other modules that a statement loads."""
    if verb in {"unload", "rm"} or any(re.search(r"[^\w./+@%=~-]", name) for name in names):
        return
    if verb in {"purge", "reset"}:
        yield Fact(LIBRARY, "", f"module {verb}")
        return
    for name in names[-1:] if verb in {"swap", "switch"} else names:
        if library := find_library(name):
            yield Fact(LIBRARY, library, "module")
        elif name not in {"osu-micro-benchmarks", "osu"} and not name.startswith("-"):
            base, _, version = re.sub("[@]", "/", name).partition("/")
            yield Fact(f"module {base}", version or "loaded", "module")


def read_counts(text: str) -> Iterator[Fact]:
    """Yield the numbers of ranks and nodes in a short line."""
    if len(text.split()) > MOST_WORDS or MESSAGE.search(text) or re.search(r"\brequires?\b|\bslots\b", text):
        return
    for match in (*LABELLED.finditer(text), *COUNTED.finditer(text)):
        yield Fact(name_count(match["what"]), match["value"], "line")


def name_count(word: str) -> str:
    """Return what a word of a line counts."""
    if re.fullmatch(PER, word, re.IGNORECASE):
        return PER_NODE
    return NODES if re.fullmatch(NODE_WORDS, word, re.IGNORECASE) else RANKS
