"""Claims of `docs/evidence`, judged by measuring, one file each; `make prove` runs them, `make test` does not."""
