"""Claims of METHOD.md that are judged by measuring, one file each; `make prove` runs them, `make test` does not."""
