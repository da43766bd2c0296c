"""The loop over blocks: launches are made, checked, stored and resumed. The caller decides when it stops."""

from __future__ import annotations

from rankbench.campaign.loop import Decide, Watch, blocks_done, run
from rankbench.campaign.preflight import Refusal
from rankbench.campaign.preparation import Prepared, Wanted, prepare
from rankbench.campaign.progress import Progress
from rankbench.plan.stop_rules import Decision

__all__ = ["Decide", "Decision", "Prepared", "Progress", "Refusal", "Wanted", "Watch", "blocks_done", "prepare", "run"]
