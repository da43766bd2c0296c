"""The record of a program as a profile."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes import recorded_programs
from fakes.recorded_programs import make_run
from wording import WORDING

from rankbench import profiles
from rankbench.campaign.rank_records import find_bin_begin
from rankbench.model import RankbenchError
from rankbench.model.program_records import Kind, Partner, encode, sum_time
from rankbench.profiles import record


def make_kind(call: str, size: int, calls: int, *, started: bool = False, waited_s: float = 0.0) -> Kind:
    waited = [waited_s, waited_s] if waited_s else []
    return recorded_programs.make_kind(call, started=started, bytes=size, calls=[calls, calls], waited_s=waited)


def change(kind: Kind, **changes: object) -> Kind:
    return msgspec.structs.replace(kind, **changes)


def test_forms_of_collectives_are_kept_apart() -> None:
    run = make_run(
        make_kind("MPI_Allreduce", 8, 10),
        make_kind("MPI_Iallreduce", 8, 4),
        make_kind("MPI_Allreduce_init", 8, 3, started=True),
        make_kind("MPI_Isend", 64, 5),
        make_kind("MPI_Irecv", 64, 5),
        make_kind("MPI_Wait", 0, 9),
        make_kind("MPI_Improbe", 0, 9),
        make_kind("MPI_Bcast", -1, 2),
    )
    text = encode(run).decode()
    assert record.recognises(text)
    profile = record.read(text, "record.json")
    assert {(entry.operation, entry.size_bytes, entry.form): entry.calls for entry in profile.calls} == {
        ("allreduce", 8, "blocking"): 10,
        ("allreduce", 8, "nonblocking"): 4,
        ("allreduce", 8, "persistent"): 3,
        ("pingping", 64, "nonblocking"): 5,
    }
    assert profile.ignored == []
    assert profile.notes == (WORDING,)


@pytest.mark.parametrize(
    ("neighbours", "operation", "calls"),
    [(1, "pingping", 20), (2, "exchange", 10), (4, "halo", 5), (6, "halo", 20 / 6)],
)
def test_messages_to_several_partners_are_one_call(neighbours: int, operation: str, calls: float) -> None:
    sent = change(make_kind("MPI_Isend", 64, 20), neighbours=[neighbours] * 2)
    (call,) = record.read(encode(make_run(sent, make_kind("MPI_Irecv", 64, 20))).decode(), "x").calls
    assert call.operation == operation
    assert call.calls == pytest.approx(calls)
    assert call.seconds == 2.0  # Of a rank: one in MPI_Isend, and one in MPI_Irecv.


def test_numbers_count_where_they_are_reduced() -> None:
    kinds = [make_kind(call, 64, 10) for call in ("MPI_Allreduce", "MPI_Bcast")]
    run = make_run(*(change(kind, datatype=name) for kind in kinds for name in ("double", "float")))
    calls = record.read(encode(run).decode(), "record.json").calls
    assert sorted((call.operation, call.datatype, call.calls) for call in calls) == [
        ("allreduce", "double", 10),
        ("allreduce", "float", 10),
        ("bcast", "", 20),
    ]


def test_messages_to_no_rank_are_left_out() -> None:
    nowhere = [Partner(distance=-1, calls=10)]
    sent = change(make_kind("MPI_Isend", 0, 5), partners=nowhere)
    profile = record.read(encode(make_run(sent, make_kind("MPI_Bcast", 8, 1))).decode(), "x")
    assert [call.operation for call in profile.calls] == ["bcast"]
    assert profile.ignored == []
    assert profile.recorded
    assert [part.what for part in profile.recorded.uncovered] == ["MPI_Isend: to MPI_PROC_NULL"]


def test_an_exchange_that_sends_to_no_rank_has_its_time_counted() -> None:
    half = change(make_kind("MPI_Sendrecv", 0, 10), partners=[Partner(distance=-1, calls=20)])
    both = change(make_kind("MPI_Sendrecv", 8, 10), partners=[Partner(distance=1, calls=20)])
    profile = record.read(encode(make_run(half, both)).decode(), "x")
    (call,) = profile.calls
    assert (call.operation, call.size_bytes, call.calls, call.seconds) == ("sendrecv", 8, 10, 2.0)
    assert profile.recorded
    assert profile.recorded.uncovered == []


def test_the_gap_before_a_message_to_no_rank_is_that_of_the_next_one() -> None:
    """As at the edge of a grid, where the first of several receives is from nobody."""
    nobody = change(make_kind("MPI_Irecv", 0, 10), partners=[Partner(distance=-1, calls=20)], between_s=[1e-3, 1e-3])
    sent = change(make_kind("MPI_Isend", 64, 10), partners=[Partner(distance=1, calls=20)])
    (call,) = record.read(encode(make_run(nobody, sent)).decode(), "x").calls
    assert (call.options, call.seconds) == ({"gap_us": "100"}, 1.0)


@pytest.mark.parametrize(
    ("waiting_s", "options"),
    [
        ([0.0, 0.0], {}),
        ([0.0, 0.001], {}),
        ([0.0, 0.005], {"arrival": "one-late", "spread_us": "500"}),
        ([0.0015, 0.0025], {"arrival": "random", "spread_us": "400"}),
        ([0.0, 0.02], {"arrival": "one-late", "spread_us": "1000"}),
    ],
)
def test_ranks_arrive_as_they_did_in_the_program(waiting_s: list[float], options: dict[str, str]) -> None:
    kind = change(make_kind("MPI_Allreduce", 8, 10), seconds=[0.02, 0.02], waiting_s=waiting_s)
    (call,) = record.read(encode(make_run(kind)).decode(), "x").calls
    assert call.options == options
    assert call.waiting_s == sum(waiting_s) / 2


def test_the_most_expensive_calls_are_chosen_and_the_rest_is_named(tmp_path: Path) -> None:
    kinds = [change(make_kind("MPI_Allreduce", 8 << place, 10), seconds=[0.5**place] * 2) for place in range(12)]
    path = tmp_path / "record.json"
    path.write_bytes(encode(make_run(*kinds, change(make_kind("MPI_Comm_split", 0, 1), seconds=[0.02, 0.02]))))
    calls, recorded = profiles.choose_calls(path)
    assert [call.size_bytes for call in calls] == [8, 16, 32, 64, 128]
    assert [part.what for part in recorded.uncovered] == WORDING
    assert recorded.covered == pytest.approx(sum(call.seconds for call in calls) / recorded.mpi_s)
    assert recorded.covered >= profiles.COVERED


def test_time_in_a_wait_belongs_to_the_calls_that_it_completes() -> None:
    assert sum_time(make_kind("MPI_Isend", 8, 1, waited_s=0.25)) == [1.25, 1.25]
    assert sum_time(make_kind("MPI_Waitall", 0, 1, waited_s=0.25)) == [0.75, 0.75]


@pytest.mark.parametrize(
    ("change", "reason"),
    [(('"format": 1', '"format": 2'), "of format 2, expected 1"), (('"ranks"', '"rank"'), "damaged")],
)
def test_a_damaged_or_later_record_is_refused(change: tuple[str, str], reason: str) -> None:
    text = encode(make_run(make_kind("MPI_Bcast", 8, 1))).decode().replace(*change)
    with pytest.raises(RankbenchError, match=reason):
        record.read(text, "record.json")


@pytest.mark.parametrize("name", ["calls", "seconds", "matched"])
def test_a_record_has_a_value_for_each_rank(name: str) -> None:
    kind = change(make_kind("MPI_Bcast", 8, 1), **{name: [1, 1, 1]})
    with pytest.raises(RankbenchError, match=rf"damaged .*\(kinds\[0\].{name} has 3 values, and the run 2 ranks\)"):
        record.read(encode(make_run(kind)).decode(), "record.json")


def test_bins_follow_each_other_eight_per_octave() -> None:
    begins = [find_bin_begin(number) for number in range(100)]
    assert begins == sorted(set(begins))
    assert [begins[number] for number in (7, 8, 15, 16, 24, 25)] == [7, 8, 15, 16, 32, 36]


@pytest.mark.parametrize(
    ("between_s", "options"),
    [
        ([0.0, 9e-6], {}),
        ([0.0, 2e-5], {"gap_us": "1"}),
        ([0.00031, 0.00032], {"gap_us": "32"}),
        ([0.02, 0.03], {"gap_us": "1000"}),
    ],
)
def test_ranks_compute_between_calls_as_they_did_in_the_program(
    between_s: list[float], options: dict[str, str]
) -> None:
    kind = change(make_kind("MPI_Allreduce", 8, 10), between_s=between_s)
    (call,) = record.read(encode(make_run(kind)).decode(), "x").calls
    assert call.options == options


def test_the_gap_of_a_message_is_that_of_all_its_calls() -> None:
    """The one before the receive, which is posted first, and what is computed while the message is on its way."""
    sent = change(make_kind("MPI_Isend", 64, 10), partners=[Partner(distance=1, calls=20)], between_s=[1e-5, 1e-5])
    received = change(make_kind("MPI_Irecv", 64, 10), between_s=[2e-4, 2e-4])
    (call,) = record.read(encode(make_run(sent, received)).decode(), "x").calls
    assert (call.operation, call.options) == ("pingping", {"gap_us": "21"})


@pytest.mark.parametrize("multiple", [True, False])
def test_calls_have_the_level_of_threads_of_the_program(*, multiple: bool) -> None:
    run = make_run(make_kind("MPI_Allreduce", 8, 10), make_kind("MPI_Send", 8, 10), thread_multiple=multiple)
    profile = record.read(encode(run).decode(), "r.json")
    level = {"thread_level": "multiple"} if multiple else {}
    assert [call.options for call in profile.calls] == [level] * 2
    assert profile.recorded
    assert profile.recorded.thread_multiple == multiple


def test_similar_sizes_are_one_call_of_their_mean_size() -> None:
    """A program that sends what a domain's border has at the moment sends a few elements more or fewer each time."""
    sizes = {25600: 30, 26400: 10, 31200: 10, 40000: 5}
    run = make_run(
        *(make_kind("MPI_Send", size, calls) for size, calls in sizes.items()), make_kind("MPI_Allreduce", 12, 1),
        make_kind("MPI_Allreduce", 12 + 4, 2), make_kind("MPI_Allreduce", 8, 2), make_kind("MPI_Allreduce", 12 + 2, 0),
    )  # fmt: skip
    profile = record.read(encode(run).decode(), "record.json")
    assert {(entry.operation, entry.size_bytes): (entry.calls, entry.seconds) for entry in profile.calls} == {
        ("pingpong", 26880): (50, 3),
        ("pingpong", 40000): (5, 1),
        ("allreduce", 8): (2, 1),
        ("allreduce", 12): (1, 1),
        ("allreduce", 16): (2, 1),
    }


def test_a_mean_size_has_no_part_of_an_element() -> None:
    run = make_run(make_kind("MPI_Allreduce", 100, 1), make_kind("MPI_Allreduce", 108, 2))
    (entry,) = record.read(encode(run).decode(), "record.json").calls
    assert (entry.size_bytes, entry.calls) == (104, 3)
