"""The recorder of calls, as far as no library is needed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rankbench.build.recorded_calls import list_wrappers
from rankbench.build.recorder import build_recorder
from rankbench.model import Library, RankbenchError


@pytest.mark.parametrize("name", ["my home", "home:old"])
def test_a_path_that_cannot_be_preloaded_from_is_refused(name: str) -> None:
    library = Library(
        name="mpich-9.1", family="mpich", version="9.1", source="prefix", prefix="", wrapper="", launcher=""
    )
    with pytest.raises(RankbenchError, match="nothing can be preloaded from a path with blanks or colons"):
        build_recorder(library, Path("/") / name)


def test_each_call_has_one_wrapper_and_each_kind_one_number() -> None:
    wrappers = list(list_wrappers())
    assert max(Counter(wrapper.name for wrapper in wrappers).values()) == 1
    assert len({wrapper.number for wrapper in wrappers}) == len({wrapper.kind for wrapper in wrappers})
    assert max(wrapper.number for wrapper in wrappers) < 900  # Those of completions begin there.
