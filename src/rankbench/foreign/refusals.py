"""Finds in the output of a foreign program that it refused to run, as opposed to a crash.

Programs refuse a number of processes, an option or its value, or a library's level of threads. They print that, often
before their usage text, and exit with any code.
"""

from __future__ import annotations

import re

SENTENCES = (
    r"\brequires (?:exactly|at least|an even number|two or more)\b.*\bprocesses",
    r"^Number of processes is too small",
    r"\bPlease run this benchmark on more than \d+ nodes?\b",
    r"^ERROR: the given neighborhood radius\b",
    r"\bmust return MPI_THREAD_\w+",
    r"\bMPI_THREAD_\w+ is not (?:supported|provided)",
    r"^(?:CUDA|OPENACC|ROCM) support not (?:enabled|available)",
    r"^\S+: (?:invalid|unrecogni[sz]ed|illegal) option\b",
    r"^\S+: option requires an argument\b",
    r"\bunknown option '",
    r"^Invalid [\w ]+\[-",
    r"^Benchmark Does Not Support\b",
    r"^mpiperf: error: (?:Unknown|Incorrect|Expected|Too few)",
)
"""What OSU, MPIPerf, MPBench, SKaMPI and getopt say. An "invalid argument" may be an error of the library."""
SENTENCE = re.compile("|".join(f"(?:{pattern})" for pattern in SENTENCES))
USAGE = re.compile(r"\s*usage:\s+(?:\S*/)?(?P<program>\S+)", re.IGNORECASE)
MOST = 200
"""Most characters of a line in a message."""


def find_refusal(text: str, program: str) -> str:
    """Return the line in which a program says why it does not run, or that it printed its usage; empty: it did not."""
    lines = [line.strip() for line in text.splitlines()]
    if sentence := next((line for line in lines if SENTENCE.search(line)), ""):
        return sentence[:MOST]
    usage = next((line for line in lines if (match := USAGE.match(line)) and match["program"] == program), "")
    return f"printed how to use it and no results: {usage[:MOST]}" if usage else ""
