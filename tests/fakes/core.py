"""A stand-in for the core: the same arguments, job and stream, with times drawn from a model with known truth.

It is started once for all ranks, and needs only little of the standard library: tests start it thousands of times. A
test sets its behaviour in the file `behaviour` in its `mpicc`'s prefix: the text of a dictionary, read at every start.
"""

from __future__ import annotations

import math
import os
import sys
import time

TYPE_CHECKING = False  # For type checkers; importing typing would double the time of a start.
if TYPE_CHECKING:
    from typing import Any

USUAL: dict[str, Any] = {
    "factor": 1.0,  # factor of this library on all times
    "factor_in_turns": 1.0,  # and on times that it measures while other launches wait
    "times_ns": {},  # wrong times of cases such as wait-up.window
    "study": "",  # records of its study of the clocks
    "noise": 0.01,  # relative standard deviation between launches, and between samples
    "pause_s": 0.0,  # duration of one case
    "waits_for": "",  # file without which no case ends
    "crash": [],  # cases such as allreduce.8 in which it ends by SIGSEGV
    "survives": 0,  # passes over such a case that it survives before
    "hang": [],
    "hangs_from": 0,  # number of the first launch that hangs in its first case, as all later ones do; 0: none
    "wrong": [],  # operations that deliver wrong data, with a datatype or an option too: bcast.vector, put.epoch=fence
    "evidence": False,  # it streams what was received instead of the expected data
    "lacking": {},  # missing calls, by operation and form: {"scan.persistent": "MPI_Scan_init"}
    "torn": [],  # it is killed while it writes the line of this case
    "dead": False,  # it ends before it prints anything
    "prints_bytes": 0,  # text that each launch except checks prints between two lines
    "linger": False,  # it leaves a process behind that ignores SIGTERM
    "options": {},  # options in its description, by operation
    "cpus": [],  # CPUs on which its ranks report that they run, such as ["0-1", "1"]; otherwise those of the binding
    "hosts": [],  # nodes of its ranks in their reports; otherwise those of its launcher
    "moved": {},  # rank that left its CPU during a case: {"allreduce.8": "rank 1 from CPU 1 to CPU 0"}
    "exchange_ns": 50.0,  # time between its two CPUs in the state of the machine; 0: it cannot print a state
    "state_s": 0.0,  # time to print the state
    "waited_s": 0.0,  # time that its ranks waited for their turns
    "dies_with": "-",  # it does not start if this variable is set
    "dead_in_turns": False,  # it does not start while other launches run
    "killed_in_turns": False,  # its launcher is killed before any output while other launches run
    "busy_s": 0.0,  # CPU time that its ranks used while waiting
}


KEYS = ("operation", "form", "bytes", "datatype", "start", "cache", "buffers", "pages", "alignment", "root", "samples",
        "tries", "rse", "interval", "least", "fill_s", "limit_s", "clock", "sync", "ranks", "calls",
        "patience")  # fmt: skip
"""Keys of a job, except those that choose an operation's options."""


def compute_truth_ns(operation: str, size_bytes: int) -> float:
    """Return the model's time of a case at factor 1."""
    return 200.0 + 37.0 * len(operation) + size_bytes / 8


def read_behaviour(prefix: str) -> dict[str, Any]:
    """Return the behaviour set by the test."""
    path = f"{prefix}/behaviour"
    return USUAL | (eval(read_text(path)) if os.path.exists(path) else {})


def read_text(path: str) -> str:
    """Return what is in a file."""
    with open(path) as file:
        return file.read()


