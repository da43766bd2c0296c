"""Lets `python -m rankbench` be the command."""

from rankbench.cli import main

main()
