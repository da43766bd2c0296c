"""The command `compare` on a stored campaign of known truth."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes.campaigns import CANDIDATES, Truth, make_campaign, make_record
from wording import WORDING, find_lines, refuses

from rankbench.cli.commands.compare import compare
from rankbench.cli.display import console
from rankbench.model import Campaign, Candidate, Case, CaseStatus
from rankbench.store import Store
from rankbench.workflows.comparison import pair

GOLDEN = Path(__file__).parents[2] / "golden"


def make_truth(candidate: str, case: Case) -> Truth:
    """Beta takes twice the time with small messages and crashes in one large one."""
    if (candidate, case.form, case.operation, case.size_bytes) == ("beta", "nonblocking", "allreduce", 65536):
        return Truth(status=CaseStatus.CRASHED)
    return Truth(factor=2 if candidate == "beta" and case.size_bytes < 1024 else 1)


@pytest.fixture(scope="module")
def campaign_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return make_campaign(tmp_path_factory.mktemp("results") / "two", make_truth, launches=6)


@pytest.fixture(autouse=True)
def use_a_hundred_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "width", 100)


def read_lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the printed lines without trailing blanks."""
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_the_first_two_candidates_are_compared_by_default(
    campaign_store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    compare(str(campaign_store.folder))
    assert read_lines(capsys) == (GOLDEN / "compare.txt").read_text().splitlines()


def test_exchanged_candidates_have_inverted_ratios(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    compare(str(campaign_store.folder), "beta", "alpha")
    lines = read_lines(capsys)
    (row,) = find_lines(lines, "pingpong 8 B ")
    assert row.split()[-3:-1] == ["0.49×", "0.48–0.50×"]
    assert find_lines(lines, "alpha is slower in") == WORDING


def test_a_candidate_is_compared_with_its_twin(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    compare(str(campaign_store.folder), "alpha", "alpha (again)")
    (counted,) = find_lines(read_lines(capsys), "is slower in")
    assert counted == WORDING
    assert "in 0, faster in 0," in counted


def test_markup_in_names_is_not_interpreted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_campaign(tmp_path / "c", launches=1, candidates=("al[red]pha", "be[/]ta"))
    compare(str(store.folder))
    assert read_lines(capsys)[0] == WORDING


def test_one_block_has_neither_interval_nor_p_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare(str(make_campaign(tmp_path / "c", make_truth, launches=1).folder))
    rows = [line for line in read_lines(capsys) if line.startswith("pingpong")]
    assert [line.split()[-1] for line in rows] == ["~", "~"]


def test_candidates_without_common_cases_are_refused(tmp_path: Path) -> None:
    def lack(candidate: str, case: Case) -> Truth:
        return Truth(status=CaseStatus.LACKING if candidate == "beta" else CaseStatus.OK)

    folder = make_campaign(tmp_path / "c", lack, launches=2, control=False).folder
    with refuses():
        compare(str(folder))


def make_campaign_of_families() -> Campaign:
    """Return a campaign with a library in two settings."""
    tuned = Candidate(name="alpha tuned", library="alpha", settings={"x": "1"})
    base = make_record(candidates=("alpha", "beta", "gamma"))
    beta, gamma = base.libraries[1:]
    family = [msgspec.structs.replace(library, family="pair") for library in (beta, gamma)]
    return msgspec.structs.replace(base, candidates=[*base.candidates, tuned], libraries=[base.libraries[0], *family])


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("", ""), ("alpha", "beta")),
        (("beta", ""), ("beta", "alpha")),
        (("gamma", "alpha tuned"), ("gamma", "alpha tuned")),
    ],
)
def test_candidates_are_named_by_name_or_family(names: tuple[str, str], expected: tuple[str, str]) -> None:
    assert pair(make_campaign_of_families(), *names) == expected


def test_a_family_stands_for_its_only_candidate() -> None:
    base = make_record()
    family = [msgspec.structs.replace(library, family=library.name * 2) for library in base.libraries]
    assert pair(msgspec.structs.replace(base, libraries=family), "betabeta", "alphaalpha") == ("beta", "alpha")


@pytest.mark.parametrize("names", [("alpah", ""), ("pair", ""), ("beta", "beta")])
def test_unknown_and_ambiguous_candidates_are_refused(names: tuple[str, str]) -> None:
    with refuses():
        pair(make_campaign_of_families(), *names)


def test_a_campaign_with_one_candidate_cannot_be_compared() -> None:
    with refuses():
        pair(make_record(candidates=CANDIDATES[:1]), "", "")
