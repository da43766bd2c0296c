"""Which launches run at the same time: no more than the resources of the machine suffice for.

What a launch uses is measured in its check, and corrected by what launches used that took turns. Otherwise the library
that starts first would take what the others lack, and those would be slower or fail for no reason of their own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankbench.launch.resources import Amounts, find_shortage, format_amount

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Uses = dict[tuple[str, str], Amounts]
"""What a launch takes of each resource, by candidate and placement."""


@dataclass
class Sharing:
    """What launches are known to use."""

    uses: Uses
    factors: dict[tuple[str, str], float] = field(default_factory=dict)
    """By placement and resource: how much more launches used in turn than in their checks."""

    def add_needs(self, placement: str, candidates: Iterable[str]) -> dict[str, float]:
        """Return what launches of candidates need of each resource together."""
        needs: Counter[str] = Counter()
        for candidate in candidates:
            needs.update(self.uses.get((candidate, placement), {}))
        return {name: amount * self.factors.get((placement, name), 1.0) for name, amount in needs.items()}

    def learn(self, placement: str, candidates: Sequence[str], used: Mapping[str, int]) -> None:
        """Correct what launches need by what those of candidates used that took turns."""
        needs = self.add_needs(placement, candidates)
        for name, amount in used.items():
            if amount > needs.get(name, 0) > 0:
                self.factors[placement, name] = self.factors.get((placement, name), 1.0) * amount / needs[name]
            elif amount and not needs.get(name):  # Checks did not take any of it.
                for candidate in candidates:
                    share = self.uses.setdefault((candidate, placement), {})
                    share[name] = -(-amount // len(candidates))

    def divide(self, placement: str, candidates: Sequence[str], free: Mapping[str, int]) -> tuple[list[list[int]], str]:
        """Return the places of candidates whose launches can run at the same time, and why not all of them can.

        Each goes into the first group that has room for it.
        """
        groups: list[list[int]] = []
        for place, candidate in enumerate(candidates):
            for group in groups:
                names = [*(candidates[other] for other in group), candidate]
                if not find_shortage(self.add_needs(placement, names), free):
                    group.append(place)
                    break
            else:
                groups.append([place])
        needs = self.add_needs(placement, candidates)
        short = find_shortage(needs, free)
        why = (
            f"{len(candidates)} launches need {format_amount(short, needs[short])} and "
            f"{format_amount(short, free[short])} {'is' if short.startswith('/') else 'are'} free"
            if short
            else ""
        )
        return groups, why
