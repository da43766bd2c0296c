"""A chart: its form and the values of one part of a campaign."""

from __future__ import annotations

import dataclasses
from typing import Any

Row = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Chart:
    """A chart's form, composed with Altair, in which data sets are only named; and the values of one part.

    The two are apart because hundreds of cases share one form.
    """

    form: Row
    title: str
    subtitle: str
    datasets: dict[str, list[Row]]

    def spec(self, config: Row) -> Row:
        """Return the whole chart as Vega-Lite."""
        title = {"text": self.title, "subtitle": self.subtitle}
        return {**self.form, "title": title, "datasets": self.datasets, "config": config}
