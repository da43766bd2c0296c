"""Finds in the output of a foreign program that it refused to run, as opposed to a crash.

Programs refuse a number of processes, an option or its value, or a library's level of threads. They print that, often
before their usage text, and exit with any code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

SENTENCES = (
    r"\brequires (?:exactly|at least|an even number|two or more)\b.*\bprocess(?:es)?\b",
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


class Ending(NamedTuple):
    """Why an output ends early."""

    kind: Literal["refused", "time", "crashed"]
    text: str


LIMITS = re.compile(
    r"DUE TO TIME LIMIT|TERM_RUNLIMIT|walltime \d+ exceeded|exceeded (?:wall ?time|time) limit|job killed: walltime|"
    r"apsched: (?:wall|request) time|time limit (?:was )?(?:reached|exceeded)|timeout: sending signal",
    re.IGNORECASE,
)
MEMORY = re.compile(
    r"oom[-_ ]?kill|Out Of Memory|exceeded .*memory limit|memory limit .*exceeded|Cannot allocate memory|bad_alloc|"
    r"(?:size|memory).{0,60}exceeds? .{0,40}memory limit|out of memory",
    re.IGNORECASE,
)
SIGNALS = re.compile(
    r"(?P<signal>Segmentation fault|Bus error|Floating[- ]point exception|Illegal instruction|Aborted|Killed)"
    r"|Signal: (?P<named>\w[\w ]*\w)(?: \(\d+\))?|exited on signal \d+ \((?P<exited>[\w ]+)\)",
)
ERRORS = re.compile(
    r"Fatal error in|BAD TERMINATION|MPI_ABORT was invoked|MPI_Abort|An error occurred in|has exited improperly|"
    r"\bAbort\(\d+\)|Assertion .* failed|\*\*\* .*\berror|unable to (?:start|launch|find|execute)|not found|"
    r"No such file or directory|There are not enough slots|exited with (?:non-zero|exit code)|Exited with exit code|"
    r"Unable to (?:create step|confirm|allocate)|[Tt]ransport retry count exceeded|No components were able",
)


def find_ending(texts: Iterable[str]) -> Ending | None:
    """Return why an output ends early, from the lines behind it: the line that explains most; None: they do not say."""
    lines = [text.strip() for text in texts]
    checks: tuple[tuple[Literal["refused", "time", "crashed"], re.Pattern[str]], ...] = (
        ("refused", SENTENCE),
        ("time", LIMITS),
        ("crashed", MEMORY),
    )
    for kind, pattern in checks:
        if line := next((line for line in lines if pattern.search(line)), ""):
            return Ending(kind, line[:MOST])
    if match := next((match for line in lines if (match := SIGNALS.search(line))), None):
        return Ending("crashed", next(filter(None, match.groups())))
    if line := next((line for line in lines if ERRORS.search(line)), ""):
        return Ending("crashed", line[:MOST])
    if line := next((line for line in lines if USAGE.match(line)), ""):
        return Ending("refused", f"printed how to use it: {line[:MOST]}")
    return None


def find_refusal(text: str, program: str) -> str:
    """Return the line in which a program says why it does not run, or that it printed its usage; empty: it did not."""
    lines = [line.strip() for line in text.splitlines()]
    if sentence := next((line for line in lines if SENTENCE.search(line)), ""):
        return sentence[:MOST]
    usage = next((line for line in lines if (match := USAGE.match(line)) and match["program"] == program), "")
    return f"printed how to use it and no results: {usage[:MOST]}" if usage else ""
