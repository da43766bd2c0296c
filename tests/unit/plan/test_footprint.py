"""Estimated memory and disk space of samples; `tests/mpi/test_rings.py` compares the estimates with measurements."""

from __future__ import annotations

import fakes
import pytest
from wording import WORDING

from rankbench import plan

MACHINE = fakes.make_machine(cores=16)


def estimate_footprint(text: str) -> plan.Footprint:
    head = 'candidates = ["mpich", "openmpi"]\nsizes = 4\nsamples = 1000000\n'
    parsed = plan.parse_plan(head + text, "plan.toml", MACHINE)
    cases, _ = plan.expand_plan(parsed, fakes.read_description(), MACHINE)
    return plan.estimate_footprint(parsed, cases, fakes.read_description().operations)


@pytest.mark.parametrize(
    ("text", "series"),
    [
        ('operations = ["pingpong"]\nplacements = ["1x16"]', 1),
        ('operations = ["allreduce"]\nplacements = ["1x16"]', 1),
        ('operations = ["allreduce"]\nplacements = ["1x16"]\nevery_rank = true', 17),
        ('operations = ["ring"]\nplacements = ["1x16"]', 5),
        ('operations = ["ring"]\nplacements = ["1x16"]\n[options]\ngrid = "2x3"', 4),
        ('operations = ["ring"]\nplacements = ["1x4", "1x16"]\n[options]\ngrid = "2x2"', 3),
    ],
)
def test_a_launch_has_every_series_of_samples(text: str, series: int) -> None:
    footprint = estimate_footprint(f"stop = {{ blocks = 1 }}\ncontrol = false\n{text}")
    assert footprint.samples == 1_000_000
    assert (footprint.read_bytes, footprint.stream_bytes) == (90_000_000 * series, 8_000_000 * series)
    assert footprint.rank_bytes == 41_600_000


def test_with_a_time_limit_the_fewest_blocks_count() -> None:
    ring = 'operations = ["ring"]\n[options]\ngrid = "2x2"\n'
    footprint = estimate_footprint(f'{ring}[stop]\nuntil = "time 5s"\nblocks = {{ min = 5, max = 1000 }}')
    assert footprint.stored_bytes[0] == footprint.stored_bytes[1] > 0
    assert footprint.blocks == 5


def test_stored_samples_are_those_of_all_candidates_and_blocks() -> None:
    """Two candidates and the control's twin, 5 to 60 blocks, two placements of 3 series of 10^6 samples of 5 bytes."""
    footprint = estimate_footprint('operations = ["ring"]\nplacements = ["1x4", "1x16"]\n[options]\ngrid = "2x2"')
    assert footprint.stored_bytes == (5 * 3 * 6 * 5_000_000, 60 * 3 * 6 * 5_000_000)
    assert str(footprint) == WORDING


@pytest.mark.parametrize(("rounds", "large"), [(500, False), (1_000_000, True)])
def test_only_a_large_footprint_is_reported(rounds: int, large: bool) -> None:
    head = f'candidates = ["mpich"]\noperations = ["ring"]\nsizes = 4\nsamples = {rounds}\nstop = {{ blocks = 9 }}\n'
    parsed = plan.parse_plan(head, "plan.toml", MACHINE)
    cases, _ = plan.expand_plan(parsed, fakes.read_description(), MACHINE)
    assert plan.estimate_footprint(parsed, cases, fakes.read_description().operations).is_large == large


@pytest.mark.parametrize(("samples", "blocks", "memory"), [(1000, 1, 750_000), (100_000, 16, 500_000_000)])
def test_evaluation_reads_samples_in_parts(samples: int, blocks: int, memory: int) -> None:
    """1000 samples each of two candidates and the twin are one part; 1.6 million each are a part per candidate."""
    text = f'operations = ["barrier"]\nplacements = ["1x4"]\nsamples = {samples}\nstop = {{ blocks = {blocks} }}'
    parsed = plan.parse_plan(f'candidates = ["mpich", "openmpi"]\n{text}', "plan.toml", MACHINE)
    cases, _ = plan.expand_plan(parsed, fakes.read_description(), MACHINE)
    assert plan.estimate_footprint(parsed, cases, fakes.read_description().operations).judged_bytes == memory


@pytest.mark.parametrize(
    ("plan_text", "at_once"),
    [
        ('operations = ["barrier"]\nsamples = 1000000', 41_600_000),
        ('operations = ["barrier"]\nsamples = { good = 1000000, passes = 1 }', 208_000_000),
        ('operations = ["barrier", "init"]\nsamples = 1000000', 208_000_000),
    ],
)
def test_memory_of_a_rank_is_that_of_the_samples_of_a_pass(plan_text: str, at_once: int) -> None:
    """An operation measured once per launch is not divided among passes."""
    parsed = plan.parse_plan(f'candidates = ["mpich"]\n{plan_text}', "plan.toml", MACHINE)
    cases, _ = plan.expand_plan(parsed, fakes.read_description(), MACHINE)
    assert plan.estimate_footprint(parsed, cases, fakes.read_description().operations).rank_bytes == at_once


def test_a_time_to_fill_allows_five_times_the_samples() -> None:
    texts = {}
    for text in ("samples = 100", 'samples = { good = 100, fill = "15ms" }', "samples = 500"):
        parsed = plan.parse_plan(f'candidates = ["mpich"]\noperations = ["barrier"]\n{text}', "plan.toml", MACHINE)
        cases, _ = plan.expand_plan(parsed, fakes.read_description(), MACHINE)
        texts[text] = plan.estimate_footprint(parsed, cases, fakes.read_description().operations).samples
    assert list(texts.values()) == [100, 500, 500]


def test_the_number_of_tries_limits_the_samples() -> None:
    text = 'operations = ["barrier"]\nsamples = { good = 10, tried = 70 }'
    parsed = plan.parse_plan(f'candidates = ["mpich"]\n{text}', "plan.toml", MACHINE)
    cases, _ = plan.expand_plan(parsed, fakes.read_description(), MACHINE)
    assert plan.estimate_footprint(parsed, cases, fakes.read_description().operations).samples == 70
