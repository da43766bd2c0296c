"""The control variables of a library, queried from the library itself by MPI_T.

The list is stored beside the build of the core, whose name changes with core and library: each is queried once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from rankbench import build, launch, libraries
from rankbench.model import Library, Placement, RankbenchError, Step, Variable

FILE = "variables.json"
LIMIT_S = 60.0
ALONE = Placement(name="variables", nodes=1, ranks_per_node=1, binding="none")


def variables(library: Library, home: Path, settings: Mapping[str, str] | None = None) -> dict[str, Variable]:
    """Return the control variables of a library by name, with the values that they have under some settings.

    Raises RankbenchError where the core cannot be built with it, or where the library does not list them.
    """
    core = build.build(library, home)
    if settings:
        return {variable.name: variable for variable in _query(library, core.binary, settings)}
    place = core.binary.with_name(FILE)
    try:
        listed = msgspec.json.decode(place.read_bytes(), type=list[Variable])
    except (OSError, msgspec.MsgspecError):
        listed = _query(library, core.binary, {})
        staged = place.with_suffix(".new")
        staged.write_bytes(msgspec.json.encode(listed))
        staged.replace(place)
    return {variable.name: variable for variable in listed}


def _query(library: Library, binary: Path, settings: Mapping[str, str]) -> list[Variable]:
    with tempfile.TemporaryDirectory(prefix="rankbench-") as folder:
        stream, output = Path(folder) / "variables.json", Path(folder) / "output.log"
        program = [str(binary), "--cvars", "--stream", str(stream)]
        command = libraries.find_family(library).make_launch_line(library, ALONE, settings, program)
        outcome = launch.run(Step(command=command, output=output, watch=stream, limit_s=LIMIT_S))
        try:
            return msgspec.json.decode(stream.read_bytes(), type=list[Variable])
        except (OSError, msgspec.MsgspecError) as error:
            printed = output.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            reason = printed[-1] if printed else f"exit code {outcome.exit_code}, {error}"
            raise RankbenchError(f"{library.name}: does not list its control variables: {reason}") from None
