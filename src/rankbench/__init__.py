"""rankbench measures MPI libraries side by side and says which one to use, where, by how much, and how sure it is.

From Python, `rankbench.read("results/small")` returns a campaign as data frames.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankbench.exports.frames import CampaignFrames

__all__ = ["read"]


def read(folder: str | Path) -> CampaignFrames:
    """Read a campaign from its folder. Raises RankbenchError if it holds none, or if Polars is not installed."""
    from rankbench import extras

    extras.require("run", "rankbench.read")
    from rankbench.exports import frames  # Commands that read nothing need not wait for Polars.

    return frames.read(folder)
