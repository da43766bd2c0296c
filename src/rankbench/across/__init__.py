"""Two campaigns and more: what changed between them, their history, and gates for CI."""
