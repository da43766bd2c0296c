"""A stand-in for the core: the same arguments, job and stream, with times drawn from a model whose truth is known.

It is run by its path, once for all ranks, and needs the standard library only. Beside its `mpicc`'s prefix lies
`behaviour.json`, by which a test tells it what to do; it is read at every start.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

USUAL: dict[str, Any] = {
    "factor": 1.0,  # all times of this library are this often the model's
    "times_ns": {},  # times of cases such as wait-up.window that are not as they should be
    "study": "",  # what it streams of a study of the clocks
    "noise": 0.01,  # relative standard deviation from launch to launch, and from sample to sample
    "pause_s": 0.0,  # how long one case takes
    "crash": [],  # cases such as allreduce.8 in which it ends by SIGSEGV
    "hang": [],
    "wrong": [],  # delivers wrong data
    "torn": [],  # is killed while it writes the line of this case
    "dead": False,  # ends before it says anything
    "linger": False,  # leaves a process behind that ignores SIGTERM
    "exchange_ns": 50.0,  # between its two CPUs, as it tells the state of the machine; 0: it cannot tell a state
}


def truth_ns(operation: str, size_bytes: int) -> float:
    """Return the model's time of a case at factor 1."""
    return 200.0 + 37.0 * len(operation) + size_bytes / 8


def behaviour(prefix: Path) -> dict[str, Any]:
    """Return what the test wants."""
    told = prefix / "behaviour.json"
    return USUAL | (json.loads(told.read_text()) if told.exists() else {})


def arguments(words: list[str]) -> dict[str, str]:
    """Return options with their values; switches have none."""
    options = [index for index, word in enumerate(words) if word.startswith("--")]
    return {words[i]: words[i + 1] if i + 1 < len(words) and i + 1 not in options else "" for i in options}


def jobs(path: str) -> list[dict[str, str]]:
    """Return the cases of a job file, each with what the job sets for all of them."""
    head, *lines = Path(path).read_text().splitlines()
    assert head == "rankbench-job 1", head
    for_all = [tokens(line) for line in lines if line.startswith("set ")]
    return [dict(*for_all) | tokens(line) for line in lines if line.startswith("case ")]


def tokens(line: str) -> dict[str, str]:
    """Return the values of a line by key."""
    return dict(token.split("=") for token in line.split()[1:])


class Stream:
    """The lines that the core writes, each flushed."""

    def __init__(self, path: str) -> None:
        self.file = Path(path).open("w")  # noqa: SIM115 - open until the process ends

    def write(self, **record: Any) -> None:
        """Write one record."""
        self.text(json.dumps(record) + "\n")

    def text(self, text: str) -> None:
        """Write text as it is."""
        self.file.write(text)
        self.file.flush()


def introduce(stream: Stream, prefix: Path, version: str, ranks: int) -> None:
    """Write what the core says before its first case."""
    tsc = {"name": "tsc", "usable": True, "reason": "invariant", "resolution_ns": 1, "cost_ns": 20.0}
    wtime = {"name": "MPI_Wtime", "usable": False, "reason": "it steps"}
    stream.write(record="launch", format=2, ranks=ranks, library_version=f"MPICH Version: {version}", mpi_version="4.1",
                 core="0.2.0", source="tsc", source_reason="finest step", resolution_ns=1, cost_ns=20.0,
                 synchronisation="tree", last_level_cache_bytes=1 << 25, sources=[tsc, wtime])  # fmt: skip
    for rank in range(ranks):
        stream.write(record="rank", rank=rank, host="fake", cpu=rank, cpus=str(rank), clock="one",
                     libmpi=str(prefix / "lib" / "libmpi.so.12"))  # fmt: skip


def times(case: dict[str, str], told: dict[str, Any], launch: random.Random) -> list[float]:
    """Return the samples of a case: the model's truth, this launch's luck and each sample's own."""
    operation, ranks = case["operation"], int(os.environ["FAKE_RANKS"])
    known = {"empty": 20.0, "wait-null": 25.0, "wait-up": 1000.0 * ranks + 30.0}
    usual = known.get(operation, truth_ns(operation, int(case["bytes"])) * told["factor"])
    typical = told["times_ns"].get(f"{operation}.{case['start']}", usual)
    lucky = typical * launch.gauss(1.0, told["noise"])
    return [lucky * max(0.1, launch.gauss(1.0, told["noise"])) for _ in range(int(case["samples"]))]


