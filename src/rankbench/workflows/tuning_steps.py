"""The steps of a tuning, each a campaign in its own folder."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import NamedTuple

from rankbench import campaign, files, launch, libraries, plan, tuning
from rankbench.campaign import CampaignRequest, Decide, sum_launches
from rankbench.campaign.variables import variables
from rankbench.language import render, say
from rankbench.model import Campaign, Handover, Library, Machine, ProvenSettings, RankbenchError, Rule
from rankbench.plan.stop_rules import Decision
from rankbench.quantities import format_ratio, format_size, spell_count
from rankbench.store import Store
from rankbench.tuning import FEWEST_BLOCKS, TUNED, Task, choosing, proving, reproducibility, step_plans
from rankbench.tuning.choosing import SearchResult
from rankbench.tuning.handover import proven_settings
from rankbench.tuning.proving import Exclusion, Proof
from rankbench.tuning.tuners import Target, Tuner
from rankbench.workflows.decisions import stopping
from rankbench.workflows.locations import home
from rankbench.workflows.reproducible_sums import SumStudy
from rankbench.workflows.watching import SILENT, Progress

ROUNDS = 4
"""Maximum of proofs; after each, rules are chosen again without what made a case slower. Before the last one,
operations with a slower case are left out."""
SHARES = {"screening": 0.35, "parameters": 0.5, "search": 0.7}
"""Share of the time limit at which a step ends; a proof ends at the limit."""


class Runner:
    """Runs the campaigns of a tuning within the time limit, each in a subfolder of the tuning's folder."""

    def __init__(
        self,
        folder: Path,
        prefixes: Sequence[Path],
        modules: Sequence[str],
        limit_s: float | None,
        progress: Progress = SILENT,
    ) -> None:
        self.folder, self.prefixes, self.modules, self.limit_s = folder, prefixes, modules, limit_s
        self.progress = progress
        self.began_s = monotonic()

    def __call__(
        self,
        name: str,
        values: Mapping[str, object],
        rules: Mapping[str, Sequence[Rule]] | None = None,
        examine: Callable[[Campaign], None] = lambda _: None,
    ) -> Store:
        """Run or continue the campaign of a plan. `examine` is called after its checks, before it measures."""
        machine = launch.machine()
        planned = plan.make_plan(values, f"{name}.toml", machine)
        prepared = campaign.prepare(
            CampaignRequest(
                planned, self.folder / name, machine, home(), self.prefixes, self.modules, rules=rules or {}
            ),
            self.show_resumed,
        )
        examine(prepared.store.campaign)
        with self.progress.watch(prepared.store.campaign) as watch:
            campaign.run(prepared, self.limit(stopping(prepared.store), SHARES.get(name, 1.0)), watch)
        sum_launches.study_candidates(prepared, home(), self.progress.show_line)
        return prepared.store

    def show_resumed(self, line: str) -> None:
        """Show that a campaign continues; other messages of its preparation are the same for every step."""
        if line.startswith("continuing"):
            self.progress.show_line(line)

    def is_over(self, share: float = 1.0) -> bool:
        """Return whether a part of the time limit has passed."""
        return self.limit_s is not None and monotonic() - self.began_s > share * self.limit_s

    def limit(self, decide: Decide, share: float) -> Decide:
        """Return a decision function that also ends a campaign when a share of the time limit has passed."""

        def decide_in_time(store: Store) -> Decision:
            decision = decide(store)
            blocks = {launch.block for launch in store.launches()}
            if not decision.stop and len(blocks) >= FEWEST_BLOCKS and self.is_over(share):
                return Decision(stop=True, reason=say("this step's part of the time limit has passed"), look=None)
            return decision

        return decide_in_time


class TuneResult(NamedTuple):
    """The result of a tuning."""

    folder: Path
    """The folder of its campaigns."""
    proven: ProvenSettings | None = None
    """None: nothing is faster, or it is not proven."""
    environment: Mapping[str, str] = MappingProxyType({})
    """Variables by which the library gets the proven settings."""


