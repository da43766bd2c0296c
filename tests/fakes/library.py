"""Stand-in MPI libraries: prefixes that are found, built and launched like real ones.

Their `mpicc` compiles to the stand-in core.
"""

from __future__ import annotations

import functools
import shutil
import sys
from pathlib import Path

from fakes import core
from rankbench.build import missing

HERE = Path(__file__).parent
REPOSITORY = Path(__file__).parents[2]
DESCRIPTION = core.render_description({})

MPICC = """#!/bin/sh
case " $* " in
  *" -show "*) echo "sh -Iinclude -lmpi"; exit 0 ;;
  *" --version "*) echo "fake cc 1.0"; exit 0 ;;
  *" -v "*) echo "mpicc for MPICH version {version}"; exit 0 ;;
  *" -E "*) cat "{prefix}/include/mpi.h"; exit 0 ;;
  *" -c "*) exit 0 ;;
esac
while [ $# -gt 0 ]; do
  if [ "$1" = -o ]; then cp "{prefix}/lib/program" "$2" && chmod +x "$2"; exit; fi
  shift
done
exit 1
"""
PROGRAM = """#!/bin/sh
[ -e "{prefix}/answers/$1" ] && exec cat "{prefix}/answers/$1"
exec "{python}" -I -S -c '
import sys
sys.path.insert(0, "{core}")
import core
sys.exit(core.main(sys.argv[1], sys.argv[2], sys.argv[3:]))' "{prefix}" {version} "$@"
"""
"""The core is imported, so that Python compiles it once."""
MPIEXEC = """#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
    --version) echo "HYDRA build details:"; echo "    Version:  {version}"; exit 0 ;;
    -n) FAKE_RANKS=$2; export FAKE_RANKS; shift 2 ;;
    -launcher|-launcher-exec|-ppn) shift 2 ;;
    -hosts) FAKE_HOSTS=$2; export FAKE_HOSTS; shift 2 ;;
    -bind-to) FAKE_BINDING=$2; export FAKE_BINDING; shift 2 ;;
    *) break ;;
  esac
done
starter=${{HYDRA_LAUNCHER_EXEC:-${{FAKE_REMOTE-}}}}
for host in $(echo "${{FAKE_HOSTS-}}" | tr , " "); do
  [ -z "$starter" ] || [ "$host" = "${{FAKE_HOSTS%%,*}}" ] || "$starter" -x "$host" true --proxy || exit 255
done
if [ -e "{prefix}/worlds" ]; then
  worlds=$FAKE_RANKS; FAKE_RANKS=1
  while [ "$worlds" -gt 0 ]; do "$@"; worlds=$((worlds - 1)); done
  exit 0
fi
exec "$@"
"""


def make(prefix: Path, version: str, **behaviour: object) -> Path:
    """Make a library that reports itself as MPICH of a version; `fakes.core.USUAL` lists its behaviour."""
    scripts = {
        "bin/mpicc": MPICC,
        "bin/mpiexec": MPIEXEC,
        "bin/mpichversion": '#!/bin/sh\necho "MPICH Version:      {version}"\n',
        "lib/program": PROGRAM,
    }
    for name, text in scripts.items():
        path = prefix / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(prefix=prefix, version=version, python=sys.executable, core=HERE))
        path.chmod(0o755)
    (prefix / "include").mkdir()
    (prefix / "include/mpi.h").write_text(render_header())
    behave(prefix, **behaviour)
    return prefix


@functools.cache
def render_header() -> str:
    """Return a header that declares every call of the core."""
    calls = missing.find_used(path.read_text() for path in (REPOSITORY / "core").rglob("*.c"))
    return "".join(f"int {call}(void);\n" for call in sorted(calls))


def behave(prefix: Path, **behaviour: object) -> None:
    """Set a library's behaviour from its next start on.

    Constant answers of its core are written to files: starting Python takes longer than a launch.
    """
    path = prefix / "behaviour.part"  # A core that starts now reads the old or the new file.
    path.write_text(repr(behaviour))
    path.replace(prefix / "behaviour")
    answers = prefix / "answers"
    shutil.rmtree(answers, ignore_errors=True)
    answers.mkdir()
    settings = core.read_behaviour(str(prefix))
    if settings["exchange_ns"] and not settings["state_s"]:
        (answers / "--state").write_text(core.make_state(settings["exchange_ns"]))
    (answers / "--describe").write_text(
        core.render_description(settings["options"]) if settings["options"] else DESCRIPTION
    )
