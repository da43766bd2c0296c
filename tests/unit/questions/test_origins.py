"""The origin of each library, where the answer stands."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes import campaigns
from wording import WORDING

from rankbench.analysis.questions.origins import describe_origins
from rankbench.language import render


@pytest.mark.parametrize(
    "sources",
    [
        [("pypi", {}), ("pypi", {})],
        [("pypi", {}), ("system", {})],
        [("modules", {"modules": "gcc/12 mpich/4.3"}), ("spack", {"hash": "abc"})],
        [("prefix", {}), ("path", {})],
    ],
)
def test_a_line_names_the_origin_of_each_library(sources: list[tuple[str, dict[str, str]]], tmp_path: Path) -> None:
    campaign = campaigns.make_campaign(tmp_path / "made", launches=1, candidates=("alpha", "beta")).campaign
    libraries = [
        msgspec.structs.replace(campaigns.make_library(name), source=source, origin=origin)
        for name, (source, origin) in zip(("alpha", "beta"), sources, strict=True)
    ]
    assert render(describe_origins(msgspec.structs.replace(campaign, libraries=libraries))) == WORDING


def test_candidates_with_names_of_their_own_have_their_prefix_once(tmp_path: Path) -> None:
    campaign = campaigns.make_campaign(tmp_path / "made", launches=1, candidates=("alpha", "beta")).campaign
    names = {"alpha": "openmpi-5.0.11@alpha", "beta": "openmpi-5.0.11@beta"}
    named = msgspec.structs.replace(
        campaign,
        libraries=[
            msgspec.structs.replace(campaigns.make_library(old), name=name, source="prefix")
            for old, name in names.items()
        ],
        candidates=[
            msgspec.structs.replace(candidate, library=names[candidate.library]) for candidate in campaign.candidates
        ],
    )
    assert render(describe_origins(named)) == WORDING
