"""The job script: plain bash that makes the launches of a campaign within one job. People can read and edit it.

It needs no Python where it runs. Below `<campaign>/job` it leaves a folder for each launch, whose file `ending` comes
last; what has one is not launched again, so that a script that was interrupted goes on where it was when it is run
again. `functions.sh` makes the launches; this module adds the list of launches.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from rankbench.launch.cleaning import CLEAN_NODE
from rankbench.launch.schedulers import Scheduler, job_name
from rankbench.model import LEAST_REST, MOST_REST, REST_PART, CommandLine, Job, RankbenchError
from rankbench.plan.jobs import NODE

FUNCTIONS = Path(__file__).with_name("functions.sh")
RULE = "# --- {} "
OWN = '"$@"'
"""Bash for the arguments of the core."""
REMOTE_SHELL = {
    "HYDRA_LAUNCHER": "ssh",
    "HYDRA_LAUNCHER_EXEC": "{}",
    "I_MPI_HYDRA_BOOTSTRAP_EXEC": "{}",
    "OMPI_MCA_plm_rsh_agent": "{}",
    "PRTE_MCA_plm_ssh_agent": "{}",
}
"""Variables by which hydra, Intel MPI and PRRTE start processes on other nodes by a program in the place of ssh."""
NODES = re.compile(r"__NODE_\d+__([:=\w]*)(?:,__NODE_\d+__\1)+")
"""A list of placeholders for nodes, with the same text behind each."""
LONG_LIST = 8
"""Nodes from which on a list has a function: each candidate and placement of a job has one."""
WIDTH = 120
FOLDER = "job"
"""Subfolder of a campaign with the files of its job script."""
SCRIPT, LOG = "job.sh", "output.log"
SCHEDULER_LOG = "scheduler.log"
"""What the scheduler stores of a job's output, some of them only when it ends: messages of its own."""
RSH = "rsh"
"""Written by the job: a program that is called as ssh is, and starts commands on the job's nodes by the scheduler."""


class Line(NamedTuple):
    """How a candidate is launched in a placement."""

    name: str
    """A name that bash allows."""
    title: str
    core: Sequence[str]
    """The words that start it on this node, without arguments."""
    ranks: int
    command: CommandLine
    """Without the core's arguments; with those of a foreign program."""
    checked: str = ""
    """For a foreign program, the line of the core whose check also decides about it; empty: its own check."""
    reports: Mapping[str, str] = {}
    """Variables that make the library report in the check what it uses."""


class Turn(NamedTuple):
    """A candidate's turn with some cases."""

    name: str
    """Unique among all turns; names the folder of its launches."""
    line: str
    cases: str
    """Name of the file that lists them, below `cases`."""
    alone: bool = False
    """Whether it cannot take turns with launches of the same cases."""
    group: str = ""
    """The group of turns it is launched with; empty: all of the block."""


class Script(NamedTuple):
    """The contents of a job script."""

    campaign: Path
    question: str
    job: Job
    lines: Sequence[Line]
    blocks: Sequence[Sequence[Turn]]
    remote_shell: str
    silence_s: float
    """A launch whose stream does not grow for this time counts as hung."""
    threshold: float
    """The smallest relevant difference, as a share."""
    mpi_variables: Sequence[str]
    """Prefixes of the environment variables that are stored with each launch."""
    sums: Sequence[str] = ()
    """Names of the lines that compare the bits of sums, too."""


def render_script(script: Script, scheduler: Scheduler) -> str:
    """Return the script for a scheduler."""
    parts = [
        "#!/bin/bash",
        *directives(script, scheduler),
        *render_head(script, scheduler),
        "",
        rule("how each candidate is launched in each placement; $@ is the core with its arguments"),
        "",
        "declare -A ranks core checked reports",
        *(part for line in script.lines for part in render_function(line)),
        "",
        f"sums='{' '.join(script.sums)}'  # these compare the bits of sums, too, behind the timed launches",
        "",
        FUNCTIONS.read_text(encoding="utf-8").rstrip(),
        "",
        rule("the launches, each block in its own order"),
        "",
        "begin_job",
        *(f"check {line.name}" for line in script.lines if not line.checked),
    ]
    for number, turns in enumerate(script.blocks, start=1):
        parts += ["", f"block {number}", *map(render_turn, turns), "end_block"]
    return "\n".join([*parts, "", "end_job", ""])


def directives(script: Script, scheduler: Scheduler) -> list[str]:
    """Return the lines that request nodes. Line breaks within one are refused: the rest would be executed.

    Raises RankbenchError for a line break.
    """
    log = script.campaign / FOLDER / SCHEDULER_LOG
    lines = scheduler.directives(script.job, job_name(script.campaign.name), str(log))
    for line in lines:
        if not line.isprintable():
            raise RankbenchError(f"{line!r}: not possible in a job script; remove the control characters")
    return lines


def render_turn(job_turn: Turn) -> str:
    """Return the line that makes a turn."""
    how = "alone" if job_turn.alone else job_turn.group
    return " ".join(filter(None, ["launch", job_turn.name, job_turn.line, job_turn.cases, how]))


