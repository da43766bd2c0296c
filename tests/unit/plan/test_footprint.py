"""Estimates of the memory and disk that samples need; `tests/mpi/test_rings.py` compares them with measurements."""

from __future__ import annotations

import fakes
import pytest

from rankbench import plan

MACHINE = fakes.machine(cores=16)


def estimate(text: str) -> str:
    head = 'candidates = ["mpich", "openmpi"]\nsizes = 4\nsamples = 1000000\n'
    parsed = plan.parse_plan(head + text, "plan.toml", MACHINE)
    cases, _ = plan.expand_plan(parsed, fakes.description(), MACHINE)
    return str(plan.estimate_footprint(parsed, cases, fakes.description().operations))


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
def test_of_a_launch_it_counts_every_series_of_samples(text: str, series: int) -> None:
    mib = 1_000_000 / (1 << 20)
    assert estimate(f"stop = {{ blocks = 1 }}\ncontrol = false\n{text}").startswith(
        "up to 1000000 samples a case: a launch takes 39.7 MiB of memory on rank 0, "
        f"{amount(90 * mib * series)} to read and {amount(8 * mib * series)} of disk; all leave "
    )


def amount(mib: float) -> str:
    """Return three digits of it."""
    scaled, unit = (mib / 1024, "GiB") if mib > 1023.5 else (mib, "MiB")
    return f"{scaled:.3g} {unit}"


def test_all_launches_leave_what_all_candidates_and_blocks_make() -> None:
    """Two candidates and the control's twin, 5 to 60 blocks, two placements of 3 series of 10^6 samples of 5 bytes."""
    assert estimate('operations = ["ring"]\nplacements = ["1x4", "1x16"]\n[options]\ngrid = "2x2"').endswith(
        "; all leave 429 MiB to 5.03 GiB, and take up to 27.9 GiB of memory to judge"
    )


@pytest.mark.parametrize(("samples", "blocks", "memory"), [(1000, 1, "732 KiB"), (100_000, 16, "477 MiB")])
def test_samples_are_judged_so_many_at_once(samples: int, blocks: int, memory: str) -> None:
    """Of two candidates and the twin 1000 samples each are one part; of 1.6 million each every one is a part."""
    text = f'operations = ["barrier"]\nplacements = ["1x4"]\nsamples = {samples}\nstop = {{ blocks = {blocks} }}'
    parsed = plan.parse_plan(f'candidates = ["mpich", "openmpi"]\n{text}', "plan.toml", MACHINE)
    cases, _ = plan.expand_plan(parsed, fakes.description(), MACHINE)
    sentence = str(plan.estimate_footprint(parsed, cases, fakes.description().operations))
    assert sentence.endswith(f" up to {memory} of memory to judge")


@pytest.mark.parametrize(
    ("plan_text", "at_once"),
    [
        ('operations = ["barrier"]\nsamples = 1000000', "39.7 MiB"),
        ('operations = ["barrier"]\nsamples = { good = 1000000, passes = 1 }', "198 MiB"),
        ('operations = ["barrier", "init"]\nsamples = 1000000', "198 MiB"),
    ],
)
def test_memory_is_that_of_the_samples_of_a_pass(plan_text: str, at_once: str) -> None:
    """What happens once in a launch is not parted among passes."""
    parsed = plan.parse_plan(f'candidates = ["mpich"]\n{plan_text}', "plan.toml", MACHINE)
    cases, _ = plan.expand_plan(parsed, fakes.description(), MACHINE)
    assert f" takes {at_once} of memory " in str(plan.estimate_footprint(parsed, cases, fakes.description().operations))


def test_where_a_time_may_be_filled_samples_are_five_times_as_many() -> None:
    texts = {}
    for text in ("samples = 100", 'samples = { good = 100, fill = "15ms" }', "samples = 500"):
        parsed = plan.parse_plan(f'candidates = ["mpich"]\noperations = ["barrier"]\n{text}', "plan.toml", MACHINE)
        cases, _ = plan.expand_plan(parsed, fakes.description(), MACHINE)
        texts[text] = plan.estimate_footprint(parsed, cases, fakes.description().operations).samples
    assert list(texts.values()) == [100, 500, 500]


def test_tries_are_the_most_samples() -> None:
    text = 'operations = ["barrier"]\nsamples = { good = 10, tried = 70 }'
    parsed = plan.parse_plan(f'candidates = ["mpich"]\n{text}', "plan.toml", MACHINE)
    cases, _ = plan.expand_plan(parsed, fakes.description(), MACHINE)
    assert plan.estimate_footprint(parsed, cases, fakes.description().operations).samples == 70
