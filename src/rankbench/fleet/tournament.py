"""Who meets whom: rounds of a tournament in which each node meets others, and rounds in which suspects meet others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

Link = tuple[int, int]


def draw_rounds(nodes: int, count: int, generator: np.random.Generator) -> list[list[int]]:
    """Return rounds of a round-robin tournament in random order, as nodes of which each two are a pair.

    In `nodes - 1` rounds each node meets every other one once; of an odd number one is left out in each of `nodes`
    rounds. There are never more.
    """
    places = nodes + nodes % 2
    labels = generator.permutation(places)
    chosen = generator.permutation(places - 1)[:count]
    return [list_pairs(labels, int(turn), nodes) for turn in chosen]


def list_pairs(labels: np.ndarray[tuple[int], np.dtype[np.int64]], turn: int, nodes: int) -> list[int]:
    """Return one round: the first place stands still and the others go round; opposite ones are pairs."""
    order = np.concatenate([[0], 1 + np.roll(np.arange(len(labels) - 1), turn)])
    half = len(labels) // 2
    pairs = labels[np.stack([order[:half], order[::-1][:half]], axis=1)]
    return [int(node) for pair in pairs for node in pair if pair.max() < nodes]


def draw_groups(nodes: int, size: int, generator: np.random.Generator) -> list[int]:
    """Return the nodes in random order, as many as make whole groups."""
    return [int(node) for node in generator.permutation(nodes)[: nodes // size * size]]


def draw_mixed(
    nodes: int, suspects: Collection[int], links: Sequence[Link], generator: np.random.Generator
) -> list[int]:
    """Return a round that has these links, which share no node, and where other suspects meet nodes that are none."""
    used = {node for link in links for node in link}
    order = [int(node) for node in generator.permutation(nodes) if node not in used]
    doubtful = [node for node in order if node in suspects]
    others = [node for node in order if node not in suspects]
    pairs = [node for pair in zip(doubtful, others, strict=False) for node in pair]
    rest = doubtful[len(others) :] + others[len(doubtful) :]
    return [node for link in links for node in link] + pairs + rest[: len(rest) // 2 * 2]


def draw_mixed_groups(nodes: int, suspects: Sequence[int], size: int, generator: np.random.Generator) -> list[int]:
    """Return groups of which each has as few suspects as possible."""
    order = generator.permutation(nodes)
    doubtful = [int(node) for node in order if node in set(suspects)]
    others = [int(node) for node in order if node not in set(suspects)]
    count = nodes // size
    dealt: list[list[int]] = [[] for _ in range(count)]
    for place, node in enumerate([*doubtful, *others][: count * size]):
        dealt[place % count].append(node)
    return [node for group in dealt for node in group]


def pack_links(links: Sequence[Link], most: int) -> Iterator[list[Link]]:
    """Yield all links in as few lists as are found at once, in which none share a node; each has up to `most`."""
    waiting = list(links)
    while waiting:
        chosen: list[Link] = []
        for link in waiting:
            if len(chosen) < most and not {*link} & {node for other in chosen for node in other}:
                chosen.append(link)
        waiting = [link for link in waiting if link not in chosen]
        yield chosen
