"""The position of a turn, or the candidate before it, changes a time.

Why: A library may leave a cache, a frequency or a network changed. Orders are balanced, so that all candidates
meet this equally often.

What to do: Compare with a campaign that has `together = false`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.turns import AFTER, POSITION, Effect, estimate_effects
from rankbench.language import Text, say
from rankbench.model import Finding

TITLE = "Order of turns"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a warning where an effect is significantly above the threshold."""
    beside = {launch.number: launch.beside for launch in view.launches if launch.beside}
    plan = view.campaign.plan
    effects = estimate_effects(view.judged_values, beside, plan.confidence) if beside else []
    large = [effect for effect in effects if effect.exceeds(plan.threshold)]
    if not large:
        return
    yield Finding(
        kind="turns",
        title=say("Times depend on the order of turns"),
        text=say(
            "Compared with the mean of all turns, calls take {effects:and} ({n:count block}). Each candidate has "
            "each position and follows each other candidate equally often, so all are affected equally.",
            effects=[_describe_effect(effect) for effect in large],
            n=large[0].blocks,
        ),
        advice=say(
            "Compare with a campaign that has together = false in the plan: a library that changes a cache, a "
            "frequency or a network may help or slow down the next one."
        ),
        cases=[],
        severity="warning",
    )


def _describe_effect(effect: Effect) -> Text:
    texts = {
        (AFTER, True): "{change:.1%} (± {half:.1%}) longer just after {level}",
        (AFTER, False): "{change:.1%} (± {half:.1%}) shorter just after {level}",
        (POSITION, True): "{change:.1%} (± {half:.1%}) longer at position {level}",
        (POSITION, False): "{change:.1%} (± {half:.1%}) shorter at position {level}",
    }
    return say(
        texts[effect.kind, effect.log > 0], level=effect.level, change=abs(math.expm1(effect.log)), half=effect.half
    )
