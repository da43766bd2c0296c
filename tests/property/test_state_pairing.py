"""What must hold of pairing launches in like state, whatever the states were and whatever was measured."""

from __future__ import annotations

import msgspec
import polars as pl
from fakes import campaigns
from hypothesis import given
from hypothesis import strategies as st

from rankbench import statistics
from rankbench.model import Exchange, Launch, LaunchStatus, State
from rankbench.statistics import states

CPUS = [(0, 1), (0, 2), (1, 2)]
exchange_ns = st.floats(1.0, 1e5)
some_state = st.none() | st.lists(exchange_ns, max_size=3).map(
    lambda times: State(
        cpus=[0, 1, 2],
        exchange=[Exchange(cpus=cpus, median_ns=one, min_ns=one) for cpus, one in zip(CPUS, times, strict=False)],
    )
)
around = st.lists(st.tuples(some_state, some_state, st.integers(1, 3)), min_size=2, max_size=8)
outcomes = st.fixed_dictionaries({
    "status": st.sampled_from(LaunchStatus),
    "reason": st.text(max_size=5),
    "duration_s": st.floats(0.0, 1e4),
    "exit_code": st.none() | st.integers(-15, 255),
    "load_before": st.floats(0.0, 1e3),
    "stolen_s": st.floats(0.0, 1e3),
    "facts": st.none(),
    "log": st.text(max_size=5),
})  # fmt: skip


def launches(drawn: list[tuple[State | None, State | None, int]]) -> list[Launch]:
    return [
        msgspec.structs.replace(
            campaigns.launch(number, block, 0, "ab"[number % 2], "socket"), before=before, after=after
        )
        for number, (before, after, block) in enumerate(drawn)
    ]


def pairs(made: list[Launch]) -> set[tuple[int, int]]:
    return set(states.unlike(made).iter_rows())


@given(around)
def test_it_is_symmetric_and_keeps_to_blocks(drawn: list[tuple[State | None, State | None, int]]) -> None:
    made = launches(drawn)
    found = pairs(made)
    assert found == {(two, one) for one, two in found}
    assert all(one != two and made[one].block == made[two].block for one, two in found)
    assert found == pairs(made[::-1])


@given(around, st.data())
def test_it_is_blind_to_how_launches_ended(
    drawn: list[tuple[State | None, State | None, int]], data: st.DataObject
) -> None:
    made = launches(drawn)
    others = [msgspec.structs.replace(one, **data.draw(outcomes)) for one in made]
    assert pairs(others) == pairs(made)


@given(around, st.data())
def test_what_is_left_out_does_not_depend_on_what_was_measured(
    drawn: list[tuple[State | None, State | None, int]], data: st.DataObject
) -> None:
    made = launches(drawn)
    counts = []
    for _ in range(2):
        rows = [("c", one.candidate, one.block, one.number, data.draw(st.floats(1.0, 1e9))) for one in made]
        figures = pl.DataFrame(rows, schema=["case", "candidate", "block", "launch", "figure_ns"], orient="row")
        compared = statistics.compare(figures, [("a", "b")], threshold=0.03, unlike=states.unlike(made))
        counts.append([(one.blocks, one.left_out) for one in compared])
    assert counts[0] == counts[1]