def encode(value: Any) -> str:
    """Return a value as JSON without spaces, as the core writes it. Importing json would take half of the start."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{encode(key)}:{encode(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(encode, value)) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def draw_gauss(deviation: float) -> float:
    """Return a number from a normal distribution around 1 (Box and Muller, 1958)."""
    turn, length = (int.from_bytes(os.urandom(6), "big") / (1 << 48) for _ in range(2))
    return 1.0 + deviation * math.cos(math.tau * turn) * math.sqrt(-2 * math.log(1 - length))


def parse_arguments(words: list[str]) -> dict[str, str]:
    """Return options with their values; switches have none."""
    options = [index for index, word in enumerate(words) if word.startswith("--")]
    return {words[i]: words[i + 1] if i + 1 < len(words) and i + 1 not in options else "" for i in options}


def make_row(launches: int, number: int) -> list[int]:
    """Return the order of so many launches in a row of their Williams square, by their places."""
    steps = [(i + 1) // 2 if i % 2 else -(i // 2) for i in range(launches)]
    if number % (launches * (1 + launches % 2)) >= launches:
        steps.reverse()
    return [(step + number) % launches for step in steps]


def find_slot(turns: str, begun: int) -> dict[str, int]:
    """Return the place of a turn in its round, and its predecessor, after a launch has begun so many turns."""
    if not turns:
        return {}
    place, launches, cases = map(int, turns.partition(":")[0].split("/"))

    def make_order(number: int) -> list[int]:
        return make_row(launches, number // cases + number % cases)

    position = make_order(begun).index(place)
    after = make_order(begun)[position - 1] if position else make_order(max(0, begun - 1))[-1]
    return {"position": position, "after": after}


def read_jobs(path: str) -> list[dict[str, str]]:
    """Return the cases of a job file, each with the settings of the job."""
    head, *lines = read_text(path).splitlines()
    assert head == "rankbench-job 1", head
    for_all = [parse_tokens(line) for line in lines if line.startswith("set ")]
    return [dict(*for_all) | parse_tokens(line) for line in lines if line.startswith("case ")]


def parse_tokens(line: str) -> dict[str, str]:
    """Return the values of a line by key."""
    return dict(token.split("=") for token in line.split()[1:])


class Stream:
    """The lines that the core writes, each flushed."""

    def __init__(self, path: str) -> None:
        self.file = open(path, "w")  # noqa: SIM115 - open until the process ends
        self.begun: dict[str, int] = {}

    def write(self, **record: Any) -> None:
        """Write one record."""
        self.write_text_part(encode(record) + "\n")

    def write_text_part(self, text: str) -> None:
        """Write text as it is."""
        self.file.write(text)
        self.file.flush()


def list_cpus(ranks: int) -> list[str]:
    """Return the CPUs of each rank as bound by its launcher, otherwise one after the other."""
    kind, _, listed = os.environ.get("FAKE_BINDING", "").partition(":")
    of_a_node = [cpus.replace("+", ",") for cpus in listed.split(",")] if kind == "user" else map(str, range(ranks))
    return (list(of_a_node) * ranks)[:ranks]


def introduce(stream: Stream, prefix: str, version: str, ranks: int, settings: dict[str, Any]) -> None:
    """Write the records before the first case."""
    hosts = settings["hosts"] or os.environ.get("FAKE_HOSTS", "fake").split(",")
    tsc = {"name": "tsc", "usable": True, "reason": "invariant", "resolution_ns": 1, "cost_ns": 20.0}
    wtime = {"name": "MPI_Wtime", "usable": False, "reason": "it steps"}
    stream.write(record="launch", format=1, ranks=ranks, library_version=f"MPICH Version: {version}",
                 mpi_version="4.1", core="0.2.0", source="tsc", source_reason="finest step",
                 resolution_ns=1, cost_ns=20.0, synchronisation="tree", last_level_cache_bytes=1 << 25,
                 sources=[tsc, wtime])  # fmt: skip
    for rank, allowed in enumerate(settings["cpus"] or list_cpus(ranks)):
        host = hosts[rank * len(hosts) // ranks]
        stream.write(record="rank", rank=rank, host=host, cpu=rank, cpus=allowed, clock=f"boot-{host}",
                     libmpi=f"{prefix}/lib/libmpi.so.12", core=rank, socket=0, numa=0)  # fmt: skip


def report_files(stream: Stream, prefix: str, path: str) -> None:
    """Write the library's files: its libmpi, where the prefix has one, and those that a list names."""
    libmpi = f"{prefix}/lib/libmpi.so.12"
    lines = read_text(path).splitlines()
    patterns = [line.removeprefix("file ") for line in lines if line.startswith("file ")]
    if not os.path.exists(libmpi) and not patterns:
        return
    import glob
    import hashlib

    listed = {file for pattern in patterns for file in glob.glob(os.path.expanduser(pattern)) if os.path.isfile(file)}
    for file in sorted({libmpi, *listed}):
        if os.path.exists(file):
            facts = os.stat(file)
            with open(file, "rb") as opened:
                digest = hashlib.sha256(opened.read()).hexdigest()
            stream.write(record="file", path=file, bytes=facts.st_size, modified_ns=facts.st_mtime_ns,
                         inode=facts.st_ino, listed=file in listed, sha256=digest)  # fmt: skip


