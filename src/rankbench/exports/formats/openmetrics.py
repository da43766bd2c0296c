"""Values with their intervals as OpenMetrics text, for Prometheus. The result of a gate is `rankbench gate`'s."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rankbench.analysis.questions.view import CampaignView
from rankbench.exports import EvaluatedCampaign, write_text
from rankbench.exports.values import list_values
from rankbench.report.openmetrics import Metric, Sample, format_metrics, label_case

TITLE = "values with intervals for Prometheus, as OpenMetrics text"
SUFFIX = ".prom"
PLACE = "file"


class Kind(NamedTuple):
    """How values of a unit are named, and by how much they are multiplied."""

    name: str
    unit: str
    factor: float


KINDS = {
    "ns": Kind("time", "seconds", 1e-9),
    "bytes": Kind("memory", "bytes", 1.0),
    "MB/s": Kind("bandwidth", "bytes_per_second", 1e6),
    "messages/s": Kind("messages", "per_second", 1.0),
    "round trips/s": Kind("round_trips", "per_second", 1.0),
}
ENDS = {"": "Typical value", "_low": "Lower end of the interval", "_high": "Upper end of the interval"}


def write(source: EvaluatedCampaign, path: Path) -> Iterator[Path]:
    """Write the text."""
    yield write_text(path, format_metrics(list_metrics(source.view)))


def list_metrics(view: CampaignView) -> list[Metric]:
    """Return the metrics of a campaign, A/A twins included; what is not known is left out."""
    metrics = {
        (unit, end): Metric(
            f"rankbench_{kind.name}{end}_{kind.unit}", f"{text} of a case and candidate.", [], kind.unit
        )
        for unit, kind in KINDS.items()
        for end, text in ENDS.items()
    }
    libraries = {candidate.name: candidate.library for candidate in view.campaign.candidates}
    for value in list_values(view):
        names = {"campaign": view.campaign.name, "candidate": value.candidate, "library": libraries[value.candidate]}
        labels = names | label_case(view.case_of[value.case]) | {"state": value.state}
        for end, number in zip(ENDS, (value.value, value.low, value.high), strict=True):
            if number is not None:
                samples = metrics[value.unit, end].samples
                samples.append(Sample(labels, number * KINDS[value.unit].factor))
    launches = Metric("rankbench_launches", "Launches of a candidate.", [])
    for name, library in libraries.items():
        labels = {"campaign": view.campaign.name, "candidate": name, "library": library}
        count = sum(launch.candidate == name for launch in view.launches)
        launches.samples.append(Sample(labels, count))
    return [*metrics.values(), launches]
