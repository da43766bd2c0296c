"""Terminal output for options, datatypes, message rates, overlap, memory and pairs of ranks."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from fakes import campaigns, kinds
from rich.console import Console
from wording import refuses

from rankbench.cli.commands.compare import compare
from rankbench.cli.commands.show import show
from rankbench.cli.display import console
from rankbench.cli.live_progress import VALUES_SHOWN, DisplayedProgress, Screen
from rankbench.store import Store

GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.fixture(scope="module")
def campaign_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return kinds.make_store(tmp_path_factory.mktemp("results") / "kinds")


def compare_with_golden(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Compare the printed lines with the recorded ones, without trailing blanks."""
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert printed == (GOLDEN / name).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("width", [80, 100])
def test_show_distinguishes_all_kinds_of_cases(
    campaign_store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(console, "width", width)
    monkeypatch.chdir(campaign_store.folder.parent)
    show(folder=Path(campaign_store.folder.name))
    compare_with_golden(f"kinds-show-{width}.txt", capsys)


def test_a_matrix_is_printed_for_each_candidate(
    campaign_store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "width", 80)
    show(folder=campaign_store.folder, table="matrix")
    compare_with_golden("kinds-matrix.txt", capsys)


def test_a_campaign_without_pairs_has_no_matrix(campaign_store: Store) -> None:
    with refuses():
        show(folder=campaign_store.folder, operations="put", table="matrix")


def test_memory_is_compared_separately(
    campaign_store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "width", 100)
    compare(str(campaign_store.folder))
    compare_with_golden("kinds-compare.txt", capsys)


def test_csv_distinguishes_all_kinds_of_cases(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    show(folder=campaign_store.folder, format_="csv")
    rows = {(row["case"], row["candidate"]): row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert len(rows) == 2 * len(kinds.CASES)
    fenced = rows["put.blocking.8.byte.1x4.window.allocation=create.epoch=fence", "alpha"]
    assert (fenced["options"], fenced["datatype"], fenced["memory"]) == ("allocation=create epoch=fence", "byte", "")
    memory = rows["allreduce.blocking.8.float.1x4.window.quantity=memory", "beta"]
    assert (float(memory["growth_bytes"]), float(memory["typical_ns"]) > 1 << 20) == (kinds.GROWTH_BYTES, True)
    overlap = rows["allreduce.nonblocking.8.float.1x4.window.quantity=overlap", "alpha"]
    assert float(overlap["overlap"]) == pytest.approx(0.8)


def test_the_live_display_names_lines_and_computes_rates() -> None:
    progress = DisplayedProgress(kinds.make_record("made", kinds.CASES))
    results = [kinds.make_result(case, "alpha", 0) for case in kinds.CASES]
    progress.on_end(campaigns.make_launch(1, 1, 0, "alpha", kinds.PLACEMENT), results)
    page = io.StringIO()
    Console(file=page, width=100).print(Screen(progress).make_value_table())
    rows = [line.strip().split("  ")[0] for line in page.getvalue().rstrip().splitlines()]
    assert rows[3:] == [
        "put 8 B",
        "put 8 B, allocation=create, epoch=fence",
        "put 8 B, vector",
        "message-rate 8 B",
        "message-rate 8 B, window=1",
        "allreduce nonblocking 8 B, quantity=overlap",
        "allreduce 8 B, quantity=memory",
        "pingpong 8 B",
    ]
    assert len(rows) - 3 <= VALUES_SHOWN
    assert "255 M/s" in page.getvalue()
    assert "1.50 MiB" in page.getvalue()
