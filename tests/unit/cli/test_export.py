"""The command `export`: the files that it writes, its report, and its refusals in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import campaigns
from typer.testing import CliRunner
from wording import WORDING

from rankbench import cli, exports, store
from rankbench.cli.display import console
from rankbench.exports import file_name
from rankbench.model import RankbenchError

FORMATS = ["csv", "json", "junit", "latex", "markdown", "openmetrics", "parquet"]


@pytest.fixture(autouse=True)
def use_a_thousand_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "width", 1000)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a campaign below the results of the working folder."""
    monkeypatch.chdir(tmp_path)
    cases = campaigns.make_cases(lines=[("barrier", "blocking")])
    return campaigns.make_campaign(tmp_path / "results" / "fake", launches=3, samples=10, cases=cases).folder


def export(*arguments: object) -> list[str]:
    """Return the printed text. Errors are raised."""
    answer = CliRunner().invoke(cli.application("export"), ["export", *map(str, arguments)])
    if isinstance(answer.exception, RankbenchError):
        raise answer.exception
    assert answer.exit_code == 0, answer.output
    return answer.stdout.splitlines()


def read_refusal(*arguments: object) -> str:
    """Return the one line of a refusal."""
    with pytest.raises(RankbenchError) as error:
        export(*arguments)
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


@pytest.mark.costly
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_below_the_campaign(folder: Path, name: str) -> None:
    texts = export(folder, "--format", name)
    written = [line.removeprefix("wrote ") for line in texts]
    there = sorted(str(path) for path in (folder / "exports").rglob("*") if path.is_file())
    assert sorted(written) == there
    assert all(path.startswith(str(folder / "exports" / "fake")) for path in there)
    assert written[0] == str(folder / "exports" / "fake") + exports.find_format(name).SUFFIX


def test_the_list_of_formats_is_complete() -> None:
    assert exports.list_formats() == FORMATS
    assert all(exports.find_format(name).TITLE for name in FORMATS)


def test_the_newest_campaign_is_exported_by_default(folder: Path) -> None:
    assert export("--format", "markdown") == ["wrote results/fake/exports/fake.md"]


def test_the_output_can_be_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "x.y").mkdir()
    assert export(folder, "--format", "csv", "--output", tmp_path / "x.y" / "t.csv") == [
        f"wrote {tmp_path}/x.y/t.csv",
        f"wrote {tmp_path}/x.y/t-launches.csv",
        f"wrote {tmp_path}/x.y/t-comparisons.csv",
    ]
    assert not (folder / "exports").exists()


def test_an_unknown_format_is_refused() -> None:
    assert read_refusal("--format", "cvs") == WORDING
    assert read_refusal() == WORDING


def test_a_campaign_without_launches_is_refused(tmp_path: Path) -> None:
    store.create(tmp_path / "c", campaigns.make_record())
    assert read_refusal(tmp_path / "c", "--format", "json") == WORDING


def test_a_folder_without_a_campaign_is_refused(tmp_path: Path) -> None:
    assert read_refusal(tmp_path, "--format", "json") == WORDING


@pytest.mark.parametrize("name", FORMATS)
def test_an_output_in_a_missing_folder_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    assert read_refusal(folder, "--format", name, "--output", tmp_path / "nowhere" / "x") == WORDING


def test_a_folder_as_file_and_a_file_as_folder_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "f").touch()
    assert read_refusal(folder, "--format", "json", "--output", tmp_path / "d") == WORDING
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d", "f", "results"]


def test_a_read_only_campaign_is_refused(folder: Path) -> None:
    (folder / "exports").touch()
    assert read_refusal(folder, "--format", "json") == WORDING


def test_a_link_in_the_campaign_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (folder / "exports").mkdir()
    (folder / "exports/fake.json").symlink_to(tmp_path / "own")
    assert read_refusal(folder, "--format", "json") == WORDING
    assert not list((tmp_path / "own").iterdir())


def test_campaign_names_become_valid_file_names(tmp_path: Path) -> None:
    campaign_store = campaigns.make_campaign(tmp_path / "c", launches=1, samples=10)
    assert file_name("a b/c: d") == "a-b-c-d"
    assert file_name("...") == "campaign"
    assert file_name("größe~1@x+y=2") == "größe~1@x+y=2"
    assert export(campaign_store.folder, "--format", "markdown") == [f"wrote {tmp_path}/c/exports/c.md"]