class Session(NamedTuple):
    """A library that is being tuned."""

    library: Library
    tuner: Tuner
    target: Target
    run: Runner
    blocks: int
    sums: SumStudy | None = None
    """None: the bits of sums may change."""

    def show(self, line: str) -> None:
        """Show a line on the tuning."""
        self.run.progress.show_line(line)

    def conclude(self, task: Task) -> TuneResult:
        """Search, choose, prove, and write the proven settings. Raises RankbenchError if the library ignores them."""
        name = self.library.name
        where = ", ".join(f"{ranks} ranks on {place}" for place, ranks in task.placements.items())
        self.show(
            f"{name}: {task.variant_count} variants of {', '.join(task.operations)}; "
            f"{spell_count(len(task.sizes_bytes), 'size')}; {where}"
        )
        if self.sums:
            task = self.sums.select(task)
            if not task.variants:
                self.show(f"{name}: no setting keeps the bits of sums; no file is written")
                return TuneResult(self.run.folder)
        task, result = self.search(task)
        if not choosing.choose_rules(task, result, self.find_abilities(task)):
            self.show(f"{name}: no setting is faster by more than {task.threshold:.0%}; no file is written")
            return TuneResult(self.run.folder)
        checked = self.check_effect(task, result)
        return self.prove(task, checked) if checked else TuneResult(self.run.folder)

    def search(self, task: Task) -> tuple[Task, SearchResult]:
        """Return the variants that may be faster, parameters of the fastest ones included, and their values."""
        number = task.variant_count
        result = self.measure("screening", task, tuning.SCREENING_BLOCKS)
        screened = result
        promising = choosing.select_promising(task, result)
        promising_task = task._replace(variants=promising)
        self.show(f"screening: {promising_task.variant_count} of {number} variants may be faster than the default")
        varied = {
            operation: [
                variant
                for base in bases
                for variant in self.tuner.vary_parameters(
                    operation, base, self.target.variables, max(task.placements.values())
                )
            ]
            for operation, bases in choosing.select_front(task, result).items()
        }
        parameters = task._replace(variants={name: variants for name, variants in varied.items() if variants})
        if self.sums and parameters.variants:
            parameters = self.sums.select(parameters)
        if parameters.variants and not self.run.is_over(SHARES["screening"]):
            result = self.measure("parameters", parameters, tuning.SCREENING_BLOCKS)
            screened = choosing.combine_results([screened, result])
            promising_too = choosing.select_promising(parameters, result)
            added = sum(map(len, promising_too.values()))
            self.show(
                f"parameters: {added} of {parameters.variant_count} variants of the fastest algorithms may be faster"
            )
            promising_task = promising_task._replace(
                variants={name: [*variants, *promising_too.get(name, ())] for name, variants in promising.items()}
            )
        if not promising_task.variants:
            return promising_task, screened
        everything = promising_task._replace(
            variants={name: [*task.variants.get(name, ()), *varied.get(name, ())] for name in task.operations}
        )
        final = self.measure("search", promising_task, self.blocks)
        # A variant that was dropped early can still show, by being slow, whether a file is in effect.
        slow = choosing.SearchResult(
            {point: ratio for point, ratio in screened.ratios.items() if point not in final.ratios}, screened.faults
        )
        return everything, choosing.combine_results([slow, final])

    def measure(self, step: str, task: Task, blocks: int) -> SearchResult:
        """Run a search; report faults and the gain so far."""
        result = choosing.read_search(self.run(step, step_plans.make_search(task, blocks)), task)
        for line in proving.list_faults(result.faults):
            self.show(line)
        for variant, reports in result.fallbacks.items():
            for operation, report in reports.items():
                self.show(f"not usable everywhere: {variant} of {operation}; {self.library.name} reports: {report}")
        gains = choosing.list_gains(task, result)
        if not gains:
            self.show("gain so far: none")
            return result
        point = min(gains, key=lambda key: gains[key])
        self.show(
            f"gain so far: faster in {spell_count(len(gains), 'case')}; most: {format_ratio(gains[point])} "
            f"of the time ({point.operation} {format_size(point.size_bytes)} with {point.variant})"
        )
        return result

    def find_abilities(self, task: Task) -> choosing.Abilities:
        """Return what the library's rules can express."""
        can_split = {
            operation: {variant.name for variant in variants if self.tuner.can_split(operation, variant, self.target)}
            for operation, variants in task.variants.items()
        }
        return choosing.Abilities(can_split, self.tuner.HAS_OWN_CHOICE)

    def check_effect(self, task: Task, result: SearchResult) -> SearchResult | None:
        """Return the result of the search with the faults of this check; None where settings have no effect.

        Settings that select a variant must change the time of a case as the search has shown.
        """
        abilities = self.find_abilities(task)
        evident_point = choosing.find_evident_point(task, result, abilities)
        if not evident_point:
            self.show("check: no variant changes a time; whether the file is in effect, the sums of the proof show")
            return result
        point, variant = evident_point
        rule = choosing.make_evident_rule(task, point, variant, abilities)
        expected = result.ratios[point].ratio
        settings = write_files(self.tuner.make_handover([rule], self.target), self.run.folder / "check-files")
        evident = max(expected, 1 / expected) > choosing.EVIDENT_RATIO
        blocks = tuning.SCREENING_BLOCKS if evident else self.blocks
        values = step_plans.make_check(task, settings, point.operation, point.size_bytes, point.placement, blocks)
        proof = proving.read_proof(self.run("check", values, {TUNED: [rule]}, self.require_settings))
        exclusion = proving.exclude_faulty(result, [rule], proof)
        for sentence in exclusion.sentences:
            self.show(sentence)
        selected = f"{variant.name} for {point.operation} {format_size(point.size_bytes)}"
        if proof.follows(expected):
            self.show(
                f"check: {self.library.name} follows its file: with {selected} it needs "
                f"{format_ratio(proof.overall.mean)} of the time, as expected"
            )
            return exclusion.result
        self.show(
            f"{self.library.name}: its file has no effect: {selected} needed {format_ratio(expected)} of the time in "
            f"the search, and {format_ratio(proof.overall.mean)} with the file; no file is written"
        )
        return None

    def require_settings(self, campaign: Campaign) -> None:
        """Check that the library has read its settings, as far as it reports them, and print the report.

        It shows them by what it reports in the check of the campaign, or by MPI_T. Raises RankbenchError if it has not.
        """
        name = self.library.name
        candidate = campaign.get_candidate(TUNED)
        usage = [entry for entry in campaign.usage if entry.candidate == TUNED]
        if ignored := list(dict.fromkeys(clause for entry in usage for clause in entry.ignored)):
            raise RankbenchError(f"{name}: {'; '.join(ignored)}")
        listed = variables(self.library, home(), candidate.settings)
        shown = {
            variable.name: variable.value for variable in listed.values() if variable.type == "text" and variable.value
        }
        for entry in usage:
            shown |= entry.uses
        for variable, value in candidate.settings.items():
            if variable not in shown:
                continue
            if shown[variable] != value:
                raise RankbenchError(f"{name}: {variable} was set to {value} and reads {shown[variable]}")
            self.show(f"read back: {name} has {variable}={value}")

    def prove(self, task: Task, result: SearchResult) -> TuneResult:
        """Prove rules, choose again without what made a case slower, and write the proven ones."""
        name = self.library.name
        others = list_other_placements(task, launch.machine())
        if not others:
            self.show("proof: no room here for another number of ranks; the proof is for the tuned ones")
        for attempt in range(1, ROUNDS + 1):
            rules = choosing.choose_rules(task, result, self.find_abilities(task))
            if not rules:
                break
            self.run.progress.show_table(*list_rules(rules))
            handover = self.tuner.make_handover(rules, self.target)
            settings = write_files(handover, self.run.folder / f"files-{attempt}")
            operations = list(dict.fromkeys(rule.operation for rule in rules))
            values = step_plans.make_proof(
                task, settings, operations, [*task.placements, *others], self.blocks, attempt
            )
            store = self.run(f"proof-{attempt}", values, {TUNED: rules}, self.require_settings)
            proof = proving.read_proof(store)
            last = attempt >= ROUNDS - 1 or self.run.is_over()
            exclusion = proving.exclude(task, result, rules, proof, operations=last)
            if task.reproducible:
                exclusion = reproducibility.exclude_changing(exclusion, rules, store.sum_rows())
            if not exclusion.sentences and (proof.significant or task.forced):
                return self.hand_over(handover, rules, proof, list(task.placements.values()))
            self.show(f"proof {attempt}: as tuned {name} needs {render(proof.text)}")
            if not exclusion.sentences:
                break
            for sentence in exclusion.sentences:
                self.show(sentence)
            result = self.search_between(task, exclusion, attempt)
        self.show(f"{name}: no gain is proven; no file is written")
        return TuneResult(self.run.folder)

    def search_between(self, task: Task, exclusion: Exclusion, attempt: int) -> SearchResult:
        """Return the result of the search with sizes at which the variant of a range was slower."""
        near = choosing.select_near(task, exclusion.result, exclusion.unknown)
        variants = {operation: chosen for operation, chosen in near.items() if chosen}
        if not variants:
            return exclusion.result
        sizes = sorted({size for operation in variants for size in exclusion.unknown[operation]})
        between = task._replace(operations=list(variants), sizes_bytes=sizes, variants=variants)
        return choosing.combine_results([exclusion.result, self.measure(f"between-{attempt}", between, self.blocks)])

    def hand_over(self, handover: Handover, rules: list[Rule], proof: Proof, ranks: list[int]) -> TuneResult:
        """Store the proven settings, and show what a job script or module file needs."""
        machine = launch.machine()
        proven = proven_settings.store_proven(
            ProvenSettings(
                library=self.library.name,
                created=datetime.now(UTC).isoformat(timespec="seconds"),
                host=machine.host,
                cpu=machine.cpu,
                ranks=ranks,
                ratio=proof.overall.mean,
                text=render(proof.text),
                campaigns=str(self.run.folder.resolve()),
                settings=handover.settings,
                rules=rules,
            ),
            handover.files,
            home(),
        )
        environment = libraries.find_family(self.library).encode_settings(proven.settings)
        lines = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in environment.items())
        head = (
            f"# {self.library.name} with {' and '.join(map(str, ranks))} ranks: {proven.text}\n"
            f"# Measured by rankbench on {machine.host} ({machine.cpu}), {proven.created}\n"
            f"# Campaigns: {proven.campaigns}\n"
        )
        files.write(self.run.folder / "settings.sh", head + lines)
        self.show("")
        self.show(f"With these settings {self.library.name} needs {proven.text}.")
        if self.sums:
            self.show("The bits of sums were the same in all calls, launches and placements that were tried.")
        self.run.progress.show_text(lines)
        self.show(
            f'For job scripts: {self.run.folder / "settings.sh"}. In plans: candidates = ["{self.library.name} tuned"]'
        )
        return TuneResult(self.run.folder, proven, environment)


