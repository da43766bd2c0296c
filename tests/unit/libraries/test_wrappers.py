"""What wrappers print around their command and their compiler's version."""

from __future__ import annotations

import pytest

from rankbench.libraries import wrappers

GCC = "gcc -I/opt/x/include -L/opt/x/lib -Wl,-rpath -Wl,/opt/x/lib -lmpi"


@pytest.mark.parametrize(
    ("output", "command"),
    [
        (f"{GCC}\n", GCC),
        (f"Lmod is automatically replacing gcc/12 with gcc/12.2.\n{GCC}\n", GCC),
        (f"{GCC}\nplease cite the site in papers\n", GCC),
        (f"Note: the wrapper's default is -O2\n\n{GCC}\n", GCC),
        ("gcc: error: unrecognized command-line option '-show'\n", ""),
        ("clang: error: unknown argument: '-show'\nclang: error: no input files\n", ""),
        ("warning: -lfoo is not used\n", ""),
        ("it's a banner\n", ""),
        ("", ""),
    ],
)
def test_the_command_is_the_line_with_options_of_a_compiler(output: str, command: str) -> None:
    assert wrappers.find_command(output) == command


def test_lines_that_every_call_prints_are_a_banner() -> None:
    assert wrappers.drop_banner("welcome\n\ngcc 12.2.0\nCopyright\n", f"welcome\n{GCC}\n") == "gcc 12.2.0\nCopyright"
    assert wrappers.drop_banner("\nnvc 22.7-0\n", "\n") == "nvc 22.7-0"
    assert wrappers.drop_banner("cc 1.0\n", "cc 1.0\n") == "cc 1.0"


def test_preprocessed_text_begins_at_its_first_directive() -> None:
    assert wrappers.drop_before_source('at 10:01:02\n# 0 "<stdin>"\nint x;\n') == '# 0 "<stdin>"\nint x;\n'
    assert wrappers.drop_before_source("int x;\n") == "int x;\n"
