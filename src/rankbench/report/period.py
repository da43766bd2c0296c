"""When a campaign was measured."""

from __future__ import annotations

from datetime import datetime, timedelta

from rankbench.quantities import format_duration
from rankbench.verdict.view import CampaignView


def describe_period(view: CampaignView) -> str:
    """Return when a campaign was measured and how long that took; of an imported one the day it was imported."""
    if view.campaign.imported or not view.launches:
        return view.campaign.created[:10]
    begins = [datetime.fromisoformat(launch.started) for launch in view.launches if launch.started]
    ends = [
        datetime.fromisoformat(launch.started) + timedelta(seconds=launch.duration_s * launch.together)
        for launch in view.launches
        if launch.started
    ]
    if not begins:
        return view.campaign.created[:10]
    begin, end = min(begins), max(ends)
    last = f"{end:%H:%M}" if end.date() == begin.date() else f"{end:%Y-%m-%d %H:%M}"
    return f"measured {f'{begin:%Y-%m-%d %H:%M}'} to {last} UTC, {format_duration((end - begin).total_seconds())}"
