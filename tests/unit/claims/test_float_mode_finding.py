"""The finding on libraries that change how the processor computes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
from fakes import verdicts
from wording import WORDING

from rankbench.analysis.claims.findings import float_mode
from rankbench.language import render


def test_a_changed_mode_is_one_finding_per_candidate(tmp_path: Path) -> None:
    view = verdicts.evaluate(tmp_path, lambda _name, _case: 1.0, cases=verdicts.LINE)
    assert list(float_mode.find(view)) == []
    mode = "rounding upward; since MPI_Init"
    launches = [
        msgspec.structs.replace(
            launch,
            facts=launch.facts
            and msgspec.structs.replace(launch.facts, float_mode=mode * (launch.candidate == "beta")),
        )
        for launch in view.launches
    ]
    (finding,) = float_mode.find(dataclasses.replace(view, launches=launches))
    assert render(finding.title) == WORDING
    assert render(finding.text) == WORDING
