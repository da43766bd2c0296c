"""The command line. Each module in `commands` is one command; this file finds them and turns errors into one line.

A command module has `ORDER` (its place in the help, in the order of work), `GROUP` (one of `help_pages.GROUPS`),
`EXAMPLES` (lines of its help) and a function of the module's name, whose docstring is its help. A trailing underscore
of a module name is dropped from the command's.

Only the command that is called is imported, and what it needs: `--help` reads the others' help from their sources.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from typer.exceptions import TyperException

from rankbench import units
from rankbench.cli import commands as folder
from rankbench.cli.display import console
from rankbench.cli.help_pages import Command, Group
from rankbench.cli.program import adapt_commands
from rankbench.cli.signals import Terminated, catch_signals, exit_code
from rankbench.cli.standard_output import Output, OutputError
from rankbench.workflows.locations import home

USAGE_ERROR, SOFTWARE_ERROR = 2, 70
MOVED = {"clock": "verify --clocks", "list": "status", "presets": "plan", "script": "submit --print"}
"""Words for what other commands do, which are taken for commands."""
OBJECTS_BETWEEN = 50_000
"""Threshold of the garbage collector: with Python's 700 it takes a tenth of the time of a report."""


def show_version(wanted: bool) -> None:  # noqa: FBT001 - typer passes it by position
    """Print the version, if requested, and exit."""
    if wanted:
        console.print(f"rankbench {find_version()}")
        raise typer.Exit


def find_version() -> str:
    """Return the version from the name of the metadata folder; reading the metadata takes much longer."""
    places = [Path(folder).glob("rankbench-*.dist-info") for folder in sys.path if folder]
    version = next((path.stem.partition("-")[2] for paths in places for path in paths), "")
    if version:
        return version
    from importlib import metadata

    return metadata.version("rankbench")


Version = Annotated[
    bool, typer.Option("--version", "-V", callback=show_version, is_eager=True, help="Show the version.")
]


def first(version: Version = False) -> None:  # noqa: FBT002 - its callback ends the program
    """Take the options before the command."""


def application(only: str = "") -> typer.Typer:
    """Return the application with every command or, since imports take time, with a single one."""
    app = without_commands()
    named = command_modules().get(only)
    commands = {name: units.module(folder, name) for name in ([named] if named else command_modules().values())}
    for name in sorted(commands, key=lambda name: (commands[name].ORDER, name)):
        module = commands[name]
        add_command(app, name, getattr(module, name), (module.GROUP, module.EXAMPLES))
    return app


def overview() -> typer.Typer:
    """Return an application that has only names and help of commands, for options before a command."""
    app = without_commands()
    heads = {
        name: head(name, Path(folder.__path__[0], f"{name}.py").read_text(encoding="utf-8")) for name in module_names()
    }
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
    """A command in the overview."""

    order: int
    group: str
    help: str


