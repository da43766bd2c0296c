"""Gate, exports and tables of one campaign agree on every case."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from fakes import campaign_views, campaigns
from fakes.campaigns import Truth
from wording import WORDING

from rankbench import report
from rankbench.across import gate
from rankbench.analysis import evaluation
from rankbench.analysis.questions.view import CampaignView
from rankbench.exports.formats import json
from rankbench.language import render
from rankbench.model import Case, CaseStatus
from rankbench.report import flat_frames, tables
from rankbench.report.junit import junit
from rankbench.report.tables import results

PAIR = ("alpha", "beta")
SEEDS = range(3)
CASES = campaigns.make_cases(lines=[("allreduce", "blocking"), ("bcast", "blocking")], sizes=campaign_views.SIZES)
SIMILAR = r"$\sim$"
OUTCOMES = {"slower": "failed", "faster": "improved", "equivalent": "passed", "depends": "skipped"}


def draw_campaign(folder: Path, seed: int) -> CampaignView:
    """Evaluate a noisy campaign of two candidates: half of the cases differ by 30%, the others by -10 to 10%."""

    def make_truth(candidate: str, case: Case) -> Truth:
        place = CASES.index(case)
        more = 0.3 if place % 2 else 0.02 * (place // 2 % 11 - 5)
        return Truth(factor=1 + more * (candidate == "beta"), spread=0.03, noise=0.01)

    store = campaigns.make_campaign(folder / "made", make_truth, 5, candidates=PAIR, cases=CASES, samples=12, seed=seed)
    return evaluation.evaluate(store)


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> list[CampaignView]:
    return [draw_campaign(tmp_path_factory.mktemp("drawn"), seed) for seed in SEEDS]


def test_the_gate_never_contradicts_the_tables(views: list[CampaignView]) -> None:
    """A case that is slower in the tables fails even if its interval reaches below the threshold."""
    near_the_edge = 0
    for view, (new, old) in itertools.product(views, itertools.permutations(PAIR)):
        most = 1 + view.campaign.plan.threshold
        for check in gate.check_candidate(view, new, old):
            verdict = view.verdict_of[check.case]
            slower = verdict.outcome == "faster" and verdict.winners == [old]
            assert (check.outcome == "failed") == slower
            assert check.outcome == OUTCOMES.get(check.relation, check.outcome)
            expected = ("slower" if slower else "faster") if verdict.outcome == "faster" else verdict.outcome
            assert check.relation == expected
            (comparison,) = view.comparisons_of[check.case]
            low = comparison.low if comparison.base == old else 1 / comparison.high
            near_the_edge += slower and low <= most
    assert near_the_edge > 0


def test_exports_have_the_verdict_of_each_case(views: list[CampaignView]) -> None:
    for view in views:
        exported = json.export(view).verdict.cases
        assert [(verdict.outcome, verdict.winners) for verdict in exported] == [
            (case.outcome, case.winners) for case in view.verdict.cases
        ]
        markdown, latex = report.markdown(view), report.latex(view)
        for table in results.tables(view):
            for row in table.rows:
                (key,) = {cell.case for cell in row if cell.case}
                sentence, verdict = render(row[-1].text), view.verdict_of[key]
                assert sentence == tables.winner(verdict)
                assert sentence.startswith({"faster": verdict.winners[0], "equivalent": "="}.get(verdict.outcome, "~"))
                assert sentence in markdown
                assert f"& {sentence.split()[0].replace('~', SIMILAR)}" in latex.replace(r"\textbf{", "")
        outcomes = Counter(case.outcome for case in view.verdict.cases)
        wins = Counter(case.winners[0] for case in view.verdict.cases if case.outcome == "faster")
        counts = [f"alpha {wins['alpha']}", f"beta {wins['beta']}"]
        counts += [f"{outcome} {outcomes[outcome]}" for outcome in ("equivalent", "undecided") if outcomes[outcome]]
        assert any(f"{', '.join(counts)} (of" in render(claim.text) for claim in view.verdict.conclusion)
        for record in flat_frames.make_frames(view)["comparisons"].filter(~pl.col("control")).iter_rows(named=True):
            outcome = "faster" if record["different"] else "equivalent" if record["alike"] else "undecided"
            assert outcome == view.verdict_of[record["case"]].outcome
        checks = gate.check_candidate(view, "beta", "alpha")
        cases = ElementTree.fromstring(junit(checks, "drawn", view.campaign.created, [])).iter("testcase")
        failed = [case.find("failure") is not None for case in cases]
        assert failed == [view.verdict_of[check.case].winners == ["alpha"] for check in checks]


def test_a_case_that_only_the_new_candidate_measured_is_named(tmp_path: Path) -> None:
    """The other one crashes there, or no launch of it counts."""

    def make_truth(candidate: str, case: Case) -> Truth:
        lacks = candidate == "alpha" and case == CASES[0]
        return Truth(status=CaseStatus.CRASHED) if lacks else Truth()

    view = evaluation.evaluate(
        campaigns.make_campaign(tmp_path / "made", make_truth, 3, candidates=PAIR, cases=CASES[:3], samples=12)
    )
    checks = {check.case: check for check in gate.check_candidate(view, "beta", "alpha")}
    assert checks.keys() == {case.key for case in CASES[:3]}
    assert checks[CASES[0].key].outcome == "skipped"
    assert render(checks[CASES[0].key].text) == WORDING
