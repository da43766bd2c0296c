"""Lines on failures while a campaign runs: each case once, whatever its details."""

from __future__ import annotations

import pytest
from fakes import verdicts

from rankbench.cli.live_progress import list_new_failures
from rankbench.model import CaseResult, CaseStatus, Launch, LaunchStatus


def make_launch(block: int, status: LaunchStatus) -> Launch:
    return Launch(
        block,
        block,
        0,
        "alpha",
        "node",
        status,
        "exit code 1",
        "2026-01-01T00:00:00Z",
        1.0,
        1,
        [],
        {},
        None,
        [],
        0.0,
        0.0,
    )


@pytest.mark.parametrize("status", [CaseStatus.WRONG_DATA, CaseStatus.CRASHED, CaseStatus.HUNG])
def test_a_case_that_fails_in_each_block_has_one_line(status: CaseStatus) -> None:
    known: set[tuple[str, str]] = set()
    ends = LaunchStatus.OK if status is CaseStatus.WRONG_DATA else LaunchStatus.CRASHED
    lines = []
    for block in (1, 2, 3):
        failed = CaseResult(case=verdicts.LINE[0], status=status, reason=f"see evidence/{block}.json")
        well = CaseResult(case=verdicts.LINE[1], status=CaseStatus.OK)
        lines.append(list(list_new_failures(make_launch(block, ends), [failed, well], known)))
    assert [len(of_block) for of_block in lines] == [1, 0, 0]
    assert lines[0][0].startswith(f"alpha: {verdicts.LINE[0].key} {status}: see evidence/1.json")
    other = CaseResult(case=verdicts.LINE[1], status=status, reason="see evidence/4.json")
    assert len(list(list_new_failures(make_launch(4, ends), [other], known))) == 1
