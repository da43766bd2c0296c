"""The page over several campaigns."""

from __future__ import annotations

import re

from rankbench.report.listing import ListedCampaign, render_list

FIRST = ListedCampaign("a&b", "2026-11-27 09:00", "complete", ["x", "y"], 5, "Which <one>?", "Use x", "a&b/report.html")
SECOND = ListedCampaign("c", "", "damaged", [], 0, "", "", "")


def test_a_campaign_has_its_answer_and_a_link_where_it_has_a_report() -> None:
    page = render_list("results", [FIRST, SECOND])
    assert "<h1>2 campaigns in results</h1>" in page
    first, second = re.findall(r"<tr>\n<th scope=\"row\">.*?</tr>", page, re.DOTALL)
    assert '<a href="a%26b/report.html">a&amp;b</a><small>Which &lt;one&gt;?</small>' in first
    assert "<td>Use x<small>x, y</small></td>" in first
    assert "<a " not in second
    assert "<td>–<small></small></td>" in second
    assert "<script" not in page