def head(name: str, source: str) -> Head:
    """Return a command's place and docstring from its source, without importing it."""
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
    """Return the application without commands."""
    app = typer.Typer(
        name="rankbench",
        cls=Group,
        help="Measure MPI libraries side by side: which one to use, where, by how much, and how sure it is.",
        epilog=EPILOG,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(first)  # Without it, a single command would have no name.
    return app


def module_names() -> list[str]:
    """Return the names of the modules with commands."""
    return [name for name in units.list_names(folder) if not name.startswith("_")]


def command_modules() -> dict[str, str]:
    """Return the name of the module of each command."""
    return {name.rstrip("_"): name for name in module_names()}


def main() -> None:
    """Run a command. Errors that the user can fix are printed as one line; their exit code is 2."""
    gc.set_threshold(OBJECTS_BETWEEN)
    catch_signals()
    if sys.__stdout__ and sys.stdout is sys.__stdout__:
        sys.stdout.reconfigure(errors="replace")  # Some encodings have no ≥ or µ.
        if not sys.stdout.isatty():
            sys.stdout = Output(sys.stdout.buffer, encoding=sys.stdout.encoding, errors=sys.stdout.errors)
    try:
        code = call(sys.argv[1:])
        if sys.stdout:
            sys.stdout.flush()
        sys.exit(code)
    except OutputError as error:
        sys.exit(complain(str(error)))
    except (KeyboardInterrupt, Terminated) as stopped:
        sys.exit(exit_code(stopped))


def call(words: Sequence[str]) -> int:
    """Run the command that the arguments name; return the exit code. `help run` is `run --help`."""
    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
    name = next((word for word in read_completed_words() or words), "")
    if name in MOVED:
        return complain(f"no command {name}; did you mean `rankbench {MOVED[name]}`? (help: rankbench -h)")
    if name not in command_modules():
        return run_application(overview(), words)
    from rankbench import caching
    from rankbench.model import RankbenchError

    caching.use(home() / "cache")
    try:
        return run_application(application(name), words)
    except RankbenchError as error:
        return complain(str(error))
    except OutputError:
        raise
    except Exception as error:  # No traceback reaches a user.
        from rankbench import extras
        from rankbench.cli.unexpected import explain_error

        line = extras.explain(error, name) if isinstance(error, ModuleNotFoundError) else ""
        if line and read_completed_words():
            return USAGE_ERROR
        is_own = not line and not (isinstance(error, OSError) and error.filename)
        return complain(line or explain_error(error, words, home()), SOFTWARE_ERROR if is_own else USAGE_ERROR)


def read_completed_words() -> list[str]:
    """Return the words after the program's name in a line that a shell completes."""
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    return line.split()[1:] if "_RANKBENCH_COMPLETE" in os.environ else []


def run_application(app: typer.Typer, words: Sequence[str]) -> int:
    """Run an application; usage errors are one line."""
    try:
        code = app(args=list(words) or ["--help"], prog_name="rankbench", standalone_mode=False)
    except TyperException as error:
        where = " ".join(["rankbench", *[word for word in words[:1] if word in command_modules()]])
        return complain(f"{explain_value(error.format_message(), words).rstrip('.')} (help: {where} -h)")
    return code if isinstance(code, int) else 0


def explain_value(message: str, words: Sequence[str]) -> str:
    """Return Typer's message about an option or a number, in the form of all other errors."""
    message = re.sub(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", r"\1: not expected here", message)
    if words[:1] == ["gate"] and message.endswith("not expected here"):
        message += "; name the older campaign by --against"
    message = re.sub(
        r"(No such option: \S+) \(Possible options: (.*)\)",
        lambda hit: f"{hit[1]}; did you mean {hit[2].replace(', ', ' or ')}?",
        message,
    )
    if words[:1] == ["show"] and (unknown := re.match(r"No such option: --([\w-]+)", message)):
        return explain_table(unknown[0], unknown[1]) or message
    match = re.fullmatch(r"Invalid value for '(?:.* / )?(--?[\w-]+)': Input should be (.*)", message)
    if not match:
        return message
    option, rule = match.groups()
    after = [word for before, word in pairwise(words) if before == option]
    values = [*after, *[word.partition("=")[2] for word in words if word.startswith(f"{option}=")], ""]
    bound = re.sub(r"greater than or equal to (\S+)", r"a number from \1 on", rule.partition(",")[0])
    bound = re.sub(r"less than or equal to (\S+)", r"a number up to \1", bound)
    return f"{option} {values[0]}: expected {bound.replace('a valid integer', 'a whole number').replace('valid ', '')}"


def explain_table(message: str, name: str) -> str:
    """Return the message about an unknown option of `show` that names a table; empty: it names none."""
    from rankbench.report import tables

    names = {kind.FLAG for kind in tables.kinds().values()}
    return f"{message}; did you mean --table {name}?" if name in names else ""


def complain(line: str, code: int = USAGE_ERROR) -> int:
    """Print an error in one line; return the exit code: that of errors that the user can fix."""
    print(f"rankbench: {adapt_commands(line)}", file=sys.stderr)  # noqa: T201 - the only place that prints errors
    return code
