"""Questions to a campaign: its view, and how candidates compare by block, overall, by size, state and placement."""
