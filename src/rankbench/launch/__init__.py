"""Runs steps here, makes job scripts, and reads the state of the machine. It does not know what a step computes."""

from __future__ import annotations

from rankbench.launch.allocation import refuse_left_over_job
from rankbench.launch.cleaning import clean_hosts
from rankbench.launch.host import explain_one_core, load, machine, stolen_s
from rankbench.launch.local import SupervisorKilledError, run, run_together
from rankbench.launch.probe import state
from rankbench.launch.resources import Monitor, describe_abandoned, read_free
from rankbench.launch.turn_page import Turns
