"""The command `advise` on a stored campaign of known truth."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import imports
from fakes.campaigns import Truth, make_campaign
from wording import WORDING, find_lines, refuses

from rankbench.cli.commands.advise import advise
from rankbench.cli.display import console
from rankbench.imports import ImportRequest, Source, import_campaigns
from rankbench.model import Case, CaseStatus
from rankbench.store import Store

CALLS = "allreduce 8: 1000, pingpong 1M: 2, scan 8: 4"
MEASURED = "allreduce 8: 1000, pingpong 64K: 2"
SHARES = "allreduce 8: 50%, pingpong 64K: 50%"


def make_truth(candidate: str, case: Case) -> Truth:
    """Beta takes twice the time with small messages."""
    return Truth(noise=0, spread=0, factor=2 if candidate == "beta" and case.size_bytes < 1024 else 1)


@pytest.fixture(scope="module")
def campaign_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return make_campaign(tmp_path_factory.mktemp("results") / "two", make_truth, launches=6)


@pytest.fixture(autouse=True)
def use_wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "width", 120)


def test_calls_are_summed_and_candidates_compared(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    advise(campaign_store.folder, calls=CALLS)
    out = capsys.readouterr().out
    assert out == WORDING
    assert "has the lowest" not in out
    assert "/ lowest" not in out


def test_calls_without_values_have_no_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_campaign(tmp_path / "c", lambda *_: Truth(status=CaseStatus.REFUSED), launches=2).folder
    advise(folder, calls="allreduce 8: 1")
    assert capsys.readouterr().out == WORDING


def test_calls_without_a_message_have_no_size(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    advise(campaign_store.folder, calls="barrier 8: 100")
    out = " ".join(capsys.readouterr().out.split())
    assert "barrier 100 measured" in out
    assert "extrapolated" not in out


def test_a_misspelt_operation_is_reported_first(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    console.width = 300
    advise(campaign_store.folder, calls="alreduce 8: 1, barrier: 1")
    assert capsys.readouterr().out.splitlines()[0] == WORDING


def test_each_measured_call_has_a_recommendation(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    advise(campaign_store.folder, calls=MEASURED)
    out = capsys.readouterr().out
    assert find_lines(out, "has the lowest total") == WORDING
    assert "extrapolated" not in out


def test_calls_of_a_profile_that_are_not_counted_are_listed(
    campaign_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = tmp_path / "ipm.xml"
    profile.write_text(
        '<ipm_job_profile>\n<task mpi_rank="0">\n<hent call="MPI_Allreduce" bytes="8" count="10" >1</hent>\n'
        '<hent call="MPI_Comm_dup" bytes="0" count="1" >1</hent>\n</task>\n'
    )
    advise(campaign_store.folder, profile=profile)
    out = capsys.readouterr().out
    assert "allreduce 8 B 10 measured" in " ".join(out.split())
    assert find_lines(out, "Not counted") == WORDING


@pytest.mark.parametrize("calls", ["", "scan 8: 1", "allreduce 8: x", "allreduce: 3", "barrier: 2, bandwidth: 3"])
def test_unknown_calls_are_refused_in_one_line(calls: str, campaign_store: Store) -> None:
    with refuses():
        advise(campaign_store.folder, calls=calls)


@pytest.mark.parametrize(("source", "beta"), [("alpha", "1.5"), ("beta", "1.33")])
def test_shares_are_those_of_the_candidate_they_were_measured_with(
    source: str, beta: str, campaign_store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beta takes twice the time with small messages: 0.5 and 0.5 are 1 and 0.5, or 0.25 and 0.5 with the other one."""
    advise(campaign_store.folder, calls=SHARES, measured_with=source)
    out = capsys.readouterr().out
    assert [*find_lines(out, "for calls that take"), *find_lines(out, "Time against")] == WORDING
    assert f": beta {beta}" in out
    assert "allreduce 8 B 50% measured" in " ".join(out.split())


def test_shares_of_an_unknown_candidate_are_refused(campaign_store: Store) -> None:
    with refuses():
        advise(campaign_store.folder, calls="allreduce 8: 50%", measured_with="gamma")


def test_calls_and_profile_exclude_each_other(campaign_store: Store, tmp_path: Path) -> None:
    with refuses():
        advise(campaign_store.folder, calls="allreduce 8: 1", profile=tmp_path)


def test_a_profile_is_answered_by_imported_results_of_several_tools(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """OSU's collective and IMB's round trip, which two ranks of the four make."""
    sources = []
    for library, time_us in (("openmpi", 2.5), ("mpich", 3.5)):
        for name, text in (("osu", format_allreduce(time_us)), ("imb", format_pingpong(time_us))):
            path = tmp_path / f"{name}-{library}.out"
            path.write_text(text)
            sources.append(Source(path, library))
    import_campaigns(ImportRequest(sources, ranks=4), tmp_path / "imported")
    profile = tmp_path / "app.ipm.xml"
    profile.write_text(IPM)
    advise(tmp_path / "imported", profile=profile)
    assert capsys.readouterr().out == WORDING


IPM = """\
<?xml version="1.0" encoding="iso-8859-1"?>
<ipm_job_profile>
<task ipm_version="2.0.6" mpi_rank="0" mpi_size="1">
<hash nlog="1" nkey="2" >
<hent key="1" call="MPI_Allreduce" bytes="8" orank="0" region="0" count="10" >1.0e-4 1.0e-6 2.0e-5</hent>
<hent key="4" call="MPI_Send" bytes="8" orank="0" region="0" count="5" >1.0e-4 1.0e-6 2.0e-5</hent>
</hash>
</task>
</ipm_job_profile>
"""


def format_allreduce(time_us: float) -> str:
    title = "\n# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n"
    return imports.format_osu(title, (4, time_us), (8, time_us + 0.1))


def format_pingpong(time_us: float) -> str:
    return f"""\
#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         {time_us:.2f}         0.00
            8         1000         {time_us + 0.1:.2f}         2.00
# All processes entering MPI_Finalize
"""
