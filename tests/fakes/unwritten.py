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
        self._added: list[tables.Measured] = []
        self._frames: dict[str, pl.DataFrame] = {}

    @property
    def alone(self) -> UnwrittenStore:
        """The launches that were made alone."""
        if not isinstance(self._alone, UnwrittenStore):
            self._alone = UnwrittenStore(self.folder / "alone", self.campaign)
        return self._alone

    def append(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """Add a launch with its cases."""
        self._added.append((launch, results))
        self._frames = {}

    def append_alone(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """Add a launch that was made alone."""
        self.alone.append(launch, results)

    def launches(self) -> list[Launch]:
        """Return the launches in the order of their numbers."""
        return sorted((launch for launch, _ in self._added), key=lambda launch: launch.number)

    def _scan(self, kind: str, columns: Mapping[str, type[pl.DataType]]) -> pl.LazyFrame:
        """Return a table. It is made when it is read: one of all launches takes less time than one of each."""
        if not self._added:
            return tables.make_empty_frame(columns)
        if kind not in self._frames:
            cases, samples = tables.case_rows(self._added), tables.sample_rows(self.campaign, self._added)
            self._frames |= {"cases": cases.collect(), "samples": samples.collect()}
        return self._frames[kind].lazy()
