"""Help pages: groups of commands, readable types, examples; nothing is cut at 80 columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from typer.core import TyperCommand, TyperGroup

GROUPS = ("Get ready", "Measure", "Read", "Share", "Check", "Cluster")
"""Groups of commands, in the order of work."""
VALUES = {
    "account": "NAME",
    "calls": "CALLS",
    "confidence": "90%|95%|99%",
    "estimator": "NAME",
    "form": "NAME",
    "memory": "SIZE",
    "name": "NAME",
    "nodelist": "NODES",
    "operation": "NAME",
    "operations": "NAME,...",
    "option": "OPTION",
    "partition": "NAME",
    "placement": "NAME",
    "results": "FOLDER",
    "scheduler": "NAME",
    "size": "SIZE",
    "sizes": "SIZES",
    "threshold": "SHARE",
    "time": "TIME",
    "wait": "SECONDS",
}
"""Placeholder of an option's value, the same in every command."""
TYPES = {"int": "N", "float": "NUMBER", "path": "PATH", "str": "TEXT"}
"""Placeholder by the type of a value, for options without one."""
NAME_WIDTH = 12


class Command(TyperCommand):
    """A command whose help ends with examples."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; an option whose value may be missing gets an empty one where none follows."""
        optional = {name for option in self.get_params(ctx) if is_optional(option) for name in option.opts}
        words: list[str] = []
        for word, after in pairwise([*args, "-"]):
            words.append(word)
            if word in optional and after.startswith("-"):
                words.append("")
        return super().parse_args(ctx, words)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the arguments after the command's name."""
        arguments = [
            usage(parameter, ctx) for parameter in self.get_params(ctx) if parameter.param_type_name == "argument"
        ]
        return ["[OPTIONS]", *arguments]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the lists of arguments and options."""
        shown = [parameter for parameter in self.get_params(ctx) if not getattr(parameter, "hidden", False)]
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            rows = [record(parameter, ctx) for parameter in shown if parameter.param_type_name == kind]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - called by typer
        """Write the examples as they are."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write(f"Examples:\n{textwrap.indent(self.epilog.strip(), '  ')}\n")


class Group(TyperGroup):
    """All commands; the help names them by group."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a line for each command, below the title of its group."""
        commands = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        for group in GROUPS:
            rows = [(name, summary(command.help)) for name, command in commands if command.rich_help_panel == group]  # type: ignore[attr-defined]
            if rows:
                with formatter.section(group):
                    formatter.write_dl([(f"{name:{NAME_WIDTH}}", line) for name, line in rows])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - called by typer
        """Write the epilog as it is."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write(self.epilog)


def is_optional(parameter: Any) -> bool:
    """Return whether a parameter is an option whose value may be missing: its placeholder is in brackets."""
    return (
        parameter.param_type_name == "option" and re.fullmatch(r"\[[^]]*\]", str(parameter.metavar or "")) is not None
    )


def summary(text: str | None) -> str:
    """Return the first line of a help text, without its full stop."""
    return (text or "").strip().splitlines()[0].rstrip(".")


def usage(argument: Any, ctx: Any) -> str:
    """Return an argument in a usage line: `[PLAN]`, `[LIBRARY]...`, `FOLDER...`."""
    name = _value_name(argument, ctx)
    several = "..." if argument.nargs != 1 and not name.endswith("...") else ""
    return f"{name}{several}" if argument.required or name.startswith("[") else f"[{name}]{several}"


def _value_name(parameter: Any, ctx: Any) -> str:
    if parameter.metavar:
        return str(parameter.metavar)
    if parameter.name in VALUES:
        return VALUES[parameter.name]
    match = re.search(r"\w+$", parameter.display_type(ctx).strip("<>").removesuffix("]").partition(" range")[0])
    return TYPES[match[0].lower()] if match else ""


def record(parameter: Any, ctx: Any) -> tuple[str, str]:
    """Return the two columns of a parameter: its names and its help."""
    if parameter.param_type_name == "argument":
        return usage(parameter, ctx), parameter.help or ""
    short_first = sorted(parameter.opts, key=len)
    names = ", ".join(short_first) + "".join(f" / {secondary_opt}" for secondary_opt in parameter.secondary_opts)
    value = "" if parameter.is_flag else f" {_value_name(parameter, ctx)}"
    extra = "; ".join(extras(parameter, ctx))
    return f"{names}{value}", f"{parameter.help or ''}{f' [{extra}]' if extra else ''}"


def extras(option: Any, ctx: Any) -> Iterator[str]:
    """Yield the additions to an option's help: that it repeats, its default and its variable."""
    if option.multiple:
        yield "repeatable"
    default = option.get_default(ctx, call=False)
    if option.show_default and not option.is_flag and default not in (None, "", 0, [], ()):
        yield f"default: {default}"
    if option.envvar:
        yield f"variable: {option.envvar}"
