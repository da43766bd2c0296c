"""Numbers as OpenMetrics text, which Prometheus and others scrape, or its node exporter reads from a file.

Source: OpenMetrics 1.0. Nothing has a timestamp: a scrape gives it one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rankbench.across.gate import Check, counts
from rankbench.model import Case

END = "# EOF\n"


class Sample(NamedTuple):
    """One number with its labels."""

    labels: Mapping[str, str]
    value: float


class Metric(NamedTuple):
    """A gauge: its name ends in its unit, if it has one."""

    name: str
    help: str
    samples: list[Sample]
    unit: str = ""


def format_metrics(metrics: Iterable[Metric]) -> str:
    """Return the text of metrics; those without a sample are left out."""
    return "".join(line for metric in metrics if metric.samples for line in list_lines(metric)) + END


def list_lines(metric: Metric) -> list[str]:
    """Return the lines of a metric."""
    unit = [f"# UNIT {metric.name} {metric.unit}\n"] if metric.unit else []
    head = [f"# TYPE {metric.name} gauge\n", *unit, f"# HELP {metric.name} {escape(metric.help)}\n"]
    return head + [f"{metric.name}{format_labels(sample.labels)} {sample.value:.9g}\n" for sample in metric.samples]


def format_labels(labels: Mapping[str, str]) -> str:
    """Return labels in braces; those without a value are left out, which means the same."""
    texts = [f'{name}="{escape(value)}"' for name, value in labels.items() if value]
    return "{" + ",".join(texts) + "}" if texts else ""


def escape(text: str) -> str:
    """Return a text as it stands in quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def list_gate_metrics(checks: Sequence[Check], names: Mapping[str, str], cases: Mapping[str, Case]) -> list[Metric]:
    """Return the metrics of a gate: checks by outcome, and each check's outcome and ratio.

    Args:
        checks: the checks.
        names: labels of all, such as the campaign.
        cases: the campaign's cases by key.
    """
    total = Metric("rankbench_gate_checks", "Checks of a gate by outcome.", [])
    for outcome, number in counts(list(checks)).items():
        total.samples.append(Sample({**names, "outcome": outcome}, number))
    failed = Metric("rankbench_gate_failed", "1: the check failed; 0: it did not.", [])
    ratio = Metric("rankbench_gate_ratio", "Time, new over old.", [])
    for check in checks:
        case = cases.get(check.case)
        labels = {**names, "candidate": check.candidate, **(label_case(case) if case else {"case": check.case})}
        failed.samples.append(Sample(labels, int(check.outcome == "failed")))
        if check.ratio is not None:
            ratio.samples.append(Sample(labels, check.ratio))
    return [total, failed, ratio]


def label_case(case: Case) -> dict[str, str]:
    """Return the labels of a case: parts that most people select by, and its key."""
    return {
        "operation": case.operation,
        "form": case.form,
        "bytes": str(case.size_bytes),
        "ranks": str(case.ranks),
        "placement": case.placement,
        "case": case.key,
    }
