"""CSV and Parquet: tidy tables in which each row has all parts of its case."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from rankbench.exports import EvaluatedCampaign, values
from rankbench.exports.formats import csv, parquet

NAMES = ["x", "x-launches", "x-comparisons"]


def list_stems(paths: list[Path], suffix: str) -> list[str]:
    assert {path.suffix for path in paths} == {suffix}
    return [path.stem for path in paths]


def test_csv_and_parquet_are_equal(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    texts = list(csv.write(plain, tmp_path / "x.csv"))
    frames = list(parquet.write(plain, tmp_path / "x.parquet"))
    assert (list_stems(texts, ".csv"), list_stems(frames, ".parquet")) == (NAMES, NAMES)
    for text, frame in zip(texts, frames, strict=True):
        stored = pl.read_parquet(frame)
        read = pl.read_csv(text, schema_overrides=stored.schema)
        texts_of = [name for name, kind in stored.schema.items() if kind == pl.String]
        assert read.with_columns(pl.col(texts_of).fill_null("")).equals(stored), text
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in (*texts, *frames))


def test_there_is_a_row_for_each_case_and_candidate(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    first, *_ = parquet.write(plain, tmp_path / "x.parquet")
    frame = pl.read_parquet(first)
    summaries = {(summary.case, summary.candidate): summary for summary in plain.view.verdict.summaries}
    assert set(frame.select("case", "candidate").iter_rows()) == set(summaries)
    assert frame.height == len(summaries) == 27
    for row in frame.iter_rows(named=True):
        summary = summaries[row["case"], row["candidate"]]
        typical = row["typical_ns"]
        assert typical == pytest.approx(summary.typical_ns) if summary.launches else typical is None
    rows = frame.select("candidate", "library", "control_of").unique().sort("candidate").rows()
    assert rows == [("alpha", "alpha", ""), ("alpha (again)", "alpha", "alpha"), ("beta", "beta", "")]


def test_a_bandwidth_is_a_value_in_megabytes_per_second(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    first, *_ = parquet.write(plain, tmp_path / "x.parquet")
    wanted = pl.col("operation") == "bandwidth", pl.col("size_bytes") == 65536, pl.col("candidate") == "alpha"
    (row,) = pl.read_parquet(first).filter(wanted).iter_rows(named=True)
    assert row["value_unit"] == "MB/s"
    assert row["value"] == pytest.approx(64 * 65536 / row["typical_ns"] * 1e3)
    assert row["value_low"] == pytest.approx(64 * 65536 / row["high_ns"] * 1e3)
    assert row["value_low"] < row["value"] < row["value_high"]


def test_values_have_units(plain: EvaluatedCampaign, every_kind: EvaluatedCampaign) -> None:
    units = {
        (value.case.split(".")[0], value.unit)
        for measured in (plain, every_kind)
        for value in values.list_values(measured.view)
        if "quantity" not in value.case
    }
    assert units == {
        ("pingpong", "ns"),
        ("bandwidth", "MB/s"),
        ("barrier", "ns"),
        ("allreduce", "ns"),
        ("put", "ns"),
        ("message-rate", "messages/s"),
    }
    memory = {value.unit for value in values.list_values(every_kind.view) if "quantity=memory" in value.case}
    assert memory == {"bytes"}


def test_there_is_a_row_for_each_launch_with_values(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    _, second, _ = parquet.write(plain, tmp_path / "x.parquet")
    frame = pl.read_parquet(second)
    assert frame.height == plain.view.launch_values.height == 26 * 6
    key = ["case", "candidate", "block", "launch", "figure_ns"]
    assert frame.select(key).sort(key).equals(plain.view.launch_values.select(key).sort(key))
    assert frame.select("operation", "size_bytes", "library", "control_of").null_count().row(0) == (0, 0, 0, 0)
