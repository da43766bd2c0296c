"""Builds with the real compiler: a core of a few lines, a wrapper, and an `mpi.h` of two calls."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path

import msgspec
import pytest
from wording import WORDING, refuses

from rankbench import build
from rankbench.model import Library, RankbenchError

MPI_H = "typedef int MPI_Comm;\nint MPI_Init(int *, char ***);\nint MPI_Barrier(MPI_Comm);\n"
MAIN_C = """\
#include <stdio.h>
#include "op.h"
int MPI_Init(int *argc, char ***argv) { return *argc + (argv == 0); }
int missing_call(const char *name, ...) { return printf("%s", name); }
int main(int argc, char **argv) { return MPI_Init(&argc, &argv) + MPI_Bcast(0) > 0 ? 0 : 1; }
"""
COMPILING = 3
"""Calls of the wrapper in a build: one for each of the two sources, and one that links."""
OP_H = '#include <mpi.h>\n#include "missing.h"\nint missing_call(const char *name, ...);\n'


@pytest.fixture
def core(tmp_path: Path) -> Path:
    folder = tmp_path / "core"
    (folder / "ops").mkdir(parents=True)
    (folder / "main.c").write_text(MAIN_C, encoding="utf-8")
    (folder / "op.h").write_text(OP_H, encoding="utf-8")
    (folder / "ops" / "bcast.c").write_text(
        '#include "op.h"\nint bcast(void);\nint bcast(void) { return 0; }\n', "utf-8"
    )
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Library:
    include = tmp_path / "library" / "include"
    include.mkdir(parents=True)
    (include / "mpi.h").write_text(MPI_H, encoding="utf-8")
    compiler = shutil.which("cc")
    wrapper = tmp_path / "library" / "mpicc"
    show = f'[ "$1" = -show ] && echo {compiler} -I{include} && exit\necho call >> {tmp_path}/calls\n'
    wrapper.write_text(f'#!/bin/sh\n{show}exec {compiler} -I{include} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    return Library(name="x-1", family="x", version="1", source="prefix", prefix="", wrapper=str(wrapper), launcher="")


def count_compilations(tmp_path: Path) -> int:
    return len(list(tmp_path.glob("home/builds/*/receipt.json")))


def test_a_receipt_lists_the_inputs_of_the_binary(library: Library, core: Path, tmp_path: Path) -> None:
    result = build.build(library, tmp_path / "home", core)
    assert result.receipt.library == "x-1"
    assert result.receipt.missing == ["MPI_Bcast"]
    assert result.receipt.flags == [*build.FLAGS, *build.LIBRARIES]
    assert result.receipt.linked == f"{shutil.which('cc')} -I{tmp_path}/library/include"
    assert result.receipt.binary_sha256 == hashlib.sha256(result.binary.read_bytes()).hexdigest()
    assert sorted(path.name for path in result.binary.parent.iterdir()) == [
        "missing.h",
        "rankbench-core",
        "receipt.json",
    ]


def test_a_second_build_compiles_nothing(library: Library, core: Path, tmp_path: Path) -> None:
    first = build.build(library, tmp_path / "home", core)
    stamp = first.binary.stat().st_mtime_ns
    count = (tmp_path / "calls").read_text("utf-8").count("call")
    again = build.build(msgspec.structs.replace(library, name="y"), tmp_path / "home", core)
    assert (again.binary, again.binary.stat().st_mtime_ns) == (first.binary, stamp)
    assert again.receipt.library == "y"
    assert (tmp_path / "calls").read_text("utf-8").count("call") == 2 * count - COMPILING


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("core/ops/bcast.c", "return 0", "return 1"),
        ("core/op.h", "\n", "\n#define X 1\n"),
        ("library/include/mpi.h", "\n", "\n#define MPI_X 1\n"),
        ("library/mpicc", " -I", " -DX -I"),
    ],
)
def test_any_changed_input_is_built_again(
    file: str, old: str, new: str, library: Library, core: Path, tmp_path: Path
) -> None:
    first = build.build(library, tmp_path / "home", core)
    text = (tmp_path / file).read_text("utf-8")
    (tmp_path / file).write_text(text.replace(old, new, 1), "utf-8")
    second = build.build(library, tmp_path / "home", core)
    assert second.binary != first.binary
    assert count_compilations(tmp_path) == 2


def test_a_compile_error_is_one_line_with_its_log(library: Library, core: Path, tmp_path: Path) -> None:
    (core / "main.c").write_text(MAIN_C.replace("argc + ", "argc + nonsense + "), encoding="utf-8")
    with pytest.raises(RankbenchError) as error:
        build.build(library, tmp_path / "home", core)
    (log,) = (tmp_path / "home/builds").glob("*.log")
    assert str(error.value).startswith(f"x-1: the core does not compile: {core}/main.c:3:")
    assert "nonsense" in str(error.value)
    assert str(error.value).endswith(f"; log: {log}")
    command, _, text = log.read_text("utf-8").partition("\n")
    assert command.startswith(f"{library.wrapper} {' '.join(build.FLAGS)} -I{core} -I")
    assert command.endswith(f" -c {core}/main.c")
    assert "nonsense" in text
    assert [path.name for path in (tmp_path / "home/builds").glob("[!.]*")] == [log.name]


def test_a_link_error_names_the_symbol(library: Library, core: Path, tmp_path: Path) -> None:
    (core / "main.c").write_text(MAIN_C.replace("MPI_Bcast(0)", "MPI_Barrier(0)"), encoding="utf-8")
    with pytest.raises(RankbenchError, match="undefined reference to `MPI_Barrier'"):
        build.build(library, tmp_path / "home", core)


def test_the_log_of_a_failed_link_has_its_command(library: Library, core: Path, tmp_path: Path) -> None:
    (core / "ops" / "bcast.c").write_text('#include "op.h"\nint main(void) { return 0; }\n', "utf-8")
    with pytest.raises(RankbenchError, match=r"^x-1: the core does not compile: .*multiple definition of `main'"):
        build.build(library, tmp_path / "home", core)
    (log,) = (tmp_path / "home/builds").glob("*.log")
    command = log.read_text("utf-8").partition("\n")[0]
    assert " -c " not in command
    assert re.search(r"/main\.o .*/ops/bcast\.o -o .*/rankbench-core -lm -ldl$", command)


def test_the_first_of_several_broken_sources_is_reported(library: Library, core: Path, tmp_path: Path) -> None:
    for number in range(6):
        (core / f"z{number}.c").write_text(f"int broken{number} = nonsense;\n", "utf-8")
    with pytest.raises(RankbenchError, match=r"^x-1: the core does not compile: .*/z0.c:1:"):
        build.build(library, tmp_path / "home", core)


def test_warnings_of_an_unknown_compiler_do_not_end_a_build(library: Library, core: Path, tmp_path: Path) -> None:
    (core / "ops" / "bcast.c").write_text('#include "op.h"\nstatic int unused;\n', "utf-8")
    warnings = build.build(library, tmp_path / "home", core).binary.with_name(build.WARNINGS)
    assert re.search(r"bcast\.c:2:.*unused.*-Wunused-variable", warnings.read_text("utf-8"))


def test_a_call_without_a_declaration_is_an_error(library: Library, core: Path, tmp_path: Path) -> None:
    (core / "ops" / "bcast.c").write_text('#include "op.h"\nint try(void) { return undeclared(); }\n', "utf-8")
    with pytest.raises(RankbenchError, match=r"undeclared.*-Werror=implicit-function-declaration"):
        build.build(library, tmp_path / "home", core)


def test_missing_types_and_constants_are_replaced(library: Library, core: Path, tmp_path: Path) -> None:
    (core / "ops" / "session.c").write_text(
        '#include "op.h"\n'
        "int session(MPI_Comm *comm);\n"
        "int session(MPI_Comm *comm) {\n"
        "    MPI_Session session = MPI_SESSION_NULL;\n"
        "    return MPI_Session_init(comm, &session) + MPI_Session_finalize(&session);\n"
        "}\n",
        "utf-8",
    )
    result = build.build(library, tmp_path / "home", core)
    assert result.receipt.missing == ["MPI_Bcast", "MPI_Session_finalize", "MPI_Session_init"]
    assert (result.binary.parent / "missing.h").read_text("utf-8").splitlines()[-2:] == [
        "#define MPI_SESSION_NULL 0",
        "#define MPI_Session int",
    ]


def test_a_missing_compiler_is_reported_with_a_remedy(library: Library, core: Path, tmp_path: Path) -> None:
    Path(library.wrapper).write_text('#!/bin/sh\n[ "$1" = -show ] && echo no-cc -I/x && exit\nexec no-cc\n', "utf-8")
    with refuses():
        build.build(library, tmp_path / "home", core)


def test_a_banner_of_the_wrapper_is_no_input(library: Library, core: Path, tmp_path: Path) -> None:
    """Not even one with the time."""
    plain = build.build(library, tmp_path / "home", core)
    wrapper = Path(library.wrapper)
    wrapper.write_text(wrapper.read_text("utf-8").replace("\n", "\necho replacing gcc/12 at $(date +%N)\n", 1), "utf-8")
    build.build(library, tmp_path / "other", core)
    wrapper.write_text(wrapper.read_text("utf-8").replace("at $(date +%N)", "with gcc/12.2", 1), "utf-8")
    noisy = build.build(library, tmp_path / "home", core)
    assert (noisy.receipt.linked, noisy.receipt.compiler) == (plain.receipt.linked, plain.receipt.compiler)
    assert noisy.binary == plain.binary


def test_a_wrapper_that_cannot_show_its_command_is_used(library: Library, core: Path, tmp_path: Path) -> None:
    """As those of Cray."""
    wrapper = Path(library.wrapper)
    refusal = '[ "$1" = -show ] && echo "cc: error: unrecognized command-line option" >&2 && exit 1'
    wrapper.write_text(re.sub(r".*-show.*", refusal, wrapper.read_text("utf-8")), "utf-8")
    result = build.build(library, tmp_path / "home", core)
    assert result.receipt.compiler == build.build(library, tmp_path / "home", core).receipt.compiler != ""
    assert result.binary.exists()


def test_a_missing_wrapper_is_reported(library: Library, core: Path, tmp_path: Path) -> None:
    Path(library.wrapper).unlink()
    with refuses():
        build.build(library, tmp_path / "home", core)


def test_an_unreadable_header_is_reported(library: Library, core: Path, tmp_path: Path) -> None:
    (tmp_path / "library/include/mpi.h").unlink()
    with pytest.raises(RankbenchError, match=r"x-1: .*/mpicc -E -dD - failed: .*mpi.h: No such file or directory"):
        build.build(library, tmp_path / "home", core)


def test_an_unwritable_home_is_reported(library: Library, core: Path, tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    with refuses():
        build.build(library, tmp_path / "home", core)


def test_a_core_without_sources_is_reported(library: Library, tmp_path: Path) -> None:
    with refuses():
        build.build(library, tmp_path / "home", tmp_path / "nowhere")


def test_a_binary_without_a_description_is_reported(library: Library, core: Path, tmp_path: Path) -> None:
    result = build.build(library, tmp_path / "home", core)
    with pytest.raises(RankbenchError, match=r"^x-1: .*/rankbench-core --describe gives no description: "):
        build.describe(result)


@pytest.mark.parametrize(
    ("file", "content"),
    [("receipt.json", b""), ("receipt.json", None), ("rankbench-core", b""), ("rankbench-core", None)],
)
def test_an_incomplete_build_is_repeated(
    file: str, content: bytes | None, library: Library, core: Path, tmp_path: Path
) -> None:
    first = build.build(library, tmp_path / "home", core)
    broken = first.binary.parent / file
    broken.unlink()
    if content is not None:
        broken.write_bytes(content)
    again = build.build(library, tmp_path / "home", core)
    assert again.binary == first.binary
    assert again.receipt.binary_sha256 == hashlib.sha256(again.binary.read_bytes()).hexdigest()


def read_description(tmp_path: Path, script: str, mode: int, library: Library, core: Path) -> str:
    """Return why a core that is this script has no description."""
    result = build.build(
        msgspec.structs.replace(library, environment={"REPORTED": "by the library"}), tmp_path / "home", core
    )
    result.binary.write_text(script, encoding="utf-8")
    result.binary.chmod(mode)
    with pytest.raises(RankbenchError) as error:
        build.describe(result)
    return str(error.value).replace(str(result.binary), "CORE")


def test_a_core_that_cannot_be_executed_is_reported_in_one_line(library: Library, core: Path, tmp_path: Path) -> None:
    assert read_description(tmp_path, "#!/bin/sh\n", 0o644, library, core) == WORDING


def test_the_compiler_may_be_on_the_library_s_own_path(
    library: Library, core: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("cc")
    wrapper = Path(library.wrapper)
    wrapper.write_text(wrapper.read_text("utf-8").replace(f"{real} ", "rarecc "), "utf-8")
    (tmp_path / "rare").mkdir()
    (tmp_path / "rare/rarecc").write_text(f'#!/bin/sh\nexec {real} "$@"\n', "utf-8")
    (tmp_path / "rare/rarecc").chmod(0o755)
    with pytest.raises(RankbenchError, match=r"no C compiler behind .*: rarecc: not found; "):
        build.build(library, tmp_path / "home", core)
    inside = msgspec.structs.replace(library, environment={"PATH": f"{tmp_path}/rare:{os.environ['PATH']}"})
    assert build.build(inside, tmp_path / "home", core).receipt.linked.startswith("rarecc ")


def test_the_binary_of_another_library_is_built_in_that_library_s_environment(
    library: Library, core: Path, tmp_path: Path
) -> None:
    wrapper = Path(library.wrapper)
    wrapper.write_text(
        wrapper.read_text("utf-8").replace("#!/bin/sh", '#!/bin/sh\n[ "$SET" = other ] || exit 9'), "utf-8"
    )
    other = build.build(msgspec.structs.replace(library, build_environment={"SET": "other"}), tmp_path / "home", core)
    across = msgspec.structs.replace(
        library, name="y~x", environment={"SET": "run"}, build_environment={"SET": "other"}, binary_of="x-1"
    )
    result = build.build(across, tmp_path / "home", core)
    assert (result.binary, result.receipt.library) == (other.binary, "y~x")
    assert result.environment == {"SET": "run"}
    assert count_compilations(tmp_path) == 1


def test_the_core_is_described_in_the_environment_of_its_library(library: Library, core: Path, tmp_path: Path) -> None:
    assert read_description(tmp_path, '#!/bin/sh\necho "reported $REPORTED" >&2\n', 0o755, library, core) == WORDING


# --- behind a wrapping command ----------------------------------------------------------------------------------------


def write_container(folder: Path, *, hidden: str = "") -> str:
    """Write the command of a container that loses the working directory, and does not see one folder."""
    command = folder / "enter"
    refusal = f'case "$*" in *{hidden}/*) exit 1;; esac\n' if hidden else ""
    command.write_text(f'#!/bin/sh\n{refusal}cd /\necho entered >>{folder}/entered\nexec "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return str(command)


def test_a_wrapping_command_precedes_compiler_and_core(library: Library, core: Path, tmp_path: Path) -> None:
    plain = build.build(library, tmp_path / "home", core)
    library = msgspec.structs.replace(library, wrap=[write_container(tmp_path)])
    wrapped = build.build(library, tmp_path / "home", core)
    assert wrapped.binary != plain.binary
    assert list(wrapped.wrap) == library.wrap
    assert sorted(path.name for path in wrapped.binary.parent.iterdir()) == sorted(
        path.name for path in plain.binary.parent.iterdir()
    )
    calls = len((tmp_path / "entered").read_text(encoding="utf-8").splitlines())
    with pytest.raises(RankbenchError, match="gives no description"):  # This core has none.
        build.describe(wrapped)
    assert len((tmp_path / "entered").read_text(encoding="utf-8").splitlines()) == calls + 1


def test_a_folder_that_a_container_does_not_show_is_named(library: Library, core: Path, tmp_path: Path) -> None:
    library = msgspec.structs.replace(library, wrap=[write_container(tmp_path, hidden="builds")])
    with pytest.raises(RankbenchError, match=r"home/builds is not seen behind .*enter; let it show that folder"):
        build.build(library, tmp_path / "home", core)
