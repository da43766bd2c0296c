"""The folders of libraries and builds, and of campaigns."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def home() -> Path:
    """Return the folder for libraries and builds: RANKBENCH_HOME, else `.rankbench` beside the environment that
    rankbench is installed in, where there is one (`make demo` makes it), else the user's data folder.
    """
    beside = Path(sys.prefix).parent / ".rankbench"
    chosen = os.environ.get("RANKBENCH_HOME") or (beside if beside.is_dir() else "")
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(chosen).absolute() if chosen else Path(data) / "rankbench"


def results_folder() -> Path:
    """Return the default folder of campaigns: RANKBENCH_RESULTS, else `results`."""
    return Path(os.environ.get("RANKBENCH_RESULTS") or "results")


def is_campaign(folder: Path) -> bool:
    """Return whether a folder holds a campaign."""
    return (folder / "campaign.json").exists()


def has_campaigns(folder: Path) -> bool:
    """Return whether a folder is no campaign and has campaigns right below it."""
    return not is_campaign(folder) and any(folder.glob("*/campaign.json"))


def find_campaign(folder: Path) -> Path:
    """Return the folder of a campaign named by its folder, or by its name below the results."""
    below = results_folder() / folder
    return below if not is_campaign(folder) and is_campaign(below) else folder


def campaign_folder(results: Path, name: str) -> Path:
    """Return the folder of a campaign below `results`. Raises RankbenchError for names that lead elsewhere."""
    from rankbench.model import RankbenchError

    if not name or "/" in name or name.startswith(".") or not name.isprintable():
        raise RankbenchError(
            f'--name {name!r}: a campaign\'s name has no "/", does not begin with "." and has no control characters'
        )
    return results / name
