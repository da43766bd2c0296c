from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from rankbench import libraries
from rankbench.libraries import families
from rankbench.model import CandidateSpec, Library, Placement, RankbenchError

TEMPLATE = [
    "mpiexec",
    "-n",
    "{ranks}",
    "-N{nodes}",
    "--ppn",
    "{per_node}",
    "--host={hosts}",
    "{{x}}",
    "{program}",
    "end",
]
PROGRAM = ["/b/core", "--check", "{ranks}"]


def make_library(folder: Path, *programs: str, launcher: str = "mpiexec") -> Library:
    """Return a library whose folder holds programs."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (launcher, *programs):
        (folder / name).touch(mode=0o755)
    return Library(
        name="openmpi-1.0",
        family="openmpi",
        version="1.0",
        source="prefix",
        prefix=str(folder.parent),
        wrapper=str(folder / "mpicc"),
        launcher=str(folder / launcher),
        environment={"OF_LIBRARY": "1"},
        launch=TEMPLATE,
    )


def make_line(library: Library, placement: Placement) -> tuple[list[str], dict[str, str]]:
    command = families.list_families()["openmpi"].make_launch_line(library, placement, {"btl": "tcp"}, PROGRAM)
    return command.arguments, command.environment


def test_placeholders_are_filled_in_and_settings_passed(tmp_path: Path) -> None:
    library = make_library(tmp_path / "bin")
    nodes = Placement(name="2x3", nodes=2, ranks_per_node=3, binding="core", hosts=["n1", "n2"])
    assert make_line(library, nodes) == (
        [
            *(f"{tmp_path}/bin/mpiexec", "-n", "6", "-N2", "--ppn", "3", "--host=n1,n2", "{x}"),
            *("/b/core", "--check", "{ranks}", "end"),
        ],
        {"OF_LIBRARY": "1", "OMPI_MCA_btl": "tcp"},
    )
    here = Placement(name="1x2", nodes=1, ranks_per_node=2, binding="core")
    assert "--host=localhost" in make_line(library, here)[0]
    with pytest.raises(RankbenchError, match="2 nodes asked for"):
        make_line(library, msgspec.structs.replace(here, nodes=2))


@pytest.mark.parametrize(
    ("word", "launcher", "expected"),
    [
        ("mpiexec", "mpiexec", "{}/mpiexec"),
        ("mpiexec", "mpiexec.mpich", "{}/mpiexec.mpich"),
        ("prterun", "mpiexec", "{}/prterun"),
        ("srun", "mpiexec", "srun"),
        ("./mpiexec", "mpiexec", "./mpiexec"),
    ],
)
def test_a_launcher_of_the_librarys_folder_precedes_the_path(
    tmp_path: Path, word: str, launcher: str, expected: str
) -> None:
    library = make_library(tmp_path, "prterun", launcher=launcher)
    library = msgspec.structs.replace(library, launch=[word, "{program}"])
    here = Placement(name="1x2", nodes=1, ranks_per_node=2, binding="core")
    assert make_line(library, here)[0][0] == expected.format(tmp_path)


def test_libraries_that_differ_in_their_launcher_have_names_of_their_own(tmp_path: Path) -> None:
    library = msgspec.structs.replace(make_library(tmp_path), launch=[])
    by_srun, by_other = (["srun", option, "{program}"] for option in ("-n1", "-n2"))
    specs = [CandidateSpec(library="openmpi", launcher=words) for words in ([], by_srun, by_other, by_srun)]
    resolved = libraries.resolve_libraries(specs, [library])
    names = ["openmpi-1.0", "openmpi-1.0+srun", "openmpi-1.0+srun-2", "openmpi-1.0+srun"]
    assert [entry.name for entry in resolved] == names
    assert [entry.launch for entry in resolved] == [[], by_srun, by_other, by_srun]
    assert libraries.resolve_libraries(specs[1:2], [library])[0].name == "openmpi-1.0"
