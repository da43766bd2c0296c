"""Names of builds by the part of their prefixes that differs."""

from __future__ import annotations

import pytest

from rankbench import libraries
from rankbench.cli.display import split_name
from rankbench.model import Library


@pytest.mark.parametrize(
    ("paths", "labels"),
    [
        (["/opt/base", "/opt/dev"], ["base", "dev"]),
        (["/opt/openmpi/base/install", "/opt/openmpi/dev/install"], ["base", "dev"]),
        (["/opt/a/x", "/opt/b/x", "/opt/b/y"], ["a-x", "b-x", "b-y"]),
        (["/opt/base", "/scratch/base"], ["opt", "scratch"]),
        (["/base", "/opt/base"], ["base", "opt-base"]),
        (["/opt/my build (1)", "/opt/dev"], ["my-build-1", "dev"]),
        (["base", "/opt/dev"], ["base", "dev"]),
        (["/opt/base"], ["base"]),
        ([], []),
    ],
)
def test_the_part_that_differs_is_the_label(paths: list[str], labels: list[str]) -> None:
    assert libraries.distinguish(paths) == labels


def make_library(prefix: str, source: str = "prefix", **origin: str) -> Library:
    return Library(
        name="mpich-5.0.2", family="mpich", version="5.0.2", source=source, prefix=prefix, wrapper="", launcher="",
        origin=origin,
    )  # fmt: skip


def name_all(*originals: Library, available: tuple[Library, ...] = ()) -> list[str]:
    return [library.name.removeprefix("mpich-5.0.2") for library in libraries.name_uniquely(originals, available)]


def test_of_several_builds_each_has_its_label_and_another_source_the_plain_name() -> None:
    base, dev = make_library("/opt/base"), make_library("/opt/dev")
    wheel, module = make_library("/home/mpich-5.0.2", "pypi"), make_library("/sw", "modules", modules="gcc/12 mpich")
    assert name_all(base) == [""]
    assert name_all(base, dev) == ["@base", "@dev"]
    assert name_all(base, dev, wheel) == ["@base", "@dev", ""]
    assert name_all(wheel, module, base) == ["", "@gcc/12+mpich", "@base"]
    assert name_all(base, dev, available=(wheel,)) == ["@base", "@dev"]
    assert name_all(base, available=(wheel,)) == ["@base"]
    assert name_all(wheel, wheel, wheel) == ["", "@pypi", "@pypi-2"]
    again = next(libraries.name_uniquely([base], [wheel]))
    assert name_all(make_library("/scratch/base"), available=(wheel, again)) == ["@scratch"]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("openmpi-5.0.11", ["openmpi", "5.0.11"]),
        ("intel-mpi-2021.18.1", ["intel-mpi", "2021.18.1"]),
        ("openmpi-5.0.11@base", ["openmpi-5.0.11", "@base"]),
        ("openmpi-5.0.11@prefix-2", ["openmpi-5.0.11", "@prefix-2"]),
        ("my-build-2", ["my-build-2"]),
        ("dev", ["dev"]),
    ],
)
def test_the_head_of_a_column_is_split_where_names_differ(name: str, lines: list[str]) -> None:
    assert split_name(name).split("\n") == lines