def run_case(stream: Stream, index: int, case: dict[str, str], told: dict[str, Any], launch: random.Random) -> bool:
    """Run one case; return whether its data were right."""
    name = f"{case['operation']}.{case['bytes']}"
    stream.write(record="begin", case=index)
    time.sleep(told["pause_s"])
    if name in told["crash"]:
        os.kill(os.getpid(), signal.SIGSEGV)
    if name in told["hang"]:
        time.sleep(1000)
    wrong = name in told["wrong"]
    samples = [] if wrong else times(case, told, launch)
    ranks = int(os.environ["FAKE_RANKS"])
    over_ranks = {"rank": -1, "time_ns": samples, "last_rank": [0] * len(samples), "late": [0], "overrun": [],
                  "skew_ns": [30] * len(samples), "bound_ns": []}  # fmt: skip
    views = [over_ranks | {"rank": rank, "last_rank": []} for rank in range(ranks if case.get("ranks") == "all" else 0)]
    line = json.dumps({
        "record": "case", "case": index, "status": "wrong-data" if wrong else "ok",
        "reason": "byte 3 is 7, expected 9" if wrong else "", "operation": case["operation"], "form": case["form"],
        "bytes": int(case["bytes"]), "datatype": case["datatype"], "start": case["start"],
        "cache": case.get("cache", "warm"), "buffers": case.get("buffers", "separate"),
        "pages": case.get("pages", "touched"), "alignment": int(case.get("alignment", 0)),
        "root": int(case.get("root", 0)), "ranks": ranks, "taken": len(samples), "valid": max(0, len(samples) - 1),
        "late": min(1, len(samples)), "overrun": 0, "sync_bound_ns": 0, "drift_ns": 0, "synchronisations": 2,
        "stopped": "" if wrong else "samples", "migrated": False, "series": [] if wrong else [over_ranks, *views],
    }) + "\n"  # fmt: skip
    if name in told["torn"]:
        stream.text(line[: len(line) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    stream.text(line)
    return not wrong


def tell_state(exchange_ns: float) -> int:
    """Print the state of a machine of two CPUs."""
    if not exchange_ns:
        print("fake core: told to know no state", file=sys.stderr)
        return 2
    pair = {"cpus": [0, 1], "median_ns": exchange_ns, "min_ns": 0.8 * exchange_ns}
    print(json.dumps({"cpus": [0, 1], "exchange": [pair], "copy_bytes_per_s": 2e10, "frequency_hz": [2e9, None],
                      "stolen_s": 0.5, "load": 0.1, "running": 0}))  # fmt: skip
    return 0


def leave_a_process_behind() -> None:
    """Fork a process into a session of its own that ignores SIGTERM."""
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(1000)
        os._exit(0)


def main(prefix: Path, version: str, words: list[str]) -> int:
    """Do what the real core does."""
    options, told = arguments(words), behaviour(prefix)
    if "--describe" in options:
        print((Path(__file__).parent / "description.json").read_text())
        return 0
    if "--state" in options:
        return tell_state(told["exchange_ns"])
    if told["dead"]:
        print("fake core: told to be dead", file=sys.stderr)
        return 1
    if told["linger"]:
        leave_a_process_behind()
    ranks = int(os.environ["FAKE_RANKS"])
    stream = Stream(options.get("--stream", "/dev/null"))
    if "--clocks" in options:
        stream.text(told["study"])
        return 0
    introduce(stream, prefix, version, ranks)
    cases = jobs(options["--job"]) if "--job" in options else []
    if "--check" in options:
        print(f"MPICH Version: {version}\none world of {ranks} ranks, data right")
    launch = random.Random()
    right = [run_case(stream, index, case, told, launch) for index, case in enumerate(cases)]
    stream.write(record="end", cases=len(cases))
    return 0 if all(right) else 3


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
