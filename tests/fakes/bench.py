"""A stand-in for an OSU benchmark: a real program, linked to a stand-in library, that prints latencies of its sizes.

It has the lines of the help of OSU 5.7 about the options that it knows. The file `bench` in the prefix of the loaded
library sets the latencies, and where the program crashes or hangs.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from fakes import imports, shared_libraries

PROGRAM = """\
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((used)) static const char help[] =
    "  -m, --message-size          [MIN:]MAX  set the minimum and/or the maximum message size to MIN and/or MAX\\n"
    "  -i, --iterations ITER       number of iterations for timing (default 10000)\\n";

int main(int argc, char **argv) {
    char script[4096];
    MPI_Init(&argc, &argv);
    snprintf(script, sizeof script, "%s.sh", argv[0]);
    return execv(script, argv);
}
"""
SCRIPT = """\
#!/bin/sh
prefix=${{LD_LIBRARY_PATH:-{own}/lib}}
time=1.00 crash= hang= code=0 refuse=
. "${{prefix%%/lib*}}/bench"
[ -z "$refuse" ] || {{ echo "$refuse" >&2; exit 1; }}
while [ "$1" != -m ]; do shift; done
size=${{2%:*}}
printf '{head}'
while [ "$size" -le "${{2#*:}}" ]; do
    [ "$size" != "$crash" ] || kill -SEGV $$
    [ "$size" != "$hang" ] || sleep 1000
    printf '%-10d%18.2f\\n' "$size" "$time"
    size=$((size * 2))
done
exit "$code"
"""
WRAPPER = """\
#!/bin/sh
case $1 in
  */program.c) exec cc -I{prefix} "$@" -L{prefix}/lib -Wl,-rpath,{prefix}/lib,--enable-new-dtags -lmpi ;;
esac
exec {prefix}/bin/core-mpicc "$@"
"""


def link(prefix: Path, **settings: object) -> None:
    """Give a library of `library.make` a libmpi, to which programs can be linked, and set the benchmark's behaviour."""
    shared_libraries.make_library(prefix, "libmpi.so.12")
    path = prefix / "bin" / "mpicc"
    path.rename(path.with_name("core-mpicc"))
    path.write_text(WRAPPER.format(prefix=prefix), "utf-8")
    path.chmod(0o755)
    behave(prefix, **settings)


def behave(prefix: Path, **settings: object) -> None:
    """Set its behaviour: `time` in µs, sizes to `crash` or `hang` at, exit `code`, a line to `refuse` with."""
    (prefix / "bench").write_text("".join(f"{name}='{value}'\n" for name, value in settings.items()), "utf-8")


def make_program(folder: Path, prefix: Path, name: str = "osu_latency") -> Path:
    """Return the program, linked to a library."""
    path, source = folder / name, folder / "program.c"
    folder.mkdir(exist_ok=True)
    source.write_text(PROGRAM, "utf-8")
    subprocess.run([prefix / "bin" / "mpicc", source, "-o", path], check=True)
    script = path.with_name(f"{name}.sh")
    script.write_text(SCRIPT.format(own=prefix, head=imports.LATENCY.replace("\n", "\\n")), "utf-8")
    script.chmod(0o755)
    return path
