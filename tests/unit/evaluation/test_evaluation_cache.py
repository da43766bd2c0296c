"""Cached evaluations: used again if nothing changed, and never otherwise."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest
from fakes.campaigns import Truth, make_campaign

from rankbench import caching, store
from rankbench.analysis import evaluation
from rankbench.analysis.evaluation import cache, evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text, render, restore_texts, say
from rankbench.model import Case, DamagedFileError
from rankbench.store import Store


def make_truth(candidate: str, case: Case) -> Truth:
    """Beta is slow with small messages."""
    return Truth(factor=2 if candidate == "beta" and case.size_bytes < 1024 else 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of cached results."""
    caching.use(tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def campaign_store(tmp_path: Path, folder: Path) -> Store:
    assert caching.is_used(), folder
    return make_campaign(tmp_path / "two", make_truth, launches=4, candidates=("alpha", "beta"))


@pytest.fixture
def computed_views(monkeypatch: pytest.MonkeyPatch) -> list[CampaignView]:
    """Return a list that gets every view that is computed."""
    views: list[CampaignView] = []
    compute = evaluation.compute

    def record_view(*things: object) -> CampaignView:
        views.append(compute(*things))  # type: ignore[arg-type]
        return views[-1]

    monkeypatch.setattr(evaluation, "compute", record_view)
    return views


def test_a_cached_evaluation_equals_the_computed_one(campaign_store: Store, computed_views: list[CampaignView]) -> None:
    first, second = evaluate(campaign_store), evaluate(store.open(campaign_store.folder))
    assert len(computed_views) == 1
    assert first is computed_views[0]
    assert second is not first
    assert msgspec.json.encode(second.verdict) == msgspec.json.encode(first.verdict)
    assert second.verdict.conclusion == first.verdict.conclusion  # With nested texts.
    assert list(map(render, (finding.text for finding in second.verdict.findings))) == [
        render(finding.text) for finding in first.verdict.findings
    ]
    assert second.launch_values.equals(first.launch_values)
    assert second.launch_values.schema == first.launch_values.schema
    assert second.last_ranks.equals(first.last_ranks)
    assert repr(second.modes) == repr(first.modes)  # Depths may be NaN, which equals nothing.
    assert len(second.modes) > 0
    assert [verdict.case for verdict in second.verdict.cases] == second.cases
    assert all(verdict.case is case for verdict, case in zip(second.verdict.cases, second.cases, strict=True))


@pytest.mark.parametrize("options", [{"estimator": "mean"}, {"confidence": 0.9}, {"threshold": 0.2}])
def test_other_options_are_computed(
    campaign_store: Store, computed_views: list[CampaignView], options: dict[str, float]
) -> None:
    evaluate(campaign_store)
    evaluate(campaign_store, **options)  # type: ignore[arg-type]
    assert len(computed_views) == 2
    evaluate(campaign_store, **options)  # type: ignore[arg-type]
    assert len(computed_views) == 2


@pytest.mark.parametrize("kind", ["samples/000001.parquet", "cases/000002.parquet", "launches/000003.json"])
def test_a_changed_file_of_the_store_is_computed_again(
    campaign_store: Store, computed_views: list[CampaignView], kind: str
) -> None:
    evaluate(campaign_store)
    path = campaign_store.folder / kind
    if path.suffix == ".json":
        path.write_bytes(path.read_bytes() + b" ")
        evaluate(store.open(campaign_store.folder))
        assert len(computed_views) == 2
    else:  # Of another launch of the same candidate.
        path.write_bytes(path.with_name("000005.parquet").read_bytes())
        with pytest.raises(DamagedFileError):
            evaluate(store.open(campaign_store.folder))


def test_a_damaged_cache_file_is_computed_again(
    campaign_store: Store, folder: Path, computed_views: list[CampaignView]
) -> None:
    evaluate(campaign_store)
    (path,) = (folder / cache.KIND).iterdir()
    content = path.read_bytes()
    for number, damaged in enumerate((b"", content[: len(content) // 2], b"\xff" * 100), 2):
        path.write_bytes(damaged)
        evaluate(campaign_store)
        evaluate(campaign_store)
        assert len(computed_views) == number


def test_a_changed_program_has_other_names_of_evaluations(
    campaign_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = cache.name_evaluation(campaign_store, campaign_store.campaign)
    assert before == cache.name_evaluation(campaign_store, campaign_store.campaign)
    monkeypatch.setattr(cache, "code_state", lambda: ["another"])
    assert cache.name_evaluation(campaign_store, campaign_store.campaign) != before


def test_every_module_that_evaluates_belongs_to_the_state_of_the_code() -> None:
    names = {name for name, *_ in cache.code_state()[1:]}
    loaded = {module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] == "rankbench"}
    assert str(Path(evaluation.__file__)) in names
    assert loaded - names == set()


def test_an_unwritable_cache_is_computed_each_time(
    campaign_store: Store, tmp_path: Path, computed_views: list[CampaignView]
) -> None:
    (tmp_path / "file").write_text("no folder")
    caching.use(tmp_path / "file")
    evaluate(campaign_store)
    evaluate(campaign_store)
    assert len(computed_views) == 2


def test_without_a_cache_folder_nothing_is_stored(
    campaign_store: Store, folder: Path, computed_views: list[CampaignView], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caching, "_folders", [])
    evaluate(campaign_store)
    evaluate(campaign_store)
    assert len(computed_views) == 2
    assert not folder.exists()


def test_only_recently_used_entries_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "MOST", 2)
    caching.store("things", "a", b"1")
    caching.store("things", "b", b"2")
    assert caching.find("things", "a") == b"1"
    caching.store("things", "c", b"3")
    assert sorted(path.name for path in (folder / "things").iterdir()) == ["a", "c"]
    assert caching.find("things", "b") is None


def test_nested_texts_are_restored() -> None:
    text = say("{a} and {b:and}", a=say("{n:count case}", n=2), b=[say("x"), "y"])
    decoded = msgspec.msgpack.decode(msgspec.msgpack.encode([text]), type=list[Text])
    assert decoded != [text]
    restore_texts(decoded)
    assert decoded == [text]
