"""Which variants keep the bits of sums, by the study of sums. Pure.

A tuned library is to give the same bits in all calls, launches and placements of the same number of ranks. Ranks in the
reverse order are another sum, whose bits may differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rankbench.model import Rule
from rankbench.model.sum_bits import HEADS, SumRow
from rankbench.tuning import DEFAULT, TUNED, Task
from rankbench.tuning.choosing import Fault
from rankbench.tuning.proving import Exclusion

REQUIRED = HEADS[:-1]
NOT_STUDIED = "as far as is known: the study of sums failed"


def find_changes(rows: Iterable[SumRow]) -> dict[tuple[str, str], list[str]]:
    """Return where bits are not the same, by candidate and operation; empty: they are everywhere."""
    changes: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        so_far = changes.setdefault((row.candidate, row.operation), [])
        so_far += [head for head, ranks in zip(REQUIRED, row.where, strict=False) if ranks and head not in so_far]
    return changes


def select(task: Task, rows: Iterable[SumRow], failures: Mapping[str, str]) -> tuple[Task, list[str]]:
    """Return the task with the variants that keep bits, and a sentence on each group of those that do not.

    Args:
        task: with all variants.
        rows: of the default and of each variant.
        failures: variants whose sums could not be studied, with the reason.
    """
    changes = find_changes(rows)
    summing = {operation for _, operation in changes}
    sentences = [f"sums with {name} cannot be studied, so it is not used: {why}" for name, why in failures.items()]
    variants = dict(task.variants)
    for operation in summing & variants.keys():
        names: dict[str, list[str]] = {}
        for variant in variants[operation]:
            if where := changes.get((variant.name, operation), []):
                names.setdefault(", ".join(where), []).append(variant.name)
        sentences += [
            f"{operation}: the bits of sums are not the same {where} with {', '.join(of)}; not used"
            for where, of in names.items()
        ]
        changing = {name for of in names.values() for name in of} | failures.keys()
        variants[operation] = [variant for variant in variants[operation] if variant.name not in changing]
    changed = {name for name in summing & variants.keys() if changes.get((DEFAULT, name))}
    sentences += [
        f"{name}: by default the bits of sums are not the same {', '.join(changes[DEFAULT, name])}; "
        + ("every size gets a rule" if variants[name] else "no variant keeps them, so it is left out")
        for name in sorted(changed - task.forced)
    ]
    remaining = {name: of for name, of in variants.items() if of}
    operations = [name for name in task.operations if name in remaining]
    forced = task.forced | (changed & remaining.keys())
    return task._replace(operations=operations, variants=remaining, forced=forced), sentences


def exclude_changing(exclusion: Exclusion, rules: Sequence[Rule], rows: Iterable[SumRow]) -> Exclusion:
    """Exclude, too, the variants of rules for operations whose sums change as tuned, or were not studied."""
    tuned = [row for row in rows if row.candidate == TUNED]
    changes = {operation: where for (_, operation), where in find_changes(tuned).items()}
    faults, sentences = list(exclusion.result.faults), list(exclusion.sentences)
    for operation in dict.fromkeys(rule.operation for rule in rules):
        if where := changes.get(operation, [] if tuned else [NOT_STUDIED]):
            names = list(dict.fromkeys(rule.variant.name for rule in rules if rule.operation == operation))
            reason = f"the bits of its sums are not the same {', '.join(where)}"
            faults += [Fault(name, operation, "changing", reason) for name in names]
            sentences.append(f"{operation} as tuned: {reason}; {', '.join(names)} cannot be used")
    result = exclusion.result._replace(faults=tuple(dict.fromkeys(faults)))
    return exclusion._replace(result=result, sentences=sentences)
