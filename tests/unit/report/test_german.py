"""The report in German: the page, its script's words, charts, text, and the commands that write them."""

from __future__ import annotations

import html
import re
import string
from typing import TYPE_CHECKING, Any

import altair as alt
import pytest
import vl_convert
from fakes import campaigns, evaluations
from fakes.pages import book, captions, part
from typer.testing import CliRunner

from rankbench import language, plots
from rankbench.cli import application
from rankbench.language import Language, spoken
from rankbench.model import RankbenchError
from rankbench.plots import Panels, curves, drift
from rankbench.report import markdown, write_figures, write_html

if TYPE_CHECKING:
    from pathlib import Path

    from rankbench.plots import Chart, Picture

WORDS = language.catalogue("de").words
NAMES = {"none", "socket"}
"""English words that are the names of a start and of a placement as well."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("report") / "report.html"
    with spoken("de"):
        write_html(path, evaluations.evaluation(starts=("none",)))
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def text() -> str:
    with spoken("de"):
        return markdown(evaluations.evaluation(starts=("none",)))


def texts(page: str) -> set[str]:
    """Return what stands between the page's tags and in attributes that are read out or shown."""
    plain = re.sub(r"<(script|style|pre)\b.*?</\1>", "", page, flags=re.S)
    attributes = re.findall(r'(?:aria-label|placeholder|title)="([^"]*)"', plain)
    return {html.unescape(one).strip() for one in (*re.split(r"<[^>]*>", plain), *attributes)}


def packed_texts(page: str) -> set[str]:
    """Return the captions, columns and cells of the page's packed tables."""
    found: set[str] = set()
    for tables in part(page, "tables").values():
        for caption, columns, rows in tables:
            found |= {caption, *columns}
            found |= {one for row in rows for cell in row for one in (cell if isinstance(cell, list) else [cell])}
    return {one for one in found if isinstance(one, str)}


def line(whole: Picture) -> Picture:
    """Return the part of a picture that is the blocking allreduce."""
    return dict(whole.parts("line"))["allreduce.blocking.float.socket.window"]


def german(chart: Chart | None) -> dict[str, Any]:
    assert chart is not None
    return chart.spec(plots.theme("#000000", "#000000", "#000000"))


def test_the_page_tells_its_language_and_has_german_headings(page: str) -> None:
    assert '<html lang="de">' in page
    headings = re.findall(r'<h2 id="[a-z]+-title">(.*?)</h2>', page)
    assert headings == [
        "Wer wo am schnellsten ist",
        "Was sonst wissenswert ist",
        "Ein Fall, aus der Nähe",
        "Alle Kurven",
        "Tabellen",
        "Was jeder Start an demselben Fall ausmacht",
        "Einzelne Ranks",
        "Was gescheitert ist, und warum",
        "Woher die Werte kommen",
        "Wie gemessen wurde",
        "Noch einmal messen",
    ]
    assert '<h1 id="question">Is alpha &lt;faster&gt; than beta?</h1>' in page
    assert '<nav aria-label="Abschnitte">' in page


def test_markup_of_a_sentence_is_kept_and_its_fields_are_escaped(page: str) -> None:
    assert "Ein Lauf ist ein <code>mpiexec</code>." in page
    assert 'stehen in den <a href="#tables">Tabellen</a>.' in page
    assert "Zahl der Blöcke: 4.</p>" in page
    assert "Unterschiede unter 3 % werden nicht genannt." in page


def test_nothing_of_the_page_is_left_in_english(page: str) -> None:
    english = {one for one, told in WORDS.items() if one != told} - NAMES
    shown = texts(page) | packed_texts(page)
    assert shown & english == set()
    clauses = {one for template in english for one, *_ in string.Formatter().parse(template) if len(one.split()) > 2}
    assert [one for one in clauses for text in shown if one in text] == []


def test_everything_that_is_said_is_in_the_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = set()

    class Noted(dict[str, str]):
        def get(self, english: str, default: Any = None) -> Any:
            missing.update({english} - self.keys())
            return super().get(english, default)

    monkeypatch.setattr(language, "catalogue", lambda name: Language(name, ",", Noted(WORDS)))
    with spoken("de"):
        write_html(tmp_path / "report.html", evaluations.evaluation(("socket", "node"), starts=("none",), pairs=True))
    assert missing == set()


def test_the_script_has_its_words(page: str) -> None:
    words = book(page)["words"]
    assert words["Dark theme"] == "Dunkle Ansicht"
    assert words["{shown} of {cases} cases, {told} of {lines} operations"] == (
        "{shown} von {cases} Fällen, {told} von {lines} Operationen"
    )
    assert book(page)["locale"] == {"decimal": ",", "thousands": ".", "grouping": [3], "currency": ["", ""]}
    assert book(page)["kinds"]["point-to-point"] == "Punkt zu Punkt"


def test_an_english_page_carries_no_words(tmp_path: Path) -> None:
    write_html(tmp_path / "report.html", evaluations.evaluation())
    english = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<html lang="en">' in english
    assert (book(english)["words"], book(english)["locale"]) == ({}, None)


