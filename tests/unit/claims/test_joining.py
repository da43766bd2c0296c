"""One sentence for several findings of a kind."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from fakes import evaluations
from wording import WORDING

from rankbench.analysis.claims.joining import group_findings, join_group, join_titles
from rankbench.language import Text, render, say
from rankbench.model import Finding

FOLDER = Path(__file__).parents[3] / "src/rankbench/analysis/claims/findings"
KINDS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")
VERBS = "is|was|has|does|fails|slows|contradicts|misleads|prints|crashes|hangs"


def list_titles(kind: str) -> list[str]:
    """Return the templates of the titles of a kind, from its source."""
    tree = ast.parse((FOLDER / f"{kind}.py").read_text())
    nodes = [
        keyword.value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "title" and isinstance(keyword.value, ast.Call)
    ]
    reports = [
        call.args[0]
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Report"
    ]
    templates = [node.args[0] for node in [*nodes, *reports] if isinstance(node, ast.Call) and node.args]
    return [
        text.value
        for template in templates
        for text in ([template.body, template.orelse] if isinstance(template, ast.IfExp) else [template])
        if isinstance(text, ast.Constant) and isinstance(text.value, str)
    ]


def join_findings(findings: list[Finding]) -> list[Text]:
    """Return what findings say, as `rankbench show` prints it."""
    return [text for alike in group_findings(findings) for text in join_group(alike)]


def make_finding(title: Text, text: str = "", severity: str = "warning", kind: str = "kind") -> Finding:
    return Finding(kind=kind, title=title, text=say(text), advice=say(""), cases=[], severity=severity)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_titles_of_a_kind_join_to_one_sentence(kind: str) -> None:
    titles = list_titles(kind)
    assert titles
    for template in titles:
        names = list(dict.fromkeys(re.findall(r"{(\w+)", template)))
        for name in names:
            rows = [{**dict.fromkeys(names, "same"), name: value} for value in ("first", "second", "third")]
            findings = [make_finding(Text(template, row), kind=kind) for row in rows]
            (sentence,) = map(render, join_findings(findings))
            assert "first, second and third" in sentence
            assert sentence.endswith(".")
            assert not re.search(rf"third ({VERBS})\b", sentence), "a singular verb after several names"
            (alone,) = join_titles([findings[0].title])
            assert not re.search(r"first (are|were|have|do|fail|slow|contradict|mislead)\b", render(alone))


def test_titles_are_joined_on_the_field_with_fewest_values() -> None:
    rows = [("alpha", "bcast"), ("alpha", "reduce"), ("beta", "bcast"), ("alpha", "scan")]
    findings = [make_finding(say("{name} {name:of is|are} slow in {where}", name=n, where=w)) for n, w in rows]
    assert [render(text) for text in join_findings(findings)] == WORDING


def test_a_single_finding_keeps_its_text() -> None:
    findings = [make_finding(say("{n} slow", n="a"), "One."), make_finding(say("Noise"), "Two.")]
    assert [render(text) for text in join_findings(findings)] == ["One.", "Two."]


def test_failures_are_not_joined() -> None:
    findings = [make_finding(say("{n} crashed", n=name), f"{name} crashed in x.", "failure") for name in "ab"]
    assert [render(text) for text in join_findings(findings)] == ["a crashed in x.", "b crashed in x."]


def test_joined_findings_keep_the_order_of_kinds() -> None:
    findings = evaluations.make_evaluation().verdict.findings
    texts = [render(text) for text in join_findings(findings)]
    assert findings
    assert len(texts) <= len(findings)
    assert all(text.endswith(".") for text in texts)
    assert {render(finding.text) for finding in findings if finding.severity == "failure"} <= set(texts)
