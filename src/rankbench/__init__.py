"""rankbench measures MPI libraries side by side and says which one to use, where, by how much, and how sure it is.

From Python, `rankbench.run("mpich", "openmpi", operations="allreduce")` measures, `rankbench.compare` and
`rankbench.gate` compare what was measured, and `rankbench.read("results/small")` returns a campaign as data frames,
`rankbench.read_all` several.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankbench.exports.frames import CampaignFrames, JoinedFrames
    from rankbench.workflows.comparison import ComparedPair
    from rankbench.workflows.gates import GateResult
    from rankbench.workflows.runs import RunResult
    from rankbench.workflows.tuning_steps import TuneResult
    from rankbench.workflows.watching import Progress

__all__ = ["compare", "gate", "read", "read_all", "run", "tune"]

# What is imported in functions loads slowly, and commands need little of it.


def run(
    *words: str | Path,
    continued: str | Path | None = None,
    results: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> RunResult:
    """Measure a plan, or libraries, and wait until the campaign ends; an interrupted one is continued.

    Args:
        words: a plan (TOML file), or the libraries to compare; NAME=LIBRARY names one.
        continued: the campaign to continue by its own plan, without words.
        results: folder that holds one folder per campaign; None: RANKBENCH_RESULTS, else `results`.
        progress: what is called meanwhile; None: nothing is shown.
        options: other fields of `rankbench.workflows.runs.RunRequest`, such as `operations="allreduce"`,
            `sizes="8:64K"`, `blocks="5"`.

    Raises RankbenchError for what can be corrected: the request, the libraries, the machine.
    """
    from rankbench.workflows import runs, watching

    request = runs.RunRequest(
        words=[str(word) for word in words],
        continued=Path(continued) if continued else None,
        results=Path(results) if results else None,
        **options,
    )
    return runs.run(request, progress or watching.SILENT)


def compare(*words: str | Path, match: Sequence[str] = ()) -> ComparedPair:
    """Compare two candidates of a campaign, or two campaigns, case by case.

    Args:
        words: two campaigns, the older one first; or two candidates, after the campaign that has them or of the newest
            one below the results. Without candidates: the first two.
        match: `OLD=NEW`, with two campaigns: the candidates to compare with each other.

    Raises RankbenchError for what is no campaign or candidate, or has no case with values of both.
    """
    from rankbench import extras

    extras.require("run", "rankbench.compare")
    from rankbench.workflows import comparison

    return comparison.compare(comparison.CompareRequest([str(word) for word in words], match))


def gate(
    new: str | Path,
    *,
    against: str | Path | None = None,
    history: Sequence[str | Path] = (),
    progress: Progress | None = None,
    **options: Any,
) -> GateResult:
    """Check whether anything in a campaign became slower or stopped working; the result has the checks.

    Args:
        new: the campaign to check: its folder or name.
        against: the campaign that it must not be slower than.
        history: earlier campaigns, or folders that hold some.
        progress: what is called meanwhile; None: nothing is shown.
        options: other fields of `rankbench.workflows.gates.GateRequest`, such as `candidate` and `against_candidate`
            within one campaign, or `threshold="5%"`.

    Raises RankbenchError for what cannot be compared.
    """
    from rankbench import extras

    extras.require("run", "rankbench.gate")
    from rankbench.workflows import gates, watching

    request = gates.GateRequest(
        new=Path(new),
        against=Path(against) if against else None,
        history=[Path(folder) for folder in history],
        **options,
    )
    return gates.gate(request, progress or watching.SILENT)


def tune(library: str, *, progress: Progress | None = None, **options: Any) -> TuneResult:
    """Find settings that make a library faster, prove them and write them; an interrupted search is continued.

    Args:
        library: as plans name it, such as "mpich".
        progress: what is called meanwhile; None: nothing is shown.
        options: other fields of `rankbench.workflows.tunings.TuneRequest`, such as `operations="allreduce"`.

    Raises RankbenchError for what can be corrected: the request, the library, the machine.
    """
    from rankbench import extras

    extras.require("run", "rankbench.tune")
    from rankbench.workflows import tunings, watching

    return tunings.tune(tunings.TuneRequest(library=library, **options), progress or watching.SILENT)


def read(folder: str | Path) -> CampaignFrames:
    """Read a campaign from its folder. Raises RankbenchError if it holds none, or if Polars is not installed."""
    from rankbench import extras

    extras.require("run", "rankbench.read")
    from rankbench.exports import frames  # Commands that read nothing need not wait for Polars.

    return frames.read(folder)


def read_all(*folders: str | Path) -> JoinedFrames:
    """Read campaigns from their folders, below each other. Raises RankbenchError as `read` does."""
    from rankbench import extras

    extras.require("run", "rankbench.read_all")
    from rankbench.exports import frames

    return frames.read_all(folders)
