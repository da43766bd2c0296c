"""Divides launches into groups for whose simultaneous runs the resources of the machine suffice.

The use of a launch is measured in its check, and corrected by the use of launches that took turns. Without this, the
library that starts first could take all of a resource, and the others would be slower or fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rankbench.launch.resources import MEMORY, SHM, Amounts, find_shortage, format_amount

Uses = dict[tuple[str, str], Amounts]
"""Amount of each resource that a launch uses, by candidate and placement."""


@dataclass
class Sharing:
    """The known resource use of launches."""

    uses: Uses
    factors: dict[tuple[str, str], float] = field(default_factory=dict)
    """Use in launches that took turns over use in checks, by placement and resource."""

    def add_needs(self, placement: str, candidates: Iterable[str]) -> dict[str, float]:
        """Return the amount of each resource that launches of candidates need together."""
        needs: Counter[str] = Counter()
        for candidate in candidates:
            needs.update(self.uses.get((candidate, placement), {}))
        return {name: amount * self.factors.get((placement, name), 1.0) for name, amount in needs.items()}

    def learn(self, placement: str, candidates: Sequence[str], used: Mapping[str, int]) -> None:
        """Correct the needs by the measured use of launches that took turns."""
        needs = self.add_needs(placement, candidates)
        for name, amount in used.items():
            if amount > needs.get(name, 0) > 0:
                self.factors[placement, name] = self.factors.get((placement, name), 1.0) * amount / needs[name]
            elif amount and not needs.get(name):  # Checks did not use it.
                for candidate in candidates:
                    share = self.uses.setdefault((candidate, placement), {})
                    share[name] = -(-amount // len(candidates))

    def divide(
        self, placement: str, candidates: Sequence[str], free: Mapping[str, int], buffers: Sequence[int] = ()
    ) -> tuple[list[list[int]], str]:
        """Return groups of positions of candidates that can run at the same time, and why it is not one group.

        Each candidate goes into the first group with enough resources (first fit). `buffers`: the bytes of message
        buffers of each one's launch.
        """

        def add_all(places: Sequence[int]) -> dict[str, float]:
            needs = self.add_needs(placement, [candidates[place] for place in places])
            return needs | ({MEMORY: sum(buffers[place] for place in places)} if buffers else {})

        groups: list[list[int]] = []
        for place in range(len(candidates)):
            for group in groups:
                if not find_shortage(add_all([*group, place]), free):
                    group.append(place)
                    break
            else:
                groups.append([place])
        needs = add_all(range(len(candidates)))
        short = find_shortage(needs, free)
        why = (
            f"{len(candidates)} launches need {format_amount(short, needs[short])} and "
            f"{format_amount(short, free[short])} {'is' if short in {SHM, MEMORY} else 'are'} free"
            if short
            else ""
        )
        return groups, why
