"""Runs a campaign: makes launches block by block, checks, stores and resumes them. The caller decides when it stops."""

from __future__ import annotations

from rankbench.campaign.loop import Decide, Watch, blocks_done, run
from rankbench.campaign.preflight import Refusal
from rankbench.campaign.preparation import CampaignRequest, PreparedCampaign, prepare
from rankbench.campaign.progress import Progress
from rankbench.plan.stop_rules import Decision
