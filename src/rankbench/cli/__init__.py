"""The command line. Each module in this folder is one command; this file finds them and turns errors into one line.

A command module has `ORDER` (its place in the help, in the order of work), `GROUP` (one of `_help.GROUPS`), `EXAMPLES`
(lines of its help) and a function of the module's name, whose docstring is its help. A trailing underscore of a module
name is dropped from the command's. Modules whose names begin with an underscore are no commands; they serve several.

Only the command that is called is imported, and what it needs: `--help` reads the others' help from their sources.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import rich.box
import typer
from rich.console import Console
from rich.table import Table
from typer.exceptions import TyperException

from rankbench import cli, units
from rankbench.cli._help import Command, Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankbench.model import Library, RankFact, Verdict

Prefixes = Annotated[
    list[Path] | None, typer.Option(metavar="FOLDER", help="An MPI library's folder, which has bin/mpicc.")
]
Modules = Annotated[
    list[str] | None,
    typer.Option(metavar='"NAME ..."', help="Environment modules to load together for the mpicc that they provide."),
]
Hosts = Annotated[
    str, typer.Option(metavar="HOST,...", envvar="RANKBENCH_HOSTS", help="The nodes, in place of the plan's.")
]
RemoteShell = Annotated[
    str,
    typer.Option(
        metavar="PROGRAM",
        envvar="RANKBENCH_REMOTE_SHELL",
        help="The ssh-like program that starts processes on the nodes, in place of the plan's.",
    ),
]
OneMachine = Annotated[
    bool,
    typer.Option(
        "--one-machine",
        envvar="RANKBENCH_ONE_MACHINE",
        help="The nodes are emulated here and share this machine's cores.",
    ),
]
Binding = Annotated[
    str,
    typer.Option(
        metavar="core|none", envvar="RANKBENCH_BINDING", help="Whether ranks are bound; in place of the plan's."
    ),
]

Results = Annotated[
    Path,
    typer.Option(metavar="FOLDER", envvar="RANKBENCH_RESULTS", help="Where campaigns are kept, a folder each."),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print every sentence of the conclusion and every finding.")
]
Seed = Annotated[
    int, typer.Option(min=0, show_default=False, help="Fixes the random orders; else the plan's, else drawn.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result only, no progress.")]
CampaignFolder = Annotated[
    Path | None,
    typer.Argument(
        metavar="[CAMPAIGN]", help="Its folder, or its name below the results; without it the newest campaign."
    ),
]

GRAVEST_FIRST = ("failure", "warning", "note")

SIGNALLED = 128
"""What shells add to a signal's number for an exit code."""

USAGE_ERROR = 2

console = Console(highlight=False)
if not console.is_terminal and "COLUMNS" not in os.environ:
    console.width = 1000  # Files and pipes have no width: nothing is folded for them.


def home() -> Path:
    """Return the folder for libraries and builds: RANKBENCH_HOME, else `.rankbench` beside the environment that
    rankbench is installed in, where there is one (`make demo` makes it), else the user's data folder.
    """
    beside = Path(sys.prefix).parent / ".rankbench"
    chosen = os.environ.get("RANKBENCH_HOME") or (beside if beside.is_dir() else "")
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(chosen).absolute() if chosen else Path(data) / "rankbench"


def chosen(names: Sequence[str], prefixes: Sequence[Path], modules: Sequence[str] = ()) -> list[Library]:
    """Return the libraries named, or else all that are found."""
    from rankbench import libraries
    from rankbench.model import RankbenchError

    reach = libraries.find(libraries.everywhere(home(), prefixes, modules))
    if not reach:
        raise RankbenchError("no MPI library found to run the core with; get one: rankbench get mpich openmpi")
    return [libraries.choose(name, reach) for name in names] or reach


def results_folder() -> Path:
    """Return where campaigns are kept unless a command says otherwise: RANKBENCH_RESULTS, else `results`."""
    return Path(os.environ.get("RANKBENCH_RESULTS") or "results")


def is_campaign(folder: Path) -> bool:
    """Return whether a folder holds a campaign."""
    return (folder / "campaign.json").exists()


def named_campaign(folder: Path) -> Path:
    """Return the folder of a campaign named by its folder, or by its name below the results."""
    below = results_folder() / folder
    return below if not is_campaign(folder) and is_campaign(below) else folder


