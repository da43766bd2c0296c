"""Damage of any kind in any file of a launch is one line that names the file, and `list` shows the other campaigns."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from fakes import campaigns

from rankbench import store
from rankbench.analysis.evaluation import evaluate
from rankbench.cli.campaign_list import DAMAGED
from rankbench.cli.commands.status import status
from rankbench.cli.display import console
from rankbench.model import DamagedFileError

FLIPS = 25
JSON = ("campaign.json", "launches/000003.json")
TABLES = ("cases/000003.parquet", "samples/000003.parquet")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "made"
    cases = campaigns.make_cases(lines=[("barrier", "blocking")])
    return campaigns.make_campaign(folder, launches=3, samples=40, cases=cases).folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """Return a copy of a campaign, beside a sound one of the same name."""
    shutil.copytree(original, tmp_path / "results" / "sound")
    return shutil.copytree(original, tmp_path / "results" / "made")


def read_all(folder: Path) -> list[object]:
    """Return all that is stored."""
    opened = store.open(folder)
    rows = [opened.cases().rows(), opened.samples().collect().rows(), opened.rank_samples().collect().rows()]
    return [opened.campaign, opened.launches(), *rows]


def find_outcome(folder: Path, wanted: list[object]) -> str:
    """Return the line on damage, `unchanged`, or `changed`."""
    try:
        content = read_all(folder)
        evaluate(store.open(folder))
    except DamagedFileError as error:
        return str(error)
    return "unchanged" if content == wanted else "changed"


def flip_bits(path: Path, draw: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(draw.choice([1, 1, 2, 4])):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    path.write_bytes(content)


def zero_sector(path: Path, draw: random.Random) -> None:
    content = bytearray(path.read_bytes())
    start = draw.randrange(max(1, len(content) - 512))
    content[start : start + 512] = bytes(len(content[start : start + 512]))
    path.write_bytes(content)


def truncate(path: Path, draw: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: draw.randrange(path.stat().st_size)])


def remove(path: Path, _draw: random.Random) -> None:
    path.unlink()


def take_another(path: Path, _draw: random.Random) -> None:
    path.write_bytes(path.with_name(path.name.replace("3", "2")).read_bytes())


def make_fifo(path: Path, _draw: random.Random) -> None:
    path.unlink()
    os.mkfifo(path)


RANDOM: list[Callable[[Path, random.Random], None]] = [flip_bits, zero_sector, truncate]
ONCE: list[Callable[[Path, random.Random], None]] = [remove, take_another, make_fifo]


@pytest.mark.parametrize("harm", [*RANDOM, *ONCE])
@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_as_it_was_written_or_reported(
    name: str, harm: Callable[[Path, random.Random], None], folder: Path
) -> None:
    path, wanted = folder / name, read_all(folder)
    content = path.read_bytes()
    for seed in range(FLIPS if harm in RANDOM else 1):
        harm(path, random.Random(seed))
        line = find_outcome(folder, wanted)
        damaged = not path.is_file() or path.read_bytes() != content
        assert line == "unchanged" if not damaged else line.startswith(f"{path}: ")
        assert "\n" not in line
        path.unlink(missing_ok=True)
        path.write_bytes(content)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "harm"),
    [*((name, harm) for name in JSON for harm in (*RANDOM, make_fifo)), ("launches/000003.json", take_another)],
)
def test_a_damaged_record_is_no_traceback(name: str, harm: Callable[[Path, random.Random], None], folder: Path) -> None:
    """Another text in a record cannot be noticed, but another number of the launch can."""
    path, wanted = folder / name, read_all(folder)
    content = path.read_bytes()
    for seed in range(FLIPS if harm in RANDOM else 1):
        harm(path, random.Random(seed))
        line = find_outcome(folder, wanted)
        assert line in {"unchanged", "changed"} or line.startswith(f"{folder}/")
        assert "\n" not in line
        assert harm in RANDOM or line.startswith(f"{path}: ")
        path.unlink()
        path.write_bytes(content)


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_campaigns_without_digests_are_read_or_reported(name: str, folder: Path) -> None:
    for record in (folder / "launches").glob("*.json"):
        launch = msgspec.json.decode(record.read_bytes())
        del launch["tables"]
        record.write_bytes(msgspec.json.encode(launch))
    path, wanted = folder / name, read_all(folder)
    content, outcomes = path.read_bytes(), set()
    for seed in range(FLIPS):
        zero_sector(path, random.Random(seed))
        line = find_outcome(folder, wanted)
        outcomes.add(line.partition(":")[0])
        assert line in {"unchanged", "changed"} or line.startswith(f"{path}: damaged (")
        assert "\n" not in line
        path.write_bytes(content)
    assert str(path) in outcomes


@pytest.mark.costly
@pytest.mark.parametrize("name", [*JSON, *TABLES])
@pytest.mark.parametrize("harm", [zero_sector, make_fifo])
def test_one_damaged_file_does_not_stop_the_list(
    name: str,
    harm: Callable[[Path, random.Random], None],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(console, "width", 100)
    harm(folder / name, random.Random(1))
    status(folder.parent)
    printed = capsys.readouterr().out
    rows = [line.split()[:2] for line in printed.splitlines()]
    assert (rows.count(["made", DAMAGED]), rows.count(["made", "2026-11-21"])) == (1, 1)
    assert str(folder / name) in printed


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("campaign.json", lambda text: text.replace("2026-11-21T00", "last year", 1)),
        ("verdict.json", lambda _: "[" * 100_000),
    ],
)
def test_texts_that_are_no_dates_or_too_deep_do_not_stop_the_list(
    name: str, change: Callable[[str], str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / name
    path.write_text(change(path.read_text() if path.exists() else ""))
    os.utime(path, (2e9, 2e9))
    status(folder.parent)
    assert "made" in capsys.readouterr().out
