"""Campaigns to export, and a ReFrame that runs the exported test."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes import campaigns, kinds
from fakes.campaigns import Truth

from rankbench import staging
from rankbench.exports import EvaluatedCampaign
from rankbench.model import CaseStatus

if TYPE_CHECKING:
    from rankbench.model import Case

REPOSITORY = Path(__file__).parents[3]
LOCK = Path(__file__).with_name("reframe.lock")


def make_truth(candidate: str, case: Case) -> Truth:
    """Return the truth: beta takes half as long again and crashes in barriers; some samples are late."""
    crashed = candidate == "beta" and case.operation == "barrier"
    ends = (0.5, 1.0) if case.operation == "allreduce" else ()
    return Truth(
        factor=1.5 if candidate == "beta" else 1.0,
        late_share=0.1,
        rank_ends=ends,
        status=CaseStatus.CRASHED if crashed else CaseStatus.OK,
    )


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> EvaluatedCampaign:
    """Return a campaign of times and bandwidths, with an A/A twin, failures and late samples."""
    return EvaluatedCampaign(
        campaigns.make_campaign(tmp_path_factory.mktemp("plain") / "plain", make_truth, 6, samples=40)
    )


@pytest.fixture(scope="session")
def every_kind(tmp_path_factory: pytest.TempPathFactory) -> EvaluatedCampaign:
    """Return a campaign with message rates, overlap and memory."""
    wanted = [*kinds.PUTS, *kinds.RATES, *kinds.OVERLAPS, *kinds.MEMORY]
    return EvaluatedCampaign(kinds.make_store(tmp_path_factory.mktemp("kinds") / "kinds", wanted))


@pytest.fixture(scope="session")
def reframe() -> Path:
    """Return a folder with ReFrame and its dependencies, installed once into a home that stays between runs.

    ReFrame's database of results needs another Polars than rankbench; the lock file leaves it out.
    """
    home = Path(os.environ.get("RANKBENCH_HOME") or REPOSITORY / ".rankbench").absolute()
    place = home / f"reframe-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]}"
    if not place.exists():
        with staging.make_temporary_folder(home) as folder:
            options = ["--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps", "--no-compile"]
            wanted = ["--target", str(folder / "reframe"), "--requirement", str(LOCK)]
            subprocess.run([sys.executable, "-m", "pip", "install", *options, *wanted], check=True)
            staging.publish(folder / "reframe", place)
    return place
