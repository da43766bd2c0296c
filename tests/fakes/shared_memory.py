"""Runs the check of a library, then a launch of a case, and prints the use of /dev/shm of each: recorded and held.

Held are the files that ranks have mapped, including unlinked ones. No other process may use this /dev/shm: run it in
a mount namespace of its own. Only root may follow the mappings of a process to their files.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

from rankbench import build, launch, libraries
from rankbench.campaign import doctor, preflight
from rankbench.launch.resources import SHM
from rankbench.model import Placement, Step

PERIOD_S = 0.002
HERE = Placement(name="here", nodes=1, ranks_per_node=2, binding="none")
SIZE_BYTES = 4 << 20
CASE = [
    "--op",
    "pingpong,allreduce",
    "--sizes",
    str(SIZE_BYTES),
    "--start",
    "barrier",
    "--samples",
    "20",
    "--limit",
    "200",
]
BLOCK = 512
"""Unit of `st_blocks` in bytes."""


def find_ranks() -> Iterator[Path]:
    """Yield the folders in /proc of the core's processes that see this /dev/shm."""
    namespace = Path("/proc/self/ns/mnt").stat().st_ino
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (folder / "exe").readlink().name == build.BINARY and (folder / "ns/mnt").stat().st_ino == namespace:
                yield folder


def measure_held() -> int:
    """Return the bytes of the files of /dev/shm that ranks have mapped now."""
    files: dict[int, int] = {}
    for folder in find_ranks():
        with suppress(OSError):
            for mapping in (folder / "map_files").iterdir():
                if str(mapping.readlink()).startswith(f"{SHM}/"):
                    facts = mapping.stat()
                    files[facts.st_ino] = facts.st_blocks * BLOCK
    return sum(files.values())


class Monitor:
    """Measures the most that ranks held at once."""

    def __init__(self) -> None:
        self.most = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        """Begin to measure."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop measuring."""
        self._end.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._end.wait(PERIOD_S):
            self.most = max(self.most, measure_held())


def compare(name: str, folder: Path) -> dict[str, int]:
    """Return the bytes of the check and of the launch, each as recorded and as held."""
    home = Path(os.environ["RANKBENCH_HOME"])
    library = libraries.choose(name, libraries.find(libraries.make_search(home)))
    core = build.build(library, home)
    with Monitor() as check:
        ((alone, recorded),) = preflight.check_alone_if_scarce(
            [doctor.Trial(library, core, HERE, folder / "check", {}, SIZE_BYTES)]
        )
    if not alone.works:
        sys.exit(alone.reason)
    family, output = libraries.find_family(library), folder / "output"
    line = family.make_launch_line(library, HERE, {}, [str(core.binary), *CASE])
    with Monitor() as measuring, launch.Monitor(preflight.LOOK_S) as monitor:
        outcome = launch.run(Step(command=line, output=output, watch=output, limit_s=120))
    if outcome.exit_code != 0:
        sys.exit(output.read_text())
    return {
        "check_recorded": recorded[SHM],
        "check_held": check.most,
        "launch_recorded": monitor.used[SHM],
        "launch_held": measuring.most,
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps(compare(sys.argv[1], Path(place))))