def campaign_folder(results: Path, name: str) -> Path:
    """Return the folder of a campaign below `results`. Raises RankbenchError where the name would lead elsewhere."""
    from rankbench.model import RankbenchError

    if not name or "/" in name or name.startswith(".") or not name.isprintable():
        raise RankbenchError(
            f'--name {name!r}: a campaign\'s name has no "/", does not begin with "." and has no control characters'
        )
    return results / name


def columns(*titles: str, left: int = 1) -> Table:
    """Return a table whose first columns hold text and the others figures."""
    table = Table(box=rich.box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for place, title in enumerate(titles):
        text = place < left
        table.add_column(title, justify="left" if text else "right", overflow="fold", no_wrap=text)
    return table


def placed(ranks: Sequence[RankFact]) -> str:
    """Return where ranks ran: `2 ranks on n1 (CPUs 0 1)`."""
    hosts = dict.fromkeys(rank.host for rank in ranks)
    cpus = {host: " ".join(str(rank.cpu) for rank in ranks if rank.host == host) for host in hosts}
    places = ", ".join(f"{host} (CPU{'s' * (len(cpus[host].split()) > 1)} {cpus[host]})" for host in hosts)
    return f"{len(ranks)} rank{'s' * (len(ranks) > 1)} on {places}"


def answer(verdict: Verdict, *, verbose: bool = False) -> list[str]:
    """Return the short answer and how many findings there are: at most seven lines; or all sentences and findings."""
    from rankbench.language import render

    sentences = [render(one.text) for one in verdict.conclusion if one.brief or verbose]
    if verbose:
        return [*sentences, *(render(found.text) for found in verdict.findings)]
    counts = Counter(str(found.severity) for found in verdict.findings)
    parts = [f"{counts[name]} {name}{'s' * (counts[name] > 1)}" for name in GRAVEST_FIRST if counts[name]]
    found = [f"Findings: {', '.join(parts)} (see the report, or -v)."] if parts else []
    return [*sentences[:-1], *found, *sentences[-1:]]


def spread_lines(text: str) -> None:
    """Print a text in lines of whole words; a longer word, such as a path, is never broken."""
    for line in textwrap.wrap(text, console.width, break_long_words=False, break_on_hyphens=False) or [""]:
        console.print(line, soft_wrap=True, markup=False)


def show_version(wanted: bool) -> None:  # noqa: FBT001 - typer hands it over so
    """Print the version, if wanted, and end."""
    from importlib import metadata

    if wanted:
        console.print(f"rankbench {metadata.version('rankbench')}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", "-V", callback=show_version, is_eager=True, help="Show the version.")
]


def first(version: Version = False) -> None:  # noqa: FBT002 - its callback ends the program
    """Take the options that stand before the command."""


def application(only: str = "") -> typer.Typer:
    """Return the application with every command of this folder, or with one only: others take time to import."""
    app = without_commands()
    named = command_modules().get(only)
    commands = {name: units.module(cli, name) for name in ([named] if named else command_modules().values())}
    for name in sorted(commands, key=lambda name: (commands[name].ORDER, name)):
        module = commands[name]
        add_command(app, name, getattr(module, name), (module.GROUP, module.EXAMPLES))
    return app


def overview() -> typer.Typer:
    """Return an application that knows its commands by name and help only, for what stands before a command."""
    app = without_commands()
    heads = {name: head(name, Path(__path__[0], f"{name}.py").read_text(encoding="utf-8")) for name in module_names()}
    for name in sorted(heads, key=lambda name: (heads[name].order, name)):
        add_command(app, name, lambda: None, (heads[name].group, ""), heads[name].help)
    return app


def add_command(
    app: typer.Typer, name: str, function: Callable[..., None], place: tuple[str, str], text: str | None = None
) -> None:
    """Add a command in its group, with its examples."""
    group, examples = place
    app.command(name.rstrip("_"), cls=Command, help=text, epilog=examples, rich_help_panel=group)(function)


class Head(NamedTuple):
    """What the overview says of a command."""

    order: int
    group: str
    help: str


