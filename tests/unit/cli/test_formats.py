"""JSON from every command that reads a campaign, and `--output`, which writes the printed text to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.campaigns import make_campaign, make_cases, make_slower_beta
from wording import WORDING, find_lines, refuses

from rankbench.cli.commands.advise import advise
from rankbench.cli.commands.gate import gate
from rankbench.cli.commands.get import get
from rankbench.cli.commands.show import show
from rankbench.cli.commands.status import status


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("results") / "made"
    make_campaign(path, make_slower_beta(1.5), launches=6, cases=make_cases(lines=[("allreduce", "blocking")]))
    return path


def read_document(capsys: pytest.CaptureFixture[str]) -> Any:
    return msgspec.json.decode(capsys.readouterr().out)


def test_show_prints_json_and_markdown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show(folder, sizes="8", format_="json")
    document = read_document(capsys)
    assert (document["campaign"], document["candidates"], document["blocks"]) == ("made", ["alpha", "beta"], 6)
    assert [entry["case"]["size_bytes"] for entry in document["cases"]] == [8]
    assert {entry["candidate"] for entry in document["summaries"]} == {"alpha", "beta", "alpha (again)"}
    show(folder, format_="markdown")
    assert find_lines(capsys.readouterr().out, "| message size |") == WORDING


def test_status_prints_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status(folder, format_="json")
    document = read_document(capsys)
    assert (document["launches"], document["ok"], document["failures"], document["job"]) == (18, 18, [], None)


def test_advise_prints_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    advise(folder, calls="allreduce 8: 1000", format_="json")
    (placement,) = read_document(capsys)["placements"]
    assert placement["calls"] == [{"call": "allreduce 8 B", "calls": 1000.0, "how": "measured"}]
    assert placement["candidates"][0]["candidate"] == "alpha"


def test_gate_prints_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gate(folder, candidate="alpha", against_candidate="beta", format_="json")
    document = read_document(capsys)
    assert (document["counts"]["improved"], document["counts"]["failed"], document["against"]) == (2, 0, "beta")


def test_get_without_a_name_lists_the_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RANKBENCH_HOME", str(tmp_path))
    get()
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "intel-mpi  not installed",
        "mpich      not installed",
        "openmpi    not installed",
        WORDING,
    ]
    get(format_="json")
    assert read_document(capsys)[0] == {"name": "intel-mpi", "installed": None}


def test_output_is_written_to_the_named_file(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show(folder, format_="csv", output=tmp_path / "all.csv")
    assert capsys.readouterr().out == f"wrote {tmp_path}/all.csv\n"
    assert (tmp_path / "all.csv").read_text().startswith("operation,")
    with refuses():
        show(folder, format_="csv", output=tmp_path / "none" / "all.csv")
