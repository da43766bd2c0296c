"""OpenMetrics text of a campaign and of a gate, read back by the rules of the format, and the dashboard on it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fakes import campaigns
from fakes.campaigns import Truth

from rankbench import exports, store
from rankbench.across.gate import Check
from rankbench.exports.formats import openmetrics as text_format
from rankbench.exports.values import list_values
from rankbench.language import NOTHING
from rankbench.report import openmetrics
from rankbench.report.openmetrics import Metric, Sample

DASHBOARD = Path(__file__).parents[3] / "docs/howto/grafana-dashboard.json"
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")
Read = dict[tuple[str, frozenset[tuple[str, str]]], float]


def read_text(text: str) -> Read:
    """Read a text as strictly as the format's rules: metrics in one piece each, described before, and ended by EOF."""
    *lines, end = text.splitlines()
    assert end == "# EOF"
    numbers_of: Read = {}
    current, described = "", set()
    for line in lines:
        if line.startswith("# "):
            word, name, rest = re.fullmatch(r"# (TYPE|UNIT|HELP) (\S+) (.*)", line).groups()  # type: ignore[union-attr]
            if word == "TYPE":
                assert name not in described
                assert rest == "gauge"
                current = name
                described.add(name)
            assert name == current
            assert word != "UNIT" or name.endswith(f"_{rest}")
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        assert match[1] == current
        labels = frozenset(re.findall(LABEL, match[2] or ""))
        assert (current, labels) not in numbers_of
        numbers_of[current, labels] = float(line.rpartition(" ")[2])
    return numbers_of


@pytest.fixture
def campaign(tmp_path: Path) -> exports.EvaluatedCampaign:
    campaigns.make_campaign(tmp_path / "made", lambda name, _: Truth(factor=1.5 if name == "beta" else 1.0))
    return exports.EvaluatedCampaign(store.open(tmp_path / "made"))


def test_every_value_and_interval_is_there_in_its_basic_unit(
    campaign: exports.EvaluatedCampaign, tmp_path: Path
) -> None:
    (path,) = text_format.write(campaign, tmp_path / "x.prom")
    numbers_of = read_text(path.read_text())
    by_key = {}
    for (name, labels), number in numbers_of.items():
        at = dict(labels)
        by_key[name, at.get("case"), at["candidate"], at.get("state", "")] = number
    values = [value for value in list_values(campaign.view) if value.value is not None]
    assert {value.unit for value in values} == {"ns", "MB/s"}
    for value in values:
        kind = text_format.KINDS[value.unit]
        numbers = {"": value.value, "_low": value.low, "_high": value.high}
        for end, wanted in numbers.items():
            stored = by_key.get((f"rankbench_{kind.name}{end}_{kind.unit}", value.case, value.candidate, value.state))
            assert stored == (None if wanted is None else pytest.approx(wanted * kind.factor))
    assert by_key["rankbench_launches", None, "alpha", ""] == 5


def test_every_unit_of_values_has_a_metric() -> None:
    source = (Path(exports.__file__).parent / "values.py").read_text()
    units = re.search(r'unit: str\n    """(.*?)\."""', source, re.DOTALL)
    assert units
    assert set(re.findall(r"`([^`]+)`", units[1])) == text_format.KINDS.keys()


def test_labels_of_any_text_are_read_back() -> None:
    label = 'a "b" \\ c\nd'
    metric = Metric("rankbench_x_seconds", "Two\nlines.", [Sample({"name": label, "empty": ""}, 1.5)], "seconds")
    ((_, labels),) = read_text(openmetrics.format_metrics([metric, Metric("rankbench_none", "No sample.", [])]))
    ((name, escaped),) = labels
    assert (name, escaped) == ("name", 'a \\"b\\" \\\\ c\\nd')


def test_a_gate_has_its_counts_and_each_check(campaign: exports.EvaluatedCampaign) -> None:
    cases = campaign.view.case_of
    first, second = list(cases)[:2]
    checks = [
        Check(case=first, title="one", candidate="beta", outcome="failed", text=NOTHING, ratio=1.5),
        Check(case=second, title="two", candidate="beta", outcome="passed", text=NOTHING),
    ]
    metrics = openmetrics.list_gate_metrics(checks, {"campaign": "made"}, cases)
    numbers_of = read_text(openmetrics.format_metrics(metrics))
    assert numbers_of["rankbench_gate_checks", frozenset({("campaign", "made"), ("outcome", "failed")})] == 1
    failed = {
        dict(labels)["case"]: number for (name, labels), number in numbers_of.items() if name.endswith("gate_failed")
    }
    assert failed == {first: 1, second: 0}
    assert [number for (name, _), number in numbers_of.items() if name == "rankbench_gate_ratio"] == [1.5]


def test_the_dashboard_asks_for_metrics_and_labels_that_exist(campaign: exports.EvaluatedCampaign) -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    gate = openmetrics.list_gate_metrics(
        [Check(case=campaign.view.cases[0].key, title="", candidate="beta", outcome="failed", text=NOTHING, ratio=1.5)],
        {"campaign": "made", "against": "old"},
        campaign.view.case_of,
    )
    metrics = {metric.name: metric for metric in [*text_format.list_metrics(campaign.view), *gate]}
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    queries += [variable["query"] for variable in dashboard["templating"]["list"] if variable["type"] == "query"]
    for query in queries:
        names = re.findall(r"rankbench_\w+", query)
        assert names
        for name in names:
            labels = {label for sample in metrics[name].samples for label in sample.labels}
            assert set(re.findall(r"(\w+)=~", query)) <= labels
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