def head(name: str, source: str) -> Head:
    """Return a command's place and docstring as its source spells them, without importing what it needs."""
    order = re.search(r"^ORDER = (\d+)$", source, re.MULTILINE)
    group = re.search(r'^GROUP = "(.*)"$', source, re.MULTILINE)
    text = re.search(rf'^def {name}\(.*?^    """(.*?)"""', source, re.MULTILINE | re.DOTALL)
    if not order or not group or not text:
        raise SyntaxError(f"the command {name} has no ORDER, no GROUP, or no docstring")
    return Head(int(order[1]), group[1], text[1])


EPILOG = """Examples:
  rankbench get mpich openmpi
  rankbench run mpich openmpi --operations allreduce --sizes 8:64K --blocks 5
  rankbench run --preset quick
  rankbench show
  rankbench report

rankbench COMMAND -h shows the options of a command, with examples.
Exit codes: 0 done; 1 something that was measured failed; 2 usage error.
Variables: RANKBENCH_HOME (libraries and builds), RANKBENCH_RESULTS (campaigns).
"""


def without_commands() -> typer.Typer:
    """Return the application before it has commands."""
    app = typer.Typer(
        name="rankbench",
        cls=Group,
        help="Measure MPI libraries side by side: which one to use, where, by how much, and how sure it is.",
        epilog=EPILOG,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(first)  # Without it a lone command would have no name.
    return app


def module_names() -> list[str]:
    """Return the names of the modules that are commands."""
    return [name for name in units.names(cli) if not name.startswith("_")]


def command_modules() -> dict[str, str]:
    """Return by the names of commands those of their modules."""
    return {name.rstrip("_"): name for name in module_names()}


class Terminated(BaseException):
    """A signal asked this process to end. It ends as after Ctrl-C: processes first, and the lock."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def exit_code(stopped: BaseException) -> int:
    """Return the exit code after a signal, as shells have it; KeyboardInterrupt is SIGINT."""
    return SIGNALLED + (stopped.number if isinstance(stopped, Terminated) else signal.SIGINT)


def heed_signals() -> None:
    """Let SIGTERM and SIGHUP raise Terminated, once, unless whoever started this process has them ignored."""

    def stop(number: int, _: object) -> None:
        for one in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(one, signal.SIG_IGN)
        raise Terminated(number)

    for one in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(one) == signal.SIG_DFL:
            signal.signal(one, stop)


class Output(io.TextIOWrapper):
    """Standard output that nobody may read any more, as in `rankbench show | head`: what follows goes nowhere."""

    def write(self, text: str) -> int:
        """Write a text."""
        with unread(self):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Write what waits."""
        with unread(self):
            super().flush()


@contextlib.contextmanager
def unread(output: Output) -> Iterator[None]:
    """Turn to /dev/null if nobody reads."""
    try:
        yield
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, output.fileno())
        os.close(nowhere)


def main() -> None:
    """Run a command. What the user can fix is printed in one line, and the exit code is 2."""
    heed_signals()
    if sys.__stdout__ and sys.stdout is sys.__stdout__ and not sys.stdout.isatty():
        sys.stdout = Output(sys.stdout.buffer, encoding=sys.stdout.encoding, errors=sys.stdout.errors)
    try:
        sys.exit(call(sys.argv[1:]))
    except (KeyboardInterrupt, Terminated) as stopped:
        sys.exit(exit_code(stopped))


def call(words: Sequence[str]) -> int:
    """Run the command that the words name, and return the exit code."""
    name = next((word for word in completed_words() or words), "")
    if name not in command_modules():
        return run_application(overview(), words)
    from rankbench.model import RankbenchError

    try:
        return run_application(application(name), words)
    except RankbenchError as error:
        return complain(str(error))


def completed_words() -> list[str]:
    """Return the words after the program's name of a line that a shell wants completed."""
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    return line.split()[1:] if "_RANKBENCH_COMPLETE" in os.environ else []


def run_application(app: typer.Typer, words: Sequence[str]) -> int:
    """Run an application; what is wrong with the words is one line."""
    try:
        code = app(args=list(words) or ["--help"], prog_name="rankbench", standalone_mode=False)
    except TyperException as error:
        where = " ".join(["rankbench", *[word for word in words[:1] if word in command_modules()]])
        return complain(f"{error.format_message().rstrip('.')} (help: {where} -h)")
    return code if isinstance(code, int) else 0


def complain(line: str) -> int:
    """Print a line on what the user can fix, and return the exit code."""
    print(f"rankbench: {line}", file=sys.stderr)  # noqa: T201 - the one place that speaks of errors
    return USAGE_ERROR
