"""Chooses from the log of a failed launch the line that helps, where its cause is unknown. Pure.

Launchers frame what went wrong: with rules and banners, with the source files in which they noticed it, and with lists
of what else it might be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

RULE = re.compile(r"^ ?-{20,}[ ]*$", re.MULTILINE)
"""What Open MPI prints before and after each text."""
FRAME = re.compile(
    r"^[\s=*_#-]*$|BAD TERMINATION OF ONE|CLEANING UP REMAINING|YOU CAN IGNORE THE BELOW|RUNNING AT|EXIT CODE: "
    r"|This typically refers to|Please see the FAQ page|[Pp]ossible reasons|^\[mpiexec@\S+\] (?:\d\.|  )"
    r"|^(?:\[\S+\] )?\*\*\* (?!An error occurred in MPI_|STEP .* DUE TO|JOB .* DUE TO)|Local abort before MPI_INIT"
    r"|sent help message|_help_aggregate|total processes failed"
    r"|setpgid\(|Job step aborted|Terminating StepId|STEP \S+ ON \S+ CANCELLED AT \S+ \*\*\*"
    r"|Error setting up the bootstrap|backtrace \(tid|^\s*\d+ +/|^\[\S+\] \[ ?\d+\] |singletons will be started"
)
"""Lines that say no more than that a launch failed, and lists of possible reasons."""
EMPTY_TEXT = re.compile(
    r"^(?:Primary job +terminated normally|\S+ detected that one or more processes exited with non-zero"
    r"|\S+ has exited due to process rank|It looks like \S+ failed for some reason|MPI_INIT has failed because"
    r"|A daemon failed to report back|ORTE was unable to reliably start|ORTE does not know how to route"
    r"|An ORTE daemon has unexpectedly failed|\S+ was unable to start the specified application as it encountered)"
)
"""Texts of Open MPI that say no more than that."""
PREFIX = re.compile(
    r"^(?:\[[\w:.@-]+\] )?\w+ \([^()]*\.[ch](?:pp)?:\d+\): "  # Hydra: host, function, source file and line
    r"|^\w+\(\d+\)\.*: *"  # MPICH: a line of an error stack
    r"|^\[\d+\.\d+\] \[[^]]*\] +\S+:\d+ +(?=UCX )"
    r"|^\[[\w.-]+:\d+\] (?:\[\[[^]]*\],\S+\] )?"  # Open MPI: host and process
)
"""How launchers and libraries begin a line."""
OWN_STATE = re.compile(
    r"callback returned|returned error|error waiting|Bad file descriptor|unable to (?:write|send|launch)"
    r"|sock write error|Launch proxy failed|launcher cannot launch|launch error"
    r"|error (?:launching|parsing (?:input|parameters))|unable to parse|check exit codes|event error"
    r"|assert \(|Other MPI error(?:, error stack:|, )?$"
    r"|ORTE_ERROR_LOG|PMIX_ERR_UNREACH|Unable to run bstrap_proxy|SIGNAL: 9 |tasks? \S+ Killed$"
    r"|MPI_\w+\(.*\) failed$|pmi_version_|demux engine|E?XIT STRING|Internal MPI error!, error stack"
)
"""How a launcher or library says that it could not go on after something else."""
NAMES_A_FAULT = re.compile(
    r"(?i)no such|denied|permitted|too many|no space|refused|timed? ?out|no route|not known|out of (?:memory|resource)"
    r"|allocate|unavailable|format error|read-only|not enough|not found|cannot|could ?n[o']t|unable|invalid|unknown"
    r"|unrecognized|unsupported|incorrect|not (?:available|compatible|support|built|exist)|undefined|\boom|limit"
    r"|no (?:usable|data|active|lamd|interface|components|pmix)|failure|verification|killed|fault|bus error|illegal"
    r"|too large|impossible|syntax error|overflow|exceed|missing"
)
SAYS_THAT_ONE_IS = re.compile(
    r"(?i:(?<![a-z])(?:error|fail|fatal|abort|lost|refus|signal|terminat))|Error|Fail|Abort|Exception"
)
"""Words, and names such as `RuntimeError`; not `hardfail`."""
DETAIL = re.compile(r"^ {0,4}([A-Za-z#][\w #]*?) *: +(\S.*)$", re.MULTILINE)
"""A line of the list with which Open MPI ends many texts."""
MOST = 300
"""Characters of a line; what is longer fits no report."""


def choose_line(log: str) -> str:
    """Return the line of a failed launch's output that says most about why; empty: it printed nothing.

    Of a text between rules, the first sentence counts, with the list of details after it.
    """
    messages = list(list_messages(log))
    return min(messages, key=lambda message: message[0])[1][:MOST] if messages else ""


def list_messages(log: str) -> Iterator[tuple[int, str]]:
    """Yield each message in the log's order, with its grade: 0 says most."""
    parts = RULE.split(log)
    begins_inside = len(parts) % 2 == 0 and bool(parts[0].strip()) and not PREFIX.match(parts[0].lstrip())
    for number, part in enumerate(parts):
        if number % 2 != begins_inside and part.strip():
            yield read_text(part)
            continue
        for line in part.splitlines():
            if line.strip(" -=*"):
                yield grade_line(line)


def read_text(text: str) -> tuple[int, str]:
    """Return the grade of a text between rules, and its message: the first sentence and the list of details."""
    head, _, rest = text.strip().partition("\n\n")
    first = " ".join(head.split())
    sentence = re.split(r"(?<=[a-z)])\.(?= |$)", first)[0].strip(" :")
    if EMPTY_TEXT.match(first):
        inside = [
            line.strip(" ->") for line in text.splitlines() if re.match(r"  (?:\w+ failed|\S.* failed$|-->)", line)
        ]
        return (1, ": ".join(inside)) if inside else (3, sentence)
    details = [f"{name}: {value}" for name, value in DETAIL.findall(rest)]
    return 0, f"{sentence} ({', '.join(details)})" if details else sentence


def grade_line(line: str) -> tuple[int, str]:
    """Return the grade of a single line, and the line without what its program begins each one with."""
    text = PREFIX.sub("", line.strip()).strip(" =*")
    if FRAME.search(line) or not text:
        return 4, text or line.strip(" -=*")
    if OWN_STATE.search(text):
        return 3, text
    return (0 if NAMES_A_FAULT.search(text) else 1 if SAYS_THAT_ONE_IS.search(text) else 2), text
