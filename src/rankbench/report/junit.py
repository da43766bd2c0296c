"""A gate's checks as JUnit XML, as CI systems read it: one suite, a test case per case and candidate.

There is no standard; this is the common part of what Jenkins, GitLab and GitHub's actions read: attributes `tests`,
`failures`, `errors`, `skipped` and `time` of suites, `classname`, `name` and `time` of test cases. `time` is for how
long a case was timed, in seconds: the sum of its samples. What is accepted is skipped, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

from rankbench.across.gate import Check, counts
from rankbench.language import render

NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document may hold, such as the escapes of a coloured log."""


def junit(checks: Sequence[Check], name: str, at: str, texts: Iterable[str], failure: str = "regression") -> str:
    """Return the document.

    `at` is when the campaign was made, ISO 8601; `texts` what the reader must know; `failure` what a failure is.
    """
    numbers = counts(list(checks))
    totals = {
        "name": remove_controls(name),
        "tests": str(len(checks)),
        "failures": str(numbers["failed"]),
        "errors": "0",
        "skipped": str(numbers["skipped"] + numbers["accepted"]),
        "time": seconds(sum(check.measured_s for check in checks)),
    }
    root = ElementTree.Element("testsuites", totals)
    suite = ElementTree.SubElement(root, "testsuite", {**totals, "timestamp": at[:19]})
    for check in checks:
        add(suite, check, failure)
    ElementTree.SubElement(suite, "system-out").text = remove_controls("\n".join(texts))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def junit_error(name: str, at: str, text: str) -> str:
    """Return the document of a gate that checked nothing: one test case, with an error."""
    numbers = {"name": remove_controls(name), "tests": "1", "failures": "0", "errors": "1", "skipped": "0"}
    root = ElementTree.Element("testsuites", numbers)
    suite = ElementTree.SubElement(root, "testsuite", {**numbers, "timestamp": at[:19]})
    case = ElementTree.SubElement(suite, "testcase", {"classname": "rankbench", "name": "conditions"})
    error = ElementTree.SubElement(case, "error", {"message": remove_controls(text), "type": "conditions"})
    error.text = remove_controls(text)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def add(suite: ElementTree.Element, check: Check, kind: str) -> None:
    """Add one test case: what failed or was skipped says why, and what to do."""
    attributes = {
        "classname": remove_controls(check.candidate),
        "name": remove_controls(check.title),
        "time": seconds(check.measured_s),
    }
    case = ElementTree.SubElement(suite, "testcase", attributes)
    text, advice = render(check.text), render(check.advice)
    if check.outcome == "failed":
        kind = "improvement" if check.relation == "faster" else kind
        failure = ElementTree.SubElement(case, "failure", {"message": remove_controls(text), "type": kind})
        failure.text = remove_controls(f"{text}\n{advice}".rstrip())
    elif check.outcome in {"skipped", "accepted"}:
        sentence = f"{text}. {advice}" if advice else text
        ElementTree.SubElement(case, "skipped", {"message": remove_controls(sentence)})


def seconds(time_s: float) -> str:
    """Return a time as decimals; readers know no exponents."""
    return f"{time_s:.6f}"


def remove_controls(text: str) -> str:
    """Return a text without what XML cannot hold."""
    return NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
