"""One file per scheduler: `TITLE` and `run(step) -> Outcome`."""
