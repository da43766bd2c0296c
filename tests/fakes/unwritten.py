"""A campaign in memory, for tests that evaluate one: writing its tables would take longer than evaluating them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from rankbench.model import Campaign, CaseResult, Launch
from rankbench.store import Store, tables


class UnwrittenStore(Store):
    """A store whose launches are added to memory; its folder is not made."""

    def __init__(self, folder: Path, campaign: Campaign) -> None:
        super().__init__(folder, campaign)
        self._added: list[Launch] = []
        self._frames: dict[str, list[pl.DataFrame]] = {"cases": [], "samples": []}

    @property
    def alone(self) -> UnwrittenStore:
        """The launches that were made alone."""
        if not isinstance(self._alone, UnwrittenStore):
            self._alone = UnwrittenStore(self.folder / "alone", self.campaign)
        return self._alone

    def append(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """Add a launch with its cases."""
        self._added.append(launch)
        self._frames["cases"].append(tables.case_rows(launch, results).collect())
        self._frames["samples"].append(tables.sample_rows(self.campaign, launch, results).collect())

    def append_alone(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """Add a launch that was made alone."""
        self.alone.append(launch, results)

    def launches(self) -> list[Launch]:
        """Return the launches in the order of their numbers."""
        return sorted(self._added, key=lambda launch: launch.number)

    def _scan(self, kind: str, columns: Mapping[str, type[pl.DataType]]) -> pl.LazyFrame:
        parts = self._frames[kind]
        if len(parts) > 1:
            parts[:] = [pl.concat(parts)]
        return parts[0].lazy() if parts else tables.make_empty_frame(columns)
