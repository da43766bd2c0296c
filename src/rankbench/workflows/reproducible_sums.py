"""Selects the variants of a tuning whose sums have the same bits in all calls, launches and placements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from rankbench import files, staging
from rankbench.campaign import selftest, sum_launches
from rankbench.campaign.sum_launches import Launched
from rankbench.model import Library, Placement, RankbenchError
from rankbench.model.sum_bits import SumRow
from rankbench.tuning import DEFAULT, Task, reproducibility, step_plans
from rankbench.workflows.watching import Progress

ROWS_FILE = "sums.json"


class SumStudy:
    """Studies sums of a library with settings; keeps its rows in the folder of a tuning."""

    def __init__(
        self, library: Library, placements: Sequence[Placement], home: Path, folder: Path, progress: Progress
    ) -> None:
        self.library, self.placements, self.home, self.progress = library, placements, home, progress
        self.folder = folder
        self.file = folder / ROWS_FILE
        self.rows: list[SumRow] = []
        if self.file.exists():
            try:
                self.rows = msgspec.json.decode(self.file.read_bytes(), type=list[SumRow])
            except msgspec.MsgspecError as error:
                raise RankbenchError(f"{self.file}: {error}; remove it, and sums are studied again") from None

    def select(self, task: Task) -> Task:
        """Return the task with the variants that keep the bits of sums, and the operations whose default does not."""
        settings = {DEFAULT: {}, **step_plans.merge_settings(task)}
        failures = dict(self.study(settings))
        selected, sentences = reproducibility.select(task, self.rows, failures)
        for sentence in sentences:
            self.progress.show_line(sentence)
        return selected

    def study(self, settings: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
        """Study what has no rows yet; yield each variant that could not be studied, with the reason."""
        known = {row.candidate for row in self.rows}
        for name in settings.keys() - known if DEFAULT in known else [*settings]:
            with self.progress.show_status(f"{self.library.name}: sums with {name} …"):
                try:
                    self.rows += sum_launches.compare(name, list(self.launch(settings[name])))
                except RankbenchError as error:
                    yield name, str(error)
                    continue
            self.folder.mkdir(parents=True, exist_ok=True)
            files.write(self.file, msgspec.json.encode(self.rows))

    def launch(self, settings: Mapping[str, str]) -> Iterator[Launched]:
        """Yield launches in each placement of several ranks, and one in which the ranks are not bound to CPUs.

        Raises RankbenchError where one fails.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        for placement in self.placements:
            if placement.ranks < 2:
                continue
            with staging.make_temporary_folder(self.folder.absolute()) as folder:
                bench = selftest.prepare_placement(self.library, placement, self.home, folder)
                for _ in range(sum_launches.LAUNCHES):
                    yield sum_launches.launch(bench, settings)
                if placement.binding != "none":
                    unbound = msgspec.structs.replace(placement, binding="none")
                    yield sum_launches.launch(bench._replace(placement=unbound), settings)