def list_other_placements(task: Task, machine: Machine) -> list[str]:
    """Return a placement with another number of ranks, on the nodes or this machine, if one fits."""
    tuned_ranks = set(task.placements.values())
    hosts = task.reach.get("hosts")
    if isinstance(hosts, list):
        places = {number: f"{number}x1" for number in (len(hosts), len(hosts) // 2) if number >= 2}
    else:
        cores = len({cpu.core_ordinal for cpu in machine.cpus})
        numbers = (2 * max(tuned_ranks), cores, max(tuned_ranks) // 2)
        places = {number: f"1x{number}" for number in numbers if 2 <= number <= cores}
    return [place for number, place in places.items() if number not in tuned_ranks][:1]


def list_rules(rules: Sequence[Rule]) -> tuple[list[str], list[list[str]]]:
    """Return a table of rules: its heads and its rows."""
    rows = [
        [rule.operation, str(rule.ranks), format_size(rule.first_bytes), format_end(rule, rules), rule.variant.name]
        for rule in rules
    ]
    return ["operation", "ranks", "from", "to", "variant"], rows


def format_end(rule: Rule, rules: Sequence[Rule]) -> str:
    """Return the last size of a rule; where another rule follows at once, that it ends before that one's first."""
    end = rule.last_bytes + 1
    firsts = {(other.operation, other.ranks, other.first_bytes) for other in rules}
    return f"< {format_size(end)}" if (rule.operation, rule.ranks, end) in firsts else format_size(rule.last_bytes)


def write_files(handover: Handover, folder: Path) -> dict[str, str]:
    """Write the library's files, if it needs any; return the settings of a candidate that uses them."""
    if handover.files:
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in handover.files.items():
        files.write(folder.resolve() / name, text)
    return proven_settings.place_files(handover.settings, folder.resolve())