def count_bytes(stream: Stream, settings: dict[str, Any]) -> None:
    """Write the traffic of the interface of each node while a check sent 1000 bytes between nodes."""
    hosts = settings["hosts"] or os.environ.get("FAKE_HOSTS", "fake").split(",")
    probe = 1000 if len(hosts) > 1 else 0
    device = {"name": "eth0", "kind": "Ethernet", "state": "active", "rate": "", "driver": "x"}
    for host in hosts:
        devices = [device | {"sent_bytes": probe + 7, "received_bytes": probe + 9}]
        stream.write(record="node", host=host, probe_bytes=probe, devices=devices)


def draw_times(case: dict[str, str], settings: dict[str, Any]) -> list[float]:
    """Return the samples of a case: the model's truth, with the scatter of this launch and of each sample."""
    operation, ranks = case["operation"], int(os.environ["FAKE_RANKS"])
    known = {"empty": 20.0, "wait-null": 25.0, "wait-up": 1000.0 * ranks + 30.0}
    usual = known.get(operation, compute_truth_ns(operation, int(case["bytes"])) * settings["factor"])
    typical = settings["times_ns"].get(f"{operation}.{case['start']}", usual)
    typical *= settings["factor_in_turns"] if settings["turns"] else 1.0
    lucky = typical * draw_gauss(settings["noise"])
    return [lucky * max(0.1, draw_gauss(settings["noise"])) for _ in range(int(case["samples"]))]


