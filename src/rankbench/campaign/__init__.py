"""The loop over blocks: launches made, checked, stored and resumed. It never judges; when to stop is handed in."""

from __future__ import annotations

from rankbench.campaign.loop import Decide, Watch, run
from rankbench.campaign.progress import Progress
from rankbench.campaign.stopping import Decision

__all__ = ["Decide", "Decision", "Progress", "Watch", "run"]