def render_head(script: Script, scheduler: Scheduler) -> list[str]:
    """Return the head: settings that users may change, and the nodes of the job."""
    sentence = f"Campaign {script.campaign.name}, by rankbench {version('rankbench')}: {script.question}"
    signals = scheduler.time_signals
    more = "Run or submit it again at any time: finished launches are not repeated. Put a # before a launch to skip it."
    return [
        "#",
        *textwrap.wrap(sentence, WIDTH, initial_indent="# ", subsequent_indent="# "),
        *textwrap.wrap(more, WIDTH, initial_indent="# ", subsequent_indent="# "),
        "",
        f"campaign={shlex.quote(str(script.campaign))}",
        f'[ -t 1 ] || exec >>"$campaign/{FOLDER}/{LOG}" 2>&1  # readable while the job runs, under every scheduler',
        f"time_s={round(script.job.time_s)}  # time limit of the job, or 0; no launch starts that would exceed it",
        f"silence_s={round(script.silence_s)}  # a launch without a sign of life for this time is ended",
        f"rest={max(MOST_REST, REST_PART * script.threshold):g}  # share of a CPU for all waiting launches together",
        f"rest_apart={max(LEAST_REST, REST_PART * script.threshold):g}  # largest difference between two of them",
        f"rest_large={script.threshold:g}  # share that one launch may use in one block",
        f"nodes_wanted={script.job.nodes}",
        f"mpi_variables={shlex.quote('|'.join(script.mpi_variables))}  # variables that are stored with each launch",
        f"job_id={scheduler.job_id}",
        *([f"time_signals='{' '.join(signals)}'"] if signals else []),
        f"remote_shell={shlex.quote(script.remote_shell or 'ssh')}",
        f"clean_node={shlex.quote(CLEAN_NODE)}  # what a node runs where ranks were ended",
        *(f"export {name}={shlex.quote(value)}" for name, value in scheduler.environment.items()),
        *list_remote_shell(scheduler),
        *([f"unset {' '.join(scheduler.job_variables)}"] if scheduler.job_variables else []),
        *script.job.setup,
        "",
        "# The nodes of this job; whether they can start ranks; how remaining ranks are ended; which nodes are lost.",
        scheduler.nodes(script.job),
        f"ready() {{\n    {scheduler.ready}\n}}",
        f"end_ranks() {{\n    {scheduler.end_ranks}\n}}",
        f"list_lost() {{\n    {scheduler.lost}\n}}",
        f"answers() {{\n    {scheduler.answers}\n}}",
    ]


def list_remote_shell(scheduler: Scheduler) -> list[str]:
    """Return the lines by which launchers start processes on other nodes by the scheduler; none: they need none."""
    if not scheduler.remote_start:
        return []
    path = f'"$campaign/{FOLDER}/{RSH}"'
    return [
        f"remote_start={shlex.quote(scheduler.remote_start)}  # how {FOLDER}/{RSH} runs a command on a node",
        *(f"export {name}={value.format(path)}" for name, value in REMOTE_SHELL.items()),
    ]


def rule(title: str) -> str:
    """Return a line that separates two parts of the script."""
    return RULE.format(title).ljust(WIDTH, "-")


def render_function(line: Line) -> list[str]:
    """Return the bash function that launches a candidate in a placement."""
    words = [f"{name}={value}" for name, value in line.command.environment.items()]
    reports = [f"{name}={value}" for name, value in line.reports.items()]
    files = line.command.files
    command = [*(["env", *words] if words else []), *line.command.arguments]
    texts = [f'"$out/{word}"' if word in files else quote(word) for word in command]
    return [
        "",
        f"# {' '.join(line.title.split())}",
        f"ranks[{line.name}]={line.ranks}",
        f"core[{line.name}]={shlex.quote(shlex.join(line.core))}",
        *([f"checked[{line.name}]={line.checked}  # the core's function that checks it"] if line.checked else []),
        *([f"reports[{line.name}]={shlex.quote(' '.join(reports))}"] if reports and not line.checked else []),
        f"{line.name}() {{",
        *(write_file_line(name, content) for name, content in files.items()),
        f"    {break_command(texts if line.checked else [*texts, OWN])}",
        "}",
    ]


def break_command(words: Sequence[str]) -> str:
    """Return a command, wrapped into lines."""
    lines, line = [], ""
    for word in words:
        if line and len(line) + len(word) > WIDTH - len("     \\"):
            lines.append(line)
            line = ""
        line += f" {word}" if line else word
    return " \\\n        ".join([*lines, line])


def quote(word: str) -> str:
    """Return a quoted word for bash, whose placeholders bash replaces by the names of nodes."""
    if not NODE.search(word):
        return shlex.quote(word)
    return '"' + insert_nodes(escape(word, '"$`')) + '"'


def escape(text: str, special: str) -> str:
    """Return text with escaped backslashes and special characters."""
    return re.sub(rf"([\\{special}])", r"\\\1", text)


def insert_nodes(text: str) -> str:
    """Return text with bash for the names of nodes in the place of placeholders: long lists are made by a function."""
    return NODE.sub(lambda match: f"${{node[{int(match[1]) - 1}]}}", NODES.sub(shorten_list, text))


def shorten_list(match: re.Match[str]) -> str:
    """Return the bash for a list of successive nodes, with what follows each name; another list as it is."""
    numbers = [int(number) for number in NODE.findall(match[0])]
    if len(numbers) < LONG_LIST or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return match[0]
    return f"$(join_nodes {numbers[0] - 1} {len(numbers)} {match[1]})".replace(" )", ")")


def write_file_line(name: str, content: str) -> str:
    """Return the line of bash that writes a file for the launcher."""
    return f'    cat >"$out/{name}" <<END\n{insert_nodes(escape(content, "$`"))}END'