def run_case(stream: Stream, index: int, case: dict[str, str], settings: dict[str, Any]) -> bool:
    """Run one case; return whether its data were correct."""
    name = f"{case['operation']}.{case['bytes']}"
    stream.write(record="begin", case=index, hop_ns=0.0, **find_slot(settings["turns"], index))
    time.sleep(settings["pause_s"])
    while settings["waits_for"] and not os.path.exists(settings["waits_for"]):
        time.sleep(0.01)
    stream.begun[name] = stream.begun.get(name, 0) + 1
    if name in settings["crash"] and stream.begun[name] > settings["survives"]:
        end_by_signal("SIGSEGV")
    if name in settings["hang"] or settings["hangs"]:
        time.sleep(1000)
    options = {key: case[key] for key in case if key not in KEYS}
    ways = (case["bytes"], case["datatype"], *(f"{key}={value}" for key, value in options.items()))
    wrong = any(f"{case['operation']}.{way}" in settings["wrong"] for way in ways)
    call = settings["lacking"].get(f"{case['operation']}.{case['form']}", "")
    status = "lacking" if call else "wrong-data" if wrong else "ok"
    reason = f"{call} is not in this library" if call else "byte 3 is 7, expected 9" if wrong else ""
    samples = draw_times(case, settings) if status == "ok" and not settings["probes"] else []
    ranks = int(os.environ["FAKE_RANKS"])
    over_ranks = {"rank": -1, "time_ns": samples, "last_rank": [0] * len(samples), "late": [0], "overrun": [],
                  "skew_ns": [30] * len(samples), "bound_ns": [], "error_ns": []}  # fmt: skip
    views = [over_ranks | {"rank": rank, "last_rank": []} for rank in range(ranks if case.get("ranks") == "all" else 0)]
    if wrong and settings["evidence"]:
        stream.write_text_part(encode({
            "record": "evidence", "case": index, "rank": 1, "root": 0, "run": 12, "received_bytes": 4, "wrong_bytes": 1,
            "first_wrong": 3, "begin": 0, "received": "00010207", "expected": "00010209", "statuses": [],
        }) + "\n")  # fmt: skip
    line = encode({
        "record": "case", "case": index, "status": status, "reason": reason, "cause": "",
        "operation": case["operation"], "form": case["form"],
        "bytes": int(case["bytes"]), "datatype": case["datatype"], "start": case["start"],
        "cache": case.get("cache", "warm"), "buffers": case.get("buffers", "separate"),
        "pages": case.get("pages", "touched"), "alignment": int(case.get("alignment", 0)),
        "root": int(case.get("root", 0)), "options": options,
        "ranks": ranks, "taken": len(samples), "valid": max(0, len(samples) - 1),
        "moved_bytes": ranks * int(case["bytes"]), "moved_messages": ranks, "pure_ns": 0, "compute_ns": 0,
        "growth_bytes": 0, "spread_ns": 0, "first_ns": 0, "second_ns": 0,
        "late": min(1, len(samples)), "overrun": 0, "sync_bound_ns": 0, "drift_ns": 0, "synchronisations": 2,
        "stopped": "samples" if samples else "",
        "calls": 1, "cost_ns": 10.0 if samples else 0.0, "first_window_ns": 0, "last_window_ns": 0,
        "estimate_ns": 0.0, "tolerance_ns": 0, "rank_share": 1.0,
        "printed_bytes": 0, "leaked_bytes": 0, "waited_ns": 0, "timed_ns": 0,
        "moved": settings["moved"].get(name, ""), "fallback": "",
        "grid": [], "order": [], "hops": 0, "series": [over_ranks, *views] if samples else [],
    }) + "\n"  # fmt: skip
    if name in settings["torn"]:
        stream.write_text_part(line[: len(line) // 2])
        end_by_signal("SIGKILL")
    stream.write_text_part(line)
    return not wrong


def count_launch(prefix: str) -> int:
    """Return how many launches of this library have measured, including this one."""
    with open(f"{prefix}/launches", "a") as file:
        file.write("x")
        return file.tell()


def print_state(exchange_ns: float) -> int:
    """Print the state of a machine of two CPUs."""
    if not exchange_ns:
        print("fake core: set to know no state", file=sys.stderr)
        return 2
    print(make_state(exchange_ns))
    return 0


def make_state(exchange_ns: float) -> str:
    """Return the state of a machine of two CPUs in the core's format."""
    pair = {"cpus": [0, 1], "median_ns": exchange_ns, "min_ns": 0.8 * exchange_ns}
    return encode({"cpus": [0, 1], "exchange": [pair], "copy_bytes_per_s": 2e10, "frequency_hz": [2e9, None],
                       "stolen_s": 0.5, "load": 0.1, "running": 0})  # fmt: skip


def render_description(options: dict[str, list[dict[str, Any]]]) -> str:
    """Return the core's description, with options of some operations."""
    import json

    parsed = json.loads(read_text(f"{os.path.dirname(__file__)}/description.json"))
    for operation in parsed["operations"]:
        operation |= {"options": options[operation["name"]]} if operation["name"] in options else {}
    return json.dumps(parsed)


def end_by_signal(name: str) -> None:
    """End by a signal. Its module is imported here, since that takes a tenth of the start."""
    import signal

    os.kill(os.getpid(), getattr(signal, name))


def leave_process() -> None:
    """Fork a process that ignores SIGTERM into a session of its own."""
    import signal

    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(1000)
        os._exit(0)


def main(prefix: str, version: str, words: list[str]) -> int:
    """Do what the real core does."""
    options = parse_arguments(words)
    settings = read_behaviour(prefix) | {"probes": "--probe" in options, "turns": options.get("--turns", "")}
    if "--describe" in options:
        print(render_description(settings["options"]))
        return 0
    if "--state" in options:
        time.sleep(settings["state_s"])
        return print_state(settings["exchange_ns"])
    if settings["dead"] or settings["dies_with"] in os.environ or (settings["dead_in_turns"] and "--turns" in options):
        print("fake core: set to be dead", file=sys.stderr)
        return 1
    if settings["killed_in_turns"] and "--turns" in options:
        end_by_signal("SIGKILL")
    if settings["linger"]:
        leave_process()
    ranks = int(os.environ["FAKE_RANKS"])
    stream = Stream(options.get("--stream", "/dev/null"))
    if "--clocks" in options:
        stream.write_text_part(settings["study"])
        return 0
    introduce(stream, prefix, version, ranks, settings)
    if "--files" in options:
        report_files(stream, prefix, options["--files"])
    cases = read_jobs(options["--job"]) if "--job" in options else []
    late = settings["hangs_from"]
    settings["hangs"] = bool(cases and late and count_launch(prefix) >= late)
    if cases and settings["prints_bytes"]:
        print("fake core: warning\n" + "x" * settings["prints_bytes"] + "\nfake core: last line", flush=True)
    if "--check" in options:
        print(f"MPICH Version: {version}\none world of {ranks} ranks, data right")
        count_bytes(stream, settings)
    right = [run_case(stream, index, case, settings) for index, case in enumerate(cases)]
    stream.write(record="end", cases=len(cases), hop_ns=0.0, waited_s=settings["waited_s"], busy_s=settings["busy_s"])
    return 0 if all(right) else 3
