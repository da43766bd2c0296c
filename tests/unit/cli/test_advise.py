"""The command `advise` on a stored campaign of known truth."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fakes import imports
from fakes.campaigns import Truth, make_campaign

from rankbench.cli.commands.advise import advise
from rankbench.cli.display import console
from rankbench.imports import ImportRequest, Source, import_campaigns
from rankbench.model import Case, CaseStatus, RankbenchError
from rankbench.store import Store


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
    advise(campaign_store.folder, calls="allreduce 8: 1000, pingpong 1M: 2, scan 8: 4")
    out = " ".join(capsys.readouterr().out.split())
    assert "socket: 2 calls" in out
    assert "pingpong 1 MiB 2 from 64 KiB, in proportion" in out
    assert "allreduce 8 B 1,000 measured" in out
    assert "No recommendation: " in out
    assert 'is extrapolated: pingpong from 64 KiB to 1 MiB. Measure it: sizes = "..., 1M".' in out
    assert "has the lowest total" not in out
    assert "time / lowest" not in out
    assert "Not included, because not measured: scan 8 B." in out
    assert out.endswith("the times that ranks wait for each other are not included.")


def test_calls_without_values_have_no_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_campaign(tmp_path / "c", lambda *_: Truth(status=CaseStatus.REFUSED), launches=2).folder
    advise(folder, calls="allreduce 8: 1")
    out = " ".join(capsys.readouterr().out.split())
    assert "No candidate has values for all calls of the mix." in out
    assert "alpha has no value for allreduce 8 B and is not included." in out


def test_calls_without_a_message_have_no_size(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    advise(campaign_store.folder, calls="barrier 8: 100")
    out = " ".join(capsys.readouterr().out.split())
    assert "barrier 100 measured" in out
    assert "extrapolated" not in out


def test_a_misspelt_operation_is_reported_first(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    console.width = 300
    advise(campaign_store.folder, calls="alreduce 8: 1, allreduce 8: 1")
    assert capsys.readouterr().out.splitlines()[0] == "alreduce was not measured; did you mean allreduce?"


def test_each_measured_call_has_a_recommendation(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    advise(campaign_store.folder, calls="allreduce 8: 1000, pingpong 64K: 2")
    out = " ".join(capsys.readouterr().out.split())
    assert "For these calls, alpha has the lowest total:" in out
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
    out = " ".join(capsys.readouterr().out.split())
    assert "allreduce 8 B 10 measured" in out
    assert "Not counted, since no operation corresponds to them: MPI_Comm_dup." in out


@pytest.mark.parametrize(
    ("calls", "says"),
    [
        ("", 'no calls given; use --calls "allreduce 8: 1000", --profile FILE, or a table [calls] in the plan'),
        ("scan 8: 1", "campaign two measured none of scan 8 B; measured: allreduce, bandwidth, barrier and pingpong"),
        (
            "allreduce 8: x",
            "--calls: found 'allreduce 8: x', expected a call such as `allreduce 8: 1000`, "
            "`bcast.nonblocking 64K: 20`, `barrier: 5` or `allreduce 8-64: 60%`",
        ),
        ("allreduce: 3", "--calls: allreduce has sizes; say which, such as `allreduce 8` or `8-64`"),
        ("barrier: 2, bandwidth: 3", "--calls: bandwidth has sizes; say which, such as `bandwidth 8` or `8-64`"),
    ],
)
def test_unknown_calls_are_refused_in_one_line(calls: str, says: str, campaign_store: Store) -> None:
    with pytest.raises(RankbenchError) as error:
        advise(campaign_store.folder, calls=calls)
    assert str(error.value) == says


@pytest.mark.parametrize(("source", "beta"), [("alpha", "1.5"), ("beta", "1.33")])
def test_shares_are_those_of_the_candidate_they_were_measured_with(
    source: str, beta: str, campaign_store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beta takes twice the time with small messages: 0.5 and 0.5 are 1 and 0.5, or 0.25 and 0.5 with the other one."""
    advise(campaign_store.folder, calls="allreduce 8: 50%, pingpong 64K: 50%", measured_with=source)
    out = " ".join(capsys.readouterr().out.split())
    assert f"for calls that take 1.00 s with {source}. Time against alpha: beta {beta}" in out
    assert "allreduce 8 B 50% measured" in out


def test_shares_of_an_unknown_candidate_are_refused(campaign_store: Store) -> None:
    with pytest.raises(RankbenchError) as error:
        advise(campaign_store.folder, calls="allreduce 8: 50%", measured_with="gamma")
    assert str(error.value).startswith(
        '--calls-measured-with: found "gamma", expected one of the candidates: alpha, beta'
    )


def test_calls_and_profile_exclude_each_other(campaign_store: Store, tmp_path: Path) -> None:
    with pytest.raises(RankbenchError) as error:
        advise(campaign_store.folder, calls="allreduce 8: 1", profile=tmp_path)
    assert str(error.value) == "--calls and --profile both say what is called; name one of them"


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
    out = " ".join(capsys.readouterr().out.split())
    (mix,) = re.findall(r"ranks-4: 2 calls (.*?)ranks-2", out) or [out]
    assert "allreduce 8 B 10 measured 26.0 µs 36.0 µs" in mix
    assert "pingpong 8 B 5 measured 13.0 µs 18.0 µs" in mix


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
