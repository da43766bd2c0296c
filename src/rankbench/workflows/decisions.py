"""Decides whether a campaign continues, from its results so far."""

from __future__ import annotations

import math
from time import monotonic

from rankbench import campaign, store
from rankbench.analysis import evaluation
from rankbench.analysis.evaluation.stopping import decide
from rankbench.analysis.questions.view import CampaignView
from rankbench.campaign import CampaignRequest, Decide, Decision
from rankbench.campaign.spending import block_durations_s
from rankbench.plan import notation
from rankbench.store import Store


def is_finished(request: CampaignRequest) -> bool:
    """Return whether the campaign of exactly this plan exists and is complete."""
    if request.more or not (request.folder / "campaign.json").exists():
        return False
    opened = store.open(request.folder)
    record = opened.campaign
    same = record.plan.text == request.plan.text and request.seed in {0, record.seed}
    blocks = campaign.blocks_done(opened) if same else 0
    stop = record.plan.stop
    return blocks >= stop.blocks_max or (same and is_ended(opened, blocks))


def is_ended(opened: Store, blocks: int) -> bool:
    """Return whether a campaign's rule has ended it, which has this number of complete blocks."""
    stop = opened.campaign.plan.stop
    least = 0 if not math.isinf(notation.find_time_limit_s(stop.until)) else stop.blocks_min
    return blocks >= least and bool(opened.launches()) and stopping(opened)(opened).stop


def stopping(opened: Store) -> Decide:
    """Return the function that applies the plan's stop rule to the stored results.

    Durations of blocks come from the clock from now on, and from the stored launches for earlier runs.
    """
    block_s = block_durations_s(opened.list_all_launches())
    at_s = monotonic()

    def enough(store: Store) -> Decision:
        nonlocal at_s
        spent_s, at_s = monotonic() - at_s, monotonic()
        blocks = {launch.block for launch in store.launches()}
        fresh = sorted(blocks - block_s.keys()) or [max(blocks)]
        for block in fresh:
            block_s[block] = block_s.get(block, 0.0) + spent_s / len(fresh)
        return decide(store.campaign.plan, lambda: evaluate_latest(store), list(block_s.values()))

    return enough


def evaluate_latest(opened: Store) -> CampaignView:
    """Return the evaluation of a campaign's results so far; it is cached until a launch is added.

    The last decision to stop rests on the very evaluation that is then shown.
    """
    launches = len(opened.launches())
    if not LAST or LAST[0][:2] != (opened, launches):
        LAST[:] = [(opened, launches, evaluation.evaluate(opened))]
    return LAST[0][2]


LAST: list[tuple[Store, int, CampaignView]] = []
"""The last evaluated campaign: its store, its number of launches then, and the evaluation."""
