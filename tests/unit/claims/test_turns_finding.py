"""The finding on times that depend on the order of turns."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import pytest
from fakes import verdicts
from unit.statistics.test_turns import CONCURRENT_LAUNCHES, draw_values
from wording import WORDING, find_lines

from rankbench.analysis.claims.findings import turns
from rankbench.language import render


@pytest.mark.parametrize(("after", "expected"), [(0.09, 1), (0.01, 0)])
def test_a_candidate_that_slows_its_successor_is_reported(after: float, expected: int, tmp_path: Path) -> None:
    view = verdicts.evaluate(tmp_path, lambda _name, _case: 1.0, launches=5, cases=verdicts.LINE)
    launches = [
        msgspec.structs.replace(view.launches[0], number=number, beside=names)
        for number, names in CONCURRENT_LAUNCHES.items()
    ]
    counted = draw_values({}, {"b": after}).with_columns(uncertain=False, few=False)
    findings = list(turns.find(dataclasses.replace(view, launches=launches, launch_values=counted)))
    assert len(findings) == expected
    for finding in findings:
        text = render(finding.text)
        assert render(finding.title) == WORDING
        assert "all turns, calls take 6." in text
        assert "longer just after b" in text
        assert find_lines(text, "(12 blocks). Each candidate") == WORDING
