"""Ceilings of functions and files, which are only ever lowered: what is above one is divided."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "rankbench"
CORE = ROOT / "core"

MOST_LINES = 60
"""Lines of code of a function: without blank lines, comments and docstrings."""
MOST_COMPLEXITY = 20
"""Ways through a function: 1, and 1 for each branch, loop, handler, and part of a condition."""
MOST_PARAMETERS = 8
"""Parameters of a function; more of them are a record."""
MOST_FILE_LINES = 500
"""Lines of code of a file."""


class Function(NamedTuple):
    """The shape of a function."""

    place: str
    lines: int
    complexity: int
    parameters: int


class File(NamedTuple):
    """The shape of a file."""

    place: str
    lines: int
    functions: list[Function]


BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)
PythonFunction = ast.FunctionDef | ast.AsyncFunctionDef


def list_own_nodes(function: PythonFunction) -> Iterator[ast.AST]:
    """Yield what a function consists of, without functions and classes inside."""
    stack: list[ast.AST] = [*function.body]
    while stack:
        node = stack.pop()
        if not isinstance(node, PythonFunction | ast.ClassDef):
            yield node
            stack += ast.iter_child_nodes(node)


def count_ways(nodes: list[ast.AST]) -> int:
    """Return the number of ways through code of Python."""
    return (
        1
        + sum(isinstance(node, BRANCHES) for node in nodes)
        + sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
        + sum(1 + len(node.ifs) for node in nodes if isinstance(node, ast.comprehension))
    )


def list_docstring_lines(tree: ast.Module) -> set[int]:
    """Return the lines of strings that are statements: docstrings, and texts below a constant or a field."""
    strings = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
    return {line for node in strings for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


OPTIONS_OF_MANY = {"request_campaign"}
"""Functions whose parameters are options of several commands."""


def is_command(path: Path, function: PythonFunction) -> bool:
    """Return whether the parameters of a function are options: they are a command's interface, one line of help each.

    Typer takes no record of options.
    """
    return function.name in OPTIONS_OF_MANY or (path.parent.name == "commands" and function.name == path.stem)


def measure_python(path: Path, root: Path = ROOT) -> File:
    """Return the shape of a file of Python and its functions."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    blank = {number for number, line in enumerate(text.splitlines(), 1) if re.match(r"\s*(#|$)", line)}
    code = set(range(1, len(text.splitlines()) + 1)) - blank - list_docstring_lines(tree)
    functions = []
    for node in ast.walk(tree):
        if isinstance(node, PythonFunction):
            inner = [child for child in ast.walk(node) if isinstance(child, PythonFunction) and child is not node]
            lines = set(range(node.lineno, (node.end_lineno or 0) + 1)).difference(
                *(range(child.lineno, (child.end_lineno or 0) + 1) for child in inner)
            )
            parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            counted = [each for each in parameters if each.arg not in {"self", "cls"}]
            if is_command(path, node):
                lines, counted = lines - set(range(node.lineno, node.body[0].lineno)), []
            place = f"{path.relative_to(root)}:{node.lineno} {node.name}"
            functions.append(Function(place, len(lines & code), count_ways([*list_own_nodes(node)]), len(counted)))
    return File(str(path.relative_to(root)), len(code), functions)


NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)
C_FUNCTION = re.compile(
    r"^(?!struct \w+ \{|enum|typedef|#)\w[\w *]*?\b(\w+)\(([^;{]*?)\)\s*\{\n(.*?)^\}", re.MULTILINE | re.DOTALL
)
C_BRANCH = re.compile(r"\b(?:if|for|while|case)\b|&&|\|\||\?")


def measure_c(path: Path, root: Path = ROOT) -> File:
    """Return the shape of a file of C and its functions, as clang-format writes them: `}` alone ends a function."""
    text = NO_CODE.sub(lambda match: '""' if match[0][0] == '"' else re.sub(r"[^\n]", " ", match[0]), path.read_text())
    functions = [
        Function(
            f"{path.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1} {match[1]}",
            len([line for line in match[0].splitlines() if line.strip()]),
            1 + len(C_BRANCH.findall(match[3])),
            0 if match[2].strip() in {"", "void"} else 1 + match[2].count(","),
        )
        for match in C_FUNCTION.finditer(text)
    ]
    return File(str(path.relative_to(root)), len([line for line in text.splitlines() if line.strip()]), functions)


def measure_files() -> list[File]:
    """Return the shape of each file of the package and of the core."""
    return [
        *(measure_python(path) for path in sorted(PACKAGE.rglob("*.py"))),
        *(measure_c(path) for path in sorted(CORE.rglob("*.[ch]"))),
    ]


FILES = measure_files()
FUNCTIONS = [function for file in FILES for function in file.functions]


def test_a_function_has_few_lines() -> None:
    assert [function for function in FUNCTIONS if function.lines > MOST_LINES] == [], "divide it"


def test_a_function_has_few_ways_through() -> None:
    assert [function for function in FUNCTIONS if function.complexity > MOST_COMPLEXITY] == [], "divide it"


def test_a_function_has_few_parameters() -> None:
    assert [function for function in FUNCTIONS if function.parameters > MOST_PARAMETERS] == [], "hand in a record"


def test_a_file_has_few_lines() -> None:
    assert [file.place for file in FILES if file.lines > MOST_FILE_LINES] == [], "divide it"


def test_shapes_are_measured(tmp_path: Path) -> None:
    python = tmp_path / "shape.py"
    python.write_text(
        'def shape(a, /, b, *, c):\n    """Not counted.\n\n    Nor this."""\n\n    # nor this\n'
        "    if a and b or c:\n        return [x for x in a if x]\n"
        "    def inner(self):\n        return 1 if self else 2\n"
    )
    assert measure_python(python, tmp_path).functions == [
        Function("shape.py:1 shape", 3, 6, 3),
        Function("shape.py:9 inner", 2, 2, 0),
    ]
    c = tmp_path / "shape.c"
    c.write_text(
        "/* if (a) */\nstatic int shape(int a,\n                 const char *b) {\n"
        "    if (a && *b == '?')\n        return a ? 1 : 2; /* for */\n\n    puts(\"if (a)\");\n    return 0;\n}\n"
        "struct shape {\n    int a;\n};\nvoid nothing(void) {\n}\n"
    )
    assert measure_c(c, tmp_path).functions == [
        Function("shape.c:2 shape", 7, 4, 2),
        Function("shape.c:13 nothing", 2, 1, 0),
    ]


def test_no_module_is_named_like_one_of_another_room() -> None:
    """Units, which are in folders inside rooms, are named for what they are units of."""
    rooms: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.glob("*/*.py")):
        if path.stem != "__init__":
            rooms.setdefault(path.stem, []).append(path.parent.name)
    assert {name: places for name, places in rooms.items() if len(places) > 1} == {}, "say what is special about each"