def test_tables_have_german_captions_columns_and_decimal_commas(page: str) -> None:
    assert "allreduce: Zeit nach Start, im Verhältnis zu der mit Start window" in captions(page, "begun")
    assert all(caption.endswith("je 4 Läufe, Intervalle mit mindestens 95 %") for caption in captions(page, "results"))
    first = part(page, "tables")["results"][0]
    assert first[1] == ["Nachrichtengröße", "alpha", "beta", "am schnellsten"]
    assert [row[-1] for row in first[2]] == ["alpha 2,00×", "~"]


def test_a_table_as_markdown(text: str) -> None:
    assert "| Nachrichtengröße | alpha | beta | am schnellsten |" in text
    assert "**Fälle ohne Werte oder mit weniger Werten**" in text
    assert "| 8 B | alpha | 502 ns (Ranks 20,0 ns auseinander (p90 40,0 ns); 2,0% verworfen) |" in text


def test_a_chart_in_german() -> None:
    with spoken("de"):
        whole = line(plots.picture(evaluations.evaluation()))
        spec = german(curves.chart(whole))
    assert spec["title"]["subtitle"] == ("2 Ranks (socket), Start: window, je 4 Läufe, Intervalle mit mindestens 95 %")
    band, _, points = spec["layer"]
    assert band["encoding"]["x"]["axis"]["title"] == "Nachrichtengröße"
    assert [one["title"] for one in points["encoding"]["tooltip"]] == [
        "Kandidat",
        "Größe",
        "typisch",
        "Intervall",
        "Läufe",
        "Messwerte",
    ]


def test_a_form_that_is_kept_is_kept_for_each_language() -> None:
    whole = line(plots.picture(evaluations.evaluation()))
    english = curves.chart(whole)
    with spoken("de"):
        other = curves.chart(whole)
    again = curves.chart(whole)
    assert english is not None
    assert other is not None
    assert again is not None
    assert again.form is english.form
    assert other.form != english.form


def test_axes_of_charts_have_decimal_commas() -> None:
    with spoken("de"):
        spec = german(drift.chart(plots.picture(evaluations.evaluation())))
        drawn = vl_convert.vegalite_to_svg(spec, format_locale=plots.number_locale())
    assert ">0,9×<" in drawn
    assert ">0.9×<" not in drawn


def test_panels_find_their_labels_whatever_the_decimal_mark() -> None:
    with spoken("de"):
        x = Panels(("one", "two"), (1.0, 3.0)).axis("Knoten", ["1", "3"])
        form = plots.form([alt.Chart(plots.data("points")).mark_point().encode(x=x)], 100)
        spec = {**form, "datasets": {"points": [{"x": 1.0}]}}
        drawn = vl_convert.vegalite_to_svg(spec, format_locale=plots.number_locale())
    assert (drawn.count(">1</text>"), drawn.count(">3</text>")) == (2, 2)


def test_figures_are_written_with_decimal_commas(tmp_path: Path) -> None:
    with spoken("de"):
        write_figures(tmp_path, evaluations.evaluation(), ["svg"])
    drawn = (tmp_path / "drift-campaign.svg").read_text(encoding="utf-8")
    assert "Wie schnell die Maschine während jedes Laufs war" in drawn
    assert ">0,9×<" in drawn


# --- commands ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "results" / "fake"
    campaigns.make_campaign(made, campaigns.slower_beta(1.5), launches=6, cases=campaigns.cases_of()[:2])
    return made


def printed(*words: str, **environment: str) -> str:
    result = CliRunner().invoke(application(), list(words), env=environment)
    assert result.exit_code == 0, result.exception
    return result.output


def test_a_report_is_written_in_the_language_asked_for(folder: Path) -> None:
    printed("report", "--language", "de", "--markdown")
    assert '<html lang="de">' in (folder / "report.html").read_text(encoding="utf-8")
    assert "| Nachrichtengröße |" in (folder / "report.md").read_text(encoding="utf-8")


def test_show_compare_and_advise_speak_it_too(folder: Path) -> None:
    assert "am schnellsten\n" in printed("show", "--language", "de")
    assert "Zeiten innerhalb von 6 Blöcken gepaart" in printed("compare", "--language", "de")
    assert "so lange wie der beste" in printed("advise", "--calls", "pingpong 8: 100", "--language", "de")


def test_the_environment_names_a_language(folder: Path) -> None:
    assert "A/A-Kontrolle: " in printed("compare", RANKBENCH_LANGUAGE="de")
    assert "A/A control: " in printed("compare")


@pytest.mark.parametrize("command", ["report", "show", "compare", "advise"])
def test_a_language_that_is_not_known_is_told_in_a_line(folder: Path, command: str) -> None:
    calls = ["--calls", "pingpong 8: 1"] if command == "advise" else []
    result = CliRunner().invoke(application(), [command, "--language", "tlh", *calls])
    assert isinstance(result.exception, RankbenchError)
    assert str(result.exception) == "language 'tlh': (allowed: de, en)"
