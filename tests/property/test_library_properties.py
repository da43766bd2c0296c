"""Properties of libraries: names, versions and recognition from any text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rankbench import libraries
from rankbench.build import missing
from rankbench.launch import topology
from rankbench.model import Library
from rankbench.plan import placing

NAMES = st.sampled_from(["mpich-4.0.2", "mpich-4.0.2@path", "openmpi-5.0.11", "unknown"])
SOURCES = st.sampled_from(["pypi", "system", "path", "prefix"])
CPUS = st.sets(st.integers(0, 300), min_size=1)


def make_library(name: str, source: str) -> Library:
    family, _, version = name.rpartition("-")
    return Library(name=name, family=family, version=version, source=source, prefix="", wrapper="", launcher="")


@given(st.lists(st.builds(make_library, NAMES, SOURCES), max_size=12))
def test_names_become_unique_and_nothing_else_changes(originals: list[Library]) -> None:
    named = list(libraries.name_uniquely(originals))
    assert len({entry.name for entry in named}) == len(originals)
    assert [(entry.version, entry.source) for entry in named] == [(entry.version, entry.source) for entry in originals]
    assert all(new.name.startswith(old.name) for new, old in zip(named, originals, strict=True))


@given(st.lists(st.lists(st.integers(0, 999), min_size=1, max_size=4), min_size=1))
def test_a_family_stands_for_its_newest_version(versions: list[list[int]]) -> None:
    originals = [make_library("mpich-" + ".".join(map(str, version)), "pypi") for version in versions]
    assert libraries.choose("mpich", originals).version == ".".join(map(str, max(versions)))


@given(st.text())
def test_any_text_can_be_tested_for_a_library(text: str) -> None:
    identity = libraries.recognise(text)
    assert identity is None or identity[1] in text


@given(
    st.sets(st.from_regex(r"MPI_[A-Z][a-z]{2,9}", fullmatch=True)),
    st.text(alphabet=" \n;x{}=", max_size=20),
)
def test_calls_are_found_in_other_text(calls: set[str], between: str) -> None:
    assert missing.find_used([between.join(f" {call}(x) " for call in sorted(calls))]) == calls


@given(CPUS)
def test_kernel_lists_are_read_back(cpus: set[int]) -> None:
    assert topology.parse_list(",".join(map(str, sorted(cpus)))) == cpus
    assert topology.parse_list(placing.format_ranges(cpus)) == cpus
    assert topology.parse_list(f"{min(cpus)}-{max(cpus)}") == set(range(min(cpus), max(cpus) + 1))
