"""The answer in the terminal: at most seven lines, words never divided."""

from __future__ import annotations

import pytest
from fakes import campaigns
from fakes.campaigns import Truth, make_campaign

from rankbench.analysis import evaluation
from rankbench.analysis.claims.joining import group_findings, join_group
from rankbench.campaign import Decision
from rankbench.cli.campaign_end import conclude
from rankbench.cli.display import answer, console, list_findings, print_findings, spread_lines
from rankbench.language import render
from rankbench.model import Case
from rankbench.store import Store

NAMES = ("alpha-1.0.0", "al[red]pha-beta-2.0", "gamma-long-name-2021.18.1")


@pytest.fixture(scope="module")
def campaign_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    def make_truth(name: str, case: Case) -> Truth:
        small = case.size_bytes <= 1024
        return Truth(factor={NAMES[0]: 1.0 if small else 1.5, NAMES[1]: 1.5 if small else 1.0}.get(name, 3.0))

    cases = campaigns.make_cases(sizes=(8, 1024, 8192, 65536))
    return make_campaign(
        tmp_path_factory.mktemp("results") / "plan",
        make_truth,
        6,
        candidates=NAMES,
        cases=cases,
        control=True,
        samples=10,
    )


def test_the_answer_has_at_most_seven_lines_and_verbose_shows_all(campaign_store: Store) -> None:
    verdict = evaluation.evaluate(campaign_store).verdict
    short, long = answer(verdict), answer(verdict, verbose=True)
    assert len(short) <= 7
    assert any(line.startswith("It depends on the size: up to 1 KiB") for line in short)
    assert short == [render(claim.text) for claim in verdict.conclusion if claim.brief]
    assert long == [render(claim.text) for claim in verdict.conclusion]


def test_findings_have_severity_text_and_advice(
    campaign_store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict = evaluation.evaluate(campaign_store).verdict
    paragraphs = list_findings(verdict)
    assert 0 < len(paragraphs) <= len(verdict.findings)
    severities = [paragraph.partition(":")[0] for paragraph in paragraphs]
    assert severities == sorted(severities, key=["failure", "warning", "note"].index)
    texts = [render(text) for alike in group_findings(verdict.findings) for text in join_group(alike)]
    assert all(any(text in paragraph for paragraph in paragraphs) for text in texts)
    assert all(" What to do: " in paragraph for paragraph in paragraphs)
    monkeypatch.setattr(console, "width", 80)
    print_findings(verdict)
    assert " ".join(capsys.readouterr().out.split()) == " ".join(["Findings", *" ".join(paragraphs).split()])


def test_no_word_is_divided_at_eighty_columns(
    campaign_store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "width", 80)
    conclude(campaign_store, Decision(stop=True, reason="the plan's 6 blocks are done"))
    printed = capsys.readouterr().out
    assert printed.startswith("plan: done in ")
    words = set(printed.split())
    assert {word for line in answer(evaluation.evaluate(campaign_store).verdict) for word in line.split()} <= words
    assert {"gamma-long-name", "2021.18.1", "al[red]pha-beta"} <= words
    assert printed.splitlines()[-1].endswith(str(campaign_store.folder))
    assert all(len(line) <= 80 for line in printed.splitlines()[:-1])


def test_a_word_longer_than_a_line_is_not_divided(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "width", 20)
    spread_lines(f"see /{'x' * 30} for the rest of it")
    assert capsys.readouterr().out == f"see\n/{'x' * 30}\nfor the rest of it\n"
